// A device: its operations, streams, memory and weight packings.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/api/operations.h"

namespace fovea::kernels {

struct StreamOptions {
  int threads = 0;  // CPU: worker threads including the caller's; 0 = the physical cores
};

// A mark in a stream's order. Recorded again, it marks the later place.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() const = 0;  // everything before the mark has ended; true while it was never recorded
  virtual void wait() const = 0;  // until done
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;             // "cpu", "reference", "cuda:0"
  virtual std::string instruction_set() const = 0;  // "scalar", "avx2", "avx512-vnni" …
  virtual const OperationTable& operations() const = 0;
  virtual std::unique_ptr<Stream> make_stream(const StreamOptions&) const = 0;

  // The packing in which this device reads a [rows, columns] matrix of `type` fastest.
  virtual Packing preferred_packing(Type type, std::int64_t rows, std::int64_t columns) const = 0;
  // Bytes of the packed matrix; Packing::rows gives rows · row_bytes.
  virtual std::int64_t packed_bytes(Packing, Type, std::int64_t rows, std::int64_t columns) const = 0;
  // Packs file-order rows [first, first + count) of a matrix of `rows` rows, which `source` points at, into
  // `packed` (the start of the whole packed matrix). `first` is a multiple of pack_granularity; so is count,
  // unless it ends the matrix. Safe to call from several threads for disjoint ranges.
  virtual void pack(Packing, Type, std::int64_t rows, std::int64_t columns, const std::byte* source,
                    std::int64_t first, std::int64_t count, std::byte* packed) const = 0;
  virtual std::int64_t pack_granularity(Packing) const = 0;  // in rows

  // Memory aligned to 4,096 bytes, zeroed, huge pages where it pays. Null when there is not enough.
  virtual std::byte* allocate(std::int64_t bytes) const = 0;
  virtual void release(std::byte* memory, std::int64_t bytes) const = 0;

  // --- transfers, beside the operations: what moves weights while a pass runs ---

  // Whether this device's memory is the host's own: a thread may then write it without a copy.
  virtual bool memory_is_host() const = 0;
  // Host memory aligned to 4,096 bytes from which copy() reads directly (pinned, where that is a thing). Null
  // when there is not enough.
  virtual std::byte* allocate_host(std::int64_t bytes) const = 0;
  virtual void release_host(std::byte* memory, std::int64_t bytes) const = 0;
  // Copies host memory to device memory in the stream's order and may return before it is done: `host` must
  // stay as it is until an event recorded behind the copy is done.
  virtual void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream&) const = 0;
  virtual std::unique_ptr<Event> make_event() const = 0;
  virtual void record(Event&, Stream&) const = 0;
};

}  // namespace fovea::kernels
