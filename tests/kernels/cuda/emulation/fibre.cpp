#include "tests/kernels/cuda/emulation/fibre.h"

#include <new>
#include <sys/mman.h>

#include "tests/kernels/cuda/emulation/sanitizer.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace fovea::kernels::cuda::emulation {

void begin_fibre(Fibre* fibre);

namespace {

constexpr std::size_t guard_bytes = 4096;

// Where the address sanitizer learns that the stack has changed: after each arrival.
[[maybe_unused]] thread_local Context* departed = nullptr;
[[maybe_unused]] thread_local Context* arriving = nullptr;

// Inlined, because the thread sanitizer counts entering and leaving functions for each fibre.
[[gnu::always_inline]] inline void note_departure([[maybe_unused]] Context& from,
                                                  [[maybe_unused]] Context& to) {
#if defined(FOVEA_ADDRESS_SANITIZER)
  departed = &from;
  arriving = &to;
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if defined(FOVEA_THREAD_SANITIZER)
  from.thread_state = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.thread_state, 0);
#endif
}

void forget_thread_state([[maybe_unused]] Context& context) {
#if defined(FOVEA_THREAD_SANITIZER)
  if (context.thread_state) __tsan_destroy_fiber(context.thread_state);
  context.thread_state = nullptr;
#endif
}

void note_arrival() {
#if defined(FOVEA_ADDRESS_SANITIZER)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(arriving->fake_stack, &bottom, &bytes);
  // The host thread's stack becomes known when it is left for the first time.
  if (!departed->stack_bottom) {
    departed->stack_bottom = bottom;
    departed->stack_bytes = bytes;
  }
#endif
}

}  // namespace

void begin_fibre(Fibre* fibre) {
  note_arrival();
  fibre->entry_(fibre->argument_);
}

#if defined(__x86_64__)

// Saves the registers that a function must keep, exchanges the stacks, restores. The fibre begins in the
// second function, with the first argument in r12.
extern "C" void fovea_exchange_stacks(void** from, void* to);
extern "C" void fovea_first_step();
extern "C" void fovea_begin_fibre(Fibre* fibre) {
  begin_fibre(fibre);
}
asm(R"(
.text
.p2align 4
.type fovea_exchange_stacks, @function
.globl fovea_exchange_stacks
.hidden fovea_exchange_stacks
fovea_exchange_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size fovea_exchange_stacks, .-fovea_exchange_stacks
.p2align 4
.type fovea_first_step, @function
.globl fovea_first_step
.hidden fovea_first_step
fovea_first_step:
  movq %r12, %rdi
  xorl %ebp, %ebp
  callq fovea_begin_fibre@PLT
  ud2
.size fovea_first_step, .-fovea_first_step
)");

void switch_context(Context& from, Context& to) {
  note_departure(from, to);
  fovea_exchange_stacks(&from.stack_pointer, to.stack_pointer);
  note_arrival();
}

#else

namespace {
void first_step(unsigned low, unsigned high) {
  begin_fibre(reinterpret_cast<Fibre*>(std::uintptr_t{low} | std::uintptr_t{high} << 16 << 16));
}
}  // namespace

void switch_context(Context& from, Context& to) {
  note_departure(from, to);
  ucontext_t here;
  from.stack_pointer = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to.stack_pointer));
  note_arrival();
}

#endif

Fibre::Fibre() {
  void* const memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, guard_bytes, PROT_NONE);
  memory_ = static_cast<std::byte*>(memory);
  context_.stack_bottom = memory_ + guard_bytes;
  context_.stack_bytes = stack_bytes;
}

Fibre::~Fibre() {
  forget_thread_state(context_);
  permit(memory_ + guard_bytes, stack_bytes);
  munmap(memory_, guard_bytes + stack_bytes);
}

void Fibre::prepare(Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  context_.fake_stack = nullptr;
  forget_thread_state(context_);
#if defined(FOVEA_THREAD_SANITIZER)
  context_.thread_state = __tsan_create_fiber(0);
#endif
  permit(memory_ + guard_bytes, stack_bytes);
  std::byte* const top = memory_ + guard_bytes + stack_bytes;
#if defined(__x86_64__)
  // From the top: the return address into the first step (then the stack is aligned to 16 before its call),
  // rbp, rbx, r12 with the fibre, r13, r14, r15.
  auto** slots = reinterpret_cast<void**>(top);
  *--slots = reinterpret_cast<void*>(fovea_first_step);
  for (int i = 0; i < 6; ++i) *--slots = i == 2 ? static_cast<void*>(this) : nullptr;
  context_.stack_pointer = slots;
#else
  // The saved registers lie at the top of the stack that they describe.
  auto* const saved = reinterpret_cast<ucontext_t*>(top - (sizeof(ucontext_t) + 63) / 64 * 64);
  getcontext(saved);
  saved->uc_stack.ss_sp = memory_ + guard_bytes;
  saved->uc_stack.ss_size =
      static_cast<std::size_t>(reinterpret_cast<std::byte*>(saved) - memory_) - guard_bytes;
  saved->uc_link = nullptr;
  const auto bits = reinterpret_cast<std::uintptr_t>(this);
  makecontext(saved, reinterpret_cast<void (*)()>(first_step), 2, static_cast<unsigned>(bits),
              static_cast<unsigned>(bits >> 16 >> 16));
  context_.stack_pointer = saved;
#endif
}

bool Fibre::guards(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= memory_ && byte < memory_ + guard_bytes;
}

}  // namespace fovea::kernels::cuda::emulation
