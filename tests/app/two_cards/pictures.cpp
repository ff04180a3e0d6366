// Takes pictures of what the wizard and the panel show with two cards, those of module.cpp. The session is
// synthetic. FOVEA_PICTURES_MODELS names a folder with models (may be empty).
#include "tests/ui/pictures/pictures.h"

#include <QApplication>
#include <QTest>
#include <QToolButton>
#include <cstdio>

#include "app/live/live_session.h"
#include "app/wizard/wizard_controller.h"
#include "app/wizard/wizard_words.h"
#include "tests/app/live/sessions.h"
#include "ui/live/live_panel.h"
#include "ui/wizard/wizard_dialog.h"

namespace {

using fovea::Result;
using fovea::Snapshot;
using fovea::app::WizardController;
using Page = fovea::ui::WizardPage;

fovea::tests::Pictures pictures;

void take(QWidget& widget, const QString& name) {
  QTest::qWait(100);
  pictures.save(widget, name);
}

bool take_wizard() {
  fovea::app::WizardWorld world;
  world.models_folder = qEnvironmentVariable("FOVEA_PICTURES_MODELS").toStdString();
  world.stores = "/nonexistent";
  world.device = {"cuda:0,cuda:1", "NVIDIA GeForce RTX 5090 + NVIDIA RTX A6000"};
  const auto folder = world.models_folder;
  world.machine = [folder](const fovea::app::DeviceChoice& device) {
    auto machine = fovea::app::find_machine(folder, device);
    if (machine) {  // not measured: each time another
      machine->memory_read_gb_per_s = 45;
      machine->disk_read_gb_per_s = 3.1;
      machine->processor_gop_per_s = 900;
      machine->gpu_gop_per_s = 180'000;
    }
    return machine;
  };
  const auto machine = world.machine(world.device);
  if (!machine || machine->trouble) return false;
  WizardController wizard(world, nullptr);
  wizard.start();
  if (!QTest::qWaitFor([&] { return !wizard.candidates().empty(); }, 60'000)) return false;
  take(wizard.dialog(), QStringLiteral("two-cards-1-machine"));
  while (wizard.page() != Page::models) Q_EMIT wizard.dialog().skipRequested();
  QTest::qWait(500);
  take(wizard.dialog(), QStringLiteral("two-cards-3-models"));
  Q_EMIT wizard.dialog().skipRequested();
  QTest::qWait(1500);
  // A model of the size that two cards are for, which is not here.
  fovea::app::Candidate candidate;
  candidate.name = "Qwen3 30B A3B";
  candidate.path = "/models/qwen3-30b-a3b-bf16.gguf";
  candidate.experts = 128;
  fovea::LoadOptions setup = machine->room;
  for (const std::int64_t context : {8192, 262'144}) {
    setup.context = context;
    const auto plan = fovea::plan_shape({.name = "qwen3-30b-a3b"}, setup, fovea::app::facts_of(*machine));
    if (!plan) return false;
    auto options = fovea::app::memory_options(candidate, {8192, 262'144}, {{}}, *machine);
    wizard.dialog().set_memory_options(options);
    wizard.dialog().set_memory_choice({.context = context == 8192 ? 0 : 1, .kv_type = 1});
    wizard.dialog().set_budget(fovea::app::budget_view(candidate, setup, *plan, {}, *machine));
    take(wizard.dialog(), plan->plan.fits ? QStringLiteral("two-cards-4-memory")
                                          : QStringLiteral("two-cards-4-memory-too-small"));
  }
  return true;
}

bool take_panel() {
  fovea::app::LiveSession session;
  fovea::ui::LivePanel panel(session);
  const fovea::tests::SessionShape shape{.seconds = 20};
  fovea::app::LiveModel model = fovea::tests::session_model(shape);
  const auto card = [](const char* name, std::int64_t rows, std::int64_t budget) {
    fovea::app::CardPlan card{.name = name, .layers = rows, .rows = rows, .budget_bytes = budget};
    card.parts.dense = 900'000'000;
    card.parts.kv = 1'300'000'000;
    card.parts.activations = 310'000'000;
    return card;
  };
  model.cards = {card("RTX 5090", 19, 12'000'000'000), card("RTX A6000", 29, 18'000'000'000)};
  session.set_model(model);
  session.set_device_memory(19'400'000'000, 51'500'000'000, 68'000'000'000,
                            {.used_bytes = 31'900'000'000, .total_bytes = 34'200'000'000});
  const auto played =
      fovea::tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        session.add_snapshot(snapshot, seconds);
        return {};
      });
  for (const auto& [name, size] : {std::pair("dock", QSize(352, 660)), std::pair("narrow", QSize(320, 720)),
                                   std::pair("wide", QSize(1440, 900))}) {
    panel.resize(size);
    panel.show();
    QApplication::processEvents();
    panel.refresh();
    QApplication::processEvents();
    pictures.save(panel, QStringLiteral("two-cards-panel-") + QLatin1String(name));
  }
  return played.has_value();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (!pictures.begin(application, argc, argv)) return 2;
  return take_panel() && take_wizard() ? 0 : 1;
}
