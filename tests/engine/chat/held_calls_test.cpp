// Calls that a model chooses to make, and answers that have a form or are calls: whatever is drawn of what is
// allowed, each call is one of a function that there is, with arguments under its schema.
#include <random>
#include <set>

#include "engine/chat/answer_hold.h"
#include "engine/chat/answer_text.h"
#include "tests/engine/chat/tool_samples.h"
#include "tests/support/test.h"

using namespace fovea;
using chat::CallSyntax;
using nlohmann::ordered_json;
using tests::Marks;
using tests::TemplateModel;

namespace {

const char* const go_tools =
    R"([{"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {"to": {"enum": )"
    R"(["a", "b \"c\""]}, "days": {"type": "integer", "minimum": 1, "maximum": 30}, "note": {"type": "string", )"
    R"("maxLength": 6}}, "required": ["to"]}}}, {"type": "function", "function": {"name": "go_on"}}])";

bool is_call(const chat::ToolCall& call) {
  if (call.name == "go_on") return call.arguments.is_object();
  if (call.name != "go" || !call.arguments.contains("to")) return false;
  for (const auto& [name, value] : call.arguments.items()) {
    if (name == "to" && value != "a" && value != "b \"c\"") return false;
    if (name == "days" && !(value.is_number_integer() && value >= 1 && value <= 30)) return false;
    if (name == "note" && !value.is_string()) return false;
    if (name != "to" && name != "days" && name != "note") return false;
  }
  return true;
}

struct Style {
  CallSyntax syntax;
  Marks marks;
  const char* before;   // what a model says before a call, and how it begins one
  const char* opening;  // its last part, of one token
};

const std::map<std::string, Style>& styles() {
  static const std::map<std::string, Style> all{
      {"hermes", {CallSyntax::hermes, Marks::calls, "I look. ", "<tool_call>"}},
      {"hermes behind thoughts",
       {CallSyntax::hermes, Marks::calls, "<think>\n<tool_call>{</think>\n\n", "<tool_call>"}},
      {"qwen_xml", {CallSyntax::qwen_xml, Marks::calls, "I look.\n\n", "<tool_call>"}},
      {"mistral_list", {CallSyntax::mistral_list, Marks::calls, "", "[TOOL_CALLS]"}},
      {"mistral_name", {CallSyntax::mistral_name, Marks::calls, "Yes", "[TOOL_CALLS]"}},
      {"gemma", {CallSyntax::gemma, Marks::gemma, "Ok ", "<|tool_call>"}},
      {"gemma in thoughts", {CallSyntax::gemma, Marks::gemma, "<|channel>thought\nHm", "<|tool_call>"}},
      {"harmony", {CallSyntax::harmony, Marks::harmony, "<|channel|>commentary t", "o"}},
      {"harmony in a role", {CallSyntax::harmony, Marks::harmony, " t", "o"}}};
  return all;
}

// An answer that is drawn token by token.
class Drawn {
 public:
  Drawn(const TemplateModel& model, CallSyntax syntax, const GenerateRequest& request, std::int64_t limit)
      : model_(model), forms_(model.tokenizer()), request_(request), limit_(limit) {
    reading_ = {.syntax = syntax, .tools = {}, .parallel = request.parallel_tool_calls};
    reading_.tools.list = ordered_json::parse(request.tools);
    for (const ordered_json& each : reading_.tools.list)
      reading_.tools.tools.push_back(
          {each["function"]["name"], each["function"].value("parameters", ordered_json())});
    if (syntax == CallSyntax::harmony) prompt_.tokens = encoded("<|start|>assistant");
    if (syntax == CallSyntax::gemma) prompt_.tokens = encoded("<|turn>model\n");
    auto begun = chat::AnswerHold::begin(request_, prompt_,
                                         {.tokenizer = model.tokenizer(),
                                          .channels = model.channels(),
                                          .end_of_generation = ends_,
                                          .forms = forms_},
                                         {.limit = limit, .context = 1000}, &reading_);
    if (!begun) qFatal("%s", begun.error().message().c_str());
    if (*begun) hold_.emplace(**std::move(begun));
    text_.emplace(model.tokenizer(), model.channels(), prompt_, std::vector<std::string>{}, &reading_);
    all_ = text_->opened();
  }

