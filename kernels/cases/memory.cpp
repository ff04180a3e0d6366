#include "kernels/cases/memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "kernels/formats/formats.h"

namespace fovea::kernels::cases {

template <>
void Memory::convert<float>(const std::byte* data, std::int64_t bytes, std::vector<float>& out) {
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(bytes) / sizeof(float));
  std::memcpy(out.data() + before, data, static_cast<std::size_t>(bytes));
}

template <>
void Memory::convert<std::int32_t>(const std::byte* data, std::int64_t bytes, std::vector<float>& out) {
  for (std::int64_t i = 0; i < bytes; i += 4) {
    std::int32_t value;
    std::memcpy(&value, data + i, 4);
    out.push_back(value == -1 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value));
  }
}

Memory::Memory(const Device& device, bool preferred_packing)
    : device_(device), preferred_packing_(preferred_packing) {
  if (!device.memory_is_host()) stream_ = device.make_stream({});
}

Memory::~Memory() {
  if (stream_) stream_->synchronize();
  for (const Block& block : blocks_) device_.release(block.memory, block.memory_bytes);
}

std::byte* Memory::add(Role role, std::vector<std::byte> content, std::int64_t offset, Convert convert) {
  const auto bytes = static_cast<std::int64_t>(content.size());
  const std::int64_t total = guard_bytes + offset + bytes + guard_bytes;
  std::byte* memory = device_.allocate(total);
  if (!memory) throw std::bad_alloc();
  blocks_.push_back({role, memory, total, guard_bytes + offset, std::move(content), std::move(convert)});
  fill(blocks_.back());
  return memory + guard_bytes + offset;
}

void Memory::fill(const Block& block) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.memory_bytes), std::byte{poison_byte});
  std::copy(block.content.begin(), block.content.end(), bytes.begin() + block.offset);
  if (!stream_) {
    std::copy(bytes.begin(), bytes.end(), block.memory);
    return;
  }
  device_.copy(block.memory, bytes.data(), block.memory_bytes, *stream_);
  stream_->synchronize();
}

std::vector<std::byte> Memory::bytes_in(const Block& block) const {
  if (!stream_) return {block.memory, block.memory + block.memory_bytes};
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.memory_bytes));
  device_.read_back(bytes.data(), block.memory, block.memory_bytes, *stream_);
  stream_->synchronize();
  return bytes;
}

std::byte* Memory::page(Type type, std::int64_t elements, const std::vector<std::byte>* content) {
  const std::vector<std::byte> poison(static_cast<std::size_t>(row_bytes(type, elements)),
                                      std::byte{poison_byte});
  const Convert dequantize = [type, elements](const std::byte* data, std::int64_t, std::vector<float>& out) {
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(elements));
    formats::dequantize(type, data, elements, out.data() + before);
  };
  // Pages come from the device's allocator: aligned.
  return content ? add(Role::input, *content, 0, nullptr) : add(Role::output, poison, 0, dequantize);
}

Weight Memory::weight_in_rows(const HostWeight& host) {
  return {add(Role::input, host.bytes, 0, nullptr), host.type, Packing::rows, host.rows, host.columns};
}

Weight Memory::weight(const HostWeight& host) {
  const Packing packing = device_.preferred_packing(host.type, host.rows, host.columns);
  if (!preferred_packing_ || packing == Packing::rows) return weight_in_rows(host);
  const std::int64_t bytes = device_.packed_bytes(packing, host.type, host.rows, host.columns);
  std::vector<std::byte> packed(static_cast<std::size_t>(bytes), std::byte{poison_byte});
  // In several pieces, as a loader does it.
  const std::int64_t step = device_.pack_granularity(packing) * 3;
  for (std::int64_t first = 0; first < host.rows; first += step) {
    device_.pack(packing, host.type, host.rows, host.columns,
                 host.bytes.data() + first * row_bytes(host.type, host.columns), first,
                 std::min(step, host.rows - first), packed.data());
  }
  return {add(Role::input, std::move(packed), 0, nullptr), host.type, packing, host.rows, host.columns};
}

void Memory::reset() {
  for (const Block& block : blocks_) fill(block);
}

std::vector<float> Memory::outputs() const {
  std::vector<float> result;
  for (const Block& block : blocks_) {
    if (block.role == Role::input || block.role == Role::used_up) continue;
    const std::vector<std::byte> bytes = bytes_in(block);
    block.convert(bytes.data() + block.offset, static_cast<std::int64_t>(block.content.size()), result);
  }
  return result;
}

std::string Memory::damage() const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const auto end = block.offset + static_cast<std::int64_t>(block.content.size());
    const std::vector<std::byte> bytes = bytes_in(block);
    for (std::int64_t at = 0; at < block.memory_bytes; ++at) {
      const bool inside = at >= block.offset && at < end;
      if (inside && block.role != Role::input) continue;
      const std::byte expected =
          inside ? block.content[static_cast<std::size_t>(at - block.offset)] : std::byte{poison_byte};
      if (bytes[static_cast<std::size_t>(at)] == expected) continue;
      return "array " + std::to_string(i) +
             (inside ? " is an input and changed at byte " : " is overrun at byte ") +
             std::to_string(at - block.offset);
    }
  }
  return {};
}

}  // namespace fovea::kernels::cases
