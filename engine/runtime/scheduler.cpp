#include "engine/runtime/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

// While a prompt is read, a pass shall not take longer than the first, or so many times what it takes
// without.
constexpr double short_pass = 0.08;  // s
constexpr double longer = 2.5;
constexpr double learning = 0.3;  // share of the latest pass

void take_over(AnswerNews& all, AnswerNews more) {
  if (more.progress) all.progress = more.progress;
  std::ranges::move(more.pieces, std::back_inserter(all.pieces));
}

}  // namespace

void SliceLength::learn(double seconds, std::int64_t read) {
  const auto mix = [](double& value, double latest) {
    value = value == 0 ? latest : (1 - learning) * value + learning * latest;
  };
  if (read == 0) return mix(write_seconds_, seconds);
  mix(token_seconds_, std::max(seconds - write_seconds_, 0.0) / static_cast<double>(read));
}

std::int64_t SliceLength::tokens() const {
  if (token_seconds_ == 0) return std::min(unit_, most_);
  const double spare = std::max(short_pass, longer * write_seconds_) - write_seconds_;
  const auto fit = static_cast<std::int64_t>(std::min(spare / token_seconds_, static_cast<double>(most_)));
  return std::clamp(fit / unit_ * unit_, std::min(unit_, most_), most_);
}

Scheduler::Scheduler(Engine::Parts& parts)
    : parts_(parts),
      slice_(parts.cache->state_spacing() > 0 ? kernels::recurrent_chunk : 16, parts.plan.options.chunk) {}

Scheduler::Load Scheduler::load() const {
  const std::lock_guard lock(mutex_);
  return {.answering = load_.answering, .waiting = load_.waiting + std::ssize(arrived_)};
}

void Scheduler::answer(Answer& answer, const TextSink& sink, const ProgressSink& progress) {
  Asked mine{.answer = &answer};
  std::unique_lock lock(mutex_);
  arrived_.push_back(&mine);
  while (!mine.done || !mine.news.empty()) {
    if (!mine.news.empty()) {
      AnswerNews news = std::exchange(mine.news, {});
      lock.unlock();
      deliver(mine, news, sink, progress);
      lock.lock();
    } else if (!led_) {
      led_ = true;
      lock.unlock();
      lead(mine, sink, progress);
      lock.lock();
      led_ = false;
      for (const auto* all : {&arrived_, &waiting_})
        for (Asked* other : *all) other->changed.notify_one();
      for (Asked* other : active_) other->changed.notify_one();
    } else {
      mine.changed.wait(lock, [&] { return mine.done || !mine.news.empty() || !led_; });
    }
  }
  if (mine.thrown) std::rethrow_exception(mine.thrown);
}

void Scheduler::deliver(Asked& mine, const AnswerNews& news, const TextSink& sink,
                        const ProgressSink& progress) {
  if (mine.is_given_up) return;
  try {
    if (progress && news.progress) progress(*news.progress);
    if (!sink) return;
    for (const AnswerNews::Piece& piece : news.pieces) sink(piece.text, piece.so_far);
  } catch (...) {
    mine.thrown = std::current_exception();
    mine.is_given_up = true;
  }
}

void Scheduler::lead(Asked& mine, const TextSink& sink, const ProgressSink& progress) {
  for (bool done = false; !done;) {
    step();
    AnswerNews news;
    {
      const std::lock_guard lock(mutex_);
      news = std::exchange(mine.news, {});
      done = mine.done;
    }
    deliver(mine, news, sink, progress);
  }
}

// A pass of all, and what belongs to it. Never leaves an answer without an end: what the standard library
// throws ends those that the pass was for.
void Scheduler::step() {
  const std::lock_guard turn(parts_.turn);
  arrive();
  const auto ran = exhaustion_as_error([&]() -> Result<void> {
    drop_cancelled();
    make_room();
    if (admit()) return {};  // what they find of their prompts is told before the first pass
    return run_pass();
  });
  if (!ran)
    for (Asked* each : active_)
      if (!each->answer->is_done()) each->answer->fail(ran.error());
  conclude();
}

void Scheduler::arrive() {
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
}

void Scheduler::drop_cancelled() {
  const auto drop = [&](auto& asked) {
    for (Asked* each : asked)
      if (each->is_given_up || each->answer->stop().stop_requested())
        each->answer->finish(parts_, FinishReason::cancelled);
  };
  drop(active_);
  drop(waiting_);
}

std::int64_t Scheduler::free_pages() const {
  std::int64_t free = KvCache::pages(parts_.cache->settings());
  for (const Asked* each : active_) free -= each->answer->is_done() ? 0 : each->pages;
  return free;
}

