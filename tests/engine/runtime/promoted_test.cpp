// A model whose experts are promoted before its first token, against the model that never had others.
#include <QTemporaryDir>
#include <optional>

#include "engine/api/prepare.h"
#include "engine/models/model.h"
#include "engine/precision/arena.h"
#include "engine/precision/calibrate_windows.h"
#include "engine/precision/residency.h"
#include "engine/precision/store_source.h"
#include "engine/runtime/precision_control.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "expert_model.h"

using namespace fovea::tests::expert_model;
using fovea::precision::TierId;
using fovea::precision::UnitId;

namespace {

// Without the engine: a model whose experts are handles into an arena that has room for both tiers of each.
struct Promoted {
  const fovea::kernels::Device& device = **fovea::runtime::chosen_device({});
  std::optional<fovea::models::Model> model;
  std::optional<fovea::models::WeightPlan> plan;
  std::optional<fovea::checkpoint::Checkpoint> checkpoint;
  std::optional<fovea::precision::UnitTable> units;
  fovea::precision::TierSet tiers;
  std::optional<fovea::precision::StoreSource> source;
  std::unique_ptr<fovea::precision::Residency> residency;

  fovea::Result<void> open(const std::filesystem::path& store) {
    const auto path = plain_request().model;
    FOVEA_TRY(checkpoint, fovea::checkpoint::Checkpoint::open(path));
    FOVEA_TRY(const auto config, fovea::models::read_config(*checkpoint));
    FOVEA_TRY(plan, fovea::models::plan_weights(*checkpoint, config));
    units.emplace(*plan, fovea::precision::UnitScope::experts);
    const std::vector<std::string> names{"file", "q2"};
    FOVEA_TRY(tiers, fovea::precision::parse_tiers(names, *units));
    FOVEA_TRY(auto file, fovea::checkpoint::Checkpoint::open(path));
    FOVEA_TRY(model, fovea::models::Model::load(std::move(file), device, 1, {}, {},
                                                fovea::precision::UnitScope::experts));
    FOVEA_CHECK(fovea::prepare({.model = path, .store = store, .tiers = names, .calibration = {}}));
    FOVEA_TRY(auto opened, fovea::checkpoint::Store::open(store));
    source.emplace(std::move(opened));
    std::vector<std::int64_t> sizes;
    for (std::size_t tier = tiers.size(); tier-- > 0;)
      sizes.push_back(version_layout(tiers[tier], (*units)[0], device).bytes);
    FOVEA_TRY(auto arena,
              fovea::precision::Arena::create(
                  device, {.slab_bytes = sizes.back(), .slabs = 2 * units->size(), .block_bytes = sizes}));
    FOVEA_TRY(
        residency,
        fovea::precision::Residency::create(
            {.units = &*units,
             .tiers = &tiers,
             .device = &device,
             .source = &*source,
             .handles = fovea::runtime::handles_of(*model, *units),
             .on_publish =
                 [this](UnitId unit) { ++model->handles()[std::size_t((*units)[unit].layer)].revision; }},
            std::move(arena), {}));
    return residency->fill(std::vector<TierId>(static_cast<std::size_t>(units->size()), 1), 1, {}, {});
  }
};

std::vector<float> logits_of(const fovea::models::Model& model, const fovea::kernels::Device& device,
                             const std::vector<fovea::TokenId>& tokens) {
  std::vector<float> all;
  auto runner = fovea::precision::WindowRunner::create(model, device, std::ssize(tokens), 1);
  if (!runner) qFatal("%s", runner.error().message().c_str());
  const auto keep = [&](std::int64_t, std::span<const float> rows) {
    all.insert(all.end(), rows.begin(), rows.end());
  };
  if (const auto ran = runner->run(tokens, nullptr, keep, {}); !ran)
    qFatal("%s", ran.error().message().c_str());
  return all;
}

}  // namespace

class PromotedTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

 private Q_SLOTS:
  // Everything begins at the low tier and is promoted before the first token.
  void promotionsBeforeTheFirstTokenGiveTheStaticModel() {
    const auto tokens = some_tokens(40);
    Promoted promoted;
    FOVEA_VERIFY(promoted.open(folder_.filePath("promoted.store").toStdString()));
    auto file = fovea::checkpoint::Checkpoint::open(plain_request().model);
    FOVEA_VERIFY(file);
    const auto fixed = fovea::models::Model::load(*std::move(file), promoted.device, 1, {}, {});
    FOVEA_VERIFY(fixed);
    const auto wanted = logits_of(*fixed, promoted.device, tokens);
    fovea::precision::Residency& residency = *promoted.residency;
    for (UnitId unit = 0; unit < promoted.units->size(); ++unit)
      QVERIFY(residency.request({.unit = unit, .target = 0}));
    residency.drain();
    QCOMPARE(residency.counters().promotions, layers * experts);
    QVERIFY(logits_of(*promoted.model, promoted.device, tokens) == wanted);  // bit for bit
    // The comparison can fail: all at the low tier again.
    for (UnitId unit = 0; unit < promoted.units->size(); ++unit)
      QVERIFY(residency.request({.unit = unit, .target = 1}));
    residency.drain();
    QCOMPARE(residency.counters().demotions, layers * experts);
    QVERIFY(logits_of(*promoted.model, promoted.device, tokens) != wanted);
  }
};
FOVEA_TEST(PromotedTest)

#include "promoted_test.moc"
