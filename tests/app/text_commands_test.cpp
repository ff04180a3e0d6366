// fovea tokenize and fovea template on the demo model; the expected ids and prompt are transformers'.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::Outcome;
using fovea::tests::run;
using Ids = std::vector<int>;
Q_DECLARE_METATYPE(Ids)

namespace {

const QByteArray system_part =
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n";

}  // namespace

class TextCommandsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    model_ = fovea::tests::demo_model();
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
  }

  void tokenize_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("parse_special");
    QTest::addColumn<Ids>("ids");
    QTest::newRow("line") << QByteArray("Hello world\n") << false << Ids{19556, 905, 198};
    QTest::newRow("control token as text")
        << QByteArray("<|im_end|>") << false << Ids{44, 108, 306, 79, 486, 108, 46};
    QTest::newRow("control token") << QByteArray("<|im_end|>") << true << Ids{2};
    QTest::newRow("parts of characters") << QByteArray("é字😀") << false << Ids{2756, 36518, 10813, 242, 218};
    QTest::newRow("every byte counts") << QByteArray("a\0b\r\n", 5) << false << Ids{81, 190, 82, 2738};
    QTest::newRow("nothing") << QByteArray("") << false << Ids{};
  }
  void tokenize() {
    QFETCH(QByteArray, text);
    QFETCH(bool, parse_special);
    QFETCH(Ids, ids);
    std::vector<std::string> arguments{"tokenize", model_, "--json"};
    if (parse_special) arguments.push_back("--parse-special");
    const Outcome from_input = run(arguments, {.input = text.toStdString()});
    QCOMPARE(from_input.code, 0);
    const auto object = nlohmann::json::parse(from_input.out, nullptr, false);
    QCOMPARE(object["tokens"].get<Ids>(), ids);
    QCOMPARE(object["pieces"].size(), ids.size());
    std::string bytes;
    for (const auto& piece : object["bytes"]) bytes += piece.get<std::string>();
    QCOMPARE(QByteArray::fromStdString(bytes), text.toHex());
    if (text.contains('\0')) return;  // no argument can hold it
    arguments.insert(arguments.end(), {"--text", text.toStdString()});
    QCOMPARE(run(arguments).out, from_input.out);
  }

  void theTokensOnePerLine() {
    QCOMPARE(run({"tokenize", model_, "--text", "Hello world\n"}).out,
             std::string("19556\t\"Hello\"\n905\t\" world\"\n198\t\"\\n\"\n"));
  }

  void prompts_data() {
    QTest::addColumn<QByteArray>("messages");
    QTest::addColumn<std::vector<std::string>>("more");
    QTest::addColumn<QByteArray>("expected");
    const QByteArray list = R"([{"role": "user", "content": "hé"}])";
    const QByteArray user = "<|im_start|>user\nhé<|im_end|>\n";
    const QByteArray begin = "<|im_start|>assistant\n";
    using More = std::vector<std::string>;
    QTest::newRow("list") << list << More{} << system_part + user + begin;
    QTest::newRow("object") << QByteArray(R"({"messages": )" + list + "}") << More{}
                            << system_part + user + begin;
    QTest::newRow("no generation prompt") << list << More{"--no-generation-prompt"} << system_part + user;
    QTest::newRow("said by the object")
        << QByteArray(R"({"add_generation_prompt": false, "messages": )" + list + "}") << More{}
        << system_part + user;
  }
  void prompts() {
    QFETCH(QByteArray, messages);
    QFETCH(std::vector<std::string>, more);
    QFETCH(QByteArray, expected);
    more.insert(more.begin(), {"template", model_, "--messages", "-"});
    const Outcome outcome = run(more, {.input = messages.toStdString()});
    QCOMPARE(outcome.err, std::string());
    QCOMPARE(QByteArray::fromStdString(outcome.out), expected);
    more.push_back("--json");
    const auto object =
        nlohmann::json::parse(run(more, {.input = messages.toStdString()}).out, nullptr, false);
    QCOMPARE(QByteArray::fromStdString(object["prompt"]), expected);
  }

  void aTemplateOfOnesOwn() {
    const fovea::tests::TemporaryFolder folder;
    const std::string jinja = folder.path() / "t.jinja", tools = folder.path() / "tools.json";
    std::ofstream(jinja)
        << "{{ messages | length }} {{ tools | tojson }} {{ name }} {{ on }} {{ add_generation_prompt }}";
    std::ofstream(tools) << R"([{"type": "function"}])";
    const RunWith with{.input = R"({"messages": [], "tools": [], "on": 1})"};
    const std::vector<std::string> arguments{"template", "--template", jinja,   "--messages",   "-",
                                             "--tools",  tools,        "--var", "name=\"a=b\"", "--var",
                                             "on=true"};
    const Outcome outcome = run(arguments, with);
    QCOMPARE(outcome.err, std::string());
    QCOMPARE(outcome.out, std::string(R"(0 [{"type": "function"}] a=b True True)"));
  }

  void wrongMessages_data() {
    QTest::addColumn<QByteArray>("messages");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("no JSON") << QByteArray("[") << QByteArray("is not JSON");
    QTest::newRow("a number") << QByteArray("1") << QByteArray("are not a list");
    QTest::newRow("no messages") << QByteArray("{}") << QByteArray("has no \"messages\"");
    QTest::newRow("many levels") << QByteArray(200'000, '[') + QByteArray(200'000, ']')
                                 << QByteArray("more than 1000 levels deep");
    QTest::newRow("many levels inside")
        << R"({"messages": [], "x": )" + QByteArray(200'000, '[') + QByteArray(200'000, ']') + '}'
        << QByteArray("more than 1000 levels deep");
    QTest::newRow("not UTF-8") << QByteArray("[\"\xFF\"]") << QByteArray("is not JSON");
  }
  void wrongMessages() {
    QFETCH(QByteArray, messages);
    QFETCH(QByteArray, says);
    const Outcome outcome = run({"template", model_, "--messages", "-"}, {.input = messages.toStdString()});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains(says.toStdString()), outcome.err.c_str());
  }

 private:
  using RunWith = fovea::tests::RunOptions;
  std::string model_;
};
FOVEA_TEST(TextCommandsTest)

#include "text_commands_test.moc"
