// Keys and values of everything computed lately, shared between sequences by their common prefixes.
//
// The pages form a tree: a page knows the tokens whose keys and values it holds and the page before it, so a
// path from the root spells a token sequence. A sequence is such a path. A new one starts with the longest
// path that spells its beginning, whichever sequence computed it; the last page of the path may match in
// part.
//
// Positions of a page are written once, in order. A sequence that continues where its last page ends, and
// where nobody else does, writes on in it; otherwise it first copies that page's positions that it shares
// (copy-on-write). Pages that no sequence uses stay as cache and give way, longest unused first and leaves
// before their parents, when a page is needed.
//
// Layers with a window keep what sequences see, and behind that what fits beside it (window_pages.h): a new
// sequence ends where what its next token sees is still there.
//
// The first layers may be computed elsewhere, by the processor beside a device or by another card
// (layers/first_layers.h): their part of each page then lies there.
//
// Where layers keep recurrent state, a sequence has one beside its pages (state_pool.h). It can be continued
// only where its state is at hand: a new one begins behind the longest saved state of what it shares, and a
// shortened one falls back to such a place.
//
// One thread at a time. Sequences must not outlive their cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/text.h"
#include "engine/runtime/page_pool.h"
#include "engine/runtime/state_pool.h"
#include "engine/runtime/window_pages.h"
#include "kernels/api/operations.h"

namespace fovea::runtime {

class KvCache;

class Sequence {
 public:
  Sequence(Sequence&& other) noexcept;
  Sequence& operator=(Sequence&&) = delete;
  ~Sequence();  // its pages stay as cache

  std::uint64_t id() const { return id_; }  // no other sequence of the cache has it
  std::int64_t length() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::span<const TokenId> tokens() const { return tokens_; }
  // What a forward pass takes: [layers], with room for what was reserved; null where a window has passed.
  // Valid until the next reserve().
  std::span<const kernels::KvPages> pages() const { return layers_; }
  // Another one whenever a page of these lists is another one; no other sequence has the same. 0: no page
  // yet.
  std::uint64_t pages_revision() const { return pages_revision_; }

  // What its recurrent layers have behind its last token; null: the model has none.
  std::byte* state() const;
  // Keeps a copy, to begin other sequences there and to return to.
  void save_state();

  // Makes room for `count` tokens after the last; their positions may then be written.
  // ErrorKind::context_full when the cache has too few pages, or states, that no sequence uses.
  Result<void> reserve(std::int64_t count);
  // The keys and values of these tokens, for which room was reserved, are now written.
  void commit(std::span<const TokenId> tokens);
  // To this length, or the longest below it that can be continued: whose recurrent state was saved, and of
  // which what windows see is there.
  void truncate(std::int64_t length);
  // Ends empty, and what only this sequence knew does not stay as cache.
  void discard();

 private:
  friend class KvCache;
  Sequence(KvCache& cache, std::uint64_t id);
  void add(PageId page);
  void place(std::size_t index, PageId page);
  void point(std::size_t index);
  Result<void> own_last_page();
  Result<void> add_page();
  void join_equal_page(std::size_t index);
  void pass_windows();
  void see_windows();
  void go_back(std::int64_t length);
  std::int64_t whole_window(std::int64_t length) const;
  void cut(std::int64_t length);
  void drop_last_page();

  KvCache* cache_;
  std::uint64_t id_;
  std::vector<TokenId> tokens_;
  std::vector<PageId> pages_;
  std::size_t seen_ = 0;                   // its windows see the pages from this one on
  std::vector<std::byte*> keys_, values_;  // [layers, pages of the pool]: what layers_ points to
  std::vector<kernels::KvPages> layers_;
  std::uint64_t pages_revision_ = 0;
  StateId state_ = no_state;
};

class KvCache {
 public:
  struct Settings {
    PageShape shape;
    std::int64_t context = 0;       // tokens that all sequences can hold together …
    std::int64_t sequences = 1;     // … if they are at most so many: each has a spare page to copy on write
    std::int64_t first_layers = 0;  // that the processor or another card computes
    WindowPages::Settings windows = {};
    StatePool::Settings state = {};
    bool poison = false;  // fill pages with not-a-number before use: for tests
    // Whether a layer keeps what its window sees, and no more.
    bool passes(std::size_t layer) const { return windows.window > 0 && shape.layers[layer].has_window; }
    bool is_first(std::size_t layer) const { return static_cast<std::int64_t>(layer) < first_layers; }
  };
  // Where passes compute: of sequences. In the host's memory: of what they return to.
  struct Bytes {
    std::int64_t device = 0, host = 0;
  };
  struct Statistics {
    std::int64_t pages = 0;       // = free + cached + used
    std::int64_t free = 0;        // hold nothing
    std::int64_t cached = 0;      // hold something that no sequence uses
    std::int64_t used = 0;        // belong to at least one sequence
    std::int64_t references = 0;  // from sequences
    std::int64_t copies = 0;      // made on writing, since the start
    std::int64_t evictions = 0;   // since the start
    std::int64_t saved = 0;       // what windows keep in the host's memory
  };

