// Any bytes as a safetensors file: what is accepted covers the data exactly.
#include "engine/checkpoint/safetensors_reader.h"

#include "fuzz.h"

using namespace fovea;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::bytes_of(data, size);
  const auto entries = checkpoint::read_safetensors_entries(file, "fuzz.safetensors");
  const auto weights = checkpoint::read_safetensors(file, "fuzz.safetensors");
  if (!entries) {
    fuzz::check_error(entries.error());
    fuzz_check(!weights);
    return 0;
  }
  std::uint64_t covered = 0;
  for (const auto& entry : *entries) {
    fuzz_check(entry.offset <= size && entry.bytes <= size - entry.offset);
    covered += entry.bytes;
  }
  if (!entries->empty()) fuzz_check(entries->front().offset + covered == size);
  if (!weights) {
    fuzz_check(weights.error().kind == ErrorKind::unsupported);
    return 0;
  }
  fuzz_check(weights->size() == entries->size());
  for (const auto& info : *weights) {
    const auto element = static_cast<std::uint64_t>(kernels::block_shape(info.type).bytes);
    fuzz_check(info.bytes == static_cast<std::uint64_t>(info.elements()) * element);
  }
  return 0;
}
