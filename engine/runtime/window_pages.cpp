#include "engine/runtime/window_pages.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {

Result<std::unique_ptr<WindowPages>> WindowPages::create(const PageShape& shape, const Settings& settings,
                                                         std::int64_t pages, bool poison,
                                                         const kernels::Device& device,
                                                         kernels::Stream& stream) {
  FOVEA_TRY(PagePool pool, PagePool::create(shape, settings.places, device, stream));
  std::unique_ptr<WindowPages> windows(
      new WindowPages(std::move(pool), settings, pages, poison, device, stream));
  if (settings.saved == 0) return windows;
  const std::int64_t bytes = settings.saved * shape.page_bytes();
  windows->host_ = device.allocate_host(bytes);
  if (windows->host_ == nullptr) {
    return fail(phrases::kv_cache_place(),
                errors::no_memory_for_tokens(Bytes{bytes}, settings.saved * shape.page_tokens));
  }
  return windows;
}

WindowPages::WindowPages(PagePool pool, const Settings& settings, std::int64_t pages, bool poison,
                         const kernels::Device& device, kernels::Stream& stream)
    : pool_(std::move(pool)),
      settings_(settings),
      poison_(poison),
      device_(device),
      stream_(stream),
      parts_(static_cast<std::size_t>(pages)) {
  for (auto place = static_cast<PageId>(settings.places); place-- > 0;) free_.push_back(place);
  for (auto place = static_cast<PageId>(settings.saved); place-- > 0;) free_saved_.push_back(place);
}

WindowPages::~WindowPages() {
  if (host_ != nullptr) device_.release_host(host_, settings_.saved * pool_.shape().page_bytes());
}

std::int64_t WindowPages::first_seen(std::int64_t length) const {
  return std::max<std::int64_t>(length - settings_.window + 1, 0) / pool_.shape().page_tokens;
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
  device_.read_back(saved_memory(part.place), pool_.page(from), pool_.shape().page_bytes(), stream_);
}

PageId WindowPages::free_place() {
  if (free_.empty()) {
    Part* const oldest = longest_unseen(false);
    if (oldest == nullptr) return nowhere;
    save(*oldest);
  }
  const PageId place = free_.back();
  free_.pop_back();
  if (poison_) pool_.poison(place);
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
    device_.copy(pool_.page(place), saved_memory(part.place), pool_.shape().page_bytes(), stream_);
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
  pool_.copy(at(from).place, at(to).place, tokens);
}

bool WindowPages::replace(PageId page, PageId same) {
  Part& part = at(page);
  Part& other = at(same);
  if (!is_here(other)) {
    PageId place = part.place;
    if (part.viewers > 1) {
      place = free_place();
      if (place == nowhere) return false;
      pool_.copy(part.place, place, pool_.shape().page_tokens);
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
