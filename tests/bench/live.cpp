// What the live panel costs the GUI thread: taking a snapshot in, and drawing a frame.
//   bench_live [WIDTH HEIGHT]
#include <QApplication>
#include <QImage>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "tests/ui/live/sessions.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/theme.h"

namespace {

using namespace fovea;

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// This thread's own work: others may keep the processor busy.
class WorkTimer {
 public:
  void start() { begin_ = now(); }
  double milliseconds() const { return now() - begin_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }
  double begin_ = 0;
};

void measure(const tests::SessionShape& shape, QSize size, bool patterns) {
  ui::LivePanel panel;
  panel.resize(size);
  panel.set_model(tests::session_model(shape));
  panel.heatmap().set_textures(patterns);
  panel.show();
  QImage screen(size, QImage::Format_ARGB32_Premultiplied);
  std::vector<double> taken, drawn, cells, whole;
  const auto played =
      tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        WorkTimer timer;
        timer.start();
        panel.add_snapshot(snapshot, seconds);
        taken.push_back(timer.milliseconds());
        timer.start();
        panel.heatmap().picture();
        cells.push_back(timer.milliseconds());
        timer.start();
        panel.refresh_frame();
        panel.heatmap().render(&screen);
        drawn.push_back(timer.milliseconds());
        timer.start();
        panel.refresh();
        panel.render(&screen);
        whole.push_back(timer.milliseconds());
        return {};
      });
  if (!played) std::exit(1);
  const double frame = median(taken) + median(drawn);
  std::printf(
      "%-20s %4d x %-4d%s  take %.3f ms  cells %.3f ms  map %.3f ms  everything %.3f ms  10 Hz of take + "
      "map: %.2f %% of a core"
      "  memory %.1f MB for %lld moments\n",
      shape.like.c_str(), size.width(), size.height(), patterns ? " patterns" : "         ", median(taken),
      median(cells), median(drawn), median(whole), frame,
      static_cast<double>(panel.ring().memory_bytes()) / 1e6,
      static_cast<long long>(panel.ring().end() - panel.ring().first()));
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::apply_theme(application, ui::Scheme::dark);
  const QSize size = argc > 2 ? QSize(std::atoi(argv[1]), std::atoi(argv[2])) : QSize(420, 960);
  for (const char* like : {"qwen3-30b-a3b", "qwen3-next-80b-a3b"})
    for (const bool patterns : {false, true}) measure({.like = like, .seconds = 20}, size, patterns);
  return 0;
}
