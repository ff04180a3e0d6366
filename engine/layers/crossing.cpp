#include "engine/layers/crossing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>

namespace fovea::layers {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::int64_t listed(const models::ModelConfig& config) {
  return std::min(config.vocabulary, kernels::most_shortlisted);
}

std::int64_t layers_with_experts(const models::ModelConfig& config, std::int64_t before) {
  std::int64_t count = 0;
  for (std::int64_t layer = 0; layer < before; ++layer) count += config.layer_has_experts(layer) ? 1 : 0;
  return count;
}

std::int64_t rotary_elements(const models::ModelConfig& config) {
  std::int64_t elements = 0;
  for (const models::RopeConfig& rope : config.rotary) elements += rope.rotary / 2;
  return elements;
}

std::int64_t choices_words(const models::ModelConfig& config, std::int64_t max_tokens) {
  return 2 * layers_with_experts(config, config.layer_count()) * max_tokens * config.experts_used();
}

// Adds up what arrays take, or gives them their places behind `memory`.
struct Layout {
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;
  template <class T>
  void operator()(T*& array, std::int64_t elements) {
    if (memory != nullptr) array = reinterpret_cast<T*>(memory + bytes);
    bytes += aligned(elements * static_cast<std::int64_t>(sizeof(T)));
  }
};

template <class T>
std::byte* bytes_of(T* values) {
  return reinterpret_cast<std::byte*>(values);
}
template <class T>
const std::byte* bytes_of(const T* values) {
  return reinterpret_cast<const std::byte*>(values);
}

}  // namespace

template <class F>
void Crossing::Sent::each(const Sizes& sizes, F&& f) {
  const models::ModelConfig& config = sizes.config;
  f(rows, 2 * sizes.max_tokens);
  f(pages, 2 * config.layer_count() * sizes.max_pages);
  f(experts, config.layer_count() * config.experts());
  f(inverse_frequency, rotary_elements(config));
  f(sharpness, 1);
}

Crossing::Crossing(const models::Model& model, const kernels::Device& device, std::int64_t max_tokens,
                   std::int64_t max_pages)
    : model_(model),
      device_(device),
      max_tokens_(max_tokens),
      max_pages_(max_pages),
      revisions_(model.layers().size(), ~std::uint64_t{0}) {}

Crossing::~Crossing() {
  if (on_device_ != nullptr) device_.release(on_device_, bytes_.device);
  if (on_host_ != nullptr) device_.release_host(on_host_, bytes_.host);
}

Result<std::unique_ptr<Crossing>> Crossing::create(const models::Model& model, const kernels::Device& device,
                                                   std::int64_t max_tokens, std::int64_t max_pages) {
  std::unique_ptr<Crossing> crossing(new Crossing(model, device, max_tokens, max_pages));
  if (crossing->allocate()) return crossing;
  return fail(ErrorKind::memory, "forward pass",
              "what crosses to the device " + device.name() + " needs " +
                  std::to_string(crossing->bytes_.device) + " bytes there and " +
                  std::to_string(crossing->bytes_.host) + " bytes of pinned memory, more than there is",
              "Choose a shorter context or a smaller prefill chunk");
}

Crossing::Bytes Crossing::bytes(const models::ModelConfig& config, std::int64_t max_tokens,
                                std::int64_t max_pages) {
  const Sizes sizes{config, max_tokens, max_pages};
  Layout device, host;
  List list{.listed = listed(config)};
  std::int32_t* choices = nullptr;
  float* logits = nullptr;
  for (Layout* const side : {&device, &host}) {
    Sent{}.each(sizes, *side);
    (*side)(list.ids, list.words());
    (*side)(choices, choices_words(config, max_tokens));
  }
  host(logits, config.vocabulary);
  return {.device = device.bytes, .host = host.bytes};
}

bool Crossing::allocate() {
  bytes_ = bytes(model_.config(), max_tokens_, max_pages_);
  on_device_ = device_.allocate(bytes_.device);
  on_host_ = device_.allocate_host(bytes_.host);
  if (on_device_ == nullptr || on_host_ == nullptr) return false;
  device_list_.listed = host_list_.listed = listed(model_.config());
  Layout device{.memory = on_device_}, host{.memory = on_host_};
  device_side_.each(sizes(), device);
  device(device_list_.ids, device_list_.words());
  device(device_choices_, choices_words(model_.config(), max_tokens_));
  host_side_.each(sizes(), host);
  host(host_list_.ids, host_list_.words());
  host(host_choices_, choices_words(model_.config(), max_tokens_));
  host(logits_, model_.config().vocabulary);
  *host_side_.sharpness = 0;
  std::memset(host_side_.pages, 0,
              static_cast<std::size_t>(2 * std::ssize(model_.layers()) * max_pages_) * sizeof(std::byte*));
  return true;
}

Crossing::Rows Crossing::begin(std::span<const TokenId> tokens, std::int64_t first,
                               const std::int32_t* chosen, kernels::Stream& stream) {
  static_assert(std::is_same_v<TokenId, std::int32_t>);
  const std::int64_t count = std::ssize(tokens);
  assert(count <= max_tokens_);
  pass_tokens_ = count;
  chosen_ = chosen;
  std::ranges::copy(tokens, host_side_.rows);
  std::iota(host_side_.rows + count, host_side_.rows + 2 * count, static_cast<std::int32_t>(first));
  device_.copy(bytes_of(device_side_.rows), bytes_of(host_side_.rows), 2 * count * 4, stream);
  return {device_side_.rows, device_side_.rows + count};
}

void Crossing::inverse_frequency(std::span<const float> values, float* target, kernels::Stream& stream) {
  std::ranges::copy(values, host_side_.inverse_frequency);
  device_.copy(bytes_of(target), bytes_of(host_side_.inverse_frequency), std::ssize(values) * 4, stream);
}

