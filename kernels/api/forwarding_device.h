// A device that hands everything on to another one: who measures, watches or plants something overrides that.
#pragma once

#include <memory>
#include <string>

#include "kernels/api/host_device.h"

namespace fovea::kernels {

template <class Base>
class Forwarding : public Base {
 public:
  explicit Forwarding(const Device& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  std::string instruction_set() const override { return inner_.instruction_set(); }
  const OperationTable& operations() const override { return inner_.operations(); }
  std::unique_ptr<Stream> make_stream(const StreamOptions& options) const override {
    return inner_.make_stream(options);
  }
  Packing preferred_packing(Type type, std::int64_t rows, std::int64_t columns) const override {
    return inner_.preferred_packing(type, rows, columns);
  }
  std::int64_t packed_bytes(Packing packing, Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    return inner_.packed_bytes(packing, type, rows, columns);
  }
  void pack(Packing packing, Type type, std::int64_t rows, std::int64_t columns, const std::byte* source,
            std::int64_t first, std::int64_t count, std::byte* packed) const override {
    inner_.pack(packing, type, rows, columns, source, first, count, packed);
  }
  std::int64_t pack_granularity(Packing packing) const override { return inner_.pack_granularity(packing); }
  std::byte* allocate(std::int64_t bytes) const override { return inner_.allocate(bytes); }
  void release(std::byte* memory, std::int64_t bytes) const override { inner_.release(memory, bytes); }

 protected:
  const Device& inner_;
};

// Its memory is the host's, like the other's.
using ForwardingDevice = Forwarding<HostDevice>;

}  // namespace fovea::kernels
