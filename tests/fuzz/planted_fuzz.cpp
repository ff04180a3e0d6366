// One small bug behind a few bytes, for showing that fuzzing finds bugs of its kind.
#include <climits>
#include <memory>

#include "fuzz.h"

namespace {

[[maybe_unused]] volatile int sink = 0;

void bug(const std::uint8_t* data, [[maybe_unused]] std::size_t size) {
#if defined(PLANTED_OVERFLOW)
  const auto copy = std::make_unique<std::uint8_t[]>(size);
  sink = copy[size + data[3] % 2];
#elif defined(PLANTED_UNDEFINED)
  sink = INT_MAX - 5 + data[3];
#elif defined(PLANTED_HANG)
  while (data[3] != 'X') sink = sink + 1 < 1000 ? sink + 1 : 0;
#elif defined(PLANTED_CHECK)
  fuzz_check(data[3] < 7);
#endif
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 3 && data[0] == 'F' && data[1] == 'o' && data[2] == 'v') bug(data, size);
  return 0;
}
