#include "engine/chat/call_form.h"

#include <algorithm>

#include "engine/chat/errors.h"
#include "engine/core/result.h"

namespace fovea::chat {
namespace {

struct Frame {
  const char* opening;
  const char* behind_name;  // as text
  const char* middle;
  const char* closing;
};

Frame frame_of(CallSyntax syntax) {
  switch (syntax) {
    case CallSyntax::mistral_list:
      return {"[TOOL_CALLS][{\"name\": \"", "\", \"arguments\": ", "", "}]"};
    case CallSyntax::mistral_name:
      return {"[TOOL_CALLS]", "", "[ARGS]", ""};
    case CallSyntax::llama:
      return {"{\"name\": \"", "\", \"parameters\": ", "", "}"};
    case CallSyntax::harmony:
      return {" to=functions.", "", "<|channel|>commentary json<|message|>", ""};
    case CallSyntax::hermes:
    case CallSyntax::qwen_xml:
    case CallSyntax::gemma:
      break;
  }
  return {"<tool_call>\n{\"name\": \"", "\", \"arguments\": ", "", "}\n</tool_call>"};
}

// As GBNF spells it; names are plain, and the frames have no other signs that need it.
std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::int64_t CallForm::longest_arguments() const {
  std::int64_t longest = 0;
  for (const auto& each : arguments) longest = std::max(longest, each->shortest_answer());
  return longest;
}

Result<CallForm> call_form(const ToolSet& tools, const std::string& required, CallSyntax syntax,
                           const text::Tokenizer& tokenizer, FormMasks& forms) {
  if (syntax == CallSyntax::gemma) return fail(phrases::given_tools(), errors::required_call_not_of_syntax());
  const Frame frame = frame_of(syntax);
  const auto encoded = [&tokenizer](const char* text) {
    return tokenizer.encode(text, {.add_special = false, .parse_special = true});
  };
  CallForm form{.opening = encoded(frame.opening),
                .names = {},
                .spelled = {},
                .middle = encoded(frame.middle),
                .arguments = {},
                .closing = encoded(frame.closing)};
  std::string grammar = "root ::= ";
  for (const Tool& tool : tools.tools) {
    if (!required.empty() && tool.name != required) continue;
    form.spelled.push_back(tool.name + frame.behind_name);
    grammar += (form.spelled.size() > 1 ? " | " : "") + literal(form.spelled.back());
    const std::string schema = tool.parameters.is_null() ? R"({"type": "object"})" : tool.parameters.dump();
    FOVEA_TRY(auto masks, forms.of("tool " + tool.name + schema, [&] {
      return grammar::Grammar::from_json_schema(schema, phrases::parameters_of(tool.name));
    }));
    form.arguments.push_back(std::move(masks));
  }
  FOVEA_TRY(form.names, forms.of({AnswerForm::Kind::gbnf, grammar}));
  return form;
}

}  // namespace fovea::chat
