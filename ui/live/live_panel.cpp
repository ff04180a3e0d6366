#include "ui/live/live_panel.h"

#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>

#include "ui/live/follow_view.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/number_text.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

constexpr int kTickMilliseconds = 100;
constexpr int kTicksBetweenStrips = 10, kTicksBetweenJudgements = 20;  // numbers that nobody reads faster
constexpr double kIdleSeconds = 1.5;
constexpr int kMessageMilliseconds = 8000;

}  // namespace

LivePanel::LivePanel(QWidget* parent) : QWidget(parent) {
  clock_.start();
  timer_ = new QTimer(this);
  timer_->setInterval(kTickMilliseconds);
  timer_->setTimerType(Qt::CoarseTimer);
  connect(timer_, &QTimer::timeout, this, &LivePanel::tick);
  message_timer_ = new QTimer(this);
  message_timer_->setSingleShot(true);
  build();
  connect(message_timer_, &QTimer::timeout, message_, &QLabel::hide);
  update_empty_page();
}

LivePanel::~LivePanel() = default;

void LivePanel::set_source(Source source) {
  source_ = std::move(source);
}

void LivePanel::clear_model() {
  set_model({});
}

void LivePanel::set_opening(const QString& name) {
  opening_ = name;
  update_empty_page();
}

void LivePanel::set_model(const LiveModel& model) {
  model_ = model;
  opening_.clear();
  live_.clear();
  conversations_.clear();
  intervals_.clear();
  last_timings_ = {};
  profile_uses_.clear();
  profile_hits_.clear();
  lit_conversation_.clear();
  collapsed_layers_ = 0;
  if (!replaying_) {
    viewed_.reset();
    freeze_->setChecked(false);
    follow_->clear();
    apply_model();
  }
  update_empty_page();
  refresh();
}

void LivePanel::set_conversation(const QString& key, const QString& title) {
  conversations_.set_current(key, title);
}

void LivePanel::set_answering(const QString& key, const QString& title) {
  conversations_.set_answering(key, title);
}

// What is reported are sums; a piece of text may stand for several tokens.
void LivePanel::add_timings(const Timings& so_far) {
  const std::int64_t tokens = so_far.generated_tokens - last_timings_.generated_tokens;
  const double seconds = so_far.decode_seconds - last_timings_.decode_seconds;
  const bool goes_on = tokens > 0 && seconds > 0 && last_timings_.generated_tokens > 0;
  for (std::int64_t i = 0; goes_on && i < tokens; ++i) intervals_.add(seconds / static_cast<double>(tokens));
  last_timings_ = so_far;
}

void LivePanel::set_device_memory(std::int64_t used_bytes, std::int64_t total_bytes,
                                  std::int64_t host_bytes) {
  device_used_ = used_bytes;
  device_total_ = total_bytes;
  pools_->set_device_memory(static_cast<double>(used_bytes), static_cast<double>(total_bytes),
                            static_cast<double>(host_bytes));
  update_alarms();
}

void LivePanel::set_kv_used(std::int64_t bytes) {
  kv_used_ = bytes;
}

void LivePanel::set_link(double bytes_per_s) {
  model_.link_bytes_per_s = bytes_per_s;
  if (!replaying_) traffic_->set_link(bytes_per_s);
}

void LivePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  timer_->start();
  refresh();
  Q_EMIT watchingChanged(true);
}

void LivePanel::hideEvent(QHideEvent* event) {
  timer_->stop();
  QWidget::hideEvent(event);
  Q_EMIT watchingChanged(false);
}

void LivePanel::tick() {
  ++ticks_;
  const bool is_new = source_ && source_(snapshot_);
  if (is_new) take(snapshot_, static_cast<double>(clock_.elapsed()) / 1000);
  const bool plays = playing_;  // also to its last moment
  if (plays) follow_clock();
  if (!viewed_ || plays) {
    if (is_new || plays || heatmap_->fades()) refresh_map();
    if (ticks_ % kTicksBetweenStrips == 0) refresh_strips();
    if (ticks_ % kTicksBetweenJudgements == 0) {
      refresh_judgements();
      refresh_table();
    }
  }
}

void LivePanel::add_snapshot(const Snapshot& snapshot, double seconds) {
  take(snapshot, seconds);
}

