// fovea plan: the table, its JSON, its flags and what it refuses.
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;
using Arguments = std::vector<std::string>;
Q_DECLARE_METATYPE(Arguments)

namespace {

const std::string model = golden("models/qwen3_moe-0");

// The speeds are given where the test does not say them: they need not be measured.
nlohmann::json plan(Arguments arguments) {
  const auto says = [&](const char* flag) { return std::ranges::find(arguments, flag) != arguments.end(); };
  if (!says("--device-bandwidth") && !says("--device-memory"))
    arguments.insert(arguments.end(), {"--device-bandwidth", "50", "--device-gops", "500"});
  arguments.insert(arguments.begin(), "plan");
  arguments.push_back("--json");
  return nlohmann::json::parse(run(arguments).out, nullptr, false);
}

}  // namespace

class PlanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsAddUp() {
    const auto object = plan({model, "--tiers", "file,bf16", "--budget", "100MB"});
    QVERIFY(object.is_object());
    QCOMPARE(object["fits"].get<bool>(), true);
    QCOMPARE(object["budget_bytes"].get<std::int64_t>(), 100'000'000);
    std::int64_t sum = 0;
    for (const auto& [name, part] : object["parts"].items()) {
      if (name != "experts") sum += part.get<std::int64_t>();
    }
    for (const auto& [tier, bytes] : object["parts"]["experts"].items()) sum += bytes.get<std::int64_t>();
    QCOMPARE(sum, object["total_bytes"].get<std::int64_t>());
    for (const char* part :
         {"dense", "experts", "kv", "windows", "states", "activations", "transfer", "safety"})
      QVERIFY2(object["parts"].contains(part), part);
    QCOMPARE(object["units"]["file"].get<int>(), 10);
    QCOMPARE(object["units"]["bf16"].get<int>(), 0);
    QCOMPARE(object["policy"].get<std::string>(), std::string("fovea"));
    QVERIFY(object["advice"].is_array() && !object["advice"].empty());
  }

  void sizes_data() {
    QTest::addColumn<QByteArray>("size");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("GiB") << QByteArray("8GiB") << qint64(8) * 1024 * 1024 * 1024;
    QTest::newRow("GB") << QByteArray("8GB") << qint64(8'000'000'000);
    QTest::newRow("G") << QByteArray("8G") << qint64(8) * 1024 * 1024 * 1024;
    QTest::newRow("MB") << QByteArray("500MB") << qint64(500'000'000);
    QTest::newRow("small letters") << QByteArray("512mib") << qint64(512) * 1024 * 1024;
    QTest::newRow("fraction") << QByteArray("1.5GiB") << qint64(1536) * 1024 * 1024;
    QTest::newRow("space") << QByteArray("2 GiB") << qint64(2048) * 1024 * 1024;
    QTest::newRow("bytes") << QByteArray("123456789") << qint64(123'456'789);
    QTest::newRow("bytes by name") << QByteArray("123456789B") << qint64(123'456'789);
    QTest::newRow("terabyte") << QByteArray("2TiB") << (qint64(2) << 40);
  }
  void sizes() {
    QFETCH(QByteArray, size);
    QFETCH(qint64, bytes);
    QCOMPARE(plan({model, "--budget", size.toStdString()})["budget_bytes"].get<std::int64_t>(), bytes);
  }

  void wrongUsage_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const Arguments& arguments, int code, const char* says) {
      QTest::newRow(name) << arguments << code << QByteArray(says);
    };
    for (const char* size :
         {"8 gibibytes", "GiB", "-8GiB", "0", "1e9", "8GiBB", "nan", "inf", "99999999TiB", ""})
      row(size, {model, "--budget", size}, 2, "is not a size such as 8GiB");
    row("no model", {}, 2, "MODEL or --shape");
    row("both", {model, "--shape", "mixtral-8x7b"}, 2, "--shape");
    row("policy", {model, "--policy", "magic"}, 2,
        "magic is none of none, static, dynaexq, fovea, offload, flexquant, pmpd");
    row("layers", {model, "--n-cpu-moe", "some"}, 2, "some is neither a number of layers nor auto");
    row("negative layers", {model, "--n-cpu-moe", "-1"}, 2, "--n-cpu-moe");
    row("-ngl", {model, "-ngl", "few"}, 2, "few is neither a number of layers nor all");
    row("bandwidth", {model, "--device-bandwidth", "fast"}, 2, "--device-bandwidth");
    row("shape", {"--shape", "gpt-5"}, 1, "\"gpt-5\" is not a shape. Choose from: qwen3-30b-a3b");
    row("tier", {model, "--tiers", "q7"}, 1, "\"q7\" is not a tier");
    row("auto without a budget", {model, "--n-cpu-moe", "auto"}, 1, "auto needs a budget");
    row("two numbers of layers", {model, "--cpu-moe", "--n-cpu-moe", "1"}, 2, "excludes");
    row("offload and another policy", {model, "--policy", "static", "-ngl", "1"}, 1,
        "do not apply to static");
    row("tiers without a policy", {model, "--policy", "none", "--tiers", "q4"}, 1, "have no effect");
    row("a map for another policy", {model, "--policy", "dynaexq", "--tier-map", "f"}, 1,
        "does not apply to dynaexq");
    row("no such map", {model, "--tier-map", "/no/such"}, 1, "/no/such");
    row("pattern", {model, "-ot", "exps"}, 1, "is not PATTERN=PLACE");
    row("no such file", {"/no/such.gguf"}, 1, "/no/such.gguf");
  }
  void wrongUsage() {
    QFETCH(Arguments, arguments);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    arguments.insert(arguments.begin(), "plan");
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.out, std::string());
    QVERIFY2(outcome.err.contains(says.toStdString()), outcome.err.c_str());
    QCOMPARE(std::ranges::count(outcome.err, '\n'), 1);
  }

  // What does not fit is printed all the same, with the budget that would do; and that one does.
  void doesNotFit() {
    const Outcome outcome = run({"plan", model, "--budget", "20KB", "--tiers", "file,bf16"});
    QCOMPARE(outcome.code, 1);
    QVERIFY(outcome.out.contains("does not fit"));
    QVERIFY(outcome.err.contains("fovea plan"));
    const auto object = plan({model, "--budget", "20KB", "--tiers", "file,bf16"});
    QCOMPARE(object["fits"].get<bool>(), false);
    const auto least = object["least_bytes"].get<std::int64_t>();
    const auto with = [&](std::int64_t budget) {
      return plan({model, "--budget", std::to_string(budget), "--tiers", "file,bf16"})["fits"].get<bool>();
    };
    QVERIFY(with(least));
    QVERIFY(!with(least - 1));
  }

  // llama.cpp's short names are the long ones.
  void shortNames_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<int>("away");
    QTest::newRow("-ngl") << Arguments{"-ngl", "2"} << 5;
    QTest::newRow("--n-gpu-layers") << Arguments{"--n-gpu-layers", "2"} << 5;
    QTest::newRow("-ngl all") << Arguments{"-ngl", "all"} << 0;
    QTest::newRow("-ncmoe") << Arguments{"-ncmoe", "1"} << 5;
    QTest::newRow("-cmoe") << Arguments{"-cmoe"} << 10;
    QTest::newRow("-ot") << Arguments{"-ot", "blk\\.1\\.ffn_.*_exps=CPU"} << 5;
    QTest::newRow("auto") << Arguments{"-ncmoe", "auto", "--budget", "1GiB"} << 0;
  }
  void shortNames() {
    QFETCH(Arguments, arguments);
    QFETCH(int, away);
    arguments.insert(arguments.begin(), model);
    const auto object = plan(arguments);
    QVERIFY(object.is_object());
    QCOMPARE(object["units"]["disk"].get<int>(), away);
  }

  void shapesOnCards() {
    const Outcome outcome =
        run({"plan", "--shape", "qwen3-30b-a3b", "--device-memory", "32GiB", "--tiers", "bf16,q4"});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.err, std::string());
    for (const char* text :
         {"dense weights", "units at bf16", "units at q4", "KV cache", "safety", "of 32.0 GiB: fits",
          "Experts: ", " at bf16, ", "the conversation decides which", "1 GiB more: "})
      QVERIFY2(outcome.out.contains(text), text);
    const auto object =
        plan({"--shape", "qwen3-30b-a3b", "--device-memory", "24GiB", "--tiers", "bf16", "-ncmoe", "auto"});
    QVERIFY(object["fits"].get<bool>());
    QVERIFY(object["units"]["host"].get<int>() > 0);
    QVERIFY(!object["units"].contains("disk"));
    // Where nothing else is said experts change places, and main memory has them all.
    constexpr std::int64_t expert_bytes = std::int64_t{3} * 2048 * 768 * 2;
    const auto changing = plan({"--shape", "qwen3-30b-a3b", "--device-memory", "24GiB", "-ncmoe", "auto"});
    QCOMPARE(changing["policy"].get<std::string>(), std::string("fovea"));
    QCOMPARE(changing["host_parts"]["weights"].get<std::int64_t>(), 48 * 128 * expert_bytes);
    QVERIFY(changing["notes"].dump().find("change places") != std::string::npos);
    const auto too_small = plan(
        {"--shape", "qwen3-30b-a3b", "--device-memory", "24GiB", "-ncmoe", "auto", "--main-memory", "56GiB"});
    QCOMPARE(too_small["policy"].get<std::string>(), std::string("none"));
    // Where they stay no store is needed; both memories are counted.
    const Arguments beside_a_card = {"--shape", "qwen3-30b-a3b", "--device-memory", "24GiB",
                                     "-ncmoe",  "auto",          "--policy",        "none"};
    const auto divided = plan(beside_a_card);
    QCOMPARE(divided["policy"].get<std::string>(), std::string("none"));
    QVERIFY(divided["fits"].get<bool>());
    // 128 experts of 3 · 2048 · 768 weights in BF16 are each layer's.
    const auto& host = divided["host_parts"];
    QCOMPARE(host["weights"].get<std::int64_t>(),
             divided["cpu_moe_layers"].get<std::int64_t>() * 128 * expert_bytes);
    Arguments in_words = beside_a_card;
    in_words.insert(in_words.begin(), "plan");
    const std::string words = run(in_words).out;
    for (const char* text : {"units on the host", "buffers of passes", "main memory"})
      QVERIFY2(words.contains(text), words.c_str());
    QCOMPARE(divided["host_bytes"].get<std::int64_t>(), host["weights"].get<std::int64_t>() +
                                                            host["transfer"].get<std::int64_t>() +
                                                            host["exchange"].get<std::int64_t>());
    QCOMPARE(divided["host_available_bytes"].get<int>(), 0);

    // What a token takes on either side; a card that is not here has the speed that is said.
    QVERIFY(divided["host_ms_per_token"].get<double>() > 0);
    QCOMPARE(divided["device_ms_per_token"].get<double>(), 0.0);
    QCOMPARE(divided["first_token_ms"].get<double>(), 0.0);
    QVERIFY2(words.contains("--device-bandwidth tells"), words.c_str());
    Arguments with_speed = beside_a_card;
    with_speed.insert(with_speed.end(), {"--device-bandwidth", "1000"});
    const auto timed = plan(with_speed);
    QCOMPARE(timed["device_ms_per_token"].get<double>(), timed["device_bytes_per_token"].get<double>() / 1e9);
    // A prompt's experts cross a link that nobody has measured.
    with_speed.insert(with_speed.end(), {"--device-gops", "100000"});
    const auto assumed = plan(with_speed);
    QVERIFY(assumed["first_token_ms"].get<double>() > 0);
    QCOMPARE(assumed["assumed_link_gb_per_s"].get<double>(), 20.0);
    with_speed.insert(with_speed.begin(), "plan");
    QVERIFY(run(with_speed).out.contains(" s at least, assuming 20 GB/s to the card."));
    with_speed.insert(with_speed.end(), {"--stream-experts", "off"});
    QVERIFY(run(with_speed).out.contains(" s at least.\n"));

    // With less main memory than that it does not fit.
    const Outcome refused = run({"plan", "--shape", "qwen3-30b-a3b", "--device-memory", "24GiB", "-ncmoe",
                                 "auto", "--main-memory", "8GiB"});
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.out.contains("of 8.00 GiB: does not fit"), refused.out.c_str());
    QVERIFY2(refused.err.contains("of main memory is needed beside the card, and only 8.00 GiB") &&
                 refused.err.contains("it fits there without --n-cpu-moe"),
             refused.err.c_str());
  }

  // By the published sizes: 48 layers of width 2048, 32 heads of 128 over 4, 8 of 128 experts of width 768.
  void whatATokenReadsAndWhatAPromptTakes() {
    constexpr std::int64_t layers = 48, d = 2048, expert = 3 * d * 768, vocabulary = 151'936;
    constexpr std::int64_t attention = 2 * d * 32 * 128 + 2 * d * 4 * 128, router = 128 * d;
    const auto object =
        plan({"--shape", "qwen3-30b-a3b", "--device-memory", "96GiB", "--tiers", "bf16", "--device-bandwidth",
              "4000", "--device-gops", "100000", "--prompt-tokens", "2048"});
    QCOMPARE(object["unit_bytes"]["bf16"].get<std::int64_t>(), 2 * expert);
    QCOMPARE(object["expert_bytes_per_token"].get<double>(), 2.0 * layers * 8 * expert);
    const double dense = object["dense_bytes_per_token"].get<double>();  // norms beside the matrices
    const double matrices = 2.0 * (layers * (attention + router) + vocabulary * d);
    QVERIFY(dense >= matrices && dense < 1.001 * matrices);
    QCOMPARE(object["device_ms_per_token"].get<double>(), (dense + 2.0 * layers * 8 * expert) / 4e9);
    const double multiply_adds = 2048.0 * layers * (attention + router + 8 * expert) +
                                 2.0 * layers * 32 * 128 * (2048.0 * 2049 / 2) + vocabulary * d;
    const double first = object["first_token_ms"].get<double>(), expected = 2 * multiply_adds / 1e11;
    QVERIFY2(std::abs(first / expected - 1) < 1e-9, qPrintable(QString::number(first / expected, 'g', 15)));
    // Where reading the weights of each pass takes longer, that is what is predicted.
    const auto slow =
        plan({"--shape", "qwen3-30b-a3b", "--device-memory", "96GiB", "--tiers", "bf16", "--device-bandwidth",
              "10", "--device-gops", "100000", "--prompt-tokens", "2048"});
    QVERIFY(slow["first_token_ms"].get<double>() > 2 * first);
  }

  void whatItRestsOn() {
    QVERIFY(plan({model, "--tiers", "file,bf16"})["basis"]["store"].get<std::string>().empty());
    const std::string words =
        run({"plan", model, "--tiers", "file,bf16", "--device-bandwidth", "50", "--device-gops", "500"}).out;
    for (const char* text :
         {"no store yet: uniform harm", "at least", "The first token behind a prompt of 1024", "dense and",
          "of experts", "10 units of"})
      QVERIFY2(words.contains(text), words.c_str());
  }

  // The more time is worth, the fewer bytes a token reads, whatever there is room for.
  void timeIsWorthSomething() {
    const fovea::tests::TemporaryFolder folder;
    const fovea::tests::RunOptions data{.environment = {{"FOVEA_DATA", folder.path()}}};
    const std::string dense = golden("chat");
    const std::string text = folder.path() / "text";
    std::ofstream(text) << "the text that the model reads first, and then once more, until it has learnt\n";
    const auto with = [&](Arguments arguments, const Arguments& more) {
      arguments.insert(arguments.end(), more.begin(), more.end());
      return run(arguments, data);
    };
    const Arguments planned{"plan", dense, "--policy", "static", "--tiers", "file,bf16", "--json"};
    const Outcome refused = with(planned, {"--prefer", "fast"});
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("--divergence"), refused.err.c_str());
    const Outcome made = with({"prepare", dense, "--tiers", "file,bf16", "--calibrate", text,
                               "--calibrate-tokens", "16", "--divergence", "--divergence-tokens", "16"},
                              {});
    QVERIFY2(made.code == 0, made.err.c_str());
    std::int64_t before = -1;
    double bytes = 0;
    for (const char* prefer : {"exact", "1", "1000000"}) {
      const Outcome outcome = with(planned, {"--prefer", prefer});
      QVERIFY2(outcome.code == 0, outcome.err.c_str());
      const auto object = nlohmann::json::parse(outcome.out, nullptr, false);
      const auto low = object["units"]["bf16"].get<std::int64_t>();
      QVERIFY2(low >= before, outcome.out.c_str());
      if (before >= 0) QVERIFY(object["device_bytes_per_token"].get<double>() <= bytes);
      before = low;
      bytes = object["device_bytes_per_token"].get<double>();
      if (std::string_view(prefer) == "exact") QCOMPARE(low, 0);
    }
    QVERIFY(before > 0);
    const Outcome other = with({"plan", model, "--policy", "dynaexq", "--tiers", "file,bf16", "--budget",
                                "100MB", "--prefer", "fast"},
                               {});
    QCOMPARE(other.code, 1);
    QVERIFY2(other.err.contains("the policy is dynaexq"), other.err.c_str());
  }
};
FOVEA_TEST(PlanTest)

#include "plan_test.moc"
