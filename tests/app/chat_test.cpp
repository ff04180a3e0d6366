// fovea chat with the demo model: one-shot, and in a terminal.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::Outcome;
using fovea::tests::run;
using fovea::tests::Terminal;
using Arguments = std::vector<std::string>;

class ChatTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    model_ = fovea::tests::demo_model();
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
  }

  void theSameSeedGivesTheSameAnswer_data() {
    QTest::addColumn<QByteArray>("seed");
    QTest::newRow("zero") << QByteArray("0");
    QTest::newRow("small") << QByteArray("7");
    QTest::newRow("largest") << QByteArray("18446744073709551615");
  }
  void theSameSeedGivesTheSameAnswer() {
    QFETCH(QByteArray, seed);
    const auto one =
        ask({"-p", "Tell me about the sea.", "--seed", seed.toStdString(), "--max-tokens", "24"});
    const auto two =
        ask({"-p", "Tell me about the sea.", "--seed", seed.toStdString(), "--max-tokens", "24"});
    QVERIFY(!one["text"].get<std::string>().empty());
    QCOMPARE(one["text"].get<std::string>(), two["text"].get<std::string>());
    QCOMPARE(one["token_ids"], two["token_ids"]);
    QCOMPARE(one["seed"].dump(), seed.toStdString());
  }

  void theReportedSeedGivesTheAnswerAgain() {
    const auto one = ask({"-p", "Tell me a story.", "--max-tokens", "16"});
    const auto two = ask({"-p", "Tell me a story.", "--max-tokens", "16", "--seed", one["seed"].dump()});
    QCOMPARE(one["text"].get<std::string>(), two["text"].get<std::string>());
    QVERIFY(ask({"-p", "Tell me a story.", "--max-tokens", "16"})["seed"] != one["seed"]);
  }

  void theKeysAreThere() {
    const auto object = ask({"-p", "Hello", "--max-tokens", "5", "--temp", "0", "--dry-base", "1.5",
                             "--dry-allowed-length", "3", "--dry-penalty-last-n", "100"});
    QCOMPARE(object["tokens"].get<int>(), 5);
    QCOMPARE(object["token_ids"].size(), 5U);
    QVERIFY(object["tok_per_s"].get<double>() > 0);
    QVERIFY(object["ttft_ms"].get<double>() > 0);
    QVERIFY(object["prompt_tokens"].get<int>() > 20);  // the template's system message is among them
    QCOMPARE(object["finish"].get<std::string>(), std::string("max_tokens"));
    QCOMPARE(object["sampling"]["temperature"].get<double>(), 0.0);
    QCOMPARE(object["sampling"]["repeat_penalty"].get<double>(), 1.1);
    QCOMPARE(object["sampling"]["dry_multiplier"].get<double>(), 0.8);
    QCOMPARE(object["sampling"]["dry_base"].get<double>(), 1.5);
    QCOMPARE(object["sampling"]["dry_allowed_length"].get<int>(), 3);
    QCOMPARE(object["sampling"]["dry_penalty_last_n"].get<int>(), 100);
    const Outcome help = run({"chat", "--help"});
    for (const auto& [key, value] : object.items()) QVERIFY2(help.out.contains(key), key.c_str());
  }

  void theQuestionFromStandardInput() {
    const Arguments arguments{"chat", model_, "--json", "--temp", "0", "--max-tokens", "8"};
    const Outcome outcome = run(arguments, {.input = "Hello\n"});
    const auto from_input = nlohmann::json::parse(outcome.out, nullptr, false);
    QCOMPARE(from_input["text"], ask({"-p", "Hello", "--temp", "0", "--max-tokens", "8"})["text"]);
    const Outcome none = run(arguments, {.input = "\n"});
    QCOMPARE(none.code, 1);
    QVERIFY(none.err.contains("there is no prompt"));
    const Outcome bytes = run(arguments, {.input = "ab\xFF"});
    QCOMPARE(bytes.code, 1);
    QVERIFY(bytes.err.contains("standard input, byte 2"));
  }

  void theSystemMessageAndStopStrings() {
    const auto with = ask({"-p", "Hello", "--system", "S", "--temp", "0", "--max-tokens", "1"});
    const auto without = ask({"-p", "Hello", "--temp", "0", "--max-tokens", "1"});
    QVERIFY(with["prompt_tokens"].get<int>() <
            without["prompt_tokens"].get<int>());  // it replaces the longer one
    const auto whole = ask({"-p", "Hello", "--temp", "0", "--max-tokens", "12"})["text"].get<std::string>();
    const std::string stop = whole.substr(whole.size() / 2, 3);
    const auto cut = ask({"-p", "Hello", "--temp", "0", "--max-tokens", "12", "--stop", stop});
    QCOMPARE(cut["finish"].get<std::string>(), std::string("stop_string"));
    QCOMPARE(cut["text"].get<std::string>(), whole.substr(0, whole.find(stop)));
  }

  void anAnswerHeldToASchemaOrAGrammar() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = [&](const char* name, const char* text) {
      std::ofstream(folder.path() / name) << text;
      return (folder.path() / name).string();
    };
    const std::string schema =
        file("sea.json", R"({"type": "object", "properties": {"deep": {"type": "boolean"},)"
                         R"( "name": {"type": "string", "maxLength": 20}},)"
                         R"( "required": ["deep", "name"]})");
    const auto answer = ask({"-p", "Tell me about the sea.", "--schema", schema, "--max-tokens", "60"});
    const auto object = nlohmann::json::parse(answer["text"].get<std::string>(), nullptr, false);
    QVERIFY2(object.is_object() && object["deep"].is_boolean() && object["name"].is_string(),
             answer["text"].dump().c_str());
    const std::string grammar = file("yes.gbnf", "root ::= \"yes\" | \"no\"\n");
    const auto word = ask({"-p", "Is the sea deep?", "--grammar", grammar})["text"].get<std::string>();
    QVERIFY2(word == "yes" || word == "no", word.c_str());

    const Outcome few = run({"chat", model_, "-p", "x", "--schema", schema, "--max-tokens", "3"});
    QCOMPARE(few.code, 1);
    QVERIFY2(few.err.contains("max_tokens: 3 tokens are too few"), few.err.c_str());
    const std::string bad = file("bad.json", R"({"properties": {"a": {"not": {}}}})");
    const Outcome refused = run({"chat", model_, "-p", "x", "--schema", bad});
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("bad.json, #/properties/a/not") && refused.err.contains("\"not\""),
             refused.err.c_str());
    const Outcome none = run({"chat", model_, "-p", "x", "--grammar", (folder.path() / "none").string()});
    QCOMPARE(none.code, 1);
    QVERIFY2(none.err.contains("none"), none.err.c_str());
  }

  void aFullContextIsNeverSilent() {
    const Outcome tight =
        run({"chat", model_, "-p", "Tell me a long story.", "--context", "48", "--temp", "0"});
    QVERIFY2(tight.err.contains("context"), tight.err.c_str());
    const Outcome outcome = run({"chat", model_, "-p", std::string(4000, 'x'), "--context", "64", "--json"});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains("context"), outcome.err.c_str());
    QCOMPARE(std::ranges::count(outcome.err, '\n'), 1);
  }

  void aReaderThatLeavesEndsIt() {
    const Outcome outcome =
        run({"chat", model_, "-p", "Tell me a long story.", "--seed", "3"}, {.read_at_most = 4});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.err, std::string());
  }

  void interruptStopsTheAnswer() {
    const Outcome outcome = run(
        {"chat", model_, "-p", "Count from one to five hundred.", "--temp", "1", "--repeat-penalty", "1.3"},
        {.interrupt_after = 10});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains("stopped"), outcome.err.c_str());
    QVERIFY(outcome.out.ends_with('\n'));
  }

  void aConversation() {
    const fovea::tests::TemporaryFolder folder;
    Terminal terminal({"chat", model_, "--seed", "1", "--max-tokens", "4000"},
                      {{"FOVEA_DATA", folder.path()}});
    QVERIFY(terminal.shows("16 experts"));
    QVERIFY(terminal.shows("repetition penalty 1.1, DRY 0.8"));
    QVERIFY(terminal.shows("> "));
    terminal.type("Tell me a very long story about the sea\x7F.\r");  // with a slip of the finger
    QVERIFY(terminal.shows("about the se."));
    QVERIFY(terminal.shows("\r\n"));
    QTest::qWait(1500);
    terminal.type("\x03");  // Ctrl-C stops the answer …
    QVERIFY(terminal.shows("tok/s"));
    QVERIFY(terminal.shows("> "));
    terminal.type("/help\r");  // … and not the program
    QVERIFY(terminal.shows("/reset"));
    QVERIFY(terminal.shows("> "));
    terminal.type("\033[A\033[A");  // two lines back
    QVERIFY(terminal.shows("> Tell me a very long story about the se."));
    terminal.type("\x03");  // Ctrl-C empties the line
    QVERIFY(terminal.shows("> "));
    terminal.type("\x03");
    QVERIFY(terminal.shows("Ctrl-C again"));
    QVERIFY(terminal.shows("> "));
    terminal.type("\x03");
    QCOMPARE(terminal.end(), 0);
    std::ifstream history(folder.path() / "history");
    std::string line;
    std::getline(history, line);
    QCOMPARE(line, std::string("Tell me a very long story about the se."));
  }

  void theConversationIsRemembered() {
    Terminal terminal({"chat", model_, "--temp", "0", "--max-tokens", "8"}, {});
    QVERIFY(terminal.shows("> "));
    terminal.type("Hello\r");
    QVERIFY(terminal.shows("context "));
    const int after_one = context_of(terminal);
    terminal.type("And now?\r");
    QVERIFY(terminal.shows("context "));
    QVERIFY(context_of(terminal) > after_one);
    terminal.type("/reset\r");
    QVERIFY(terminal.shows("forgotten"));
    terminal.type("Hello\r");
    QVERIFY(terminal.shows("context "));
    QCOMPARE(context_of(terminal), after_one);
    terminal.type("\x04");  // Ctrl-D
    QCOMPARE(terminal.end(), 0);
  }

  void aSignalGivesTheTerminalBack_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
  }
  void aSignalGivesTheTerminalBack() {
    QFETCH(int, signal);
    Terminal terminal({"chat", model_}, {});
    QVERIFY(terminal.shows("\033[?2004h"));  // pastes are marked
    QVERIFY(terminal.shows("> "));
    QVERIFY(!terminal.is_as_shells_expect());
    terminal.send(signal);
    QVERIFY(terminal.shows("\033[?2004l"));
    QVERIFY(terminal.is_as_shells_expect());
    QCOMPARE(terminal.end(), 1000 + signal);
  }

  void statsAreDrawnWhileItAnswers() {
    const fovea::tests::TemporaryFolder folder;
    Terminal terminal({"chat", model_, "--policy", "static", "--tiers", "file", "--context", "512", "--stats",
                       "--max-tokens", "60", "--seed", "1"},
                      {{"FOVEA_DATA", folder.path()}});
    QVERIFY(terminal.shows("> "));
    terminal.type("Tell me about the sea.\r");
    QVERIFY(terminal.shows("64 at 8 bits"));  // 4 layers of 16 experts
    QVERIFY(terminal.shows("▀"));
    QVERIFY(terminal.shows("\033[r"));  // the whole screen scrolls again
    QVERIFY(terminal.shows("8.50 bits per weight"));
    QVERIFY(terminal.shows("> "));
    terminal.type("/quit\r");
    QCOMPARE(terminal.end(), 0);
  }

  // The whole terminal scrolls again when there is no room for the view any more, and when the program is
  // ended.
  void statsGiveTheTerminalBack_data() {
    QTest::addColumn<bool>("small");
    QTest::newRow("too small") << true;
    QTest::newRow("ended") << false;
  }
  void statsGiveTheTerminalBack() {
    QFETCH(bool, small);
    const fovea::tests::TemporaryFolder folder;
    Terminal terminal({"chat", model_, "--policy", "static", "--tiers", "file", "--context", "2048",
                       "--stats", "--max-tokens", "1500", "--seed", "1"},
                      {{"FOVEA_DATA", folder.path()}});
    QVERIFY(terminal.shows("> "));
    terminal.type("Tell me a very long story about the sea.\r");
    QVERIFY(terminal.shows("64 at 8 bits"));
    if (small) {
      terminal.resize(9, 80);
    } else {
      terminal.send(SIGTERM);
    }
    QVERIFY(terminal.shows("\033[r"));
    if (small) terminal.send(SIGTERM);
    QCOMPARE(terminal.end(), 1000 + SIGTERM);
  }

  // A budget between the two tiers: experts change tier while the answer is made, and the log has each
  // change.
  void expertsMoveWhileItAnswers() {
    const fovea::tests::TemporaryFolder folder;
    const Arguments plan{"plan", model_,     "--tiers", "bf16,file", "--context",
                         "512",  "--policy", "dynaexq", "--json"};
    const auto least = nlohmann::json::parse(run(plan).out, nullptr, false)["least_bytes"];
    const auto log = folder.path() / "swaps.jsonl";
    const Outcome outcome = run({"chat",
                                 model_,
                                 "-p",
                                 "Tell me about the sea.",
                                 "--temp",
                                 "0",
                                 "--max-tokens",
                                 "40",
                                 "--json",
                                 "--context",
                                 "512",
                                 "--tiers",
                                 "bf16,file",
                                 "--policy",
                                 "dynaexq",
                                 "--budget",
                                 std::to_string(least.get<std::int64_t>() + 8'000'000),
                                 "--dynaexq-warm-up",
                                 "16",
                                 "--dynaexq-interval",
                                 "16",
                                 "--events",
                                 log},
                                {.environment = {{"FOVEA_DATA", folder.path()}}});
    QVERIFY2(outcome.code == 0, outcome.err.c_str());
    const auto object = nlohmann::json::parse(outcome.out, nullptr, false);
    QCOMPARE(object["tokens"], 40);
    QVERIFY2(object["promotions"] > 0 && object["demotions"] > 0, outcome.out.c_str());
    QVERIFY(object["bytes_read"] > 0 && object["hit_rate"] > 0 && object["hit_rate"] < 1);
    QVERIFY(object["mean_bits_per_weight"] > 8.5 && object["mean_bits_per_weight"] < 16);
    QVERIFY(object["accounted_bytes"] <= object["budget_bytes"]);
    std::ifstream events(log);
    std::int64_t promotions = 0, demotions = 0;
    for (std::string line; std::getline(events, line);) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      if (event["outcome"] == "published") ++(event["to"] == "bf16" ? promotions : demotions);
    }
    QCOMPARE(object["promotions"], promotions);
    QCOMPARE(object["demotions"], demotions);
  }

  void withoutADisplayTheChatIsInTheTerminal() {
    Terminal terminal({model_}, {});
    QVERIFY(terminal.shows("so the chat is in the terminal"));
    QVERIFY(terminal.shows("> "));
    terminal.type("/quit\r");
    QCOMPARE(terminal.end(), 0);
  }

  void aSimpleTerminalWillDo() {
    Terminal terminal({"chat", model_, "--max-tokens", "3", "--stats"}, {{"TERM", "dumb"}});
    QVERIFY(terminal.shows("> "));
    terminal.type("Hello\n");
    QVERIFY(terminal.shows("3 tokens"));
    QVERIFY(terminal.shows("> "));
    terminal.type("\x04");
    QCOMPARE(terminal.end(), 0);
    // Neither dimmed lines nor a view of the experts.
    for (const char* sequence : {"\033[2m", "\0337"})
      QVERIFY2(!terminal.screen().contains(sequence), terminal.screen().c_str());
  }

 private:
  nlohmann::json ask(Arguments more) {
    more.insert(more.begin(), {"chat", model_, "--json"});
    const Outcome outcome = run(more);
    if (outcome.code != 0) QWARN(outcome.err.c_str());
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  // "context 57 of 8192": the first number of the last such line.
  static int context_of(Terminal& terminal) {
    terminal.shows(" of ");
    const std::string& screen = terminal.screen();
    return std::stoi(screen.substr(screen.rfind("context ") + 8));
  }

  std::string model_;
};
FOVEA_TEST(ChatTest)

#include "chat_test.moc"
