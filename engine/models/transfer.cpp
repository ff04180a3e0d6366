#include "engine/models/transfer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/core/device_words.h"
#include "engine/models/errors.h"
#include "kernels/cpu/thread_pool.h"

namespace fovea::models {
namespace {

constexpr std::int64_t chunk_bytes = 4 << 20;
constexpr std::int64_t page_bytes = 4096;
constexpr auto progress_interval = std::chrono::milliseconds(30);

// Some rows of one transfer.
struct Chunk {
  const Transfer* transfer;
  std::int64_t first;  // row of the matrix
  std::int64_t count;
  std::uint64_t position;  // in the file
};

// One thread's way to memory that the host cannot write.
class Upload {
 public:
  Upload(const kernels::Device& device, std::int64_t bytes)
      : device_(device),
        bytes_(bytes),
        memory_(device.allocate_host(bytes)),
        stream_(device.make_stream({.threads = 1, .background = true})) {}
  ~Upload() {
    if (memory_ != nullptr) device_.release_host(memory_, bytes_);
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  bool ready() const { return memory_ != nullptr && stream_ != nullptr; }
  std::byte* memory() const { return memory_; }
  // Why it failed; empty when the first bytes of memory() are at the target.
  kernels::Failure send(std::byte* target, std::int64_t bytes) {
    device_.copy(target, memory_, bytes, *stream_);
    stream_->synchronize();
    return stream_->failure();
  }

 private:
  const kernels::Device& device_;
  std::int64_t bytes_;
  std::byte* memory_;
  std::unique_ptr<kernels::Stream> stream_;
};

class Loader {
 public:
  Loader(const checkpoint::Checkpoint& checkpoint, const kernels::Device& device,
         std::vector<Transfer> transfers, const ProgressSink& progress, std::stop_token stop)
      : checkpoint_(checkpoint),
        device_(device),
        transfers_(std::move(transfers)),
        progress_(progress),
        stop_(std::move(stop)),
        remaining_(std::make_unique<std::atomic<std::int64_t>[]>(checkpoint.tensors().size())),
        read_in_place_(checkpoint.tensors().size()) {
    for (const Transfer& transfer : transfers_) cut(transfer);
    std::ranges::sort(chunks_, [](const Chunk& a, const Chunk& b) {
      const auto key = [](const Chunk& c) { return std::pair(c.transfer->source.tensor->file, c.position); };
      return key(a) < key(b);
    });
  }

  Result<void> run(int threads) {
    using kernels::cpu::ThreadPool;
    const auto count = std::min<std::int64_t>(threads, std::ssize(chunks_));
    ThreadPool pool(static_cast<int>(count), kernels::cpu::Waiting::sleeping, "loader");
    std::vector<Worker> workers(static_cast<std::size_t>(pool.threads()));
    pool.for_chunks(std::ssize(chunks_), 1, [&](std::int64_t chunk, std::int64_t, int thread) {
      if (!stop_.stop_requested() && !failed_)
        work(chunks_[static_cast<std::size_t>(chunk)], workers[static_cast<std::size_t>(thread)],
             thread == 0);
    });
    if (error_) return std::unexpected(*std::move(error_));
    if (stop_.stop_requested()) return fail(phrases::loading_place(), errors::loading_cancelled());
    report({}, true);
    return {};
  }

 private:
  std::size_t index(const checkpoint::TensorInfo& tensor) const {
    return static_cast<std::size_t>(&tensor - checkpoint_.tensors().data());
  }

  void cut(const Transfer& transfer) {
    const MatrixSource& source = transfer.source;
    const std::int64_t row = kernels::row_bytes(source.tensor->type, source.columns);
    const std::int64_t unit =
        transfer.packing == kernels::Packing::rows ? 1 : device_.pack_granularity(transfer.packing);
    const std::int64_t rows = std::max(unit, chunk_bytes / row / unit * unit);
    for (std::int64_t first = 0; first < source.rows; first += rows) {
      const std::uint64_t offset = static_cast<std::uint64_t>(source.offset() + first * row);
      chunks_.push_back(
          {&transfer, first, std::min(rows, source.rows - first), source.tensor->offset + offset});
      ++remaining_[index(*source.tensor)];
    }
    largest_ = std::max(largest_, packed_bytes(transfer, std::min(rows, source.rows)));
    if (transfer.target == nullptr) read_in_place_[index(*source.tensor)] = true;
    total_ += source.bytes();
  }

