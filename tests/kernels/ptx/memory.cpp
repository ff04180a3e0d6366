#include "memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace fovea::tests::ptx {
namespace {

constexpr std::size_t page_bytes = 4096;

std::atomic<std::uint64_t> made = 0;
std::atomic<Slot> given = 0;                          // of the range: no address comes twice
std::array<std::atomic<const Memory*>, 64> memories;  // those that there are, for explanations

struct sigaction before = {};

void explain(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<Slot>(info->si_addr);
  if (address - device_range < 2 * device_range_bytes) {
    std::string where = "memory that no device has any more";
    for (const auto& memory : memories) {
      if (const Memory* const known = memory.load(); known && known->number(address) != 0)
        where = known->describe(address) + " of a device's memory";
    }
    where = "the host touches " + where + " outside kernels and copies\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, where.data(), where.size());
  }
  sigaction(SIGSEGV, &before, nullptr);  // which the same instruction meets
}

void reserve() {
  void* const range =
      mmap(nullptr, 2 * device_range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::perror("addresses for the memory of devices");
    std::abort();
  }
  device_range = reinterpret_cast<Slot>(range);
}

// In front of whatever handler there is: Qt Test has one of its own for each class.
void explain_touches() {
  struct sigaction now = {};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == explain) return;
  struct sigaction action = {};
  action.sa_sigaction = explain;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &before);
}

}  // namespace

Memory::Memory(const Memory* beside) : beside_(beside) {
  for (auto& slot : memories) {
    const Memory* none = nullptr;
    if (slot.compare_exchange_strong(none, this)) break;
  }
}

Memory::~Memory() {
  for (auto& slot : memories) {
    const Memory* mine = this;
    slot.compare_exchange_strong(mine, nullptr);
  }
  while (!pieces_.empty()) remove(reinterpret_cast<const void*>(pieces_.begin()->first));
}

void* Memory::allocate(std::size_t bytes) {
  static std::once_flag once;
  std::call_once(once, reserve);
  explain_touches();
  const std::size_t pages = (bytes + page_bytes) / page_bytes * page_bytes;  // never 0
  const Slot at = given.fetch_add(pages + page_bytes);                       // a page between
  if (at + pages > device_range_bytes) return nullptr;
  const Slot address = device_range + at;
  if (mprotect(contents(address), pages, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memset(contents(address), 0xFF, bytes);
  pieces_[address] = {bytes, ++made};
  return reinterpret_cast<void*>(address);
}

void Memory::add(const void* memory, std::int64_t bytes, bool for_kernels) {
  pieces_[reinterpret_cast<Slot>(memory)] = {static_cast<std::size_t>(bytes), ++made, for_kernels};
}

std::size_t Memory::remove(const void* memory) {
  const auto found = pieces_.find(reinterpret_cast<Slot>(memory));
  if (found == pieces_.end()) return 0;
  const auto [address, piece] = *found;
  pieces_.erase(found);
  last_ = {1, 0};
  if (is_devices(address)) {
    const std::size_t pages = (piece.bytes + page_bytes) / page_bytes * page_bytes;
    mmap(contents(address), pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  return piece.bytes;
}

Memory::Pieces::const_iterator Memory::piece_of(Slot address, std::size_t bytes) const {
  auto found = pieces_.upper_bound(address);
  if (found == pieces_.begin()) return pieces_.end();
  --found;
  return address + bytes <= found->first + found->second.bytes ? found : pieces_.end();
}

bool Memory::looks_for(Slot address, std::int64_t bytes) const {
  const auto found = piece_of(address, static_cast<std::size_t>(bytes));
  if (found == pieces_.end() || !found->second.for_kernels) return false;
  last_ = {found->first, found->first + found->second.bytes};
  return true;
}

std::uint64_t Memory::number(Slot address, std::size_t bytes) const {
  const auto found = piece_of(address, bytes);
  if (found != pieces_.end()) return found->second.number;
  return beside_ ? beside_->number(address, bytes) : 0;
}

std::string Memory::describe(Slot address) const {
  const auto found = piece_of(address, 1);
  if (found != pieces_.end())
    return "byte " + std::to_string(address - found->first) + " of " + std::to_string(found->second.bytes) +
           " bytes";
  if (beside_ && beside_->number(address) != 0) return beside_->describe(address);
  if (auto near = pieces_.upper_bound(address); near != pieces_.begin()) {
    --near;
    const Slot behind = address - near->first - near->second.bytes;
    if (behind < page_bytes)
      return std::to_string(behind) + " bytes after the end of " + std::to_string(near->second.bytes) +
             " bytes";
  }
  for (const auto& memory : memories) {
    if (const Memory* const other = memory.load();
        other && other != this && other->piece_of(address, 1) != other->pieces_.end())
      return "memory of another device, or of the host's that is not for kernels";
  }
  return "memory that is not the device's";
}

}  // namespace fovea::tests::ptx
