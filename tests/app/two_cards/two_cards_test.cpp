// A machine with two cards, from what is offered to a model that is open on both. The cards are those of
// module.cpp.
#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QSignalSpy>
#include <nlohmann/json.hpp>

#include "app/advisor/candidates.h"
#include "app/advisor/counterparts.h"
#include "app/advisor/setup.h"
#include "app/library/card_parts.h"
#include "app/library/data_folder.h"
#include "app/library/device_choice.h"
#include "app/library/devices_json.h"
#include "app/library/fit.h"
#include "app/library/fit_words.h"
#include "app/live/live_session.h"
#include "app/server/engine_models.h"
#include "app/server/experts.h"
#include "app/server/llama_server.h"
#include "app/window/desktop.h"
#include "app/wizard/wizard_controller.h"
#include "engine/api/devices.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/status_strip.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/wizard/budget_bar.h"
#include "ui/wizard/wizard_dialog.h"

using namespace fovea;
using State = ui::ChatWindow::State;
using Page = ui::WizardPage;

namespace {

using fovea::tests::close;
using fovea::tests::kLong;

const app::DeviceChoice both{"cuda:0,cuda:1", "NVIDIA GeForce RTX 5090 + NVIDIA RTX A6000"};
constexpr std::int64_t gib = std::int64_t{1} << 30;

app::Machine machine_of(const app::DeviceChoice& device) {
  auto machine = app::find_machine({}, device);
  if (!machine || machine->trouble) qFatal("there are no two cards");
  machine->memory_read_gb_per_s = 40;
  return *std::move(machine);
}

QString words_of(const QWidget& widget) {
  QStringList words;
  for (const QLabel* label : widget.findChildren<QLabel*>()) words += label->text();
  return words.join(QLatin1Char('\n'));
}

}  // namespace

