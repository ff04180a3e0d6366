#include "engine/text/decoders.h"

#include <utility>

#include "engine/text/bpe.h"
#include "engine/text/normalize.h"

namespace fovea::text {
namespace {

void run(const DecodeReplace& step, std::string& text, bool, bool) {
  text = replace_all(text, step.from, step.to);
}

void run(const DecodeStrip& step, std::string& text, bool, bool) {
  for (std::size_t i = 0; i < step.left && text.starts_with(step.character); ++i)
    text.erase(0, step.character.size());
  for (std::size_t i = 0; i < step.right && text.ends_with(step.character); ++i)
    text.erase(text.size() - step.character.size());
}

void run(const DecodeMetaspace& step, std::string& text, bool first, bool) {
  text = replace_all(text, step.replacement, first && step.strip_first ? "" : " ");
}

void run(const DecodeSuffix& step, std::string& text, bool, bool last) {
  text = replace_all(text, step.suffix, last ? "" : " ");
}

void run(const DecodeWordPiece& step, std::string& text, bool first, bool) {
  if (!first) {
    if (text.starts_with(step.prefix)) {
      text.erase(0, step.prefix.size());
    } else {
      text.insert(0, " ");
    }
  }
  if (!step.cleanup) return;
  constexpr std::pair<const char*, const char*> closer[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : closer)
    if (text.find(from) != text.npos) text = replace_all(text, from, to);
}

}  // namespace

DecodedToken decode_token(const DecodePlan& plan, std::string_view token, bool first, bool last) {
  DecodedToken decoded;
  if (plan.byte_level) {
    decoded.bytes = true;
    if (!from_byte_alphabet(token, decoded.text))
      decoded.text = token;  // an added token with other characters
    return decoded;
  }
  if (plan.byte_fallback) {
    if (const int byte = byte_token(token); byte >= 0) {
      decoded.bytes = true;
      decoded.text = static_cast<char>(byte);
      return decoded;
    }
  }
  decoded.text = token;
  for (const DecodeStep& step : plan.steps)
    std::visit([&](const auto& chosen) { run(chosen, decoded.text, first, last); }, step);
  if (plan.join_with_space && !first) decoded.text.insert(0, " ");
  return decoded;
}

}  // namespace fovea::text
