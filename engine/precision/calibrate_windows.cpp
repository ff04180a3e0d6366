#include "engine/precision/calibrate_windows.h"

#include <algorithm>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t page_tokens = 64;
constexpr std::int64_t max_tokens_in_a_pass = 256;
constexpr auto cache_type = kernels::Type::f16;

}  // namespace

Windows cut_windows(std::span<const TokenId> text, std::int64_t tokens, std::int64_t window, TokenId begin) {
  Windows windows;
  const std::int64_t length = std::min(window, std::ssize(text));
  if (length == 0) return windows;
  const std::int64_t there = std::ssize(text) / length;
  const std::int64_t wanted = std::clamp<std::int64_t>(tokens / length, 1, there);
  for (std::int64_t i = 0; i < wanted; ++i) {
    const std::int64_t first = i * there / wanted * length;
    const auto part = text.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length));
    windows.emplace_back(part.begin(), part.end());
    if (begin >= 0) windows.back().front() = begin;
  }
  return windows;
}

struct WindowRunner::State {
  layers::Forward forward;
  std::unique_ptr<kernels::Stream> stream;
  std::vector<std::byte> memory;        // [layers, 2, pages] pages
  std::vector<std::byte*> pointers;     // into it
  std::vector<kernels::KvPages> cache;  // [layers]
  std::vector<float> recurrent;         // of all layers
  std::int64_t chunk = 0;
};

WindowRunner::WindowRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
WindowRunner::WindowRunner(WindowRunner&&) noexcept = default;
WindowRunner& WindowRunner::operator=(WindowRunner&&) noexcept = default;
WindowRunner::~WindowRunner() = default;

Result<WindowRunner> WindowRunner::create(const models::Model& model, const kernels::Device& device,
                                          std::int64_t window, int threads) {
  const models::ModelConfig& config = model.config();
  const std::int64_t chunk = std::min(window, max_tokens_in_a_pass);
  const std::int64_t pages = (window + page_tokens - 1) / page_tokens;
  FOVEA_TRY(layers::Forward forward,
            layers::Forward::create(model, device, {.tokens = chunk, .pages = pages}));
  auto state = std::make_unique<State>(State{.forward = std::move(forward),
                                             .stream = device.make_stream({.threads = threads}),
                                             .memory = {},
                                             .pointers = {},
                                             .cache = {},
                                             .recurrent = {},
                                             .chunk = chunk});
  std::vector<std::size_t> planes;  // [layers], bytes of a page's keys
  std::size_t bytes = 0;
  for (const models::LayerConfig& layer : config.layers) {
    const models::AttentionConfig* const attention = layer.attention();
    planes.push_back(attention == nullptr
                         ? 0
                         : static_cast<std::size_t>(attention->kv_heads * page_tokens *
                                                    kernels::row_bytes(cache_type, attention->head_dim)));
    state->recurrent.resize(state->recurrent.size() +
                            static_cast<std::size_t>(models::state_elements(layer.mixer, config.hidden)));
    bytes += 2 * static_cast<std::size_t>(pages) * planes.back();
  }
  state->memory.resize(bytes);
  std::byte* next = state->memory.data();
  for (const std::size_t plane : planes) {
    for (std::int64_t i = 0; i < 2 * pages; ++i, next += plane) state->pointers.push_back(next);
  }
  for (std::size_t layer = 0; layer < planes.size(); ++layer) {
    const models::AttentionConfig none;
    const models::AttentionConfig* const own = config.layers[layer].attention();
    const models::AttentionConfig& attention = own ? *own : none;
    std::byte* const* keys = state->pointers.data() + 2 * static_cast<std::int64_t>(layer) * pages;
    state->cache.push_back(
        {keys, keys + pages, page_tokens, cache_type, attention.kv_heads, attention.head_dim});
  }
  return WindowRunner(std::move(state));
}

Result<void> WindowRunner::run(std::span<const TokenId> window, layers::PassObserver* observer,
                               const LogitsSink& logits, const std::stop_token& stop) {
  std::ranges::fill(state_->recurrent, 0.0F);
  for (std::int64_t first = 0; first < std::ssize(window); first += state_->chunk) {
    const std::int64_t count = std::min(state_->chunk, std::ssize(window) - first);
    const layers::Segment segment{
        .tokens = window.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
        .first = first,
        .pages = state_->cache,
        .state = reinterpret_cast<std::byte*>(state_->recurrent.data()),
        .logits = layers::LogitsWanted::all};
    const layers::Pass pass{
        .segments = {segment}, .context = std::ssize(window), .stop = stop, .observer = observer};
    const std::span<const float> rows = state_->forward.run(pass, *state_->stream);
    if (state_->forward.stopped()) return fail(phrases::calibration_place(), errors::stopped_on_request());
    if (logits) logits(first, rows);
  }
  return {};
}

kernels::Stream& WindowRunner::stream() {
  return *state_->stream;
}

}  // namespace fovea::precision