// What is offered and what fits.
class TwoCardsOfferTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bothAreOffered() {
    const auto all = devices();
    FOVEA_VERIFY(all);
    QCOMPARE(all->size(), std::size_t{3});
    const auto offers = app::device_offers(*all, {}, {});
    QCOMPARE(offers.size(), std::size_t{5});
    QCOMPARE(offers.back().choice, both);
    QCOMPARE(offers.back().text, QStringLiteral("Both cards: RTX 5090 and RTX A6000, 85.7\u00A0GB together"));
    for (const char* part : {"RTX 5090 (cuda:0): 34.2", "RTX A6000 (cuda:1): 51.5", "50.1\u00A0GB is free"})
      QVERIFY2(offers.back().why.contains(QString::fromUtf8(part)), qPrintable(offers.back().why));
  }

  void theMachineHasBoth() {
    const app::Machine machine = machine_of(both);
    QVERIFY(machine.gpu && machine.gpu->name == "cuda:1");
    QVERIFY(machine.first_gpu && machine.first_gpu->name == "cuda:0");
    QCOMPARE(machine.room.device, both.name);
    QCOMPARE(machine.room.precision.budget_bytes, 0);
    QCOMPARE(machine.facts.first_free_bytes, 32'400'000'000 - 32'400'000'000 / 32);
    QCOMPARE(machine.facts.device_free_bytes, 50'100'000'000 - 50'100'000'000 / 32);
    // One behind the other: neither card's speed, and nearer to that of the larger part.
    const double speed = app::read_gb_per_s(machine);
    QVERIFY2(speed > 768 && speed < (1792 + 768) / 2.0, qPrintable(QString::number(speed)));
    QVERIFY(!machine_of({"cuda:0", "NVIDIA GeForce RTX 5090"}).first_gpu);
  }

  // What fits neither card as it is fits both; the plan's parts are each card's, and their sum is what is
  // shown.
  void whatFitsNeitherFitsBoth() {
    const app::Machine machine = machine_of(both);
    const auto fit = app::fit_of_shape("qwen3-30b-a3b", machine.room, app::facts_of(machine));
    FOVEA_VERIFY(fit);
    QCOMPARE(fit->kind, app::FitKind::fits);
    QVERIFY(fit->on_card);
    const Plan& plan = fit->report.plan;
    const auto first = app::first_card_of(plan);
    QVERIFY(first && first->layers > 0 && first->layers < 48);
    const app::CardPart last = app::last_card_of(plan);
    QVERIFY(first->total_bytes <= machine.facts.first_free_bytes &&
            last.total_bytes <= machine.facts.device_free_bytes);
    QVERIFY(first->total_bytes + last.total_bytes > 60'000'000'000);
    QCOMPARE(fit->needed_bytes, first->total_bytes + plan.min_bytes);
    QCOMPARE(app::taken_bytes(plan), first->taken_bytes() + last.taken_bytes());
    QCOMPARE(app::parts_of_all(plan).kv, first->parts.kv + last.parts.kv);
    QCOMPARE(fit->budget_bytes, machine.facts.first_free_bytes + machine.facts.device_free_bytes);
    QVERIFY2(app::fit_number(*fit).contains(QStringLiteral("of 79.9")), qPrintable(app::fit_number(*fit)));
    for (const app::DeviceChoice& one : {app::DeviceChoice{"cuda:0", {}}, app::DeviceChoice{"cuda:1", {}}}) {
      const app::Machine card = machine_of(one);
      const auto alone = app::fit_of_shape("qwen3-30b-a3b", card.room, app::facts_of(card));
      FOVEA_VERIFY(alone);
      QVERIFY(alone->kind != app::FitKind::fits);
      QVERIFY(!app::first_card_of(alone->report.plan));
    }
  }

  // The list of models: a file by its plan, those to download too; only layers that cannot be parted are an
  // error.
  void modelsAreRanked() {
    const app::Machine machine = machine_of(both);
    auto found = app::find_candidates({}, {tests::golden("chat")}, app::catalogue(), machine);
    app::sort_for(found, app::Wish::quality);
    int fitting = 0;
    for (const app::Candidate& candidate : found) {
      QVERIFY2(candidate.trouble.empty() || candidate.trouble.find("cannot be divided") != std::string::npos,
               candidate.trouble.c_str());
      fitting += candidate.usable() ? 1 : 0;
      if (candidate.usable()) QVERIFY(candidate.tokens_per_second > 0);
    }
    QVERIFY(fitting > 2);
    const auto here = std::ranges::find_if(found, [](const auto& c) { return !c.path.empty(); });
    QVERIFY(here != found.end() && here->fit.kind == app::FitKind::fits);
    QVERIFY(app::first_card_of(here->fit.report.plan));
    // What they take of it: as in the file.
    const auto choices = app::precision_choices(*here, machine);
    QVERIFY(std::ranges::find(choices, PrecisionRequest{}) != choices.end());
  }

  // Its memory there counts as free, on the card where it lies.
  void whatIsHeldIsParted() {
    DeviceInfo first{.name = "cuda:0", .description = "A", .instruction_set = {}, .instruction_sets = {}},
        last = first;
    last.name = "cuda:1";
    first.memory_bytes = last.memory_bytes = 32 * gib;
    first.memory_free_bytes = 22 * gib;  // 10 and 20 of a model that holds 30
    last.memory_free_bytes = 12 * gib;
    const app::DeviceRoom room = app::room_on(app::ChosenDevice{&last, &first}, 30 * gib);
    QCOMPARE(room.first, 31 * gib);
    QCOMPARE(room.device, 31 * gib);
    QCOMPARE(app::room_on(app::ChosenDevice{&last, nullptr}, 20 * gib).first, 0);
  }

  void eachCardsRoomCountsForTwoSettings() {
    DeviceInfo first{.name = "cuda:0", .description = "A", .instruction_set = {}, .instruction_sets = {}},
        last = first;
    last.name = "cuda:1";
    first.memory_bytes = last.memory_bytes = 32 * gib;
    first.memory_free_bytes = last.memory_free_bytes = 16 * gib;
    Plan one, other;
    one.fits = other.fits = true;
    one.total_bytes = other.total_bytes = gib;
    one.first_card = other.first_card = {
        .layers = 3, .budget_bytes = 16 * gib, .total_bytes = gib, .parts = {}, .fits = true};
    const auto room = [&] { return app::room_for(one, other, {&last, &first}, 0); };
    QCOMPARE(room(), app::Counterpart::Room::beside_the_open);
    other.first_card.total_bytes = 20 * gib;
    QCOMPARE(room(), app::Counterpart::Room::none);
  }
};
FOVEA_TEST(TwoCardsOfferTest)

// The server's models.
class TwoCardsServedTest : public QObject {
  Q_OBJECT

  static std::unique_ptr<app::EngineModels> models(const std::string& device, std::int64_t device_bytes = 0) {
    auto opened =
        app::EngineModels::open({.given = {tests::golden("chat").string()},
                                 .device_bytes = device_bytes,
                                 .options = [device](const std::string& model) {
                                   return Result<LoadOptions>(LoadOptions{
                                       .model = model, .context = 256, .device = device, .threads = 1});
                                 }});
    if (!opened) qFatal("%s", opened.error().message().c_str());
    return *std::move(opened);
  }

