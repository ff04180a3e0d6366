#include "engine/core/log.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <utility>
#include <vector>

#include "engine/core/errors.h"
#include "engine/core/result.h"

namespace fovea::log {
namespace {

constexpr std::size_t queue_lines = 4096;

struct State {
  std::atomic<Level> level{Level::off};  // the lowest that some sink wants
  std::shared_mutex mutex;               // guards what follows
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

State& state() {
  static State the_state;
  return the_state;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

Result<void> start(const Settings& settings) {
  stop();
  try {
    std::vector<spdlog::sink_ptr> sinks;
    Level lowest = Level::off;
    if (!settings.file.empty() && settings.file_level != Level::off) {
      const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(settings.file_bytes, 1 << 10));
      const auto older = static_cast<std::size_t>(std::max(settings.files, 1) - 1);
      sinks.push_back(
          std::make_shared<spdlog::sinks::rotating_file_sink_mt>(settings.file.string(), bytes, older));
      sinks.back()->set_level(to_spdlog(settings.file_level));
      lowest = std::min(lowest, settings.file_level);
    }
    if (settings.stderr_level != Level::off) {
      sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
      sinks.back()->set_level(to_spdlog(settings.stderr_level));
      lowest = std::min(lowest, settings.stderr_level);
    }
    if (sinks.empty()) return {};

    State& log = state();
    const std::unique_lock lock(log.mutex);
    log.pool = std::make_shared<spdlog::details::thread_pool>(queue_lines, 1);
    log.logger = std::make_shared<spdlog::async_logger>("fovea", sinks.begin(), sinks.end(), log.pool,
                                                        spdlog::async_overflow_policy::overrun_oldest);
    log.logger->set_level(to_spdlog(lowest));
    log.logger->flush_on(spdlog::level::warn);
    log.logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    log.level = lowest;
    return {};
  } catch (const std::exception& error) {
    return fail(phrases::file_place(settings.file), errors::log_not_opened(Said{error.what()}));
  }
}

void stop() {
  State& log = state();
  std::shared_ptr<spdlog::async_logger> logger;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  {
    const std::unique_lock lock(log.mutex);
    log.level = Level::off;
    logger = std::exchange(log.logger, nullptr);
    pool = std::exchange(log.pool, nullptr);
  }
  if (logger) logger->flush();
  // The pool's destructor drains its queue; the logger must outlive it no more than that.
  pool.reset();
}

bool enabled(Level level) {
  return level >= state().level.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view category, std::string_view text) {
  State& log = state();
  const std::shared_lock lock(log.mutex);
  if (!log.logger) return;
  try {
    log.logger->log(to_spdlog(level), "[{}] {}", category, text);
  } catch (const std::exception&) {
    // A line that cannot be queued is lost; the log must not end the program.
  }
}

}  // namespace fovea::log
