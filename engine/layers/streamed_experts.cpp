#include "engine/layers/streamed_experts.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <type_traits>
#include <utility>

#include "engine/layers/errors.h"

namespace fovea::layers {

namespace {

// At least one expert, and no more than a layer has.
std::int64_t fitting(std::int64_t part_bytes, std::int64_t experts, std::int64_t largest) {
  return std::max(largest, std::min(part_bytes, experts * largest));
}

// A handle that says of which shape the expert is, and has nothing.
kernels::Expert empty(kernels::Expert expert) {
  for (kernels::Weight* weight : {&expert.gate, &expert.up, &expert.down}) weight->data = nullptr;
  expert.gate_bias = expert.up_bias = expert.down_bias = nullptr;
  return expert;
}

}  // namespace

std::int64_t tokens_that_pay(double bytes, double link_bytes_per_second, double uses_per_token,
                             double expert_seconds) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const double tokens = bytes / (link_bytes_per_second * uses_per_token * expert_seconds);
  std::int64_t from = 2 * kernels::max_quantised_rows;
  while (static_cast<double>(from) < tokens && from < most) from *= 2;
  return from;
}

void StreamedExperts::Memory::each(const models::ModelConfig& config, std::int64_t max_tokens,
                                   std::int64_t part_bytes, Layout& layout) {
  for (std::byte*& part : parts) layout(part, part_bytes);
  layout(unpacked, part_bytes);
  layout(table, config.experts());
  layout(out, max_tokens * config.hidden);
}

StreamedExperts::Bytes StreamedExperts::bytes(const models::ModelConfig& config, std::int64_t max_tokens,
                                              std::int64_t largest, std::int64_t part_bytes) {
  Layout device, host;
  Memory{}.each(config, max_tokens, fitting(part_bytes, config.experts(), largest), device);
  kernels::Expert* table = nullptr;
  host(table, buffer_count * config.experts());
  return {.device = device.bytes, .host = host.bytes};
}

StreamedExperts::StreamedExperts(const models::ModelConfig& config, const kernels::Device& device,
                                 const models::HostWeights& weights, std::int64_t max_tokens,
                                 std::int64_t part_bytes)
    : config_(config),
      device_(device),
      weights_(weights),
      max_tokens_(max_tokens),
      part_bytes_(part_bytes),
      link_(device.make_stream({.background = true})) {}

StreamedExperts::~StreamedExperts() {
  if (link_ != nullptr) link_->synchronize();
  if (on_device_ != nullptr) device_.release(on_device_, bytes_.device);
  if (on_host_ != nullptr) device_.release_host(on_host_, bytes_.host);
}

Result<std::unique_ptr<StreamedExperts>> StreamedExperts::create(const models::ModelConfig& config,
                                                                 const kernels::Device& device,
                                                                 const models::HostWeights& weights,
                                                                 std::int64_t max_tokens,
                                                                 std::int64_t part_bytes) {
  std::unique_ptr<StreamedExperts> streamed(
      new StreamedExperts(config, device, weights, max_tokens, part_bytes));
  streamed->divide();
  bool any = false;  // now or later
  for (std::int64_t layer = 0; layer < config.layer_count(); ++layer)
    any = any || std::ranges::any_of(weights.layer(layer).regions, [](const auto& r) { return !r.empty(); });
  if (!any || streamed->allocate()) return streamed;
  return fail(phrases::forward_pass_place(),
              errors::no_memory_for_streaming(device.name(), fovea::Bytes{streamed->bytes_.device},
                                              fovea::Bytes{std::ssize(weights.memory())}));
}

// What the processor has now.
void StreamedExperts::divide() {
  divided_revision_ = weights_.revision();
  parts_.clear();
  first_part_.clear();
  for (std::int64_t layer = 0; layer < config_.layer_count(); ++layer) {
    first_part_.push_back(parts_.size());
    const models::HostWeights::Layer& own = weights_.layer(layer);
    for (std::size_t e = 0; e < own.regions.size(); ++e) {
      const std::int64_t bytes = std::ssize(own.regions[e]);
      if (bytes == 0 || !own.experts[e].gate) continue;
      const bool is_new = parts_.size() == first_part_.back() || parts_.back().bytes + bytes > part_bytes_;
      if (is_new) parts_.push_back({.layer = layer, .places = {}});
      Part& part = parts_.back();
      part.places.push_back({static_cast<std::int32_t>(e), part.bytes});
      part.bytes += bytes;
    }
  }
  first_part_.push_back(parts_.size());
}

void StreamedExperts::begin_pass() {
  brought_ = 0;
  if (divided_revision_ != weights_.revision()) divide();
}

