#include "engine/runtime/state_pool.h"

#include <algorithm>
#include <cstring>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {

Result<std::unique_ptr<StatePool>> StatePool::create(const Settings& settings, const kernels::Device& device,
                                                     kernels::Stream& stream) {
  std::unique_ptr<StatePool> pool(new StatePool(settings, device, stream));
  pool->memory_ = device.allocate(pool->sequence_bytes());
  pool->host_ = device.allocate_host(pool->host_bytes());
  if (pool->memory_ == nullptr || pool->host_ == nullptr) {
    return fail(phrases::recurrent_state_place(),
                errors::no_memory_for_states(Bytes{pool->sequence_bytes() + pool->host_bytes()},
                                             settings.sequences + settings.saved));
  }
  std::memset(pool->host_, 0, static_cast<std::size_t>(settings.bytes));
  for (auto id = static_cast<StateId>(settings.sequences); id-- > 0;) pool->free_.push_back(id);
  for (std::int64_t place = settings.saved; place-- > 0;) pool->free_places_.push_back(place);
  return pool;
}

StatePool::~StatePool() {
  if (memory_ != nullptr) device_.release(memory_, sequence_bytes());
  if (host_ != nullptr) device_.release_host(host_, host_bytes());
}

StateId StatePool::take() {
  if (free_.empty()) return no_state;
  const StateId id = free_.back();
  free_.pop_back();
  return id;
}

template <class Condition>
bool StatePool::forget_oldest(Condition&& is_meant) {
  auto oldest = saved_.end();
  for (auto each = saved_.begin(); each != saved_.end(); ++each) {
    if (is_meant(*each) && (oldest == saved_.end() || each->last_use < oldest->last_use)) oldest = each;
  }
  if (oldest == saved_.end()) return false;
  free_places_.push_back(oldest->place);
  saved_.erase(oldest);
  return true;
}

void StatePool::save(StateId id, std::span<const TokenId> tokens) {
  const auto same = std::ranges::find_if(
      saved_, [&](const Saved& each) { return std::ranges::equal(each.tokens, tokens); });
  if (same != saved_.end()) {
    same->last_use = ++clock_;
    return;
  }
  const auto is_turn_end = [this](const Saved& each) { return !at_spacing(each.tokens); };
  if (!at_spacing(tokens) && std::ranges::count_if(saved_, is_turn_end) >= settings_.turn_ends) {
    if (!forget_oldest(is_turn_end)) return;
  }
  if (free_places_.empty() && !forget_oldest([](const Saved&) { return true; })) return;
  const std::int64_t place = free_places_.back();
  free_places_.pop_back();
  device_.read_back(saved_memory(place), memory(id), settings_.bytes, stream_);
  saved_.push_back({.place = place, .tokens = {tokens.begin(), tokens.end()}, .last_use = ++clock_});
}

std::int64_t StatePool::restore(StateId id, std::span<const TokenId> tokens) {
  Saved* longest = nullptr;
  for (Saved& each : saved_) {
    if (each.tokens.size() > tokens.size() || (longest && each.tokens.size() <= longest->tokens.size()))
      continue;
    if (std::equal(each.tokens.begin(), each.tokens.end(), tokens.begin())) longest = &each;
  }
  const std::byte* const from = longest ? saved_memory(longest->place) : host_;
  device_.copy(memory(id), from, settings_.bytes, stream_);
  if (longest == nullptr) return 0;
  longest->last_use = ++clock_;
  return std::ssize(longest->tokens);
}

void StatePool::forget_saved() {
  while (forget_oldest([](const Saved&) { return true; })) continue;
}

}  // namespace fovea::runtime
