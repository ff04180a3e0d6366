// PTX, the code for a virtual machine that nvcc makes of kernels, as it is executed here (machine.h): what
// Fovea's kernels use of NVIDIA's "Parallel Thread Execution ISA", no more. Whatever else is met is an error
// that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::tests::ptx {

class Thread;
struct Function;
struct Instruction;

// Where an instruction needs more than its own thread, and what the thread does next.
enum class Step : std::uint8_t {
  next,
  branched,  // the thread's place is set
  paused,    // others may come before it goes on
  block,     // waits for the block's other threads
  warp,      // waits for the lanes of its mask, which go on together
  ended,
};

// How an instruction reaches memory.
enum class Access : std::uint8_t {
  read,
  constant,  // through a cache that is not told of writes (ld.global.nc)
  write,
  strong_read,  // these three may meet each other (ld.volatile)
  strong_write,
  atomic,
  copy_from,  // of an asynchronous copy, until its thread waits for it
  copy_to,
};

// What a register holds: the low bits are the value, those above it are zero.
using Slot = std::uint64_t;

struct Instruction {
  using Run = Step (*)(Thread&, const Instruction&);
  // Of the lanes that have come together, by their numbers.
  using RunTogether = void (*)(Thread* const* lanes, std::uint32_t mask, const Instruction&);

  Run run = nullptr;
  RunTogether together = nullptr;
  std::vector<std::uint32_t> to = {};    // slots
  std::vector<std::uint32_t> from = {};  // slots; what is written in the code is in one, too
  std::int64_t offset = 0;               // of an address
  Access access = Access::read;
  int mask = -1;           // the operand in `from` that names the lanes; −1: none
  int guard = -1;          // a slot; −1: always done
  bool unless = false;     // … where the guard is zero
  std::size_t target = 0;  // of a branch
  const Function* called = nullptr;
  std::vector<std::int64_t> arguments = {};  // their places in the caller's parameters
  int line = 0;
  const std::string* source = nullptr;  // null: it was not told
  std::string text = {};
  std::string where() const;  // the PTX's line, those of the source, and the text
};

struct Parameter {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

struct Function {
  std::string name;
  std::vector<Instruction> code;
  std::vector<Parameter> parameters;                   // its own
  std::int64_t parameter_bytes = 0;                    // and those that it gives to others
  std::int64_t local_bytes = 0;                        // of a thread
  std::vector<Slot> slots;                             // as a thread begins: what is written in the code
  std::vector<std::pair<std::uint32_t, int>> special;  // slots of %tid.x … (see special_names)
  std::uint32_t max_threads = 1024;
  std::vector<bool> shared_arrays;  // which bytes before dynamic shared memory are of arrays that it names
};

enum Special : int {
  tid_x,
  ntid_x,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  globaltimer,
  special_count
};

// Of one source. Shared memory is that of all its functions: the most that a kernel of it can want; its
// arrays lie apart, so that what is behind one is none.
struct Program {
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
  std::map<std::string, Parameter, std::less<>> shared;  // arrays
  std::int64_t shared_bytes = 0;                         // dynamic shared memory begins here
  std::map<std::string, std::vector<std::byte>, std::less<>> constants;
  // "norm.cu:35", or within a function that was inlined "reduce.h:37, in norm.cu:35"; by numbers of files and
  // lines.
  std::map<std::vector<std::pair<int, int>>, std::string> sources;
};

// Throws std::runtime_error.
std::unique_ptr<Program> parse(std::string_view text);

// Gives the instruction what does it, by its name's parts ("add", "s32"). Throws std::runtime_error.
void choose(Instruction& instruction, const std::vector<std::string_view>& name);
[[noreturn]] void unknown();  // of an instruction

}  // namespace fovea::tests::ptx
