// A fibre: a function with a stack of its own that can be left in the middle and continued later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::kernels::cuda::emulation {

// Where to continue. The scheduler's own context is one too, with the host thread's stack.
struct Context {
  void* stack_pointer = nullptr;
  // What the address sanitizer wants to know of a stack before it is used.
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;
  void* thread_state = nullptr;  // the thread sanitizer's
};

// Leaves `from` and continues `to`. Returns when somebody continues `from`.
void switch_context(Context& from, Context& to);

class Fibre {
 public:
  using Entry = void (*)(void* argument);

  Fibre();  // throws std::bad_alloc
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // The next switch to the context begins entry(argument), which must never return. What the stack held is
  // forgotten.
  void prepare(Entry entry, void* argument);
  Context& context() { return context_; }
  bool guards(const void* address) const;  // whether the address is on the page that ends the stack

  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

 private:
  friend void begin_fibre(Fibre* fibre);

  Context context_;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  std::byte* memory_ = nullptr;  // a guard page, then the stack
};

}  // namespace fovea::kernels::cuda::emulation
