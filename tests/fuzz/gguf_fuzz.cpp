// Any bytes as a GGUF file: what is accepted lies inside the file, and its values can be asked for in every
// way.
#include <algorithm>
#include <string>

#include "engine/checkpoint/gguf_reader.h"

#include "fuzz.h"

using namespace fovea;

namespace {

void check_tensors(std::span<const std::byte> file, const checkpoint::GgufContents& contents) {
  std::uint64_t total = 0;
  for (const checkpoint::TensorInfo& info : contents.tensors) {
    fuzz_check(info.offset <= file.size() && info.bytes <= file.size() - info.offset);
    const kernels::BlockShape block = kernels::block_shape(info.type);
    fuzz_check(info.elements() > 0 && info.elements() % block.elements == 0);
    fuzz_check(info.bytes == static_cast<std::uint64_t>(info.elements() / block.elements * block.bytes));
    total += info.bytes;
  }
  fuzz_check(total <= file.size());  // none overlaps another
}

void check_metadata(std::span<const std::byte> file, const checkpoint::Metadata& metadata) {
  std::size_t held = 0;
  for (const auto& [key, value] : metadata.all()) {
    (void)metadata.integer(key);
    (void)metadata.number(key);
    (void)metadata.boolean(key);
    held += key.size();
    held += metadata.string(key).value_or("").size();
    held += metadata.integers(key).size() + metadata.numbers(key).size();
    fuzz_check(metadata.stored_type(key) != checkpoint::StoredType::array);
    if (const auto* texts = metadata.strings(key)) {
      for (const std::string_view text : *texts) held += text.size() + 8;
    }
  }
  fuzz_check(held <= 2 * file.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::bytes_of(data, size);
  const auto contents = checkpoint::read_gguf(file, "fuzz.gguf");
  if (!contents) {
    fuzz::check_error(contents.error());
    return 0;
  }
  check_tensors(file, *contents);
  check_metadata(file, contents->metadata);
  return 0;
}
