#include "engine/models/model.h"

#include <new>

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/models/plan.h"
#include "engine/models/say.h"
#include "engine/models/transfer.h"
#include "kernels/formats/formats.h"

namespace fovea::models {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Loads of whole words need it; safetensors does not promise it.
bool is_aligned(const std::byte* data, kernels::Type type) {
  const std::uintptr_t word = type == kernels::Type::f32 ? 4 : 2;
  return reinterpret_cast<std::uintptr_t>(data) % word == 0;
}

}  // namespace

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

// Gives every planned weight its place: mapped as it is, or in one arena in the order of the pass.
class Loader {
 public:
  Loader(checkpoint::Checkpoint checkpoint, const kernels::Device& device, UnitScope units) : units_(units) {
    model_.memory_ = std::make_unique<Model::Memory>(std::move(checkpoint), device);
  }

  Result<Model> run(int threads, const ProgressSink& progress, const std::stop_token& stop) {
    FOVEA_TRY(model_.config_, read_config(file()));
    FOVEA_TRY(model_.memory_->plan, plan_weights(file(), model_.config_));
    const WeightPlan& plan = model_.memory_->plan;
    model_.ignored_tensors_ = plan.ignored;
    for (const std::string& name : plan.ignored)
      log::info("models", file().path().string(), ": the tensor ", name, " is not used");

    measure(plan);
    Model::Memory& memory = *model_.memory_;
    memory.arena = device().allocate(memory.bytes);
    if (memory.arena == nullptr) {
      return fail(ErrorKind::memory, file().path().string(),
                  say("the weights need ", memory.bytes >> 20, " MiB, more than there is"),
                  "Close other programs, or choose a smaller model");
    }
    place(plan);
    FOVEA_CHECK(run_transfers(file(), device(), std::move(transfers_), threads, progress, stop));
    return std::move(model_);
  }

 private:
  const checkpoint::Checkpoint& file() const { return model_.memory_->checkpoint; }
  const kernels::Device& device() const { return model_.memory_->device; }

  const std::byte* mapped(const MatrixSource& source) const {
    return file().bytes(*source.tensor).data() + source.offset();
  }
  // The embedding is looked up by row, so it stays as the file has it.
  kernels::Packing packing(const MatrixSource& source) const {
    if (source.role == Role::embedding) return kernels::Packing::rows;
    return device().preferred_packing(source.tensor->type, source.rows, source.columns);
  }
  bool stays_mapped(const MatrixSource& source) const {
    return packing(source) == kernels::Packing::rows && is_aligned(mapped(source), source.tensor->type);
  }
  std::int64_t arena_bytes(const MatrixSource& source) const {
    if (stays_mapped(source)) return 0;
    return aligned(device().packed_bytes(packing(source), source.tensor->type, source.rows, source.columns));
  }

  template <class F>
  static void each_vector(const WeightPlan& plan, F&& f) {
    for (const LayerPlan& layer : plan.layers) {
      for (const VectorSource source :
           {layer.attention_norm, layer.q_bias, layer.k_bias, layer.v_bias, layer.q_norm, layer.k_norm,
            layer.output_bias, layer.feed_forward_norm}) {
        if (source != nullptr) f(*source);
      }
    }
    f(*plan.output_norm);
  }

  void measure(const WeightPlan& plan) {
    const double used = static_cast<double>(model_.config_.experts_used);
    const double experts = static_cast<double>(model_.config_.experts);
    double routed = 0;
    std::int64_t arena = 0, resident = 0, always = 0;
    each_vector(plan, [&](const checkpoint::TensorInfo& tensor) {
      arena += aligned(tensor.elements() * 4);
      always += tensor.elements() * 4;
    });
    plan.each_matrix([&](const MatrixSource& source) {
      if (!is_unit(units_, source.role)) {
        const std::int64_t in_arena = arena_bytes(source);
        arena += in_arena;
        if (in_arena == 0) resident += source.bytes();
      }
      if (source.role == Role::embedding) {
        always += source.bytes() / source.rows;
      } else if (source.role == Role::routed_expert) {
        routed += static_cast<double>(source.bytes()) * used / experts;
      } else {
        always += source.bytes();
      }
    });
    // A tied table that is packed as the output is needed once more, where its rows are looked up.
    if (model_.config_.tied_embeddings && !stays_mapped(plan.embedding)) arena += arena_bytes(plan.embedding);
    model_.memory_->bytes = arena;
    model_.weight_bytes_ = arena + resident;
    model_.bytes_per_token_ = always + static_cast<std::int64_t>(routed);
  }

  std::byte* take(std::int64_t bytes) {
    std::byte* memory = model_.memory_->arena + used_;
    used_ += aligned(bytes);
    return memory;
  }

  kernels::Weight place(const MatrixSource& source) {
    if (!source) return {};
    kernels::Weight weight{nullptr, source.tensor->type, packing(source), source.rows, source.columns};
    if (is_unit(units_, source.role)) return weight;
    if (stays_mapped(source)) {
      weight.data = mapped(source);
      // Rows of the embedding are read when a token needs them.
      if (source.role != Role::embedding) transfers_.push_back({source, weight.packing, nullptr});
    } else {
      std::byte* target = take(arena_bytes(source));
      weight.data = target;
      transfers_.push_back({source, weight.packing, target});
    }
    return weight;
  }

  const float* place(VectorSource source) {
    if (source == nullptr) return nullptr;
    auto* values = reinterpret_cast<float*>(take(source->elements() * 4));
    kernels::formats::dequantize(source->type, file().bytes(*source).data(), source->elements(), values);
    return values;
  }

  kernels::Expert place(const ExpertSource& source) {
    return {place(source.gate), place(source.up), place(source.down)};
  }

  LayerWeights place(const LayerPlan& plan) {
    LayerWeights layer;
    layer.attention_norm = place(plan.attention_norm);
    AttentionWeights& attention = layer.attention;
    attention.q = place(plan.q);
    attention.k = place(plan.k);
    attention.v = place(plan.v);
    attention.output = place(plan.attention_output);
    attention.q_bias = place(plan.q_bias);
    attention.k_bias = place(plan.k_bias);
    attention.v_bias = place(plan.v_bias);
    attention.output_bias = place(plan.output_bias);
    attention.q_norm = place(plan.q_norm);
    attention.k_norm = place(plan.k_norm);
    layer.feed_forward_norm = place(plan.feed_forward_norm);
    layer.router = place(plan.router);
    for (const ExpertSource& expert : plan.experts) layer.experts.push_back(place(expert));
    layer.shared_gate = place(plan.shared_gate);
    layer.shared = place(plan.shared);
    return layer;
  }

  void place(const WeightPlan& plan) {
    model_.embedding_ = place(plan.embedding);
    for (const LayerPlan& layer : plan.layers) model_.layers_.push_back(place(layer));
    model_.output_norm_ = place(plan.output_norm);
    model_.output_ = place(plan.output);
  }

  const UnitScope units_;
  Model model_;
  std::vector<Transfer> transfers_;
  std::int64_t used_ = 0;  // of the arena
};

Result<Model> Model::load(checkpoint::Checkpoint checkpoint, const kernels::Device& device, int threads,
                          const ProgressSink& progress, std::stop_token stop, UnitScope units) {
  try {
    return Loader(std::move(checkpoint), device, units).run(threads, progress, stop);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::memory, "loading", "there is not enough memory", "Close other programs");
  }
}

}  // namespace fovea::models