  std::vector<TokenId> encoded(std::string_view text) const {
    return model_.tokenizer().encode(text, {.add_special = false, .parse_special = true});
  }
  bool is_held() const { return hold_.has_value(); }
  std::int64_t left() const { return limit_ - drawn_; }
  bool ended() const { return hold_->ended() || text_->ended(); }

  // Nothing: any token.
  std::vector<TokenId> allowed() {
    const auto bits = hold_->allowed(left());
    if (!bits) qFatal("%s", bits.error().message().c_str());
    std::vector<TokenId> ids;
    for (std::size_t id = 0; id < bits->size() * 32; ++id)
      if ((*bits)[id / 32] >> (id % 32) & 1) ids.push_back(static_cast<TokenId>(id));
    return ids;
  }
  void draw(TokenId token) {
    ++drawn_;
    all_ += text_->push(token);
    if (const auto taken = hold_->accept(token); !taken) qFatal("%s", taken.error().message().c_str());
  }
  // False: it is not allowed.
  bool draw(std::string_view text) {
    for (const TokenId token : encoded(text)) {
      const std::vector<TokenId> ids = allowed();
      if (!ids.empty() && std::ranges::find(ids, token) == ids.end()) return false;
      draw(token);
    }
    return true;
  }
  // Until it is free again or ends.
  template <class Random>
  void draw_while_held(Random& random) {
    while (!ended() && left() > 0) {
      std::vector<TokenId> ids = allowed();
      if (ids.empty()) return;
      const TokenId token = ids[random() % ids.size()];
      if (ends_.contains(token)) return;
      draw(token);
    }
  }
  std::string finish() { return all_ + text_->finish(true); }

 private:
  const TemplateModel& model_;
  chat::FormMasks forms_;
  const GenerateRequest request_;
  const std::int64_t limit_;
  chat::CallReading reading_;
  chat::Prompt prompt_;
  std::unordered_set<TokenId> ends_{5};
  std::optional<chat::AnswerHold> hold_;
  std::optional<chat::AnswerText> text_;
  std::int64_t drawn_ = 0;
  std::string all_;
};

TemplateModel model_of(Marks marks) {
  return {marks, "{% for m in messages %}{{ m.content }}{% endfor %}"};
}

}  // namespace

class HeldCallsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aCallThatIsBegunIsHeld_data() {
    QTest::addColumn<QString>("style");
    for (const auto& [name, style] : styles()) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void aCallThatIsBegunIsHeld() {
    QFETCH(QString, style);
    const Style& of = styles().at(style.toStdString());
    const TemplateModel model = model_of(of.marks);
    std::mt19937 random(tests::seed());
    std::set<std::string> called;
    std::size_t calls = 0;
    for (int round = 0; round < 40; ++round) {
      GenerateRequest request = tests::asked_with_tools(go_tools);
      request.parallel_tool_calls = round % 2 == 0;
      Drawn answer(model, of.syntax, request, 200);
      QVERIFY(answer.is_held());
      // What comes before is free.
      for (const TokenId token : answer.encoded(of.before)) {
        QVERIFY(answer.allowed().empty());
        answer.draw(token);
      }
      QVERIFY(answer.draw(of.opening));
      QVERIFY(!answer.allowed().empty());
      answer.draw_while_held(random);
      const std::string text = answer.finish();
      const std::size_t begin = std::min(text.rfind("</think>"), text.size());
      const auto split =
          chat::split_calls(std::string_view(text).substr(begin == text.size() ? 0 : begin + 8));
      QVERIFY2(!split.calls.empty() && (request.parallel_tool_calls || split.calls.size() == 1),
               text.c_str());
      calls += split.calls.size();
      for (const chat::ToolCall& call : split.calls) {
        QVERIFY2(is_call(call), text.c_str());
        called.insert(call.name);
      }
      if (of.syntax != CallSyntax::harmony && request.parallel_tool_calls && answer.left() > 0)
        QVERIFY(answer.allowed().empty());  // it goes on as it likes
    }
    QCOMPARE(called, (std::set<std::string>{"go", "go_on"}));
    QCOMPARE(calls > 40, of.syntax == CallSyntax::mistral_list);
  }

