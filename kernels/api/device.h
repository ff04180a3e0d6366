// A device: its operations, streams, memory and weight packings.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/api/operations.h"

namespace fovea::kernels {

struct StreamOptions {
  int threads = 0;               // CPU: worker threads including the caller's; 0 = the physical cores
  bool background = false;       // GPU: gives way to the other streams' work; for copies beside the passes
  bool multiplies_bf16 = false;  // GPU: matrices of BF16, for which a library is loaded where there is one
};

// What a device says of itself. The host's own memory is the system's to tell: zeros.
struct DeviceFacts {
  std::string description;  // "NVIDIA GeForce RTX 5090"
  std::int64_t memory_bytes = 0;
  std::int64_t memory_free_bytes = 0;  // now, without what other programs use
  double bandwidth_gb_per_s = 0;       // of the memory, by its clock and width; 0: not known
};

// What a device reaches at most, measured. Zeros: not known, or there was no memory to find out.
struct DeviceCeiling {
  double read_gb_per_s = 0;   // out of its memory
  double byte_gop_per_s = 0;  // products of bytes, which quantised prefill uses; a multiply-add is two
  double half_gop_per_s = 0;  // of float16
  // GPU: of a kernel in a captured graph that does nothing, one after the other; and where each may begin
  // before the one before it has ended (programmatic dependent launch).
  double node_us = 0;
  double overlapping_node_us = 0;
};

// What multiplies matrices of BF16: a library, or, with an obstacle, the device's own kernels. Neither: the
// device has no such choice.
struct Bf16Products {
  std::string library = {};  // with its file: "cuBLAS 13.1.0, /usr/lib/libcublas.so.13"
  Obstacle obstacle = {};    // why it is none

  bool empty() const { return library.empty() && obstacle.empty(); }
};

// A mark in a stream's order. Recorded again, it marks the later point.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool done() const = 0;  // everything before the mark has ended; true while it was never recorded
  virtual void wait() const = 0;  // until done
  // Likewise, and the core is others' meanwhile; learns of the end up to a millisecond late.
  virtual void wait_asleep() const { wait(); }
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;             // "cpu", "reference", "cuda:0"
  virtual std::string instruction_set() const = 0;  // "scalar", "avx2", "avx512-vnni" …
  virtual DeviceFacts facts() const = 0;
  virtual const OperationTable& operations() const = 0;
  // GPU: what multiplies matrices of BF16 with many tokens. Loads it.
  virtual Bf16Products bf16_products() const { return {}; }
  virtual std::unique_ptr<Stream> make_stream(const StreamOptions&) const = 0;  // null: no memory, or failed
  // Takes some memory meanwhile, and less than a second. The stream must be idle.
  virtual DeviceCeiling measure_ceiling(Stream&) const { return {}; }

  // GPU: its first error, after which it does nothing more; empty: none.
  virtual Failure failure() const { return {}; }
  // GPU: what FOVEA_CUDA_OFF names, "pdl, graph"; empty: nothing.
  virtual std::string switched_off() const { return {}; }

  // The packing in which this device reads a [rows, columns] matrix of `type` fastest.
  virtual Packing preferred_packing(Type type, std::int64_t rows, std::int64_t columns) const = 0;
  // Bytes of the packed matrix; Packing::rows gives rows · row_bytes.
  virtual std::int64_t packed_bytes(Packing, Type, std::int64_t rows, std::int64_t columns) const = 0;
  // Packs file-order rows [first, first + count) of a matrix of `rows` rows, which `source` points at, into
  // `packed` (the start of the whole packed matrix). `first` is a multiple of pack_granularity; so is count,
  // unless it ends the matrix. Safe to call from several threads for disjoint ranges. Both are host memory.
  // Packed rows lie in their order: those from `first` on begin at the packed bytes of `first` rows, and look
  // as they would alone.
  virtual void pack(Packing, Type, std::int64_t rows, std::int64_t columns, const std::byte* source,
                    std::int64_t first, std::int64_t count, std::byte* packed) const = 0;
  virtual std::int64_t pack_granularity(Packing) const = 0;  // in rows

  // Memory aligned to 4,096 bytes, with any content, in huge pages where it pays. Null when there is not
  // enough. Whoever releases it has synchronised with what may use it.
  virtual std::byte* allocate(std::int64_t bytes) const = 0;
  virtual void release(std::byte* memory, std::int64_t bytes) const = 0;

  // --- transfers, beside the operations ---

  // Whether this device's memory is the host's own: a thread may then read and write it without a copy.
  virtual bool memory_is_host() const = 0;
  // Host memory aligned to 4,096 bytes with which copy() and read_back() work directly (pinned, where that is
  // a thing). Null when there is not enough.
  virtual std::byte* allocate_host(std::int64_t bytes) const = 0;
  virtual void release_host(std::byte* memory, std::int64_t bytes) const = 0;
  // Pins host memory that was allocated elsewhere, aligned to 4,096 bytes, so that copies work with it
  // likewise, until unpin(). False: it cannot be.
  virtual bool pin(std::byte* memory, std::int64_t bytes) const = 0;
  virtual void unpin(std::byte* memory) const = 0;
  // Copies host memory to device memory in the stream's order and may return before it is done: `host` must
  // stay as it is until an event recorded behind the copy is done.
  virtual void copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream&) const = 0;
  // Copies device memory to host memory likewise: `host` may be read when an event behind the copy is done.
  virtual void read_back(std::byte* host, const std::byte* source, std::int64_t bytes, Stream&) const = 0;
  // Copies `count` pieces of `bytes` within the device's memory, `stride` bytes from each to the next.
  virtual void copy_within(std::byte* target, const std::byte* source, std::int64_t bytes,
                           std::int64_t stride, std::int64_t count, Stream&) const = 0;
  virtual std::unique_ptr<Event> make_event() const = 0;  // null: it has failed
  virtual void record(Event&, Stream&) const = 0;
};

}  // namespace fovea::kernels
