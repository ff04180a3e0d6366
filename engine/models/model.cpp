#include "engine/models/model.h"

#include <deque>
#include <new>

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/device_words.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/models/errors.h"
#include "engine/models/no_stream.h"
#include "engine/models/placement.h"
#include "engine/models/plan.h"
#include "engine/models/transfer.h"
#include "kernels/formats/formats.h"

namespace fovea::models {

struct Model::Memory {
  Memory(checkpoint::Checkpoint file, const kernels::Device& on) : checkpoint(std::move(file)), device(on) {}
  ~Memory() {
    if (arena != nullptr) device.release(arena, bytes);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  checkpoint::Checkpoint checkpoint;
  const kernels::Device& device;
  WeightPlan plan;
  std::byte* arena = nullptr;
  std::int64_t bytes = 0;
};

Model::Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;
const checkpoint::Checkpoint& Model::checkpoint() const {
  return memory_->checkpoint;
}
const WeightPlan& Model::plan() const {
  return memory_->plan;
}

// Binds every planned weight to memory: mapped as it is, or in one arena in the order of the pass.
class Loader {
 public:
  Loader(checkpoint::Checkpoint checkpoint, const kernels::Device& device, UnitScope units,
         const std::vector<HostShare>& host, const std::optional<LayerRange>& layers)
      : memory_(std::make_unique<Model::Memory>(std::move(checkpoint), device)),
        placement_(memory_->checkpoint, device, units),
        host_(host),
        layers_(layers) {}

  Result<Model> run(int threads, const ProgressSink& progress, const std::stop_token& stop) {
    FOVEA_TRY(model_.config_, read_config(file()));
    Model::Memory& memory = *memory_;
    FOVEA_TRY(memory.plan, plan_weights(file(), model_.config_));
    leave_to_host(host_, memory.plan);
    model_.range_ = layers_.value_or(LayerRange{0, model_.config_.layer_count()});
    keep_layers(model_.range_, memory.plan);
    const WeightPlan& plan = memory.plan;
    model_.ignored_tensors_ = plan.ignored;
    for (const std::string& name : plan.ignored)
      log::info("models", file().path().string(), ": the tensor ", name, " is not used");

    const Footprint footprint = placement_.measure(plan, model_.config_);
    memory.bytes = footprint.packed;
    model_.weight_bytes_ = footprint.resident();
    model_.bytes_per_token_ = footprint.per_token;
    memory.arena = device().allocate(memory.bytes);
    if (memory.arena == nullptr) {
      return fail(phrases::file_place(file().path()), errors::no_memory_for_weights(memory.bytes >> 20));
    }
    bind(plan);
    FOVEA_CHECK(send_vectors());
    FOVEA_CHECK(run_transfers(file(), device(), std::move(transfers_), threads, progress, stop));
    model_.memory_ = std::move(memory_);
    return std::move(model_);
  }

 private:
  const checkpoint::Checkpoint& file() const { return memory_->checkpoint; }
  const kernels::Device& device() const { return memory_->device; }

  std::byte* take(std::int64_t bytes) {
    std::byte* memory = memory_->arena + used_;
    used_ += aligned(bytes);
    return memory;
  }

  kernels::Weight bind(const MatrixSource& source) {
    if (!source) return {};
    kernels::Weight weight{nullptr, source.tensor->type, placement_.packing(source), source.rows,
                           source.columns};
    if (placement_.lies_elsewhere(source)) return weight;
    if (placement_.stays_mapped(source)) {
      weight.data = placement_.mapped(source);
      // Rows of the embedding are read when a token needs them.
      if (source.role != Role::embedding) transfers_.push_back({source, weight.packing, nullptr});
    } else {
      std::byte* target = take(placement_.packed_bytes(source));
      weight.data = target;
      transfers_.push_back({source, weight.packing, target});
    }
    return weight;
  }

  const float* bind(const VectorSource& source) {
    if (!source) return nullptr;
    auto* const values = reinterpret_cast<float*>(take(source.count * 4));
    float* target = values;
    if (!device().memory_is_host()) {
      sent_.push_back({values, std::vector<float>(static_cast<std::size_t>(source.count))});
      target = sent_.back().host.data();
    }
    source.read(file(), target);
    return values;
  }

