#include "app/live/live_session.h"

#include <QPointer>
#include <numeric>

#include "app/live/measures/quality_line.h"
#include "app/live/measures/router_health.h"

namespace fovea::app {
namespace {

constexpr double kIdleSeconds = 1.5;
constexpr double kHealthSeconds = 60;  // of uses that the routers are judged by

ui::ShownModel::Other other_than(const LiveModel& model) {
  using Other = ui::ShownModel::Other;
  if (model.plan.parts.experts.size() < 2) return Other::none;
  if (moves_experts(model.policy)) return Other::fixed;
  return model.policy == PolicyKind::static_tiers ? Other::adaptive : Other::none;
}

ui::ShownModel shown(const LiveModel& model) {
  ui::ShownModel shown{.layer_numbers = model.layer_numbers,
                       .experts_per_layer = model.experts_per_layer,
                       .experts_used = model.experts_used,
                       .moves_experts = model.policy != PolicyKind::none,
                       .other = other_than(model)};
  if (model.cards.size() == 2)
    shown.cut = ui::CardCut{.rows = model.cards[0].rows,
                            .first = QString::fromStdString(model.cards[0].name),
                            .last = QString::fromStdString(model.cards[1].name)};
  return shown;
}

}  // namespace

LiveSession::LiveSession(QObject* parent) : LiveSource(parent) {
  clock_.start();
}

// --- what it is told

void LiveSession::set_model(const LiveModel& model) {
  model_ = model;
  opening_.clear();
  playhead_.clear_live();
  conversations_.clear();
  intervals_ = {};
  story_.clear();
  first_question_.clear();
  collapsed_layers_ = 0;
  fidelity_.reset();
  if (replaying()) {
    Q_EMIT momentChanged();
  } else {
    playhead_.back_to_live();
    change_model_in_view();
  }
}

void LiveSession::change_model_in_view() {
  shown_model_ = shown(model_in_view());
  followed_.clear();
  looked_at_.clear();
  Q_EMIT modelChanged();
}

void LiveSession::set_opening(const QString& name) {
  opening_ = name;
  Q_EMIT momentChanged();
}

void LiveSession::set_conversation(const QString& key, const QString& title) {
  conversations_.set_current(key, title);
}

void LiveSession::set_answering(const QString& key, const QString& title) {
  conversations_.set_answering(key, title);
}

void LiveSession::set_device_memory(std::int64_t used_bytes, std::int64_t total_bytes,
                                    std::int64_t host_bytes, const DeviceMemory& first_card) {
  measured_.device_used_bytes = used_bytes;
  measured_.device_total_bytes = total_bytes;
  measured_.host_total_bytes = host_bytes;
  measured_.first_card = first_card;
  Q_EMIT measuresChanged();
}

void LiveSession::set_kv_used(std::int64_t bytes) {
  measured_.kv_used_bytes = bytes;
}

void LiveSession::set_link(double bytes_per_s) {
  model_.link_bytes_per_s = bytes_per_s;
  Q_EMIT measuresChanged();
}

void LiveSession::add_snapshot(const Snapshot& snapshot, double seconds) {
  const SnapshotRing& live = playhead_.live();
  const bool was_empty = live.empty();
  before_ = live.last_frame();
  playhead_.add(snapshot, seconds);
  if (!was_empty && live.end() - live.first() > 1) conversations_.add(before_, live.last_frame());
  if (!held()) {
    followed_.add(live.last().seconds, live.last_frame());
    looked_at_.add(live.last().seconds, live.last_frame());
  }
  if (was_empty && !first_question_.isEmpty())
    story_.begin(std::exchange(first_question_, {}).toStdString(), live.last_frame(), live.last().numbers);
  if (was_empty) Q_EMIT momentChanged();  // not parts of it now and the others within a second
}

// --- which moment is in view

LiveSession::Step LiveSession::advance(double played_seconds) {
  const bool is_new = reader_ && reader_(snapshot_);
  if (is_new) add_snapshot(snapshot_, clock_seconds());
  if (playhead_.plays()) {  // also to its last moment
    playhead_.play_on(played_seconds, [this] {
      followed_.add(playhead_.moment().seconds, playhead_.frame());
      looked_at_.add(playhead_.moment().seconds, playhead_.frame());
    });
    Q_EMIT playedOn();
    return Step::moved;
  }
  if (held()) return Step::held;
  return is_new ? Step::moved : Step::waiting;
}

void LiveSession::play(const Recording& recording, const QString& title) {
  if (!recording.ring || recording.ring->empty()) return;
  replayed_model_ = recording.model;
  replayed_ = title;
  playhead_.replay(recording.ring);
  change_model_in_view();
}

void LiveSession::freeze() {
  playhead_.freeze();
  Q_EMIT momentChanged();
}

void LiveSession::go_to(std::int64_t index) {
  if (playhead_.empty()) return;
  playhead_.freeze();
  playhead_.go_to(index);
  reread_followed();
  Q_EMIT momentChanged();
}

void LiveSession::set_playing(bool playing) {
  if (playing) playhead_.freeze();
  playhead_.set_playing(playing);
  if (playhead_.plays()) reread_followed();  // perhaps from the start again
  Q_EMIT momentChanged();
}

void LiveSession::back_to_live() {
  const bool other_model = replaying();
  playhead_.back_to_live();
  if (other_model) return change_model_in_view();
  reread_followed();
  Q_EMIT momentChanged();
}

void LiveSession::toggle_followed(std::int64_t unit) {
  if (!playhead_.empty()) followed_.toggle(unit, playhead_.ring(), playhead_.moment().seconds);
}

void LiveSession::look_at(std::optional<std::int64_t> unit) {
  looked_at_.clear();
  if (unit && !playhead_.empty()) looked_at_.toggle(*unit, playhead_.ring(), playhead_.moment().seconds);
}

void LiveSession::reread_followed() {
  if (playhead_.empty()) return;
  followed_.reread(playhead_.ring(), playhead_.moment().seconds);
  looked_at_.reread(playhead_.ring(), playhead_.moment().seconds);
}

std::pair<std::int64_t, std::int64_t> LiveSession::tokens_of_moment() const {
  if (playhead_.empty()) return {};
  const std::int64_t index = playhead_.index(), until = numbers().tokens;
  return {index > playhead_.ring().first() ? playhead_.ring().moment(index - 1).numbers.tokens : until,
          until};
}

double LiveSession::shown_seconds() const {
  return held() || !reader_ ? playhead_.moment().seconds : clock_seconds();
}

// --- what there is to see

std::optional<ui::NothingToSee> LiveSession::nothing() const {
  using Why = ui::NothingToSee::Why;
  if (!playhead_.empty()) return std::nullopt;
  const Why why = !opening_.isEmpty()     ? Why::opening
                  : model_.name.isEmpty() ? Why::no_model
                  : model_.experts == 0   ? Why::no_experts
                                          : Why::no_answer_yet;
  return ui::NothingToSee{.why = why,
                          .model = why == Why::opening ? opening_ : model_.name,
                          .can_choose_precision = model_.experts > 0 && model_.policy == PolicyKind::none};
}

ui::Alarms LiveSession::alarms() const {
  ui::Alarms alarms{.collapsed_layers = collapsed_layers_, .device_full = measured_.full()};
  if (!playhead_.empty()) alarms.experts_over_budget = numbers().arena_used_bytes > numbers().arena_bytes;
  return alarms;
}

ui::ShownMoment LiveSession::moment() const {
  using State = ui::ShownMoment::State;
  const SnapshotRing& ring = playhead_.ring();
  const Moment& moment = playhead_.moment();
  const bool idle = reader_ && clock_seconds() - moment.seconds > kIdleSeconds;
  ui::ShownMoment shown{.state = replaying() ? State::replayed
                                 : held()    ? State::frozen
                                 : idle      ? State::idle
                                             : State::live,
                        .playing = playhead_.plays(),
                        .recording = replayed_,
                        .first = ring.first(),
                        .last = ring.end() - 1,
                        .index = playhead_.index(),
                        .seconds_in = moment.seconds - ring.moment(ring.first()).seconds,
                        .seconds_back = ring.last().seconds - moment.seconds};
  if (!playhead_.live().empty()) shown.seconds_behind_live = playhead_.live().last().seconds - moment.seconds;
  const SnapshotNumbers& n = moment.numbers;
  const auto uses = static_cast<double>(uses_of_experts(n));
  if (uses > 0 && n.tiers.size() > 1) shown.high_share = static_cast<double>(n.tiers[0].hits) / uses;
  if (n.host_hits > 0) shown.host_share = static_cast<double>(n.host_hits) / uses;
  return shown;
}

std::vector<ui::FreshChange> LiveSession::fresh_changes() const {
  return app::fresh_changes(playhead_.ring(), playhead_.moment().seconds, shown_seconds());
}

std::vector<ui::UnitChange> LiveSession::last_changes() const {
  return playhead_.ring().last_changes(playhead_.moment().seconds);
}

std::optional<ui::ExpertStory> LiveSession::looked_at() {
  const ui::FollowedExperts& lines = looked_at_.lines();
  if (lines.experts.empty() || playhead_.empty()) return std::nullopt;
  ui::ExpertStory story{.line = lines.experts.front(), .until = lines.until};
  const std::int64_t unit = story.line.unit;
  const MapFrame& frame = playhead_.frame();
  if (unit >= std::ssize(frame.uses)) return std::nullopt;
  const auto layer = std::span(frame.uses)
                         .subspan(static_cast<std::size_t>(unit - unit % frame.units_per_layer),
                                  static_cast<std::size_t>(frame.units_per_layer));
  const std::uint32_t uses = frame.uses[static_cast<std::size_t>(unit)];
  story.uses = uses;
  story.layer_uses = std::accumulate(layer.begin(), layer.end(), std::int64_t{0});
  story.rank = 1 + std::ranges::count_if(layer, [uses](std::uint32_t other) { return other > uses; });
  story.changes = playhead_.ring().changes_of(unit, playhead_.moment().seconds);
  return story;
}

ui::Traffic LiveSession::traffic() const {
  return {.series = traffic_series(playhead_.ring(), shown_seconds()),
          .between_tokens = replaying() ? ui::TokenPercentiles{} : intervals_.percentiles(),
          .link_bytes_per_s = model_in_view().link_bytes_per_s};
}

ui::MemoryParts LiveSession::memory() {
  const MapFrame& frame = playhead_.frame();
  const LiveModel& model = model_in_view();
  const std::int64_t experts =
      std::accumulate(model.experts_per_layer.begin(), model.experts_per_layer.end(), std::int64_t{0});
  return memory_parts(model.plan, numbers(), frame, experts > 0 ? experts : std::ssize(frame.tier), measured_,
                      model.cards);
}

// --- what it says of routers and policy

// In the last minute before the moment in view.
std::vector<std::uint32_t> LiveSession::uses_lately() {
  std::vector<std::uint32_t> uses = playhead_.frame().uses;
  if (const MapFrame* before = playhead_.frame_before(kHealthSeconds))
    for (std::size_t unit = 0; unit < uses.size(); ++unit) uses[unit] -= before->uses[unit];
  return uses;
}

ui::Judgement LiveSession::judge() {
  const LiveModel& model = model_in_view();
  const MapFrame& frame = playhead_.frame();
  ui::Judgement judgement;
  const std::vector<std::uint32_t> lately = uses_lately();
  judgement.routers = router_health({.lately = lately,
                                     .since_start = frame.uses,
                                     .calibrated = model.calibrated_uses,
                                     .units_per_layer = frame.units_per_layer,
                                     .experts = model.experts_per_layer,
                                     .used = model.experts_used});
  collapsed_layers_ = judgement.routers.collapsed;
  judgement.gain = policy_gain(model.policy, 0, {});
  if (!playhead_.empty()) {
    judgement.gain = policy_gain(model.policy, numbers().tiers.size(), numbers().quality);
    judgement.gain.bits_per_use = bits_per_use(numbers().tiers, numbers().misses);
    judgement.gain.calibration_part = numbers().calibration_part;
  }
  if (replaying()) return judgement;
  judgement.conversations = conversations_.rows();
  judgement.routers.fidelity = fidelity_;
  return judgement;
}

ui::QualityLine LiveSession::quality_line() const {
  if (playhead_.empty()) return {};
  return app::quality_line(model_in_view().policy, playhead_.ring(), playhead_.index(),
                           replaying() ? std::deque<ui::Chapter>() : story_.chapters());
}

void LiveSession::begin_chapter(const QString& shown) {
  const SnapshotRing& live = playhead_.live();
  if (live.empty()) {
    first_question_ = shown;
  } else {
    story_.begin(shown.toStdString(), live.last_frame(), live.last().numbers);
  }
}

std::vector<ui::Chapter> LiveSession::story() {
  if (replaying()) return {};
  if (const SnapshotRing& live = playhead_.live(); !live.empty())
    story_.go_on(live.last_frame(), live.last().numbers);
  return {story_.chapters().begin(), story_.chapters().end()};
}

std::vector<std::uint8_t> LiveSession::busiest_experts(const QString& conversation) const {
  return conversations_.busiest(conversation);
}

std::function<void(const QString& path)> LiveSession::saver(SaveAs format, const QImage& picture) {
  LiveExport data{.format = format, .picture = picture, .ring = {}, .index = 0, .model = model_in_view()};
  if (format != SaveAs::png) {
    data.ring = playhead_.copy();
    data.index = playhead_.index();
  }
  return [session = QPointer(this), data](const QString& path) {
    if (session) Q_EMIT session->exportRequested(path, data);
  };
}

}  // namespace fovea::app
