// What kernels ask of a card's arithmetic, counted and not timed: the instructions of their PTX, over the
// cases of the micro-benchmark in the shapes of real models.
//
//   bench_ptx [FILTER]
//
// One line for each case whose name contains FILTER: the instructions that threads do, how many for each byte
// that must be read, and what share of all that the card can issue that is while it reads at its full
// bandwidth. Above 100 % a kernel is bound by its instructions; PTX is not what a card runs in the end, but
// near it.
#include <cstdio>
#include <string>

#include "kernels/cases/case.h"
#include "kernels/cuda/module/device.h"

#include "runtime.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
namespace ptx = fovea::tests::ptx;

namespace {

// As NVIDIA states them.
struct Card {
  const char* name;
  double multiprocessors, clock_ghz, gb_per_s;
  // A multiprocessor issues for four warps of 32 at each clock.
  double giga_instructions() const { return multiprocessors * 128 * clock_ghz; }
};
constexpr Card cards[] = {
    {"RTX 5090", 170, 2.41, 1792}, {"RTX A6000", 84, 1.80, 768}, {"H100 SXM", 132, 1.83, 3350}};

}  // namespace

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  const cuda::CudaDevice device(0);
  const auto stream = device.make_stream({});
  std::printf("%-72s %14s %10s", "", "instructions", "per byte");
  for (const Card& card : cards) std::printf(" %10s", card.name);
  std::printf("\n");
  for (const Benchmark& each : benchmarks()) {
    if (each.name.find(filter) == std::string::npos) continue;
    const auto one = each.make();
    Memory memory(device, true);
    const auto run = one->build(memory);
    memory.reset();
    const std::int64_t before = ptx::instructions_run();
    run(*stream);
    stream->synchronize();
    if (const std::string wrong = ptx::fault() + stream->failure().said; !wrong.empty()) {
      std::fprintf(stderr, "%s: %s\n", each.name.c_str(), wrong.c_str());
      return 1;
    }
    const auto count = static_cast<double>(ptx::instructions_run() - before);
    std::printf("%-72s %14.0f %10.2f", each.name.c_str(), count, count / one->work.bytes);
    for (const Card& card : cards)
      std::printf(" %8.0f %%", 100 * count / one->work.bytes * card.gb_per_s / card.giga_instructions());
    std::printf("\n");
    std::fflush(stdout);
  }
}
