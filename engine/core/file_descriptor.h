// Open files of the system, and the steps by which several programs share a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "engine/core/result.h"

namespace fovea {

// Closes itself; reads and writes whole ranges at offsets.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

  // All of it: 0, or an errno value; the end of the file before the range's end is −1.
  int read_at(std::int64_t offset, std::span<std::byte> memory) const;
  int write_at(std::int64_t offset, std::span<const std::byte> bytes) const;

 private:
  int number_ = -1;
};

// The system's own sentence for an errno value: "No space left on device".
std::string system_message(int error_number);

// "PATH, offset 4096: cannot read: Input/output error"; `code` is what read_at() gave.
std::unexpected<Error> read_error(const std::filesystem::path& path, std::int64_t offset, int code);

// The file of this name, made with `permissions` (less the umask) where it is missing, no link, held until it
// is closed so that no other descriptor gets it here. Else an errno value; EWOULDBLOCK: somebody else has it.
std::expected<FileDescriptor, int> open_locked(const std::filesystem::path& path, unsigned permissions);

// Replaces `to`; the new name, too, survives a power cut. 0 or an errno value.
int rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace fovea
