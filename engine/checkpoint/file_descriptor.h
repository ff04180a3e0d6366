// An open file of the system: closes itself; reads and writes whole ranges at offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "engine/core/result.h"

namespace fovea::checkpoint {

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

// "PATH, offset 4096: cannot read: Input/output error"
std::unexpected<Error> read_error(const std::filesystem::path& path, std::int64_t offset, int code);

}  // namespace fovea::checkpoint
