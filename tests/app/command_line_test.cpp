// What every command does with its arguments, its output and its errors.
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;
using fovea::tests::RunOptions;
using Arguments = std::vector<std::string>;
Q_DECLARE_METATYPE(Arguments)

namespace {

const std::string model = golden("models/llama-0");
const std::string chat_model = golden("chat");
const std::string vocabulary = golden("tokenizers/tiny/llama3.gguf");

}  // namespace

class CommandLineTest : public QObject {
  Q_OBJECT

  fovea::tests::TemporaryFolder folder_;

  std::string file(const std::string& name, std::string_view text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string folder_of(const std::string& name, std::string_view text) {
    return std::filesystem::path(file("folder/" + name, text)).parent_path().string();
  }

 private Q_SLOTS:
  void wrongUsage_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const Arguments& arguments, const char* says) {
      QTest::newRow(name) << arguments << QByteArray(says);
    };
    row("device", {"bench", model, "--device", "gpu"}, "gpu is neither cpu nor cuda:0");
    row("two devices", {"bench", model, "--device", "cpu,cuda:0"}, "cpu,cuda:0 is neither cpu nor cuda:0");
    row("two cards for one", {"prepare", model, "--device", "cuda:0,cuda:1"}, "is neither cpu nor cuda:0");
    row("unknown flag", {"inspect", model, "--nope"}, "--nope");
    row("too few tokens to bring experts for", {"plan", model, "--stream-experts", "8"},
        "8 is neither auto, off nor a number of tokens from 9 to 8192");
    row("a word that is none", {"plan", model, "--stream-experts", "always"}, "always is neither auto, off");
    row("no size", {"plan", model, "--host-cache", "much"}, "much is not a size");
    row("neither on nor off", {"chat", model, "-p", "x", "--thinking", "maybe"}, "--thinking");
    row("no effort", {"chat", model, "-p", "x", "--effort", "huge"}, "--effort");
    row("a schema and a grammar", {"chat", model, "-p", "x", "--schema", "a", "--grammar", "b"},
        "--schema excludes --grammar");
    row("no schema", {"chat", model, "-p", "x", "--schema", ""}, "the text is empty");
    row("no model", {"inspect"}, "MODEL is required");
    row("too many", {"inspect", model, "b"}, "not expected: b");
    row("no command of that name", {"chta", model}, "there is no command chta; the nearest is chat");
    row("no command of that name, and options", {"bensh", model, "-r", "3"}, "the nearest is bench");
    row("a model and another", {model, "b"}, "not expected: b");
    row("an option before the command", {"--budget", "1GB", "inspect", model},
        "fovea inspect: --budget: stands before the command");
    row("a model before the command", {"nope", "inspect", model},
        "fovea inspect: MODEL: stands before the command");
    row("no text for -p", {"chat", model, "-p"}, "--prompt");
    row("empty prompt", {"chat", model, "-p", ""}, "the text is empty");
    row("prompt not UTF-8", {"chat", model, "-p", "a\xFF"}, "byte 1: the text is not UTF-8");
    row("stop not UTF-8", {"chat", model, "-p", "x", "--stop", "b", "--stop", "a\xFF"},
        "--stop, byte 1: the text is not UTF-8");
    row("temperature", {"chat", model, "-p", "x", "--temp", "-1"}, "-1 is not a number from 0 to 100");
    row("temperature nan", {"chat", model, "-p", "x", "--temp", "nan"}, "nan is not a number");
    row("threads", {"chat", model, "-p", "x", "--threads", "0"}, "0 is not a number from 1 to 1024");
    row("context", {"chat", model, "-p", "x", "--context", "1e99"}, "--context");
    row("kv", {"chat", model, "-p", "x", "--kv", "f8"}, "f8 is none of f32, f16, q8");
    row("on-full", {"chat", model, "-p", "x", "--on-full", "x"}, "x is none of fail, drop");
    row("empty stop", {"chat", model, "-p", "x", "--stop", ""}, "the text is empty");
    row("negative seed", {"chat", model, "-p", "x", "--seed", "-1"}, "--seed");
    row("tokens", {"logits", model, "--out", "x.npy", "--tokens", "1,,2"}, "is not a token id");
    row("tokens too large", {"logits", model, "--out", "x.npy", "--tokens", "99999999999"},
        "is not a token id");
    row("chunk", {"logits", model, "--out", "x.npy", "--tokens", "1", "--chunk", "0"}, "--chunk");
    row("chunk too large", {"chat", model, "-p", "x", "--chunk", "8193"},
        "8193 is not a number from 1 to 8192");
    row("context too large", {"chat", model, "-p", "x", "--context", "16777217"}, "from 1 to 16777216");
    row("top-p 0", {"chat", model, "-p", "x", "--top-p", "0"}, "0 is not a number from 1e-06 to 1");
    row("no place for logits", {"logits", model, "--tokens", "1", "--out", ""}, "the text is empty");
    row("no place for a trace", {"replay", "--synthetic", "4x8", "--high-share", "0.5", "--out", ""},
        "--out: the text is empty");
    row("nothing to compare with", {"perplexity", model, "f", "--against", ""},
        "--against: the text is empty");
    row("no place for events", {"chat", model, "-p", "x", "--budget", "1GB", "--events", ""},
        "--events: the text is empty");
    row("no place for a store", {"prepare", model, "--out", ""}, "--out: the text is empty");
    row("no tier map", {"--tier-map", ""}, "--tier-map: the text is empty");
    row("window", {"perplexity", model, "f", "--context", "3"}, "3 is not a number from 4 to");
    row("template without a name", {"template", "--template", "", "--messages", "m"}, "the text is empty");
    row("messages without a name", {"template", model, "--messages", ""}, "the text is empty");
    row("tools without a name", {"template", model, "--messages", "m", "--tools", ""}, "the text is empty");
    row("no messages", {"template", model}, "--messages is required");
    row("neither model nor template", {"template", "--messages", "m"}, "MODEL or --template");
    row("variable without name", {"template", model, "--messages", "m", "--var", "=1"}, "is not name=JSON");
    const std::string deep = std::string(60'000, '[') + std::string(60'000, ']');
    row("variable of many levels", {"template", model, "--messages", "m", "--var", "a=" + deep},
        "a: lists and objects are nested more than 1000 levels deep");
    row("variable no JSON", {"template", model, "--messages", "m", "--var", "a=b"}, "not JSON");
    row("a model and a shape", {"bench", model, "--shape", "qwen3-30b-a3b"}, "--shape");
    row("neither model nor shape", {"bench"}, "MODEL or --shape");
    row("contexts of a model", {"bench", model, "--contexts", "8"}, "--shape");
    row("a model's other weights", {"plan", model, "--dense", "q8"}, "--dense requires --shape");
    row("memory beside no card", {"plan", model, "--main-memory", "8GB"}, "requires --device-memory");
    row("eight in octal", {"bench", model, "-p", "010"}, "010 is not a number from 1 to");
    row("sixteen in hexadecimal", {"bench", model, "-p", "0x10"}, "0x10 is not a number from 1 to");
    row("repetitions", {"bench", model, "-r", "0"}, "0 is not a number from 1 to 1000");
    row("chunks", {"perplexity", model, "f", "--chunks", "x"}, "--chunks");
    row("no place for the trace", {"trace", model, "f"}, "--out is required");
    row("nothing to trace", {"trace"}, "MODEL or --report is required");
    row("no text to trace", {"trace", model}, "FILE is required");
    row("a report that records", {"trace", model, "f", "--report", "t"}, "MODEL excludes --report");
    row("a report under a policy", {"trace", "--policy", "static", "--report", "t"},
        "--policy excludes --report");
    row("a reference of nothing", {"trace", model, "f", "--reference", "t"}, "--reference requires --report");
    row("neither trace nor shape", {"replay", "--high-share", "0.5"}, "One of TRACE and --synthetic");
    row("both", {"replay", "t", "--synthetic", "2x8", "--high-share", "0.5"}, "One of TRACE and --synthetic");
    row("no room", {"replay", "t"}, "One of --budget and --high-share");
    row("size", {"replay", "t", "--budget", "8 things"}, "8 things is not a size");
    row("made-up routing's of a trace", {"replay", "t", "--high-share", "0.5", "--skew", "uniform"},
        "--skew requires --synthetic");
    row("writing a trace again", {"replay", "t", "--high-share", "0.5", "--out", "x"},
        "--out requires --synthetic");
    row("a system message that is not sent", {"chat", model, "-p", "x", "--raw", "--system", "y"},
        "excludes");
    for (const char* setting : {"alpha-tokens", "threshold", "hysteresis", "transitions"})
      row((std::string("as published, and --dynaexq-") + setting).c_str(),
          {"replay", "t", "--high-share", "0.5", "--as-published", std::string("--dynaexq-") + setting, "1"},
          "excludes");
    row("no version", {"replay", "t", "--high-share", "0.5", "--as-published=v3"}, "v3 not in");
    row("flex threshold", {"chat", model, "-p", "x", "--flex-threshold", "0.5"},
        "0.5 is not a number from 1 to");
    row("pmpd schedule", {"chat", model, "-p", "x", "--pmpd-schedule", "0"}, "0 is not a number from 1 to");
    row("bandwidth", {"replay", "t", "--bandwidth", "0"}, "0 is not a number from");
  }
  void wrongUsage() {
    QFETCH(Arguments, arguments);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.out, std::string());
    verify_one_line(outcome.err, says);
    QVERIFY(outcome.err.contains("--help"));
  }

  void failures_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const Arguments& arguments, const char* says) {
      QTest::newRow(name) << arguments << QByteArray(says);
    };
    row("unknown name", {"inspect", "nope"}, "is empty");
    row("demo before it is built", {"inspect", "demo"}, "fovea demo-model --help");
    row("missing path", {"tokenize", "/no/such", "--text", "x"}, "no such file");
    row("a folder without a model", {"inspect", "/usr"}, "config.json");
    row("missing text", {"perplexity", model, "/no/such"}, "cannot be opened");
    row("a folder as text", {"perplexity", model, "/usr"}, "cannot be read");
    row("no trace", {"replay", "/no/such", "--high-share", "0.5"}, "/no/such");
    row("settings of another policy",
        {"replay", "/no/such", "--high-share", "0.5", "--policy", "static", "--dynaexq-alpha", "0.5"},
        "dynaexq settings do not apply to static");
    row("another file as trace",
        {"replay", fovea::tests::golden("models/experts.gguf"), "--high-share", "0.5"}, "it is not a trace");
    row("no trace to report on", {"trace", "--report", "/no/such"}, "/no/such");
    row("another file as reference",
        {"trace", "--report", "/no/such", "--reference", golden("models/experts.gguf")}, "/no/such");
    row("a model to report on", {"trace", "--report", golden("models/experts.gguf")}, "it is not a trace");
    row("shape", {"replay", "--synthetic", "2xy", "--high-share", "0.5"}, "nothing is known about \"2xy\"");
    row("messages missing", {"template", model, "--messages", "/no/such"}, "cannot be opened");
    row("id beyond the vocabulary", {"logits", model, "--tokens", "1,37", "--out", "/dev/null"},
        "number 2: the id 37 is not in the model's vocabulary of 37");
    row("no place to write", {"logits", model, "--tokens", "1", "--out", "/no/such/x.npy"}, "/no/such/x.npy");
    row("no tokeniser", {"tokenize", model, "--text", "x"},
        "llama-0/tokenizer.json: the file is missing or empty. Download it");
    row("a chat without a tokeniser", {"chat", model, "-p", "x"},
        "llama-0/tokenizer.json: the file is missing");
    row("no chat template", {"chat", vocabulary, "-p", "x"}, "block_count is missing");
    row("no messages", {"template", vocabulary, "--messages", "/dev/null"},
        "/dev/null, line 1, column 1: is empty");
    row("messages that are not JSON", {"template", vocabulary, "--messages", file("m.json", "[\n {,}\n]")},
        "m.json, line 2, column 3: is not JSON");
    row("an empty configuration", {"inspect", folder_of("config.json", "{}")}, "model_type");
    row("no weights", {"logits", golden("checkpoint/no_weights"), "--tokens", "1", "--out", "/dev/null"},
        "is missing");
    row("a text that is too short", {"perplexity", chat_model, "/dev/null"},
        "/dev/null: it has 1 token, one window needs 512");
    row("no text to trace", {"trace", chat_model, "/dev/null", "-o", "/dev/null"},
        "/dev/null: the text is empty");
    row("a chat without input", {"chat", model}, "there is no prompt");
    // Never the processor instead.
    row("no such device", {"logits", model, "--tokens", "1", "--out", "/dev/null", "--device", "cuda:77"},
        "device cuda:77: ");
    row("no such cards of a server", {"serve", model, "--port", "0", "--device", "cuda:77,cuda:78"},
        "device cuda:77: ");
    row("a plan for no such device", {"plan", model, "--device", "cuda:77"}, "Choose one of: cpu");
    row("a budget that nothing keeps", {"bench", model, "--policy", "none", "--budget", "1KB"},
        "--budget: without a policy, nothing enforces it");
    row("linear layers on the disk", {"bench", model, "-p", "4", "-n", "2", "-r", "1", "-ngl", "1"},
        "a model without experts has nothing that could stay on the disk");
    row("a window without display", {"nope"}, "is empty");
    row("a mistyped command alone", {"chta"}, "did you mean fovea chat?");
  }
  void failures() {
    QFETCH(Arguments, arguments);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.out, std::string());
    verify_one_line(outcome.err, says);
    // After the sentence that says what and where, one that says what to do.
    QVERIFY2(std::regex_search(outcome.err, std::regex(R"(: .*\. [A-Z.][^\n]+\n$)")), outcome.err.c_str());
  }

  // Only where the name that is not found is nearly a command's.
  void noCommandIsNamedForAnotherName() {
    for (const Arguments& arguments : {Arguments{"nope"}, {"/no/chat"}, {"inspect", "chta"}, {"demo"}}) {
      const Outcome outcome = run(arguments);
      QCOMPARE(outcome.code, 1);
      QVERIFY2(!outcome.err.contains("did you mean"), outcome.err.c_str());
    }
  }

  void aForcedInstructionSetIsSaid() {
    const std::map<std::string, std::string> scalar{{"FOVEA_CPU", "scalar"}};
    const auto object =
        nlohmann::json::parse(run({"devices", "--json"}, {.environment = scalar}).out, nullptr, false);
    QCOMPARE(object["devices"][0]["instruction_set"].get<std::string>(), std::string("scalar"));
    QVERIFY(run({"devices"}, {.environment = scalar}).out.contains("computes with scalar"));
  }

  void aBadInstructionSetIsNamed() {
    const Outcome outcome = run({"devices"}, {.environment = {{"FOVEA_CPU", "avx9"}}});
    QCOMPARE(outcome.code, 1);
    verify_one_line(outcome.err, "avx9");
  }

  void aDisplayThatIsNotThere() {
    const Outcome outcome = run({model}, {.environment = {{"DISPLAY", ":98765"}}});
    QCOMPARE(outcome.code, 1);  // the model has no tokeniser to chat with
    if (outcome.err.contains("this build has no window")) return;
    QVERIFY2(outcome.err.contains("the display :98765 cannot be reached, so the chat is in the terminal"),
             outcome.err.c_str());
  }

  void helpAndVersion() {
    for (const Arguments& arguments :
         {Arguments{"--help"}, {"--version"}, {"chat", "--help"}, {"bench", "-h"}}) {
      const Outcome outcome = run(arguments);
      QCOMPARE(outcome.code, 0);
      QVERIFY(!outcome.out.empty());
      QCOMPARE(outcome.err, std::string());
    }
  }

  void helpSaysWhatOptionsTakeAndTheUsualFirst() {
    const QString chat = QString::fromStdString(run({"chat", "--help"}).out);
    for (const char* const option :
         {"--budget SIZE", "--n-cpu-moe N|auto", "--gpu-layers N|all", "--kv f32|f16|q8",
          "--on-full fail|drop", "--policy none|static|dynaexq|fovea|offload|flexquant|pmpd",
          "--device cpu|cuda:N"})
      QVERIFY2(chat.contains(option), option);
    QVERIFY(!chat.contains("ENUM"));
    QVERIFY(chat.indexOf("--temp FLOAT") < chat.indexOf("--policy none"));
    const QString program = QString::fromStdString(run({"--help"}).out);
    QVERIFY(program.contains("  tokenize"));
    QVERIFY(program.indexOf("  tokenize") < program.indexOf("--policy none"));
  }

  void aBandwidthThatIsNotKnownIsLeftOut() {
    const auto object = nlohmann::json::parse(run({"devices", "--json"}).out, nullptr, false);
    for (const auto& device : object["devices"])
      QVERIFY(!device.contains("bandwidth_gb_per_s") || device["bandwidth_gb_per_s"].get<double>() > 0);
  }

  void theLogIsSilentUnlessAskedFor() {
    QCOMPARE(run({"inspect", model}).err, std::string());
    QVERIFY(run({"inspect", model, "--verbose"}).err.contains("MODEL"));
  }

  void jsonKeys_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<Arguments>("keys");
    QTest::newRow("inspect") << Arguments{"inspect", model}
                             << Arguments{"architecture", "layers",     "experts",           "experts_used",
                                          "context",      "parameters", "parameters_active", "bytes"};
    QTest::newRow("plan") << Arguments{"plan", model, "--tiers", "file,bf16"}
                          << Arguments{"fits", "budget_bytes", "total_bytes", "parts", "units", "advice"};
    QTest::newRow("devices") << Arguments{"devices"} << Arguments{"devices", "no_gpu"};
    QTest::newRow("selftest") << Arguments{"selftest"}
                              << Arguments{"device", "passed", "checks", "failed", "parts"};
    QTest::newRow("logits") << Arguments{"logits", model, "--tokens", "1,2", "--out", "/dev/null"}
                            << Arguments{"shape"};
    QTest::newRow("bench") << Arguments{"bench", model, "-p", "8", "-n", "4", "-r", "1"}
                           << Arguments{"prefill", "decode", "ttft_ms", "tpot_ms"};
    const std::string shape = (folder_.path() / "shape.json").string();
    std::ofstream(shape) << R"({"layers": 2, "hidden": 128, "heads": 4, "kv_heads": 2, "head_dim": 32,
        "vocabulary": 256, "context": 512, "experts": 8, "experts_used": 2, "expert_width": 64})";
    QTest::newRow("bench of a shape")
        << Arguments{"bench", "--shape",    shape,  "--tiers", "q4", "-p",        "8",   "-n",
                     "4",     "--contexts", "8,16", "-r",      "1",  "--prompts", "8,32"}
        << Arguments{"shape", "routing", "decode", "prefill", "memory"};
    QTest::newRow("bench of moving experts")
        << Arguments{"bench", "--shape", shape, "--tiers", "q4,q2", "--budget",   "1000000", "-p",
                     "8",     "-n",      "4",   "-r",      "1",     "--contexts", "8"}
        << Arguments{"moving"};
    QTest::newRow("tokenize") << Arguments{"tokenize", chat_model, "--text", "a b"}
                              << Arguments{"tokens", "pieces"};
    QTest::newRow("chat") << Arguments{"chat", chat_model, "-p", "a", "--max-tokens", "2"}
                          << Arguments{"text", "tokens", "tok_per_s"};
    QTest::newRow("perplexity") << Arguments{"perplexity", chat_model, FOVEA_SOURCE_DIR "/README.md",
                                             "--context",  "16",       "--chunks",
                                             "1"}
                                << Arguments{"perplexity", "tokens", "tok_per_s"};
    QTest::newRow("perplexity against a model")
        << Arguments{"perplexity", chat_model,  FOVEA_SOURCE_DIR "/README.md",
                     "--context",  "16",        "--chunks",
                     "1",          "--against", chat_model}
        << Arguments{"kl", "window_kl"};
    QTest::newRow("perplexity of each token")
        << Arguments{"perplexity",  chat_model,  FOVEA_SOURCE_DIR "/README.md",
                     "--context",   "16",        "--chunks",
                     "1",           "--against", chat_model,
                     "--each-token"}
        << Arguments{"token_kl"};
    QTest::newRow("trace") << Arguments{"trace",    chat_model, FOVEA_SOURCE_DIR "/README.md",
                                        "--tokens", "20",       "--context",
                                        "64",       "-o",       "/dev/null"}
                           << Arguments{"path", "tokens", "layers", "bytes"};
    QTest::newRow("replay") << Arguments{"replay", "--synthetic", "2x16",  "--top",        "2",  "--tokens",
                                         "300",    "--tiers",     "q8,q4", "--high-share", "0.5"}
                            << Arguments{"rows", "tiers", "promotions", "bytes_read", "simulated_seconds"};
  }
  void jsonKeys() {
    QFETCH(Arguments, arguments);
    QFETCH(Arguments, keys);
    const Outcome help = run({arguments[0], "--help"});
    arguments.push_back("--json");
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.err, std::string());
    QCOMPARE(outcome.code, 0);
    QCOMPARE(std::ranges::count(outcome.out, '\n'), 1);
    const auto object = nlohmann::json::parse(outcome.out, nullptr, false);
    QVERIFY(object.is_object());
    for (const std::string& key : keys) QVERIFY2(object.contains(key), key.c_str());
    const std::string untold = key_without_help(object, help.out);
    QVERIFY2(untold.empty(), (untold + " is not in --help").c_str());
    QCOMPARE(key_without_help({{"text", {{{"planted", 1}}}}}, "text"), std::string("planted"));
  }

  void benchMeasures() {
    const Outcome outcome = run({"bench", model, "-p", "8", "-n", "4", "-r", "2", "--json"});
    const auto object = nlohmann::json::parse(outcome.out, nullptr, false);
    for (const char* part : {"prefill", "decode"}) {
      QCOMPARE(object[part]["tokens"].get<int>(), std::string(part) == "prefill" ? 8 : 4);
      const auto& speed = object[part]["tok_per_s"];
      QVERIFY(speed["min"].get<double>() > 0);
      QVERIFY(speed["min"] <= speed["median"] && speed["median"] <= speed["max"]);
      QVERIFY(object[part]["ceiling_share"].get<double>() > 0);
    }
    for (const char* part : {"ttft_ms", "tpot_ms"}) {
      QVERIFY(object[part]["median"].get<double>() > 0);
      QVERIFY(object[part]["p90"] <= object[part]["p99"]);
    }
  }

  void keptOutputIsNotSaidToBeAnotherModels() {
    const std::string kept = folder_.path() / "kept";
    const auto compare = [&](const std::string& reference, const std::string& file) {
      return run({"perplexity", chat_model, FOVEA_SOURCE_DIR "/README.md", "--context", "16", "--chunks", "1",
                  "--against", reference, "--against-logits", file});
    };
    const Outcome made = compare(chat_model, kept);
    QVERIFY2(made.out.contains("\nagainst " + chat_model + ": "), made.err.c_str());
    const Outcome read = compare("nope", kept);
    QVERIFY2(read.out.contains("\nagainst " + kept + ": "), (read.out + read.err).c_str());
    const Outcome refused = compare(chat_model, model + "/config.json");
    QVERIFY2(refused.err.contains("it holds no reference's output. Choose another file"),
             refused.err.c_str());
  }

  // A GGUF file with no more than a tokeniser; the ids are those of Hugging Face's tokenizers.
  void aVocabularyAloneIsEnoughToTokenize() {
    std::ifstream file(golden("tokenizers/cases/llama3.gguf.json"));
    const auto cases = nlohmann::json::parse(file, nullptr, false);
    QVERIFY(cases.size() > 20);
    for (std::size_t i = 0; i < 20; ++i) {
      const auto& one = cases[i];
      const RunOptions with{.input = one["text"].get<std::string>()};
      const auto plain =
          nlohmann::json::parse(run({"tokenize", vocabulary, "--json"}, with).out, nullptr, false);
      QCOMPARE(plain["tokens"], one["plain"]);
      const auto special = nlohmann::json::parse(
          run({"tokenize", vocabulary, "--json", "--add-special", "--parse-special"}, with).out, nullptr,
          false);
      QCOMPARE(special["tokens"], one["special"]);
    }
  }

  void whatIsNotUtf8IsSaid() {
    const Outcome replaced = run({"tokenize", vocabulary}, {.input = "a\uFFFDb"});
    QCOMPARE(replaced.err, std::string());
    const Outcome wrong = run({"tokenize", vocabulary}, {.input = "a\xFF"
                                                                  "b"});
    QCOMPARE(wrong.code, 0);
    QCOMPARE(wrong.out, replaced.out);
    verify_one_line(wrong.err, "standard input, byte 1: the text is not UTF-8");
    const fovea::tests::TemporaryFolder folder;
    const std::string text = folder.path() / "text";
    std::ofstream(text) << std::string(400, 'a') << '\xFF';
    const Outcome read = run({"perplexity", chat_model, text, "--context", "16", "--chunks", "1"});
    QCOMPARE(read.code, 0);
    verify_one_line(read.err, "text, byte 400: the text is not UTF-8");
  }

  void aTemplatesErrorNamesItsFileAndLine() {
    const fovea::tests::TemporaryFolder folder;
    const std::string file = folder.path() / "t.jinja";
    std::ofstream(file) << "a\n{{ 1 | nothing }}";
    const Outcome outcome = run({"template", "--template", file, "--messages", "-"}, {.input = "[]"});
    QCOMPARE(outcome.code, 1);
    verify_one_line(outcome.err, "t.jinja, line 2: the filter 'nothing' is not known. Correct");
  }

  void aClosedOutputFails() {
    const Outcome closed = run({"inspect", model}, {.closed = {1}});
    QCOMPARE(closed.code, 1);
    verify_one_line(closed.err, "standard output");
    const Outcome full = run({"inspect", model}, {.output_file = "/dev/full"});
    QCOMPARE(full.code, 1);
    verify_one_line(full.err, "standard output");
  }

  void aSignalGivesTheTerminalBackWhereALogIsWritten() {
    fovea::tests::Terminal terminal({"chat", chat_model, "--verbose"}, {});
    QVERIFY(terminal.shows("> "));
    QVERIFY(!terminal.is_as_shells_expect());
    terminal.send(SIGTERM);
    QVERIFY(terminal.shows("\033[?2004l"));
    QVERIFY(terminal.is_as_shells_expect());
    QCOMPARE(terminal.end(), 1000 + SIGTERM);
  }

  void ctrlCEndsTheReadingOfInput_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::newRow("chat") << Arguments{"chat", chat_model, "--json"};
    QTest::newRow("perplexity") << Arguments{"perplexity", chat_model, "-"};
    QTest::newRow("trace") << Arguments{"trace", chat_model, "-", "--out", "/dev/null"};
    QTest::newRow("logits") << Arguments{"logits", model, "--tokens", "-", "--out", "/dev/null"};
  }
  void ctrlCEndsTheReadingOfInput() {
    QFETCH(Arguments, arguments);
    arguments.push_back("--verbose");
    fovea::tests::Terminal terminal(arguments, {});
    QVERIFY(terminal.shows("MODEL "));  // which is looked for before the input is read
    terminal.type("\x03");
    QCOMPARE(terminal.end(10), 130);
  }

  // All three closed: what is opened next must not become the output.
  void closedStreamsHarmNoFile() {
    const fovea::tests::TemporaryFolder folder;
    const std::string out = folder.path() / "x.npy";
    const Outcome outcome =
        run({"logits", model, "--tokens", "1,2,3", "--out", out, "--json"}, {.closed = {0, 1, 2}});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(std::filesystem::file_size(out), 128 + 3 * 37 * sizeof(float));
  }

 private:
  // The first key that the help does not name, at any depth. Tiers and types are data.
  static std::string key_without_help(const nlohmann::json& value, const std::string& help) {
    static const std::set<std::string> of_data{"bytes_by_type", "experts", "units", "bits_per_weight"};
    for (const auto& [key, member] : value.items()) {
      if (value.is_object() && !help.contains(key)) return key;
      if (!member.is_structured() || of_data.contains(key)) continue;
      if (const std::string untold = key_without_help(member, help); !untold.empty()) return untold;
    }
    return {};
  }

  static void verify_one_line(const std::string& text, const QByteArray& says) {
    QVERIFY2(text.contains(says.toStdString()), text.c_str());
    QVERIFY2(text.ends_with('\n') && std::ranges::count(text, '\n') == 1, text.c_str());
    QVERIFY2(text.starts_with("fovea"), text.c_str());
  }
};
FOVEA_TEST(CommandLineTest)

#include "command_line_test.moc"
