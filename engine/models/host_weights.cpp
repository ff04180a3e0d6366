#include "engine/models/host_weights.h"

#include <algorithm>
#include <new>

#include "engine/models/errors.h"
#include "engine/models/placement.h"
#include "engine/models/transfer.h"

namespace fovea::models {

struct HostWeights::Memory {
  explicit Memory(const kernels::Device& on) : device(on) {}
  ~Memory() {
    if (pinned_for != nullptr) pinned_for->unpin(arena);
    if (arena != nullptr) device.release(arena, bytes);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const kernels::Device& device;
  std::byte* arena = nullptr;
  std::int64_t bytes = 0;
  const kernels::Device* pinned_for = nullptr;
};

HostWeights::HostWeights() = default;
HostWeights::HostWeights(HostWeights&&) noexcept = default;
HostWeights& HostWeights::operator=(HostWeights&&) noexcept = default;
HostWeights::~HostWeights() = default;

std::span<std::byte> HostWeights::memory() const {
  return {memory_->arena, static_cast<std::size_t>(memory_->arena != nullptr ? memory_->bytes : 0)};
}

bool HostWeights::Layer::computes_now() const {
  return shared.gate || std::ranges::any_of(experts, [](const kernels::Expert& e) { return bool(e.gate); });
}

const kernels::Expert& HostWeights::expert(std::int64_t layer, std::int64_t index) const {
  return experts_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(index)];
}

void HostWeights::set_on_device(std::int64_t layer, std::int64_t index, bool on_device) {
  Layer& of = layers_[static_cast<std::size_t>(layer)];
  if (of.experts.empty()) return;
  of.all_experts = false;
  kernels::Expert& now = of.experts[static_cast<std::size_t>(index)];
  now = expert(layer, index);
  ++revision_;
  if (!on_device) return;
  for (kernels::Weight* weight : {&now.gate, &now.up, &now.down}) weight->data = nullptr;
}

bool HostWeights::pin(const kernels::Device& device) const {
  if (memory_->pinned_for == nullptr && device.pin(memory_->arena, memory_->bytes))
    memory_->pinned_for = &device;
  return memory_->pinned_for == &device;
}

bool HostWeights::empty() const {
  return std::ranges::none_of(layers_, [](const Layer& layer) { return static_cast<bool>(layer); });
}

class HostLoader {
 public:
  HostLoader(const Model& model, const kernels::Device& host)
      : model_(model), device_(host), placement_(model.checkpoint(), host, UnitScope::none) {}

  Result<HostWeights> run(int threads, const ProgressSink& progress, std::stop_token stop) {
    out_.memory_ = std::make_unique<HostWeights::Memory>(device_);
    HostWeights::Memory& memory = *out_.memory_;
    model_.plan().each_matrix([&](const MatrixSource& source) {
      if (!source.on_host) return;
      memory.bytes += placement_.packed_bytes(source);
      out_.bytes_ += placement_.resident_bytes(source);
    });
    const std::int64_t biases = bias_bytes();
    memory.bytes += biases;
    out_.bytes_ += biases;
    if (memory.bytes > 0) memory.arena = device_.allocate(memory.bytes);
    if (memory.bytes > 0 && memory.arena == nullptr)
      return fail(phrases::file_place(model_.checkpoint().path()),
                  errors::no_memory_for_host_weights(memory.bytes >> 20));
    for (const LayerPlan& layer : model_.plan().layers) out_.layers_.push_back(bind(layer));
    FOVEA_CHECK(run_transfers(model_.checkpoint(), device_, std::move(transfers_), threads, progress,
                              std::move(stop)));
    for (const HostWeights::Layer& layer : out_.layers_) out_.experts_.push_back(layer.experts);
    return std::move(out_);
  }

 private:
  std::int64_t bias_bytes() const {
    std::int64_t sum = 0;
    for (const LayerPlan& layer : model_.plan().layers) {
      for (const ExpertSource& expert : layer.experts) {
        if (!expert.gate.on_host) continue;
        for (const VectorSource* bias : {&expert.gate_bias, &expert.up_bias, &expert.down_bias})
          sum += aligned(bias->count * 4);
      }
    }
    return sum;
  }

