// Everything that a pass writes beside the KV cache, in one piece of the device's memory: named buffers with
// their shapes. T is the most tokens of a pass, d the hidden size; heads are those of the widest layer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/models/config.h"
#include "kernels/api/device.h"

namespace fovea::layers {

struct Activations {
  float* x = nullptr;                  // [T, d]               the residual stream
  float* h = nullptr;                  // [T, d]               its norm, a block's input
  float* y = nullptr;                  // [T, d]               a block's output, added to x by the next norm
  float* q = nullptr;                  // [T, heads, head_dim]
  float* gated_q = nullptr;            // [T, heads, 2, head_dim], of attention with a gate
  float* qkv = nullptr;                // [T, channels]        of gated delta
  float* z = nullptr;                  // [T, value_heads, value_dim]
  float* delta_gates = nullptr;        // [T, 2, value_heads]  a and b
  float* k = nullptr;                  // [T, kv_heads, head_dim]
  float* v = nullptr;                  // [T, kv_heads, head_dim]
  float* attended = nullptr;           // [T, heads, head_dim], or [T, value_heads, value_dim]
  float* router_logits = nullptr;      // [T, experts]
  float* router_weights = nullptr;     // [T, experts_used]
  std::int32_t* expert_ids = nullptr;  // [T, experts_used]
  float* shared_weights = nullptr;     // [T]
  float* experts_input = nullptr;      // [T, d], of experts beside a dense branch, and their output
  float* experts_output = nullptr;     // [T, d]
  float* router_input = nullptr;       // [T, d], of a router with a norm of its own
  float* layer_inputs = nullptr;       // [T, layers, p], the layers' own inputs
  float* layer_products = nullptr;     // [T, layers, p]
  float* layer_gate = nullptr;         // [T, p]
  std::int32_t* positions = nullptr;   // [T]
  float* inverse_frequency = nullptr;  // [rotary / 2] of each rotary table, behind each other
  std::byte* h_quantised = nullptr;    // of h and of attended: see kernels::max_quantised_rows
  std::byte* attended_quantised = nullptr;
  float* logits = nullptr;  // [logits_rows, vocabulary]

  // Where they are: in the host's memory or out of its reach, so that choices and positions are the staging's
  // to keep; and of layers that others follow elsewhere, so that there are no logits.
  enum class Place : std::uint8_t { host, apart, host_before, apart_before };
  static Place place(const kernels::Device& device, bool is_last) {
    if (device.memory_is_host()) return is_last ? Place::host : Place::host_before;
    return is_last ? Place::apart : Place::apart_before;
  }
  static bool is_apart(Place place) { return place == Place::apart || place == Place::apart_before; }
  static bool is_before(Place place) { return place == Place::host_before || place == Place::apart_before; }

  // Calls f(pointer, bytes) for each.
  template <class F>
  void each(const models::ModelConfig& c, std::int64_t t, Place place, F&& f) {
    const Widths w = widths(c);
    const auto floats = [&](auto*& pointer, std::int64_t elements) { f(pointer, 4 * elements); };
    if (!is_apart(place)) {
      floats(expert_ids, t * c.experts_used());
      floats(router_weights, t * c.experts_used());
      floats(positions, t);
    }
    floats(x, t * c.hidden);
    floats(h, t * c.hidden);
    floats(y, t * c.hidden);
    floats(q, t * w.q);
    floats(gated_q, t * w.gated_q);
    floats(qkv, t * w.qkv);
    floats(z, t * w.z);
    floats(delta_gates, t * w.delta_gates);
    floats(k, t * w.kv);
    floats(v, t * w.kv);
    floats(attended, t * w.attended);
    floats(router_logits, t * c.experts());
    floats(shared_weights, t);
    floats(experts_input, t * w.branch);
    floats(experts_output, t * w.branch);
    floats(router_input, t * w.router_input);
    floats(layer_inputs, t * c.per_layer_input() * c.layer_count());
    floats(layer_products, t * c.per_layer_input() * c.layer_count());
    floats(layer_gate, t * c.per_layer_input());
    floats(inverse_frequency, w.rotary);
    const std::int64_t few = std::min(t, kernels::max_quantised_rows);
    floats(h_quantised, few * c.hidden);
    floats(attended_quantised, few * w.attended);
    floats(logits, is_before(place) ? 0 : logits_rows(t, is_apart(place)) * c.vocabulary);
  }
  // Of the host's memory the system gives pages as they are written; elsewhere rows are computed and read
  // back so many at a time.
  static std::int64_t logits_rows(std::int64_t max_tokens, bool apart) {
    constexpr std::int64_t max_rows = 32;
    return apart ? std::min(max_tokens, max_rows) : max_tokens;
  }
  static std::int64_t bytes(const models::ModelConfig& c, std::int64_t max_tokens, Place place) {
    std::int64_t sum = 0;
    Activations{}.each(c, max_tokens, place, [&](auto*&, std::int64_t bytes) { sum += aligned(bytes); });
    return sum;
  }
  // `memory` holds bytes().
  static Activations in(std::byte* memory, const models::ModelConfig& c, std::int64_t max_tokens,
                        Place place) {
    Activations out;
    out.each(c, max_tokens, place, [&]<class T>(T*& pointer, std::int64_t bytes) {
      pointer = reinterpret_cast<T*>(memory);
      memory += aligned(bytes);
    });
    return out;
  }

 private:
  static constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

  // Floats of a row.
  struct Widths {
    std::int64_t q = 0, gated_q = 0, kv = 0, qkv = 0, z = 0, delta_gates = 0, attended = 0, rotary = 0;
    std::int64_t branch = 0, router_input = 0;
  };
  static Widths widths(const models::ModelConfig& config) {
    Widths most;
    for (const models::LayerConfig& layer : config.layers) {
      if (const auto* const delta = std::get_if<models::GatedDeltaConfig>(&layer.mixer)) {
        most.qkv = std::max(most.qkv, delta->channels());
        most.z = std::max(most.z, delta->value_heads * delta->value_dim);
        most.delta_gates = std::max(most.delta_gates, 2 * delta->value_heads);
        most.attended = std::max(most.attended, delta->value_heads * delta->value_dim);
      }
      if (layer.experts && layer.experts->norms.before) most.branch = config.hidden;
      if (layer.experts && layer.experts->router.own_norm) most.router_input = config.hidden;
      const models::AttentionConfig* const a = layer.attention();
      if (a == nullptr) continue;
      most.attended = std::max(most.attended, a->heads * a->head_dim);
      most.q = std::max(most.q, a->heads * a->head_dim);
      if (a->gate) most.gated_q = std::max(most.gated_q, 2 * a->heads * a->head_dim);
      most.kv = std::max(most.kv, a->kv_heads * a->head_dim);
    }
    for (const models::RopeConfig& rope : config.rotary) most.rotary += rope.rotary / 2;
    return most;
  }
};

// The rotary tables as the operations read them.
struct Rotary {
  struct Table {
    const float* inverse_frequency = nullptr;  // [rotary / 2]
    float magnitude = 1;
  };
  std::vector<Table> tables;
};

}  // namespace fovea::layers
