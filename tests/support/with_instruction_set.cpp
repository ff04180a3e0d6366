// with_instruction_set SET PROGRAM ARGUMENTS…: the program under FOVEA_CPU=SET. Exits with 77, which CTest
// counts as skipped, where this processor lacks SET, and where SET is its best, with which everything else
// runs.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include "kernels/cpu/device.h"

int main(int count, char** arguments) {
  constexpr int skipped = 77;
  if (count < 3) {
    std::fputs("with_instruction_set SET PROGRAM ARGUMENTS…\n", stderr);
    return 2;
  }
  const char* const wanted = arguments[1];
  const auto sets = fovea::kernels::cpu::available_instruction_sets();
  if (std::ranges::find(sets, std::string_view(wanted)) == sets.end()) {
    std::printf("skipped: this processor cannot run %s\n", wanted);
    return skipped;
  }
  if (sets.back() == wanted) {
    std::printf("skipped: %s is the best of this processor, with which the same tests run anyway\n", wanted);
    return skipped;
  }
  ::setenv("FOVEA_CPU", wanted, 1);
  ::execv(arguments[2], arguments + 2);
  std::fprintf(stderr, "%s: %s\n", arguments[2], std::strerror(errno));
  return 1;
}
