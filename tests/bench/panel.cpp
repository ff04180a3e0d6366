// What the open live panel costs while a model answers in the real window:
//   bench_panel MODEL STORES_FOLDER [--policy dynaexq|fovea] [BLOCKS] [OUT.png]
// The panel is opened and closed in turn while it answers, again as soon as an answer ends. A block is
// closed, open, open, closed, or the other way round, so that what changes steadily drops out. For each
// block: the tokens per second while it is open against while it is closed, the processor time of the GUI's
// thread, and that of all other threads for a token (the engine makes the snapshots). The medians are told
// with the 95 % interval that resampling the blocks gives. The panel stands apart, tall enough to show every
// section. On Qt's offscreen platform, or on the X server of $DISPLAY with QT_QPA_PLATFORM=xcb.
#include <QApplication>
#include <QDockWidget>
#include <QPixmap>
#include <QSplitter>
#include <QTemporaryDir>
#include <QtTest/QtTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "app/window/desktop.h"
#include "engine/api/plan.h"
#include "ui/chat/chat_window.h"
#include "ui/live/live_panel.h"

using namespace fovea;

namespace {

constexpr int kBlocks = 60;
constexpr int kSettleMilliseconds = 250;  // after the panel was opened or closed, which is not measured
constexpr int kSegmentMilliseconds = 1500;
constexpr int kLookMilliseconds = 20;  // whether the answer has ended
constexpr QSize kPanelSize(480, 1600);
constexpr int kMapHeight = 450;  // as in the window's dock; below it every section is to be seen

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Sums at one moment.
struct Reading {
  double wall = 0, gui = 0, process = 0;
  double tokens = 0, decode_seconds = 0;  // of all answers
};

// What a while with the panel open, or closed, took.
struct Segment {
  double tokens_per_s = 0;
  double gui_share = 0;         // processor time of the GUI's thread over the time
  double others_per_token = 0;  // processor time of all other threads
};

Segment between(const Reading& a, const Reading& b) {
  const double tokens = b.tokens - a.tokens;
  const double gui = b.gui - a.gui;
  return {.tokens_per_s = tokens / (b.decode_seconds - a.decode_seconds),
          .gui_share = gui / (b.wall - a.wall),
          .others_per_token = (b.process - a.process - gui) / tokens};
}

// Open against closed, in per cent: of the speed, of one core, of the other threads' work.
using Differences = std::array<double, 3>;

Differences compare(const std::array<Segment, 2>& open, const std::array<Segment, 2>& closed) {
  const auto ratio = [&](double Segment::* value) {
    return 100 * (std::sqrt(open[0].*value * open[1].*value / (closed[0].*value * closed[1].*value)) - 1);
  };
  const double gui = open[0].gui_share + open[1].gui_share - closed[0].gui_share - closed[1].gui_share;
  return {ratio(&Segment::tokens_per_s), 100 * gui / 2, ratio(&Segment::others_per_token)};
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

void tell(const char* what, const std::vector<Differences>& blocks, std::size_t which) {
  std::vector<double> values, medians;
  for (const Differences& block : blocks) values.push_back(block[which]);
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::size_t> any(0, values.size() - 1);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[any(random)]);
    medians.push_back(quantile(std::move(drawn), 0.5));
  }
  std::printf("  %-46s %+6.2f %%   (95 %% of resamplings %+.2f to %+.2f; quartiles %+.2f, %+.2f)\n", what,
              quantile(values, 0.5), quantile(medians, 0.025), quantile(medians, 0.975),
              quantile(values, 0.25), quantile(values, 0.75));
}

// The window, a model that answers again and again, and the panel beside it.
class Stage {
 public:
  explicit Stage(const app::WindowRequest& request) : desktop_(request) {
    QObject::connect(&desktop_.chat(), &app::ChatController::timingsArrived, [this](const Timings& so_far) {
      if (so_far.generated_tokens < answer_.generated_tokens) end_answer();
      answer_ = so_far;
    });
    desktop_.start();
    desktop_.window().resize(1360, 840);
    dock_ = desktop_.window().findChild<QDockWidget*>(QStringLiteral("liveDock"));
    dock_->show();
    dock_->setFloating(true);
    dock_->resize(kPanelSize);
    desktop_.live_panel().findChild<QSplitter*>()->setSizes({kMapHeight, kPanelSize.height() - kMapHeight});
  }

