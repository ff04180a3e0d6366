#include "app/top/top_loop.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "app/server/errors.h"
#include "app/terminal/full_screen.h"
#include "app/top/draw_top.h"
#include "app/top/top_keys.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = TopWatcher::Clock;
using std::chrono::milliseconds;

constexpr milliseconds frame_interval(100), look_interval(250), escape_wait(50);
constexpr auto order_interval = std::chrono::seconds(1);  // experts that change places cannot be followed
constexpr double idle_seconds = 1.5;

double seconds_of(Clock::time_point now) {
  return std::chrono::duration<double>(now.time_since_epoch()).count();
}

// Ends a wait when it is asked to stop.
class StopBell {
 public:
  explicit StopBell(const std::stop_token& stop)
      : bell_(::eventfd(0, EFD_CLOEXEC)), ring_(stop, [this] {
          const std::uint64_t one = 1;
          [[maybe_unused]] const ssize_t written = ::write(bell_.number(), &one, sizeof one);
        }) {}
  int descriptor() const { return bell_.number(); }

 private:
  FileDescriptor bell_;
  std::stop_callback<std::function<void()>> ring_;
};

class TopLoop {
 public:
  TopLoop(const TopSource& source, const TopLook& look, const std::stop_token& stop)
      : watcher_(source), stop_(stop), bell_(stop), has_keys_(::isatty(STDIN_FILENO) == 1) {
    view_.colours = look.colours;
    view_.is_light = look.is_light;
  }

  Result<void> run() {
    Result<void> done = go_on(false);
    while (done && !stop_.stop_requested() && !is_left_) {
      refresh();
      const std::array<short, 2> ready = wait();
      if (ready[0] != 0)
        read_keys();
      else if (keys_.is_within_sequence() && Clock::now() - key_at_ >= escape_wait)
        handle(keys_.pause());
      done = go_on(ready[1] != 0);
    }
    return done;
  }

 private:
  // What happened at the keys and at the socket.
  std::array<short, 2> wait() {
    const Clock::time_point now = Clock::now();
    milliseconds most = std::min(look_interval, watcher_.patience(now));
    if (is_stale_ || is_animated_)
      most = std::min(
          most, std::max(milliseconds(0), std::chrono::ceil<milliseconds>(drawn_at_ + frame_interval - now)));
    if (keys_.is_within_sequence()) most = std::min(most, escape_wait);
    std::array<pollfd, 3> waits{
        pollfd{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0},
        pollfd{watcher_.descriptor(), static_cast<short>(watcher_.is_asking() ? POLLOUT : POLLIN), 0},
        pollfd{bell_.descriptor(), POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), static_cast<int>(most.count())) <= 0) return {};
    return {waits[0].revents, waits[1].revents};
  }

  Result<void> go_on(bool is_ready) {
    const std::string before = watcher_.note();
    FOVEA_TRY(const std::vector<ExpertsEvent> events, watcher_.go_on(Clock::now(), is_ready));
    for (const ExpertsEvent& event : events) live_.add(event, seconds_of(Clock::now()));
    is_stale_ |= !events.empty() || watcher_.note() != before;
    return {};
  }

  void read_keys() {
    std::array<char, 256> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got <= 0) {
      is_left_ = true;  // the terminal is gone
      return;
    }
    key_at_ = Clock::now();
    handle(keys_.read({bytes.data(), static_cast<std::size_t>(got)}));
  }

  void handle(const std::vector<TopKey>& keys) {
    using Below = TopView::Below;
    const auto toggle = [this](Below below) { view_.below = view_.below == below ? Below::map : below; };
    for (const TopKey key : keys) {
      is_stale_ = true;
      switch (key) {
        case TopKey::leave:
          is_left_ = true;
          break;
        case TopKey::back:
          if (view_.below == Below::map && !view_.layer) is_left_ = true;
          if (view_.below == Below::map) view_.layer.reset();
          view_.below = Below::map;
          break;
        case TopKey::help:
          toggle(Below::help);
          break;
        case TopKey::details:
          toggle(Below::details);
          break;
        case TopKey::hold:
          held_ ? held_.reset() : static_cast<void>(held_.emplace(live_));
          break;
        case TopKey::sort:
          view_.by_number = !view_.by_number;
          ordered_at_ = {};
          break;
        case TopKey::layer:
          view_.below = Below::map;
          view_.layer ? view_.layer.reset() : static_cast<void>(view_.layer.emplace(layer_));
          break;
        case TopKey::up:
        case TopKey::down:
          layer_ = std::max<std::int64_t>(0, layer_ + (key == TopKey::up ? -1 : 1));
          view_.layer = layer_;
          view_.below = Below::map;
          break;
        case TopKey::suspend:
          screen_.suspend();
          shown_.reset();
          break;
      }
    }
  }

  const TopModel& model() const { return held_ ? *held_ : live_; }

  TopView::State state(double now) const {
    using State = TopView::State;
    if (held_) return State::frozen;
    if (!watcher_.is_there() || live_.is_empty()) return State::waiting;
    return now - live_.seconds() > idle_seconds ? State::idle : State::live;
  }

  void order(Clock::time_point now) {
    if (model().is_empty()) return;
    const MapFrame& frame = model().frame();
    layer_ = std::clamp<std::int64_t>(layer_, 0, std::max<std::int64_t>(0, frame.layers - 1));
    if (view_.layer) view_.layer = layer_;
    if (view_.places.fits(frame) && now - ordered_at_ < order_interval) return;
    ordered_at_ = now;
    view_.by_number ? view_.places.by_index(frame.layers, frame.units_per_layer)
                    : view_.places.by_hotness(frame);
  }

  // Draws what is another than on the screen, ten times a second at most.
  void refresh() {
    const Clock::time_point now = Clock::now();
    if (now - drawn_at_ < frame_interval) return;
    const double seconds = held_ ? (held_->is_empty() ? 0 : held_->seconds()) : seconds_of(now);
    const ScreenSize size = screen_size();
    is_stale_ |= size != size_ || state(seconds_of(now)) != view_.state;
    if (!is_stale_ && !is_animated_) return;
    is_stale_ = false;
    drawn_at_ = now;
    size_ = size;
    order(now);
    view_.state = state(seconds_of(now));
    view_.source = watcher_.shown();
    if (watcher_.others() > 0) view_.source += " (+" + std::to_string(watcher_.others()) + ")";
    view_.note = watcher_.note();
    view_.now = seconds;
    is_animated_ = !held_ && !live_.is_empty() && !live_.fresh(seconds).empty();
    Canvas canvas = draw_top(model(), view_, size.rows, size.columns);
    screen_.show(canvas.difference(shown_ ? &*shown_ : nullptr, view_.colours));
    shown_ = std::move(canvas);
  }

  TopWatcher watcher_;
  std::stop_token stop_;
  StopBell bell_;
  FullScreen screen_;
  TopKeys keys_;
  bool has_keys_ = false, is_left_ = false;
  bool is_stale_ = true, is_animated_ = false;
  TopModel live_;
  std::optional<TopModel> held_;
  TopView view_;
  std::int64_t layer_ = 0;  // that the user looked at last
  std::optional<Canvas> shown_;
  ScreenSize size_;
  Clock::time_point drawn_at_ = {}, ordered_at_ = {}, key_at_ = {};
};

}  // namespace