  std::int64_t packed_bytes(const Transfer& transfer, std::int64_t rows) const {
    return device_.packed_bytes(transfer.packing, transfer.source.tensor->type, rows,
                                transfer.source.columns);
  }

  void give_up(Error error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
  }

  // What one thread needs.
  struct Worker {
    std::vector<std::byte> converted;
    std::optional<Upload> upload;  // where the host cannot write the device's memory
  };

  void work(const Chunk& chunk, Worker& worker, bool reports) {
    if (device_.memory_is_host()) {
      move(chunk, worker.converted);
    } else {
      if (!worker.upload) worker.upload.emplace(device_, largest_);
      if (!worker.upload->ready())
        return give_up(errors::no_memory_to_upload(Bytes{largest_}).at(phrases::name_place(device_.name())));
      if (const kernels::Failure failure = send(chunk, worker.converted, *worker.upload); !failure.empty())
        return give_up(device_failed(device_.name(), failure).error());
    }
    const checkpoint::TensorInfo& tensor = *chunk.transfer->source.tensor;
    done_ += chunk.count * kernels::row_bytes(tensor.type, chunk.transfer->source.columns);
    if (--remaining_[index(tensor)] == 0 && !read_in_place_[index(tensor)]) checkpoint_.drop(tensor);
    if (reports) report(tensor.name, false);
  }

  // `converted` keeps rows that the file holds in another form.
  void move(const Chunk& chunk, std::vector<std::byte>& converted) const {
    const auto& [source, packing, target] = *chunk.transfer;
    const kernels::Type type = source.tensor->type;
    const std::int64_t row = kernels::row_bytes(type, source.columns);
    const std::int64_t first = source.first_row + chunk.first;  // of the tensor
    if (packing == kernels::Packing::rows && target != nullptr) {
      checkpoint_.read_rows(*source.tensor, source.columns, first, chunk.count, target + chunk.first * row);
      return;
    }
    const std::byte* rows =
        checkpoint_.rows(*source.tensor, source.columns, first, chunk.count, converted).data();
    if (target == nullptr) {
      for (std::int64_t at = 0; at < chunk.count * row; at += page_bytes) {
        static_cast<void>(*const_cast<const volatile std::byte*>(rows + at));
      }
    } else {
      device_.pack(packing, type, source.rows, source.columns, rows, chunk.first, chunk.count, target);
    }
  }

  // Packs a chunk as if it were alone, in pinned memory, and waits for its copy; why that failed.
  kernels::Failure send(const Chunk& chunk, std::vector<std::byte>& converted, Upload& upload) const {
    const Transfer& transfer = *chunk.transfer;
    const MatrixSource& source = transfer.source;
    const auto rows = checkpoint_.rows(*source.tensor, source.columns, source.first_row + chunk.first,
                                       chunk.count, converted);
    device_.pack(transfer.packing, source.tensor->type, chunk.count, source.columns, rows.data(), 0,
                 chunk.count, upload.memory());
    return upload.send(transfer.target + packed_bytes(transfer, chunk.first),
                       packed_bytes(transfer, chunk.count));
  }

  // On the calling thread only.
  void report(const std::string& item, bool last) {
    const auto now = std::chrono::steady_clock::now();
    if (!progress_ || (!last && now - reported_ < progress_interval)) return;
    reported_ = now;
    progress_({Progress::Stage::loading, last ? total_ : done_.load(), total_, Progress::Unit::bytes, item});
  }

  const checkpoint::Checkpoint& checkpoint_;
  const kernels::Device& device_;
  const std::vector<Transfer> transfers_;
  const ProgressSink& progress_;
  const std::stop_token stop_;
  std::vector<Chunk> chunks_;
  std::int64_t total_ = 0;
  std::int64_t largest_ = 0;  // packed chunk
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;  // by mutex_ until the threads have ended
  std::atomic<std::int64_t> done_ = 0;
  std::unique_ptr<std::atomic<std::int64_t>[]> remaining_;  // [tensors], chunks
  std::vector<bool> read_in_place_;                         // [tensors]
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace

Result<void> run_transfers(const checkpoint::Checkpoint& checkpoint, const kernels::Device& device,
                           std::vector<Transfer> transfers, int threads, const ProgressSink& progress,
                           std::stop_token stop) {
  return Loader(checkpoint, device, std::move(transfers), progress, std::move(stop))
      .run(std::max(threads, 1));
}

}  // namespace fovea::models