  // All weights that the plan has, on both.
  static std::int64_t weight_bytes(const Plan& plan) {
    const Plan::Parts parts = app::parts_of_all(plan);
    std::int64_t bytes = parts.dense;
    for (const PlanTier& tier : parts.experts) bytes += tier.bytes;
    return bytes;
  }

 private Q_SLOTS:
  void itsAnswersNameBoth() {
    const auto served = models("cuda:0,cuda:1");
    const auto model = served->acquire({}, {});
    FOVEA_VERIFY(model);
    GenerateRequest request;
    request.messages = {{.role = "user", .content = "Hello"}};
    request.max_tokens = 4;
    const std::uint64_t seeds[] = {1};
    FOVEA_VERIFY((*model)->generate(request, seeds, {}, {}));

    const app::Json props = app::props_json(model->get(), 1, "1");
    QCOMPARE(props["devices"].size(), std::size_t{2});
    const Plan& plan = (*model)->plan().plan;
    const app::Json first = props["devices"][0], last = props["devices"][1];
    QVERIFY(first["name"] == "cuda:0" && last["name"] == "cuda:1");
    QVERIFY(first["layers"] == 1 && last["layers"] == 1);
    QVERIFY(first["total_bytes"] == app::first_card_of(plan)->total_bytes);
    QVERIFY(last["total_bytes"] == plan.total_bytes && last["budget_bytes"] == plan.budget_bytes);

    Snapshot snapshot;
    std::uint64_t seen = 0;
    QVERIFY(QTest::qWaitFor([&] { return (*model)->read_snapshot(snapshot, seen); }, kLong));
    const app::WatchedModel watched =
        app::watched_model((*model)->name(), (*model)->info(), (*model)->plan(), (*model)->expert_layers());
    QCOMPARE(watched.cards.size(), std::size_t{2});
    QCOMPARE(watched.rows_of_first(), 1);
    // What is no expert, of which each of the two layers has its part; the snapshot has the experts.
    std::int64_t experts = 0, on_both = 0;
    for (const TierState& tier : snapshot.tiers) experts += tier.bytes;
    for (const app::WatchedModel::Card& card : watched.cards) {
      QVERIFY(card.memory.kv > 0 && card.memory.dense > 0);
      on_both += card.memory.dense;
    }
    QCOMPARE(watched.memory.dense, on_both);
    const std::int64_t all = weight_bytes(plan);
    QVERIFY2(std::abs(on_both + experts - all) * 50 < all,
             qPrintable(QStringLiteral("%1 %2 %3").arg(on_both).arg(experts).arg(all)));
    QCOMPARE(watched.memory.kv, watched.cards[0].memory.kv + watched.cards[1].memory.kv);
    const app::Json told = app::experts_json(watched, snapshot, 1);
    const auto again = app::read_experts(app::dump(told));
    FOVEA_VERIFY(again);
    QVERIFY(app::experts_json(again->model, snapshot, 1)["cards"] == told["cards"]);
    QCOMPARE(again->model.cards[0].name, std::string("cuda:0"));
  }

  void oneDeviceIsNamed() {
    const auto served = models({});
    const auto model = served->acquire({}, {});
    FOVEA_VERIFY(model);
    const app::Json props = app::props_json(model->get(), 1, "1");
    QCOMPARE(props["devices"].size(), std::size_t{1});
    QVERIFY(props["devices"][0]["name"] == "cpu" && props["devices"][0]["layers"] == 2);
    QVERIFY(
        app::watched_model("a", (*model)->info(), (*model)->plan(), (*model)->expert_layers()).cards.empty());
  }

