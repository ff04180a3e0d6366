// Any bytes as what a model writes of calls, in a syntax that the first byte chooses: however it is cut, the
// same comes out; what is no call comes out as it was; and where one call is wanted there is no second.
#include "engine/chat/call_reader.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::chat;

namespace {

struct Read {
  std::string said, told;
  bool operator==(const Read&) const = default;
};

Read read(const CallReading& reading, std::string_view text, std::size_t step) {
  Read all;
  const auto add = [&all](const CallReader::Pieces& pieces) {
    for (const auto& piece : pieces) (piece.call ? all.told : all.said) += piece.text;
  };
  const auto reader = CallReader::of(reading);
  for (std::size_t at = 0; at < text.size(); at += step) add(reader->push(text.substr(at, step)));
  add(reader->finish());
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr CallSyntax syntaxes[] = {CallSyntax::hermes,       CallSyntax::qwen_xml, CallSyntax::mistral_list,
                                     CallSyntax::mistral_name, CallSyntax::llama,    CallSyntax::gemma};
  const std::string_view text = fuzz::text_of(data + 2, size - 2);
  CallReading reading{syntaxes[data[0] % std::size(syntaxes)], {}, data[0] < 128};
  const nlohmann::ordered_json types = {
      {"a", {{"type", "integer"}}}, {"b", {{"type", "string"}}}, {"c", {{"x", 1}}}};
  reading.tools.tools = {{"f", {{"properties", types}}}, {"g", nullptr}};
  const Read whole = read(reading, text, text.size() + 1);
  fuzz_check(read(reading, text, 1) == whole);
  fuzz_check(read(reading, text, 1 + data[1] % 16) == whole);
  // Blanks and signs between a list's calls, and behind the last, belong to them.
  if (whole.told.empty()) fuzz_check(whole.said == text);
  const std::size_t calls = split_calls(whole.told).calls.size();
  if (!reading.parallel) fuzz_check(calls <= 1);
  split_calls(text);
  return 0;
}
