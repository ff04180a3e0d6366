#include "tests/kernels/cuda/emulation/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/kernels/cuda/emulation/block.h"
#include "tests/kernels/cuda/emulation/sanitizer.h"

namespace fovea::kernels::cuda::emulation {
namespace {

constinit thread_local const DeviceMemory* watched = nullptr;
constexpr std::size_t signal_stack_bytes = 64 << 10;
// The handler must not run on the stack that has just overflowed.
thread_local std::byte* signal_stack = nullptr;

struct Devices {
  std::array<std::atomic<const DeviceMemory*>, 16> known{};
};
Devices devices;

struct sigaction before[2];
constexpr int signals[2] = {SIGSEGV, SIGBUS};

void say(const std::string& text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

// What a kernel's thread did.
std::string kernel_fault(const Block* block, const void* address) {
  if (block->stack_overflow(address)) return "has used up its stack";
  const std::string where = watched->describe(address);
  if (!where.empty())
    return "reaches " + where + (watched->is_open() ? "" : ", before earlier kernels have ended");
  char text[80];
  std::snprintf(text, sizeof text, "reaches address %p, which is not the device's", address);
  return text;
}

void on_fault(int number, siginfo_t* info, void*) {
  if (Block* const block = Block::current(); watched && block && block->in_thread()) {
    static thread_local std::string wrong;  // not the stack's: a kernel's thread does not come back
    wrong = kernel_fault(block, info->si_addr);
    block->fail_in_signal(wrong);
  }
  // Elsewhere the fault may be in the middle of an allocation: nothing may be allocated before it is known to
  // be the device's memory.
  for (const auto& device : devices.known) {
    const DeviceMemory* const memory = device.load();
    if (!memory) continue;
    const std::string where = memory->describe(info->si_addr);
    if (!where.empty()) say("emulated device: the host touches " + where + " outside kernels and copies\n");
  }
  // The instruction is repeated under whatever handler there was. One that hands it back here has had its
  // turn: the system ends the program.
  static std::atomic<bool> handed_on = false;
  if (handed_on.exchange(true)) {
    signal(number, SIG_DFL);
  } else {
    sigaction(number, &before[number == SIGSEGV ? 0 : 1], nullptr);
  }
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int i = 0; i < 2; ++i) sigaction(signals[i], &action, &before[i]);
  });
}

// Kept for the life of the thread: the system knows one such stack for each.
struct SignalStack {
  ~SignalStack() {
    if (!signal_stack) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    free(signal_stack);
  }
};
thread_local SignalStack signal_stack_owner;

void provide_signal_stack() {
  stack_t known = {};
  sigaltstack(nullptr, &known);
  if (!(known.ss_flags & SS_DISABLE)) return;
  (void)signal_stack_owner;
  signal_stack = static_cast<std::byte*>(malloc(signal_stack_bytes));
  stack_t stack = {};
  stack.ss_sp = signal_stack;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace

FaultWatch::FaultWatch(const DeviceMemory& memory) {
  install();
  provide_signal_stack();
  watched = &memory;
}

FaultWatch::~FaultWatch() {
  watched = nullptr;
}

void explain_touches_of(const DeviceMemory& memory) {
  install();
  for (auto& slot : devices.known) {
    const DeviceMemory* empty = nullptr;
    if (slot.compare_exchange_strong(empty, &memory)) return;
  }
}

void forget(const DeviceMemory& memory) {
  for (auto& slot : devices.known) {
    const DeviceMemory* mine = &memory;
    slot.compare_exchange_strong(mine, nullptr);
  }
}

}  // namespace fovea::kernels::cuda::emulation

#if defined(FOVEA_ADDRESS_SANITIZER)
// What the sanitizer calls before it reports.
extern "C" void __asan_on_error() {
  using fovea::kernels::cuda::emulation::Block;
  Block* const block = Block::current();
  if (!block || !block->in_thread()) return;
  const std::string text = "emulated device: in " + block->whereabouts() + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}
#endif