  // Each card by itself: together they would have room for twice as much.
  void eachCardMustHaveRoom() {
    const auto plan =
        plan_model({.model = tests::golden("chat"), .context = 256, .device = both.name, .threads = 1});
    FOVEA_VERIFY(plan);
    const std::int64_t most = std::max(app::first_card_of(plan->plan)->total_bytes, plan->plan.total_bytes);
    FOVEA_VERIFY(models(both.name, most)->acquire({}, {}));
    const auto refused = models(both.name, most - 1)->acquire({}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
  }

  void aCardThatIsGoneIsNamed() {
    const auto refused = models("cuda:0,cuda:7")->acquire({}, {});
    QVERIFY(!refused);
    QVERIFY2(refused.error().message().contains("cuda:7"), refused.error().message().c_str());
  }
};
FOVEA_TEST(TwoCardsServedTest)

// The wizard, from the choice of both to the plan.
class TwoCardsWizardTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theMemoryPageShowsBoth() {
    const tests::TemporaryFolder folder;
    app::WizardWorld world;
    world.models_folder = folder.path();
    world.models = {tests::golden("chat")};
    world.catalogue.clear();
    app::WizardController wizard(std::move(world), nullptr);
    ui::WizardDialog& dialog = wizard.dialog();
    wizard.start();
    auto* box = dialog.findChild<QComboBox*>(QStringLiteral("device"));
    QVERIFY(QTest::qWaitFor([&] { return box->isEnabled() && box->count() == 5; }, kLong));
    box->setCurrentIndex(box->findData(QStringLiteral("cuda:0,cuda:1")));
    Q_EMIT box->activated(box->currentIndex());
    QVERIFY(QTest::qWaitFor([&] { return wizard.chosen() && wizard.chosen()->fit.on_card; }, kLong));
    QCOMPARE(wizard.device(), both);
    for (const char* part : {"NVIDIA GeForce RTX 5090 (cuda:0)", "NVIDIA RTX A6000 (cuda:1)",
                             "79.9\u00A0GB together: 31.4\u00A0GB on RTX 5090, 48.5\u00A0GB on RTX A6000"})
      QVERIFY2(words_of(dialog).contains(QString::fromUtf8(part)), qPrintable(words_of(dialog)));
    while (wizard.page() != Page::memory) Q_EMIT dialog.skipRequested();
    auto* first = dialog.findChild<ui::BudgetBar*>(QStringLiteral("wizardFirstCardBar"));
    auto* last = dialog.findChild<ui::BudgetBar*>(QStringLiteral("wizardBudgetBar"));
    QVERIFY(QTest::qWaitFor([&] { return first->isVisible() && last->isVisible(); }, kLong));
    QVERIFY2(first->text().startsWith(QStringLiteral("RTX 5090")) &&
                 first->text().contains(QStringLiteral("of 31.4")),
             qPrintable(first->text()));
    QVERIFY2(last->text().startsWith(QStringLiteral("RTX A6000")) &&
                 last->text().contains(QStringLiteral("of 48.5")),
             qPrintable(last->text()));
    // No budget to be set, but what there is.
    QVERIFY(!dialog.findChild<QWidget*>(QStringLiteral("wizardBudget"))->isVisible());
    const auto* note = dialog.findChild<QLabel*>(QStringLiteral("wizardNoBudget"));
    QVERIFY(note->isVisible() && note->text().contains(QStringLiteral("48.5")));
    QVERIFY2(words_of(dialog).contains(QStringLiteral("RTX 5090 has the first ")),
             qPrintable(words_of(dialog)));
    // It is opened on both, with a plan of its own.
    auto* next = dialog.findChild<QAbstractButton*>(QStringLiteral("wizardNext"));
    QVERIFY(QTest::qWaitFor([&] { return next->isEnabled(); }, kLong));
    Q_EMIT dialog.nextRequested();
    QCOMPARE(wizard.page(), Page::start);
    QSignalSpy opened(&wizard, &app::WizardController::openRequested);
    Q_EMIT dialog.nextRequested();
    QCOMPARE(opened.size(), 1);
    const auto request = opened[0][0].value<LoadOptions>();
    QCOMPARE(request.device, both.name);
    QCOMPARE(request.precision.budget_bytes, 0);
    QVERIFY(!opened[0][1].value<std::optional<LoadPlan>>());
  }
};
FOVEA_TEST(TwoCardsWizardTest)

// The window with a model on both.
class TwoCardsWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void aModelIsOpenOnBoth() {
    keep_device(both);
    app::Desktop desktop(with_model());
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QVERIFY2(desktop.chat().model_loaded(), qPrintable(desktop.window().error_bar().message()));
    QVERIFY2(desktop.window().error_bar().message().isEmpty(),
             qPrintable(desktop.window().error_bar().message()));
    const ui::StatusView& status = desktop.window().status().status();
    QCOMPARE(status.device, QStringLiteral("RTX 5090 and RTX A6000"));
    QVERIFY2(status.device_why.contains(QStringLiteral("The first 1 of the model's 2 layers")) &&
                 status.device_why.contains(QStringLiteral("cuda:0")) &&
                 status.device_why.contains(QStringLiteral("cuda:1")),
             qPrintable(status.device_why));
    const app::LoadedModel& model = desktop.chat().model();
    QVERIFY(model.first_card);
    QCOMPARE(status.memory_bytes, model.memory.on_device() + model.memory.first_card);
    QVERIFY2(status.memory_why.contains(QStringLiteral("RTX 5090: ")) &&
                 status.memory_why.contains(QStringLiteral("RTX A6000: ")),
             qPrintable(status.memory_why));