  HostWeights::Layer bind(const LayerPlan& plan) {
    HostWeights::Layer layer;
    const auto here = [](const ExpertSource& expert) { return expert.gate.on_host; };
    if (std::ranges::any_of(plan.experts, here)) {
      bool are_packed = true;
      for (const ExpertSource& expert : plan.experts) {
        const std::int64_t begin = used_;
        layer.experts.push_back(bind(expert));
        layer.regions.emplace_back(
            out_.memory().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(used_ - begin)));
        for (const MatrixSource* matrix : {&expert.gate, &expert.up, &expert.down})
          are_packed = are_packed && !(matrix->on_host && placement_.stays_mapped(*matrix));
      }
      if (!are_packed) layer.regions.clear();
      layer.all_experts = std::ranges::all_of(plan.experts, here);
    }
    if (here(plan.shared)) layer.shared = bind(plan.shared);
    return layer;
  }

  kernels::Expert bind(const ExpertSource& source) {
    return {.gate = bind(source.gate),
            .up = bind(source.up),
            .down = bind(source.down),
            .activation = source.activation,
            .gate_bias = bind(source.gate_bias, source.gate.on_host),
            .up_bias = bind(source.up_bias, source.up.on_host),
            .down_bias = bind(source.down_bias, source.down.on_host)};
  }

  const float* bind(const VectorSource& source, bool on_host) {
    if (!source || !on_host) return nullptr;
    auto* const values = reinterpret_cast<float*>(out_.memory_->arena + used_);
    used_ += aligned(source.count * 4);
    source.read(model_.checkpoint(), values);
    return values;
  }

  kernels::Weight bind(const MatrixSource& source) {
    kernels::Weight weight{nullptr, source.tensor->type, placement_.packing(source), source.rows,
                           source.columns};
    if (!source.on_host) return weight;
    std::byte* target = nullptr;
    if (placement_.stays_mapped(source)) {
      weight.data = placement_.mapped(source);
    } else {
      weight.data = target = out_.memory_->arena + used_;
      used_ += placement_.packed_bytes(source);
    }
    transfers_.push_back({source, weight.packing, target});
    return weight;
  }

  const Model& model_;
  const kernels::Device& device_;
  const Placement placement_;
  HostWeights out_;
  std::vector<Transfer> transfers_;
  std::int64_t used_ = 0;  // of the arena
};

Result<HostWeights> HostWeights::load(const Model& model, const kernels::Device& host, int threads,
                                      const ProgressSink& progress, std::stop_token stop) {
  try {
    return HostLoader(model, host).run(threads, progress, std::move(stop));
  } catch (const std::bad_alloc&) {
    return fail(phrases::loading_place(), errors::no_memory());
  }
}

bool can_unpack(const kernels::Device& device, const kernels::Weight& weight) {
  const kernels::Packing wanted = device.preferred_packing(weight.type, weight.rows, weight.columns);
  if (weight.packing == kernels::Packing::rows) return wanted == kernels::Packing::rows;
  return wanted == weight.packing || device.operations().repack != nullptr;
}

void unpack(const kernels::Device& device, const kernels::Weight& weight, const std::byte* source,
            std::byte* target, std::int64_t stride, std::int64_t count, kernels::Stream& stream) {
  const kernels::Packing wanted = device.preferred_packing(weight.type, weight.rows, weight.columns);
  if (weight.packing == kernels::Packing::rows || device.operations().repack == nullptr) {
    const std::int64_t bytes = device.packed_bytes(wanted, weight.type, weight.rows, weight.columns);
    device.copy_within(target, source, bytes, stride, count, stream);
    return;
  }
  device.operations().repack({.source = source,
                              .target = target,
                              .type = weight.type,
                              .rows = weight.rows,
                              .columns = weight.columns,
                              .stride = stride,
                              .count = count},
                             stream);
}

}  // namespace fovea::models
