// A reference's output over the scored halves of a text's windows, kept in a file: computed once, compared
// with many times.
//
// The file is little-endian: "FOVLOGIT", u32 version = 1, u32 vocabulary, u32 tokens in a window, u32 the
// first scored position; then for each window u64 checksum of its tokens and f32 [window − first,
// vocabulary].
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "engine/api/text.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::eval {

struct LogitsShape {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  // tokens in a window
  std::int64_t first = 0;    // scored position

  std::int64_t values() const { return (context - first) * vocabulary; }  // of a window
  bool operator==(const LogitsShape&) const = default;
};

class LogitsReader {
 public:
  // ErrorKind::not_found; ::format: no such file, or cut off; ::invalid: of another shape.
  static Result<LogitsReader> open(const std::filesystem::path& path, const LogitsShape& shape);
  // [context − first, vocabulary]. ErrorKind::invalid: the window has other tokens, or there is none of this
  // number.
  Result<std::span<const float>> window(std::int64_t number, std::span<const TokenId> tokens) const;

 private:
  checkpoint::MappedFile file_;
  std::filesystem::path path_;
  LogitsShape shape_;
  std::int64_t windows_ = 0;
};

// An AtomicFile: it has its name with finish().
class LogitsWriter {
 public:
  // ErrorKind::io, as of the others.
  static Result<LogitsWriter> create(const std::filesystem::path& path, const LogitsShape& shape);
  // The next window: tokens [context], rows [context − first, vocabulary].
  Result<void> add(std::span<const TokenId> tokens, std::span<const float> rows);
  Result<void> finish() { return file_.commit(); }

 private:
  LogitsWriter(AtomicFile file, const LogitsShape& shape) : file_(std::move(file)), shape_(shape) {}
  AtomicFile file_;
  LogitsShape shape_;
};

}  // namespace fovea::eval