std::span<const kernels::KvPages> Crossing::pages(std::span<const kernels::KvPages> cache, std::int64_t used,
                                                  kernels::Stream& stream) {
  assert(used <= max_pages_);
  const auto bytes = static_cast<std::size_t>(used) * sizeof(std::byte*);
  bool changed = false;
  pages_.assign(cache.begin(), cache.end());
  for (std::size_t layer = 0; layer < cache.size(); ++layer) {
    const std::int64_t at = 2 * static_cast<std::int64_t>(layer) * max_pages_;
    for (const auto& [list, offset] :
         {std::pair(cache[layer].keys, at), std::pair(cache[layer].values, at + max_pages_)}) {
      if (std::memcmp(host_side_.pages + offset, list, bytes) == 0) continue;
      std::memcpy(host_side_.pages + offset, list, bytes);
      changed = true;
    }
    pages_[layer].keys = device_side_.pages + at;
    pages_[layer].values = device_side_.pages + at + max_pages_;
  }
  if (changed) {
    device_.copy(bytes_of(device_side_.pages), bytes_of(host_side_.pages),
                 2 * std::ssize(cache) * max_pages_ * static_cast<std::int64_t>(sizeof(std::byte*)), stream);
  }
  return pages_;
}

void Crossing::sharpness(float value, kernels::Stream& stream) {
  if (*host_side_.sharpness == value) return;
  *host_side_.sharpness = value;
  device_.copy(bytes_of(device_side_.sharpness), bytes_of(host_side_.sharpness), 4, stream);
}

const kernels::Expert* Crossing::experts(std::int64_t layer, kernels::Stream& stream) {
  const auto index = static_cast<std::size_t>(layer);
  const models::LayerWeights& weights = model_.layers()[index];
  const std::int64_t first = layer * model_.config().experts();
  if (revisions_[index] != weights.revision) {
    std::ranges::copy(weights.experts, host_side_.experts + first);
    device_.copy(bytes_of(device_side_.experts + first), bytes_of(host_side_.experts + first),
                 std::ssize(weights.experts) * static_cast<std::int64_t>(sizeof(kernels::Expert)), stream);
    revisions_[index] = weights.revision;
  }
  return device_side_.experts + first;
}

Crossing::Routed Crossing::routed(std::int32_t* choices, std::int64_t layer, std::int64_t tokens) const {
  assert(tokens <= pass_tokens_);
  const models::ModelConfig& config = model_.config();
  std::int32_t* const ids =
      choices + 2 * layers_with_experts(config, layer) * pass_tokens_ * config.experts_used();
  return {ids, reinterpret_cast<float*>(ids + tokens * config.experts_used())};
}

Crossing::Routed Crossing::routed(std::int64_t layer, std::int64_t tokens) const {
  return routed(device_choices_, layer, tokens);
}

void Crossing::read_choices(std::int64_t first, std::int64_t last, std::int64_t tokens,
                            kernels::Stream& stream) {
  const std::byte* const begin = bytes_of(routed(first, 0).ids);
  const std::byte* const end =
      bytes_of(routed(last, tokens).weights + tokens * model_.config().experts_used());
  device_.read_back(bytes_of(routed(host_choices_, first, 0).ids), begin, end - begin, stream);
}

Crossing::Choices Crossing::choices(std::int64_t layer, std::int64_t tokens) const {
  const Routed read = routed(host_choices_, layer, tokens);
  if (chosen_ == nullptr) return {read.ids, read.weights};
  const std::int64_t row = (layer + 1) * pass_tokens_ - tokens;
  return {chosen_ + row * model_.config().experts_used(), read.weights};
}

std::span<const float> Crossing::read(const float* values, std::int64_t count, kernels::Stream& stream) {
  values_.resize(static_cast<std::size_t>(count));
  device_.read_back(bytes_of(values_.data()), bytes_of(values), count * 4, stream);
  stream.synchronize();
  return values_;
}

void Crossing::read_logits(const float* logits, std::int64_t first, std::int64_t count, std::int64_t rows,
                           kernels::Stream& stream) {
  const std::int64_t vocabulary = model_.config().vocabulary;
  float* host = logits_;
  if (rows > 1) {
    all_logits_.resize(std::max(all_logits_.size(), static_cast<std::size_t>(rows * vocabulary)));
    host = all_logits_.data() + first * vocabulary;
  }
  device_.read_back(bytes_of(host), bytes_of(logits), count * vocabulary * 4, stream);
}

std::span<const float> Crossing::logits(std::int64_t rows) const {
  return {rows > 1 ? all_logits_.data() : logits_,
          static_cast<std::size_t>(rows * model_.config().vocabulary)};
}

kernels::Shortlist Crossing::shortlist(const float* logits) const {
  return {.logits = logits,
          .count = model_.config().vocabulary,
          .sharpness = device_side_.sharpness,
          .listed = device_list_.listed,
          .ids = device_list_.ids,
          .values = device_list_.logits(),
          .sums = device_list_.sums()};
}

void Crossing::read_shortlist(kernels::Stream& stream) {
  device_.read_back(bytes_of(host_list_.ids), bytes_of(device_list_.ids), device_list_.words() * 4, stream);
}

LikelyTokens Crossing::likely() const {
  const auto count = static_cast<std::size_t>(host_list_.listed);
  const auto sum = [this](int i) { return static_cast<double>(host_list_.sums()[i]); };
  return {.ids = {host_list_.ids, count},
          .logits = {host_list_.logits(), count},
          .weight = sum(0),
          .entropy = std::log(sum(1)) - sum(2) / sum(1)};
}

}  // namespace fovea::layers
