// What the live panel costs the GUI's thread with models of published shapes: synthetic sessions, whose
// snapshots it asks for with its own timer, in real time.
//   bench_live [WIDTH HEIGHT]
#include <QApplication>
#include <QEventLoop>
#include <QSplitter>
#include <QTimer>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "app/live/live_session.h"
#include "tests/app/live/sessions.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/theme.h"

namespace {

using namespace fovea;

constexpr double kSessionSeconds = 150;  // as if all of its tokens were written; prompts are read faster
constexpr int kWarmMilliseconds = 5'000, kPartMilliseconds = 1'000, kParts = 20;
constexpr int kMilliseconds = kPartMilliseconds * kParts;
constexpr double kStudent = 2.093;  // of 19 degrees of freedom, for 95 %

// This thread's own work: others may keep the processor busy.
double worked_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void run_for(int milliseconds) {
  QEventLoop loop;
  QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
  loop.exec();
}

bool measure(const tests::SessionShape& shape, QSize size, bool patterns) {
  std::vector<Snapshot> session;
  const auto played = tests::play_session(shape, [&](const Snapshot& snapshot, double) -> Result<void> {
    session.push_back(snapshot);
    return {};
  });
  constexpr std::size_t wanted = (kWarmMilliseconds + kMilliseconds) / 100;
  if (!played || session.size() < wanted) {
    std::fprintf(stderr, "bench_live: a session of %zu snapshots, %zu are needed\n", session.size(), wanted);
    return false;
  }
  app::LiveSession live;
  ui::LivePanel panel(live);
  panel.resize(size);
  live.set_model(tests::session_model(shape));
  live.set_conversation(QStringLiteral("1"), QStringLiteral("A conversation"));
  panel.heatmap().set_textures(patterns);
  std::size_t next = 0;
  live.set_reader([&](Snapshot& snapshot) {
    if (next == session.size()) return false;
    snapshot = session[next++];
    return true;
  });
  panel.findChild<QSplitter*>()->setSizes({450, size.height() - 450});
  panel.show();
  run_for(kWarmMilliseconds);
  const std::size_t first = next;
  double sum = 0, squares = 0;  // of what each part took
  for (int part = 0; part < kParts; ++part) {
    const double before = worked_seconds();
    run_for(kPartMilliseconds);
    const double worked = worked_seconds() - before;
    sum += worked;
    squares += worked * worked;
  }
  const double mean = sum / kParts;
  const double error = kStudent * std::sqrt((squares / kParts - mean * mean) / (kParts - 1));
  const auto percent = [](double seconds) { return 1e5 * seconds / kPartMilliseconds; };
  std::printf(
      "%-20s %4d x %-4d %-10s %.2f %% of one core (95 %% %.2f to %.2f), %.2f ms for each of %zu snapshots; "
      "%.1f MB kept\n",
      shape.like.c_str(), size.width(), size.height(), patterns ? "patterns" : "", percent(mean),
      percent(mean - error), percent(mean + error), 1e3 * sum / static_cast<double>(next - first),
      next - first, static_cast<double>(live.ring().memory_bytes()) / 1e6);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  ui::apply_theme(application, ui::Scheme::dark);
  // Every section is to be seen, beside a map of the height that it has in the window's dock.
  const QSize size = argc > 2 ? QSize(std::atoi(argv[1]), std::atoi(argv[2])) : QSize(480, 1600);
  for (const char* like : {"qwen3-30b-a3b", "qwen3-next-80b-a3b"})
    for (const bool patterns : {false, true})
      if (!measure({.like = like, .seconds = kSessionSeconds}, size, patterns)) return 1;
  return 0;
}
