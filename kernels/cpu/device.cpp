#include "kernels/cpu/device.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernels/api/host_device.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/pack.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/tiles.h"

namespace fovea::kernels::cpu {
namespace {

class CpuDevice final : public HostDevice {
 public:
  CpuDevice(std::string_view name, const Kernels& kernels) : name_(name), kernels_(kernels) {}

  std::string name() const override { return "cpu"; }
  std::string instruction_set() const override { return std::string(name_); }
  const OperationTable& operations() const override { return kernels_.operations; }

  std::unique_ptr<Stream> make_stream(const StreamOptions& options) const override {
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return std::make_unique<CpuStream>(options.threads > 0 ? options.threads : cores, kernels_);
  }

  // A matrix of a few rows would mostly be padding.
  Packing preferred_packing(Type, std::int64_t rows, std::int64_t) const override {
    return rows >= tile_rows ? Packing::tiles : Packing::rows;
  }
  std::int64_t packed_bytes(Packing packing, Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    return (packing == Packing::tiles ? tile_count(rows) * tile_rows : rows) * row_bytes(type, columns);
  }
  void pack(Packing packing, Type type, [[maybe_unused]] std::int64_t rows, std::int64_t columns,
            const std::byte* source, std::int64_t first, std::int64_t count,
            std::byte* packed) const override {
    const std::int64_t bytes = row_bytes(type, columns);
    if (packing == Packing::rows) {
      std::memcpy(packed + first * bytes, source, static_cast<std::size_t>(count * bytes));
      return;
    }
    assert(first % tile_rows == 0 && first + count <= rows);
    for (std::int64_t row = 0; row < count; row += tile_rows) {
      pack_tile(type, columns, source + row * bytes, bytes,
                static_cast<int>(std::min<std::int64_t>(tile_rows, count - row)),
                packed + (first + row) * bytes);
    }
  }
  std::int64_t pack_granularity(Packing packing) const override {
    return packing == Packing::tiles ? tile_rows : 1;
  }

  std::byte* allocate(std::int64_t bytes) const override { return allocate_pages(bytes); }
  void release(std::byte* memory, std::int64_t bytes) const override { release_pages(memory, bytes); }

 private:
  std::string_view name_;
  const Kernels& kernels_;
};

struct Choice {
  std::string_view name;
  bool (*can_run)();
  const Kernels* kernels;
};

constexpr Choice choices[] = {
    {"scalar", [] { return true; }, &scalar::kernels},
#if defined(FOVEA_CPU_X86)
    {"avx2",
     [] {
       return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("f16c");
     },
     &avx2::kernels},
    {"avx512",
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
     },
     &avx512::kernels},
    {"avx512-vnni", [] { return __builtin_cpu_supports("avx512vnni") != 0; }, &avx512_vnni::kernels},
    {"avx512-bf16", [] { return __builtin_cpu_supports("avx512bf16") != 0; }, &avx512_bf16::kernels},
#endif
};

// The devices that can run here, slowest first. A set without its predecessor cannot run either.
struct Devices {
  std::array<std::unique_ptr<CpuDevice>, std::size(choices)> devices;
  std::array<std::string_view, std::size(choices)> names;
  std::size_t count = 0;

  Devices() {
    for (const Choice& choice : choices) {
      if (!choice.can_run()) break;
      names[count] = choice.name;
      devices[count++] = std::make_unique<CpuDevice>(choice.name, *choice.kernels);
    }
  }
};

const Devices& devices() {
  static const Devices all;
  return all;
}

}  // namespace

std::span<const std::string_view> available_instruction_sets() {
  return {devices().names.data(), devices().count};
}

const Device* device(std::string_view instruction_set) {
  const Devices& all = devices();
  for (std::size_t i = 0; i < all.count; ++i) {
    if (all.names[i] == instruction_set) return all.devices[i].get();
  }
  return nullptr;
}

const Device* default_device() {
  if (const char* forced = std::getenv("FOVEA_CPU"); forced && *forced) return device(forced);
  return devices().devices[devices().count - 1].get();
}

}  // namespace fovea::kernels::cpu
