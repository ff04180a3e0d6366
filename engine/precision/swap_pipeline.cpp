#include "engine/precision/swap_pipeline.h"

#include "engine/core/thread.h"

namespace fovea::precision {

SwapPipeline::SwapPipeline(const kernels::Device& device, VersionSource& source, TrafficLimit& limit,
                           Clock& clock, std::int64_t most)
    : device_(device),
      source_(source),
      limit_(limit),
      clock_(clock),
      submitted_(most),
      read_(most),
      arrived_(most) {
  reader_ = std::jthread([this](const std::stop_token& stop) {
    name_this_thread("swap reader");
    yield_to_others();
    read_loop(stop);
  });
  if (device.memory_is_host()) return;
  stream_ = device.make_stream({.threads = 1, .background = true});
  copied_ = device.make_event();
  uploader_ = std::jthread([this](const std::stop_token& stop) {
    name_this_thread("swap uploader");
    yield_to_others();
    upload_loop(stop);
  });
}

SwapPipeline::~SwapPipeline() {
  reader_.request_stop();
  uploader_.request_stop();
  submitted_.wake();
  read_.wake();
  reader_ = {};
  uploader_ = {};
  while (Transfer* const transfer = read_.pop()) transfer->held.reset();
}

void SwapPipeline::submit(Transfer& transfer) {
  submitted_.push(&transfer);
}

Transfer* SwapPipeline::take() {
  return arrived_.pop();
}

Transfer* SwapPipeline::wait() {
  return arrived_.wait({});
}

void SwapPipeline::read_loop(const std::stop_token& stop) {
  Queue& next = device_.memory_is_host() ? arrived_ : read_;
  while (Transfer* transfer = submitted_.wait(stop)) {
    read(*transfer, stop);
    next.push(transfer);
  }
}

void SwapPipeline::read(Transfer& transfer, const std::stop_token& stop) {
  const auto pace = [&](std::int64_t bytes) {
    if (transfer.cancelled.load(std::memory_order_relaxed) || !limit_.wait(bytes, clock_, stop)) return false;
    transfer.bytes_read += bytes;
    return true;
  };
  if (!device_.memory_is_host()) {
    auto held = source_.hold(transfer.unit, transfer.tier, pace);
    if (!held || *held) {
      transfer.outcome = held ? SwapOutcome::published : outcome_of(held.error());
      if (held) transfer.held = *std::move(held);
      return;
    }
  }
  std::byte* const memory = transfer.staging ? transfer.staging : transfer.block;
  const auto status =
      source_.read(transfer.unit, transfer.tier, {memory, static_cast<std::size_t>(transfer.bytes)}, pace);
  transfer.outcome = status ? SwapOutcome::published : outcome_of(status.error());
}

void SwapPipeline::upload_loop(const std::stop_token& stop) {
  while (Transfer* transfer = read_.wait(stop)) {
    if (transfer->outcome == SwapOutcome::published) upload(*transfer, stop);
    transfer->held.reset();
    arrived_.push(transfer);
  }
}

void SwapPipeline::upload(Transfer& transfer, const std::stop_token& stop) {
  if (transfer.cancelled.load(std::memory_order_relaxed) || !limit_.wait(transfer.bytes, clock_, stop)) {
    transfer.outcome = SwapOutcome::cancelled;
    return;
  }
  if (!stream_ || !copied_) {
    transfer.outcome = SwapOutcome::io_error;
    return;
  }
  const std::byte* const host = transfer.held ? transfer.held.get() : transfer.staging;
  source_.upload({.unit = transfer.unit,
                  .tier = transfer.tier,
                  .from = host,
                  .block = transfer.block,
                  .bytes = transfer.bytes},
                 device_, *stream_);
  device_.record(*copied_, *stream_);
  copied_->wait_asleep();
  if (!stream_->failure().empty()) transfer.outcome = SwapOutcome::io_error;  // the next pass will say why
}

}  // namespace fovea::precision
