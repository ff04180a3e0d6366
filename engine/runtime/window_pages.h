// Keys and values of the layers that see only the last positions: beside each page of the tree (kv_cache.h),
// its part in those layers. What a sequence sees lies on the device, and only for that is there room; what
// nobody sees any more gives way, longest unseen first, and is kept in the host's memory to return to, as far
// as that goes. What neither holds is lost: a sequence that needs it has to begin before it.
//
// A page's part is there whole or not at all. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/error.h"
#include "engine/runtime/page_pool.h"

namespace fovea::runtime {

class WindowPages {
 public:
  struct Settings {
    std::int64_t window = 0;  // positions that the widest of these layers sees; 0: there are none
    std::int64_t places = 0;  // on the device, in pages
    std::int64_t saved = 0;   // in the host's memory, in pages
  };
  // Where some of these layers are computed. Pages move in the stream's order, which must be that of the
  // passes.
  struct Side {
    PageShape shape;  // the others keep nothing
    const kernels::Device& device;
    kernels::Stream& stream;
  };
  // A page is on all sides at once, or on none. `pages`: of the tree. ErrorKind::memory.
  static Result<std::unique_ptr<WindowPages>> create(std::span<const Side> sides, const Settings& settings,
                                                     std::int64_t pages, bool poison);
  ~WindowPages();
  WindowPages(const WindowPages&) = delete;
  WindowPages& operator=(const WindowPages&) = delete;

  // The first page that a token behind so many others sees.
  std::int64_t first_seen(std::int64_t length) const;
  bool has_room() const;  // for one more page that is seen
  bool has(PageId page) const { return at(page).place != nowhere; }

  // From now on somebody sees the page, new and empty, or these, all of which are there. False: there is no
  // room, and nobody sees them.
  bool make(PageId page);
  bool see(std::span<const PageId> pages);
  // One less sees it.
  void leave(PageId page);
  // The first `tokens` positions of a page that is seen, into another that is.
  void copy(PageId from, PageId to, std::int64_t tokens);
  // A page that somebody sees gives way to one that holds the same tokens; who asks then sees that one.
  // False: there is no room for both, and nothing has changed.
  bool replace(PageId page, PageId same);
  // The page holds nothing any more; nobody sees it.
  void forget(PageId page);

  // Of a page that is seen.
  std::byte* keys(PageId page, std::size_t layer) const { return pool_of(layer).keys(at(page).place, layer); }
  std::byte* values(PageId page, std::size_t layer) const {
    return pool_of(layer).values(at(page).place, layer);
  }

  std::int64_t saved_pages() const { return settings_.saved - std::ssize(free_saved_); }

 private:
  static constexpr PageId nowhere = -1;
  struct Part {
    PageId place = nowhere;
    bool is_saved = false;  // its place is one of the host's
    std::int32_t viewers = 0;
    std::uint64_t last_seen = 0;
  };
  struct Half {
    PagePool pool;
    const kernels::Device& device;
    kernels::Stream& stream;
    std::byte* host = nullptr;  // [saved]

    std::byte* saved(PageId place) const { return host + place * pool.shape().page_bytes(); }
  };
  WindowPages(const Settings& settings, std::int64_t pages, bool poison);
  const PagePool& pool_of(std::size_t layer) const;
  Part& at(PageId page) { return parts_[static_cast<std::size_t>(page)]; }
  const Part& at(PageId page) const { return parts_[static_cast<std::size_t>(page)]; }
  bool is_here(const Part& part) const { return part.place != nowhere && !part.is_saved; }
  Part* longest_unseen(bool saved);
  PageId free_place();  // nowhere: all are seen
  void save(Part& part);
  void drop(Part& part);

  std::vector<Half> halves_;
  const Settings settings_;
  const bool poison_;
  std::vector<Part> parts_;  // [pages of the tree]
  std::vector<PageId> free_, free_saved_;
  std::uint64_t clock_ = 0;
};

}  // namespace fovea::runtime
