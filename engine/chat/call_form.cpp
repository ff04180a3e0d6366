#include "engine/chat/call_form.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/chat/errors.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/grammar/composer.h"

namespace fovea::chat {
namespace {

using grammar::Composer;
using grammar::Expression;
using grammar::Grammar;
using grammar::Notation;
using grammar::Spelling;

constexpr std::string_view gemma_quote = "<|\"|>";

class CallComposer {
 public:
  CallComposer(const CallReading& calls, const text::Tokenizer& tokenizer, bool is_chosen)
      : calls_(calls), tokenizer_(tokenizer), is_chosen_(is_chosen) {}

  Composer& composer() { return composer_; }

  // One call; `several`: or a list of them, where the syntax has such.
  Result<Expression> call(CallForm form, const std::string& required, bool several) {
    if (calls_.syntax == CallSyntax::mistral_name && is_control("[CALL_ID]")) {
      FOVEA_TRY(Expression letters,
                composer_.part(Notation::regex, "[A-Za-z0-9]{9}", phrases::given_tools()));
      id_ = Composer::optional(sequence(mark("[CALL_ID]"), std::move(letters)));
    }
    std::vector<Expression> each;
    for (const Tool& tool : calls_.tools.tools) {
      if (!required.empty() && tool.name != required) continue;
      if (in_tags(form)) {
        each.push_back(function_of(tool));
        continue;
      }
      FOVEA_TRY(Expression arguments, arguments_of(tool));
      each.push_back(of(tool.name, std::move(arguments), form));
    }
    Expression one = Composer::any_of(std::move(each));
    switch (calls_.syntax) {
      case CallSyntax::mistral_list:
        return sequence(mark("[TOOL_CALLS]"), optional(" "), text("["), list(std::move(one), ", ", several),
                        text("]"));
      case CallSyntax::mistral_name:
        return sequence(mark("[TOOL_CALLS]"), std::move(one));
      case CallSyntax::llama:
        return list(std::move(one), "; ", several);
      case CallSyntax::harmony:
        return sequence(text(form == CallForm::required         ? " to=functions."
                             : form == CallForm::behind_channel ? "commentary to=functions."
                                                                : "to=functions."),
                        std::move(one));
      case CallSyntax::gemma:
        return sequence(mark("<|tool_call>"), text("call:"), std::move(one), mark("<tool_call|>"));
      case CallSyntax::hermes:
      case CallSyntax::qwen_xml:
        break;
    }
    return sequence(mark(call_open), optional("\n"), std::move(one), optional("\n"), mark(call_close));
  }

 private:
  Expression text(std::string_view words) { return composer_.text(words); }
  Expression optional(std::string_view words) { return Composer::optional(text(words)); }
  template <class... Parts>
  static Expression sequence(Parts... parts) {
    std::vector<Expression> all;
    (all.push_back(std::move(parts)), ...);
    return Composer::sequence(std::move(all));
  }
  // What is a control token in most vocabularies.
  Expression mark(std::string_view name) { return is_control(name) ? composer_.control(name) : text(name); }
  bool is_control(std::string_view name) const {
    const TokenId id = tokenizer_.find(name);
    return id >= 0 && tokenizer_.is_control(id);
  }
  Expression list(Expression one, std::string_view between, bool several) {
    if (!several) return one;
    Expression more = sequence(text(between), one);
    return sequence(std::move(one), Expression::of_repetition(std::move(more), 0, Expression::unbounded));
  }

  Result<Expression> arguments_of(const Tool& tool) {
    constexpr const char* any_object = R"({"type": "object"})";
    const Phrase where = phrases::parameters_of(tool.name);
    const Spelling spelling = spelling_of_arguments();
    auto arguments =
        composer_.part(Notation::json_schema, tool.parameters.is_null() ? any_object : tool.parameters.dump(),
                       where, spelling);
    if (arguments || !is_chosen_) return arguments;
    log::info("chat", "a tool's schema is not supported: calls of it are held to an object alone");
    return composer_.part(Notation::json_schema, any_object, where, spelling);
  }

  // Qwen's tags of functions and parameters; a call that is required is in JSON.
  bool in_tags(CallForm form) const {
    return calls_.syntax == CallSyntax::qwen_xml && form != CallForm::required;
  }

  // A function with its parameters in the schema's order.
  Expression function_of(const Tool& tool) {
    std::vector<Expression> parts{text("<function=" + tool.name + ">\n")};
    const auto& schema = tool.parameters;
    const auto properties = schema.is_object() ? schema.find("properties") : schema.end();
    if (schema.is_object() && properties != schema.end() && properties->is_object()) {
      const auto required = schema.value("required", nlohmann::ordered_json::array());
      for (const auto& [name, property] : properties->items()) {
        Expression parameter =
            sequence(text("<parameter=" + name + ">\n"), value_of(property), text("\n</parameter>\n"));
        const bool is_required = std::ranges::find(required, nlohmann::ordered_json(name)) != required.end();
        parts.push_back(is_required ? std::move(parameter) : Composer::optional(std::move(parameter)));
      }
    }
    parts.push_back(text("</function>"));
    return Composer::sequence(std::move(parts));
  }

