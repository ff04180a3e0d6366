// fovea prepare as its users run it: what it says, what it refuses, and what a kill leaves behind.
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/test.h"

#include "process.h"

namespace fs = std::filesystem;
using fovea::tests::content;
using fovea::tests::Outcome;
using fovea::tests::run;
using nlohmann::json;

namespace {

// Starts the program without a word. It cannot make files longer than `max_bytes`: to it, the disk is full.
pid_t start(const std::vector<std::string>& arguments, rlim_t max_bytes = RLIM_INFINITY) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{max_bytes, max_bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  std::string program = FOVEA_BINARY_DIR "/fovea";
  std::vector<char*> argv{program.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

// A copy of the golden chat model whose weights lie halfway between two BF16 numbers, as far from BF16 as F32
// can be: they are F32 in the file, and BF16 numbers there.
fs::path copy_of_chat_between_bf16(const fs::path& folder) {
  const fs::path copy = folder / "chat";
  fs::copy(fovea::tests::golden("chat"), copy);
  std::string bytes = content(copy / "model.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t weight = sizeof(header) + header; weight < bytes.size(); weight += 4) {
    const std::uint16_t half = 0x8000;  // of the 16 bits that BF16 leaves out
    std::memcpy(bytes.data() + weight, &half, sizeof(half));
  }
  std::ofstream(copy / "model.safetensors", std::ios::binary) << bytes;
  return copy;
}

// Waits until the program has begun `part`, and kills it so many microseconds later. True: it was still
// running.
bool killed_after(const std::vector<std::string>& arguments, const fs::path& part, int microseconds) {
  const pid_t child = start(arguments);
  int status = 0;
  while (!fs::exists(part)) {
    if (::waitpid(child, &status, WNOHANG) == child) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace

class PrepareCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<fovea::tests::TemporaryFolder>(); }

  void aStoreOfTheDataFolder() {
    const Outcome made = run({"prepare", model_, "--tiers", "file,q4", "--json"}, data());
    QCOMPARE(made.code, 0);
    QVERIFY2(made.err.contains("bytes (") && made.err.contains("on the disk"), made.err.c_str());
    const json object = json::parse(made.out, nullptr, false);
    QCOMPARE(object["units"], 5);
    QCOMPARE(object["was_there"], false);
    QCOMPARE(object["calibrated_units"], 0);
    const fs::path path = object["path"].get<std::string>();
    QVERIFY(path.string().starts_with((folder_->path() / "stores" / "blocks-").string()));
    QVERIFY(path.string().ends_with("-file-q4.store"));
    QCOMPARE(fs::file_size(path), object["bytes"].get<std::uintmax_t>());
    QVERIFY(made.err.contains(" " + std::to_string(fs::file_size(path)) + " bytes"));
    QCOMPARE(object["tiers"].size(), 2U);
    QCOMPARE(object["tiers"][0]["name"], "file");
    QCOMPARE(object["tiers"][0]["weight_error_max"], 0);
    QVERIFY(object["tiers"][1]["bits_per_weight"] > 4 && object["tiers"][1]["bits_per_weight"] < 5);
    QVERIFY(object["tiers"][1]["weight_error_mean"] > 0.01 && object["tiers"][1]["weight_error_mean"] < 0.2);
    QVERIFY(object["tiers"][1]["output_error_mean"].is_null());

    const std::string before = content(path);
    const Outcome again = run({"prepare", model_, "--tiers", "file,q4"}, data());
    QCOMPARE(again.code, 0);
    QVERIFY(again.out.contains("there already"));
    QCOMPARE(again.err, std::string());
    const Outcome rebuilt = run({"prepare", model_, "--tiers", "file,q4", "--rebuild"}, data());
    QCOMPARE(rebuilt.code, 0);
    QVERIFY(content(path) == before);
  }

  // The golden model's weights are normal ones: q4 suits them better than q4e.
  void aTierThatSuitsBetterIsNamed() {
    const Outcome right = run({"prepare", model_, "--tiers", "q4", "--json"}, data());
    QCOMPARE(right.code, 0);
    QVERIFY2(!right.err.contains("would suit"), right.err.c_str());
    QVERIFY(json::parse(right.out, nullptr, false)["closer_tier"].is_null());

    const std::vector<std::string> arguments{"prepare", model_, "--tiers", "q4e", "--json"};
    const Outcome other = run(arguments, data());
    QCOMPARE(other.code, 0);
    QVERIFY2(other.err.contains("q4 would suit these weights better than q4e"), other.err.c_str());
    const json object = json::parse(other.out, nullptr, false);
    QCOMPARE(object["tiers"][0]["name"], "q4e");
    QCOMPARE(object["closer_tier"]["tier"], "q4e");
    QCOMPARE(object["closer_tier"]["closer"], "q4");
    QVERIFY(object["closer_tier"]["closer_weight_error"] < object["closer_tier"]["weight_error"]);

    const Outcome again = run(arguments, data());
    QVERIFY2(!again.err.contains("would suit"), again.err.c_str());
    QVERIFY(json::parse(again.out, nullptr, false)["closer_tier"].is_null());
  }

  void wrongUse_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown tier") << QStringList{"--tiers", "file,q99"} << 1 << "\"q99\" is not a tier";
    QTest::newRow("wrong order") << QStringList{"--tiers", "q4,file"} << 1 << "from high to low";
    QTest::newRow("twice") << QStringList{"--tiers", "file,file"} << 1 << "each once";
    QTest::newRow("of equal bits") << QStringList{"--tiers", "q4,q4e"} << 1
                                   << "\"q4e\" has 4.25 bits per weight";
    QTest::newRow("scope") << QStringList{"--scope", "heads"} << 2 << "none of experts, linear";
    QTest::newRow("divergence of nothing") << QStringList{"--divergence"} << 2 << "requires --calibrate";
    QTest::newRow("tokens of no divergence")
        << QStringList{"--calibrate", "/none.txt", "--no-divergence", "--divergence-tokens", "32"} << 2
        << "--no-divergence excludes --divergence-tokens";
    QTest::newRow("both") << QStringList{"--calibrate", "/none.txt", "--no-divergence", "--divergence"} << 2
                          << "--divergence excludes --no-divergence";
    QTest::newRow("no text") << QStringList{"--calibrate", "/none.txt"} << 1 << "/none.txt";
    QTest::newRow("empty text") << QStringList{"--calibrate", "/dev/null"} << 1 << "empty";
    QTest::newRow("no tokeniser") << QStringList{"--calibrate", FOVEA_SOURCE_DIR "/README.md"} << 1
                                  << "tokenizer";
    QTest::newRow("no folder to write to") << QStringList{"--out", "/proc/none/a.store"} << 1 << "folder";
  }
  void wrongUse() {
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QString, says);
    std::vector<std::string> all{"prepare", model_};
    for (const QString& argument : arguments) all.push_back(argument.toStdString());
    if (!arguments.contains("--tiers")) all.insert(all.end(), {"--tiers", "file,q4"});
    const Outcome outcome = run(all, data());
    QCOMPARE(outcome.code, code);
    QVERIFY2(outcome.err.contains(says.toStdString()), outcome.err.c_str());
    QVERIFY(!fs::exists(folder_->path() / "stores") || fs::is_empty(folder_->path() / "stores"));
  }

  void aDenseModelHasLinearLayers() {
    const std::string dense = fovea::tests::golden("models/llama-0-gguf.gguf");
    const Outcome outcome = run({"prepare", dense, "--scope", "experts"}, data());
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains("--scope linear"), outcome.err.c_str());
    const Outcome made = run({"prepare", dense, "--tiers", "file", "--json"}, data());
    QCOMPARE(made.code, 0);
    const json object = json::parse(made.out, nullptr, false);
    QCOMPARE(object["units"], 14);  // 2 layers of 7
    QVERIFY(object["path"].get<std::string>().ends_with("-file-linear.store"));
  }

