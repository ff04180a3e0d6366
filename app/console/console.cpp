#include "app/console/console.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "app/console/errors.h"
#include "engine/api/sentence.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr auto progress_interval = std::chrono::milliseconds(100);

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string amount(std::int64_t done, std::int64_t total, Progress::Unit unit) {
  if (unit == Progress::Unit::bytes) return size_text(done) + " of " + size_text(total);
  return std::to_string(done) + " of " + std::to_string(total) + " " + english(phrase_of(unit));
}

std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t width = 20;
  const auto full = static_cast<std::size_t>(total > 0 ? width * done / total : 0);
  return "[" + std::string(full, '#') + std::string(static_cast<std::size_t>(width) - full, '-') + "]";
}

}  // namespace

void guard_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is the closed one, since those below it are open by now.
    if (::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != fd) _exit(1);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

std::string printable(std::string_view text, bool keep_newlines) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool wanted = keep_newlines && (byte == '\n' || byte == '\t');
    // C1 controls are U+0080 to U+009F: C2 80 to C2 9F.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      clean += '?';
      ++i;
    } else if (wanted || (byte >= 0x20 && byte != 0x7F)) {
      clean += text[i];
    } else {
      clean += byte == '\n' || byte == '\r' || byte == '\t' ? ' ' : '?';
    }
  }
  return clean;
}

Console::Console()
    : input_is_terminal_(::isatty(STDIN_FILENO) == 1),
      output_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      error_is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Result<void> Console::write(std::string_view bytes) {
  clear_progress();
  const int failed = write_all(STDOUT_FILENO, bytes);
  if (failed == 0) return {};
  if (failed == EPIPE) return fail(phrases::console_standard_output(), errors::console_nobody_reads());
  return fail(phrases::console_standard_output(),
              errors::cannot_write(Said{system_message(failed)}).advise(phrases::console_check_output()));
}

Result<void> Console::write_text(std::string_view text) {
  return output_is_terminal_ ? write(printable(text, true)) : write(text);
}

void Console::note(std::string_view line) {
  clear_progress();
  write_all(STDERR_FILENO, printable(line, false) + "\n");
}

void Console::error(std::string_view context, const Error& error) {
  if (error.what.empty() || error.is(errors::console_nobody_reads.code)) return;  // nothing is to be said
  note(std::string(context) + ": " + error.message());
}

ProgressSink Console::progress() {
  if (!error_is_terminal_) return {};
  return [this](const Progress& progress) { show(progress); };
}

void Console::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (progress_is_shown_ && now - shown_at_ < progress_interval) return;
  shown_at_ = now;
  const bool has_bar =
      progress.stage == Progress::Stage::downloading || progress.stage == Progress::Stage::evaluating;
  std::string line = has_bar ? bar(progress.done, progress.total) : english(phrase_of(progress.stage));
  if (progress.total > 0) {
    line += " " + std::to_string(100 * progress.done / progress.total) + " %  (" +
            amount(progress.done, progress.total, progress.unit) + ")";
  }
  if (!progress.item.empty()) line += "  " + progress.item;
  constexpr std::size_t columns = 78;
  line = printable(line, false);
  std::size_t end = std::min(line.size(), columns);
  while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  line.resize(end);
  write_all(STDERR_FILENO, "\r\033[K" + line);
  progress_is_shown_ = true;
}

void Console::clear_progress() {
  if (!progress_is_shown_) return;
  write_all(STDERR_FILENO, "\r\033[K");
  progress_is_shown_ = false;
}

}  // namespace fovea::app
