#include "engine/runtime/kv_cache.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

// The layers whose pages lie there; the others keep nothing.
enum class Place : std::uint8_t { device, device_windows, first, first_windows };
PageShape layers_of(const KvCache::Settings& settings, Place place) {
  PageShape shape = settings.shape;
  for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
    const bool windows = settings.passes(layer);
    const Place own = settings.is_first(layer) ? (windows ? Place::first_windows : Place::first)
                                               : (windows ? Place::device_windows : Place::device);
    if (own != place) shape.layers[layer] = {};
  }
  return shape;
}
std::int64_t page_bytes(const KvCache::Settings& settings, Place place) {
  return layers_of(settings, place).page_bytes();
}

// Of all caches, so that none is ever given twice.
std::uint64_t next_revision() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

bool starts_with(std::span<const TokenId> tokens, std::span<const TokenId> prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

}  // namespace

Sequence::Sequence(KvCache& cache, std::uint64_t id) : cache_(&cache), id_(id) {
  const PageShape& shape = cache.shape();
  const auto pages = static_cast<std::size_t>(cache.pool_.pages());
  const std::size_t layers = shape.layers.size();
  keys_.resize(layers * pages);
  values_.resize(layers * pages);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    layers_.push_back({.keys = keys_.data() + layer * pages,
                       .values = values_.data() + layer * pages,
                       .page_tokens = shape.page_tokens,
                       .type = shape.type,
                       .kv_heads = shape.layers[layer].kv_heads,
                       .head_dim = shape.layers[layer].head_dim});
  }
}

Sequence::Sequence(Sequence&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)),
      id_(other.id_),
      tokens_(std::move(other.tokens_)),
      pages_(std::move(other.pages_)),
      seen_(other.seen_),
      keys_(std::move(other.keys_)),
      values_(std::move(other.values_)),
      layers_(std::move(other.layers_)),
      pages_revision_(other.pages_revision_),
      state_(std::exchange(other.state_, no_state)) {}

Sequence::~Sequence() {
  if (cache_ == nullptr) return;
  cut(0);
  if (state_ != no_state) cache_->states_->give_back(state_);
}

std::byte* Sequence::state() const {
  return state_ == no_state ? nullptr : cache_->states_->memory(state_);
}

void Sequence::save_state() {
  if (state_ != no_state) cache_->states_->save(state_, tokens_);
}

void Sequence::add(PageId page) {
  ++cache_->page(page).references;
  pages_.push_back(page);
}

void Sequence::place(std::size_t index, PageId page) {
  pages_[index] = page;
  point(index);
}

// Where the page at `index` lies, for passes.
void Sequence::point(std::size_t index) {
  const PageId page = pages_[index];
  pages_revision_ = next_revision();
  const auto stride = static_cast<std::size_t>(cache_->pool_.pages());
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    std::byte*& keys = keys_[layer * stride + index];
    std::byte*& values = values_[layer * stride + index];
    if (!cache_->settings_.passes(layer)) {
      const PagePool& pool = cache_->settings_.is_first(layer) ? *cache_->first_pool_ : cache_->pool_;
      keys = pool.keys(page, layer);
      values = pool.values(page, layer);
    } else if (index < seen_) {
      keys = values = nullptr;
    } else {
      keys = cache_->windows_->keys(page, layer);
      values = cache_->windows_->values(page, layer);
    }
  }
}

// After this the last page, if it is begun, may be appended to by this sequence and no other.
Result<void> Sequence::own_last_page() {
  const std::int64_t page_tokens = cache_->shape().page_tokens;
  const std::int64_t used = length() % page_tokens;
  if (used == 0) return {};
  const auto index = static_cast<std::size_t>(length() / page_tokens);
  const PageId shared = pages_[index];
  auto& page = cache_->page(shared);
  if (static_cast<std::int64_t>(page.tokens.size()) == used && (page.writer == 0 || page.writer == id_)) {
    page.writer = id_;
    return {};
  }
  WindowPages* const windows = cache_->windows_.get();
  const PageId copy = windows && !windows->has_room() ? no_page : cache_->take(page.parent, id_);
  if (copy == no_page) return fail(phrases::kv_cache_place(), errors::no_page_for_copy());
  cache_->copy(shared, copy, used);
  if (windows && windows->make(copy)) windows->copy(shared, copy, used);
  cache_->page(copy).tokens.assign(page.tokens.begin(), page.tokens.begin() + used);
  ++cache_->copies_;
  ++cache_->page(copy).references;
  place(index, copy);
  if (windows) windows->leave(shared);
  cache_->release(shared, id_);
  return {};
}

