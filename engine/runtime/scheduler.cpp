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
  std::ranges::move(more.records, std::back_inserter(all.records));
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

void Scheduler::run(std::span<Computation* const> all, const NewsSink& sink, bool share_prompt) {
  Call mine;
  mine.asked.resize(all.size());
  mine.fetched.resize(all.size());
  mine.left = all.size();
  std::vector<Asked*> pointers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    mine.asked[i] = {
        .call = &mine, .computed = all[i], .reader = share_prompt && i > 0 ? &mine.asked.front() : nullptr};
    pointers.push_back(&mine.asked[i]);
  }
  std::unique_lock lock(mutex_);
  arrived_.insert(arrived_.end(), pointers.begin(), pointers.end());
  while (mine.left > 0 || mine.has_news) {
    if (mine.has_news) {
      fetch_news(mine);
      lock.unlock();
      deliver(mine, sink);
      lock.lock();
    } else if (!led_) {
      led_ = true;
      lock.unlock();
      lead(mine, sink);
      lock.lock();
      led_ = false;
      wake_others();
    } else {
      mine.changed.wait(lock, [&] { return mine.left == 0 || mine.has_news || !led_; });
    }
  }
  if (mine.thrown) std::rethrow_exception(mine.thrown);
}

// The lock is held. Nothing is allocated: whoever leads still knows the call.
void Scheduler::fetch_news(Call& mine) {
  for (std::size_t i = 0; i < mine.asked.size(); ++i) mine.fetched[i] = std::exchange(mine.asked[i].news, {});
  mine.has_news = false;
}

void Scheduler::deliver(Call& mine, const NewsSink& sink) {
  for (std::size_t i = 0; i < mine.fetched.size(); ++i) {
    if (mine.is_given_up || !sink || mine.fetched[i].empty()) continue;
    try {
      sink(i, mine.fetched[i]);
    } catch (...) {
      mine.thrown = std::current_exception();
      mine.is_given_up = true;
    }
  }
}

void Scheduler::lead(Call& mine, const NewsSink& sink) {
  for (bool done = false; !done;) {
    step();
    {
      const std::lock_guard lock(mutex_);
      fetch_news(mine);
      done = mine.left == 0;
    }
    deliver(mine, sink);
  }
}

// For one of them to lead. The lock is held.
void Scheduler::wake_others() {
  for (const auto* all : {&arrived_, &waiting_})
    for (Asked* other : *all) other->call->changed.notify_one();
  for (const auto* all : {&following_, &active_})
    for (Asked* other : *all) other->call->changed.notify_one();
}

// A pass of all, and what belongs to it. Never leaves an answer without an end: what the standard library
// throws ends those that the pass was for.
void Scheduler::step() {
  const std::lock_guard turn(parts_.turn);
  arrive();
  const auto ran = exhaustion_as_error([&]() -> Result<void> {
    follow();
    drop_cancelled();
    make_room();
    if (admit()) return {};  // what they find of their prompts is told before the first pass
    return run_pass();
  });
  if (!ran)
    for (Asked* each : active_)
      if (!each->computed->is_done()) each->computed->fail(ran.error());
  conclude();
}

void Scheduler::arrive() {
  const std::lock_guard lock(mutex_);
  for (Asked* each : arrived_) {
    if (each->reader != nullptr) {
      following_.push_back(each);
    } else {
      waiting_.push_back(each);
    }
  }
  arrived_.clear();
}

// Those whose prompt has been read, or will not be: in front of all who asked later.
void Scheduler::follow() {
  const auto is_ready = [](const Asked* each) {
    return each->reader->computed->is_done() || !each->reader->computed->is_reading();
  };
  std::vector<Asked*> ready;
  std::ranges::copy_if(following_, std::back_inserter(ready), is_ready);
  waiting_.insert(waiting_.begin(), ready.begin(), ready.end());
  std::erase_if(following_, is_ready);
}

void Scheduler::drop_cancelled() {
  const auto drop = [&](auto& asked) {
    for (Asked* each : asked)
      if (!each->computed->is_done() && (each->call->is_given_up || each->computed->stop().stop_requested()))
        each->computed->cancel(parts_);
  };
  drop(active_);
  drop(waiting_);
}

std::int64_t Scheduler::free_pages() const {
  std::int64_t free = KvCache::pages(parts_.cache->settings());
  for (const Asked* each : active_) free -= each->computed->is_done() ? 0 : each->pages;
  return free;
}

