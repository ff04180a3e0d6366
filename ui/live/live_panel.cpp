#include "ui/live/live_panel.h"

#include <QAccessible>
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/live/expert_table.h"
#include "ui/live/expert_text.h"
#include "ui/live/expert_view.h"
#include "ui/live/follow_view.h"
#include "ui/live/gain_view.h"
#include "ui/live/gauge_view.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/story_view.h"
#include "ui/live/tour_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/icons.h"

namespace fovea::ui {
namespace {

constexpr int kTickMilliseconds = 100;
constexpr int kLargeTickMilliseconds = 180;  // so that a map of so many experts takes no more of a core
constexpr std::int64_t kLargeMap = 16'384;
// Numbers that nobody reads faster; what happens is told while it is seen.
constexpr int kTicksBetweenStrips = 10, kTicksBetweenJudgements = 20;
constexpr int kMessageMilliseconds = 8000;

bool is_held(const ShownMoment& moment) {
  return moment.state == ShownMoment::State::frozen || moment.state == ShownMoment::State::replayed;
}

}  // namespace

LivePanel::LivePanel(LiveSource& source, QWidget* parent) : QWidget(parent), source_(source) {
  timer_ = new QTimer(this);
  timer_->setInterval(kTickMilliseconds);
  timer_->setTimerType(Qt::CoarseTimer);
  connect(timer_, &QTimer::timeout, this, &LivePanel::tick);
  message_timer_ = new QTimer(this);
  message_timer_->setSingleShot(true);
  build();
  connect(message_timer_, &QTimer::timeout, message_, &QWidget::hide);
  connect(message_, &DetailedText::detailsShown, message_timer_, &QTimer::stop);  // they are read
  connect(&source_, &LiveSource::modelChanged, this, &LivePanel::show_model);
  connect(&source_, &LiveSource::momentChanged, this, &LivePanel::show_moment);
  connect(&source_, &LiveSource::measuresChanged, this, &LivePanel::show_measures);
  show_model();
}

LivePanel::~LivePanel() = default;

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
  const auto step = source_.advance(timer_->interval() / 1000.0 * speed_->currentData().toDouble());
  if (step == LiveSource::Step::held) return;
  if (step == LiveSource::Step::moved || heatmap_->fades()) refresh_map();
  if (ticks_ % kTicksBetweenStrips == 0) refresh_strips();
  if (ticks_ % kTicksBetweenJudgements == 0) {
    refresh_judgements();
    refresh_table();
  }
}

void LivePanel::show_model() {
  const ShownModel& model = source_.model();
  heatmap_->set_model(model);
  heatmap_->set_lit({});
  lit_conversation_.clear();
  routers_->set_lit_conversation({});
  routers_->set_model(model);
  traffic_->set_swaps(model.moves_experts);
  legend_->set_swaps(model.moves_experts);
  legend_->set_reading(false);
  legend_->set_cut(model.cut);
  switch_->setText(model.other == ShownModel::Other::fixed ? tr("Keep a fixed mix…")
                                                           : tr("Follow the conversation…"));
  beside_->setVisible(model.other == ShownModel::Other::fixed);
  switch_->setVisible(model.other != ShownModel::Other::none);
  table_->set_model(model);
  show_followed();
  look_at(std::nullopt);
  show_moment();
}

void LivePanel::show_moment() {
  is_held_ = update_page() && is_held(source_.moment());
  freeze_->setChecked(is_held_);
  arrange();
  if (isVisible()) refresh();
}

void LivePanel::show_measures() {
  update_alarms();
  if (source_.nothing()) return;
  const MemoryParts memory = source_.memory();
  pools_->set_memory(memory, source_.numbers());
  memory_bar_->set_memory(memory, source_.numbers());
  traffic_->set_traffic(source_.traffic(), source_.numbers());
}

void LivePanel::refresh() {
  refresh_map();
  refresh_strips();
  refresh_judgements();
  refresh_table();
}

void LivePanel::refresh_map() {
  if (source_.nothing()) return;
  const std::int64_t units = source_.numbers().layers * source_.numbers().units_per_layer;
  const int tick = units > kLargeMap ? kLargeTickMilliseconds : kTickMilliseconds;
  if (tick != timer_->interval()) timer_->setInterval(tick);
  HeatmapView::Scene scene;
  scene.frame = &source_.frame();
  for (const TierState& tier : source_.numbers().tiers) scene.bits.push_back(tier.bits_per_weight);
  scene.fresh = source_.fresh_changes();
  follow_->set_tiers(tier_texts(source_.numbers()), scene.bits);
  heatmap_->set_scene(scene);
  // From the first one on, so that the map's room does not come and go.
  if (std::ranges::any_of(scene.frame->target, [](std::uint8_t target) { return target != no_tier; }))
    legend_->set_reading(true);
  if (!scene.fresh.empty()) refresh_story();  // the words say what the map shows
  follow_->set_followed(source_.followed());
  if (const ShownMoment moment = source_.moment(); is_held(moment)) update_timeline(moment);
}

