#include "runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "engine/core/result.h"
#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "tests/kernels/ptx/device.h"

#include "apart_device.h"

namespace fovea::tests {

namespace {

// Without heads where another kind mixes.
models::AttentionConfig attention_of(const models::LayerConfig& layer) {
  return layer.attention() ? *layer.attention() : models::AttentionConfig{};
}

}  // namespace

Pages::Pages(const kernels::Device& device, const models::ModelConfig& config, std::int64_t tokens,
             std::int64_t page_tokens, kernels::Type type)
    : device_(device) {
  const auto pages = static_cast<std::size_t>((tokens + page_tokens - 1) / page_tokens);
  std::vector<std::size_t> planes;  // [layers]: bytes of a page's keys
  std::size_t all = 0;
  for (const models::LayerConfig& layer : config.layers) {
    const models::AttentionConfig attention = attention_of(layer);
    planes.push_back(static_cast<std::size_t>(attention.kv_heads * page_tokens *
                                              kernels::row_bytes(type, attention.head_dim)));
    all += 2 * pages * planes.back();
    state_bytes_ += 4 * models::state_elements(layer.mixer, config.hidden);
  }
  pointers_.assign(2 * planes.size(), std::vector<std::byte*>(pages));
  // 0xff is not a number in every type: what was never written must not be read.
  const std::vector<std::byte> unwritten(all, std::byte{0xff});
  bytes_ = std::ssize(unwritten);
  memory_ = device.allocate(bytes_);
  const std::vector<std::byte> empty(static_cast<std::size_t>(state_bytes_));
  state_ = state_bytes_ > 0 ? device.allocate(state_bytes_) : nullptr;
  const auto stream = device.make_stream({.threads = 1});
  device.copy(memory_, unwritten.data(), bytes_, *stream);
  if (state_ != nullptr) device.copy(state_, empty.data(), state_bytes_, *stream);
  stream->synchronize();
  std::byte* next = memory_;
  for (std::size_t page = pages; page-- > 0;) {
    for (std::size_t list = 0; list < pointers_.size(); ++list) {
      pointers_[list][page] = next;
      next += planes[list / 2];
    }
  }
  for (std::size_t layer = 0; layer < planes.size(); ++layer) {
    const models::AttentionConfig attention = attention_of(config.layers[layer]);
    layers_.push_back({pointers_[2 * layer].data(), pointers_[2 * layer + 1].data(), page_tokens, type,
                       attention.kv_heads, attention.head_dim});
  }
}

Pages::~Pages() {
  device_.release(memory_, bytes_);
  if (state_ != nullptr) device_.release(state_, state_bytes_);
}

const kernels::Device& apart() {
  static const ApartDevice device(*kernels::cpu::device(kernels::cpu::available_instruction_sets().back()));
  return device;
}

const kernels::Device* gpu() {
  static const std::unique_ptr<kernels::Device> device = ptx::device();
  return device.get();
}

bool is_gpu(const kernels::Device& device) {
  return &device == gpu();
}

std::vector<const kernels::Device*> all_devices() {
  std::vector<const kernels::Device*> devices{&kernels::reference::device()};
  for (const std::string_view set : kernels::cpu::available_instruction_sets()) {
    devices.push_back(kernels::cpu::device(set));
  }
  devices.push_back(&apart());
  if (gpu()) devices.push_back(gpu());
  return devices;
}

Result<models::Model> load(const std::filesystem::path& path, const kernels::Device& device,
                           const std::vector<models::HostShare>& host) {
  FOVEA_TRY(checkpoint::Checkpoint file, checkpoint::Checkpoint::open(path));
  return models::Model::load(std::move(file), device, 2, {}, {}, models::UnitScope::none, host);
}

std::vector<float> logits(const models::Model& model, const kernels::Device& device,
                          std::span<const TokenId> tokens, std::int64_t chunk, std::int64_t page_tokens,
                          const layers::HostPart& host, kernels::Type cache) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (chunk == 0) chunk = count;
  const Pages pages(device, model.config(), count, page_tokens, cache);
  auto forward = layers::Forward::create(
      model, device, {.tokens = chunk, .pages = (count + page_tokens - 1) / page_tokens}, host);
  if (!forward) return {};
  const auto stream = device.make_stream({.threads = 2});
  std::vector<float> all;
  for (std::int64_t first = 0; first < count; first += chunk) {
    const auto part = tokens.subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(std::min(chunk, count - first)));
    const auto rows = forward->run({.segments = {{.tokens = part,
                                                  .first = first,
                                                  .pages = pages.layers(),
                                                  .state = pages.state(),
                                                  .logits = layers::LogitsWanted::all}},
                                    .context = count},
                                   *stream);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

std::vector<float> read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY\x01", 7) != 0) return {};
  std::uint16_t header = 0;
  std::memcpy(&header, bytes.data() + 8, 2);
  const std::string text(bytes.data() + 10, header);
  if (text.find("'<f4'") == std::string::npos || text.find("'fortran_order': False") == std::string::npos)
    return {};
  std::vector<float> values((bytes.size() - 10 - header) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + 10 + header, values.size() * sizeof(float));
  return values;
}

}  // namespace fovea::tests
