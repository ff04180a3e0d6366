// Staging for a device whose memory is out of the host's reach.
#pragma once

#include <memory>
#include <vector>

#include "engine/layers/staging.h"

namespace fovea::layers {

// The rows, segments and wanted rows of a pass; what lies where is the staging's to say.
void lay_out(const Pass& pass, Batch& batch);

class DeviceStaging final : public Staging {
 public:
  static Result<std::unique_ptr<Staging>> create(const models::Model& model, const kernels::Device& device,
                                                 const PassLimits& limits, const Activations& activations);
  ~DeviceStaging() override;
  static Bytes needed(const models::ModelConfig& config, const PassLimits& limits);
  Bytes bytes() const override { return bytes_; }

  const Batch& begin(const Pass& pass, kernels::Stream& stream) override;
  void rotary(std::span<const float> values, kernels::Stream& stream) override;
  const kernels::Expert* experts(std::int64_t layer, kernels::Stream& stream) override;
  Routed routed(std::int64_t layer, std::int64_t tokens) override;
  kernels::HostRound* rounds() override { return rounds_; }

  bool comes_late() const override { return true; }
  void read_choices(std::int64_t first, std::int64_t last, std::int64_t tokens,
                    kernels::Stream& stream) override;
  Choices choices(std::int64_t layer, std::int64_t tokens) const override;
  const float* read(const float* values, std::int64_t count, kernels::Stream& stream) override;

  LogitsRoom logits_room(std::int64_t first) override;
  void read_logits(std::int64_t first, std::int64_t count, kernels::Stream& stream) override;
  std::span<const float> logits(kernels::Stream& stream) override;
  bool finds_top_k() const override { return finds_top_k_; }
  void find_top_k(const kernels::OperationTable& operations, kernels::Stream& stream) override;
  std::optional<TopKLogits> top_k(std::int64_t row) const override;
  std::span<const float> logits_behind_top_k(std::int64_t row, kernels::Stream& stream) override;

 private:
  DeviceStaging(const models::Model& model, const kernels::Device& device, const PassLimits& limits,
                const Activations& activations);
  bool allocate();
  void send_pages(const Pass& pass, kernels::Stream& stream);
  bool stage_pages(std::size_t segment, std::span<const kernels::KvPages> lists, std::int64_t used);
  void send_handles(kernels::Stream& stream);
  void send_temperatures(const Pass& pass, kernels::Stream& stream);
  // Whether all rows of logits that the pass wants stay on the device until it has ended.
  bool keeps_logits() const;
  const float* kept(std::int64_t row) const;
  Routed routed(std::int32_t* choices, std::int64_t layer, std::int64_t tokens) const;

  struct Sizes {
    const models::ModelConfig& config;
    const PassLimits& limits;
  };
  Sizes sizes() const { return {model_.config(), limits_}; }

  // The arrays of both sides, each in one piece of memory.
  struct Sent {                            // what goes to the device, and its copy there
    std::int32_t* rows = nullptr;          // [2 · tokens]: a pass's tokens, then its positions
    std::byte** pages = nullptr;           // [segments, layers, 2, pages]: keys, then values
    kernels::Expert* experts = nullptr;    // [layers, experts]
    float* inverse_frequency = nullptr;    // of all rotary tables, on the host alone
    float* inverse_temperature = nullptr;  // [segments], by rows of logits
    template <class F>
    void each(const Sizes& sizes, F&& f);
  };
  struct List {  // of a row of logits; on the device, and its copy; without gaps, so that one copy reads all
    std::int64_t listed = 0;
    std::int32_t* ids = nullptr;                                              // [listed], then
    float* logits() const { return reinterpret_cast<float*>(ids + listed); }  // [listed]
    float* sums() const { return logits() + listed; }                         // [3]
    std::int64_t words() const { return 2 * listed + 3; }
    List of(std::int64_t row) const { return {listed, ids + row * words()}; }
  };

  const models::Model& model_;
  const kernels::Device& device_;
  const PassLimits limits_;
  const Activations& a_;
  std::byte* on_device_ = nullptr;
  std::byte* on_host_ = nullptr;
  Bytes bytes_;
  Sent device_side_, host_side_;
  List device_list_, host_list_;  // the first row's; [segments] behind each other
  // [layers with experts, 2, the pass's tokens, experts_used]: ids, then weights. All layers' lie behind each
  // other, so that one copy reads any of them.
  std::int32_t *device_choices_ = nullptr, *host_choices_ = nullptr;
  kernels::HostRound* rounds_ = nullptr;
  float* logits_ = nullptr;  // [vocabulary], on the host alone
  struct StagedPages {
    std::uint64_t revision = 0;
    std::int64_t used = 0;  // of each list
  };
  std::vector<StagedPages> staged_pages_;  // [segments]: what the host's side has
  std::vector<kernels::KvPages> pages_;    // [segments, layers], their lists on the device
  std::vector<std::uint64_t> revisions_;   // [layers] of the handles that are on the device
  Batch batch_;
  bool finds_top_k_ = false;       // this pass
  std::vector<float> values_;      // of read()
  std::vector<float> all_logits_;  // of a pass that gives more than one row
};

}  // namespace fovea::layers