TopLook look_of_terminal() {
  const char* const ground = std::getenv("COLORFGBG");  // "15;0": text; ground
  const std::string_view colours = ground != nullptr ? ground : "";
  return {.colours = colours_of(std::getenv("TERM"), std::getenv("COLORTERM"), std::getenv("NO_COLOR")),
          .is_light = colours.ends_with(";7") || colours.ends_with(";15")};
}

Result<void> watch_on_terminal(const TopSource& source, const TopLook& look, std::stop_token stop) {
  return TopLoop(source, look, stop).run();
}

Result<TopMoment> watch_once(const TopSource& source, std::chrono::milliseconds most, std::stop_token stop) {
  TopWatcher watcher(source);
  const StopBell bell(stop);
  const Clock::time_point until = Clock::now() + most;
  bool is_ready = false;
  while (!stop.stop_requested()) {
    const Clock::time_point now = Clock::now();
    FOVEA_TRY(const std::vector<ExpertsEvent> events, watcher.go_on(now, is_ready));
    if (!events.empty()) {
      TopMoment moment{.model = {}, .source = watcher.shown()};
      for (const ExpertsEvent& event : events) moment.model.add(event, seconds_of(now));
      return moment;
    }
    if (watcher.shown().empty()) return fail(errors::server_nothing_runs());
    if (watcher.descriptor() < 0)
      return fail(phrases::name_place(watcher.shown()), errors::server_not_there());
    if (now >= until) return fail(phrases::name_place(watcher.shown()), errors::server_nothing_told());
    std::array<pollfd, 2> waits{
        pollfd{watcher.descriptor(), static_cast<short>(watcher.is_asking() ? POLLOUT : POLLIN), 0},
        pollfd{bell.descriptor(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(until - now);
    is_ready =
        ::poll(waits.data(), waits.size(), static_cast<int>(left.count())) > 0 && waits[0].revents != 0;
  }
  return fail(errors::stopped_on_request());
}

}  // namespace fovea::app
