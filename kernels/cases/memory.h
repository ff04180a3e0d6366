// The memory of one case on one device: every array stands between guards and off the vector alignment, what
// is not input is poisoned before each run, and inputs must be unchanged after it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/api/device.h"

namespace fovea::kernels::cases {

// A weight matrix in the file's order.
struct HostWeight {
  Type type = Type::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::byte> bytes;
  std::vector<float> values;  // dequantised, [rows, columns]
};

// Poison is bytes of ones: NaN in every float type, −1 as an integer, NaN as the scale of a block.
constexpr unsigned char poison_byte = 0xFF;

class Memory {
 public:
  // preferred_packing: weights go through Device::pack; otherwise they keep the file's order.
  Memory(const Device& device, bool preferred_packing);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const Device& device() const { return device_; }

  template <typename T>
  const T* input(const std::vector<T>& values) {
    return reinterpret_cast<const T*>(add(Role::input, bytes_of(values), element_offset, convert<T>));
  }
  template <typename T>
  T* in_out(const std::vector<T>& values) {
    return reinterpret_cast<T*>(add(Role::in_out, bytes_of(values), element_offset, convert<T>));
  }
  // Values that the operation may leave in any state.
  template <typename T>
  T* used_up(const std::vector<T>& values) {
    return reinterpret_cast<T*>(add(Role::used_up, bytes_of(values), element_offset, nullptr));
  }
  // Likewise, aligned and without any.
  std::byte* room(std::int64_t bytes) {
    return add(Role::used_up, std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte{poison_byte}),
               0, nullptr);
  }
  template <typename T>
  T* output(std::int64_t count) {
    const std::vector<std::byte> poison(static_cast<std::size_t>(count) * sizeof(T), std::byte{poison_byte});
    return reinterpret_cast<T*>(add(Role::output, poison, element_offset, convert<T>));
  }
  // Values that stand at an address that their size divides: lists of pages, handles.
  template <typename T>
  const T* table(const std::vector<T>& values) {
    return reinterpret_cast<const T*>(add(Role::input, bytes_of(values), 0, nullptr));
  }
  // A page of a KV cache, compared by its dequantised values. A null `content` is poison and an output.
  std::byte* page(Type type, std::int64_t elements, const std::vector<std::byte>* content);
  Weight weight(const HostWeight&);
  Weight weight_in_rows(const HostWeight&);

  void reset();                        // before a run
  std::vector<float> outputs() const;  // every output and in-out array, in the order of their making
  std::string damage() const;          // what was written outside the outputs; empty: nothing

 private:
  enum class Role : std::uint8_t { input, used_up, in_out, output };
  using Convert = std::function<void(const std::byte*, std::int64_t bytes, std::vector<float>&)>;
  struct Block {
    Role role;
    std::byte* memory;
    std::int64_t memory_bytes;
    std::int64_t offset;
    std::vector<std::byte> content;
    Convert convert;
  };

  static constexpr std::int64_t guard_bytes = 256;
  static constexpr std::int64_t element_offset = 4;  // arrays of elements are aligned to no more than that

  template <typename T>
  static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(T)};
  }
  template <typename T>
  static void convert(const std::byte* data, std::int64_t bytes, std::vector<float>& out);

  std::byte* add(Role, std::vector<std::byte> content, std::int64_t offset, Convert);
  void fill(const Block&);
  std::vector<std::byte> bytes_in(const Block&) const;

  const Device& device_;
  bool preferred_packing_;
  std::unique_ptr<Stream> stream_;  // for copies to and from memory that is not the host's
  std::vector<Block> blocks_;
};

}  // namespace fovea::kernels::cases
