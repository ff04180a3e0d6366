#include "engine/runtime/state_pool.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {

Result<std::unique_ptr<StatePool>> StatePool::create(const Settings& settings, const kernels::Device& device,
                                                     kernels::Stream& stream) {
  std::unique_ptr<StatePool> pool(new StatePool(settings, device, stream));
  pool->memory_ = device.allocate(pool->all_bytes());
  pool->zeros_ = device.allocate_host(settings.bytes);
  if (pool->memory_ == nullptr || pool->zeros_ == nullptr) {
    return fail(phrases::recurrent_state_place(),
                errors::no_memory_for_states(Bytes{pool->all_bytes()}, settings.blocks));
  }
  std::memset(pool->zeros_, 0, static_cast<std::size_t>(settings.bytes));
  for (auto id = static_cast<StateId>(settings.blocks); id-- > 0;) pool->free_.push_back(id);
  return pool;
}

StatePool::~StatePool() {
  if (memory_ != nullptr) device_.release(memory_, all_bytes());
  if (zeros_ != nullptr) device_.release_host(zeros_, settings_.bytes);
}

void StatePool::copy(StateId from, StateId to) const {
  device_.copy_within(memory(to), memory(from), settings_.bytes, 0, 1, stream_);
}

StateId StatePool::take() {
  if (free_.empty()) {
    const auto oldest = std::ranges::min_element(saved_, {}, &Saved::last_use);
    if (oldest == saved_.end()) return no_state;
    free_.push_back(oldest->id);
    saved_.erase(oldest);
  }
  const StateId id = free_.back();
  free_.pop_back();
  return id;
}

void StatePool::give_back(StateId id) {
  free_.push_back(id);
}

void StatePool::save(StateId id, std::span<const TokenId> tokens) {
  const auto same = std::ranges::find_if(
      saved_, [&](const Saved& each) { return std::ranges::equal(each.tokens, tokens); });
  if (same != saved_.end()) {
    same->last_use = ++clock_;
    return;
  }
  const StateId kept = take();
  if (kept == no_state) return;
  copy(id, kept);
  saved_.push_back({.id = kept, .tokens = {tokens.begin(), tokens.end()}, .last_use = ++clock_});
}

std::int64_t StatePool::restore(StateId id, std::span<const TokenId> tokens) {
  Saved* longest = nullptr;
  for (Saved& each : saved_) {
    if (each.tokens.size() > tokens.size() || (longest && each.tokens.size() <= longest->tokens.size()))
      continue;
    if (std::equal(each.tokens.begin(), each.tokens.end(), tokens.begin())) longest = &each;
  }
  if (longest == nullptr) {
    device_.copy(memory(id), zeros_, settings_.bytes, stream_);
    return 0;
  }
  longest->last_use = ++clock_;
  copy(longest->id, id);
  return std::ssize(longest->tokens);
}

void StatePool::forget_saved() {
  for (const Saved& each : saved_) free_.push_back(each.id);
  saved_.clear();
}

}  // namespace fovea::runtime
