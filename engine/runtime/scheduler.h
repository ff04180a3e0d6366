// Several answers at once (continuous batching: Orca, Yu et al. 2022): each pass has a token of every answer
// that is written and, beside them, slices of the prompts that are read. An answer begins when the pages that
// it may need are free, in the order of asking; one that outgrows what was expected of it may have to wait in
// the middle until others are done, and then goes on.
//
// There is no thread of its own. One of the threads that wait for their answers runs the passes of all until
// its own are done, then another takes over; so a single answer costs no switch between threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/runtime/computation.h"
#include "engine/runtime/parts.h"

namespace fovea::runtime {

// How many tokens of prompts a pass takes while others write: as many as keep it short, learnt from the
// passes before. Answers do not depend on it.
class SliceLength {
 public:
  // unit: of a slice; tokens.
  SliceLength(std::int64_t unit, std::int64_t most) : unit_(unit), most_(most) {}
  // A pass took so long, which read so many tokens of prompts beside those that it wrote.
  void learn(double seconds, std::int64_t read);
  std::int64_t tokens() const;
  std::int64_t unit() const { return unit_; }

 private:
  std::int64_t unit_, most_;
  double write_seconds_ = 0;  // of a pass that reads nothing
  double token_seconds_ = 0;  // of a token that is read beside; 0: not known
};

class Scheduler {
 public:
  explicit Scheduler(Engine::Parts& parts);

  // What one of those has to tell that a call asks for.
  using NewsSink = std::function<void(std::size_t index, const AnswerNews& news)>;

  // Returns when all of them are done. Any thread; the sink is called on it. While it runs the passes, what
  // its sink takes all others wait for. What a sink throws ends its own call's alone and is thrown on.
  // `share_prompt`: they have the same, which the first reads; the others begin when it is in the cache.
  void run(std::span<Computation* const> all, const NewsSink& sink, bool share_prompt = false);

  struct Load {
    std::int64_t answering = 0, waiting = 0;
  };
  Load load() const;

 private:
  struct Call;
  struct Asked {
    Call* call = nullptr;
    Computation* computed = nullptr;
    const Asked* reader = nullptr;  // that reads its prompt first; null: it reads its own
    std::int64_t pages = 0;         // of the cache that are kept for it
    AnswerNews news = {};           // that its thread has not fetched
  };
  struct Call {  // of run(), on its thread
    std::vector<Asked> asked;
    std::vector<AnswerNews> fetched;  // that its thread tells
    std::size_t left = 0;             // of them that are not done
    bool has_news = false;            // in one of them
    std::condition_variable changed = {};
    std::exception_ptr thrown = {};         // by the sink: nothing more is told, …
    std::atomic<bool> is_given_up = false;  // … and all are cancelled
  };

  static void fetch_news(Call& mine);
  static void deliver(Call& mine, const NewsSink& sink);
  void lead(Call& mine, const NewsSink& sink);
  void wake_others();
  void step();
  // A computation's part in a pass.
  struct Part {
    Asked* asked = nullptr;
    PassPart part = {};
  };
  std::vector<Part> next_parts();
  Result<void> run_pass();
  void arrive();
  void follow();
  void drop_cancelled();
  bool admit();
  void make_room();
  std::int64_t free_pages() const;
  void suspend_last();
  void conclude();

  Engine::Parts& parts_;
  mutable std::mutex mutex_;  // of these, and of what threads are told of their answers
  std::deque<Asked*> arrived_;
  bool led_ = false;
  Load load_;
  // The leader's.
  std::deque<Asked*> waiting_;     // in the order of asking
  std::vector<Asked*> following_;  // until their prompt is read
  std::vector<Asked*> active_;     // in the order of beginning
  SliceLength slice_;
  std::size_t turn_ = 0;  // who reads first, in turns
};

}  // namespace fovea::runtime
