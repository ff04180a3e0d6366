#include "engine/eval/trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/eval/errors.h"
#include "kernels/formats/half.h"

namespace fovea::eval {
namespace {

constexpr std::string_view magic = "FOVTRACE";
constexpr std::uint32_t version = 1;
constexpr std::uint8_t kind_pass = 1, kind_end = 2, kind_text = 3;
constexpr std::uint8_t flag_prefill = 1, flag_entropy = 2, flag_all_routed = 4;
constexpr std::int64_t max_name = 1024;
constexpr std::int64_t max_bytes = std::int64_t{1} << 48;

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_varint(std::string& out, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(value));
}

template <class T>
void put_fixed(std::string& out, T value) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte));
}

double mean_gate(const precision::ExpertUse& use) {
  return use.tokens > 0 ? static_cast<double>(use.gate_sum) / use.tokens : 0;
}

}  // namespace

std::vector<std::int32_t> TraceShape::first_unit() const {
  std::vector<std::int32_t> first{0};
  for (const ExpertLayer& layer : layers) first.push_back(first.back() + layer.experts);
  return first;
}

std::int64_t TraceShape::units() const {
  std::int64_t units = 0;
  for (const ExpertLayer& layer : layers) units += layer.experts;
  return units;
}

TraceWriter::TraceWriter(TraceShape shape) : shape_(std::move(shape)), first_unit_(shape_.first_unit()) {}

void TraceWriter::begin(std::string& out) const {
  const std::string_view name = std::string_view(shape_.model).substr(0, max_name);
  out += magic;
  put_fixed(out, version);
  put_varint(out, std::ssize(name));
  out += name;
  put_varint(out, std::int64_t{shape_.used});
  put_varint(out, std::ssize(shape_.layers));
  for (const ExpertLayer& layer : shape_.layers) {
    put_varint(out, layer.layer);
    put_varint(out, std::int64_t{layer.experts});
    put_varint(out, layer.parameters);
    put_varint(out, layer.file_bytes);
  }
}

void TraceWriter::pass(const TracePass& pass, std::string& out) {
  ++passes_;
  tokens_ += pass.tokens;
  const bool all_routed =
      std::ranges::all_of(pass.routed, [&](std::int32_t routed) { return routed == pass.tokens; });
  put_fixed(out, kind_pass);
  put_fixed(out, static_cast<std::uint8_t>((pass.prefill ? flag_prefill : 0) |
                                           (pass.entropy >= 0 ? flag_entropy : 0) |
                                           (all_routed ? flag_all_routed : 0)));
  put_varint(out, pass.tokens);
  if (pass.entropy >= 0) put_fixed(out, std::bit_cast<std::uint32_t>(pass.entropy));
  auto use = pass.uses.begin();
  for (std::size_t layer = 0; layer < shape_.layers.size(); ++layer) {
    const std::int64_t routed = all_routed ? pass.tokens : pass.routed[layer];
    if (!all_routed) put_varint(out, routed);
    const auto end =
        std::find_if(use, pass.uses.end(), [&](const auto& u) { return u.unit >= first_unit_[layer + 1]; });
    put_varint(out, std::int64_t{end - use});
    if (use == end) continue;
    double most = 0;
    for (auto u = use; u != end; ++u) most = std::max(most, mean_gate(*u));
    const std::uint16_t half = kernels::formats::float_to_half(static_cast<float>(std::min(most, 60000.0)));
    put_fixed(out, half);
    const double step = static_cast<double>(kernels::formats::half_to_float(half)) / 255;
    for (std::int32_t before = first_unit_[layer] - 1; use != end; before = use->unit, ++use) {
      put_varint(out, std::int64_t{use->unit - before - 1});
      if (routed > 1) put_varint(out, std::int64_t{use->tokens - 1});
      const double q = step > 0 ? std::round(mean_gate(*use) / step) : 0;
      put_fixed(out, static_cast<std::uint8_t>(std::clamp(q, 0.0, 255.0)));
    }
  }
}

