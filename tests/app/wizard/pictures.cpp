// Takes pictures of every page of the wizard. The machines are synthetic
// (machines.h), and so is what take_local() shows as measured; the models are the catalogue's and the plans
// the planner's. The README's picture is of a real machine: scripts/screenshot.
// FOVEA_PICTURES_MODELS names a folder with models (may be empty).
#include "tests/ui/pictures/pictures.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QTest>
#include <algorithm>
#include <cstdio>

#include "app/wizard/wizard_controller.h"
#include "engine/api/errors.h"
#include "ui/wizard/memory_page.h"
#include "ui/wizard/size_box.h"
#include "ui/wizard/wizard_dialog.h"

#include "../advisor/machines.h"

namespace fovea::errors {
namespace {

FOVEA_ERROR(io, disk_is_full, "cannot be written: no space left on device",
            "Free some space, then open it again");

}  // namespace
}  // namespace fovea::errors

namespace {

using fovea::Progress;
using fovea::app::WizardController;
using fovea::app::WizardWorld;
using fovea::ui::WizardDialog;
using Page = fovea::ui::WizardPage;

fovea::tests::Pictures pictures;

void take(WizardDialog& dialog, const QString& name) {
  QTest::qWait(50);
  pictures.save(dialog, name);
}

void look(WizardController& wizard) {
  wizard.start();
  if (!QTest::qWaitFor([&] { return !wizard.candidates().empty(); }, 60'000))
    std::fputs("wizard_pictures: no models were found\n", stderr);
}

// Goes on by what the buttons do.
void go_to(WizardController& wizard, Page page) {
  while (static_cast<int>(wizard.page()) < static_cast<int>(page)) {
    Q_EMIT wizard.dialog().skipRequested();
    QTest::qWait(600);
  }
}

void choose(WizardController& wizard, const std::string& id) {
  int row = 0;
  for (const auto& candidate : wizard.candidates()) {
    if (candidate.entry && candidate.entry->id == id) return Q_EMIT wizard.dialog().modelChosen(row);
    ++row;
  }
}

// The last of what there is, once that is planned, where there is less.
void set_memory(WizardController& wizard, fovea::ui::MemoryChoice choice) {
  const auto limit = [&](int& index, const char* name) {
    const auto* box = wizard.dialog().findChild<QComboBox*>(QLatin1String(name));
    if (!QTest::qWaitFor([&] { return box->count() > 0; })) return;
    index = std::min(index, box->count() - 1);
  };
  limit(choice.context, "wizardContext");
  limit(choice.precision, "wizardPrecision");
  wizard.dialog().set_memory_choice(choice);
  Q_EMIT wizard.dialog().memoryChanged(choice);
  QTest::qWait(1500);
}

WizardWorld world(const fovea::app::Machine& machine) {
  WizardWorld made;
  made.models_folder = qEnvironmentVariable("FOVEA_PICTURES_MODELS").toStdString();
  made.stores = "/nonexistent";
  made.machine = [machine](const fovea::app::DeviceChoice&) {
    return fovea::Result<fovea::app::Machine>(machine);
  };
  return made;
}

void take_usual() {
  auto machine = fovea::tests::processor(32, 28, 45);
  machine.folder = "/home/ada/.local/share/fovea/models";
  machine.cards = {{"NVIDIA GeForce RTX 5090", 34'190'917'632}};
  WizardController wizard(world(machine), nullptr);
  look(wizard);
  take(wizard.dialog(), QStringLiteral("1-machine"));
  go_to(wizard, Page::wish);
  take(wizard.dialog(), QStringLiteral("2-wish"));
  go_to(wizard, Page::models);
  take(wizard.dialog(), QStringLiteral("3-models"));
  go_to(wizard, Page::memory);
  take(wizard.dialog(), QStringLiteral("4-memory"));
  set_memory(wizard, {.context = 4, .kv_type = 1, .precision = 0, .budget_bytes = 14'000'000'000});
  take(wizard.dialog(), QStringLiteral("4-memory-too-small"));
  set_memory(wizard, {.context = 2, .kv_type = 1, .precision = 3, .budget_bytes = 15'000'000'000});
  take(wizard.dialog(), QStringLiteral("4-memory-tiers"));
  auto* budget = wizard.dialog().findChild<fovea::ui::SizeBox*>();
  auto* line = budget->findChild<QLineEdit*>();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("15 lots"));
  budget->take();
  take(wizard.dialog(), QStringLiteral("4-memory-no-size"));
  budget->set_bytes(15'000'000'000);
  go_to(wizard, Page::start);
  take(wizard.dialog(), QStringLiteral("5-command"));
  go_to(wizard, Page::calibration);
  take(wizard.dialog(), QStringLiteral("6-predicted"));
}

// A card that can be chosen, that is chosen, and that is gone.
void take_cards() {
  const fovea::DeviceInfo card{.name = "cuda:0",
                               .description = "NVIDIA GeForce RTX 5090",
                               .instruction_set = {},
                               .instruction_sets = {},
                               .memory_bytes = 34'190'917'632,
                               .memory_free_bytes = 32'400'000'000,
                               .bandwidth_gb_per_s = 1792};
  for (const char* name : {"card-there", "card-chosen", "card-gone"}) {
    const bool chosen = QByteArray(name) != "card-there", gone = QByteArray(name) == "card-gone";
    auto machine = fovea::tests::processor(64, 48, 45);
    machine.folder = "/home/ada/.local/share/fovea/models";
    machine.devices = {machine.device};
    if (!gone) machine.devices.push_back(card);
    if (!gone) machine.cards = {{card.description, card.memory_bytes}};
    WizardWorld made = world(machine);
    if (chosen) made.device = {card.name, card.description};
    if (chosen && !gone) {
      machine.gpu = card;
      machine.facts.device_memory_bytes = card.memory_bytes;
      machine.room.precision.budget_bytes = card.memory_free_bytes - card.memory_free_bytes / 32;
    }
    if (gone) machine.trouble = fovea::app::find_device(machine.devices, made.device).error();
    made.machine = [machine](const fovea::app::DeviceChoice&) {
      return fovea::Result<fovea::app::Machine>(machine);
    };
    WizardController wizard(made, nullptr);
    gone ? wizard.start() : look(wizard);
    QTest::qWait(300);
    take(wizard.dialog(), QStringLiteral("1-machine-") + QLatin1String(name));
    if (!chosen || gone) continue;
    go_to(wizard, Page::models);
    take(wizard.dialog(), QStringLiteral("3-models-card"));
    go_to(wizard, Page::memory);
    take(wizard.dialog(), QStringLiteral("4-memory-card"));
  }
}

void take_local() {
  WizardController wizard(world(fovea::tests::processor(8, 6, 20)), nullptr);
  look(wizard);
  go_to(wizard, Page::models);
  choose(wizard, "demo");
  if (!wizard.chosen() || wizard.chosen()->path.empty()) return;
  go_to(wizard, Page::memory);
  take(wizard.dialog(), QStringLiteral("4-memory-demo"));
  go_to(wizard, Page::start);
  Q_EMIT wizard.dialog().nextRequested();
  wizard.load_progress({Progress::Stage::preparing, 31'000'000, 56'000'000, Progress::Unit::bytes,
                        "blk.17.ffn_up_exps.weight"});
  take(wizard.dialog(), QStringLiteral("5-preparing"));
  wizard.open_failed(fovea::errors::disk_is_full().at(
      fovea::phrases::file_place(std::filesystem::path("/home/ada/.local/share/fovea/stores/demo.store"))));
  take(wizard.dialog(), QStringLiteral("5-error"));
  Q_EMIT wizard.dialog().nextRequested();
  wizard.model_opened();
  wizard.calibration_progress({Progress::Stage::calibrating, 4000, 10'000, Progress::Unit::milliseconds, {}});
  take(wizard.dialog(), QStringLiteral("6-measuring"));
  wizard.calibrated({.seconds = 9.2,
                     .tokens = 412,
                     .tokens_per_second = 61.4,
                     .slowest = 58.1,
                     .fastest = 63.3,
                     .read_gb_per_s = 18.7,
                     .bytes_per_token = 83'500'000,
                     .planned_bytes = 198'000'000,
                     .accounted_bytes = 191'400'000,
                     .resident_bytes = 352'000'000});
  take(wizard.dialog(), QStringLiteral("6-measured"));
}

void take_poor() {
  auto machine = fovea::tests::processor(2, 1, 6);
  machine.room.precision.budget_bytes = 40'000'000;
  WizardWorld poor = world(machine);
  poor.models_folder = "/nonexistent";
  WizardController wizard(poor, nullptr);
  look(wizard);
  take(wizard.dialog(), QStringLiteral("1-machine-poor"));
  go_to(wizard, Page::models);
  take(wizard.dialog(), QStringLiteral("3-models-none-fits"));
}

void take_long_names() {
  WizardWorld many = world(fovea::tests::processor(32, 28, 45));
  for (auto& entry : many.catalogue)
    entry.name +=
        "-with-a-name-that-somebody-made-from-every-setting-of-the-training-run-and-more-v2.1-final";
  WizardController wizard(many, nullptr);
  look(wizard);
  go_to(wizard, Page::models);
  take(wizard.dialog(), QStringLiteral("3-models-long-names"));
  go_to(wizard, Page::memory);
  take(wizard.dialog(), QStringLiteral("4-memory-long-names"));
}

// A context beyond what the model was trained for.
void take_stretched() {
  WizardController wizard(world(fovea::tests::processor(32, 28, 45)), nullptr);
  look(wizard);
  go_to(wizard, Page::memory);
  wizard.dialog().set_memory_options({.model = QStringLiteral("Mellum2-12B-A2.5B, 4 bits"),
                                      .contexts = {8'192, 32'768, 131'072},
                                      .trained_context = 32'768,
                                      .kv_types = {{QStringLiteral("16 bits (usual)"), {}}},
                                      .precisions = {{QStringLiteral("As in the file"), {}}},
                                      .max_bytes = 29'000'000'000});
  auto* const contexts =
      wizard.dialog().findChild<fovea::ui::MemoryPage*>()->findChildren<QComboBox*>().first();
  contexts->setCurrentIndex(contexts->count() - 1);
  take(wizard.dialog(), QStringLiteral("4-memory-stretched"));
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (!pictures.begin(application, argc, argv)) return 2;
  take_usual();
  take_cards();
  take_local();
  take_poor();
  take_long_names();
  take_stretched();
  return 0;
}
