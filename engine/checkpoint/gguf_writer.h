// Writes a GGUF file (version 3, little endian) as its tensors are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/metadata.h"
#include "engine/checkpoint/tensor_info.h"

namespace fovea::checkpoint {

// The file appears under its name only when it is whole: it grows as PATH.incomplete, and finish() brings it
// to the disk and renames it. A writer that goes without finish() removes what it wrote.
class GgufWriter {
 public:
  // Of each tensor, name, type and shape (outermost first) count; its place in the file is found here. Values
  // are stored as metadata.stored_type() says, so that a key copied from another file stays exactly what it
  // was.
  static Result<GgufWriter> create(const std::filesystem::path& path, const Metadata& metadata,
                                   std::vector<TensorInfo> tensors);

  GgufWriter(GgufWriter&& other) noexcept;
  GgufWriter& operator=(GgufWriter&&) = delete;
  ~GgufWriter();

  // The bytes of the tensors in the order of create(), in pieces of any size; a piece stays within one
  // tensor.
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> finish();

  std::uint64_t total_bytes() const { return total_bytes_; }  // of the finished file
  std::uint64_t written_bytes() const { return written_bytes_; }

 private:
  GgufWriter(std::filesystem::path path, std::vector<TensorInfo> tensors);
  Result<void> put(std::span<const std::byte> bytes);
  Result<void> pad_to(std::uint64_t offset);

  std::filesystem::path path_;
  std::filesystem::path incomplete_;
  int descriptor_ = -1;
  std::vector<TensorInfo> tensors_;
  std::size_t current_ = 0;  // the tensor that the next bytes belong to
  std::uint64_t alignment_ = 32;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace fovea::checkpoint