    desktop.live_panel().show();
    desktop.window().show_live_panel(true);
    ui::ChatSettingsView settings;
    settings.max_tokens = 8;
    desktop.chat().conversation().set_chat_settings(settings);
    Q_EMIT desktop.window().sendRequested(QStringLiteral("Hello"));
    app::LiveSession& session = desktop.live_session();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready && !session.nothing(); },
                            kLong));
    QVERIFY(session.model().cut);
    QCOMPARE(session.model().cut->rows, 1);
    QCOMPARE(session.model().cut->first, QStringLiteral("RTX 5090"));
    QVERIFY(QTest::qWaitFor([&] { return desktop.live_panel().heatmap().cut().has_value(); }, kLong));
    // What the panel shows of each card is what the engine has there, each byte once.
    const ui::MemoryParts memory = session.memory();
    QCOMPARE(memory.cards.size(), std::size_t{2});
    const auto used = [](const ui::CardMemory& card) {
      double sum = 0;
      for (const ui::BudgetPart& part : card.budget)
        if (part.kind != ui::BudgetPart::Kind::unplanned) sum += part.bytes;
      return sum;
    };
    const auto close_to = [](double a, std::int64_t b) {
      return std::abs(a - static_cast<double>(b)) < 0.02 * static_cast<double>(b);
    };
    QVERIFY2(close_to(used(memory.cards[0]), model.memory.first_card),
             qPrintable(QStringLiteral("%1 %2").arg(used(memory.cards[0])).arg(model.memory.first_card)));
    QVERIFY2(close_to(used(memory.cards[1]), model.memory.on_device()),
             qPrintable(QStringLiteral("%1 %2").arg(used(memory.cards[1])).arg(model.memory.on_device())));
    QVERIFY(QTest::qWaitFor(
        [&] {
          const auto now = session.memory();
          return now.cards[0].device_total_bytes == 34'190'917'632 &&
                 now.cards[1].device_total_bytes == 51'527'024'640;
        },
        kLong));
    if (const QString pictures = qEnvironmentVariable("FOVEA_TEST_PICTURES"); !pictures.isEmpty())
      desktop.window().grab().save(pictures + QStringLiteral("/two_cards.png"));
    QVERIFY(close(desktop));
  }

  // It stays chosen, the message names the one that is gone, and nothing is opened on the other alone.
  void aCardThatIsGoneIsNamed() {
    keep_device({"cuda:0,cuda:7", "NVIDIA GeForce RTX 5090 + Card X"});
    app::Desktop desktop(with_model());
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return !desktop.window().error_bar().message().isEmpty(); }, kLong));
    QVERIFY2(desktop.window().error_bar().message().contains(QStringLiteral("cuda:7")),
             qPrintable(desktop.window().error_bar().message()));
    QCOMPARE(desktop.window().state(), State::no_model);
    QCOMPARE(desktop.settings().device, std::string("cuda:0,cuda:7"));
    QVERIFY(close(desktop));
  }

  // Another card has the name of one: the model is open there, and that is said.
  void anotherCardIsSaid() {
    keep_device({"cuda:0,cuda:1", "NVIDIA GeForce RTX 5090 + Card X"});
    app::Desktop desktop(with_model());
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return !desktop.window().error_bar().message().isEmpty(); }, kLong));
    QVERIFY2(desktop.window().error_bar().message().contains(QStringLiteral("Card X")),
             qPrintable(desktop.window().error_bar().message()));
    QVERIFY(close(desktop));
  }

 private:
  static app::WindowRequest with_model() {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = tests::golden("chat");
    request.load->context = 256;
    request.load->threads = 1;
    return request;
  }
  static void keep_device(const app::DeviceChoice& device) {
    FOVEA_VERIFY(app::SettingsFile(app::settings_path()).update([&](app::Settings& s) {
      s.device = device.name;
      s.device_description = device.description;
    }));
  }

  std::unique_ptr<tests::DataFolder> folder_;
};
FOVEA_TEST(TwoCardsWindowTest)

#include "two_cards_test.moc"