void LivePanel::refresh() {
  refresh_map();
  refresh_strips();
  refresh_judgements();
  refresh_table();
}

// Frozen is a copy: the live recording goes on behind it.
void LivePanel::set_frozen(bool frozen) {
  if (frozen == (viewed_ != nullptr)) return;
  if (!frozen) return back_to_live();
  if (live_.empty()) {
    freeze_->setChecked(false);
    return;
  }
  viewed_ = std::make_shared<const SnapshotRing>(live_);
  viewed_index_ = viewed_->end() - 1;
  cursor_.reset();
  window_cursor_.reset();
  freeze_->setChecked(true);
  set_playing(false);
  refresh();
}

void LivePanel::play(const Recording& recording, const QString& title) {
  if (!recording.ring || recording.ring->empty()) return;
  viewed_ = recording.ring;
  viewed_index_ = viewed_->first();
  play_seconds_ = viewed_->moment(viewed_index_).seconds;
  replay_model_ = recording.model;
  replay_title_ = title;
  replaying_ = true;
  cursor_.reset();
  window_cursor_.reset();
  follow_->clear();
  freeze_->setChecked(true);
  apply_model();
  update_empty_page();
  set_playing(true);
  refresh();
}

void LivePanel::back_to_live() {
  const bool other_model = replaying_;
  viewed_.reset();
  replaying_ = false;
  set_playing(false);
  cursor_.reset();
  window_cursor_.reset();
  freeze_->setChecked(false);
  if (other_model) {
    follow_->clear();
    apply_model();
  } else if (!live_.empty()) {
    follow_->reread(live_, live_.last().seconds);
  }
  update_empty_page();
  refresh();
}

void LivePanel::scrub_to(std::int64_t index) {
  if (!has_moment()) return;
  if (!viewed_) set_frozen(true);
  viewed_index_ = std::clamp(index, viewed_->first(), viewed_->end() - 1);
  play_seconds_ = shown_moment().seconds;
  follow_->reread(*viewed_, play_seconds_);
  refresh();
}

void LivePanel::set_playing(bool playing) {
  playing_ = playing && viewed_;
  if (playing_) {
    if (viewed_index_ >= viewed_->end() - 1) viewed_index_ = viewed_->first();
    play_seconds_ = shown_moment().seconds;
    if (replaying_) follow_->reread(*viewed_, play_seconds_);
  }
  play_->setText(playing_ ? QStringLiteral("❚❚") : QStringLiteral("▶"));
  play_->setAccessibleName(playing_ ? tr("Pause") : tr("Play"));
  play_->setEnabled(has_moment());
}

// Goes on by as much as the timer's step stands for at the chosen speed.
void LivePanel::follow_clock() {
  play_seconds_ += kTickMilliseconds / 1000.0 * speed_->currentData().toDouble();
  const std::int64_t last = viewed_->end() - 1;
  while (viewed_index_ < last && viewed_->moment(viewed_index_ + 1).seconds <= play_seconds_) {
    ++viewed_index_;
    cursor_.seek(*viewed_, viewed_index_);
    follow_->advance(*viewed_, viewed_index_, cursor_.frame());
  }
  if (viewed_index_ >= last) set_playing(false);
}

void LivePanel::set_hottest_first(bool on) {
  hottest_->setChecked(on);
}

void LivePanel::toggle_follow(std::int64_t unit) {
  if (has_moment()) follow_->toggle(unit, shown_ring(), shown_moment().seconds);
}

void LivePanel::choose_conversation(const QString& key) {
  lit_conversation_ = lit_conversation_ == key ? QString() : key;
  routers_->set_lit_conversation(lit_conversation_);
  heatmap_->set_lit(lit_conversation_.isEmpty() ? std::vector<std::uint8_t>()
                                                : conversations_.busiest(lit_conversation_));
}