Result<void> Sequence::add_page() {
  WindowPages* const windows = cache_->windows_.get();
  if (windows && !windows->has_room())
    return fail(phrases::kv_cache_place(), errors::all_pages_in_use(cache_->settings_.windows.places));
  const PageId page = cache_->take(pages_.empty() ? no_page : pages_.back(), id_);
  if (page == no_page)
    return fail(phrases::kv_cache_place(), errors::all_pages_in_use(cache_->pool_.pages()));
  if (windows) windows->make(page);
  add(page);
  point(pages_.size() - 1);
  return {};
}

Result<void> Sequence::reserve(std::int64_t count) {
  const std::int64_t page_tokens = cache_->shape().page_tokens;
  const std::int64_t needed = (length() + count + page_tokens - 1) / page_tokens;
  if (needed > cache_->pool_.pages()) {
    return fail(phrases::kv_cache_place(),
                errors::tokens_need_pages(length() + count, needed, page_tokens, cache_->pool_.pages()));
  }
  if (cache_->states_ && state_ == no_state)
    return fail(phrases::recurrent_state_place(), errors::all_states_in_use());
  FOVEA_CHECK(own_last_page());
  while (std::ssize(pages_) < needed) FOVEA_CHECK(add_page());
  return {};
}

void Sequence::commit(std::span<const TokenId> tokens) {
  const std::int64_t page_tokens = cache_->shape().page_tokens;
  for (const TokenId token : tokens) {
    auto& page = cache_->page(pages_[static_cast<std::size_t>(length() / page_tokens)]);
    assert(page.writer == id_ && static_cast<std::int64_t>(page.tokens.size()) == length() % page_tokens);
    page.tokens.push_back(token);
    tokens_.push_back(token);
    if (length() % page_tokens == 0) join_equal_page(static_cast<std::size_t>(length() / page_tokens) - 1);
  }
  pass_windows();
}

// What no window sees any more may go.
void Sequence::pass_windows() {
  if (cache_->windows_ == nullptr) return;
  const auto first = static_cast<std::size_t>(cache_->windows_->first_seen(length()));
  for (; seen_ < first; point(seen_ - 1)) cache_->windows_->leave(pages_[seen_++]);
}

// The other way: what windows see at this length, of which all is there. Where it finds no room the sequence
// is empty.
void Sequence::see_windows() {
  if (cache_->windows_ == nullptr) return;
  const auto first = static_cast<std::size_t>(cache_->windows_->first_seen(length()));
  if (seen_ <= first) return;
  if (!cache_->windows_->see(std::span(pages_).subspan(first, seen_ - first))) return cut(0);
  while (seen_ > first) point(--seen_);
}

// The longest of at most this length of which windows find all that they see.
std::int64_t Sequence::whole_window(std::int64_t length) const {
  const WindowPages* const windows = cache_->windows_.get();
  if (windows == nullptr) return length;
  const std::int64_t page_tokens = cache_->shape().page_tokens;
  std::int64_t page = (length + page_tokens - 1) / page_tokens;
  while (page-- > windows->first_seen(length))
    if (!windows->has(pages_[static_cast<std::size_t>(page)])) length = page * page_tokens;
  return length;
}

// A page that is now full and spells what another one spells gives way to it, so that each path exists once.
void Sequence::join_equal_page(std::size_t index) {
  const PageId own = pages_[index];
  const PageId equal = cache_->equal_sibling(own);
  if (equal == no_page || (cache_->windows_ && !cache_->windows_->replace(own, equal))) return;
  if (index + 1 < pages_.size()) cache_->move(pages_[index + 1], equal);
  ++cache_->page(equal).references;
  place(index, equal);
  // Who else holds it does so for an earlier position: without its last token it is no second full page.
  cache_->page(own).tokens.pop_back();
  cache_->release(own, id_);
}

void Sequence::truncate(std::int64_t length) {
  if (length < this->length()) go_back(length);
  cut(length);  // what was reserved
}

// To a length that can be continued.
void Sequence::go_back(std::int64_t length) {
  length = whole_window(length);
  while (state_ != no_state) {
    length = cache_->states_->restore(state_, tokens().first(static_cast<std::size_t>(length)));
    const std::int64_t whole = whole_window(length);
    if (whole == length) break;
    length = whole;
  }
  cut(length);
  see_windows();
  if (state_ != no_state && this->length() < length) cache_->states_->restore(state_, {});
}

// Children first, so that a page that nothing needs can go at once.
void Sequence::cut(std::int64_t length) {
  const std::int64_t page_tokens = cache_->shape().page_tokens;
  const auto needed = static_cast<std::size_t>((length + page_tokens - 1) / page_tokens);
  while (pages_.size() > needed) drop_last_page();
  tokens_.resize(std::min(tokens_.size(), static_cast<std::size_t>(length)));
}

void Sequence::drop_last_page() {
  const PageId page = pages_.back();
  pages_.pop_back();
  if (cache_->windows_ && seen_ <= pages_.size()) cache_->windows_->leave(page);
  seen_ = std::min(seen_, pages_.size());
  cache_->release(page, id_);
}

