// Kernels of a few lines of PTX, written by hand for what they do right or wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/test.h"

#include "machine.h"

namespace fovea::tests::ptx {

// A kernel of two pointers to 256 bytes each; %rd1 and %rd2 have them, %r1 the thread's number, %r2 its
// block's. `words` are 256 bytes of shared memory.
inline std::string small_kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".entry planted(\n.param .u64 planted_0,\n.param .u64 planted_1\n)\n.maxntid 64, 1, 1\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<9>;\n"
         ".shared .align 16 .b8 words[256];\n"
         "ld.param.u64 %rd1, [planted_0];\nld.param.u64 %rd2, [planted_1];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" +
         body + "\n$END:\nret;\n}\n";
}

struct Ran {
  std::string wrong = {};
  bool waited_unasked = false;
  std::vector<std::uint32_t> first, second;  // the 64 words of each piece of memory
};

inline Ran run_small(const std::string& text, const Grid& grid = {.threads = 32}, unsigned random = seed()) {
  const auto program = parse(text);
  Ran ran{.first = std::vector<std::uint32_t>(64), .second = std::vector<std::uint32_t>(64)};
  Memory memory;
  memory.add(ran.first.data(), 256);
  memory.add(ran.second.data(), 256);
  Machine machine(memory);
  machine.use_seed(random);
  machine.watch(true);
  const void* pointers[] = {ran.first.data(), ran.second.data()};
  const void* const arguments[] = {&pointers[0], &pointers[1]};
  ran.wrong = machine.execute(*program, *program->functions.at("planted"), grid, arguments);
  ran.waited_unasked = machine.waited_unasked();
  return ran;
}

}  // namespace fovea::tests::ptx
