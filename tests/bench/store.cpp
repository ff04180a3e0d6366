// bench_store STORE [MB]: megabytes of extents read in a second in random order, with an empty page cache
// (and a full one), by pread, mmap and O_DIRECT, on one, two and four threads; and the processor's time for a
// gigabyte. Checksums are compared as the engine does. MB bounds what each measurement reads (default: 400).
#include "engine/checkpoint/store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "engine/checkpoint/checksum.h"
#include "kernels/cpu/thread_pool.h"

namespace {

using fovea::checkpoint::Extent;
using fovea::checkpoint::ReadMode;
using fovea::checkpoint::Store;

struct Task {
  std::int64_t unit, tier;
};

class Mapping {
 public:
  explicit Mapping(const Store& store) : bytes_(static_cast<std::size_t>(store.file_bytes())) {
    const int fd = ::open(store.path().c_str(), O_RDONLY | O_CLOEXEC);
    address_ = static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0));
    ::close(fd);
  }
  ~Mapping() { ::munmap(address_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool read(const Extent& extent, std::byte* memory) const {
    const auto size = static_cast<std::size_t>(extent.bytes);
    ::madvise(address_ + extent.offset, size, MADV_WILLNEED);
    std::memcpy(memory, address_ + extent.offset, size);
    return fovea::checkpoint::checksum64({memory, size}) == extent.checksum;
  }

 private:
  std::size_t bytes_;
  std::byte* address_;
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void empty_cache(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

void measure(const char* name, const Store& store, const Mapping* mapping, const std::vector<Task>& tasks,
             int threads, bool cold) {
  if (cold) empty_cache(store.path());
  std::atomic<std::int64_t> bytes = 0;
  const double processor = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  {
    using Memory = std::unique_ptr<std::byte, void (*)(void*)>;
    struct Worker {
      Memory memory{nullptr, std::free};
      std::int64_t room = 0;
    };
    std::vector<Worker> workers(static_cast<std::size_t>(threads));
    using fovea::kernels::cpu::Waiting;
    fovea::kernels::cpu::ThreadPool pool(threads, Waiting::sleeping, "reader");
    pool.for_chunks(std::ssize(tasks), 1, [&](std::int64_t task, std::int64_t, int thread) {
      auto& [memory, room] = workers[static_cast<std::size_t>(thread)];
      const auto [unit, tier] = tasks[static_cast<std::size_t>(task)];
      const Extent& extent = store.extent(unit, tier);
      if (room < extent.bytes) {
        room = extent.bytes;
        memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(room))));
      }
      const bool good =
          mapping
              ? mapping->read(extent, memory.get())
              : store.read(unit, tier, {memory.get(), static_cast<std::size_t>(extent.bytes)}).has_value();
      if (!good) std::fputs("an extent could not be read\n", stderr);
      bytes += extent.bytes;
    });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double gb = static_cast<double>(bytes.load()) / 1e9;
  std::printf("%-10s %-5s %d threads  %7.0f MB/s  %5.2f s of processor for a GB\n", name,
              cold ? "cold" : "warm", threads, gb * 1e3 / seconds, (processor_seconds() - processor) / gb);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_store STORE [MB]\n", stderr);
    return 2;
  }
  const auto buffered = Store::open(argv[1]);
  const auto direct = Store::open(argv[1], ReadMode::direct);
  if (!buffered || !direct) {
    std::fprintf(stderr, "%s\n", (buffered ? direct : buffered).error().message().c_str());
    return 1;
  }
  if (direct->mode() != ReadMode::direct) std::puts("this file system has no O_DIRECT: direct is buffered");
  const auto limit = static_cast<std::int64_t>(1e6 * (argc > 2 ? std::atof(argv[2]) : 400));
  std::vector<Task> tasks;
  for (std::int64_t unit = 0; unit < buffered->identity().units; ++unit) {
    for (std::int64_t tier = 0; tier < std::ssize(buffered->identity().tiers); ++tier)
      tasks.push_back({unit, tier});
  }
  std::ranges::shuffle(tasks, std::mt19937(1));
  std::int64_t total = 0;
  std::size_t count = 0;
  while (count < tasks.size() && total < limit) {
    total += buffered->extent(tasks[count].unit, tasks[count].tier).bytes;
    ++count;
  }
  tasks.resize(count);
  std::printf("%zu extents, %.2f MB each\n", count,
              static_cast<double>(total) / 1e6 / static_cast<double>(count));
  for (const int threads : {1, 2, 4}) {
    measure("pread", *buffered, nullptr, tasks, threads, true);
    {
      const Mapping mapping(*buffered);
      measure("mmap", *buffered, &mapping, tasks, threads, true);
    }
    measure("O_DIRECT", *direct, nullptr, tasks, threads, true);
  }
  measure("pread", *buffered, nullptr, tasks, 1, true);  // fills the cache
  measure("pread", *buffered, nullptr, tasks, 1, false);
  const Mapping mapping(*buffered);
  measure("mmap", *buffered, &mapping, tasks, 1, false);
  measure("O_DIRECT", *direct, nullptr, tasks, 1, false);
  return 0;
}
