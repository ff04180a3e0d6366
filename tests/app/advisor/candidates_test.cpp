// Which model is recommended on which machine, and what is said of it.
#include "app/advisor/candidates.h"

#include <algorithm>

#include "app/advisor/setup.h"
#include "engine/api/model_info.h"
#include "tests/support/test.h"

#include "machines.h"

using namespace fovea;
using app::Candidate;
using app::Machine;
using app::Wish;

Q_DECLARE_METATYPE(fovea::app::Candidate)

namespace {

std::vector<Candidate> of_the_catalogue(const Machine& machine) {
  auto found = app::find_candidates({}, {}, app::catalogue(), machine);
  for (Candidate& candidate : found) app::find_longest_context(candidate, machine);
  return found;
}

std::string id(const Candidate& candidate) {
  return candidate.entry ? candidate.entry->id : candidate.path.string();
}

}  // namespace

class CandidatesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // By hand, with 8,192 tokens: a 4-bit Qwen3.6-27B takes about 18 GB and answers best (86.2 per cent of
  // MMLU-Pro); a 4-bit Qwen3-30B-A3B takes about 19 GB, and of those that answer well it reads least for a
  // token; Qwen3-4B takes 4 GB, and what answers better does not fit 5. All 262,144 tokens of Qwen3.5-9B
  // take 8.6 GB beside its 5.5, of Qwen3.6-35B-A3B 5.4 GB beside 20, and of Qwen3.6-27B 17 GB beside 16.5.
  void theFirstIsTheBest_data() {
    QTest::addColumn<std::vector<Candidate>>("found");
    QTest::addColumn<int>("wish");
    QTest::addColumn<QByteArray>("first");
    const auto rows = [](const char* name, const Machine& machine, const char* speed, const char* quality,
                         const char* long_context) {
      const auto found = of_the_catalogue(machine);
      QTest::addRow("%s, speed", name) << found << int(Wish::speed) << QByteArray(speed);
      QTest::addRow("%s, quality", name) << found << int(Wish::quality) << QByteArray(quality);
      QTest::addRow("%s, long context", name) << found << int(Wish::long_context) << QByteArray(long_context);
    };
    rows("8 GB laptop", tests::processor(8, 6, 20), "qwen3-4b", "qwen3-4b", "qwen3-4b");
    rows("32 GB desktop", tests::processor(32, 28, 45), "qwen3-30b-a3b", "qwen3.6-27b", "qwen3.6-35b-a3b");
    rows("24 GB card", tests::with_card(24), "qwen3-30b-a3b", "qwen3.6-27b", "qwen3.5-9b");
    rows("32 GB card", tests::with_card(32), "qwen3-30b-a3b", "qwen3.6-27b", "qwen3.6-35b-a3b");
    rows("48 GB card", tests::with_card(48), "qwen3-30b-a3b", "qwen3.6-27b", "qwen3.6-27b");
  }
  void theFirstIsTheBest() {
    QFETCH(std::vector<Candidate>, found);
    QFETCH(int, wish);
    QFETCH(QByteArray, first);
    app::sort_for(found, static_cast<Wish>(wish));
    QCOMPARE(found.size(), app::catalogue().size());
    QCOMPARE(QByteArray::fromStdString(id(found.front())), first);
  }

  // The list of models measures nothing before it proposes what the first screen does.
  void theProposalIsTheSameUnmeasured() {
    for (Machine machine : {tests::processor(8, 6, 20), tests::processor(32, 28, 45), tests::with_card(24)}) {
      auto measured = app::find_candidates({}, {}, app::catalogue(), machine);
      machine.memory_read_gb_per_s = machine.disk_read_gb_per_s = machine.processor_gop_per_s = 0;
      auto found = app::find_candidates({}, {}, app::catalogue(), machine);
      app::sort_for(measured, app::first_wish);
      app::sort_for(found, app::first_wish);
      QCOMPARE(id(found.front()), id(measured.front()));
    }
  }

  // Nothing that fits stands behind something that does not.
  void whatFitsIsFirst() {
    for (const Machine& machine :
         {tests::processor(4, 2, 15), tests::processor(8, 6, 20), tests::with_card(24)}) {
      auto found = app::find_candidates({}, {}, app::catalogue(), machine);
      for (const Wish wish : {Wish::speed, Wish::quality, Wish::long_context}) {
        app::sort_for(found, wish);
        bool ended = false;
        for (const Candidate& candidate : found) {
          const bool in_memory = candidate.usable() && candidate.fit.kind != app::FitKind::experts_elsewhere;
          QVERIFY2(!(ended && in_memory), candidate.name.c_str());
          ended = ended || !in_memory;
        }
      }
    }
  }

  // The catalogue is for machines of 8 to 48 GB: of each entry something can be used on the largest, and
  // gpt-oss-120b alone has experts beside the card there.
  void everyEntryIsForSuchMachines() {
    const auto found = app::find_candidates({}, {}, app::catalogue(), tests::with_card(48));
    for (const Candidate& candidate : found) {
      QVERIFY2(candidate.usable(), candidate.name.c_str());
      const bool elsewhere = candidate.fit.kind == app::FitKind::experts_elsewhere;
      QVERIFY2(!elsewhere || id(candidate) == "gpt-oss-120b", candidate.name.c_str());
    }
    for (const std::int64_t gib : {8, 12, 16, 24})
      QVERIFY(std::ranges::any_of(
          app::find_candidates({}, {}, app::catalogue(), tests::with_card(gib)),
          [](const Candidate& c) { return c.fit.kind == app::FitKind::fits && c.entry->bytes_from_shape; }));
  }

  // The planner does not know the shape of every model that is not here.
  void aConversationThatNobodyPlannedHasNoLength() {
    for (const Candidate& candidate : of_the_catalogue(tests::processor(32, 28, 45))) {
      const bool is_planned = candidate.entry && !candidate.entry->shape.empty();
      QVERIFY2((candidate.longest_context > 0) == is_planned, candidate.name.c_str());
    }
  }

  // By hand: 36 layers of 8 heads of 128, keys and values of two bytes, beside the file's 2.5 GB.
  void aDenseModelIsPlannedBeforeItIsHere() {
    const Machine machine = tests::processor(32, 28, 45);
    const Candidate candidate = app::examine_entry(
        *std::ranges::find(app::catalogue(), "qwen3-4b", &app::CatalogueEntry::id), machine);
    LoadOptions setup = app::usual_setup(candidate, machine);
    const double token = 36 * 8 * 128 * 2 * 2;
    for (const std::int64_t context : {8192, 32768}) {
      setup.context = context;
      const auto report = app::plan_of(candidate, setup, machine);
      FOVEA_VERIFY(report);
      QCOMPARE(report->plan.parts.dense, std::int64_t{2'500'000'000});
      const double tokens = static_cast<double>(report->plan.parts.kv) / token;
      QVERIFY(tokens >= static_cast<double>(context) && tokens < static_cast<double>(context) + 200);
      QVERIFY(report->plan.parts.activations > 0);
    }
    QCOMPARE(app::precision_choices(candidate, machine).size(), std::size_t{1});
  }

  void speedIsBytesAndBandwidth() {
    Candidate dense;
    dense.file_bytes = 4'000'000'000;
    dense.parameters = dense.parameters_active = 8'000'000'000;
    QCOMPARE(app::bytes_per_token(dense, {}), 4e9);
    // A plan knows it.
    LoadPlan report;
    report.device_part = {.dense_bytes = 1e9, .expert_bytes = 1e9};
    QCOMPARE(app::bytes_per_token(dense, report), 2e9);
  }

  void lowBitsCountForLess() {
    Candidate candidate;
    candidate.parameters = candidate.parameters_active = 8'000'000'000;
    double before = 0;
    for (const double bits : {2.0, 2.5, 3.5, 4.5, 8.5}) {
      candidate.bits_per_weight = bits;
      const double capable = app::capability(candidate);
      QVERIFY(capable > before);
      before = capable;
    }
    QVERIFY(before < 1);
  }

  void aDamagedFileIsSaidAndComesLast() {
    const tests::TemporaryFolder folder;
    QFile file(QString::fromStdString((folder.path() / "broken.gguf").string()));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("GGUF, but not really");
    file.close();
    const Machine machine = tests::processor(32, 28, 45);
    auto found = app::find_candidates({folder.path()}, {}, app::catalogue(), machine);
    QCOMPARE(found.size(), app::catalogue().size() + 1);
    app::sort_for(found, Wish::quality);
    QVERIFY(!found.back().trouble.empty());
    QVERIFY(!found.back().usable());
    QCOMPARE(found.back().path.filename().string(), std::string("broken.gguf"));
  }

  void theDemoOnTheDiskIsTheCataloguesDemo() {
    const auto demo = tests::whole_demo_model();
    if (demo.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const Machine machine = tests::processor(8, 6, 20);
    const auto found = app::find_candidates({demo.parent_path()}, {demo}, app::catalogue(), machine);
    const auto is_demo = [](const Candidate& c) { return id(c) == "demo"; };
    QCOMPARE(std::ranges::count_if(found, is_demo), 1);  // not once more for the second way to it
    const Candidate& candidate = *std::ranges::find_if(found, is_demo);
    QCOMPARE(candidate.path, demo);
    QCOMPARE(candidate.file_bytes, static_cast<std::int64_t>(std::filesystem::file_size(demo)));
    QCOMPARE(candidate.experts, std::int64_t{16});
    const auto info = inspect(demo);
    FOVEA_VERIFY(info);
    QCOMPARE(candidate.entry->parameters, info->parameters);
    QCOMPARE(candidate.entry->parameters_active, info->parameters_active);
    QCOMPARE(candidate.entry->bytes, static_cast<std::int64_t>(std::filesystem::file_size(demo)));
    QCOMPARE(candidate.fit.kind, app::FitKind::fits);
    QVERIFY(candidate.bytes_per_token > 1e7 && candidate.bytes_per_token < 2.5e8);
    QVERIFY(candidate.tokens_per_second > 100);
  }

  // Beyond the trained length only as far as the positions can be stretched.
  void contextsAreOfferedUpToWhatTheModelIsMadeFor() {
    Candidate candidate;
    candidate.context = candidate.extended_context = 40960;
    const std::vector<std::int64_t> trained{2048, 4096, 8192, 16384, 32768, 40960};
    QCOMPARE(app::offered_contexts(candidate), trained);
    candidate.extended_context = 131072;
    std::vector<std::int64_t> stretched = trained;
    stretched.insert(stretched.end(), {81920, 131072});
    QCOMPARE(app::offered_contexts(candidate), stretched);
    QCOMPARE(app::contexts_of(candidate), trained);
  }

  // A model that the server shares is planned with its answers at once.
  void answersAtOnceArePlanned() {
    Machine machine = tests::processor(32, 28, 45);
    const Candidate candidate = app::examine_entry(
        *std::ranges::find(app::catalogue(), "qwen3-30b-a3b", &app::CatalogueEntry::id), machine);
    const LoadOptions setup = app::usual_setup(candidate, machine);
    const auto alone = app::plan_of(candidate, setup, machine);
    machine.room.sequences = 4;
    const auto shared = app::plan_of(candidate, setup, machine);
    FOVEA_VERIFY(alone);
    FOVEA_VERIFY(shared);
    QCOMPARE(alone->options.sequences, std::int64_t{1});
    QCOMPARE(shared->options.sequences, std::int64_t{4});
    QVERIFY(shared->plan.parts.kv + shared->plan.parts.activations >
            alone->plan.parts.kv + alone->plan.parts.activations);
  }

  // What is proposed must fit, and change what it says.
  void remediesFit() {
    Machine machine = tests::processor(32, 28, 45);
    Candidate candidate = app::examine_entry(
        *std::ranges::find(app::catalogue(), "qwen3-30b-a3b", &app::CatalogueEntry::id), machine);
    LoadOptions setup = app::usual_setup(candidate, machine);
    setup.context = 131072;
    setup.precision.budget_bytes = 20'000'000'000;
    const auto report = app::plan_of(candidate, setup, machine);
    FOVEA_VERIFY(report);
    QVERIFY(!report->plan.fits);
    const auto found = app::remedies(candidate, setup, *report, machine);
    QVERIFY(!found.empty());
    bool shorter = false;
    for (const app::Remedy& remedy : found) {
      const auto again = app::plan_of(candidate, remedy.setup, machine);
      FOVEA_VERIFY(again);
      QVERIFY(again->plan.fits);
      shorter = shorter || (remedy.kind == app::Remedy::Kind::context && remedy.setup.context < 131072);
    }
    QVERIFY(shorter);
  }

  void choicesArePlannable() {
    const Machine machine = tests::processor(32, 28, 45);
    const Candidate candidate = app::examine_entry(
        *std::ranges::find(app::catalogue(), "mixtral-8x7b", &app::CatalogueEntry::id), machine);
    const auto choices = app::precision_choices(candidate, machine);
    QVERIFY(choices.size() >= 4);
    for (std::size_t i = 0; i < choices.size(); ++i) QVERIFY(std::ranges::count(choices, choices[i]) == 1);
  }

  void whatWasPreparedCanBeChosen() {
    const Machine machine = tests::processor(32, 28, 45);
    const Candidate candidate =
        app::examine_model(tests::golden("models/experts.gguf"), machine, app::catalogue());
    QVERIFY(candidate.usable());
    const PrecisionRequest moving{PolicyKind::fovea, {"file", "q4e"}},
        fixed{PolicyKind::static_tiers, {"q4e"}};
    const auto usual = app::precision_choices(candidate, machine);
    QVERIFY(std::ranges::count(usual, moving) == 0 && std::ranges::count(usual, fixed) == 0);
    const auto choices =
        app::precision_choices(candidate, machine,
                               {{.path = "a.store", .tiers = moving.tiers},
                                {.path = "b.store", .tiers = fixed.tiers},
                                {.path = "of another version.store", .tiers = {"file", "q99"}}});
    QCOMPARE(choices.size(), usual.size() + 2);
    QVERIFY(std::ranges::count(choices, moving) == 1 && std::ranges::count(choices, fixed) == 1);
  }
};
FOVEA_TEST(CandidatesTest)

#include "candidates_test.moc"
