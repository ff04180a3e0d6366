// The wizard and the device: what is chosen on the first page holds for everything that is planned after it.
#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>

#include "app/wizard/wizard_controller.h"
#include "tests/support/test.h"
#include "ui/wizard/wizard_dialog.h"

#include "../advisor/machines.h"

using namespace fovea;
using namespace fovea::tests;
using app::DeviceChoice;
using app::Machine;

namespace {

DeviceInfo card_info() {
  return {.name = "cuda:0",
          .description = "A card",
          .instruction_set = {},
          .instruction_sets = {},
          .memory_bytes = 24 * gib,
          .memory_free_bytes = 22 * gib,
          .bandwidth_gb_per_s = 1000};
}

// With a card of 24 GiB, which may be gone.
Result<Machine> machine_with(const DeviceChoice& choice, bool is_there) {
  const bool on_card = choice.name == "cuda:0";
  Machine machine = on_card && is_there ? with_card(24) : processor(64, 48, 40);
  machine.cards.clear();
  machine.devices = {machine.device};
  if (is_there) machine.devices.push_back(card_info());
  machine.chosen = choice;
  if (on_card && is_there) machine.gpu = card_info();
  if (on_card && !is_there) machine.trouble = app::find_device(machine.devices, choice).error();
  return machine;
}

struct Bench {
  explicit Bench(bool is_there, const DeviceChoice& device = {}) {
    app::WizardWorld world;
    world.models_folder = folder.path();
    world.device = device;
    world.machine = [is_there](const DeviceChoice& choice) { return machine_with(choice, is_there); };
    wizard = std::make_unique<app::WizardController>(std::move(world), nullptr);
    wizard->start();
  }
  bool wait(const std::function<bool()>& done) const { return QTest::qWaitFor(done, kLong); }
  template <class T>
  T* find(const char* name) const {
    return wizard->dialog().findChild<T*>(QLatin1String(name));
  }
  const app::Candidate* chosen() const { return wizard->chosen(); }

  TemporaryFolder folder;
  std::unique_ptr<app::WizardController> wizard;
};

}  // namespace

class WizardDeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theCardIsCountedWhenItIsChosen() {
    const Bench bench(true);
    QVERIFY(bench.wait([&] { return bench.chosen() != nullptr; }));
    QVERIFY(!bench.chosen()->fit.on_card);
    QVERIFY(bench.wizard->setup().device.empty());
    const std::int64_t before = bench.chosen()->fit.budget_bytes;
    auto* box = bench.find<QComboBox>("device");
    QCOMPARE(box->count(), 3);
    box->setCurrentIndex(2);
    Q_EMIT box->activated(2);
    QVERIFY(bench.wait([&] { return bench.chosen() && bench.chosen()->fit.on_card; }));
    QCOMPARE(bench.chosen()->fit.budget_bytes, 24 * gib);
    QVERIFY(before != 24 * gib);
    QCOMPARE(bench.wizard->setup().device, std::string("cuda:0"));
    QCOMPARE(bench.wizard->device(), (DeviceChoice{"cuda:0", "A card"}));
    for (const app::Candidate& candidate : bench.wizard->candidates()) {
      if (candidate.fit.kind == app::FitKind::fits && candidate.bytes_per_token > 0)
        QCOMPARE(candidate.tokens_per_second, 1000e9 / candidate.bytes_per_token);
    }
    QStringList words;
    for (const QLabel* label : bench.wizard->dialog().findChildren<QLabel*>()) words += label->text();
    const QString all = words.join(QLatin1Char('\n'));
    QVERIFY2(all.contains(QStringLiteral("A card (cuda:0): 25.8\u00A0GB, of which 23.6\u00A0GB is free")),
             qPrintable(all));
    QVERIFY2(!all.contains(QStringLiteral("memory is not counted")), qPrintable(all));
  }

  // Nothing is planned for something else in its place.
  void aCardThatIsGoneIsNotReplaced() {
    const Bench bench(false, {"cuda:0", "A card"});
    auto* box = bench.find<QComboBox>("device");
    QVERIFY(bench.wait([&] { return box->isEnabled(); }));
    QVERIFY2(box->currentText().contains(QStringLiteral("A card")), qPrintable(box->currentText()));
    auto* next = bench.find<QAbstractButton>("wizardNext");
    QVERIFY(!next->isEnabled());
    QVERIFY(bench.wizard->candidates().empty());
    box->setCurrentIndex(0);
    Q_EMIT box->activated(0);
    QVERIFY(bench.wait([&] { return bench.chosen() != nullptr && next->isEnabled(); }));
    QVERIFY(bench.wizard->device() == DeviceChoice{});
  }
};
FOVEA_TEST(WizardDeviceTest)

#include "device_test.moc"
