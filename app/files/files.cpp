#include "app/files/files.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "app/files/errors.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

Result<std::string> read_all(int fd, const Phrase& where, std::int64_t limit_bytes) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int failed = errno;
      return fail(where, errors::cannot_read(Said{system_message(failed)})
                             .advise(failed == EISDIR ? phrases::files_name_one_inside()
                                                      : phrases::check_the_disk()));
    }
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(text.size()) > limit_bytes)
      return fail(where, errors::files_too_large(Bytes{limit_bytes}));
  }
}

// The bytes that a lead byte announces, and the smallest code point that may be written so; 0: no lead byte.
int sequence_length(unsigned char lead, std::uint32_t& least) {
  if (lead < 0x80) return least = 0, 1;
  if (lead >= 0xC2 && lead < 0xE0) return least = 0x80, 2;
  if (lead >= 0xE0 && lead < 0xF0) return least = 0x800, 3;
  if (lead >= 0xF0 && lead < 0xF5) return least = 0x10000, 4;
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::int64_t limit_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const int failed = errno;
    const Said said{system_message(failed)};
    Error error = failed == ENOENT ? errors::files_not_found(said) : errors::files_cannot_open(said);
    if (failed == EACCES) error.advice = phrases::give_the_right_to_read();
    return fail(phrases::file_place(path), std::move(error));
  }
  auto text = read_all(fd, phrases::file_place(path), limit_bytes);
  ::close(fd);
  return text;
}

Result<std::string> read_standard_input(std::int64_t limit_bytes) {
  return read_all(STDIN_FILENO, phrases::files_standard_input(), limit_bytes);
}

Result<std::string> read_input(const std::string& name, std::int64_t limit_bytes) {
  return name == "-" ? read_standard_input(limit_bytes) : read_file(name, limit_bytes);
}

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint32_t least = 0;
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = sequence_length(lead, least);
    if (length == 0 || i + static_cast<std::size_t>(length) > text.size()) return i;
    std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xC0) != 0x80) return i;
      point = (point << 6) | (next & 0x3FU);
    }
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return i;
    i += static_cast<std::size_t>(length);
  }
  return std::string_view::npos;
}

}  // namespace fovea::app
