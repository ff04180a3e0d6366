// Any text as tokenizer.json.
#include <nlohmann/json.hpp>

#include "tokenizer.h"

using namespace fovea;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const auto tokenizer = text::Tokenizer::from_json(input, nlohmann::json::object(), "tokenizer.json");
  if (!tokenizer) {
    fuzz::check_error(tokenizer.error());
    return 0;
  }
  fuzz::check_tokenizer(*tokenizer, input.substr(size > 200 ? size - 200 : 0));
  return 0;
}