bool StreamedExperts::allocate() {
  std::int64_t largest = 0;
  for (std::int64_t layer = 0; layer < config_.layer_count(); ++layer)
    for (const std::span<const std::byte> region : weights_.layer(layer).regions)
      largest = std::max(largest, std::ssize(region));
  bytes_ = bytes(config_, max_tokens_, largest, part_bytes_);
  on_device_ = device_.allocate(bytes_.device);
  on_host_ = device_.allocate_host(bytes_.host);
  if (on_device_ == nullptr || on_host_ == nullptr || link_ == nullptr) return false;
  if (!weights_.pin(device_)) return false;
  Layout device{.memory = on_device_}, host{.memory = on_host_};
  memory_.each(config_, max_tokens_, fitting(part_bytes_, config_.experts(), largest), device);
  kernels::Expert* tables = nullptr;
  host(tables, buffer_count * config_.experts());
  for (int i = 0; i < buffer_count; ++i) {
    Buffer& buffer = buffers_[i];
    buffer = {.memory = memory_.parts[i],
              .table = tables + i * config_.experts(),
              .here = device_.make_event(),
              .free = device_.make_event()};
    if (buffer.here == nullptr || buffer.free == nullptr) return false;
  }
  return true;
}

std::span<const StreamedExperts::Part> StreamedExperts::parts_of(std::int64_t layer) const {
  const std::size_t first = first_part_[static_cast<std::size_t>(layer)];
  return std::span(parts_).subspan(first, first_part_[static_cast<std::size_t>(layer) + 1] - first);
}

double StreamedExperts::all_bytes() const {
  double bytes = 0;
  for (const Part& part : parts_) bytes += static_cast<double>(part.bytes);
  return bytes;
}

double StreamedExperts::measure_link() {
  const Part& part = parts_.front();
  double seconds = 0;
  for (int i = 0; i < 3; ++i) {  // the first one may have to wake the device
    const auto begin = std::chrono::steady_clock::now();
    copy(part, buffers_[0].memory);
    link_->synchronize();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    seconds = i == 0 ? took : std::min(seconds, took);
  }
  return static_cast<double>(part.bytes) / seconds;
}

// Those that lie behind each other in main memory in one piece.
void StreamedExperts::copy(const Part& part, std::byte* memory) {
  for (std::size_t first = 0, end = 0; first < part.places.size(); first = end) {
    const std::byte* const source = region(part, part.places[first]).data();
    const std::byte* until = source;
    for (end = first; end < part.places.size() && region(part, part.places[end]).data() == until; ++end)
      until += region(part, part.places[end]).size();
    device_.copy(memory + part.places[first].offset, source, until - source, *link_);
  }
}

bool StreamedExperts::feed_forward(std::int64_t layer, const kernels::FeedForward& block, bool alone,
                                   kernels::Stream& stream) {
  assert(block.tokens <= max_tokens_);
  const auto first = static_cast<std::int64_t>(first_part_[static_cast<std::size_t>(layer)]);
  const std::span<const Part> parts = parts_of(layer);
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    if (!bring(first + i, stream)) return false;
    const Part& part = parts[static_cast<std::size_t>(i)];
    Buffer& buffer = buffers_[(first + i) % buffer_count];
    unpack(part, buffer, stream);
    device_.record(*buffer.free, stream);
    compute(buffer, block, alone && i == 0, stream);
  }
  return true;
}

// And sends for those that there is room for: of the last layer only where it is at that, since most passes
// want few of its rows or none.
bool StreamedExperts::bring(std::int64_t part, kernels::Stream& stream) {
  const auto of_last_layer = static_cast<std::int64_t>(first_part_[first_part_.size() - 2]);
  const std::int64_t all = part < of_last_layer ? of_last_layer : std::ssize(parts_);
  brought_ = std::max(brought_, part);
  for (const std::int64_t end = std::min(part + buffer_count, all); brought_ < end; ++brought_) {
    Buffer& buffer = buffers_[brought_ % buffer_count];
    buffer.free->wait();
    copy(parts_[static_cast<std::size_t>(brought_)], buffer.memory);
    device_.record(*buffer.here, *link_);
  }
  buffers_[part % buffer_count].here->wait();
  return link_->failure().empty() && stream.failure().empty();
}

