// The memory of a device: its own, at addresses where the host finds nothing, and what it reaches of the
// host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "program.h"

namespace fovea::tests::ptx {

// All devices' own memory lies in one range of addresses, which nobody may touch; what it holds lies behind
// that, as far from it as the range is long. A host's touch of it ends the program, with a line that explains
// it.
constexpr Slot device_range_bytes = Slot{1} << 42;
inline Slot device_range = Slot{1} << 62;  // where it begins, once there is any

inline bool is_devices(Slot address) {
  return address - device_range < device_range_bytes;
}
inline std::byte* contents(Slot address) {
  return reinterpret_cast<std::byte*>(is_devices(address) ? address + device_range_bytes : address);
}

class Memory {
 public:
  // `beside`: what this device reaches of the host's, as others do; it must stay. Null: nothing.
  explicit Memory(const Memory* beside = nullptr);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The device's own: aligned to 4096 and filled with ones, which are no numbers; null when there is no more.
  void* allocate(std::size_t bytes);
  // The host's. Copies may name what kernels do not reach.
  void add(const void* memory, std::int64_t bytes, bool for_kernels = true);
  // What was allocated or added; how many bytes that was, 0: it was neither.
  std::size_t remove(const void* memory);

  // Whether kernels reach all these bytes.
  bool holds(Slot address, std::int64_t bytes) const {
    return (address >= last_.first && address + static_cast<Slot>(bytes) <= last_.second) ||
           looks_for(address, bytes) || (beside_ && beside_->holds(address, bytes));
  }
  // Of the piece that has all of them, in the order in which all were made; 0: none has.
  std::uint64_t number(Slot address, std::size_t bytes = 1) const;
  // "byte 4 of 256 bytes"
  std::string describe(Slot address) const;
  std::size_t pieces() const { return pieces_.size(); }

 private:
  struct Piece {
    std::size_t bytes = 0;
    std::uint64_t number = 0;
    bool for_kernels = true;
  };
  using Pieces = std::map<Slot, Piece>;

  bool looks_for(Slot address, std::int64_t bytes) const;
  Pieces::const_iterator piece_of(Slot address, std::size_t bytes) const;

  const Memory* const beside_;
  Pieces pieces_;
  mutable std::pair<Slot, Slot> last_ = {1, 0};  // where the last address was found
};

}  // namespace fovea::tests::ptx