void LivePanel::refresh_strips() {
  if (source_.nothing()) return;
  const ShownMoment moment = source_.moment();
  update_header(moment);
  update_timeline(moment);
  const SnapshotNumbers& numbers = source_.numbers();
  const MemoryParts memory = source_.memory();
  traffic_->set_traffic(source_.traffic(), numbers);
  pools_->set_memory(memory, numbers);
  memory_bar_->set_memory(memory, numbers);
  refresh_story();
  legend_->set_frontier(heatmap_->has_frontier());
  show_map_title();
  refresh_expert();
  legend_->set_numbers(numbers, memory.units_on_disk, source_.frame().hot_is_recent_use);
}

void LivePanel::refresh_story() {
  if (!source_.nothing() && tour_->isHidden()) story_->set_story(source_.story());
}

void LivePanel::refresh_judgements() {
  if (source_.nothing()) return;
  const Judgement judgement = source_.judge();
  routers_->set_health(judgement.routers);
  routers_->set_conversations(judgement.conversations);
  gain_->set_gain(judgement.gain);
  const bool is_fixed = source_.model().other == ShownModel::Other::adaptive;
  advice_->setVisible(judgement.gain.verdict == GainVerdict::loses || is_fixed);
  advice_words_->setText(is_fixed ? tr("The experts keep their precision here.")
                                  : tr("A fixed mix would keep more here."));
  advice_switch_->setText(is_fixed ? tr("Follow the conversation…") : tr("Switch…"));
  const auto& tiers = source_.numbers().tiers;
  gauge_->set(judgement.gain, tiers.empty() ? 0 : tiers.back().bits_per_weight,
              tiers.empty() ? 0 : tiers.front().bits_per_weight);
  if (tour_->isHidden()) line_->set_line(source_.quality_line(), judgement.gain);
  update_alarms();
}

void LivePanel::refresh_table() {
  if (source_.nothing() || map_pages_->currentWidget() != table_view_) return;
  table_->show(source_.numbers(), source_.frame(), source_.last_changes());
}

void LivePanel::show_followed() {
  follow_->set_followed(source_.followed());
  heatmap_->set_followed(source_.followed());
}

void LivePanel::toggle_followed(std::int64_t unit) {
  source_.toggle_followed(unit);
  show_followed();
}

// From the whole model to one layer to one expert, and back.
void LivePanel::look_at(std::optional<std::int64_t> unit) {
  source_.look_at(unit);
  arrange_map();
  refresh_expert();
  if (unit) return expert_->setFocus();
  if (isVisible()) map_pages_->currentWidget()->setFocus();
  refresh_table();
}

void LivePanel::arrange_map() {
  const bool is_one = !source_.nothing() && source_.looked_at();
  const std::optional<int> layer = heatmap_->single_layer();
  map_pages_->setCurrentWidget(is_one                       ? static_cast<QWidget*>(expert_)
                               : table_button_->isChecked() ? static_cast<QWidget*>(table_view_)
                                                            : heatmap_);
  back_to_map_->setVisible(is_one || layer);
  back_to_map_->setText(is_one && layer ? tr("Layer %1").arg(layer_text(source_.model(), *layer))
                                        : tr("All layers"));
  show_map_title();
}

void LivePanel::show_map_title() {
  if (source_.nothing()) return;
  const SnapshotNumbers& numbers = source_.numbers();
  QString title;
  if (const std::optional<ExpertStory> story = source_.looked_at()) {
    title = tr("Layer %1, expert %2")
                .arg(layer_text(source_.model(), story->line.unit / units_per_layer()))
                .arg(story->line.unit % units_per_layer());
  } else {
    const std::optional<int> layer = heatmap_->single_layer();
    const QString experts =
        layer ? tr("Layer %1, %n expert(s)", nullptr, static_cast<int>(numbers.units_per_layer))
                    .arg(layer_text(source_.model(), *layer))
              : tr("%n layer(s) of %1 experts", nullptr, static_cast<int>(numbers.layers))
                    .arg(numbers.units_per_layer);
    title = heatmap_->order() == HeatOrder::by_hotness ? tr("%1, hottest first").arg(experts)
                                                       : tr("%1, by their numbers").arg(experts);
  }
  if (map_title_->text() != title) map_title_->setText(title);
}

void LivePanel::refresh_expert() {
  if (source_.nothing()) return;
  if (const std::optional<ExpertStory> story = source_.looked_at())
    expert_->set_story(*story, source_.model(), source_.numbers());
}

void LivePanel::set_hottest_first(bool on) {
  hottest_->setChecked(on);
}

void LivePanel::choose_conversation(const QString& key) {
  lit_conversation_ = lit_conversation_ == key ? QString() : key;
  routers_->set_lit_conversation(lit_conversation_);
  heatmap_->set_lit(lit_conversation_.isEmpty() ? std::vector<std::uint8_t>()
                                                : source_.busiest_experts(lit_conversation_));
}

