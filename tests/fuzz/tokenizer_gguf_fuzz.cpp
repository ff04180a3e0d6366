// Any bytes as a GGUF file with a vocabulary.
#include "engine/checkpoint/gguf_reader.h"

#include "tokenizer.h"

using namespace fovea;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto contents = checkpoint::read_gguf(fuzz::bytes_of(data, size), "fuzz.gguf");
  if (!contents) return 0;
  const auto tokenizer = text::Tokenizer::from_metadata(contents->metadata, "fuzz.gguf");
  if (!tokenizer) {
    fuzz::check_error(tokenizer.error());
    return 0;
  }
  const std::string_view input = fuzz::text_of(data, size);
  fuzz::check_tokenizer(*tokenizer, input.substr(size > 200 ? size - 200 : 0));
  return 0;
}
