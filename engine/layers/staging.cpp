#include "engine/layers/staging.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "engine/layers/device_staging.h"

namespace fovea::layers {
namespace {

// The device's memory is the host's own: the operations read what the pass brings, and the host what they
// have written.
class HostStaging final : public Staging {
 public:
  HostStaging(const models::ModelConfig& config, const PassLimits& limits, const Activations& activations)
      : config_(config), limits_(limits), a_(activations) {}

  const Batch& begin(const Pass& pass, kernels::Stream&) override {
    lay_out(pass, batch_);
    tokens_.clear();
    for (std::size_t i = 0; i < pass.segments.size(); ++i) {
      const Segment& segment = pass.segments[i];
      const Rows& rows = batch_.parts[i].rows;
      tokens_.insert(tokens_.end(), segment.tokens.begin(), segment.tokens.end());
      std::iota(a_.positions + rows.first, a_.positions + rows.end(),
                static_cast<std::int32_t>(segment.first));
      batch_.parts[i].pages = segment.pages;
    }
    batch_.tokens = tokens_.data();
    batch_.positions = a_.positions;
    return batch_;
  }
  void rotary(std::span<const float> values, kernels::Stream&) override {
    std::ranges::copy(values, a_.inverse_frequency);
  }
  const kernels::Expert* experts(std::int64_t, kernels::Stream&) override { return nullptr; }
  Routed routed(std::int64_t, std::int64_t) override { return {a_.expert_ids, a_.router_weights}; }

  bool comes_late() const override { return false; }
  void read_choices(std::int64_t, std::int64_t, std::int64_t, kernels::Stream&) override {}
  Choices choices(std::int64_t, std::int64_t) const override { return {a_.expert_ids, a_.router_weights}; }
  const float* read(const float* values, std::int64_t, kernels::Stream&) override { return values; }

  LogitsRoom logits_room(std::int64_t first) override {
    return {a_.logits + first * config_.vocabulary, limits_.tokens};
  }
  void read_logits(std::int64_t, std::int64_t, kernels::Stream&) override {}
  std::span<const float> logits(kernels::Stream&) override {
    return {a_.logits, static_cast<std::size_t>(batch_.wanted_rows() * config_.vocabulary)};
  }

 private:
  const models::ModelConfig& config_;
  const PassLimits limits_;
  const Activations& a_;
  std::vector<TokenId> tokens_;
  Batch batch_;
};

}  // namespace

void lay_out(const Pass& pass, Batch& batch) {
  batch.parts.clear();
  batch.wanted.clear();
  batch.hidden.clear();
  batch.rows = 0;
  for (const Segment& segment : pass.segments) {
    const Rows rows{batch.rows, std::ssize(segment.tokens)};
    assert(rows.count > 0);
    batch.parts.push_back({.rows = rows,
                           .first = segment.first,
                           .pages = {},
                           .state = segment.state,
                           .is_alone = rows.count == 1 && !segment.is_prompt});
    batch.rows += rows.count;
    if (segment.hidden) {
      if (!batch.hidden.empty() && batch.hidden.back().end() == rows.first) {
        batch.hidden.back().count += rows.count;
      } else {
        batch.hidden.push_back(rows);
      }
    }
    if (segment.logits == LogitsWanted::none) continue;
    const std::int64_t wanted = segment.logits == LogitsWanted::all    ? rows.count
                                : segment.logits == LogitsWanted::last ? segment.last_tokens
                                                                       : 1;
    assert(wanted >= 1 && wanted <= rows.count);
    if (!batch.wanted.empty() && batch.wanted.back().end() == rows.end() - wanted) {
      batch.wanted.back().count += wanted;
    } else {
      batch.wanted.push_back({rows.end() - wanted, wanted});
    }
  }
}

Result<std::unique_ptr<Staging>> Staging::create(const models::Model& model, const kernels::Device& device,
                                                 const PassLimits& limits, const Activations& activations) {
  if (device.memory_is_host()) return std::make_unique<HostStaging>(model.config(), limits, activations);
  return DeviceStaging::create(model, device, limits, activations);
}

Staging::Bytes Staging::bytes(const models::ModelConfig& config, const PassLimits& limits) {
  return DeviceStaging::needed(config, limits);
}

}  // namespace fovea::layers
