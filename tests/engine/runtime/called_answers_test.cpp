// Calls that are required, whatever the model's weights would say.
#include <set>

#include "engine/api/engine.h"
#include "engine/chat/errors.h"
#include "tests/engine/chat/tool_samples.h"
#include "tests/support/test.h"

using namespace fovea;
using tests::TemplateModel;

class CalledAnswersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Whatever the weights would say: one call, of a function that there is, with arguments under its schema.
  void aRequiredCallIsMade_data() {
    QTest::addColumn<QString>("style");
    for (const char* const style : tests::syntax_names) QTest::newRow(style) << QString(style);
  }
  void aRequiredCallIsMade() {
    QFETCH(QString, style);
    const TemplateModel model = tests::model_of_syntax(style.toStdString());
    auto engine = Engine::load(
        {.model = model.path(), .context = 512, .kv = KvType::f32, .threads = 2, .need_tokenizer = true});
    FOVEA_VERIFY(engine);
    GenerateRequest request = tests::asked_with_tools(
        R"([{"function": {"name": "go", "parameters": {"type": "object", "properties": {"to": {"enum": ["a", "b"]}}, )"
        R"("required": ["to"]}}}, {"function": {"name": "go_on"}}])");
    request.tool_choice = ToolChoice::required;
    request.sampling.temperature = 50;
    request.sampling.top_p = 1;
    request.sampling.min_p = 0;
    request.max_tokens = 1;
    const auto refused = (*engine)->generate(request);
    QVERIFY(!refused && refused.error().is(errors::limit_too_short_for_form.code));
    const auto needed = refused.error().number("needed").value_or(0);
    std::set<std::string> called;
    bool thought = false;
    for (int i = 0; i < 40; ++i) {
      request.sampling.seed = static_cast<std::uint64_t>(i + 1);
      request.max_tokens = static_cast<std::int32_t>(needed + i);
      request.required_tool = i % 4 == 0 ? "go_on" : "";
      std::string streamed;
      const auto result =
          (*engine)->generate(request, [&](std::string_view more, const Timings&) { streamed += more; });
      FOVEA_VERIFY(result);
      QCOMPARE(streamed, result->text);
      QVERIFY(result->finish == FinishReason::stop_token && std::ssize(result->tokens) <= request.max_tokens);
      thought = thought || result->text.starts_with("<think>");
      const std::size_t begin = std::min(result->text.find("<tool_call>"), result->text.size());
      const auto split = chat::split_calls(std::string_view(result->text).substr(begin));
      QVERIFY2(split.calls.size() == 1 && split.text.empty(), result->text.c_str());
      const chat::ToolCall& call = split.calls.front();
      called.insert(call.name);
      if (i % 4 == 0) QCOMPARE(call.name, std::string("go_on"));
      QVERIFY2(call.name == "go_on" || (call.arguments.size() == 1 &&
                                        (call.arguments["to"] == "a" || call.arguments["to"] == "b")),
               result->text.c_str());
    }
    QCOMPARE(called, (std::set<std::string>{"go", "go_on"}));
    QVERIFY(thought || style != "harmony");
  }

  void aRequiredCallThatCannotBeHeldIsRefused() {
    const TemplateModel hermes = tests::model_of_syntax("hermes");
    auto engine =
        Engine::load({.model = hermes.path(), .context = 512, .threads = 2, .need_tokenizer = true});
    FOVEA_VERIFY(engine);
    GenerateRequest request =
        tests::asked_with_tools(R"([{"function": {"name": "go", "parameters": {"not": {}}}}])");
    request.tool_choice = ToolChoice::required;
    const auto refused = (*engine)->generate(request);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message().contains("parameters of go, #/not"),
             refused.error().message().c_str());
  }
};
FOVEA_TEST(CalledAnswersTest)

#include "called_answers_test.moc"
