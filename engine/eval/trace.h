// A recorded routing: which experts each pass chose, with which weight, and how sure the output was. What a
// policy observes, kept in a file so that policies can be compared on the same work.
//
// The file is little-endian. Numbers written as varint have 7 bits in each byte, the low ones first.
//
//   "FOVTRACE"  u32 version = 1  varint length, name of the model  varint experts used for a token
//   varint layers with experts, for each:
//     varint number of the layer in the model, experts, weights of one expert, bytes of one in the file
//   passes, each:
//     u8 = 1  u8 flags: 1 prefill, 2 entropy follows, 4 every layer routed all tokens
//     varint tokens  [f32 entropy in nats]  for each layer:
//       [varint tokens that it routed, without flag 4]  varint chosen experts n
//       f16 the largest mean weight m (if n > 0), n times:
//         varint distance from the expert before, less one  [varint its tokens − 1, when more than one was
//         routed]  u8 q: its mean weight is m q / 255
//   u8 = 3  u64 text: XXH3 of each window's tokens (i32) and of their number (i64), where they are known
//   u8 = 2  varint passes  varint tokens, and nothing behind it
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/api/trace.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

struct TraceShape {
  std::string model;
  std::int32_t used = 0;  // experts of a layer for one token
  std::vector<ExpertLayer> layers;

  std::vector<std::int32_t> first_unit() const;  // [layers + 1]
  std::int64_t units() const;
};
// The limits that a file must keep to.
inline constexpr std::int64_t max_trace_layers = 1024;
inline constexpr std::int64_t max_trace_experts = 4096;    // in a layer
inline constexpr std::int64_t max_trace_tokens = 1 << 20;  // in a pass

// Memory that passes are read into again and again.
struct TracePass {
  std::int64_t tokens = 0;
  bool prefill = false;
  float entropy = -1;                      // −1: no logits
  std::vector<std::int32_t> routed;        // [layers] tokens
  std::vector<precision::ExpertUse> uses;  // by unit, ascending

  precision::Observation observation() const {
    return {.tokens = tokens,
            .prefill = prefill,
            .entropies = {&entropy, entropy < 0 ? 0U : 1U},
            .uses = uses,
            .routed = routed};
  }
};

// Passes one after the other: a file's, or synthetic ones.
class PassSource {
 public:
  virtual ~PassSource() = default;
  virtual const TraceShape& shape() const = 0;
  virtual Result<bool> next(TracePass& pass) = 0;  // false: there are no more
  virtual void rewind() = 0;
};

// Each appends to `out`. A pass must be as the shape says.
class TraceWriter {
 public:
  explicit TraceWriter(TraceShape shape);
  void begin(std::string& out) const;
  void pass(const TracePass& pass, std::string& out);
  // `text`: of its tokens, as above.
  void end(std::string& out, std::optional<std::uint64_t> text = {}) const;
  std::int64_t passes() const { return passes_; }
  std::int64_t tokens() const { return tokens_; }

 private:
  TraceShape shape_;
  std::vector<std::int32_t> first_unit_;
  std::int64_t passes_ = 0, tokens_ = 0;
};

// Reads any bytes; ErrorKind::format names the offset and what was found there.
class TraceReader final : public PassSource {
 public:
  // `bytes` must outlive the reader. `file` is for errors.
  static Result<TraceReader> open(std::span<const std::byte> bytes, std::filesystem::path file);
  const TraceShape& shape() const override { return shape_; }
  Result<bool> next(TracePass& pass) override;
  void rewind() override;
  // Which text it is of, once next() has said that there are no more; traces of the same tokens in the same
  // windows have the same. Nothing: it does not say.
  std::optional<std::uint64_t> text() const { return text_; }

 private:
  TraceReader(std::span<const std::byte> bytes, std::filesystem::path file)
      : bytes_(bytes), file_(std::move(file)) {}
  class Cursor;
  Result<void> read_shape(Cursor& at);
  Result<void> read_layer(Cursor& at, std::size_t layer, TracePass& pass) const;
  Result<bool> read_end(Cursor& at) const;

  std::span<const std::byte> bytes_;
  std::filesystem::path file_;
  TraceShape shape_;
  std::vector<std::int32_t> first_unit_;
  std::size_t begin_ = 0, next_ = 0;  // offsets of the first and of the next pass
  std::int64_t passes_ = 0, tokens_ = 0;
  std::optional<std::uint64_t> text_;
};

}  // namespace fovea::eval
