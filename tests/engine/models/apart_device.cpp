#include "apart_device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <span>
#include <sys/mman.h>
#include <vector>

namespace fovea::tests {
namespace {

using namespace kernels;

constexpr std::int64_t page_bytes = 4096;

std::size_t mapped_bytes(std::int64_t bytes) {
  return static_cast<std::size_t>((bytes + page_bytes) / page_bytes * page_bytes);  // never 0
}

struct Work {
  std::function<void(Stream&)> run;
  bool feed_forward = false;
  std::function<bool()> answered = {};  // of what waits for the host
};

struct ApartGraph final : Graph {
  std::vector<Work> pieces;
};

class ApartStream final : public Stream {
 public:
  ApartStream(const ApartDevice& device, std::unique_ptr<Stream> inner)
      : device_(device), inner_(std::move(inner)) {}
  ~ApartStream() override { synchronize(); }

  void push(Work work) {
    if (capture_) {
      capture_->pieces.push_back(std::move(work));
      return;
    }
    if (work.feed_forward) device_.count_feed_forward(1, 0);
    if (work.answered) ++questions_;
    waiting_.push_back(std::move(work));
    ++pushed_;
  }
  void push(std::function<void(Stream&)> run) { push(Work{std::move(run)}); }
  void synchronize() override {
    if (capture_) {
      std::fputs("ApartDevice: a pass waits for the device while it is captured\n", stderr);
      std::abort();
    }
    run_until(pushed_);
  }
  bool begin_capture() override {
    capture_ = std::make_unique<ApartGraph>();
    return true;
  }
  std::unique_ptr<Graph> end_capture(std::string&) override {
    device_.count_graphs(1, 0);
    return std::move(capture_);
  }
  void launch(const Graph& graph) override {
    device_.count_graphs(0, 1);
    const std::vector<Work>& pieces = static_cast<const ApartGraph&>(graph).pieces;
    for (std::size_t i = device_.shortens_graphs() ? 1 : 0; i < pieces.size(); ++i) push(pieces[i]);
  }
  Failure failure() const override { return device_.failure(); }

  std::int64_t pushed() const { return pushed_; }
  std::int64_t done() const { return pushed_ - std::ssize(waiting_); }
  void run_until(std::int64_t mark) {
    while (done() < mark) {
      if (run_first()) continue;
      std::fputs("ApartDevice: the host waits for the device, which waits for its answer\n", stderr);
      std::abort();
    }
  }
  // Where the host is asked something, it looks whether all is done so far, and that brings the device on.
  void bring_on() {
    if ((questions_ > 0 || !device_.failure().empty()) && !waiting_.empty()) run_first();
  }
  const ApartDevice& device() const { return device_; }

 private:
  // False: it waits for the host.
  bool run_first() {
    bool waits = false;
    if (waiting_.front().answered && device_.failure().empty())
      device_.inside([&] { waits = !waiting_.front().answered(); });
    if (waits) return false;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    if (work.answered) --questions_;
    if (device_.failure().empty()) device_.inside([&] { work.run(*inner_); });
    return true;
  }

  const ApartDevice& device_;
  std::unique_ptr<Stream> inner_;
  std::deque<Work> waiting_;
  int questions_ = 0;  // among them
  std::unique_ptr<ApartGraph> capture_;
  std::int64_t pushed_ = 0;
};

ApartStream& apart(Stream& stream) {
  return static_cast<ApartStream&>(stream);
}

class ApartEvent final : public Event {
 public:
  bool done() const override {
    if (stream_ != nullptr) stream_->bring_on();
    return stream_ == nullptr || stream_->done() >= mark_;
  }
  void wait() const override {
    if (stream_ != nullptr) stream_->run_until(mark_);
  }
  void record(ApartStream& stream) {
    stream_ = &stream;
    mark_ = stream.pushed();
  }

