// The units of every family change precision: experts with biases, beside a dense part or in layers of other
// mixers, and linear layers of each kind.
#include <QTemporaryDir>
#include <cstring>
#include <numeric>
#include <random>

#include "engine/api/plan.h"
#include "engine/api/prepare.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "tests/support/test.h"

#include "expert_model.h"

using fovea::LoadOptions;
using fovea::PolicyKind;
using namespace fovea::tests::expert_model;

namespace {

namespace fs = std::filesystem;

struct Subject {
  const char* file;
  std::int64_t experts;  // in all layers; 0: its linear layers are units
  const char* low;       // the tier below the file's
};
// Sizes that no block divides have BF16 as their other tier; the second gpt-oss has MXFP4 in its file.
constexpr Subject subjects[] = {
    {"mellum-0.gguf", 20, "bf16"},     {"gpt_oss-0.gguf", 20, "bf16"},     {"gpt_oss-1.gguf", 12, "q2"},
    {"qwen3_next-1.gguf", 20, "bf16"}, {"qwen3_5_moe-1.gguf", 20, "bf16"}, {"gemma4-0.gguf", 40, "bf16"},
    {"qwen3_5-1.gguf", 0, "bf16"},     {"gemma3-1.gguf", 0, "bf16"},       {"gemma4-1.gguf", 0, "bf16"}};

// A copy of the file whose matrices lie halfway between two numbers that BF16 holds, and whose experts are as
// wide as is worth moving.
class Copy {
 public:
  Copy(const char* file, const fs::path& to) {
    auto opened = fovea::checkpoint::Checkpoint::open(fovea::tests::golden("families") / file);
    if (!opened) qFatal("%s", opened.error().message().c_str());
    fovea::checkpoint::Metadata metadata = opened->metadata();
    const std::string key =
        std::string(*metadata.string("general.architecture")) + ".expert_feed_forward_length";
    width_ = metadata.integer(key).value_or(0);
    if (width_ > 0) metadata.set(key, std::uint64_t{wide}, metadata.stored_type(key));
    std::vector<fovea::checkpoint::TensorInfo> infos;
    for (const auto& info : opened->tensors()) infos.push_back(widened(info));
    auto writer = fovea::checkpoint::GgufWriter::create(to, metadata, infos);
    if (!writer) qFatal("%s", writer.error().message().c_str());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (const auto done = writer->append(content(opened->tensors()[i], infos[i], *opened)); !done)
        qFatal("%s", done.error().message().c_str());
    }
    if (const auto done = writer->finish(); !done) qFatal("%s", done.error().message().c_str());
  }

 private:
  static constexpr std::int64_t wide = 768;

  // gate, up and both together grow in their rows, down in its columns.
  fovea::checkpoint::TensorInfo widened(fovea::checkpoint::TensorInfo info) const {
    if (!info.name.contains("_exps.") || info.name.ends_with(".scale")) return info;
    const bool is_down = info.name.contains("ffn_down");
    if (is_down && info.shape.size() < 3) return info;  // the bias
    std::int64_t& grows = is_down ? info.shape.back() : info.shape[1];
    grows = grows / width_ * wide;
    info.bytes = static_cast<std::uint64_t>(info.elements() / info.shape.back() *
                                            fovea::kernels::row_bytes(info.type, info.shape.back()));
    return info;
  }

  std::vector<std::byte> content(const fovea::checkpoint::TensorInfo& from,
                                 const fovea::checkpoint::TensorInfo& to,
                                 const fovea::checkpoint::Checkpoint& checkpoint) {
    const std::span<const std::byte> bytes = checkpoint.bytes(from);
    std::vector<std::byte> out(bytes.begin(), bytes.end());
    if (from.bytes != to.bytes) out = random_content(to);
    for (std::size_t i = 0; to.type == fovea::kernels::Type::f32 && to.shape.size() > 1 && i < out.size();
         i += 4)
      out[i + 1] = std::byte{0x80};
    return out;
  }

  std::vector<std::byte> random_content(const fovea::checkpoint::TensorInfo& to) {
    std::vector<std::byte> out(to.bytes);
    if (to.type == fovea::kernels::Type::f32) {
      std::normal_distribution<float> normal(0, 1.2F / std::sqrt(static_cast<float>(to.shape.back())));
      for (std::size_t i = 0; i < out.size(); i += 4) {
        const float value = normal(random_);
        std::memcpy(&out[i], &value, 4);
      }
    } else {
      // MXFP4: a power of two, then codes.
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<std::byte>(i % 17 == 0 ? 123U : random_() & 255U);
    }
    return out;
  }

  std::int64_t width_ = 0;
  std::mt19937 random_{1};
};

}  // namespace

class FamiliesPrecisionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  // With every tier that the subject has, in a store of the folder.
  LoadOptions request(const Subject& subject, PolicyKind policy) const {
    const fs::path folder = folder_.path().toStdString();
    LoadOptions load = with_policy(folder, policy, {"file", subject.low});
    load.model = folder / subject.file;
    if (!fs::exists(load.model)) Copy(subject.file, load.model);
    load.context = 128;
    load.chunk = 7;
    return load;
  }

  // The least that holds experts at the file's tier.
  static std::int64_t budget_of_some_high(LoadOptions options) {
    const auto whole = fovea::plan_model(options);
    if (!whole) qFatal("%s", whole.error().message().c_str());
    const auto [least, most] = std::pair(whole->plan.min_bytes, whole->plan.whole_bytes);
    for (std::int64_t budget = least; budget < most; budget += (most - least) / 100 + 1) {
      options.precision.budget_bytes = budget;
      const auto plan = fovea::plan_model(options);
      if (plan && plan->plan.fits && plan->plan.parts.experts[0].units > 0) return budget;
    }
    qFatal("no budget holds experts of both tiers");
  }

  static void add_subjects(bool dense = true) {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      if (dense || subjects[i].experts > 0) QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }

 private Q_SLOTS:
  void everyUnitAtTheFilesTierIsTheModelWithoutOthers_data() { add_subjects(); }
  void everyUnitAtTheFilesTierIsTheModelWithoutOthers() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    const auto tokens = some_tokens(60);
    LoadOptions plain = request(subject, PolicyKind::static_tiers);
    plain.precision = {};
    const auto wanted = logits(*load(plain), tokens);
    LoadOptions pinned =
        request(subject, subject.experts > 0 ? PolicyKind::dynaexq : PolicyKind::static_tiers);
    if (subject.experts == 0) pinned.precision.tiers = {"file"};
    const auto engine = load(pinned);
    QVERIFY(logits(*engine, tokens) == wanted);  // bit for bit
    QCOMPARE(engine->precision()->hit_rate, 1.0);
    LoadOptions low = request(subject, PolicyKind::static_tiers);
    low.precision.tiers = {subject.low};
    const auto other = logits(*load(low), tokens);
    QVERIFY(other != wanted);
    // … and is the same model still.
    double error = 0, size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      error += std::pow(double(other[i]) - double(wanted[i]), 2);
      size += std::pow(double(wanted[i]), 2);
    }
    QVERIFY2(error < 0.5 * size, qPrintable(QString::number(error / size)));
  }

  // Hot experts are promoted and others demoted while it answers, within the budget.
  void expertsMove_data() { add_subjects(false); }
  void expertsMove() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    LoadOptions moving = request(subject, PolicyKind::dynaexq);
    moving.precision.budget_bytes = budget_of_some_high(moving);
    moving.precision.dynaexq.interval_tokens = 4;
    moving.precision.dynaexq.warm_up_tokens = 4;
    moving.precision.dynaexq.hysteresis = 0;
    moving.precision.publish_after_passes = 1;
    const auto engine = load(moving);
    fovea::Snapshot snapshot;
    engine->read_snapshot(snapshot);
    for (int turn = 0; turn < 4; ++turn) logits(*engine, some_tokens(100 + turn));
    const auto use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, use.demotions);
    QCOMPARE(use.swaps_failed, 0);
    QVERIFY(use.hit_rate > 0 && use.hit_rate < 1);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    // The panel's data: every expert is there, some at each tier, some hotter than others.
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.tiers[0].units + snapshot.tiers[1].units, subject.experts);
    QVERIFY(snapshot.tiers[0].units > 0 && snapshot.tiers[1].units > 0);
    const auto hotness = [](const auto& a, const auto& b) { return a.hotness < b.hotness; };
    const auto [coldest, hottest] = std::ranges::minmax_element(snapshot.units, hotness);
    QVERIFY(hottest->hotness > coldest->hotness);
  }

  // A text reaches all units, by which their versions are made and their harm is measured.
  void aTextCalibrates_data() { add_subjects(); }
  void aTextCalibrates() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    LoadOptions chat = request(subject, PolicyKind::static_tiers);
    chat.need_tokenizer = true;
    chat.precision.store = folder_.filePath(subject.file + QString(".calibrated")).toStdString();
    std::string text;
    for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 26);
    const auto prepared = fovea::prepare(
        {.model = chat.model,
         .store = chat.precision.store,
         .tiers = chat.precision.tiers,
         .threads = 2,
         .calibration = {.text = text, .tokens = 200, .window = 100, .divergence_tokens = 60}});
    FOVEA_VERIFY(prepared);
    QCOMPARE(prepared->calibrated_units, prepared->units);
    if (subject.experts > 0) QCOMPARE(prepared->units, subject.experts);
    QCOMPARE(prepared->tiers.front().output_error_mean, 0.0);
    QVERIFY(prepared->tiers.back().output_error_mean > 0);
    QVERIFY(prepared->tiers.back().divergence_mean > 0);
    const auto engine = load(chat);
    const auto uses = engine->calibrated_uses();
    QCOMPARE(std::ssize(uses), subject.experts);
    logits(*engine, some_tokens(20));
  }
};
FOVEA_TEST(FamiliesPrecisionTest)

#include "families_precision_test.moc"