void TraceWriter::end(std::string& out, std::optional<std::uint64_t> text) const {
  if (text) {
    put_fixed(out, kind_text);
    put_fixed(out, *text);
  }
  put_fixed(out, kind_end);
  put_varint(out, passes_);
  put_varint(out, tokens_);
}

// Reads forwards and remembers the first thing that was wrong.
class TraceReader::Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::size_t at, const std::filesystem::path& file)
      : bytes_(bytes), at_(at), file_(file) {}

  std::size_t offset() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }

  std::unexpected<Error> wrong(Error error) const {
    return fail(phrases::offset_place(file_, at_), std::move(error));
  }

  Result<std::string_view> text(std::size_t length) {
    if (length > bytes_.size() - at_) return wrong(errors::trace_cut());
    const std::string_view found(reinterpret_cast<const char*>(bytes_.data() + at_), length);
    at_ += length;
    return found;
  }

  template <class T>
  Result<T> fixed() {
    FOVEA_TRY(const std::string_view found, text(sizeof(T)));
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < sizeof(T); ++byte)
      value |= std::uint64_t{static_cast<std::uint8_t>(found[byte])} << (8 * byte);
    return static_cast<T>(value);
  }

  // From least to most, else an error that calls it `what`.
  Result<std::int64_t> number(Phrase what, std::int64_t least, std::int64_t most) {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == bytes_.size()) return wrong(errors::trace_cut());
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      if (shift < 63) value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80 && shift < 63) break;
      if (shift >= 63) {
        at_ = begin;
        return wrong(errors::trace_number_too_long(std::move(what)));
      }
    }
    const auto found = static_cast<std::int64_t>(value);
    if (found >= least && found <= most) return found;
    at_ = begin;
    return wrong(errors::trace_number_out_of_range(std::move(what), value, least, most));
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
  const std::filesystem::path& file_;
};

Result<TraceReader> TraceReader::open(std::span<const std::byte> bytes, std::filesystem::path file) {
  TraceReader reader(bytes, std::move(file));
  Cursor at(bytes, 0, reader.file_);
  FOVEA_CHECK(reader.read_shape(at));
  reader.first_unit_ = reader.shape_.first_unit();
  reader.begin_ = reader.next_ = at.offset();
  return reader;
}

Result<void> TraceReader::read_shape(Cursor& at) {
  const auto found = at.text(magic.size());
  if (!found || *found != magic) return fail(phrases::file_place(file_), errors::trace_not_one(magic));
  FOVEA_TRY(const auto its_version, at.fixed<std::uint32_t>());
  if (its_version != version)
    return fail(phrases::file_place(file_), errors::trace_version(its_version, version));
  FOVEA_TRY(const std::int64_t length, at.number(phrases::trace_name_length(), 0, max_name));
  FOVEA_TRY(const std::string_view model, at.text(static_cast<std::size_t>(length)));
  shape_.model = model;
  FOVEA_TRY(const std::int64_t used, at.number(phrases::trace_used_experts(), 1, max_trace_experts));
  shape_.used = static_cast<std::int32_t>(used);
  FOVEA_TRY(const std::int64_t layers, at.number(phrases::trace_layers(), 1, max_trace_layers));
  for (std::int64_t l = 0; l < layers; ++l) {
    ExpertLayer layer;
    FOVEA_TRY(layer.layer, at.number(phrases::trace_layer_number(), 0, max_bytes));
    FOVEA_TRY(const std::int64_t experts,
              at.number(phrases::trace_experts(), shape_.used, max_trace_experts));
    layer.experts = static_cast<std::int32_t>(experts);
    FOVEA_TRY(layer.parameters, at.number(phrases::trace_expert_weights(), 1, max_bytes));
    FOVEA_TRY(layer.file_bytes, at.number(phrases::trace_expert_bytes(), 0, max_bytes));
    shape_.layers.push_back(layer);
  }
  return {};
}

void TraceReader::rewind() {
  next_ = begin_;
  passes_ = tokens_ = 0;
  text_.reset();
}