  bool wait_for_model() {
    return QTest::qWaitFor([this] { return state() == ui::ChatWindow::State::ready; }, 300'000);
  }

  // Waits so long, and asks again whenever an answer has ended. False: nothing came for a minute.
  bool answer_for(int milliseconds) {
    for (const double end = seconds_of(CLOCK_MONOTONIC) + 1e-3 * milliseconds;
         seconds_of(CLOCK_MONOTONIC) < end;) {
      if (state() != ui::ChatWindow::State::generating) {
        end_answer();
        Q_EMIT desktop_.window().newChatRequested();
        Q_EMIT desktop_.window().sendRequested(QStringLiteral("Write a long story about the sea."));
        if (!QTest::qWaitFor([this] { return answer_.generated_tokens > 0; }, 60'000)) return false;
      }
      QTest::qWait(kLookMilliseconds);
    }
    return true;
  }

  // Nothing where the model does not answer.
  std::optional<Segment> segment(bool open) {
    dock_->setVisible(open);
    if (!answer_for(kSettleMilliseconds)) return std::nullopt;
    const Reading begin = read();
    if (!answer_for(kSegmentMilliseconds)) return std::nullopt;
    const Reading end = read();
    if (end.tokens <= begin.tokens) return std::nullopt;
    speeds_.push_back(between(begin, end).tokens_per_s);
    return between(begin, end);
  }

  std::optional<Differences> block(bool open_first) {
    std::array<Segment, 2> open, closed;
    std::size_t opens = 0, closes = 0;
    for (const bool is_open : {open_first, !open_first, !open_first, open_first}) {
      const std::optional<Segment> measured = segment(is_open);
      if (!measured) return std::nullopt;
      (is_open ? open[opens++] : closed[closes++]) = *measured;
    }
    return compare(open, closed);
  }

  void save_picture(const char* path) {
    dock_->show();
    QTest::qWait(1000);
    desktop_.live_panel().grab().save(QString::fromLocal8Bit(path));
  }

  double median_speed() const { return quantile(speeds_, 0.5); }

 private:
  ui::ChatWindow::State state() { return desktop_.window().state(); }
  Reading read() const {
    return {.wall = seconds_of(CLOCK_MONOTONIC),
            .gui = seconds_of(CLOCK_THREAD_CPUTIME_ID),
            .process = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
            .tokens = tokens_ + static_cast<double>(answer_.generated_tokens),
            .decode_seconds = decode_seconds_ + answer_.decode_seconds};
  }
  void end_answer() {
    tokens_ += static_cast<double>(answer_.generated_tokens);
    decode_seconds_ += answer_.decode_seconds;
    answer_ = {};
  }

  app::Desktop desktop_;
  QDockWidget* dock_;
  Timings answer_;                          // the present one's so far
  double tokens_ = 0, decode_seconds_ = 0;  // of the answers that have ended
  std::vector<double> speeds_;
};

struct Arguments {
  const char *model = nullptr, *stores = nullptr, *picture = nullptr;
  PolicyKind policy = PolicyKind::dynaexq;
  std::size_t blocks = kBlocks;
};

std::optional<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  std::vector<const char*> places;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      places.push_back(argv[i]);
      continue;
    }
    const std::string_view policy = word == "--policy" && i + 1 < argc ? argv[++i] : "";
    if (policy != "dynaexq" && policy != "fovea") return std::nullopt;
    arguments.policy = policy == "fovea" ? PolicyKind::fovea : PolicyKind::dynaexq;
  }
  if (places.size() < 2 || places.size() > 4) return std::nullopt;
  arguments.model = places[0];
  arguments.stores = places[1];
  if (places.size() > 2) arguments.blocks = static_cast<std::size_t>(std::max(2, std::atoi(places[2])));
  if (places.size() > 3) arguments.picture = places[3];
  return arguments;
}

Result<app::WindowRequest> make_request(const Arguments& arguments) {
  LoadOptions load;
  load.model = arguments.model;
  load.context = 2048;
  load.precision.policy = arguments.policy;
  load.precision.stores_folder = arguments.stores;
  load.precision.dynaexq.interval_tokens = 10;
  load.precision.dynaexq.warm_up_tokens = 16;
  // Halfway between the smallest budget that would do and what the highest tier needs.
  const auto plan = plan_model(load);
  if (!plan) return std::unexpected(plan.error());
  load.precision.budget_bytes = (plan->plan.min_bytes + plan->plan.whole_bytes) / 2;
  app::WindowRequest request;
  request.load = load;
  return request;
}

}  // namespace

int main(int argc, char** argv) {
  const QTemporaryDir data;
  qputenv("FOVEA_DATA", data.path().toUtf8());
  QApplication application(argc, argv);
  const auto arguments = read_arguments(argc, argv);
  if (!arguments) {
    std::fputs("usage: bench_panel MODEL STORES_FOLDER [--policy dynaexq|fovea] [BLOCKS] [OUT.png]\n",
               stderr);
    return 2;
  }
  const auto request = make_request(*arguments);
  if (!request) {
    std::fprintf(stderr, "bench_panel: %s\n", request.error().message().c_str());
    return 1;
  }
  Stage stage(*request);
  if (!stage.wait_for_model()) return 1;
  std::vector<Differences> blocks;
  while (blocks.size() < arguments->blocks) {
    const auto block = stage.block(blocks.size() % 2 == 0);
    if (!block) {
      std::fputs("bench_panel: the model does not answer\n", stderr);
      return 1;
    }
    blocks.push_back(*block);
  }
  std::printf("panel open against closed, %zu blocks of four times %.1f s, at %.1f tok/s:\n", blocks.size(),
              kSegmentMilliseconds / 1e3, stage.median_speed());
  tell("tokens per second", blocks, 0);
  tell("work of the GUI's thread, of one core", blocks, 1);
  tell("work of the other threads for a token", blocks, 2);
  if (arguments->picture) stage.save_picture(arguments->picture);
  std::fflush(stdout);
  std::_Exit(0);
}