  // Strings stand as they are, whatever their schema says but for "enum"; other values are JSON.
  Expression value_of(const nlohmann::ordered_json& schema) {
    const bool is_object = schema.is_object();
    const auto values = is_object ? schema.find("enum") : schema.end();
    if (is_object && values != schema.end() && values->is_array() && !values->empty() &&
        std::ranges::all_of(*values, [](const auto& value) { return value.is_string(); })) {
      std::vector<Expression> each;
      for (const auto& value : *values) each.push_back(text(value.template get<std::string>()));
      return Composer::any_of(std::move(each));
    }
    const auto type = is_object ? schema.find("type") : schema.end();
    const bool is_json = is_object && type != schema.end() && type->is_string() && *type != "string";
    if (is_json) {
      auto value = composer_.part(Notation::json_schema, schema.dump(), phrases::given_tools());
      if (value) return *std::move(value);
      log::info("chat", "the schema of a tool's parameter is not supported: it is not held to it");
    }
    return composer_.text_without("</parameter>");
  }

  Spelling spelling_of_arguments() const {
    if (calls_.syntax != CallSyntax::gemma) return {};
    return {.quote = std::string(gemma_quote), .is_control = is_control(gemma_quote)};
  }

  // From its name on.
  Expression of(const std::string& name, Expression arguments, CallForm form) {
    switch (calls_.syntax) {
      case CallSyntax::mistral_name:
        return sequence(text(name), id_, mark("[ARGS]"), std::move(arguments));
      case CallSyntax::llama:
        return sequence(text("{\"name\": \"" + name + "\", \"parameters\": "), std::move(arguments),
                        text("}"));
      case CallSyntax::harmony:
        // The space ends the name.
        return sequence(text(name),
                        form == CallForm::begun_in_channel || form == CallForm::behind_channel
                            ? text(" ")
                            : sequence(mark("<|channel|>"), text("commentary ")),
                        Composer::optional(mark("<|constrain|>")), text("json"), mark("<|message|>"),
                        std::move(arguments));
      case CallSyntax::gemma:
        return sequence(text(name), std::move(arguments));
      case CallSyntax::mistral_list:
      case CallSyntax::hermes:
      case CallSyntax::qwen_xml:
        break;
    }
    return sequence(text("{\"name\": \"" + name + "\", \"arguments\": "), std::move(arguments), text("}"));
  }

  const CallReading& calls_;
  const text::Tokenizer& tokenizer_;
  const bool is_chosen_;
  Composer composer_;
  Expression id_;  // of a call, where Mistral's have one
};

std::string key_of(const CallReading& calls) {
  return std::to_string(static_cast<int>(calls.syntax)) + (calls.parallel ? "+" : "-") +
         calls.tools.list.dump();
}

}  // namespace

TokenId call_opening(CallSyntax syntax, const text::Tokenizer& tokenizer) {
  const auto token = [&tokenizer](std::string_view name) {
    const TokenId id = tokenizer.find(name);
    return id >= 0 && tokenizer.is_control(id) ? id : TokenId{-1};
  };
  switch (syntax) {
    case CallSyntax::hermes:
    case CallSyntax::qwen_xml:
      return token(call_open);
    case CallSyntax::mistral_list:
    case CallSyntax::mistral_name:
      return token("[TOOL_CALLS]");
    case CallSyntax::gemma:
      return token("<|tool_call>");
    case CallSyntax::llama:
    case CallSyntax::harmony:
      break;
  }
  return -1;
}

Result<std::shared_ptr<grammar::TokenMasks>> call_masks(CallForm form, const CallReading& calls,
                                                        const std::string& required,
                                                        const text::Tokenizer& tokenizer, FormMasks& forms) {
  const std::string key = "call " + std::to_string(static_cast<int>(form)) + required + "," + key_of(calls);
  return forms.of(key, [&]() -> Result<Grammar> {
    CallComposer composer(calls, tokenizer, form != CallForm::required);
    const bool several = form == CallForm::begun && calls.parallel;
    FOVEA_TRY(const Expression call, composer.call(form, required, several));
    return std::move(composer.composer()).grammar(call, phrases::given_tools());
  });
}

Result<std::shared_ptr<grammar::TokenMasks>> form_or_calls(const AnswerForm& form, const CallReading& calls,
                                                           const text::Tokenizer& tokenizer,
                                                           FormMasks& forms) {
  const std::string key =
      "form " + std::to_string(static_cast<int>(form.kind)) + key_of(calls) + "," + form.text;
  return forms.of(key, [&]() -> Result<Grammar> {
    CallComposer composer(calls, tokenizer, true);
    FOVEA_TRY(Expression answer, part_of(form, composer.composer()));
    FOVEA_TRY(Expression call, composer.call(CallForm::begun, {}, calls.parallel));
    if (calls.parallel && calls.syntax != CallSyntax::llama) {
      Expression more = Composer::sequence({Composer::optional(composer.composer().text("\n")), call});
      call = Composer::sequence(
          {std::move(call), Expression::of_repetition(std::move(more), 0, Expression::unbounded)});
    }
    return std::move(composer.composer())
        .grammar(Composer::any_of({std::move(answer), std::move(call)}), phrases::given_tools());
  });
}

}  // namespace fovea::chat
