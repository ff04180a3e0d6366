// A file's bytes, mapped read-only.
//
// The size is taken on opening and everything is checked against it. A file that another program cuts off
// while it is mapped raises SIGBUS on access: the system offers no way to rule that out short of copying the
// file, so writers of model files must replace them by rename (as gguf_writer.h does) and not in place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "engine/api/error.h"

namespace fovea::checkpoint {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  // The pages that lie entirely in [offset, offset + count) leave this process; a later access reads them
  // again.
  void drop(std::size_t offset, std::size_t count) const;
  // The pages that touch [offset, offset + count) will be read soon.
  void will_need(std::size_t offset, std::size_t count) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace fovea::checkpoint