  // Another model's store, another device's, a damaged one: refused by name, replaced when asked.
  void aWrongStoreIsRefusedAndRebuilt_data() {
    QTest::addColumn<int>("wrong");
    QTest::addColumn<QString>("says");
    QTest::newRow("another model's") << 0 << "fingerprint";
    QTest::newRow("other tiers") << 1 << "tiers file, q4, expected file, q2";
    QTest::newRow("damaged") << 2 << "checksum is wrong";
    QTest::newRow("cut off") << 3 << "the file ends here";
  }
  void aWrongStoreIsRefusedAndRebuilt() {
    QFETCH(int, wrong);
    QFETCH(QString, says);
    const fs::path path = folder_->path() / "a.store";
    std::string model = model_;
    std::vector<std::string> arguments{"prepare", model_, "--tiers", "file,q4", "--out", path};
    QCOMPARE(run(arguments).code, 0);
    if (wrong == 0)
      arguments = {"prepare", fovea::tests::golden("models/mixtral-0-gguf.gguf"), "--tiers", "file", "--out",
                   path};
    if (wrong == 1) arguments[3] = "file,q2";
    if (wrong == 2) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(100);
      file.put('x');
    }
    if (wrong == 3) fs::resize_file(path, fs::file_size(path) - 4096);
    const std::string before = content(path);
    const Outcome refused = run(arguments);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains(says.toStdString()) && refused.err.contains(path.string()),
             refused.err.c_str());
    QVERIFY2(refused.err.contains("--rebuild"), refused.err.c_str());
    QVERIFY(content(path) == before);
    arguments.emplace_back("--rebuild");
    QCOMPARE(run(arguments).code, 0);
    arguments.pop_back();
    QVERIFY(run(arguments).out.contains("there already"));
  }

  // A model that is named where a store belongs stays what it is, and no advice would have it replaced.
  void anotherFileIsNeverReplaced() {
    const fs::path path = folder_->path() / "a.gguf";
    fs::copy_file(model_, path);
    const std::string before = content(path);
    const std::vector<std::string> prepare{"prepare", path, "--tiers", "file,q4", "--out", path};
    std::vector<std::string> rebuild = prepare;
    rebuild.emplace_back("--rebuild");
    for (const auto& arguments :
         {prepare, rebuild, {"bench", path, "--policy", "static", "--tiers", "file,q4", "--store", path}}) {
      const Outcome refused = run(arguments);
      QCOMPARE(refused.code, 1);
      QVERIFY2(refused.err.contains("this is not an expert store. Choose another file"), refused.err.c_str());
      QVERIFY(content(path) == before);
    }
  }

  // Killed at random moments it always leaves something to go on with, and whenever a store is there, it is
  // whole.
  void aKillLosesNothing() {
    const auto dense = fovea::tests::demo_dense_model();
    const std::string model = dense.empty() ? model_ : dense.string();
    const fs::path whole = folder_->path() / "whole.store", path = folder_->path() / "a.store";
    std::vector<std::string> arguments{"prepare",   model, "--tiers", "q8,file",
                                       "--threads", "2",   "--out",   whole};
    QCOMPARE(run(arguments).code, 0);
    arguments.back() = path;
    const QByteArray seed = "seed " + QByteArray::number(fovea::tests::seed());
    std::mt19937 random(fovea::tests::seed());
    int killed = 0, finished = 0;
    for (int round = 0; round < fovea::tests::rounds(15); ++round) {
      const int wait = round == 0 ? 0 : static_cast<int>(random() % 200'000);
      killed += killed_after(arguments, path.string() + ".part", wait) ? 1 : 0;
      if (!fs::exists(path)) continue;
      QVERIFY2(content(path) == content(whole), seed);
      ++finished;
      fs::remove(path);
    }
    const Outcome last = run(arguments);
    QVERIFY2(last.code == 0, (last.err + seed.toStdString()).c_str());
    QVERIFY2(content(path) == content(whole), seed);
    QVERIFY(!fs::exists(path.string() + ".part"));
    QVERIFY(killed > 0);
    if (fovea::tests::rounds(1) > 1) qInfo("%d kills, %d stores finished between them", killed, finished);
  }

  // What was written before the disk was full is there afterwards, and so is the store that was to be
  // replaced.
  void aFullDiskLosesNothing() {
    const fs::path path = folder_->path() / "a.store", part = path.string() + ".part";
    std::vector<std::string> arguments{"prepare", model_, "--tiers", "file,q4", "--out", path};
    const auto ends = [&arguments](rlim_t max_bytes) {
      int status = -1;
      const pid_t child = start(arguments, max_bytes);
      ::waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    QCOMPARE(ends(16384), 1);
    QVERIFY(!fs::exists(path) && !fs::exists(part));
    QCOMPARE(ends(RLIM_INFINITY), 0);
    const std::string whole = content(path);

    arguments.emplace_back("--rebuild");
    QCOMPARE(ends(16384), 1);
    QVERIFY(content(path) == whole);
    arguments.pop_back();

    // A part that has its room but not its last extents: the writes themselves fail.
    fs::rename(path, part);
    const auto size = fs::file_size(part);
    const auto spoil = [&part](std::uintmax_t offset) {
      std::fstream file(part, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(offset));
      file.write("spoilt", 6);
    };
    spoil(size - 4096);
    const std::string before = content(part);
    QCOMPARE(ends(size - 4096), 1);
    QVERIFY(!fs::exists(path));
    QVERIFY(content(part) == before);
    QCOMPARE(ends(RLIM_INFINITY), 0);
    QVERIFY(content(path) == whole);
  }

  // Bytes of an extent are checked when they are read: the store and the unit are named, and what to do.
  void aDamagedExtentIsNamed() {
    const std::string chat = fovea::tests::golden("chat");
    const fs::path path = folder_->path() / "a.store";
    QCOMPARE(run({"prepare", chat, "--tiers", "file,bf16", "--out", path}).code, 0);
    const fs::path map = folder_->path() / "map";
    std::ofstream(map) << "default bf16\n";
    const std::vector<std::string> arguments{"perplexity", chat,         FOVEA_SOURCE_DIR "/README.md",
                                             "--context",  "16",         "--chunks",
                                             "1",          "--policy",   "static",
                                             "--tiers",    "file,bf16",  "--store",
                                             path,         "--tier-map", map};
    QCOMPARE(run(arguments).code, 0);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(fs::file_size(path) - 100));
      file.write("spoilt", 6);
    }
    const Outcome refused = run(arguments);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains(path.string()) && refused.err.contains("the checksum of unit 7 at tier") &&
                 refused.err.contains("--rebuild"),
             refused.err.c_str());
  }

  // Layers packed as GPTQ, AWQ and AutoRound are the file's own tier, and the source of the others.
  void packedFoldersArePrepared_data() {
    QTest::addColumn<double>("bits");
    for (const char* name : {"gptq", "gptq-mixed", "awq", "auto-round", "auto-round-awq"})
      QTest::newRow(name) << 4.5;
    QTest::newRow("gptq-8") << 8.5;
  }
  void packedFoldersArePrepared() {
    QFETCH(double, bits);
    const fs::path path = folder_->path() / "a.store";
    const std::string model = fovea::tests::golden("quantized") / QTest::currentDataTag();
    const std::vector<std::string> arguments{"prepare", model,   "--tiers", "file,q3,q2",
                                             "--json",  "--out", path};
    const Outcome made = run(arguments);
    QVERIFY2(made.code == 0, made.err.c_str());
    const json object = json::parse(made.out, nullptr, false);
    QVERIFY(object["units"] > 0);
    const json& tiers = object["tiers"];
    QVERIFY2(tiers[0]["bits_per_weight"] >= bits, made.out.c_str());
    QCOMPARE(tiers[0]["weight_error_max"], 0);
    QVERIFY2(tiers[1]["weight_error_mean"] > 0.05 && tiers[1]["weight_error_mean"] < 0.2, made.out.c_str());
    QVERIFY2(tiers[2]["weight_error_mean"] > tiers[1]["weight_error_mean"], made.out.c_str());
    QCOMPARE(json::parse(run(arguments).out, nullptr, false)["was_there"], true);
  }

 private:
  fovea::tests::RunOptions data() const { return {.environment = {{"FOVEA_DATA", folder_->path()}}}; }

  const std::string model_ = fovea::tests::golden("models/blocks.gguf");
  std::unique_ptr<fovea::tests::TemporaryFolder> folder_;
};
FOVEA_TEST(PrepareCommandTest)

