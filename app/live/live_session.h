// What the live panel shows: the last minutes of the model that is open, or a recording, and what they say of
// its routers and its policy.
#pragma once

#include <QElapsedTimer>
#include <functional>

#include "app/live/conversation_uses.h"
#include "app/live/followed.h"
#include "app/live/measures/memory_parts.h"
#include "app/live/playhead.h"
#include "app/live/measures/policy_gain.h"
#include "app/live/recording.h"
#include "app/live/measures/story.h"
#include "app/live/measures/traffic_series.h"
#include "ui/live/live_source.h"

namespace fovea::app {

class LiveSession : public ui::LiveSource {
  Q_OBJECT

 public:
  // Gives the newest snapshot, or false when there is no new one. Called on the GUI thread ten times a second
  // while the panel is visible: it must return at once (Engine::read_snapshot does; where the engine may be
  // exchanged meanwhile, try its lock and return false).
  using SnapshotReader = std::function<bool(Snapshot&)>;

  explicit LiveSession(QObject* parent = nullptr);

  void set_reader(SnapshotReader reader) { reader_ = std::move(reader); }
  // A model was loaded: forgets the one before. A model without experts has nothing to show.
  void set_model(const LiveModel& model);
  void clear_model() { set_model({}); }
  void set_opening(const QString& name);  // of a model that is being loaded, until set_model or clear_model

  // The one in view, for which uses count from now on; an empty key: none.
  void set_conversation(const QString& key, const QString& title);
  // While another one is answered, they count for that; an empty key: none is.
  void set_answering(const QString& key, const QString& title);
  // A question is asked: what happens from now on is told as its chapter. `shown`: its first words.
  void begin_chapter(const QString& shown);
  void add_timings(const Timings& so_far) { intervals_.add_timings(so_far); }
  // Every program's; total 0: unknown. `host_bytes`: of main memory in all, where the device has its own.
  // `first_card`: of two the other one.
  void set_device_memory(std::int64_t used_bytes, std::int64_t total_bytes, std::int64_t host_bytes = 0,
                         const DeviceMemory& first_card = {});
  void set_kv_used(std::int64_t bytes);  // negative: unknown; shown with the next numbers
  // Measured of the model that is open; forgotten with it.
  void set_fidelity(const std::optional<ui::RoutingFidelity>& fidelity) { fidelity_ = fidelity; }
  void set_link(double bytes_per_s);  // measured later than the model was opened; forgotten with it

  // Without a reader: one moment, in seconds that do not fall.
  void add_snapshot(const Snapshot& snapshot, double seconds);
  // Shows a recording instead of the live model, until back_to_live().
  void play(const Recording& recording, const QString& title);

  bool held() const { return playhead_.held(); }
  bool replaying() const { return playhead_.replays(); }
  std::int64_t device_total_bytes() const { return measured_.device_total_bytes; }
  // What passes had read and written before the moment in view, and until then (Snapshot::tokens).
  std::pair<std::int64_t, std::int64_t> tokens_of_moment() const;
  double link_bytes_per_s() const { return model_.link_bytes_per_s; }
  const SnapshotRing& ring() const { return playhead_.live(); }

  Step advance(double played_seconds) override;
  std::optional<ui::NothingToSee> nothing() const override;
  const ui::ShownModel& model() const override { return shown_model_; }
  ui::Alarms alarms() const override;
  ui::ShownMoment moment() const override;
  const SnapshotNumbers& numbers() const override { return playhead_.moment().numbers; }
  const MapFrame& frame() override { return playhead_.frame(); }
  std::vector<ui::FreshChange> fresh_changes() const override;
  std::vector<ui::UnitChange> last_changes() const override;
  const ui::FollowedExperts& followed() const override { return followed_.lines(); }
  std::optional<ui::ExpertStory> looked_at() override;
  ui::Traffic traffic() const override;
  ui::MemoryParts memory() override;
  ui::Judgement judge() override;
  ui::QualityLine quality_line() const override;
  std::vector<ui::Chapter> story() override;
  std::vector<std::uint8_t> busiest_experts(const QString& conversation) const override;
  void freeze() override;
  void go_to(std::int64_t index) override;
  void set_playing(bool playing) override;
  void back_to_live() override;
  void toggle_followed(std::int64_t unit) override;
  void look_at(std::optional<std::int64_t> unit) override;
  std::function<void(const QString& path)> saver(SaveAs format, const QImage& picture) override;

 Q_SIGNALS:
  void playedOn();  // by advance(): another moment of those that are held is in view
  // Write it on another thread.
  void exportRequested(const QString& path, const fovea::app::LiveExport& data);

 private:
  double clock_seconds() const { return static_cast<double>(clock_.elapsed()) / 1000; }
  // The moment's; live it is the clock's, which goes on while the engine idles.
  double shown_seconds() const;
  const LiveModel& model_in_view() const { return replaying() ? replayed_model_ : model_; }
  void change_model_in_view();
  void reread_followed();
  std::vector<std::uint32_t> uses_lately();

  SnapshotReader reader_;
  LiveModel model_, replayed_model_;
  QString opening_, replayed_;  // names
  ui::ShownModel shown_model_;  // of the model in view

  Playhead playhead_;
  QElapsedTimer clock_;
  Snapshot snapshot_;  // read into again and again
  MapFrame before_;

  Followed followed_, looked_at_;
  ConversationUses conversations_;
  TokenIntervals intervals_;
  Story story_;
  QString first_question_;  // asked before there was a moment to begin its chapter with
  MeasuredMemory measured_;
  std::optional<ui::RoutingFidelity> fidelity_;
  std::int64_t collapsed_layers_ = 0;  // when it was judged last
};

}  // namespace fovea::app
