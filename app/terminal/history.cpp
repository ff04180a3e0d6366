#include "app/terminal/history.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "app/files/files.h"
#include "app/terminal/errors.h"
#include "engine/core/atomic_file.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t file_limit_bytes = 64 << 20;

// One entry is one line: a line break becomes \n and a backslash doubles.
std::string escaped(const std::string& entry) {
  std::string line;
  for (const char byte : entry) {
    if (byte == '\\')
      line += "\\\\";
    else if (byte == '\n')
      line += "\\n";
    else
      line += byte;
  }
  return line + "\n";
}

std::string unescaped(std::string_view line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      entry += line[i];
    } else {
      entry += line[++i] == 'n' ? '\n' : line[i];
    }
  }
  return entry;
}

Result<void> replace(const std::filesystem::path& file, const std::vector<std::string>& entries) {
  FOVEA_TRY(AtomicFile shorter, AtomicFile::create(file));
  for (const std::string& entry : entries) FOVEA_CHECK(shorter.write(escaped(entry)));
  return shorter.commit();
}

}  // namespace

History::History(std::filesystem::path file) : file_(std::move(file)) {
  const auto text = read_file(file_, file_limit_bytes);
  if (!text) {
    if (text.error().kind != ErrorKind::not_found)
      log::warning("terminal", "the history is not read: ", text.error().message());
    return;
  }
  std::string_view rest(*text);
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    if (end > 0) entries_.push_back(unescaped(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
  }
  if (entries_.size() <= max_entries) return;
  entries_.erase(entries_.begin(), entries_.end() - max_entries);
  // The file grows by appending; it is made short again here.
  if (const auto shortened = replace(file_, entries_); !shortened)
    log::warning("terminal", "the history stays long: ", shortened.error().message());
}

Result<void> History::add(const std::string& entry) {
  if (!entries_.empty() && entries_.back() == entry) return {};
  entries_.push_back(entry);
  const FileDescriptor file(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  int reason = errno;
  // What a full disk cut off is an entry of its own.
  struct stat status{};
  std::byte last{'\n'};
  if (file && ::fstat(file.number(), &status) == 0 && status.st_size > 0)
    file.read_at(status.st_size - 1, {&last, 1});
  const std::string line = (last == std::byte{'\n'} ? "" : "\n") + escaped(entry);
  std::string_view rest = line;
  while (file && !rest.empty()) {
    const ssize_t written = ::write(file.number(), rest.data(), rest.size());
    if (written < 0) {
      reason = errno;
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file && rest.empty()) return {};
  return fail(phrases::file_place(file_),
              errors::cannot_write(Said{system_message(reason)}).advise(phrases::terminal_history_lost()));
}

}  // namespace fovea::app
