// Writes a GGUF file (version 3, little endian) as its tensors are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/metadata.h"
#include "engine/checkpoint/tensor_info.h"
#include "engine/core/atomic_file.h"

namespace fovea::checkpoint {

// An AtomicFile: it appears under its name when it is whole, with finish().
class GgufWriter {
 public:
  // Of each tensor, name, type and shape (outermost first) count; its offset in the file is found here.
  // Values are stored as metadata.stored_type() says, so that a key copied from another file stays exactly
  // what it was.
  static Result<GgufWriter> create(const std::filesystem::path& path, const Metadata& metadata,
                                   std::vector<TensorInfo> tensors);

  // The bytes of the tensors in the order of create(), in pieces of any size; a piece stays within one
  // tensor.
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> finish();
  std::filesystem::path unfinished() const { return file_.uncommitted(); }  // to read it before finish()

  std::uint64_t total_bytes() const { return total_bytes_; }  // of the finished file
  std::uint64_t written_bytes() const { return written_bytes_; }

 private:
  GgufWriter(AtomicFile file, std::vector<TensorInfo> tensors, std::uint64_t alignment,
             std::uint64_t total_bytes)
      : file_(std::move(file)),
        tensors_(std::move(tensors)),
        alignment_(alignment),
        total_bytes_(total_bytes) {}
  Result<void> put(std::span<const std::byte> bytes);
  Result<void> pad_to(std::uint64_t offset);

  AtomicFile file_;
  std::vector<TensorInfo> tensors_;
  std::size_t current_ = 0;  // the tensor that the next bytes belong to
  std::uint64_t alignment_;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t total_bytes_;
};

}  // namespace fovea::checkpoint