  // Pages are copied in the stream's order, which must be that of the passes. `first`, with its stream: the
  // processor or another card, where it computes the first layers.
  static Result<std::unique_ptr<KvCache>> create(const Settings& settings, const kernels::Device& device,
                                                 kernels::Stream& stream,
                                                 const kernels::Device* first = nullptr,
                                                 kernels::Stream* first_stream = nullptr);
  // What create() would allocate: for layers that see everything, for all that the first ones keep where they
  // are computed, and for the other windows; in the host's memory, of what all windows return to.
  static std::int64_t bytes(const Settings& settings);
  static std::int64_t first_bytes(const Settings& settings);
  static Bytes window_bytes(const Settings& settings);
  static std::int64_t window_page_bytes(const Settings& settings);
  static std::int64_t pages(const Settings& settings);
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  // A sequence that holds as many of `tokens` as can be found, but not more than `limit`.
  Sequence begin(std::span<const TokenId> tokens, std::int64_t limit);
  // Forgets every page that no sequence uses, and all saved states.
  void clear();

  std::int64_t bytes() const { return bytes(settings_); }
  std::int64_t first_bytes() const { return first_bytes(settings_); }
  Bytes window_bytes() const { return window_bytes(settings_); }
  Bytes state_bytes() const;
  // Tokens between the places where sequences save their state; 0: they have none.
  std::int64_t state_spacing() const { return states_ ? states_->spacing() : 0; }
  // Of a token on the device, in the layers that keep all of them, or in those that keep what windows see;
  // and in the first layers, too.
  std::int64_t token_bytes(bool in_windows, bool and_first = false) const;
  const Settings& settings() const { return settings_; }
  const PageShape& shape() const { return settings_.shape; }
  Statistics statistics() const;
  // That a sequence of so many tokens may need, whatever it shares.
  std::int64_t pages_of(std::int64_t tokens) const {
    return (tokens + shape().page_tokens - 1) / shape().page_tokens + 1;
  }

 private:
  friend class Sequence;
  struct Page {
    std::vector<TokenId> tokens = {};  // whose keys and values are written
    PageId parent = no_page;
    std::vector<PageId> children = {};
    std::int32_t references = 0;  // sequences that hold it
    std::uint64_t writer = 0;     // the sequence that may append; 0: none
    std::uint64_t last_use = 0;
    bool free = true;
  };

  KvCache(const Settings& settings, PagePool pool, std::optional<PagePool> first_pool,
          std::unique_ptr<WindowPages> windows, std::unique_ptr<StatePool> states);
  void copy(PageId from, PageId to, std::int64_t tokens) const;
  Page& page(PageId id) { return pages_[static_cast<std::size_t>(id)]; }
  const Page& page(PageId id) const { return pages_[static_cast<std::size_t>(id)]; }
  std::vector<PageId>& children_of(PageId parent) {
    return parent == no_page ? roots_ : page(parent).children;
  }
  std::pair<PageId, std::int64_t> best_child(PageId parent, std::span<const TokenId> tokens);
  PageId take(PageId parent, std::uint64_t writer);  // no_page when every page is used
  void release(PageId id, std::uint64_t sequence);
  void forget(PageId id);
  PageId equal_sibling(PageId id);
  void move(PageId id, PageId parent);
  PageId least_recently_used() const;
  void drop_copies_of(PageId id);

  Settings settings_;
  PagePool pool_;                         // of layers that see everything …
  std::optional<PagePool> first_pool_;    // … and of the first ones of these; nothing: there are none
  std::unique_ptr<WindowPages> windows_;  // of the others; null: there are none
  std::unique_ptr<StatePool> states_;     // null: no layer has any
  std::vector<Page> pages_;
  std::vector<PageId> roots_;  // pages that begin a sequence
  std::vector<PageId> free_;
  std::uint64_t clock_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::int64_t copies_ = 0;
  std::int64_t evictions_ = 0;
};

}  // namespace fovea::runtime