Result<bool> TraceReader::next(TracePass& pass) {
  Cursor at(bytes_, next_, file_);
  FOVEA_TRY(auto kind, at.fixed<std::uint8_t>());
  const bool tells_text = kind == kind_text;
  if (tells_text) {
    FOVEA_TRY(text_, at.fixed<std::uint64_t>());
    FOVEA_TRY(kind, at.fixed<std::uint8_t>());
  }
  if (kind == kind_end) return read_end(at);
  if (kind != kind_pass || tells_text) return at.wrong(errors::trace_record_kind(kind));
  FOVEA_TRY(const auto flags, at.fixed<std::uint8_t>());
  if (flags > 7) return at.wrong(errors::trace_flags(flags));
  pass.prefill = (flags & flag_prefill) != 0;
  FOVEA_TRY(pass.tokens, at.number(phrases::trace_pass_tokens(), 1, max_trace_tokens));
  pass.entropy = -1;
  if ((flags & flag_entropy) != 0) {
    FOVEA_TRY(const auto bits, at.fixed<std::uint32_t>());
    pass.entropy = std::bit_cast<float>(bits);
    if (!(pass.entropy >= 0 && pass.entropy < 1e6F)) return at.wrong(errors::trace_entropy());
  }
  pass.routed.assign(shape_.layers.size(), static_cast<std::int32_t>(pass.tokens));
  pass.uses.clear();
  for (std::size_t layer = 0; layer < shape_.layers.size(); ++layer) {
    if ((flags & flag_all_routed) == 0) {
      FOVEA_TRY(const std::int64_t routed, at.number(phrases::trace_layer_tokens(), 0, pass.tokens));
      pass.routed[layer] = static_cast<std::int32_t>(routed);
    }
    FOVEA_CHECK(read_layer(at, layer, pass));
  }
  next_ = at.offset();
  ++passes_;
  tokens_ += pass.tokens;
  return true;
}

Result<void> TraceReader::read_layer(Cursor& at, std::size_t layer, TracePass& pass) const {
  const std::int64_t experts = shape_.layers[layer].experts, routed = pass.routed[layer];
  FOVEA_TRY(const std::int64_t chosen,
            at.number(phrases::trace_chosen_experts(), 0, std::min(experts, routed * shape_.used)));
  if (chosen == 0) return {};
  FOVEA_TRY(const auto half, at.fixed<std::uint16_t>());
  const float step = kernels::formats::half_to_float(half) / 255;
  if (!(step >= 0 && std::isfinite(step))) return at.wrong(errors::trace_router_weight());
  std::int64_t expert = -1;
  for (std::int64_t i = 0; i < chosen; ++i) {
    FOVEA_TRY(const std::int64_t distance,
              at.number(phrases::trace_expert_distance(), 0, experts - expert - 2));
    expert += distance + 1;
    std::int64_t tokens = 1;
    if (routed > 1) {
      FOVEA_TRY(const std::int64_t more, at.number(phrases::trace_expert_tokens(), 0, routed - 1));
      tokens += more;
    }
    FOVEA_TRY(const auto q, at.fixed<std::uint8_t>());
    pass.uses.push_back({.unit = first_unit_[layer] + static_cast<std::int32_t>(expert),
                         .tokens = static_cast<std::int32_t>(tokens),
                         .gate_sum = step * static_cast<float>(q) * static_cast<float>(tokens)});
  }
  return {};
}

Result<bool> TraceReader::read_end(Cursor& at) const {
  FOVEA_TRY(const std::int64_t passes, at.number(phrases::trace_passes(), 0, max_bytes));
  FOVEA_TRY(const std::int64_t tokens, at.number(phrases::trace_tokens(), 0, max_bytes));
  if (passes != passes_ || tokens != tokens_)
    return at.wrong(errors::trace_counts_differ(passes, tokens, passes_, tokens_));
  if (!at.at_end()) return at.wrong(errors::trace_after_its_end());
  return false;
}

}  // namespace fovea::eval