void LivePanel::show_tour(const std::optional<TourCaption>& caption) {
  if (caption) tour_->set_caption(*caption);
  tour_->setVisible(caption.has_value());
  // The captions say what the story would, and the map needs the room.
  story_->setHidden(caption || source_.nothing() || source_.story().empty());
  if (caption) line_->hide();
  arrange();
}

void LivePanel::show_message(const QString& text, const QString& details) {
  message_->set_text(text, details);
  message_->show();
  message_timer_->start(kMessageMilliseconds);
  QAccessibleEvent event(message_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

std::int64_t LivePanel::units_per_layer() const {
  return source_.nothing() ? 1 : std::max<std::int64_t>(1, source_.numbers().units_per_layer);
}

bool LivePanel::update_page() {
  const std::optional<NothingToSee> nothing = source_.nothing();
  pages_->setCurrentIndex(nothing ? 0 : 1);
  for (QAction* action : menu_->actions())
    action->setEnabled(!nothing || action == tour_action_ || action == replay_action_);
  if (!nothing) return true;
  empty_button_->setVisible(nothing->can_choose_precision);
  const QString model = nothing->model.toHtmlEscaped();
  switch (nothing->why) {
    case NothingToSee::Why::opening:
      empty_text_->setText(
          tr("<b>%1 is being opened.</b><br>Its experts are shown once it is in memory.").arg(model));
      break;
    case NothingToSee::Why::no_model:
      empty_text_->setText(
          tr("<b>No model is open.</b><br>Open a Mixture-of-Experts model to watch its experts at work."));
      break;
    case NothingToSee::Why::no_experts:
      empty_text_->setText(
          tr("<b>%1 has no experts.</b><br>Every token uses all of its weights, so there is nothing to "
             "move. Open a "
             "Mixture-of-Experts model to see this panel at work.")
              .arg(model));
      break;
    case NothingToSee::Why::no_answer_yet:
      empty_text_->setText(
          tr("<b>Waiting for the first answer.</b><br>The map fills as soon as the model reads or writes a "
             "token."));
      break;
  }
  return false;
}

void LivePanel::update_header(const ShownMoment& moment) {
  using State = ShownMoment::State;
  const SnapshotNumbers& n = source_.numbers();
  QStringList parts;
  switch (moment.state) {
    case State::replayed:
      parts += tr("Replay of %1").arg(moment.recording);
      break;
    case State::frozen:
      parts += tr("Frozen, %1 s ago").arg(number_text(moment.seconds_behind_live, 0));
      break;
    case State::idle:
      parts += tr("Idle");
      break;
    case State::live:
      break;
  }
  if (moment.state != State::idle)
    parts += tr("%1 tokens a second").arg(number_text(n.tokens_per_second, n.tokens_per_second < 10 ? 1 : 0));
  // Beside the gauge, which weighs what is used, these would be other numbers of what seems to be the same.
  QStringList more{
      tr("All experts, used or not, have %1 bits on average").arg(number_text(n.mean_bits_per_weight, 2))};
  if (moment.high_share)
    more += tr("Uses that met %1: %2").arg(tier_text(n, 0), percent_text(*moment.high_share));
  headline_->setToolTip(more.join(QLatin1Char('\n')));
  if (moment.host_share) parts += tr("%1 by the processor").arg(percent_text(*moment.host_share));
  headline_->set_parts(parts);
}

void LivePanel::update_timeline(const ShownMoment& moment) {
  const QSignalBlocker quiet(slider_);
  // The only moment is the newest one: at the right.
  const auto last = static_cast<int>(moment.last);
  slider_->setRange(std::min(static_cast<int>(moment.first), last - 1), last);
  slider_->setValue(static_cast<int>(moment.index));
  time_->setText(moment.state == ShownMoment::State::replayed ? duration_text(moment.seconds_in)
                 : moment.seconds_back < 0.05                 ? tr("now")
                                              : QStringLiteral("−") + duration_text(moment.seconds_back));
  if (const QString name = moment.playing ? tr("Pause") : tr("Play"); name != play_->text()) {
    play_->setText(name);
    play_->setIcon(icon_of(moment.playing ? Glyph::pause : Glyph::play));
  }
  play_->setEnabled(true);
}

void LivePanel::update_alarms() {
  const Alarms raised = source_.alarms();
  QStringList alarms;
  if (raised.collapsed_layers > 0) {
    alarms << tr("Router collapse in %n layer(s): the same few experts take nearly all.", nullptr,
                 static_cast<int>(raised.collapsed_layers));
  }
  if (raised.device_full)
    alarms << tr("The device's memory is %1 full.").arg(percent_text(*raised.device_full));
  if (raised.experts_over_budget) alarms << tr("The experts take more than their budget.");
  const QString text = alarms.join(QLatin1Char('\n'));
  if (text == alarm_->text()) return;
  alarm_->setText(text);
  alarm_->setVisible(!text.isEmpty());
  if (text.isEmpty()) return;
  QAccessibleEvent event(alarm_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

}  // namespace fovea::ui