void LivePanel::show_message(const QString& text) {
  message_->setText(text);
  message_->show();
  message_timer_->start(kMessageMilliseconds);
  QAccessibleEvent event(message_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void LivePanel::update_empty_page() {
  const bool something = has_moment();
  pages_->setCurrentIndex(something ? 1 : 0);
  if (something) return;
  empty_button_->setVisible(model_.experts > 0 && model_.policy == PolicyKind::none);
  QString text;
  if (!opening_.isEmpty()) {
    text = tr("<b>%1 is being opened.</b><br>Its experts are shown once it is in memory.")
               .arg(opening_.toHtmlEscaped());
  } else if (model_.name.isEmpty()) {
    text = tr("<b>No model is open.</b><br>Open a Mixture-of-Experts model to watch its experts at work.");
  } else if (model_.experts == 0) {
    text = tr("<b>%1 has no experts.</b><br>Every token uses all of its weights, so there is nothing to "
              "move. Open a "
              "Mixture-of-Experts model to see this panel at work.")
               .arg(model_.name.toHtmlEscaped());
  } else {
    text =
        tr("<b>Waiting for the first answer.</b><br>The map fills as soon as the model reads or writes a "
           "token.");
  }
  empty_text_->setText(text);
}

void LivePanel::update_header() {
  const Moment& moment = shown_moment();
  const Snapshot& n = moment.numbers;
  const double now = static_cast<double>(clock_.elapsed()) / 1000;
  QString state;
  if (replaying_) {
    state = tr("Replay of %1").arg(replay_title_);
  } else if (viewed_) {
    state = tr("Frozen, %1 s back").arg(number_text(live_.last().seconds - moment.seconds, 0));
  } else if (source_ && now - moment.seconds > kIdleSeconds) {
    state = tr("Idle");
  } else {
    state = tr("Live");
  }
  std::int64_t hits = n.misses + n.host_hits;
  for (const TierState& tier : n.tiers) hits += tier.hits;
  const double high =
      hits > 0 && !n.tiers.empty() ? static_cast<double>(n.tiers[0].hits) / static_cast<double>(hits) : 0;
  QStringList parts{state};
  if (state != tr("Idle")) parts += tr("%1 tok/s").arg(number_text(n.tokens_per_second));
  parts += tr("%1 bits").arg(number_text(n.mean_bits_per_weight, 2));
  if (hits > 0 && n.tiers.size() > 1)
    parts += tr("%1 at %2").arg(percent_text(high), QString::fromStdString(n.tiers[0].name));
  if (n.host_hits > 0)
    parts += tr("%1 by the processor")
                 .arg(percent_text(static_cast<double>(n.host_hits) / static_cast<double>(hits)));
  headline_->set_parts(parts);
}

void LivePanel::update_timeline() {
  const Moment& moment = shown_moment();
  const SnapshotRing& ring = shown_ring();
  const QSignalBlocker quiet(slider_);
  // The only moment is the newest one: at the right.
  const auto last = static_cast<int>(ring.end() - 1);
  slider_->setRange(std::min(static_cast<int>(ring.first()), last - 1), last);
  slider_->setValue(static_cast<int>(shown_index()));
  const double back = ring.last().seconds - moment.seconds;
  time_->setText(replaying_    ? duration_text(moment.seconds - ring.moment(ring.first()).seconds)
                 : back < 0.05 ? tr("now")
                               : QStringLiteral("−") + duration_text(back));
  play_->setEnabled(true);
}

void LivePanel::update_alarms() {
  memory_full_ =
      device_total_ > 0 && static_cast<double>(device_used_) > 0.9 * static_cast<double>(device_total_);
  QStringList alarms;
  if (collapsed_layers_ > 0) {
    alarms << tr("Router collapse in %n layer(s): the same few experts take nearly all.", nullptr,
                 static_cast<int>(collapsed_layers_));
  }
  if (memory_full_)
    alarms << tr("The device's memory is %1 full.")
                  .arg(percent_text(static_cast<double>(device_used_) / static_cast<double>(device_total_)));
  if (has_moment()) {
    const Snapshot& n = shown_moment().numbers;
    if (n.arena_used_bytes > n.arena_bytes) alarms << tr("The experts take more than their budget.");
  }
  for (QString& each : alarms) each.prepend(QStringLiteral("⚠ "));
  const QString text = alarms.join(QLatin1Char('\n'));
  if (text == alarm_->text()) return;
  alarm_->setText(text);
  alarm_->setVisible(!text.isEmpty());
  if (text.isEmpty()) return;
  QAccessibleEvent event(alarm_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

}  // namespace fovea::ui