// With weights that BF16 must round: some processors round only what they are multiplied with.
class CalibratedStoreTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<fovea::tests::TemporaryFolder>();
    prepare_ = {"prepare", copy_of_chat_between_bf16(folder_->path()),
                "--tiers", "file,bf16",
                "--out",   folder_->path() / "a.store",
                "--json"};
  }

  void theTextReachesUnits() {
    const json object = prepared(calibrated("README.md"));
    QCOMPARE(object["calibrated_units"], 8);
    const json &file = object["tiers"][0], &bf16 = object["tiers"][1];
    QCOMPARE(file["output_error_max"], 0);
    // Half of the last of BF16's eight digits.
    QVERIFY2(bf16["weight_error_mean"] > 1. / 512 && bf16["weight_error_mean"] < 1. / 256,
             object.dump().c_str());
    // Three matrices' errors come together in an expert's output.
    QVERIFY2(bf16["output_error_mean"] > bf16["weight_error_mean"] && bf16["output_error_mean"] < 0.02,
             object.dump().c_str());
    const json again = prepared(calibrated("README.md"));
    QCOMPARE(again["was_there"], true);
    QCOMPARE(again["calibrated_units"], 8);
  }

  void anotherTextIsAnotherStore() {
    QCOMPARE(prepared(calibrated("README.md"))["was_there"], false);
    const Outcome refused = run(calibrated("CONTRIBUTING.md"));
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("without this calibration") && refused.err.contains("--rebuild"),
             refused.err.c_str());
    // Whoever asks for none takes it as it is.
    QCOMPARE(prepared(prepare_)["was_there"], true);
  }

  // Usual for experts, whose errors alone do not say which layer they hurt.
  void divergencesUnlessTheyAreLeftOut() {
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments = calibrated("README.md");
      arguments.insert(arguments.end(), more.begin(), more.end());
      return prepared(arguments);
    };
    QVERIFY(with({"--no-divergence"})["tiers"][1]["divergence_mean"].is_null());
    QCOMPARE(with({})["was_there"], true);  // whoever does not say takes it as it is
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--divergence-tokens", "32"}}) {
      std::vector<std::string> anew{"--rebuild"};
      anew.insert(anew.end(), more.begin(), more.end());
      const json object = with(anew);
      QCOMPARE(object["was_there"], false);
      QCOMPARE(object["tiers"][0]["divergence_mean"], 0);
      QVERIFY2(object["tiers"][1]["divergence_mean"] > 0 && object["tiers"][1]["divergence_mean"] < 0.01,
               object.dump().c_str());
    }
  }

 private:
  std::vector<std::string> calibrated(const std::string& text) const {
    std::vector<std::string> arguments = prepare_;
    arguments.insert(arguments.end(),
                     {"--calibrate", FOVEA_SOURCE_DIR "/" + text, "--calibrate-tokens", "256"});
    return arguments;
  }
  static json prepared(const std::vector<std::string>& arguments) {
    return json::parse(run(arguments).out, nullptr, false);
  }

  std::unique_ptr<fovea::tests::TemporaryFolder> folder_;
  std::vector<std::string> prepare_;
};
FOVEA_TEST(CalibratedStoreTest)

#include "prepare_test.moc"
