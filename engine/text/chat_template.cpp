#include "engine/text/chat_template.h"

#include <algorithm>
#include <iterator>

#include "engine/core/result.h"
#include "engine/jinja/template.h"
#include "engine/jinja/unicode.h"
#include "engine/text/errors.h"

namespace fovea::text {
namespace {

using jinja::Value;
using nlohmann::ordered_json;

std::unexpected<Error> wrong_variables(Error error) {
  return fail(phrases::template_variables(), std::move(error));
}

Result<Value> value_of(const ordered_json& json, int depth);

Result<Value> list_of(const ordered_json& json, int depth) {
  auto list = std::make_shared<jinja::Sequence>();
  list->items.reserve(json.size());
  for (const ordered_json& item : json) {
    FOVEA_TRY(Value value, value_of(item, depth + 1));
    list->items.push_back(std::move(value));
  }
  jinja::measure(*list);
  return Value::sequence(std::move(list));
}

Result<Value> text_of(const std::string& text) {
  if (!jinja::valid_utf8(text)) return wrong_variables(errors::given_no_utf8());
  return Value::text(text);
}

Result<Value> dict_of(const ordered_json& json, int depth) {
  auto dict = std::make_shared<jinja::Dict>();
  for (const auto& [key, item] : json.items()) {
    FOVEA_TRY(Value name, text_of(key));
    FOVEA_TRY(Value value, value_of(item, depth + 1));
    dict->set(std::move(name), std::move(value));
  }
  return Value::dict(std::move(dict));
}

Result<Value> value_of(const ordered_json& json, int depth) {
  constexpr int max_depth = jinja::max_value_height / 2;
  if (depth > max_depth) return wrong_variables(errors::given_nested(max_depth));
  switch (json.type()) {
    case ordered_json::value_t::null:
      return Value::none();
    case ordered_json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case ordered_json::value_t::number_integer:
      return Value::integer(json.get<std::int64_t>());
    case ordered_json::value_t::number_unsigned:
      return Value::integer(json.get<std::uint64_t>());
    case ordered_json::value_t::number_float:
      return Value::real(json.get<double>());
    case ordered_json::value_t::string:
      return text_of(json.get_ref<const std::string&>());
    case ordered_json::value_t::array:
      return list_of(json, depth);
    case ordered_json::value_t::object:
      return dict_of(json, depth);
    default:
      return wrong_variables(errors::given_no_value());
  }
}

// The fields by which published templates call the thoughts of a message; one that reads several means the
// same by them.
constexpr const char* thought_fields[] = {"reasoning_content", "reasoning", "thinking"};
constexpr const char* thought_switches[] = {"enable_thinking", "thinking"};

ThoughtReads reads_of(const jinja::Template& parsed) {
  ThoughtReads reads;
  for (const char* const name : thought_switches)
    if (parsed.reads_variable(name)) reads.switches.emplace_back(name);
  reads.effort = parsed.reads_variable("reasoning_effort");
  const auto field = std::ranges::find_if(
      thought_fields, [&parsed](const char* const name) { return parsed.reads_field(name); });
  if (field != std::end(thought_fields)) reads.field = *field;
  reads.in_content = parsed.looks_for("</think>");
  return reads;
}

}  // namespace

struct ChatTemplate::Tree {
  jinja::Template parsed;
};

ChatTemplate::ChatTemplate(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      thoughts_(reads_of(tree_->parsed)),
      reads_calls_(tree_->parsed.reads_field("tool_calls")) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, Phrase where) {
  FOVEA_TRY(jinja::Template parsed, jinja::Template::parse(source, std::move(where)));
  return ChatTemplate(std::make_shared<const Tree>(Tree{std::move(parsed)}));
}

Result<std::string> ChatTemplate::render(const ordered_json& variables, const RenderLimits& limits) const {
  if (!variables.is_object()) return wrong_variables(errors::given_no_object());
  jinja::Template::Variables values;
  jinja::Clock clock;
  for (const auto& [name, json] : variables.items()) {
    if (name == clock_variable) {
      if (!json.is_number_integer() || json.get<std::int64_t>() < 0)
        return wrong_variables(errors::given_no_time(clock_variable));
      clock.unix_seconds = json.get<std::int64_t>();
      continue;
    }
    FOVEA_TRY(Value value, value_of(json, 0));
    values.emplace_back(name, std::move(value));
  }
  return tree_->parsed.render(values, {limits.steps, limits.depth, limits.output_bytes}, clock);
}

}  // namespace fovea::text