 private:
  ApartStream* stream_ = nullptr;
  std::int64_t mark_ = 0;
};

const OperationTable& inner_operations(Stream& stream) {
  return apart(stream).device().inner().operations();
}

// An operation whose arguments are all the device's.
template <auto member, class Arguments>
void later(const Arguments& arguments, Stream& stream) {
  apart(stream).push([arguments, operation = inner_operations(stream).*member](Stream& inner) {
    operation(arguments, inner);
  });
}

void linear(const Linear& arguments, Stream& stream) {
  apart(stream).push(
      [arguments, operation = inner_operations(stream).linear,
       projections = std::vector(arguments.projections.begin(), arguments.projections.end())](Stream& inner) {
        Linear own = arguments;
        own.projections = projections;
        operation(own, inner);
      });
}

void ask_host(const HostQuestion& arguments, Stream& stream) {
  apart(stream).push([q = arguments](Stream&) {
    const std::int64_t choices = q.tokens * q.used;
    const bool asks = q.always || std::any_of(q.ids, q.ids + choices,
                                              [&](std::int32_t id) { return !q.table[id].gate.data; });
    *q.round = {q.round->number + 1, asks ? 1U : 0U};
    if (asks) {
      std::copy_n(q.x, q.tokens * q.d, q.host_x);
      std::copy_n(q.ids, choices, q.host_ids);
      std::copy_n(q.weights, choices, q.host_weights);
    }
    *q.asked = 2 * q.round->number + q.round->asked;
  });
}

void add_answer(const HostAnswer& arguments, Stream& stream) {
  apart(stream).push(
      Work{.run =
               [a = arguments, norm = inner_operations(stream).rms_norm](Stream& inner) {
                 for (std::int64_t i = 0; a.round->asked != 0 && i < a.tokens * a.d; ++i)
                   a.out[i] = a.alone ? a.host_out[i] : a.out[i] + a.host_out[i];
                 if (a.then) norm(a.then, inner);
               },
           .answered = [a = arguments] { return a.round->asked == 0 || *a.answered == a.round->number; }});
}

// Its packing is the processor's.
void repack(const Repack& arguments, Stream& stream) {
  apart(stream).push([op = arguments, &device = apart(stream).device().inner()](Stream&) {
    const Packing packing = device.preferred_packing(op.type, op.rows, op.columns);
    const auto bytes = static_cast<std::size_t>(device.packed_bytes(packing, op.type, op.rows, op.columns));
    for (std::int64_t i = 0; i < op.count; ++i)
      std::memcpy(op.target + i * op.stride, op.source + i * op.stride, bytes);
  });
}

// The experts are those that the device's own table names when the operation runs.
void feed_forward(const FeedForward& arguments, Stream& stream) {
  if (!arguments.experts.empty() && arguments.table == nullptr) {
    std::fputs("ApartDevice: experts without a table in the device's memory\n", stderr);
    std::abort();
  }
  const ApartDevice& device = apart(stream).device();
  const auto run = [arguments, &device, operation = inner_operations(stream).feed_forward,
                    shared = arguments.shared ? *arguments.shared : Expert{}](Stream& inner) {
    FeedForward own = arguments;
    if (arguments.shared) own.shared = &shared;
    own.experts = {arguments.table, arguments.experts.size()};
    own.table = nullptr;
    operation(own, inner);
    device.count_feed_forward(0, 1);
  };
  apart(stream).push(Work{run, true});
}

constexpr OperationTable table = {
    .embed_rows = later<&OperationTable::embed_rows, EmbedRows>,
    .rms_norm = later<&OperationTable::rms_norm, RmsNorm>,
    .linear = linear,
    .attention_inputs = later<&OperationTable::attention_inputs, AttentionInputs>,
    .attention = later<&OperationTable::attention, Attention>,
    .gating = later<&OperationTable::gating, Gating>,
    .short_convolution = later<&OperationTable::short_convolution, ShortConvolution>,
    .gated_delta = later<&OperationTable::gated_delta, GatedDelta>,
    .router = later<&OperationTable::router, Router>,
    .feed_forward = feed_forward,
    .add = later<&OperationTable::add, Add>,
    .soft_cap = later<&OperationTable::soft_cap, SoftCap>,
    .top_k = later<&OperationTable::top_k, TopK>,
    .ask_host = ask_host,
    .add_answer = add_answer,
    .repack = repack,
};

}  // namespace

DeviceFacts ApartDevice::facts() const {
  DeviceFacts facts = facts_;
  facts.memory_free_bytes -= allocated();
  return facts;
}
const OperationTable& ApartDevice::operations() const {
  return table;
}
std::unique_ptr<Stream> ApartDevice::make_stream(const StreamOptions& options) const {
  return std::make_unique<ApartStream>(*this, inner_.make_stream(options));
}

void ApartDevice::protect(int access) const {
  for (const auto& [memory, bytes] : regions_) mprotect(memory, mapped_bytes(bytes), access);
}

void ApartDevice::inside(const std::function<void()>& work) const {
  {
    const std::scoped_lock lock(mutex_);
    if (inside_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  work();
  const std::scoped_lock lock(mutex_);
  if (--inside_ == 0) protect(PROT_NONE);
}

std::byte* ApartDevice::allocate(std::int64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  const int access = inside_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* const memory = mmap(nullptr, mapped_bytes(bytes), access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  regions_[static_cast<std::byte*>(memory)] = bytes;
  return static_cast<std::byte*>(memory);
}

void ApartDevice::release(std::byte* memory, std::int64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  regions_.erase(memory);
  munmap(memory, mapped_bytes(bytes));
}

std::int64_t ApartDevice::allocated() const {
  const std::scoped_lock lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [memory, bytes] : regions_) sum += bytes;
  return sum;
}

void ApartDevice::fail(std::string words) const {
  const std::scoped_lock lock(mutex_);
  failure_ = {};
  if (!words.empty()) failure_ = {.action = kernels::Action::emulating, .said = std::move(words)};
}
kernels::Failure ApartDevice::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void ApartDevice::count_graphs(int captured, int launched) const {
  const std::scoped_lock lock(mutex_);
  graphs_.captured += captured;
  graphs_.launched += launched;
}
ApartDevice::Graphs ApartDevice::graphs() const {
  const std::scoped_lock lock(mutex_);
  return graphs_;
}

void ApartDevice::count_feed_forward(int queued, int done) const {
  const std::scoped_lock lock(mutex_);
  feed_forwards_.queued += queued;
  feed_forwards_.done += done;
}
ApartDevice::FeedForwards ApartDevice::feed_forwards() const {
  const std::scoped_lock lock(mutex_);
  return feed_forwards_;
}

void ApartDevice::copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream& stream) const {
  ++copies_;
  apart(stream).push([=](Stream&) { std::memcpy(target, host, static_cast<std::size_t>(bytes)); });
}
void ApartDevice::read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                            Stream& stream) const {
  apart(stream).push([=](Stream&) { std::memcpy(host, source, static_cast<std::size_t>(bytes)); });
}
void ApartDevice::copy_within(std::byte* target, const std::byte* source, std::int64_t bytes,
                              std::int64_t stride, std::int64_t count, Stream& stream) const {
  apart(stream).push([=](Stream&) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * stride, source + i * stride, static_cast<std::size_t>(bytes));
  });
}
std::unique_ptr<Event> ApartDevice::make_event() const {
  return std::make_unique<ApartEvent>();
}
void ApartDevice::record(Event& event, Stream& stream) const {
  static_cast<ApartEvent&>(event).record(apart(stream));
}

}  // namespace fovea::tests
