// Two settings of the demo model beside each other, with the real engine; and what there is to choose.
#include "app/advisor/comparison.h"

#include <cmath>
#include <fstream>

#include "app/advisor/counterparts.h"
#include "app/advisor/errors.h"
#include "app/library/calibration_text.h"
#include "app/library/comparison_text.h"
#include "app/library/fit.h"
#include "engine/api/prepare.h"
#include "engine/api/routing_report.h"
#include "engine/api/trace.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea;
using app::Counterpart;

namespace {

constexpr app::CalibrationSettings quick{.max_seconds = 5, .rounds = 2, .round_seconds = 0.05};

Result<std::unique_ptr<Engine>> load(const LoadOptions& options, const ProgressSink& progress,
                                     const std::stop_token& stop) {
  return Engine::load(options, progress, stop);
}

}  // namespace

class ComparisonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    open_.model = tests::demo_model();
    QVERIFY2(!open_.model.empty(), "the demo model is not there; ./scripts/demo builds it");
    open_.context = 512;
    open_.threads = 2;
    open_.precision.stores_folder = folder_.path() / "stores";
  }

  // None of its paragraphs is what stores are calibrated on.
  void theTextIsItsOwn() {
    const std::string_view text = app::comparison_text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      QVERIFY2(line.size() < 12 || !app::calibration_text().contains(line), std::string(line).c_str());
      at = end + 1;
    }
  }

  void theSameSettingDoesNotDiffer() {
    std::vector<app::ComparisonProgress> reports;
    const auto found =
        app::compare_settings(request(open_, open_), load,
                              [&](const app::ComparisonProgress& progress) { reports.push_back(progress); });
    FOVEA_VERIFY(found);
    QCOMPARE(found->log_likelihood.value, 0.0);
    QCOMPARE(found->log_likelihood.standard_error.value_or(1), 0.0);
    QCOMPARE(found->kept(), 1.0);
    QVERIFY(!found->quality_differs());
    QCOMPARE(found->first.bytes, found->second.bytes);
    QCOMPARE(found->same_experts.value_or(0), 1.0);
    QVERIFY(found->tokens > 600);  // enough to say anything
    QCOMPARE(reports.front().setting, 0);
    QCOMPARE(reports.back().setting, 1);
    const auto times = std::ranges::count_if(
        reports, [](const app::ComparisonProgress& each) { return each.seconds_left > 0; });
    QVERIFY(times > 0);
    QVERIFY(std::ranges::is_sorted(reports, {}, &app::ComparisonProgress::setting));
  }

  void theLowestTierLosesQualityAndBytes() {
    const auto found = app::compare_settings(request(open_, lowest()), load);
    FOVEA_VERIFY(found);
    QVERIFY(found->log_likelihood.value < 0 && found->quality_differs());
    QVERIFY(found->second.bytes < found->first.bytes);
    // Windows are of the same length: the ratio of the perplexities is the mean difference.
    const PerplexityResult &first = found->first.reading, &second = found->second.reading;
    QVERIFY(std::abs(found->kept() - first.perplexity / second.perplexity) < 1e-9);
    // The error of a mean, by its other formula.
    double sum = 0, squares = 0;
    const auto count = static_cast<double>(first.chunks);
    for (std::size_t i = 0; i < first.windows.size(); ++i) {
      const double difference = second.windows[i].nll - first.windows[i].nll;
      sum += difference;
      squares += difference * difference;
    }
    const double variance = (squares - sum * sum / count) / (count - 1);
    QVERIFY(std::abs(found->log_likelihood.standard_error.value() - std::sqrt(variance / count)) < 1e-9);
  }

  // As the report on routing counts it, from traces of the same tokens, one by one.
  void theLowestTierChoosesSomeOtherExperts() {
    const LoadOptions low = lowest();
    const auto found = app::compare_settings(request(open_, low), load);
    FOVEA_VERIFY(found);
    QVERIFY(found->same_experts);
    const auto traced = [&](LoadOptions options, const char* name) {
      options.context = app::comparison_window;
      const auto engine = Engine::load(options);
      const fs::path path = folder_.path() / name;
      std::ofstream file(path, std::ios::binary);
      const TraceSettings settings{.tokens = app::routed_windows * app::comparison_window, .decode = true};
      const auto made = record_trace(**engine, app::comparison_text(), settings,
                                     [&](std::string_view bytes) -> Result<void> {
                                       file << bytes;
                                       return {};
                                     });
      if (!made) qFatal("%s", made.error().message().c_str());
      return NamedTrace{.name = name, .path = path};
    };
    const auto report = routing_report({.traces = {traced(low, "low")}, .reference = traced(open_, "file")});
    FOVEA_VERIFY(report);
    const double share = report->fidelity[0].all.share();
    QVERIFY(share > 0.5 && share < 0.99);
    // Passes of many tokens round otherwise than single ones.
    QVERIFY2(std::abs(*found->same_experts - share) < 0.01,
             qPrintable(QStringLiteral("%1, %2").arg(*found->same_experts).arg(share)));
  }

  void stops() {
    std::stop_source stop;
    const auto found = app::compare_settings(
        request(open_, open_), load,
        [&](const app::ComparisonProgress& progress) {
          if (progress.setting == 1) stop.request_stop();
        },
        stop.get_token());
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::cancelled);
  }

  void refusesTextsThatSayNothing() {
    app::ComparisonRequest asked = request(open_, open_);
    asked.text = std::string(app::comparison_text().substr(0, 600));  // one window
    auto found = app::compare_settings(asked, load);
    QVERIFY(!found && found.error().is(errors::compared_text_too_short.code));
    asked.text = "\xFF\xFE not UTF-8";
    found = app::compare_settings(asked, load);
    QVERIFY(!found && found.error().is(errors::compared_text_not_utf8.code));
  }

  // --- what there is to choose

  void withoutAPolicyTheLowestTier() {
    const auto found = app::counterparts_of(open_, {}, 0);
    FOVEA_VERIFY(found);
    QCOMPARE(found->choices.size(), std::size_t{1});
    const Counterpart& low = found->choices[0];
    QVERIFY(!low.trouble);
    QCOMPARE(low.kind, Counterpart::Kind::lowest);
    QCOMPARE(low.options.precision.tiers, std::vector<std::string>{"q2"});
    QVERIFY(low.store.needed);
    QVERIFY(low.bytes > 0 && low.bytes < found->bytes);
    QCOMPARE(low.options.context, open_.context);
  }

  void withMovingExpertsThree() {
    LoadOptions moving = open_;
    moving.precision.policy = PolicyKind::fovea;
    moving.precision.tiers = {"file", "q2"};
    moving.precision.events = folder_.path() / "swaps.jsonl";
    const auto whole = plan_model(moving);
    FOVEA_VERIFY(whole);
    moving.precision.budget_bytes = (whole->plan.min_bytes + whole->plan.whole_bytes) / 2;
    const auto plan = plan_model(moving);
    FOVEA_VERIFY(plan);
    const auto found = app::counterparts_of(moving, plan->plan, 0);
    FOVEA_VERIFY(found);
    QCOMPARE(found->choices.size(), std::size_t{3});
    const auto &file = found->choices[0], &low = found->choices[1], &fixed = found->choices[2];
    QCOMPARE(file.options.precision.policy, PolicyKind::none);
    QCOMPARE(low.options.precision.tiers, std::vector<std::string>{"q2"});
    QCOMPARE(fixed.options.precision.policy, PolicyKind::static_tiers);
    QCOMPARE(fixed.options.precision.tiers, (std::vector<std::string>{"file", "q2"}));
    QCOMPARE(fixed.options.precision.budget_bytes, moving.precision.budget_bytes);
    QVERIFY(low.bytes < fixed.bytes && fixed.bytes < file.bytes);
    for (const Counterpart& each : found->choices) {
      QVERIFY(!each.trouble);
      QVERIFY(each.options.precision.events.empty());  // the open model's log stays its own
    }
  }

  // Where the file's precision has no room, its experts come from the disk, and what is said of that is so:
  // it opens, within the memory that there is, and reads a text as the model in memory does.
  void theFullModelComesFromTheDisk() {
    LoadOptions moving = open_;
    moving.precision.policy = PolicyKind::fovea;
    moving.precision.tiers = {"file", "q2"};
    moving.precision.stores_folder = folder_.path() / "stores";
    const auto whole = plan_model(open_), lowest = plan_model(moving);
    FOVEA_VERIFY(whole);
    FOVEA_VERIFY(lowest);
    moving.precision.budget_bytes =
        lowest->plan.min_bytes + (whole->plan.total_bytes - lowest->plan.min_bytes) / 8;
    const auto plan = plan_model(moving);
    FOVEA_VERIFY(plan);
    DeviceInfo small;
    small.name = "cpu";
    small.memory_bytes = small.memory_free_bytes = 8 * whole->plan.total_bytes;
    auto found = app::counterparts_on({&small}, moving, plan->plan, 0);
    FOVEA_VERIFY(found);
    QCOMPARE(found->choices.size(), std::size_t{3});  // it fits
    small.memory_bytes = small.memory_free_bytes = 2 * app::taken_bytes(whole->plan) - 2;
    QVERIFY(app::room_on(small, 0) < app::taken_bytes(whole->plan));
    found = app::counterparts_on({&small}, moving, plan->plan, 0);
    FOVEA_VERIFY(found);
    QCOMPARE(found->choices.size(), std::size_t{4});
    QCOMPARE(found->choices[0].room, Counterpart::Room::none);
    const Counterpart& away = found->choices[1];
    QCOMPARE(away.kind, Counterpart::Kind::file_elsewhere);
    QVERIFY(!away.trouble && away.room != Counterpart::Room::none && away.store.needed);
    QVERIFY(away.bytes <= app::room_on(small, 0) && away.options.chunk > 0);
    QVERIFY(away.pass_bytes > 0 && away.pass_bytes < away.store.bytes);  // memory keeps some
    const auto full = Engine::load(open_), from_disk = Engine::load(away.options);
    FOVEA_VERIFY(full);
    FOVEA_VERIFY(from_disk);
    const std::vector<TokenId> context{1, 5, 9}, tokens{7, 3, 8, 2};
    const auto as_it_is = score_tokens(**full, context, tokens);
    const auto read = score_tokens(**from_disk, context, tokens);
    FOVEA_VERIFY(as_it_is);
    FOVEA_VERIFY(read);
    for (std::size_t i = 0; i < tokens.size(); ++i) QVERIFY(std::abs((*as_it_is)[i] - (*read)[i]) < 1e-3);
  }

  // One for more tiers serves; and what cannot be planned says why.
  void aStoreThatIsThereIsTaken() {
    PrepareRequest made;
    made.model = open_.model;
    made.tiers = {"file", "q2"};
    const auto name = describe_store(made);
    FOVEA_VERIFY(name);
    LoadOptions elsewhere = open_;
    elsewhere.precision.stores_folder = folder_.path() / "others";
    fs::create_directories(elsewhere.precision.stores_folder);
    const fs::path store = elsewhere.precision.stores_folder / name->name;
    std::ofstream(store) << "no store at all";
    const auto found = app::counterparts_of(elsewhere, {}, 0);
    FOVEA_VERIFY(found);
    QCOMPARE(found->choices[0].options.precision.store, store);
    QVERIFY(found->choices[0].trouble);
  }

  void whatIsLoweredWhileItAnswersIsNotCompared() {
    LoadOptions lowered = open_;
    lowered.precision.policy = PolicyKind::pmpd;
    const auto found = app::counterparts_of(lowered, {}, 0);
    QVERIFY(!found && found.error().is(errors::comparison_of_lowered_layers.code));
  }

  void theOpenModelIsClosedOnlyForMemory() {
    constexpr std::int64_t gigabyte = 1'000'000'000;
    DeviceInfo device;
    device.name = "cpu";
    device.memory_bytes = 64 * gigabyte;
    device.memory_free_bytes = 20 * gigabyte;
    constexpr std::int64_t held = 10 * gigabyte;
    const std::int64_t beside = app::room_on(device, 0), alone = app::room_on(device, held);
    QVERIFY(0 < beside && beside < alone);
    Plan small, large;
    small.fits = large.fits = true;
    small.total_bytes = gigabyte;
    const auto room = [&] { return app::room_for(small, large, {&device}, held); };
    large.total_bytes = beside;
    QCOMPARE(room(), Counterpart::Room::beside_the_open);
    large.total_bytes = beside + 1;
    QCOMPARE(room(), Counterpart::Room::in_its_place);
    large.parts.safety = 1;  // is not taken
    QCOMPARE(room(), Counterpart::Room::beside_the_open);
    large.parts.safety = 0;
    large.total_bytes = alone;
    QCOMPARE(room(), Counterpart::Room::in_its_place);
    large.total_bytes = alone + 1;
    QCOMPARE(room(), Counterpart::Room::none);
    large.total_bytes = gigabyte;
    large.fits = false;
    QCOMPARE(room(), Counterpart::Room::none);
    large.fits = true;
    large.host_bytes = 2;  // beside a card
    large.host_available_bytes = 1;
    QCOMPARE(room(), Counterpart::Room::in_its_place);
  }

 private:
  LoadOptions lowest() const {
    LoadOptions low = open_;
    low.precision.policy = PolicyKind::static_tiers;
    low.precision.tiers = {"q2"};
    return low;
  }
  static app::ComparisonRequest request(const LoadOptions& first, const LoadOptions& second) {
    return {.first = first, .second = second, .text = std::string(app::comparison_text()), .speed = quick};
  }

  const tests::TemporaryFolder folder_;
  LoadOptions open_;
};
FOVEA_TEST(ComparisonTest)

#include "comparison_test.moc"
