// Loading a plan that was shown: it is carried out as it stands, and where the machine or the store are not
// what it rests on, loading refuses or plans anew, as the caller chose, and says how the two differ.
#include <QTemporaryDir>
#include <algorithm>

#include "engine/runtime/load.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/processor.h"

#include "../models/apart_device.h"
#include "expert_model.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

namespace {

const kernels::Device& host_processor() {
  return **runtime::chosen_device({});
}

bool tells(const LoadPlan& plan, PlanDifference::What what) {
  return std::ranges::find(plan.changed, what, &PlanDifference::what) != plan.changed.end();
}

}  // namespace

class ShownPlanTest : public QObject {
  Q_OBJECT

  QTemporaryDir stores_;
  ApartDevice card_{host_processor()};

  LoadOptions options() const {
    return expert::with_policy(stores_.path().toStdString(), PolicyKind::static_tiers, {"file", "q2"});
  }
  static MachineFacts with_free(std::int64_t bytes) {
    return {.device_free_bytes = bytes, .main_memory_bytes = std::int64_t{1} << 34};
  }
  Result<LoadPlan> plan_on_card(std::int64_t free_bytes) const {
    return runtime::plan_file(options(), {.device = &card_, .facts = with_free(free_bytes)});
  }
  // A card that holds some units at each tier, and the plan for it, with the store there.
  std::int64_t free_ = 0;
  LoadPlan plan_;

 private Q_SLOTS:
  void initTestCase() {
    const auto whole = plan_on_card(std::int64_t{1} << 34);
    FOVEA_VERIFY(whole);
    free_ = (whole->plan.min_bytes + whole->plan.whole_bytes) / 2;
    FOVEA_VERIFY(runtime::load(options(), {}, {}, {}, &card_, with_free(free_)));  // makes the store
    const auto plan = plan_on_card(free_);
    FOVEA_VERIFY(plan);
    plan_ = *plan;
    QCOMPARE(plan_.basis.device_free_bytes, free_);
    QVERIFY(!plan_.basis.store_fingerprint.empty());
    const auto& tiers = plan_.plan.parts.experts;
    QVERIFY2(tiers[0].units > 0 && tiers[1].units > 0,
             qPrintable(QString("%1 of %2 bytes, %3 of %4 bytes, between %5 and %6")
                            .arg(tiers[0].units)
                            .arg(tiers[0].unit_bytes)
                            .arg(tiers[1].units)
                            .arg(tiers[1].unit_bytes)
                            .arg(whole->plan.min_bytes)
                            .arg(whole->plan.whole_bytes)));
  }

  // What the plan takes is there still: that there is less beside it, or more, is nothing to it.
  void holdsWhereWhatItTakesIsThere() {
    for (const std::int64_t free : {plan_.plan.total_bytes, free_, free_ + (std::int64_t{1} << 30)}) {
      const auto engine = runtime::load(plan_, IfChanged::refuse, &card_, with_free(free));
      FOVEA_VERIFY(engine);
      QVERIFY((*engine)->plan().unit_tiers == plan_.unit_tiers);
      QCOMPARE((*engine)->plan().plan.total_bytes, plan_.plan.total_bytes);
      QVERIFY((*engine)->plan().changed.empty());
    }
  }

  void lessMemoryIsRefusedOrPlannedAnew() {
    const std::int64_t less = (plan_.plan.min_bytes + plan_.plan.total_bytes) / 2;
    const auto refused = runtime::load(plan_, IfChanged::refuse, &card_, with_free(less));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
    for (const std::int64_t bytes : {less, free_})
      QVERIFY2(refused.error().message().contains(std::to_string(bytes)), refused.error().message().c_str());
    QCOMPARE(card_.allocated(), 0);

    const auto engine = runtime::load(plan_, IfChanged::plan_anew, &card_, with_free(less));
    FOVEA_VERIFY(engine);
    const LoadPlan& anew = (*engine)->plan();
    QVERIFY(anew.plan.total_bytes <= less);
    QVERIFY(tells(anew, PlanDifference::What::budget) && tells(anew, PlanDifference::What::units) &&
            tells(anew, PlanDifference::What::device_free));
    for (const PlanDifference& each : anew.changed) {
      if (each.what == PlanDifference::What::budget) {
        QCOMPARE(each.before, free_);
        QCOMPARE(each.now, less);
      }
    }
  }

  void noRoomAtAllIsAnError() {
    const auto engine =
        runtime::load(plan_, IfChanged::plan_anew, &card_, with_free(plan_.plan.min_bytes - 1));
    QVERIFY(!engine);
    QCOMPARE(engine.error().kind, ErrorKind::memory);
  }

  void anotherStoreIsRefusedOrToldOf() {
    LoadPlan other = plan_;
    other.basis.store_fingerprint = "0123456789abcdef";
    const auto refused = runtime::load(other, IfChanged::refuse, &card_, with_free(free_));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::invalid);
    for (const std::string& name : {other.basis.store_fingerprint, plan_.basis.store_fingerprint})
      QVERIFY2(refused.error().message().contains(name), refused.error().message().c_str());
    const auto engine = runtime::load(other, IfChanged::plan_anew, &card_, with_free(free_));
    FOVEA_VERIFY(engine);
    QCOMPARE((*engine)->plan().changed.size(), std::size_t{1});
    QVERIFY(tells((*engine)->plan(), PlanDifference::What::store));
  }

  // The store that loading makes may say the same as none; if not, the plan says so.
  void aStoreThatIsMadeMeanwhile() {
    const QTemporaryDir empty;
    LoadOptions asked = options();
    asked.precision.stores_folder = empty.path().toStdString();
    const auto plan = runtime::plan_file(asked, {.device = &card_, .facts = with_free(free_)});
    FOVEA_VERIFY(plan);
    QVERIFY(plan->basis.store_fingerprint.empty());
    const auto engine = runtime::load(*plan, IfChanged::plan_anew, &card_, with_free(free_));
    FOVEA_VERIFY(engine);
    const LoadPlan& loaded = (*engine)->plan();
    QVERIFY(!loaded.basis.store_fingerprint.empty());
    QCOMPARE(loaded.changed.empty(), loaded.unit_tiers == plan->unit_tiers);
  }
};

FOVEA_TEST(ShownPlanTest)
#include "shown_plan_test.moc"