// Runs of experts that have the same shape and types at the same distance are one operation for each matrix.
void StreamedExperts::unpack(const Part& part, Buffer& buffer, kernels::Stream& stream) {
  const models::HostWeights::Layer& own = weights_.layer(part.layer);
  std::fill_n(buffer.table, config_.experts(), empty(own.experts.front()));
  const auto expert = [&](std::size_t i) -> const kernels::Expert& {
    return own.experts[static_cast<std::size_t>(part.places[i].expert)];
  };
  const auto bytes = [&](std::size_t i) { return region(part, part.places[i]).size(); };
  const auto alike = [&](std::size_t a, std::size_t b) {
    return bytes(a) == bytes(b) && expert(a).gate.type == expert(b).gate.type &&
           expert(a).up.type == expert(b).up.type && expert(a).down.type == expert(b).down.type;
  };
  for (std::size_t first = 0, end = 0; first < part.places.size(); first = end) {
    for (end = first + 1; end < part.places.size() && alike(first, end);) ++end;
    unpack_run(part, first, end - first, buffer.memory, stream);
  }
  for (const Part::Place& place : part.places) {
    // Where things have moved to.
    const auto moved = [&, begin = region(part, place).data()](const auto*& at) {
      if (at != nullptr)
        at = reinterpret_cast<std::remove_reference_t<decltype(at)>>(
            memory_.unpacked + place.offset + (reinterpret_cast<const std::byte*>(at) - begin));
    };
    kernels::Expert& handle = buffer.table[place.expert];
    handle = own.experts[static_cast<std::size_t>(place.expert)];
    for (kernels::Weight* weight : {&handle.gate, &handle.up, &handle.down}) {
      moved(weight->data);
      if (weight->packing == kernels::Packing::tiles)
        weight->packing = device_.preferred_packing(weight->type, weight->rows, weight->columns);
    }
    for (const float** bias : {&handle.gate_bias, &handle.up_bias, &handle.down_bias}) moved(*bias);
  }
  device_.copy(reinterpret_cast<std::byte*>(memory_.table), reinterpret_cast<const std::byte*>(buffer.table),
               config_.experts() * static_cast<std::int64_t>(sizeof(kernels::Expert)), stream);
}

void StreamedExperts::unpack_run(const Part& part, std::size_t first, std::size_t count,
                                 const std::byte* source, kernels::Stream& stream) {
  const models::HostWeights::Layer& own = weights_.layer(part.layer);
  const Part::Place& place = part.places[first];
  const kernels::Expert& expert = own.experts[static_cast<std::size_t>(place.expert)];
  const std::span<const std::byte> region = this->region(part, place);
  const auto offset_of = [&](const auto* at) {
    return place.offset + (reinterpret_cast<const std::byte*>(at) - region.data());
  };
  const std::int64_t stride = std::ssize(region);
  std::int64_t matrices_end = place.offset;
  for (const kernels::Weight* weight : {&expert.gate, &expert.up, &expert.down}) {
    const std::int64_t offset = offset_of(weight->data);
    const std::int64_t bytes = weight->rows * kernels::row_bytes(weight->type, weight->columns);
    if (weight->packing == kernels::Packing::rows) {  // as the handle says then, whatever is preferred
      device_.copy_within(memory_.unpacked + offset, source + offset, bytes, stride,
                          static_cast<std::int64_t>(count), stream);
    } else {
      models::unpack(device_, *weight, source + offset, memory_.unpacked + offset, stride,
                     static_cast<std::int64_t>(count), stream);
    }
    matrices_end = std::max(matrices_end, offset + bytes);
  }
  if (expert.gate_bias == nullptr && expert.up_bias == nullptr && expert.down_bias == nullptr) return;
  // Biases lie behind the matrices.
  std::int64_t begin = place.offset + stride;
  const std::int64_t end = begin;
  for (const float* bias : {expert.gate_bias, expert.up_bias, expert.down_bias})
    if (bias != nullptr) begin = std::min(begin, offset_of(bias));
  assert(begin >= matrices_end);
  device_.copy_within(memory_.unpacked + begin, source + begin, end - begin, stride,
                      static_cast<std::int64_t>(count), stream);
}

void StreamedExperts::compute(const Buffer& buffer, const kernels::FeedForward& block, bool alone,
                              kernels::Stream& stream) {
  const kernels::OperationTable& operations = device_.operations();
  float* const out = alone ? block.out : memory_.out;
  operations.feed_forward({.x = block.x,
                           .tokens = block.tokens,
                           .d = block.d,
                           .experts = {buffer.table, static_cast<std::size_t>(config_.experts())},
                           .table = memory_.table,
                           .used = block.used,
                           .ids = block.ids,
                           .weights = block.weights,
                           .out = out},
                          stream);
  if (!alone) operations.add({.x = block.out, .y = out, .count = block.tokens * block.d}, stream);
}

}  // namespace fovea::layers
