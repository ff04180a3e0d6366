// The live panel beside a real model: what it costs, and a picture.
//   live_session MODEL STORES_FOLDER [OUT.png]
// Writes answers with the panel hidden and shown in turn, first the one, then the other first, and tells the
// tokens per second of both, the median and quartiles of each pair's ratio, and the GUI thread's own work
// while it was shown.
#include <QApplication>
#include <QThread>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "engine/api/engine.h"
#include "engine/api/plan.h"
#include "ui/live/live_panel.h"
#include "ui/theme/theme.h"

namespace {

using namespace fovea;

constexpr int kPairs = 16;
constexpr int kTokens = 160;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int say(const Error& error) {
  std::fprintf(stderr, "live_session: %s\n", error.message().c_str());
  return 1;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

Result<LoadRequest> make_request(const char* model, const char* stores) {
  LoadRequest request;
  request.model = model;
  request.context = 2048;
  request.precision.policy = PolicyKind::dynaexq;
  request.precision.stores_folder = stores;
  request.precision.dynaexq.interval_tokens = 10;
  request.precision.dynaexq.warm_up_tokens = 16;
  // Halfway between the smallest budget that would do and what the highest tier needs.
  const PlanSettings settings{.context = request.context, .precision = request.precision};
  const auto plan = plan_model(model, settings);
  if (!plan) return std::unexpected(plan.error());
  request.precision.budget_bytes = (plan->plan.least_bytes + plan->plan.total_bytes) / 2;
  return request;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 3) {
    std::fputs("usage: live_session MODEL STORES_FOLDER [OUT.png]\n", stderr);
    return 2;
  }
  const auto request = make_request(argv[1], argv[2]);
  if (!request) return say(request.error());
  auto engine = Engine::load(*request);
  if (!engine) return say(engine.error());
  ui::apply_theme(application, ui::Scheme::dark);
  ui::LivePanel panel;
  panel.resize(420, 960);
  const ModelInfo& info = (*engine)->info();
  panel.set_model({.name = QString::fromStdString(info.name),
                   .policy = PolicyKind::dynaexq,
                   .experts = info.experts,
                   .experts_used = info.experts_used,
                   .plan = (*engine)->plan() ? *(*engine)->plan() : Plan{}});
  panel.set_source([&](Snapshot& snapshot) { return (*engine)->read_snapshot(snapshot); });
  panel.set_conversation(QStringLiteral("1"), QStringLiteral("A conversation"));

  std::vector<double> hidden, shown, own;
  for (int round = 0; round < 2 * kPairs; ++round) {
    const bool visible = (round % 2 == 1) == (round / 2 % 2 == 0);
    panel.setVisible(visible);
    GenerateRequest ask;
    ask.raw_prompt = "The eye sees sharply only where it looks. ";
    ask.max_tokens = kTokens;
    ask.sampling.seed = static_cast<std::uint64_t>(round / 2 + 1);
    ask.reuse_cache = false;
    Timings timings;
    std::atomic<bool> failed = false;
    std::unique_ptr<QThread> worker(QThread::create([&] {
      const auto result = (*engine)->generate(ask);
      if (result) timings = result->timings;
      failed = !result;
    }));
    QObject::connect(worker.get(), &QThread::finished, &application, &QApplication::quit);
    const double before = thread_seconds();
    worker->start();
    QApplication::exec();
    worker->wait();
    if (failed || timings.generated_tokens < 2) {
      std::fputs("live_session: an answer failed\n", stderr);
      return 1;
    }
    (visible ? shown : hidden).push_back(timings.tokens_per_second());
    if (visible)
      own.push_back((thread_seconds() - before) / (timings.decode_seconds + timings.prefill_seconds));
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < shown.size(); ++i) ratios.push_back(100 * (shown[i] / hidden[i] - 1));
  std::printf(
      "tok/s hidden %.2f, shown %.2f; shown against hidden %+.2f %% (quartiles %+.2f, %+.2f); the GUI thread "
      "worked %.2f %% of the time\n",
      quantile(hidden, 0.5), quantile(shown, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25),
      quantile(ratios, 0.75), 100 * quantile(own, 0.5));
  if (argc > 3) {
    panel.show();
    panel.refresh();
    QApplication::processEvents();
    panel.grab().save(QString::fromLocal8Bit(argv[3]));
  }
  return 0;
}
