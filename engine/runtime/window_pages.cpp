#include "engine/runtime/window_pages.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {

Result<std::unique_ptr<WindowPages>> WindowPages::create(std::span<const Side> sides,
                                                         const Settings& settings, std::int64_t pages,
                                                         bool poison) {
  std::unique_ptr<WindowPages> windows(new WindowPages(settings, pages, poison));
  for (const Side& side : sides) {
    FOVEA_TRY(PagePool pool, PagePool::create(side.shape, settings.places, side.device, side.stream));
    Half& half = windows->halves_.emplace_back(Half{std::move(pool), side.device, side.stream});
    const std::int64_t bytes = settings.saved * side.shape.page_bytes();
    if (bytes == 0) continue;
    half.host = side.device.allocate_host(bytes);
    if (half.host == nullptr) {
      return fail(phrases::kv_cache_place(),
                  errors::no_memory_for_tokens(Bytes{bytes}, settings.saved * side.shape.page_tokens));
    }
  }
  return windows;
}

WindowPages::WindowPages(const Settings& settings, std::int64_t pages, bool poison)
    : settings_(settings), poison_(poison), parts_(static_cast<std::size_t>(pages)) {
  for (auto place = static_cast<PageId>(settings.places); place-- > 0;) free_.push_back(place);
  for (auto place = static_cast<PageId>(settings.saved); place-- > 0;) free_saved_.push_back(place);
}

WindowPages::~WindowPages() {
  for (const Half& half : halves_)
    if (half.host != nullptr)
      half.device.release_host(half.host, settings_.saved * half.pool.shape().page_bytes());
}

const PagePool& WindowPages::pool_of(std::size_t layer) const {
  const auto half = std::ranges::find_if(
      halves_, [&](const Half& each) { return each.pool.shape().layers[layer].kv_heads > 0; });
  return half == halves_.end() ? halves_.front().pool : half->pool;
}

std::int64_t WindowPages::first_seen(std::int64_t length) const {
  return std::max<std::int64_t>(length - settings_.window + 1, 0) / halves_.front().pool.shape().page_tokens;
}

bool WindowPages::has_room() const {
  return !free_.empty() ||
         std::ranges::any_of(parts_, [&](const Part& part) { return is_here(part) && part.viewers == 0; });
}

WindowPages::Part* WindowPages::longest_unseen(bool saved) {
  Part* oldest = nullptr;
  for (Part& part : parts_) {
    if (part.place == nowhere || part.is_saved != saved || part.viewers > 0) continue;
    if (oldest == nullptr || part.last_seen < oldest->last_seen) oldest = &part;
  }
  return oldest;
}

void WindowPages::drop(Part& part) {
  if (part.place != nowhere) (part.is_saved ? free_saved_ : free_).push_back(part.place);
  part.place = nowhere;
  part.is_saved = false;
}

// What has been unseen for longer than this makes room.
void WindowPages::save(Part& part) {
  if (Part* const oldest = free_saved_.empty() ? longest_unseen(true) : nullptr;
      oldest && oldest->last_seen < part.last_seen)
    drop(*oldest);
  const PageId from = part.place;
  drop(part);
  if (free_saved_.empty()) return;
  part.place = free_saved_.back();
  part.is_saved = true;
  free_saved_.pop_back();
  for (const Half& half : halves_)
    half.device.read_back(half.saved(part.place), half.pool.page(from), half.pool.shape().page_bytes(),
                          half.stream);
}

PageId WindowPages::free_place() {
  if (free_.empty()) {
    Part* const oldest = longest_unseen(false);
    if (oldest == nullptr) return nowhere;
    save(*oldest);
  }
  const PageId place = free_.back();
  free_.pop_back();
  for (const Half& half : halves_)
    if (poison_) half.pool.poison(place);
  return place;
}

bool WindowPages::make(PageId page) {
  assert(!has(page) && at(page).viewers == 0);
  const PageId place = free_place();
  if (place == nowhere) return false;
  at(page) = {.place = place, .viewers = 1};
  return true;
}

bool WindowPages::see(std::span<const PageId> pages) {
  // First of all, so that none of them gives way to another.
  for (const PageId page : pages) ++at(page).viewers;
  for (const PageId page : pages) {
    Part& part = at(page);
    assert(has(page));
    if (!part.is_saved) continue;
    const PageId place = free_place();
    if (place == nowhere) {
      for (const PageId each : pages) leave(each);
      return false;
    }
    for (const Half& half : halves_)
      half.device.copy(half.pool.page(place), half.saved(part.place), half.pool.shape().page_bytes(),
                       half.stream);
    drop(part);
    part.place = place;
  }
  return true;
}

void WindowPages::leave(PageId page) {
  Part& part = at(page);
  assert(part.viewers > 0);
  if (--part.viewers == 0) part.last_seen = ++clock_;
}

void WindowPages::copy(PageId from, PageId to, std::int64_t tokens) {
  assert(is_here(at(from)) && is_here(at(to)));
  for (const Half& half : halves_) half.pool.copy(at(from).place, at(to).place, tokens);
}

bool WindowPages::replace(PageId page, PageId same) {
  Part& part = at(page);
  Part& other = at(same);
  if (!is_here(other)) {
    PageId place = part.place;
    if (part.viewers > 1) {
      place = free_place();
      if (place == nowhere) return false;
      for (const Half& half : halves_) half.pool.copy(part.place, place, half.pool.shape().page_tokens);
    } else {
      part.place = nowhere;
    }
    drop(other);
    other.place = place;
  }
  ++other.viewers;
  leave(page);
  return true;
}

void WindowPages::forget(PageId page) {
  assert(at(page).viewers == 0);
  drop(at(page));
}

}  // namespace fovea::runtime
