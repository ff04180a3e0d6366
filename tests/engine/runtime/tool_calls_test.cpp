// Calls in each family's syntax, as such models write them, cut at every byte; and conversations with calls
// as each family's template reads them, against jinja2 (tests/golden/make_tool_prompts.py).
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/api/engine.h"
#include "engine/runtime/answer_text.h"
#include "engine/runtime/call_reader.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/prompt.h"
#include "engine/text/text_model.h"
#include "tests/support/test.h"

#include "gemma_marks.h"

namespace fs = std::filesystem;
using namespace fovea;
using nlohmann::ordered_json;
using runtime::CallReader;
using runtime::CallReading;
using runtime::CallSyntax;

namespace {

const char* const weather_tools =
    R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": )"
    R"({"city": {"type": "string"}, "days": {"type": "integer"}, "tags": {"type": "array"}, )"
    R"("sure": {"type": "boolean"}, "note": {"type": ["string", "null"]}, "any": {"anyOf": [{}]}}}}}, )"
    R"({"type": "function", "function": {"name": "now"}}])";

runtime::ToolSet weather_set() {
  runtime::ToolSet set;
  set.list = ordered_json::parse(weather_tools);
  for (const ordered_json& each : set.list)
    set.tools.push_back({each["function"]["name"], each["function"].value("parameters", ordered_json())});
  return set;
}

std::string call(const std::string& name, const std::string& arguments) {
  return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
}

struct Row {
  const char* name;
  CallSyntax syntax;
  std::string written, text;
  std::size_t calls;
};

std::vector<Row> rows() {
  const std::string rome = call("weather", "{\"city\": \"Rome\"}");
  const std::string now = call("now", "{}");
  const auto hermes = CallSyntax::hermes, xml = CallSyntax::qwen_xml, list = CallSyntax::mistral_list,
             named = CallSyntax::mistral_name, llama = CallSyntax::llama, gemma = CallSyntax::gemma;
  const std::string bad =
      "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": Rome}}\n</tool_call>";
  return {
      {"no call", hermes, "It is 1 < 2.", "It is 1 < 2.", 0},
      {"a call", hermes, rome, rome, 1},
      {"text before", hermes, "I look.\n" + rome, "I look.\n" + rome, 1},
      {"two calls", hermes, rome + "\n" + now, rome + "\n" + now, 2},
      {"close together", hermes,
       "<tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\"}}</tool_call>",
       call("weather", "{\"city\":\"Rome\"}"), 1},
      {"arguments first", hermes,
       "<tool_call>\n{\"arguments\": {\"city\": \"Rome\"}, \"name\": \"weather\"}\n</tool_call>", rome, 1},
      {"arguments as a string", hermes,
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": \"{\\\"city\\\": \\\"Rome\\\"}\"}\n</tool_call>",
       rome, 1},
      {"no arguments", hermes, "<tool_call>\n{\"name\": \"now\"}\n</tool_call>", now, 1},
      {"an id", hermes, "<tool_call>\n{\"id\": \"a1\", \"name\": \"now\", \"arguments\": {}}\n</tool_call>",
       "<tool_call>\n{\"name\": \"now\", \"arguments\": {}, \"id\": \"a1\"}\n</tool_call>", 1},
      {"the tag in a string", hermes, call("weather", "{\"city\": \"</tool_call>\"}"),
       call("weather", "{\"city\": \"</tool_call>\"}"), 1},
      {"no end", hermes, "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}", now, 1},
      {"no end, another", hermes, "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n" + rome,
       now + "\n" + rome, 2},
      {"no JSON", hermes, "<tool_call>\nnone\n</tool_call>", "<tool_call>\nnone\n</tool_call>", 0},
      {"no object of a call", hermes, "<tool_call>\n{\"city\": 1}\n</tool_call>!",
       "<tool_call>\n{\"city\": 1}\n</tool_call>!", 0},
      {"wrong arguments", hermes, bad, bad, 0},
      {"wrong, then a call", hermes, bad + rome, bad + rome, 1},
      {"cut before the name ends", hermes, "<tool_call>\n{\"name\": \"wea", "<tool_call>\n{\"name\": \"wea",
       0},
      {"cut in the arguments", hermes, "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"R",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"R", 0},
      {"cut in the tag", hermes, "Well <tool_ca", "Well <tool_ca", 0},
      {"characters of several bytes", hermes, "é " + call("weather", "{\"city\": \"Zürich 🌦\"}"),
       "é " + call("weather", "{\"city\": \"Zürich 🌦\"}"), 1},

      {"parameters", xml,
       "<tool_call>\n<function=weather>\n<parameter=city>\nNew "
       "\"York\"\n\nCity\n</parameter>\n<parameter=days>\n3\n"
       "</parameter>\n<parameter=tags>\n[\"a\", 1]\n</parameter>\n<parameter=sure>\nTrue\n</parameter>\n"
       "</function>\n</tool_call>",
       call("weather",
            "{\"city\": \"New \\\"York\\\"\\n\\nCity\", \"days\": 3, \"tags\": [\"a\", 1], \"sure\": true}"),
       1},
      {"values of no type", xml,
       "<function=weather><parameter=days>soon</parameter><parameter=note>null</parameter>"
       "<parameter=any>{\"x\": 1}</parameter><parameter=more>5</parameter></function>",
       call("weather", "{\"days\": \"soon\", \"note\": null, \"any\": {\"x\": 1}, \"more\": \"5\"}"), 1},
      {"a number as a text", xml,
       "<tool_call>\n<function=weather>\n<parameter=city>\n12\n</parameter>\n</function>\n</tool_call>",
       call("weather", "{\"city\": \"12\"}"), 1},
      {"no parameters", xml, "Now:\n\n<tool_call>\n<function=now>\n</function>\n</tool_call>\n",
       "Now:\n\n" + now + "\n", 1},
      {"a tag in a value", xml, "<function=weather><parameter=city></par</parameter></function>",
       call("weather", "{\"city\": \"</par\"}"), 1},
      {"JSON instead", xml, rome, rome, 1},
      {"cut in a value", xml, "<tool_call>\n<function=weather>\n<parameter=city>\nRo",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro", 0},
      {"cut in another value", xml, "<tool_call>\n<function=weather>\n<parameter=days>\n1",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"days\": 1", 0},
      {"no tag inside", xml, "<tool_call>\n<function=now>\nwhat",
       "<tool_call>\n{\"name\": \"now\", \"arguments\": {what", 0},

      {"a list", list,
       "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}, \"id\": \"a1b2c3d4e\"}, "
       "{\"name\": \"now\", \"arguments\": {}}]",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}, \"id\": "
       "\"a1b2c3d4e\"}\n</tool_call>" +
           now,
       2},
      {"a list that is none", list, "[TOOL_CALLS][1, 2]", "[TOOL_CALLS][1, 2]", 0},
      {"a list of nothing", list, "[TOOL_CALLS][]", "[TOOL_CALLS][]", 0},
      {"a list that is cut", list, "[TOOL_CALLS][{\"name\": \"no", "[TOOL_CALLS][{\"name\": \"no", 0},
      {"names", named, "[TOOL_CALLS]weather[ARGS]{\"city\": \"Rome\"}[TOOL_CALLS]now[ARGS]{}", rome + now, 2},
      {"a name with an id", named, "Yes[TOOL_CALLS]now[CALL_ID]a1b2c3d4e[ARGS]{}",
       "Yes<tool_call>\n{\"name\": \"now\", \"arguments\": {}, \"id\": \"a1b2c3d4e\"}\n</tool_call>", 1},
      {"a name alone", named, "[TOOL_CALLS]now{}", now, 1},
      {"a name without arguments", named, "[TOOL_CALLS]now[ARGS]soon", "[TOOL_CALLS]now[ARGS]soon", 0},
      {"no name", named, "[TOOL_CALLS] what is it\n", "[TOOL_CALLS] what is it\n", 0},
      {"arguments that are cut", named, "[TOOL_CALLS]weather[ARGS]{\"city\": ",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": ", 0},

      {"parameters for arguments", llama, "{\"name\": \"weather\", \"parameters\": {\"city\": \"Rome\"}}",
       rome, 1},
      {"behind a tag", llama, "<|python_tag|>{\"name\": \"weather\", \"parameters\": {\"city\": \"Rome\"}}",
       rome, 1},
      {"several", llama,
       "{\"name\": \"weather\", \"parameters\": {\"city\": \"Rome\"}}; {\"name\": \"now\", \"parameters\": "
       "{}}",
       rome + now, 2},
      {"a type", llama, "{\"type\": \"function\", \"name\": \"now\", \"parameters\": {}}", now, 1},
      {"another object", llama, "{\"name\": \"Bob\", \"age\": 3}", "{\"name\": \"Bob\", \"age\": 3}", 0},
      {"an object without arguments", llama, "{\"name\": \"now\"} ok", "{\"name\": \"now\"} ok", 0},
      {"a text", llama, " Well {\"name\": \"now\", \"parameters\": {}}",
       " Well {\"name\": \"now\", \"parameters\": {}}", 0},
      {"code", llama, "<|python_tag|>weather.call(city=\"Rome\")",
       "<|python_tag|>weather.call(city=\"Rome\")", 0},

      {"bare keys", gemma, "<|tool_call>call:weather{city:<|\"|>Rome<|\"|>}<tool_call|>", rome, 1},
      {"all values", gemma,
       "Ok<|tool_call>call:weather{city:<|\"|>a "
       "\"b\"\nc<|\"|>,days:-1.5e3,sure:true,note:null,tags:[<|\"|>x<|\"|>,2,[],"
       "{k:[1]}],any:{}}<tool_call|><|tool_call>call:now{}<tool_call|>",
       "Ok" +
           call("weather",
                "{\"city\": \"a \\\"b\\\"\\nc\", \"days\": -1.5e3, \"sure\": true, \"note\": null, \"tags\": "
                "[\"x\", 2, [], {\"k\": [1]}], \"any\": {}}") +
           now,
       2},
      {"words without quotes", gemma, "<|tool_call>call:weather{city:New York}<tool_call|>",
       call("weather", "{\"city\": \"New York\"}"), 1},
      {"no word", gemma, "<|tool_call>weather{}", "<|tool_call>weather{}", 0},
      {"cut in a string", gemma, "<|tool_call>call:weather{city:<|\"|>Ro<|",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro<|", 0},
      {"a wrong bracket", gemma, "<|tool_call>call:weather{tags:[1}!",
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"tags\": [1}!", 0},
  };
}

// What is said and what is of a call, each joined: {said, told, all}.
std::array<std::string, 3> read(const Row& row, std::size_t cut, bool byte_by_byte, bool parallel = true) {
  const CallReading reading{row.syntax, weather_set(), parallel};
  const auto reader = CallReader::of(reading);
  std::array<std::string, 3> texts;
  const auto add = [&](const CallReader::Pieces& pieces) {
    for (const auto& piece : pieces) {
      texts[piece.call ? 1 : 0] += piece.text;
      texts[2] += piece.text;
    }
  };
  if (byte_by_byte) {
    for (const char c : row.written) add(reader->push({&c, 1}));
  } else {
    add(reader->push(std::string_view(row.written).substr(0, cut)));
    add(reader->push(std::string_view(row.written).substr(cut)));
  }
  add(reader->finish());
  return texts;
}

const ordered_json& golden_prompts() {
  static const ordered_json json = [] {
    std::ifstream file(tests::golden("tool_prompts.json"));
    return ordered_json::parse(file, nullptr, false);
  }();
  return json;
}

// A text model with a template, and a tokeniser with the control tokens that belong to it.
struct TemplateModel {
  tests::TemporaryFolder folder;
  std::shared_ptr<const TextModel> text;
  std::unique_ptr<runtime::ControlTokens> control;
  std::optional<runtime::ChannelTokens> channels;
  std::optional<CallSyntax> syntax;

  TemplateModel(const std::string& style, const std::string& source) {
    fs::copy(tests::golden("chat"), folder.path(), fs::copy_options::recursive);
    if (style == "harmony" || style == "gemma") {
      for (const char* const name : {"tokenizer.json", "tokenizer_config.json"}) {
        std::string json = tests::content(tests::golden("thinking") / name);
        std::ofstream(folder.path() / name)
            << (style == "gemma" ? tests::with_gemmas_marks(std::move(json)) : json);
      }
    }
    std::ofstream(folder.path() / "chat_template.jinja") << source;
    auto opened = TextModel::open(folder.path());
    if (!opened) qFatal("%s", opened.error().message().c_str());
    text = *std::move(opened);
    control = std::make_unique<runtime::ControlTokens>(text->parts().tokenizer);
    channels = runtime::ChannelTokens::of(text->parts().tokenizer);
    syntax = runtime::call_syntax(*text, text->parts().tokenizer);
  }

  Result<std::string> prompt(const GenerateRequest& request) const {
    const auto tools = runtime::tools_of(request, *text, syntax);
    if (!tools) return std::unexpected(tools.error());
    const auto made = runtime::PromptMaker{.text = *text,
                                           .tokenizer = text->parts().tokenizer,
                                           .control = *control,
                                           .channels = channels ? &*channels : nullptr,
                                           .context = 10'000,
                                           .syntax = syntax}
                          .make(request, *tools);
    if (!made) return std::unexpected(made.error());
    return text->decode(made->tokens, true);
  }
};

constexpr const char* syntax_names[] = {"hermes", "qwen_xml", "mistral_list", "mistral_name",
                                        "llama",  "gemma",    "harmony"};

GenerateRequest asked(const std::string& tools = weather_tools) {
  GenerateRequest request;
  request.messages = {{"user", "Weather?"}};
  request.tools = tools;
  return request;
}

}  // namespace

class ToolCallsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everySyntaxIsRead() {
    for (const Row& row : rows()) {
      const auto whole = read(row, row.written.size(), false);
      QVERIFY2(whole[2] == row.text, (std::string(row.name) + ": " + whole[2]).c_str());
      QVERIFY2(runtime::split_calls(row.text).calls.size() == row.calls, row.name);
      QVERIFY2(read(row, 0, true) == whole, row.name);
      for (std::size_t cut = 0; cut <= row.written.size(); ++cut)
        QVERIFY2(read(row, cut, false) == whole, row.name);
      // What is a call's is no concern of stop strings, what is text is.
      if (row.calls > 0) QVERIFY2(!whole[0].contains("\"name\""), row.name);
    }
  }

  // Arguments are not kept until they are complete.
  void argumentsPassOnAsTheyCome() {
    const std::vector<std::pair<CallSyntax, std::string>> begun{
        {CallSyntax::hermes, "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro"},
        {CallSyntax::qwen_xml, "<tool_call>\n<function=weather>\n<parameter=city>\nRo"},
        {CallSyntax::mistral_list, "[TOOL_CALLS][{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro"},
        {CallSyntax::mistral_name, "[TOOL_CALLS]weather[ARGS]{\"city\": \"Ro"},
        {CallSyntax::llama, "{\"name\": \"weather\", \"parameters\": {\"city\": \"Ro"},
        {CallSyntax::gemma, "<|tool_call>call:weather{city:<|\"|>Ro"}};
    for (const auto& [syntax, written] : begun) {
      const CallReading reading{syntax, weather_set()};
      const auto reader = CallReader::of(reading);
      std::string told;
      for (const auto& piece : reader->push(written)) told += piece.text;
      QCOMPARE(told, std::string("<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro"));
    }
  }

  void oneCallAtMostWhereSeveralAreNotWanted() {
    for (const Row& row : rows()) {
      if (row.calls < 2) continue;
      const auto one = read(row, row.written.size() / 2, false, false);
      QVERIFY2(runtime::split_calls(one[2]).calls.size() == 1, (row.name + (": " + one[2])).c_str());
      QVERIFY2(one[2].ends_with("</tool_call>"), one[2].c_str());
    }
  }

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
    const TemplateModel model("harmony", golden_prompts()["templates"]["harmony"]);
    const text::Tokenizer& tokenizer = model.text->parts().tokenizer;
    const CallReading reading{CallSyntax::harmony, weather_set()};
    runtime::Prompt prompt;
    prompt.tokens =
        tokenizer.encode("<|start|>user<|message|>x<|end|><|start|>assistant", {.parse_special = true});
    const auto answer = [&](const CallReading* read) {
      runtime::AnswerText text(tokenizer, &*model.channels, prompt, {"Rome"}, read);
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
    for (const auto& one : golden_prompts()["cases"]) {
      const std::string style = one["template"];
      const TemplateModel model(style, golden_prompts()["templates"][style]);
      QVERIFY2(model.syntax && syntax_names[static_cast<int>(*model.syntax)] == style, style.c_str());
      GenerateRequest request;
      request.tools = golden_prompts()["tools"].dump();
      for (const auto& message : one["messages"])
        request.messages.push_back({.role = message["role"],
                                    .content = message["content"],
                                    .tool_call_id = message.value("id", ""),
                                    .tool_name = message.value("name", "")});
      const auto text = model.prompt(request);
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
    const TemplateModel model("", tests::content(path));
    QCOMPARE(QString(model.syntax ? syntax_names[static_cast<int>(*model.syntax)] : ""), syntax);
    // Some want a description and types.
    if (!syntax.isEmpty())
      FOVEA_VERIFY(model.prompt(asked(
          R"([{"type": "function", "function": {"name": "f", "description": "x", "parameters": {"type": "object", )"
          R"("properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]}}}])")));
  }

  void whatCannotBeCalledIsRefused() {
    const TemplateModel plain("", "{% for m in messages %}{{ m.content }}{% endfor %}");
    const auto none = plain.prompt(asked());
    QVERIFY(!none && none.error().is(errors::template_knows_no_tools.code));
    GenerateRequest not_shown = asked();
    not_shown.tool_choice = ToolChoice::none;
    FOVEA_VERIFY(plain.prompt(not_shown));
    const TemplateModel strange("",
                                "{{ tools }}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls "
                                "or [] %}@{{ c.function.name }}{% endfor %}{% endfor %}");
    const auto unknown = strange.prompt(asked());
    QVERIFY(!unknown && unknown.error().is(errors::call_syntax_unknown.code));

    const TemplateModel hermes("hermes", golden_prompts()["templates"]["hermes"]);
    const auto code = [&](const GenerateRequest& request) {
      const auto refused = hermes.prompt(request);
      return refused ? std::string("accepted") : refused.error().message();
    };
    QVERIFY2(code(asked("[{")).contains("not valid JSON"), code(asked("[{")).c_str());
    QVERIFY(code(asked("[{\"type\": \"function\"}]")).contains("no object with a \"function\""));
    QVERIFY(code(asked(R"([{"function": {"name": "a b"}}])")).contains("has no name"));
    QVERIFY(code(asked(R"([{"function": {"name": "a", "parameters": 1}}])")).contains("no object"));
    QVERIFY(code(asked(R"([{"function": {"name": "a"}}, {"function": {"name": "a"}}])"))
                .contains("two functions"));
    GenerateRequest wrong = asked("");
    wrong.tool_choice = ToolChoice::required;
    QVERIFY(code(wrong).contains("there are no tools"));
    wrong = asked();
    wrong.tool_choice = ToolChoice::required;
    wrong.required_tool = "other";
    QVERIFY(code(wrong).contains("\"other\" must be called"));
    wrong = asked();
    wrong.form.kind = AnswerForm::Kind::json;
    QVERIFY(code(wrong).contains("held to a form"));
    wrong = asked();
    wrong.raw_prompt = "x";
    QVERIFY(code(wrong).contains("raw prompt"));
  }

  // Whatever the weights would say: one call, of a function that there is, with arguments under its schema.
  void aRequiredCallIsMade_data() {
    QTest::addColumn<QString>("style");
    for (const char* const style : syntax_names)
      if (std::string_view(style) != "gemma") QTest::newRow(style) << QString(style);
  }
  void aRequiredCallIsMade() {
    QFETCH(QString, style);
    const TemplateModel model(style.toStdString(), golden_prompts()["templates"][style.toStdString()]);
    if (style == "harmony") {
      auto config = ordered_json::parse(tests::content(model.folder.path() / "config.json"), nullptr, false);
      config["eos_token_id"] = {5, 6};  // <|return|>, <|call|>
      std::ofstream(model.folder.path() / "config.json") << config.dump();
    }
    auto engine = Engine::load({.model = model.folder.path(),
                                .context = 512,
                                .kv = KvType::f32,
                                .threads = 2,
                                .need_tokenizer = true});
    FOVEA_VERIFY(engine);
    GenerateRequest request = asked(
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
      const auto split = runtime::split_calls(std::string_view(result->text).substr(begin));
      QVERIFY2(split.calls.size() == 1 && split.text.empty(), result->text.c_str());
      const runtime::ToolCall& call = split.calls.front();
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
    const TemplateModel hermes("hermes", golden_prompts()["templates"]["hermes"]);
    auto engine =
        Engine::load({.model = hermes.folder.path(), .context = 512, .threads = 2, .need_tokenizer = true});
    FOVEA_VERIFY(engine);
    GenerateRequest request = asked(R"([{"function": {"name": "go", "parameters": {"not": {}}}}])");
    request.tool_choice = ToolChoice::required;
    const auto refused = (*engine)->generate(request);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message().contains("parameters of go, #/not"),
             refused.error().message().c_str());
  }

  void spelledCallsOfAConversationWithoutToolsAreText() {
    const TemplateModel hermes("hermes", golden_prompts()["templates"]["hermes"]);
    GenerateRequest request;
    request.messages = {{"user", "x"}, {"assistant", "Like " + call("now", "{}") + " so"}, {"user", "y"}};
    const auto text = hermes.prompt(request);
    FOVEA_VERIFY(text);
    QVERIFY2(text->contains("Like " + call("now", "{}") + " so"), text->c_str());
  }
};
FOVEA_TEST(ToolCallsTest)

#include "tool_calls_test.moc"