void Sequence::discard() {
  for (; !pages_.empty(); drop_last_page()) {
    auto& page = cache_->page(pages_.back());
    if (page.writer == id_ && page.references == 1 && page.children.empty()) page.tokens.clear();
  }
  tokens_.clear();
  if (state_ != no_state) cache_->states_->restore(state_, {});
}

std::int64_t KvCache::pages(const Settings& settings) {
  return (settings.context + settings.shape.page_tokens - 1) / settings.shape.page_tokens +
         settings.sequences;
}

std::int64_t KvCache::bytes(const Settings& settings) {
  return pages(settings) * page_bytes(settings, Place::device);
}

std::int64_t KvCache::first_bytes(const Settings& settings) {
  return pages(settings) * page_bytes(settings, Place::first) +
         settings.windows.places * page_bytes(settings, Place::first_windows);
}

std::int64_t KvCache::window_page_bytes(const Settings& settings) {
  return page_bytes(settings, Place::device_windows) + page_bytes(settings, Place::first_windows);
}

KvCache::Bytes KvCache::window_bytes(const Settings& settings) {
  return {.device = settings.windows.places * page_bytes(settings, Place::device_windows),
          .host = settings.windows.saved * window_page_bytes(settings)};
}

std::int64_t KvCache::token_bytes(bool in_windows, bool and_first) const {
  const auto of = [&](Place place) { return layers_of(settings_, place).token_bytes(); };
  return of(in_windows ? Place::device_windows : Place::device) +
         (and_first ? of(in_windows ? Place::first_windows : Place::first) : 0);
}

KvCache::Bytes KvCache::state_bytes() const {
  const StatePool::Settings& state = settings_.state;
  if (state.bytes == 0) return {};
  return {.device = state.sequences * state.bytes, .host = (state.saved + 1) * state.bytes};
}

Result<std::unique_ptr<KvCache>> KvCache::create(const Settings& settings, const kernels::Device& device,
                                                 kernels::Stream& stream, const kernels::Device* first,
                                                 kernels::Stream* first_stream) {
  FOVEA_TRY(PagePool pool,
            PagePool::create(layers_of(settings, Place::device), pages(settings), device, stream));
  // On the processor nothing is under way between two passes, so that its copies need no stream.
  assert(settings.first_layers == 0 ||
         (first != nullptr && (first->memory_is_host() || first_stream != nullptr)));
  kernels::Stream& at_first = first_stream != nullptr ? *first_stream : stream;
  std::optional<PagePool> first_pool;
  if (settings.first_layers > 0) {
    FOVEA_TRY(first_pool,
              PagePool::create(layers_of(settings, Place::first), pages(settings), *first, at_first));
  }
  std::unique_ptr<WindowPages> windows;
  if (settings.windows.window > 0) {
    std::vector<WindowPages::Side> sides;
    if (page_bytes(settings, Place::device_windows) > 0)
      sides.push_back({layers_of(settings, Place::device_windows), device, stream});
    if (page_bytes(settings, Place::first_windows) > 0)
      sides.push_back({layers_of(settings, Place::first_windows), *first, at_first});
    FOVEA_TRY(windows, WindowPages::create(sides, settings.windows, pages(settings), settings.poison));
  }
  std::unique_ptr<StatePool> states;
  if (settings.state.bytes > 0) {
    FOVEA_TRY(states, StatePool::create(settings.state, device, stream));
  }
  return std::unique_ptr<KvCache>(
      new KvCache(settings, std::move(pool), std::move(first_pool), std::move(windows), std::move(states)));
}

KvCache::KvCache(const Settings& settings, PagePool pool, std::optional<PagePool> first_pool,
                 std::unique_ptr<WindowPages> windows, std::unique_ptr<StatePool> states)
    : settings_(settings),
      pool_(std::move(pool)),
      first_pool_(std::move(first_pool)),
      windows_(std::move(windows)),
      states_(std::move(states)),
      pages_(static_cast<std::size_t>(pool_.pages())) {
  // Low pages are taken first, so that a short conversation touches little of the arena.
  for (auto id = static_cast<PageId>(pool_.pages()); id-- > 0;) free_.push_back(id);
}

void KvCache::copy(PageId from, PageId to, std::int64_t tokens) const {
  pool_.copy(from, to, tokens);
  if (first_pool_) first_pool_->copy(from, to, tokens);
}

