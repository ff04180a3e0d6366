// Calls in each family's syntax, as such models write them, cut at every byte.
#include "engine/chat/call_reader.h"

#include <array>

#include "tests/engine/chat/tool_samples.h"
#include "tests/support/test.h"

using namespace fovea;
using chat::CallReader;
using chat::CallReading;
using chat::CallSyntax;
using tests::call;

namespace {

struct CallRow {
  const char* name;
  CallSyntax syntax;
  std::string written, text;
  std::size_t calls;
};

std::vector<CallRow> call_rows() {
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
std::array<std::string, 3> read(const CallRow& row, std::size_t cut, bool byte_by_byte,
                                bool parallel = true) {
  const CallReading reading{row.syntax, tests::weather_set(), parallel};
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

}  // namespace

class CallReaderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everySyntaxIsRead() {
    for (const CallRow& row : call_rows()) {
      const auto whole = read(row, row.written.size(), false);
      QVERIFY2(whole[2] == row.text, (std::string(row.name) + ": " + whole[2]).c_str());
      QVERIFY2(chat::split_calls(row.text).calls.size() == row.calls, row.name);
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
      const CallReading reading{syntax, tests::weather_set()};
      const auto reader = CallReader::of(reading);
      std::string told;
      for (const auto& piece : reader->push(written)) told += piece.text;
      QCOMPARE(told, std::string("<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Ro"));
    }
  }

  void oneCallAtMostWhereSeveralAreNotWanted() {
    for (const CallRow& row : call_rows()) {
      if (row.calls < 2) continue;
      const auto one = read(row, row.written.size() / 2, false, false);
      QVERIFY2(chat::split_calls(one[2]).calls.size() == 1, (row.name + (": " + one[2])).c_str());
      QVERIFY2(one[2].ends_with("</tool_call>"), one[2].c_str());
    }
  }
};
FOVEA_TEST(CallReaderTest)

#include "call_reader_test.moc"