bool Scheduler::admit() {
  bool any = false;
  while (!waiting_.empty() && std::ssize(active_) < parts_.plan.options.sequences) {
    Asked* const next = waiting_.front();
    const std::int64_t pages = parts_.cache->pages_of(next->computed->expected_tokens());
    if (!next->computed->is_done() && pages > free_pages()) break;
    waiting_.pop_front();
    active_.push_back(next);
    if (next->computed->is_done()) continue;
    next->pages = pages;
    next->computed->begin(parts_);
    any = true;
  }
  return any;
}

// For those that have outgrown their pages: from whoever began last.
void Scheduler::make_room() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Asked& each = *active_[i];
    if (each.computed->is_done()) continue;
    const std::int64_t more = parts_.cache->pages_of(each.computed->length() + 1) - each.pages;
    if (more <= 0) continue;
    while (free_pages() < more && active_.size() > i) suspend_last();
    if (active_.size() > i) each.pages += more;
  }
}

void Scheduler::suspend_last() {
  Asked* const last = active_.back();
  active_.pop_back();
  if (!last->computed->is_done()) last->computed->suspend();
  waiting_.push_front(last);
}

// Where they are few, tokens of prompts are not divided so far that slices become too short.
std::vector<Scheduler::Part> Scheduler::next_parts() {
  std::vector<Asked*> readers, writers;
  for (Asked* each : active_)
    if (!each->computed->is_done()) (each->computed->is_reading() ? readers : writers).push_back(each);
  std::vector<Part> parts;
  if (!readers.empty()) {
    std::ranges::rotate(readers, readers.begin() + static_cast<std::ptrdiff_t>(turn_++ % readers.size()));
    const std::int64_t most = parts_.prompt_pass_tokens();
    std::int64_t left = writers.empty() ? most : std::min(most, slice_.tokens());
    std::int64_t served = std::clamp<std::int64_t>(left / slice_.unit(), 1, std::ssize(readers));
    for (std::size_t i = 0; served > 0; ++i, --served) {
      parts.push_back({readers[i], readers[i]->computed->next(parts_, left / served)});
      left -= std::ssize(parts.back().part.tokens);
    }
  }
  for (Asked* each : writers) parts.push_back({each, each->computed->next(parts_, 1)});
  // The last layer computes from the first row on whose logits are wanted.
  std::ranges::stable_partition(
      parts, [](const Part& each) { return each.part.wanted_rows() + each.part.hidden_rows() == 0; });
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
  Computation& first = *parts.front().asked->computed;
  auto logits =
      parts_.pass(all, parts_.plan.options.context, parts.size() == 1 ? first.stop() : std::stop_token());
  if (!logits && logits.error().kind == ErrorKind::cancelled) {
    first.cancel(parts_);
    return {};
  }
  FOVEA_CHECK(logits);
  slice_.learn(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), read);
  PassRows left{.logits = *logits, .hidden = parts_.forward->hidden()};
  const auto take = [](std::span<const float>& from, std::int64_t count) {
    const std::span<const float> own = from.first(std::min(static_cast<std::size_t>(count), from.size()));
    from = from.subspan(own.size());
    return own;
  };
  const models::ModelConfig& config = parts_.model->config();
  const std::span<const UseBits> bits =
      parts_.precision ? parts_.precision->use_bits() : std::span<const UseBits>();
  std::int64_t row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& each = parts[i];
    const PassRows own{.logits = take(left.logits, each.part.wanted_rows() * config.vocabulary),
                       .row = std::exchange(row, row + each.part.wanted_rows()),
                       .hidden = take(left.hidden, each.part.hidden_rows() * config.hidden),
                       .use_bits = i < bits.size() ? bits[i] : UseBits(),
                       .uses = parts_.watch ? parts_.watch->recorded(i) : TokenUses()};
    if (auto taken = each.asked->computed->take(parts_, own); !taken)
      each.asked->computed->fail(std::move(taken).error());
  }
  return {};
}

// Tells the threads of the answers what came.
void Scheduler::conclude() {
  const auto tell = [](Asked* asked) {
    Call& call = *asked->call;
    take_over(asked->news, asked->computed->fetch_news());
    const bool done = asked->computed->is_done();
    if (done) --call.left;
    call.has_news |= !asked->news.empty();
    if (call.left == 0 || call.has_news) call.changed.notify_one();
    return done;
  };
  const std::lock_guard lock(mutex_);
  std::erase_if(active_, tell);
  std::erase_if(waiting_, tell);
  load_ = {.answering = std::ssize(active_), .waiting = std::ssize(waiting_) + std::ssize(following_)};
  if (load_.answering + load_.waiting == 0 && parts_.watch) parts_.watch->rest();
}

}  // namespace fovea::runtime