std::pair<PageId, std::int64_t> KvCache::best_child(PageId parent, std::span<const TokenId> tokens) {
  PageId best = no_page;
  std::int64_t longest = 0;
  bool best_is_seen = false;  // windows find it
  for (const PageId id : children_of(parent)) {
    const Page& child = page(id);
    const std::size_t most = std::min(child.tokens.size(), tokens.size());
    const auto end = std::mismatch(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(most),
                                   child.tokens.begin());
    const std::int64_t common = end.first - tokens.begin();
    if (common == 0) continue;
    // A whole page has no equal; of parts, one whose windows are gone is of less use than any other.
    const bool is_seen = common == shape().page_tokens || windows_ == nullptr || windows_->has(id);
    if (best == no_page || (is_seen == best_is_seen ? common > longest : is_seen)) {
      best = id;
      longest = common;
      best_is_seen = is_seen;
    }
  }
  return {best, longest};
}

Sequence KvCache::begin(std::span<const TokenId> tokens, std::int64_t limit) {
  Sequence sequence(*this, ++last_sequence_);
  tokens = tokens.first(std::min(tokens.size(), static_cast<std::size_t>(std::max<std::int64_t>(limit, 0))));
  PageId parent = no_page;
  std::int64_t found = 0;
  while (found < static_cast<std::int64_t>(tokens.size())) {
    const auto [child, common] = best_child(parent, tokens.subspan(static_cast<std::size_t>(found)));
    if (child == no_page) break;
    sequence.add(child);
    sequence.seen_ = sequence.pages_.size();
    sequence.point(sequence.seen_ - 1);
    found += common;
    parent = child;
    if (common < shape().page_tokens) break;
  }
  sequence.tokens_.assign(tokens.begin(), tokens.begin() + found);
  if (states_) sequence.state_ = states_->take();
  sequence.go_back(found);
  return sequence;
}

void KvCache::clear() {
  if (states_) states_->forget_saved();
  for (PageId id = least_recently_used(); id != no_page; id = least_recently_used()) forget(id);
}

KvCache::Statistics KvCache::statistics() const {
  Statistics result{.pages = pool_.pages(), .copies = copies_, .evictions = evictions_};
  for (const Page& each : pages_) {
    result.free += each.free ? 1 : 0;
    result.used += each.references > 0 ? 1 : 0;
    result.references += each.references;
  }
  result.cached = result.pages - result.free - result.used;
  if (windows_) result.saved = windows_->saved_pages();
  return result;
}

PageId KvCache::take(PageId parent, std::uint64_t writer) {
  if (free_.empty()) {
    const PageId oldest = least_recently_used();
    if (oldest == no_page) return no_page;
    ++evictions_;
    forget(oldest);
  }
  const PageId id = free_.back();
  free_.pop_back();
  Page& taken = page(id);
  taken = {.parent = parent, .writer = writer, .free = false};
  children_of(parent).push_back(id);
  if (settings_.poison) pool_.poison(id);
  if (settings_.poison && first_pool_) first_pool_->poison(id);
  return id;
}

void KvCache::release(PageId id, std::uint64_t sequence) {
  Page& released = page(id);
  --released.references;
  if (released.writer == sequence) released.writer = 0;
  released.last_use = ++clock_;
  if (released.references > 0) return;
  if (released.tokens.empty()) {
    forget(id);
  } else {
    drop_copies_of(id);
  }
}

// Of unused sibling leaves whose tokens one begins with the other, the longer one serves for both.
void KvCache::drop_copies_of(PageId id) {
  const std::vector<PageId> siblings = children_of(page(id).parent);
  const auto serves_for = [this](PageId one, PageId other) {
    return page(other).references == 0 && page(other).children.empty() &&
           starts_with(page(one).tokens, page(other).tokens) &&
           (windows_ == nullptr || windows_->has(one) || !windows_->has(other));
  };
  for (const PageId other : siblings) {
    if (other == id) continue;
    if (serves_for(other, id)) return forget(id);
    if (serves_for(id, other)) forget(other);
  }
}

PageId KvCache::equal_sibling(PageId id) {
  for (const PageId other : children_of(page(id).parent)) {
    if (other != id && page(other).tokens == page(id).tokens) return other;
  }
  return no_page;
}

void KvCache::move(PageId id, PageId parent) {
  std::erase(children_of(page(id).parent), id);
  page(id).parent = parent;
  children_of(parent).push_back(id);
}

void KvCache::forget(PageId id) {
  assert(page(id).references == 0 && page(id).children.empty());
  std::erase(children_of(page(id).parent), id);
  if (windows_) windows_->forget(id);
  page(id) = {};
  free_.push_back(id);
}

PageId KvCache::least_recently_used() const {
  PageId oldest = no_page;
  for (PageId id = 0; id < static_cast<PageId>(pages_.size()); ++id) {
    const Page& each = page(id);
    if (each.free || each.references > 0 || !each.children.empty()) continue;
    if (oldest == no_page || each.last_use < page(oldest).last_use) oldest = id;
  }
  return oldest;
}

}  // namespace fovea::runtime
