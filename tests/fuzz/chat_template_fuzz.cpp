// Any text as a chat template: parsing and rendering end within their limits, twice with the same outcome.
#include <nlohmann/json.hpp>
#include <string>

#include "engine/api/errors.h"
#include "engine/text/chat_template.h"

#include "fuzz.h"

using namespace fovea;

namespace {

nlohmann::ordered_json variables() {
  return nlohmann::ordered_json::parse(R"({
    "messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "Größe? <b>"},
      {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"x": [1, 2.5, null, true]}}}]},
      {"role": "tool", "content": "{}"},
      {"role": "user", "content": [{"type": "text", "text": "and?"}]}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>", "n": -3, "x": 0.1})");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nlohmann::ordered_json given = [] {
    auto all = variables();
    all[text::clock_variable] = 1700000000;
    return all;
  }();
  const auto parsed = text::ChatTemplate::parse(fuzz::text_of(data, size), phrases::name_place("template"));
  if (!parsed) {
    fuzz::check_error(parsed.error());
    return 0;
  }
  const text::RenderLimits limits{.steps = 20000, .depth = 200, .output_bytes = 1 << 18};
  const auto first = parsed->render(given, limits);
  const auto second = parsed->render(given, limits);
  fuzz_check(first.has_value() == second.has_value());
  if (!first) {
    fuzz::check_error(first.error());
    return 0;
  }
  fuzz_check(*first == *second);
  fuzz_check(static_cast<std::int64_t>(first->size()) <= limits.output_bytes);
  return 0;
}
