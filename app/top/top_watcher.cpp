#include "app/top/top_watcher.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "app/server/errors.h"
#include "app/server/experts_door.h"
#include "app/server/port_owner.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr auto try_interval = std::chrono::seconds(1);
constexpr auto longest_silence = std::chrono::seconds(20);  // a server says every five that it is there
constexpr const char* usual_host = "127.0.0.1";
constexpr std::uint16_t usual_port = 11435;

// What may be otherwise in a moment.
bool is_passing(const Error& error) {
  return error.is(errors::server_gone.code) || error.is(errors::server_ended.code) ||
         error.is(errors::server_watched_by_others.code);
}

}  // namespace

std::vector<ExpertsAddress> watchable(const std::filesystem::path& doors) {
  std::vector<ExpertsAddress> found = open_doors(doors);
  if (const auto owner = ask_port(usual_host, usual_port))
    found.push_back({.host = usual_host,
                     .port = usual_port,
                     .shown = std::string(usual_host) + ":" + std::to_string(usual_port),
                     .process = owner->process});
  return found;
}

std::chrono::milliseconds TopWatcher::patience(Clock::time_point now) const {
  const auto until = client_ ? heard_at_ + longest_silence : try_at_;
  return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(until - now));
}

Result<void> TopWatcher::look(Clock::time_point now) {
  std::optional<ExpertsAddress> address = source_.address;
  if (!address) {
    const std::vector<ExpertsAddress> found = watchable(source_.doors);
    others_ = found.empty() ? 0 : found.size() - 1;
    if (!found.empty()) address = found.front();
  }
  if (!address) {
    note_ = "No chat and no server of Fovea runs here. Start one: this waits for it.";
    try_at_ = now + try_interval;
    return {};
  }
  shown_ = address->shown;
  auto client = ExpertsClient::start(*address, source_.key);
  if (!client) return lose(std::move(client).error(), now);
  client_ = *std::move(client);
  heard_at_ = now;
  return {};
}

Result<void> TopWatcher::lose(Error error, Clock::time_point now) {
  client_.reset();
  try_at_ = now + try_interval;
  if (!is_passing(error)) return std::unexpected(std::move(error));
  note_ = is_there_ || error.is(errors::server_ended.code)
              ? "It has ended. Waiting for it to come back"
              : error.where_words() + ": " + error.what_words() + ". Waiting for it";
  is_there_ = false;
  return {};
}

Result<std::vector<ExpertsEvent>> TopWatcher::go_on(Clock::time_point now, bool is_ready) {
  std::vector<ExpertsEvent> events;
  if (!client_ && now >= try_at_) FOVEA_CHECK(look(now));
  if (!client_) return events;
  if (!is_ready) {
    if (now - heard_at_ > longest_silence) FOVEA_CHECK(lose(errors::server_ended(), now));
    return events;
  }
  heard_at_ = now;
  auto heard = client_->go_on();
  if (!heard) {
    FOVEA_CHECK(lose(std::move(heard).error(), now));
    return events;
  }
  if (client_->is_open()) {
    is_there_ = true;
    note_ = "Nothing was answered here yet. Ask it something.";
  }
  for (const std::string& text : *heard) {
    FOVEA_TRY(ExpertsEvent event, read_experts(text));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace fovea::app