bool Scheduler::admit() {
  bool any = false;
  while (!waiting_.empty() && std::ssize(active_) < parts_.plan.options.sequences) {
    Asked* const next = waiting_.front();
    const std::int64_t pages = parts_.cache->pages_of(next->answer->expected_tokens());
    if (!next->answer->is_done() && pages > free_pages()) break;
    waiting_.pop_front();
    active_.push_back(next);
    if (next->answer->is_done()) continue;
    next->pages = pages;
    next->answer->begin(parts_);
    any = true;
  }
  return any;
}

// For those that have outgrown their pages: from whoever began last.
void Scheduler::make_room() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Asked& each = *active_[i];
    if (each.answer->is_done()) continue;
    const std::int64_t more = parts_.cache->pages_of(each.answer->length() + 1) - each.pages;
    if (more <= 0) continue;
    while (free_pages() < more && active_.size() > i) suspend_last();
    if (active_.size() > i) each.pages += more;
  }
}

void Scheduler::suspend_last() {
  Asked* const last = active_.back();
  active_.pop_back();
  if (!last->answer->is_done()) last->answer->suspend();
  waiting_.push_front(last);
}

// Where they are few, tokens of prompts are not divided so far that slices become too short.
std::vector<Scheduler::Part> Scheduler::next_parts() {
  std::vector<Asked*> readers, writers;
  for (Asked* each : active_)
    if (!each->answer->is_done()) (each->answer->is_reading() ? readers : writers).push_back(each);
  const bool alone = readers.size() + writers.size() == 1;
  std::vector<Part> parts;
  if (!readers.empty()) {
    std::ranges::rotate(readers, readers.begin() + static_cast<std::ptrdiff_t>(turn_++ % readers.size()));
    std::int64_t left = writers.empty() ? parts_.plan.options.chunk : slice_.tokens();
    std::int64_t served = std::clamp<std::int64_t>(left / slice_.unit(), 1, std::ssize(readers));
    for (std::size_t i = 0; served > 0; ++i, --served) {
      parts.push_back({readers[i], readers[i]->answer->next(parts_, left / served, alone)});
      left -= std::ssize(parts.back().part.tokens);
    }
  }
  for (Asked* each : writers) parts.push_back({each, each->answer->next(parts_, 1, alone)});
  // The last layer computes from the first row on whose logits are wanted.
  std::ranges::stable_partition(parts, [](const Part& each) { return each.part.wanted_rows() == 0; });
  return parts;
}

Result<void> Scheduler::run_pass() {
  const std::vector<Part> parts = next_parts();
  if (parts.empty()) return {};
  const auto start = std::chrono::steady_clock::now();
  std::vector<PassPart> all;
  std::int64_t read = 0;
  for (const Part& each : parts) {
    all.push_back(each.part);
    if (each.part.is_prompt) read += std::ssize(each.part.tokens);
  }
  // A pass of several does not end for one of them.
  Answer& first = *parts.front().asked->answer;
  const bool alone = parts.size() == 1;
  auto logits = parts_.pass(all, parts_.plan.options.context, alone ? first.stop() : std::stop_token(),
                            {.temperature = alone ? first.temperature() : 1});
  if (!logits && logits.error().kind == ErrorKind::cancelled) {
    first.finish(parts_, FinishReason::cancelled);
    return {};
  }
  FOVEA_CHECK(logits);
  slice_.learn(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), read);
  std::span<const float> left = *logits;
  for (const Part& each : parts) {
    const auto own = static_cast<std::size_t>(each.part.wanted_rows() * parts_.model->config().vocabulary);
    const std::span<const float> rows = left.first(std::min(own, left.size()));
    left = left.subspan(rows.size());
    if (auto taken = each.asked->answer->take(parts_, rows); !taken)
      each.asked->answer->fail(std::move(taken).error());
  }
  return {};
}

// Tells the threads of the answers what came.
void Scheduler::conclude() {
  const auto tell = [](Asked* asked) {
    take_over(asked->news, asked->answer->fetch_news());
    asked->done = asked->answer->is_done();
    if (asked->done || !asked->news.empty()) asked->changed.notify_one();
    return asked->done;
  };
  const std::lock_guard lock(mutex_);
  std::erase_if(active_, tell);
  std::erase_if(waiting_, tell);
  load_ = {.answering = std::ssize(active_), .waiting = std::ssize(waiting_)};
  if (active_.empty() && waiting_.empty() && parts_.watch) parts_.watch->rest();
}

}  // namespace fovea::runtime