  Result<void> send_vectors() {
    if (sent_.empty()) return {};
    const auto stream = device().make_stream({.threads = 1, .background = true});
    if (!stream) return no_stream(device());
    for (const Sent& each : sent_) {
      device().copy(reinterpret_cast<std::byte*>(each.device),
                    reinterpret_cast<const std::byte*>(each.host.data()), std::ssize(each.host) * 4, *stream);
    }
    stream->synchronize();
    sent_.clear();
    if (const kernels::Failure failure = stream->failure(); !failure.empty())
      return device_failed(device().name(), failure);
    return {};
  }

  kernels::Expert bind(const ExpertSource& source) {
    return {.gate = bind(source.gate),
            .up = bind(source.up),
            .down = bind(source.down),
            .activation = source.activation,
            .gate_bias = bind(source.gate_bias),
            .up_bias = bind(source.up_bias),
            .down_bias = bind(source.down_bias)};
  }

  LayerWeights bind(const LayerPlan& plan) {
    LayerWeights layer;
    layer.mixer_norm = bind(plan.mixer_norm);
    AttentionWeights& attention = layer.attention;
    attention.q = bind(plan.q);
    attention.k = bind(plan.k);
    attention.v = bind(plan.v);
    attention.output = bind(plan.attention_output);
    attention.q_bias = bind(plan.q_bias);
    attention.k_bias = bind(plan.k_bias);
    attention.v_bias = bind(plan.v_bias);
    attention.output_bias = bind(plan.output_bias);
    attention.q_norm = bind(plan.q_norm);
    attention.k_norm = bind(plan.k_norm);
    attention.sinks = bind(plan.sinks);
    layer.delta = {.z = bind(plan.delta.z),
                   .a = bind(plan.delta.a),
                   .b = bind(plan.delta.b),
                   .convolution = bind(plan.delta.convolution),
                   .rate = bind(plan.delta.rate),
                   .step_bias = bind(plan.delta.step_bias),
                   .norm = bind(plan.delta.norm)};
    layer.mixer_post_norm = bind(plan.mixer_post_norm);
    layer.feed_forward_norm = bind(plan.feed_forward_norm);
    layer.feed_forward_post_norm = bind(plan.feed_forward_post_norm);
    layer.dense_post_norm = bind(plan.dense_post_norm);
    layer.experts_norm = bind(plan.experts_norm);
    layer.experts_post_norm = bind(plan.experts_post_norm);
    layer.router = bind(plan.router);
    layer.router_bias = bind(plan.router_bias);
    layer.router_norm = bind(plan.router_norm);
    layer.expert_scales = bind(plan.expert_scales);
    for (const ExpertSource& expert : plan.experts) layer.experts.push_back(bind(expert));
    layer.shared_gate = bind(plan.shared_gate);
    layer.shared = bind(plan.shared);
    layer.input = {.gate = bind(plan.layer_input.gate),
                   .output = bind(plan.layer_input.output),
                   .post_norm = bind(plan.layer_input.post_norm)};
    if (plan.output_scale) plan.output_scale.read(file(), &layer.output_scale);
    return layer;
  }

  void bind(const WeightPlan& plan) {
    model_.embedding_ = bind(plan.embedding);
    model_.layer_embedding_ = bind(plan.layer_embedding);
    model_.layer_projection_ = bind(plan.layer_projection);
    model_.layer_projection_norm_ = bind(plan.layer_projection_norm);
    for (const LayerPlan& layer : plan.layers) model_.layers_.push_back(bind(layer));
    model_.output_norm_ = bind(plan.output_norm);
    model_.output_ = bind(plan.output);
  }

  std::unique_ptr<Model::Memory> memory_;
  const Placement placement_;
  const std::vector<HostShare>& host_;
  const std::optional<LayerRange>& layers_;
  Model model_;
  std::vector<Transfer> transfers_;
  struct Sent {
    float* device;
    std::vector<float> host;
  };
  std::deque<Sent> sent_;  // vectors on their way to memory that the host cannot write
  std::int64_t used_ = 0;  // of the arena
};

Result<Model> Model::load(checkpoint::Checkpoint checkpoint, const kernels::Device& device, int threads,
                          const ProgressSink& progress, std::stop_token stop, UnitScope units,
                          const std::vector<HostShare>& host, const std::optional<LayerRange>& layers) {
  try {
    return Loader(std::move(checkpoint), device, units, host, layers).run(threads, progress, stop);
  } catch (const std::bad_alloc&) {
    return fail(phrases::loading_place(), errors::no_memory());
  }
}

}  // namespace fovea::models
