// The live panel: what the model's experts do while it talks. It goes into a dock or stands alone, asks for
// snapshots with its own timer only while it is visible, keeps the last minutes, and can be frozen, scrubbed
// and fed with a recording.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <functional>
#include <memory>

#include "engine/api/request.h"
#include "engine/api/snapshot.h"
#include "ui/live/conversation_uses.h"
#include "ui/live/live_model.h"
#include "ui/live/recording.h"
#include "ui/live/snapshot_ring.h"
#include "ui/live/traffic_series.h"

class QAction;
class QComboBox;
class QLabel;
class QSlider;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTimer;
class QToolButton;
class QVBoxLayout;

namespace fovea::ui {

class ExpertTable;
class FollowView;
class GainView;
class Headline;
class HeatmapView;
class LegendView;
class PoolsView;
class RouterView;
class TrafficView;

class LivePanel : public QWidget {
  Q_OBJECT

 public:
  // Gives the newest snapshot, or false when there is no new one. Called on the GUI thread ten times a second
  // while the panel is visible: it must return at once (Engine::read_snapshot does; where the engine may be
  // exchanged meanwhile, try its lock and return false).
  using Source = std::function<bool(Snapshot&)>;

  explicit LivePanel(QWidget* parent = nullptr);
  ~LivePanel() override;

  void set_source(Source source);
  // A model was loaded: forgets the one before. A model without experts shows why there is nothing to see.
  void set_model(const LiveModel& model);
  void clear_model();
  void set_opening(const QString& name);  // of a model that is being loaded, until set_model or clear_model

  // The one in view, for which uses count from now on; an empty key: none.
  void set_conversation(const QString& key, const QString& title);
  // While another one is answered, they count for that; an empty key: none is.
  void set_answering(const QString& key, const QString& title);
  // Of the answer in progress, whenever they arrive: the times between tokens come from them.
  void add_timings(const Timings& so_far);
  // Every program's; total 0: unknown. `host_bytes`: of main memory in all, where the device has its own.
  void set_device_memory(std::int64_t used_bytes, std::int64_t total_bytes, std::int64_t host_bytes = 0);
  void set_kv_used(std::int64_t bytes);  // negative: unknown; shown with the next snapshot
  void set_link(double bytes_per_s);     // measured later than the model was opened; forgotten with it

  // Without a source: one moment, in seconds that do not fall.
  void add_snapshot(const Snapshot& snapshot, double seconds);
  // Shows a recording instead of the live model, until back_to_live().
  void play(const Recording& recording, const QString& title);
  void back_to_live();
  void set_hottest_first(bool on);  // orders each layer's experts
  // Asks before the switch to a fixed mix; `possible`: else it only says why not.
  void confirm_switch(const QString& what_it_takes, bool possible);
  // One line under the map for a while: what became of an export, why a file could not be read.
  void show_message(const QString& text);

  bool frozen() const { return viewed_ != nullptr; }
  bool replaying() const { return replaying_; }
  bool collapse_alarm() const { return collapsed_layers_ > 0; }
  bool memory_alarm() const { return memory_full_; }
  std::int64_t device_total_bytes() const { return device_total_; }
  double link_bytes_per_s() const { return model_.link_bytes_per_s; }
  const SnapshotRing& ring() const { return live_; }
  HeatmapView& heatmap() { return *heatmap_; }
  // Draws what it shows now, also while hidden.
  void refresh();

  QSize sizeHint() const override;

 Q_SIGNALS:
  void watchingChanged(bool watching);  // it is seen, or no longer
  void hottestFirstChosen(bool on);
  void switchPolicyRequested();  // to a fixed mix, from the sentence that says it would do as well:
                                 // say what it takes with confirm_switch()
  void switchPolicyConfirmed();
  void choosePrecisionRequested();  // where no policy is at work: how experts are kept
  // The file is chosen; write it on another thread and say what came of it with show_message().
  void exportRequested(const QString& path, const fovea::ui::LiveExport& data);
  // A recording (.jsonl) or a trace of fovea trace: read it on another thread, then play().
  void replayRequested(const QString& path);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  // live_panel_build.cpp
  void build();
  QWidget* make_header();
  QWidget* make_map();
  QWidget* make_map_tools();
  QWidget* make_sections();
  QWidget* make_timeline();
  QWidget* make_empty_page();
  void add_section(QVBoxLayout* layout, const QString& title, QWidget* view);
  void arrange();
  void ask_export(LiveExport::Kind kind);

  // live_panel.cpp
  void tick();
  void set_frozen(bool frozen);
  void scrub_to(std::int64_t index);
  void set_playing(bool playing);
  void follow_clock();
  void update_empty_page();
  void update_header();
  void update_timeline();
  void update_alarms();
  void toggle_follow(std::int64_t unit);
  void choose_conversation(const QString& key);

  // live_panel_data.cpp
  const SnapshotRing& shown_ring() const { return viewed_ ? *viewed_ : live_; }
  std::int64_t shown_index() const;
  bool has_moment() const;
  const Moment& shown_moment() const { return shown_ring().moment(shown_index()); }
  double shown_seconds() const;  // the moment's; live it is the clock's, which goes on while the engine idles
  const MapFrame& shown_frame();
  const LiveModel& shown_model() const { return replaying_ ? replay_model_ : model_; }
  void take(const Snapshot& snapshot, double seconds);
  void refresh_map();
  void refresh_strips();
  void refresh_judgements();
  void refresh_table();
  void keep_profile();
  void apply_model();

  Source source_;
  LiveModel model_, replay_model_;
  SnapshotRing live_;
  std::shared_ptr<const SnapshotRing> viewed_;  // frozen or replayed; null: the live one
  std::int64_t viewed_index_ = 0;
  bool replaying_ = false, playing_ = false;
  double play_seconds_ = 0;
  QString replay_title_;
  QString opening_;
  Snapshot snapshot_;  // read into again and again
  MapFrame before_;
  FrameCursor cursor_, window_cursor_;
  QElapsedTimer clock_;
  QTimer* timer_;
  int ticks_ = 0;

  ConversationUses conversations_;
  QString lit_conversation_;
  TokenIntervals intervals_;
  Timings last_timings_;
  std::vector<std::uint32_t> profile_uses_;  // what was used when the profile was complete
  std::vector<std::int64_t> profile_hits_;
  std::int64_t device_used_ = 0, device_total_ = 0, kv_used_ = -1;
  std::int64_t collapsed_layers_ = 0;
  bool memory_full_ = false;

  QStackedWidget* pages_;
  QLabel* empty_text_;
  QWidget* empty_button_;
  Headline* headline_;
  QLabel* alarm_ = nullptr;
  QLabel* message_;
  QToolButton* freeze_;
  QSplitter* splitter_;
  QStackedWidget* map_pages_;
  HeatmapView* heatmap_;
  QTableView* table_view_;
  ExpertTable* table_;
  LegendView* legend_;
  FollowView* follow_;
  QToolButton *all_layers_, *hottest_;
  PoolsView* pools_;
  TrafficView* traffic_;
  RouterView* routers_;
  GainView* gain_;
  QSlider* slider_;
  QLabel* time_;
  QToolButton* play_;
  QComboBox* speed_;
  QTimer* message_timer_;
};

}  // namespace fovea::ui
