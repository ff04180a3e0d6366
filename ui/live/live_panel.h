// The live panel: what the model's experts do while it talks. It goes into a dock or stands alone, and asks
// its source for what there is to draw with its own timer, only while it is visible.
#pragma once

#include <QWidget>

#include "ui/live/live_source.h"

class QAction;
class QComboBox;
class QLabel;
class QMenu;
class QPushButton;
class QSlider;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTimer;
class QToolButton;
class QVBoxLayout;

namespace fovea::ui {

class DetailedText;
class ExpertTable;
class ExpertView;
class FollowView;
class GainView;
class GaugeView;
class Headline;
class HeatmapView;
class LegendView;
class PoolsView;
class QualityLineView;
class RouterView;
class StoryView;
class TourView;
class TrafficView;
struct TourCaption;

class LivePanel : public QWidget {
  Q_OBJECT

 public:
  // The source must live longer.
  explicit LivePanel(LiveSource& source, QWidget* parent = nullptr);
  ~LivePanel() override;

  void set_hottest_first(bool on);  // orders each layer's experts
  // Asks before the switch to a fixed mix, or from it; `possible`: else it only says why not.
  void confirm_switch(bool to_fixed, const QString& what_it_takes, bool possible);
  // One line under the map for a while: what became of an export, why a file could not be read.
  void show_message(const QString& text, const QString& details = {});

  HeatmapView& heatmap() { return *heatmap_; }
  TourView& tour() { return *tour_; }
  void show_tour(const std::optional<TourCaption>& caption);  // nothing: none is under way
  // Draws what it shows now, also while hidden.
  void refresh();

  QSize sizeHint() const override;

  QMenu& commands() { return *menu_; }

 Q_SIGNALS:
  void watchingChanged(bool watching);  // it is seen, or no longer
  void hottestFirstChosen(bool on);
  // To a fixed mix, also from the sentence that says it would do as well; from one, to a policy that follows
  // the conversation. Say what it takes with confirm_switch().
  void switchPolicyRequested();
  void switchPolicyConfirmed();
  void lookInsideRequested();       // into the answers' tokens; or no longer
  void choosePrecisionRequested();  // where no policy is at work: how experts are kept
  // A recording (.jsonl) or a trace of fovea trace: read it on another thread, then let the source show it.
  void replayRequested(const QString& path);

  void tourRequested();
  void besideRequested();  // one question with adaptive and with fixed experts

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // live_panel_build.cpp
  void build();
  QWidget* make_header();
  QWidget* make_story();
  QWidget* make_map();
  QWidget* make_map_tools();
  QAction* add_to_menu(QToolButton& tool, QAction* before);
  QWidget* make_sections();
  QWidget* make_timeline();
  QWidget* make_empty_page();
  void add_section(QVBoxLayout* layout, const QString& title, QWidget* view);
  void show_details(bool shown);
  void arrange();
  void ask_export(LiveSource::SaveAs format);
  void ask_replay();

  // live_panel.cpp
  void tick();
  void show_model();
  void show_moment();
  void show_measures();
  bool update_page();  // false: there is nothing to see
  std::int64_t units_per_layer() const;
  void update_header(const ShownMoment& moment);
  void update_timeline(const ShownMoment& moment);
  void update_alarms();
  void refresh_map();
  void refresh_strips();
  void refresh_story();
  void refresh_judgements();
  void refresh_table();
  void show_followed();
  void toggle_followed(std::int64_t unit);
  void look_at(std::optional<std::int64_t> unit);
  void arrange_map();
  void refresh_expert();
  void show_map_title();
  void choose_conversation(const QString& key);

  LiveSource& source_;
  QTimer* timer_;
  int ticks_ = 0;
  bool is_held_ = false, was_wide_ = false;
  QString lit_conversation_;

  QMenu* menu_;
  QAction *switch_, *beside_, *tour_action_, *replay_action_, *details_action_;
  QStackedWidget* pages_;
  QLabel* empty_text_;
  QWidget* empty_button_;
  Headline* headline_;
  QLabel* alarm_ = nullptr;
  DetailedText* message_;
  QToolButton* freeze_;
  QSplitter* splitter_;
  QStackedWidget* map_pages_;
  HeatmapView* heatmap_;
  QTableView* table_view_;
  ExpertTable* table_;
  ExpertView* expert_;
  LegendView* legend_;
  FollowView* follow_;
  QToolButton *back_to_map_, *hottest_, *table_button_;
  PoolsView* pools_;
  TrafficView* traffic_;
  RouterView* routers_;
  GainView* gain_;
  GaugeView* gauge_;
  QualityLineView* line_;
  StoryView* story_;
  TourView* tour_;
  PoolsView* memory_bar_;
  QLabel *subtitle_, *map_title_, *advice_words_;
  QPushButton* advice_switch_;
  QWidget *advice_, *tools_, *timeline_, *story_page_, *details_page_;
  QToolButton *details_, *live_;
  QSlider* slider_;
  QLabel* time_;
  QToolButton* play_;
  QComboBox* speed_;
  QTimer* message_timer_;
};

}  // namespace fovea::ui
