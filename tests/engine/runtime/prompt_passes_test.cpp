// How many tokens of a prompt pass at once while a policy moves much: whoever reads it, and never so few that
// recurrent layers would be computed otherwise.
#include <QTemporaryDir>
#include <algorithm>
#include <numeric>

#include "engine/runtime/load.h"
#include "tests/support/test.h"

#include "expert_model.h"
#include "family_models.h"

using fovea::LoadOptions;
using fovea::PolicyKind;
using fovea::TokenId;
using namespace fovea::tests::expert_model;
using namespace fovea::tests::family_models;

namespace {

using Passes = std::vector<std::int64_t>;

// Leaves everything where it is, asks for short passes behind the first, and keeps how long they were.
class Cutter final : public fovea::precision::Policy {
 public:
  Cutter(const fovea::precision::PolicyWorld& world, std::int64_t wanted, Passes& passes)
      : tiers_(static_cast<std::size_t>(world.units())), wanted_(wanted), passes_(passes) {}
  std::string_view name() const override { return "cutter"; }
  std::vector<std::uint8_t> initial() const override { return tiers_; }
  void observe(const fovea::precision::Observation& seen) override { passes_.push_back(seen.tokens); }
  std::int64_t prompt_pass_tokens(std::int64_t most) const override {
    return passes_.empty() ? most : wanted_;
  }
  void propose(std::span<const std::uint8_t>, std::int32_t,
               std::vector<fovea::precision::Decision>&) override {}
  std::span<const float> hotness() const override { return {}; }

 private:
  std::vector<std::uint8_t> tiers_;
  std::int64_t wanted_;
  Passes& passes_;
};

}  // namespace

class PromptPassesTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  std::unique_ptr<fovea::Engine> cut(const Subject& subject, std::int64_t chunk, std::int64_t wanted,
                                     Passes& passes) const {
    const std::filesystem::path folder = folder_.path().toStdString();
    LoadOptions load = with_policy(folder, PolicyKind::fovea, {"file", subject.low});
    load.model = folder / subject.file;
    if (!std::filesystem::exists(load.model)) Copy(subject.file, load.model);
    load.context = 256;
    load.chunk = chunk;
    load.need_tokenizer = true;
    auto engine = fovea::runtime::load(load,
                                       [&](const fovea::precision::PolicyWorld& world)
                                           -> fovea::Result<std::unique_ptr<fovea::precision::Policy>> {
                                         return std::make_unique<Cutter>(world, wanted, passes);
                                       });
    if (!engine) qFatal("%s", engine.error().message().c_str());
    passes.clear();
    return *std::move(engine);
  }

 private Q_SLOTS:
  void whoeverReadsIt() {
    Passes passes;
    const auto engine = cut(subjects[0], 16, 4, passes);
    logits(*engine, some_tokens(30));
    QCOMPARE(passes, (Passes{16, 4, 4, 4, 2}));

    passes.clear();
    const std::vector<std::vector<TokenId>> answers = {some_tokens(10)};
    FOVEA_VERIFY(engine->branch_logits(some_tokens(20), answers, [](auto, auto, auto) {}));
    QCOMPARE(passes, (Passes{16, 4, 4, 4, 1}));  // the answer's last token is not read

    passes.clear();
    fovea::GenerateRequest request;
    const std::string prompt = "abcdefghijklmnopqrstuvwxyz";
    request.raw_prompt = prompt;
    request.max_tokens = 3;
    const auto answer = engine->generate(request);
    FOVEA_VERIFY(answer);
    QVERIFY(passes.size() > 4 && passes[0] == 16 && passes[1] == 4);
    const auto length = std::ssize(engine->text()->encode(prompt, {.add_special = true}));
    QVERIFY(std::accumulate(passes.begin(), passes.end(), std::int64_t{0}) >= length);
    QVERIFY(std::ranges::max(std::span(passes).subspan(1)) == 4);
  }

  void neitherNoneNorMoreThanThePlanHas_data() {
    QTest::addColumn<int>("wanted");
    QTest::addColumn<int>("passes");
    QTest::newRow("none") << 0 << 15;
    QTest::newRow("more") << 100 << 2;
  }
  void neitherNoneNorMoreThanThePlanHas() {
    QFETCH(int, wanted);
    QFETCH(int, passes);
    Passes found;
    const auto engine = cut(subjects[0], 16, wanted, found);
    logits(*engine, some_tokens(30));
    QCOMPARE(std::ssize(found), passes);
  }

  // Recurrent layers take 64 tokens at once.
  void recurrentLayersTakeTheirs() {
    Passes passes;
    const auto engine = cut(subjects[3], 128, 16, passes);
    logits(*engine, some_tokens(250));
    QCOMPARE(passes, (Passes{128, 64, 58}));
    const auto uneven = cut(subjects[3], 192, 100, passes);  // 100 is no multiple
    logits(*uneven, some_tokens(256));
    QCOMPARE(passes, (Passes{192, 64}));
  }
};
FOVEA_TEST(PromptPassesTest)

#include "prompt_passes_test.moc"
