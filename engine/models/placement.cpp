#include "engine/models/placement.h"

namespace fovea::models {
namespace {

// Loads of whole words need it; safetensors does not promise it.
bool is_aligned(const std::byte* data, kernels::Type type) {
  const std::uintptr_t word = type == kernels::Type::f32 ? 4 : 2;
  return reinterpret_cast<std::uintptr_t>(data) % word == 0;
}

}  // namespace

// The embedding is looked up by row, so it stays as the file has it.
kernels::Packing Placement::packing(const MatrixSource& source) const {
  if (source.role == Role::embedding) return kernels::Packing::rows;
  return device_.preferred_packing(source.tensor->type, source.rows, source.columns);
}

const std::byte* Placement::mapped(const MatrixSource& source) const {
  return checkpoint_.bytes(*source.tensor).data() + source.offset();
}

bool Placement::stays_mapped(const MatrixSource& source) const {
  return device_.memory_is_host() && source.tensor->is_mapped() &&
         packing(source) == kernels::Packing::rows && is_aligned(mapped(source), source.tensor->type);
}

std::int64_t Placement::packed_bytes(const MatrixSource& source) const {
  if (stays_mapped(source)) return 0;
  return aligned(device_.packed_bytes(packing(source), source.tensor->type, source.rows, source.columns));
}

std::int64_t Placement::resident_bytes(const MatrixSource& source) const {
  return stays_mapped(source) ? source.bytes() : packed_bytes(source);
}

Footprint Placement::measure(const WeightPlan& plan, const ModelConfig& config) const {
  Footprint sum;
  double routed = 0;
  const auto read_for_token = [&](std::int64_t bytes, bool is_routed) {
    if (!is_routed) {
      sum.per_token += bytes;
    } else {
      routed += static_cast<double>(bytes) * static_cast<double>(config.experts_used()) /
                static_cast<double>(config.experts());
    }
  };
  plan.each_vector([&](const VectorSource& source, bool is_routed) {
    sum.packed += aligned(source.count * 4);
    read_for_token(source.count * 4, is_routed);
  });
  plan.each_matrix([&](const MatrixSource& source) {
    if (!lies_elsewhere(source)) {
      const std::int64_t bytes = packed_bytes(source);
      sum.packed += bytes;
      if (bytes == 0) sum.mapped += source.bytes();
    }
    read_for_token(source.role == Role::embedding ? source.bytes() / source.rows : source.bytes(),
                   source.role == Role::routed_expert);
  });
  // A tied table that is packed as the output is needed once more, where its rows are looked up.
  if (config.tied_embeddings && plan.embedding && plan.output && !stays_mapped(plan.embedding))
    sum.packed += packed_bytes(plan.embedding);
  sum.per_token += static_cast<std::int64_t>(routed);
  return sum;
}

}  // namespace fovea::models
