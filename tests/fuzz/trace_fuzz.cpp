// Any bytes as a trace: what is read stays within the shape, and writing it again gives the same passes.
#include "engine/eval/trace.h"

#include "fuzz.h"

using namespace fovea;

namespace {

void check_pass(const eval::TraceShape& shape, const eval::TracePass& pass) {
  fuzz_check(pass.tokens > 0 && pass.tokens <= eval::max_trace_tokens);
  fuzz_check(pass.routed.size() == shape.layers.size());
  for (const std::int32_t routed : pass.routed) fuzz_check(routed >= 0 && routed <= pass.tokens);
  std::int32_t before = -1;
  for (const precision::ExpertUse& use : pass.uses) {
    fuzz_check(use.unit > before && use.unit < shape.units());
    fuzz_check(use.tokens > 0 && use.tokens <= pass.tokens);
    fuzz_check(use.gate_sum >= 0);
    before = use.unit;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = eval::TraceReader::open(fuzz::bytes_of(data, size), "fuzz.trace");
  if (!reader) {
    fuzz::check_error(reader.error());
    return 0;
  }
  eval::TraceWriter writer(reader->shape());
  std::string copy;
  writer.begin(copy);
  eval::TracePass pass;
  while (true) {
    const auto more = reader->next(pass);
    if (!more) {
      fuzz::check_error(more.error());
      return 0;
    }
    if (!*more) break;
    check_pass(reader->shape(), pass);
    writer.pass(pass, copy);
  }
  writer.end(copy, reader->text());
  auto again = eval::TraceReader::open(std::as_bytes(std::span(copy)), "copy.trace");
  fuzz_check(again.has_value());
  reader->rewind();
  eval::TracePass other;
  while (true) {
    const auto more = reader->next(pass), also = again->next(other);
    fuzz_check(more && also && *more == *also);
    if (!*more) {
      fuzz_check(reader->text() == again->text());
      return 0;
    }
    fuzz_check(pass.tokens == other.tokens && pass.routed == other.routed);
    fuzz_check(pass.uses.size() == other.uses.size());
  }
}