  void aCallBeginsOnlyWhereItFits() {
    const TemplateModel model = model_of(Marks::calls);
    std::mt19937 random(tests::seed());
    bool fits = false;
    for (std::int64_t limit = 1; limit < 120; ++limit) {
      Drawn answer(model, CallSyntax::hermes, tests::asked_with_tools(go_tools), limit);
      const bool is_allowed = answer.draw("<tool_call>");
      QVERIFY2(is_allowed || !fits, "what fits 10 tokens fits 11");
      fits = is_allowed;
      if (!is_allowed) continue;
      answer.draw_while_held(random);
      const std::string text = answer.finish();
      const auto split = chat::split_calls(text);
      QVERIFY2(split.calls.size() == 1 && is_call(split.calls[0]), text.c_str());
    }
    QVERIFY(fits);
  }

  void whatHasNoOpeningIsFree() {
    const TemplateModel chatml = model_of(Marks::chatml);
    const GenerateRequest request = tests::asked_with_tools(go_tools);
    QVERIFY(!Drawn(chatml, CallSyntax::llama, request, 100).is_held());
    QVERIFY(!Drawn(chatml, CallSyntax::hermes, request, 100).is_held());  // it has no token for it
  }

  // The model may be asked for such a tool, but not be held to its schema.
  void aSchemaThatIsNotSupportedLeavesAnyObject() {
    const TemplateModel model = model_of(Marks::calls);
    std::mt19937 random(tests::seed());
    Drawn answer(model, CallSyntax::hermes,
                 tests::asked_with_tools(R"([{"function": {"name": "f", "parameters": {"not": {}}}}])"), 100);
    QVERIFY(answer.draw("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": "));
    answer.draw_while_held(random);
    const std::string text = answer.finish();
    const auto split = chat::split_calls(text);
    QVERIFY2(split.calls.size() == 1 && split.calls[0].arguments.contains("x"), text.c_str());
  }

  void anAnswerHasItsFormOrIsACall_data() {
    QTest::addColumn<QString>("style");
    for (const char* const name :
         {"hermes", "qwen_xml", "mistral_list", "mistral_name", "gemma", "harmony", "llama"})
      QTest::newRow(name) << QString(name);
  }
  void anAnswerHasItsFormOrIsACall() {
    QFETCH(QString, style);
    const Style llama{CallSyntax::llama, Marks::chatml, "", ""};
    const Style& of = style == "llama" ? llama : styles().at(style.toStdString());
    const TemplateModel model = model_of(of.marks);
    std::mt19937 random(tests::seed());
    std::set<std::string> kinds;
    GenerateRequest request = tests::asked_with_tools(go_tools);
    request.form = {AnswerForm::Kind::json_schema,
                    R"({"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]})"};
    for (int round = 0; round < 400 && kinds.size() < 2; ++round) {
      request.parallel_tool_calls = round % 2 == 0;
      Drawn answer(model, of.syntax, request, 150);
      answer.draw_while_held(random);
      std::string text = answer.finish();
      if (const std::size_t end = text.rfind("</think>"); end != std::string::npos)
        text.erase(0, std::min(text.find_first_not_of('\n', end + 8), text.size()));
      const auto split = chat::split_calls(text);
      for (const chat::ToolCall& call : split.calls) QVERIFY2(is_call(call), text.c_str());
      if (split.calls.empty()) {
        const auto json = ordered_json::parse(text, nullptr, false);
        QVERIFY2(json.is_object() && json.size() == 1 && json["yes"].is_boolean(), text.c_str());
      } else {
        QVERIFY2(split.text.empty(), text.c_str());
      }
      kinds.insert(split.calls.empty() ? "form" : "call");
    }
    QCOMPARE(kinds.size(), std::size_t{2});
  }
};
FOVEA_TEST(HeldCallsTest)

#include "held_calls_test.moc"
