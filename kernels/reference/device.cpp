#include "kernels/reference/device.h"

#include <cassert>
#include <cstring>
#include <new>

#include "kernels/api/host_device.h"
#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {
namespace {

constexpr std::align_val_t alignment{4096};

class ReferenceStream final : public Stream {
 public:
  void synchronize() override {}
};

class ReferenceDevice final : public HostDevice {
 public:
  std::string name() const override { return "reference"; }
  std::string instruction_set() const override { return "double"; }

  const OperationTable& operations() const override {
    static constexpr OperationTable table = {
        .embed_rows = reference::embed_rows,
        .rms_norm = reference::rms_norm,
        .linear = reference::linear,
        .attention_inputs = reference::attention_inputs,
        .attention = reference::attention,
        .gating = reference::gating,
        .short_convolution = reference::short_convolution,
        .gated_delta = reference::gated_delta,
        .router = reference::router,
        .feed_forward = reference::feed_forward,
        .add = reference::add,
        .soft_cap = reference::soft_cap,
        .top_k = reference::top_k,
    };
    return table;
  }

  std::unique_ptr<Stream> make_stream(const StreamOptions&) const override {
    return std::make_unique<ReferenceStream>();
  }

  Packing preferred_packing(Type, std::int64_t, std::int64_t) const override { return Packing::rows; }

  std::int64_t packed_bytes([[maybe_unused]] Packing packing, Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    assert(packing == Packing::rows);
    return rows * row_bytes(type, columns);
  }

  void pack([[maybe_unused]] Packing packing, Type type, [[maybe_unused]] std::int64_t rows,
            std::int64_t columns, const std::byte* source, std::int64_t first, std::int64_t count,
            std::byte* packed) const override {
    assert(packing == Packing::rows && first >= 0 && first + count <= rows);
    const std::int64_t bytes = row_bytes(type, columns);
    std::memcpy(packed + first * bytes, source, static_cast<std::size_t>(count * bytes));
  }

  std::int64_t pack_granularity(Packing) const override { return 1; }

  std::byte* allocate(std::int64_t bytes) const override {
    assert(bytes >= 0);
    const auto size = static_cast<std::size_t>(bytes);
    void* const memory = ::operator new(size, alignment, std::nothrow);
    if (memory) std::memset(memory, 0, size);
    return static_cast<std::byte*>(memory);
  }

  void release(std::byte* memory, std::int64_t) const override { ::operator delete(memory, alignment); }
};

}  // namespace

const Device& device() {
  static const ReferenceDevice device;
  return device;
}

}  // namespace fovea::kernels::reference
