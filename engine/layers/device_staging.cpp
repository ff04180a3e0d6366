#include "engine/layers/device_staging.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/layers/errors.h"
#include "engine/layers/graphs.h"
#include "engine/layers/layout.h"

namespace fovea::layers {
namespace {

std::int64_t listed(const models::ModelConfig& config) {
  return std::min(config.vocabulary, kernels::max_top_k);
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

std::int64_t choices_words(const models::ModelConfig& config, std::int64_t tokens) {
  return 2 * layers_with_experts(config, config.layer_count()) * tokens * config.experts_used();
}

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
void DeviceStaging::Sent::each(const Sizes& sizes, F&& f) {
  const models::ModelConfig& config = sizes.config;
  f(rows, 2 * sizes.limits.tokens);
  f(pages, sizes.limits.segments * 2 * config.layer_count() * sizes.limits.pages);
  f(experts, config.layer_count() * config.experts());
  f(inverse_frequency, rotary_elements(config));
  f(inverse_temperature, sizes.limits.segments);
}

DeviceStaging::DeviceStaging(const models::Model& model, const kernels::Device& device,
                             const PassLimits& limits, const Activations& activations)
    : model_(model),
      device_(device),
      limits_(limits),
      a_(activations),
      revisions_(model.layers().size(), ~std::uint64_t{0}) {}

DeviceStaging::~DeviceStaging() {
  if (on_device_ != nullptr) device_.release(on_device_, bytes_.device);
  if (on_host_ != nullptr) device_.release_host(on_host_, bytes_.host);
}

Result<std::unique_ptr<Staging>> DeviceStaging::create(const models::Model& model,
                                                       const kernels::Device& device,
                                                       const PassLimits& limits,
                                                       const Activations& activations) {
  std::unique_ptr<DeviceStaging> staging(new DeviceStaging(model, device, limits, activations));
  if (staging->allocate()) return staging;
  return fail(phrases::forward_pass_place(),
              errors::no_memory_for_staging(device.name(), fovea::Bytes{staging->bytes_.device},
                                            fovea::Bytes{staging->bytes_.host}));
}

Staging::Bytes DeviceStaging::needed(const models::ModelConfig& config, const PassLimits& limits) {
  Layout device, host;
  List list{.listed = listed(config)};
  std::int32_t* choices = nullptr;
  float* logits = nullptr;
  for (Layout* const side : {&device, &host}) {
    Sent{}.each(Sizes{config, limits}, *side);
    (*side)(list.ids, limits.segments* list.words());
    (*side)(choices, choices_words(config, limits.tokens));
  }
  kernels::HostRound* rounds = nullptr;
  device(rounds, config.layer_count());
  host(logits, config.vocabulary);
  return {.device = device.bytes, .host = host.bytes};
}

bool DeviceStaging::allocate() {
  const models::ModelConfig& config = model_.config();
  bytes_ = needed(config, limits_);
  on_device_ = device_.allocate(bytes_.device);
  on_host_ = device_.allocate_host(bytes_.host);
  if (on_device_ == nullptr || on_host_ == nullptr) return false;
  device_list_.listed = host_list_.listed = listed(config);
  Layout device{.memory = on_device_}, host{.memory = on_host_};
  device_side_.each(sizes(), device);
  device(device_list_.ids, limits_.segments * device_list_.words());
  device(device_choices_, choices_words(config, limits_.tokens));
  device(rounds_, config.layer_count());
  host_side_.each(sizes(), host);
  host(host_list_.ids, limits_.segments * host_list_.words());
  host(host_choices_, choices_words(config, limits_.tokens));
  host(logits_, config.vocabulary);
  std::fill_n(host_side_.inverse_temperature, limits_.segments, 0.0F);
  std::memset(host_side_.pages, 0,
              static_cast<std::size_t>(limits_.segments * 2 * config.layer_count() * limits_.pages) *
                  sizeof(std::byte*));
  std::fill_n(host_side_.experts, config.layer_count() * config.experts(), kernels::Expert{});
  return true;
}

const Batch& DeviceStaging::begin(const Pass& pass, kernels::Stream& stream) {
  static_assert(std::is_same_v<TokenId, std::int32_t>);
  lay_out(pass, batch_);
  const std::int64_t count = batch_.rows;
  std::int32_t* const positions = host_side_.rows + count;
  for (std::size_t i = 0; i < pass.segments.size(); ++i) {
    const Rows& rows = batch_.parts[i].rows;
    std::ranges::copy(pass.segments[i].tokens, host_side_.rows + rows.first);
    std::iota(positions + rows.first, positions + rows.end(),
              static_cast<std::int32_t>(pass.segments[i].first));
  }
  device_.copy(bytes_of(device_side_.rows), bytes_of(host_side_.rows), 2 * count * 4, stream);
  batch_.tokens = device_side_.rows;
  batch_.positions = device_side_.rows + count;
  // Decoding divides its work in the same way whether a graph does it or not.
  for (std::size_t i = 0; i < pass.segments.size(); ++i) {
    Batch::Part& part = batch_.parts[i];
    if (part.rows.count > 1) continue;
    part.position = batch_.positions + part.rows.first;
    part.first = Graphs::max_first(pass.segments[i].first, pass.segments[i].pages.front().page_tokens);
  }
  send_pages(pass, stream);
  send_handles(stream);
  const bool is_last = model_.range().end == model_.config().layer_count();
  finds_top_k_ = is_last && keeps_logits() && batch_.wanted_rows() > 0 &&
                 std::ranges::all_of(pass.segments, [](const Segment& segment) {
                   return segment.logits == LogitsWanted::none || segment.logits == LogitsWanted::top_k;
                 });
  if (finds_top_k_) send_temperatures(pass, stream);
  return batch_;
}

void DeviceStaging::send_temperatures(const Pass& pass, kernels::Stream& stream) {
  bool changed = false;
  std::int64_t row = 0;
  for (const Segment& segment : pass.segments) {
    if (segment.logits == LogitsWanted::none) continue;
    const float inverse = 1 / segment.temperature;
    changed |= std::exchange(host_side_.inverse_temperature[row++], inverse) != inverse;
  }
  if (!changed) return;
  device_.copy(bytes_of(device_side_.inverse_temperature), bytes_of(host_side_.inverse_temperature), 4 * row,
               stream);
}

// Whether they were others.
bool DeviceStaging::stage_pages(std::size_t segment, std::span<const kernels::KvPages> lists,
                                std::int64_t used) {
  bool changed = false;
  const std::size_t bytes = static_cast<std::size_t>(used) * sizeof(std::byte*);
  std::byte** to =
      host_side_.pages + 2 * static_cast<std::int64_t>(segment) * std::ssize(lists) * limits_.pages;
  for (const kernels::KvPages& each : lists) {
    for (const std::byte* const* const list : {each.keys, each.values}) {
      if (std::memcmp(to, list, bytes) != 0) {
        std::memcpy(to, list, bytes);
        changed = true;
      }
      to += limits_.pages;
    }
  }
  return changed;
}

// The first pages of each list that the segment reaches; all lists in one copy, if one has changed. A list is
// looked through only where its revision does not say that it is the one of before.
void DeviceStaging::send_pages(const Pass& pass, kernels::Stream& stream) {
  const std::int64_t layers = model_.config().layer_count();
  bool changed = false;
  pages_.clear();
  pages_.reserve(pass.segments.size() * static_cast<std::size_t>(layers));
  staged_pages_.resize(static_cast<std::size_t>(limits_.segments));
  for (std::size_t i = 0; i < pass.segments.size(); ++i) {
    const Segment& segment = pass.segments[i];
    const std::int64_t page = segment.pages.front().page_tokens;
    const std::int64_t used = (segment.first + std::ssize(segment.tokens) + page - 1) / page;
    assert(used <= limits_.pages);
    StagedPages& staged = staged_pages_[i];
    if (segment.pages_revision == 0 || staged.revision != segment.pages_revision || staged.used < used) {
      changed |= stage_pages(i, segment.pages, used);
      staged = {segment.pages_revision, used};
    }
    for (const kernels::KvPages& each : segment.pages) {
      const std::int64_t at = 2 * std::ssize(pages_) * limits_.pages;
      pages_.push_back(each);
      pages_.back().keys = device_side_.pages + at;
      pages_.back().values = device_side_.pages + at + limits_.pages;
    }
    batch_.parts[i].pages = {pages_.data() + static_cast<std::ptrdiff_t>(i) * layers,
                             static_cast<std::size_t>(layers)};
  }
  if (!changed) return;
  device_.copy(bytes_of(device_side_.pages), bytes_of(host_side_.pages),
               2 * std::ssize(pages_) * limits_.pages * static_cast<std::int64_t>(sizeof(std::byte*)),
               stream);
}

// Of the layers where one was published since. Layers that lie near each other go in one copy, with those
// between them: a copy takes as long as so many more handles.
void DeviceStaging::send_handles(kernels::Stream& stream) {
  constexpr std::int64_t near = 8;  // layers
  const std::int64_t experts = model_.config().experts();
  std::int64_t begin = 0, end = 0;  // layers, of the copy that is put together
  const auto send = [&] {
    if (begin == end) return;
    device_.copy(bytes_of(device_side_.experts + begin * experts),
                 bytes_of(host_side_.experts + begin * experts),
                 (end - begin) * experts * static_cast<std::int64_t>(sizeof(kernels::Expert)), stream);
  };
  for (std::int64_t layer = 0; layer < model_.config().layer_count(); ++layer) {
    const models::LayerWeights& weights = model_.layers()[static_cast<std::size_t>(layer)];
    std::uint64_t& revision = revisions_[static_cast<std::size_t>(layer)];
    if (weights.experts.empty() || revision == weights.revision) continue;
    std::ranges::copy(weights.experts, host_side_.experts + layer * experts);
    revision = weights.revision;
    if (begin == end || layer - end > near) {
      send();
      begin = layer;
    }
    end = layer + 1;
  }
  send();
}

void DeviceStaging::rotary(std::span<const float> values, kernels::Stream& stream) {
  std::ranges::copy(values, host_side_.inverse_frequency);
  device_.copy(bytes_of(a_.inverse_frequency), bytes_of(host_side_.inverse_frequency), std::ssize(values) * 4,
               stream);
}

// What was published since the pass began, as experts that are read when they are needed, goes up alone.
const kernels::Expert* DeviceStaging::experts(std::int64_t layer, kernels::Stream& stream) {
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

Routed DeviceStaging::routed(std::int32_t* choices, std::int64_t layer, std::int64_t tokens) const {
  assert(tokens <= batch_.rows);
  const models::ModelConfig& config = model_.config();
  std::int32_t* const ids =
      choices + 2 * layers_with_experts(config, layer) * batch_.rows * config.experts_used();
  return {ids, reinterpret_cast<float*>(ids + tokens * config.experts_used())};
}

Routed DeviceStaging::routed(std::int64_t layer, std::int64_t tokens) {
  return routed(device_choices_, layer, tokens);
}

void DeviceStaging::read_choices(std::int64_t first, std::int64_t last, std::int64_t tokens,
                                 kernels::Stream& stream) {
  const std::byte* const begin = bytes_of(routed(first, 0).ids);
  const std::byte* const end =
      bytes_of(routed(last, tokens).weights + tokens * model_.config().experts_used());
  device_.read_back(bytes_of(routed(host_choices_, first, 0).ids), begin, end - begin, stream);
}

Choices DeviceStaging::choices(std::int64_t layer, std::int64_t tokens) const {
  const Routed read = routed(host_choices_, layer, tokens);
  return {read.ids, read.weights};
}

const float* DeviceStaging::read(const float* values, std::int64_t count, kernels::Stream& stream) {
  values_.resize(static_cast<std::size_t>(count));
  device_.read_back(bytes_of(values_.data()), bytes_of(values), count * 4, stream);
  stream.synchronize();
  return values_.data();
}

bool DeviceStaging::keeps_logits() const {
  return batch_.wanted_rows() <= Activations::logits_rows(limits_.tokens, true);
}

const float* DeviceStaging::kept(std::int64_t row) const {
  return a_.logits + row * model_.config().vocabulary;
}

// Where there are too many rows to keep, they share the room: each part is read back before the next one is
// computed.
Staging::LogitsRoom DeviceStaging::logits_room(std::int64_t first) {
  const std::int64_t room = Activations::logits_rows(limits_.tokens, true),
                     taken = keeps_logits() ? first : 0;
  return {a_.logits + taken * model_.config().vocabulary, room - taken};
}

// What is kept is read when all is done, so that graphs have no part in it.
void DeviceStaging::read_logits(std::int64_t first, std::int64_t count, kernels::Stream& stream) {
  if (keeps_logits()) return;
  const std::int64_t rows = batch_.wanted_rows(), vocabulary = model_.config().vocabulary;
  all_logits_.resize(std::max(all_logits_.size(), static_cast<std::size_t>(rows * vocabulary)));
  device_.read_back(bytes_of(all_logits_.data() + first * vocabulary), bytes_of(a_.logits),
                    count * vocabulary * 4, stream);
}

std::span<const float> DeviceStaging::logits(kernels::Stream& stream) {
  const std::int64_t rows = batch_.wanted_rows(), vocabulary = model_.config().vocabulary;
  if (finds_top_k_ || rows == 0) return {};
  if (rows == 1) {
    device_.read_back(bytes_of(logits_), bytes_of(kept(0)), vocabulary * 4, stream);
    return {logits_, static_cast<std::size_t>(vocabulary)};
  }
  const auto count = static_cast<std::size_t>(rows * vocabulary);
  if (keeps_logits()) {
    all_logits_.resize(std::max(all_logits_.size(), count));
    device_.read_back(bytes_of(all_logits_.data()), bytes_of(kept(0)), rows * vocabulary * 4, stream);
  }
  return {all_logits_.data(), count};
}

void DeviceStaging::find_top_k(const kernels::OperationTable& operations, kernels::Stream& stream) {
  const std::int64_t rows = batch_.wanted_rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    const List list = device_list_.of(row);
    operations.top_k({.logits = kept(row),
                      .count = model_.config().vocabulary,
                      .inverse_temperature = device_side_.inverse_temperature + row,
                      .listed = list.listed,
                      .ids = list.ids,
                      .values = list.logits(),
                      .sums = list.sums()},
                     stream);
  }
  device_.read_back(bytes_of(host_list_.ids), bytes_of(device_list_.ids), rows * device_list_.words() * 4,
                    stream);
}

std::optional<TopKLogits> DeviceStaging::top_k(std::int64_t row) const {
  if (!finds_top_k_ || row >= batch_.wanted_rows()) return std::nullopt;
  const List list = host_list_.of(row);
  const auto count = static_cast<std::size_t>(list.listed);
  const auto sum = [&list](int i) { return static_cast<double>(list.sums()[i]); };
  return TopKLogits{.ids = {list.ids, count},
                    .logits = {list.logits(), count},
                    .weight = sum(0),
                    .sum = sum(1),
                    .entropy = std::log(sum(1)) - sum(2) / sum(1)};
}

std::span<const float> DeviceStaging::logits_behind_top_k(std::int64_t row, kernels::Stream& stream) {
  device_.read_back(bytes_of(logits_), bytes_of(kept(row)), model_.config().vocabulary * 4, stream);
  stream.synchronize();
  return {logits_, static_cast<std::size_t>(model_.config().vocabulary)};
}

}  // namespace fovea::layers
