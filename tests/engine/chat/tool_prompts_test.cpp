// Conversations with calls as each family's template reads them, against jinja2
// (tests/golden/make_tool_prompts.py), what tells a template's syntax, and what cannot be asked for.
#include <filesystem>
#include <map>

#include "engine/chat/answer_text.h"
#include "engine/chat/call_reader.h"
#include "engine/chat/errors.h"
#include "tests/engine/chat/tool_samples.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea;
using chat::CallReading;
using chat::CallSyntax;
using tests::call;
using tests::Marks;
using tests::TemplateModel;

class ToolPromptsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void harmonysCallsAreMessages_data() {
    QTest::addColumn<QString>("written");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, const char* written, const std::string& text) {
      QTest::newRow(name) << QString(written) << QString::fromStdString(text);
    };
    const std::string rome = call("weather", "{\"city\":\"Rome\"}");
    row("behind thoughts",
        "<|channel|>analysis<|message|>Ask.<|end|><|start|>assistant<|channel|>commentary "
        "to=functions.weather "
        "<|constrain|>json<|message|>{\"city\":\"Rome\"}",
        "<think>\nAsk.\n</think>\n\n" + rome);
    row("the recipient first",
        " to=functions.weather<|channel|>commentary json<|message|>{\"city\":\"Rome\"}", rome);
    row("a preamble",
        "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary "
        "to=functions.now "
        "<|constrain|>json<|message|>{}",
        "I look.\n\n" + call("now", "{}"));
    row("wrong arguments", "<|channel|>commentary to=functions.now<|message|>{soon}",
        "<tool_call>\n{\"name\": \"now\", \"arguments\": {soon}");
    row("no function", "<|channel|>commentary to=browser.open<|message|>{}", "{}");
  }
  void harmonysCallsAreMessages() {
    QFETCH(QString, written);
    QFETCH(QString, text);
    const TemplateModel model = tests::model_of_syntax("harmony");
    const text::Tokenizer& tokenizer = model.tokenizer();
    const CallReading reading{CallSyntax::harmony, tests::weather_set()};
    chat::Prompt prompt;
    prompt.tokens =
        tokenizer.encode("<|start|>user<|message|>x<|end|><|start|>assistant", {.parse_special = true});
    const auto answer = [&](const CallReading* read) {
      chat::AnswerText text(tokenizer, model.channels(), prompt, {"Rome"}, read);
      std::string all = text.opened();
      for (const TokenId token : tokenizer.encode(written.toStdString(), {.parse_special = true}))
        all += text.push(token);
      return all + text.finish(true);
    };
    QCOMPARE(QString::fromStdString(answer(&reading)), text);
    QVERIFY(!answer(nullptr).contains("<tool_call>"));  // where the request has no tools, it is a text
  }

  void promptsAreAsJinja2MakesThem() {
    std::map<std::string, int> cases;
    for (const auto& one : tests::golden_prompts()["cases"]) {
      const std::string style = one["template"];
      const TemplateModel model = tests::model_of_syntax(style);
      QVERIFY2(model.syntax() && tests::syntax_names[static_cast<int>(*model.syntax())] == style,
               style.c_str());
      GenerateRequest request;
      request.tools = tests::golden_prompts()["tools"].dump();
      for (const auto& message : one["messages"])
        request.messages.push_back({.role = message["role"],
                                    .content = message["content"],
                                    .tool_call_id = message.value("id", ""),
                                    .tool_name = message.value("name", "")});
      const auto text = model.rendered(request);
      FOVEA_VERIFY(text);
      QVERIFY2(*text == one["text"].get<std::string>(),
               (one["name"].get<std::string>() + ": " + *text).c_str());
      ++cases[style];
    }
    QCOMPARE(cases.size(), std::size_t{7});
  }

  void publishedTemplatesTellTheirSyntax_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("syntax");  // empty: none
    const auto row = [](const char* file, const char* syntax) {
      QTest::newRow(file) << QString(file) << QString(syntax);
    };
    row("Qwen-Qwen2.5-7B-Instruct.jinja", "hermes");
    row("Qwen-Qwen3-0.6B.jinja", "hermes");
    row("NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja", "hermes");
    row("Qwen3-Coder.jinja", "qwen_xml");
    row("Qwen3.5-4B.jinja", "qwen_xml");
    row("mistralai-Mistral-Nemo-Instruct-2407.jinja", "mistral_list");
    row("Mistral-Small-3.2-24B-Instruct-2506.jinja", "mistral_name");
    row("unsloth-mistral-Devstral-Small-2507.jinja", "mistral_name");
    row("meta-llama-Llama-3.1-8B-Instruct.jinja", "llama");
    row("meta-llama-Llama-3.3-70B-Instruct.jinja", "llama");
    row("google-gemma-4-31B-it.jinja", "gemma");
    row("openai-gpt-oss-120b.jinja", "harmony");
    row("google-gemma-2-2b-it.jinja", "");
  }
  void publishedTemplatesTellTheirSyntax() {
    QFETCH(QString, file);
    QFETCH(QString, syntax);
    const fs::path path = tests::published_templates() / file.toStdString();
    if (tests::published_templates().empty())
      QSKIP("the published templates are not there; ./scripts/test downloads them");
    const TemplateModel model(Marks::chatml, tests::content(path));
    QCOMPARE(QString(model.syntax() ? tests::syntax_names[static_cast<int>(*model.syntax())] : ""), syntax);
    // Some want a description and types.
    if (!syntax.isEmpty())
      FOVEA_VERIFY(model.rendered(tests::asked_with_tools(
          R"([{"type": "function", "function": {"name": "f", "description": "x", "parameters": {"type": "object", )"
          R"("properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]}}}])")));
  }

  void whatCannotBeCalledIsRefused() {
    const TemplateModel plain(Marks::chatml, "{% for m in messages %}{{ m.content }}{% endfor %}");
    const auto none = plain.rendered(tests::asked_with_tools());
    QVERIFY(!none && none.error().is(errors::template_knows_no_tools.code));
    GenerateRequest not_shown = tests::asked_with_tools();
    not_shown.tool_choice = ToolChoice::none;
    FOVEA_VERIFY(plain.rendered(not_shown));
    const TemplateModel strange(Marks::chatml,
                                "{{ tools }}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls "
                                "or [] %}@{{ c.function.name }}{% endfor %}{% endfor %}");
    const auto unknown = strange.rendered(tests::asked_with_tools());
    QVERIFY(!unknown && unknown.error().is(errors::call_syntax_unknown.code));

    const TemplateModel hermes = tests::model_of_syntax("hermes");
    const auto code = [&](const GenerateRequest& request) {
      const auto refused = hermes.rendered(request);
      return refused ? std::string("accepted") : refused.error().message();
    };
    QVERIFY2(code(tests::asked_with_tools("[{")).contains("not valid JSON"),
             code(tests::asked_with_tools("[{")).c_str());
    QVERIFY(code(tests::asked_with_tools("[{\"type\": \"function\"}]"))
                .contains("not an object with a \"function\""));
    QVERIFY(code(tests::asked_with_tools(R"([{"function": {"name": "a b"}}])"))
                .contains("is not 1 to 128 letters"));
    QVERIFY(code(tests::asked_with_tools(R"([{"function": {"name": "a", "parameters": 1}}])"))
                .contains("not an object"));
    QVERIFY(code(tests::asked_with_tools(R"([{"function": {"name": "a"}}, {"function": {"name": "a"}}])"))
                .contains("two functions"));
    GenerateRequest wrong = tests::asked_with_tools("");
    wrong.tool_choice = ToolChoice::required;
    QVERIFY(code(wrong).contains("there are no tools"));
    wrong = tests::asked_with_tools();
    wrong.tool_choice = ToolChoice::required;
    wrong.required_tool = "other";
    QVERIFY(code(wrong).contains("\"other\" must be called"));
    GenerateRequest beside = tests::asked_with_tools();
    beside.form.kind = AnswerForm::Kind::json;
    FOVEA_VERIFY(hermes.rendered(beside));
    wrong = tests::asked_with_tools();
    wrong.raw_prompt = "x";
    QVERIFY(code(wrong).contains("raw prompt"));
  }

  void spelledCallsOfAConversationWithoutToolsAreText() {
    const TemplateModel hermes = tests::model_of_syntax("hermes");
    GenerateRequest request;
    request.messages = {{"user", "x"}, {"assistant", "Like " + call("now", "{}") + " so"}, {"user", "y"}};
    const auto text = hermes.rendered(request);
    FOVEA_VERIFY(text);
    QVERIFY2(text->contains("Like " + call("now", "{}") + " so"), text->c_str());
  }
};
FOVEA_TEST(ToolPromptsTest)

#include "tool_prompts_test.moc"
