// The live panel's widgets and how they stand: below one another in a narrow dock, side by side where there
// is room.
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/live/expert_table.h"
#include "ui/live/expert_text.h"
#include "ui/live/expert_view.h"
#include "ui/live/follow_view.h"
#include "ui/live/gain_view.h"
#include "ui/live/gauge_view.h"
#include "ui/live/headline.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/live_panel.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/story_view.h"
#include "ui/live/tour_view.h"
#include "ui/live/traffic_view.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/style.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

QToolButton* make_button(QWidget* parent, const QString& text, const QString& why, bool checkable = false) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(why);
  button->setCheckable(checkable);
  return button;
}

}  // namespace

QSize LivePanel::sizeHint() const {
  return {panel_width, fontMetrics().height() * 40};
}

void LivePanel::build() {
  setAccessibleName(tr("Experts"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(make_empty_page());
  auto* page = new QWidget(pages_);
  auto* content = new QVBoxLayout(page);
  // Flat buttons reach into the margins, so that their words begin and end where all else does.
  const int reach = inset_of_words(*this);
  content->setContentsMargins(space::wide - reach, 0, space::wide - reach, space::close);
  content->setSpacing(space::close);
  content->addWidget(make_header());
  auto* inside = new QWidget(page);
  auto* body = new QVBoxLayout(inside);
  body->setContentsMargins(reach, 0, reach, 0);
  body->setSpacing(space::close);
  content->addWidget(inside, 1);
  const int margin = space::tight;
  alarm_ = new QLabel(page);
  alarm_->setObjectName(QStringLiteral("alarm"));
  alarm_->setWordWrap(true);
  alarm_->setMargin(margin / 2 + 2);
  alarm_->setAutoFillBackground(true);
  tint(*alarm_, QPalette::Window, error_background);
  alarm_->setAccessibleName(tr("Alarm"));
  alarm_->setToolTip(
      tr("A router has collapsed when the same few experts serve nearly every token, now and over many "
         "subjects: those of the calibration, or, without one, all since the model was opened. An answer "
         "about one subject also uses only a few experts; that is no cause for alarm."));
  alarm_->hide();
  body->addWidget(alarm_);
  splitter_ = new QSplitter(Qt::Horizontal, page);
  splitter_->setChildrenCollapsible(false);
  splitter_->addWidget(story_page_ = make_story());
  splitter_->addWidget(details_page_ = make_sections());
  splitter_->setStretchFactor(0, 1);
  splitter_->setStretchFactor(1, 0);
  body->addWidget(splitter_, 1);
  message_ = new DetailedText(page);
  message_->setObjectName(QStringLiteral("panelMessage"));
  message_->hide();
  body->addWidget(message_);
  body->addWidget(timeline_ = make_timeline());
  details_ = new QToolButton(page);
  details_->setObjectName(QStringLiteral("details"));
  details_->setText(tr("Details"));
  details_->setToolTip(tr("Memory, traffic, routers and the time line"));
  details_->setCheckable(true);
  details_->setAutoRaise(true);
  details_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  details_->setIcon(icon_of(Glyph::next));
  connect(details_, &QToolButton::toggled, this, &LivePanel::show_details);
  details_action_ = add_to_menu(*details_, menu_->actions().constFirst());
  auto* change = new QToolButton(page);
  change->setObjectName(QStringLiteral("changeMemory"));
  change->setText(tr("Change the memory…"));
  change->setToolTip(tr("How much memory the model may take, and how experts are kept in it"));
  change->setAutoRaise(true);
  connect(change, &QToolButton::clicked, this, &LivePanel::choosePrecisionRequested);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(0, 0, 0, 0);
  foot->addWidget(details_);
  foot->addStretch(1);
  foot->addWidget(change);
  content->addLayout(foot);
  pages_->addWidget(page);
  tour_ = new TourView(this);
  tour_->hide();
  auto* tour_room = new QVBoxLayout;
  tour_room->setContentsMargins(space::wide, space::close, space::wide, 0);
  tour_room->addWidget(tour_);
  layout->addLayout(tour_room);
  layout->addWidget(pages_, 1);
  heatmap_->describe = [this](std::int64_t unit, bool rich) {
    if (source_.nothing()) return QString();
    const MapFrame& frame = source_.frame();
    if (unit >= static_cast<std::int64_t>(frame.size())) return QString();
    const UnitChange change = source_.last_changes()[static_cast<std::size_t>(unit)];
    return expert_text(source_.model(), source_.numbers(), frame, unit, change, rich);
  };
  follow_->set_names([this](std::int64_t unit) {
    const std::int64_t width = units_per_layer();
    return tr("Layer %1, expert %2").arg(layer_text(source_.model(), unit / width)).arg(unit % width);
  });
}

QWidget* LivePanel::make_header() {
  auto* header = new QWidget(this);
  auto* layout = new QHBoxLayout(header);
  const int reach = inset_of_words(*this);
  // The title stands on the line of the conversation's, and the icon ends where all else does.
  layout->setContentsMargins(reach, space::hair, reach - (control_height - icon_size) / 2, 0);
  auto* title = new QLabel(tr("Experts"), header);
  set_type(*title, Type::text, true);
  subtitle_ = new QLabel(tr("each token uses a few of them"), header);
  set_type(*subtitle_, Type::hint);
  subtitle_->setForegroundRole(QPalette::PlaceholderText);
  subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  headline_ = new Headline(header);
  headline_->setObjectName(QStringLiteral("headline"));
  headline_->setAccessibleName(tr("Summary"));
  headline_->setToolTip(
      tr("Bits per weight: the mean precision of the experts. Uses: how often a token was served by "
         "an expert at the highest tier, since the model was loaded."));
  auto* more = icon_button(Glyph::more, tr("Save, replay, zoom"), header);
  more->setObjectName(QStringLiteral("panelMore"));
  more->setPopupMode(QToolButton::InstantPopup);
  menu_ = new QMenu(tr("Experts"), more);
  auto* menu = menu_;
  menu->addAction(tr("Save the picture (PNG)…"), this, [this] { ask_export(LiveSource::SaveAs::png); });
  menu->addAction(tr("Save the table (CSV)…"), this, [this] { ask_export(LiveSource::SaveAs::csv); });
  menu->addAction(tr("Save the last minutes (JSON lines)…"), this,
                  [this] { ask_export(LiveSource::SaveAs::json_lines); });
  menu->addSeparator();
  menu->addAction(tr("Zoom in (+ or the wheel)"), this, [this] { heatmap_->zoom(2); });
  menu->addAction(tr("Zoom out (−)"), this, [this] { heatmap_->zoom(0.5); });
  menu->addAction(tr("Whole map (0)"), this, [this] { heatmap_->zoom(0); });
  menu->addAction(tr("One layer or all (L)"), this, [this] {
    const auto layer = static_cast<int>(heatmap_->current_unit().value_or(0) / units_per_layer());
    heatmap_->show_layer(heatmap_->single_layer() ? std::nullopt : std::optional(layer));
  });
  menu->addAction(tr("One expert (E)"), this, [this] { look_at(heatmap_->current_unit().value_or(0)); });
  menu->addSeparator();
  tour_action_ = menu->addAction(tr("Take the tour"), this, &LivePanel::tourRequested);
  menu->addAction(tr("Look inside the answers"), this, &LivePanel::lookInsideRequested)
      ->setObjectName(QStringLiteral("panelLookInside"));
  beside_ = menu->addAction(tr("Fixed and adaptive side by side…"), this, &LivePanel::besideRequested);
  switch_ = menu->addAction({}, this, &LivePanel::switchPolicyRequested);
  switch_->setObjectName(QStringLiteral("switchAction"));
  menu->addAction(tr("Change the memory…"), this, &LivePanel::choosePrecisionRequested);
  menu->addSeparator();
  replay_action_ = menu->addAction(tr("Replay a recording…"), this, &LivePanel::ask_replay);
  menu->addAction(tr("Back to live"), &source_, &LiveSource::back_to_live);
  more->setMenu(menu);
  layout->setSpacing(space::close);
  layout->addWidget(title, 0, Qt::AlignVCenter);
  layout->addWidget(subtitle_, 1, Qt::AlignVCenter);
  layout->addWidget(headline_, 1, Qt::AlignVCenter);
  layout->addWidget(more, 0, Qt::AlignVCenter);
  return header;
}

// Is it good, compared with what, what happened, where, and what it takes.
QWidget* LivePanel::make_story() {
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::close);
  gauge_ = new GaugeView(page);
  line_ = new QualityLineView(page);
  line_->hide();
  story_ = new StoryView(page);
  memory_bar_ = new PoolsView(page);
  memory_bar_->setObjectName(QStringLiteral("memoryBar"));
  memory_bar_->set_brief(true);
  // Where following the conversation does not pay; and the way back from a mix that is fixed.
  advice_ = new QWidget(page);
  auto* advice = new QHBoxLayout(advice_);
  advice->setContentsMargins(0, 0, 0, 0);
  advice_words_ = new QLabel(advice_);
  advice_words_->setObjectName(QStringLiteral("adviceWords"));
  advice_words_->setWordWrap(true);
  advice_switch_ = new QPushButton(advice_);
  advice_switch_->setObjectName(QStringLiteral("adviceSwitch"));
  connect(advice_switch_, &QPushButton::clicked, this, &LivePanel::switchPolicyRequested);
  advice->addWidget(advice_words_, 1);
  advice->addWidget(advice_switch_);
  advice_->hide();
  layout->addWidget(gauge_);
  layout->addWidget(line_);
  layout->addWidget(advice_);
  layout->addWidget(story_);
  layout->addWidget(make_map(), 1);
  layout->addWidget(memory_bar_);
  return page;
}

QWidget* LivePanel::make_map_tools() {
  auto* tools = new QWidget(this);
  auto* layout = new QHBoxLayout(tools);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::hair);
  freeze_ = make_button(tools, tr("Freeze"),
                        tr("Hold the picture still; the recording goes on (Space on the time line)"), true);
  freeze_->setObjectName(QStringLiteral("freeze"));
  connect(freeze_, &QToolButton::clicked, this,
          [this](bool on) { on ? source_.freeze() : source_.back_to_live(); });
  hottest_ = make_button(tools, tr("Hottest first"),
                         tr("Order each layer's experts by hotness instead of by index"), true);
  hottest_->setObjectName(QStringLiteral("hottestFirst"));
  hottest_->setChecked(true);
  connect(hottest_, &QToolButton::toggled, this, [this](bool on) {
    heatmap_->set_order(on ? HeatOrder::by_hotness : HeatOrder::by_index);
    Q_EMIT hottestFirstChosen(on);
  });
  auto* textures = make_button(
      tools, tr("Hatched"),
      tr("Mark the precisions with patterns too, so that they can be told apart without colours"), true);
  textures->setObjectName(QStringLiteral("patterns"));
  connect(textures, &QToolButton::toggled, this, [this](bool on) {
    heatmap_->set_textures(on);
    legend_->set_textures(on);
  });
  auto* table = table_button_ = make_button(tools, tr("Table"), tr("The same data as a table"), true);
  table->setObjectName(QStringLiteral("table"));
  connect(table, &QToolButton::toggled, this, [this](bool on) {
    look_at(std::nullopt);
    legend_->setVisible(!on);
    refresh_table();
  });
  layout->addWidget(freeze_);
  layout->addWidget(hottest_);
  layout->addWidget(textures);
  layout->addStretch(1);
  layout->addWidget(table);
  // Where there is little room they stand in the panel's menu alone.
  QAction* const first = menu_->actions().constFirst();
  for (QToolButton* tool : {freeze_, hottest_, textures, table}) add_to_menu(*tool, first);
  menu_->insertSeparator(first);
  return tools;
}

// What is switched with a button, too.
QAction* LivePanel::add_to_menu(QToolButton& tool, QAction* before) {
  auto* action = new QAction(tool.text(), menu_);
  action->setCheckable(true);
  action->setChecked(tool.isChecked());
  connect(action, &QAction::triggered, &tool, &QToolButton::click);
  connect(&tool, &QToolButton::toggled, action, &QAction::setChecked);
  menu_->insertAction(before, action);
  return action;
}

QWidget* LivePanel::make_map() {
  auto* box = new QWidget(this);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::tight);
  auto* caption = new QHBoxLayout;
  map_title_ = new QLabel(box);
  map_title_->setObjectName(QStringLiteral("mapTitle"));
  set_type(*map_title_, Type::label);
  map_title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  map_title_->setForegroundRole(QPalette::PlaceholderText);
  back_to_map_ = make_button(box, {}, tr("Back to more of the map (Esc)"));
  back_to_map_->setObjectName(QStringLiteral("backToMap"));
  back_to_map_->setAutoRaise(true);
  back_to_map_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  back_to_map_->setIcon(icon_of(Glyph::previous));
  back_to_map_->hide();
  connect(back_to_map_, &QToolButton::clicked, this,
          [this] { source_.looked_at() ? look_at(std::nullopt) : heatmap_->show_layer(std::nullopt); });
  caption->addWidget(map_title_, 1);
  caption->addWidget(back_to_map_);
  layout->addLayout(caption);
  layout->addWidget(tools_ = make_map_tools());
  map_pages_ = new QStackedWidget(box);
  heatmap_ = new HeatmapView(map_pages_);
  heatmap_->setObjectName(QStringLiteral("heatmap"));
  table_ = new ExpertTable(this);
  table_view_ = new QTableView(map_pages_);
  table_view_->setModel(table_);
  table_view_->setAccessibleName(tr("Experts"));
  table_view_->setSortingEnabled(true);
  table_view_->sortByColumn(ExpertTable::layer, Qt::AscendingOrder);
  table_view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_view_->setAlternatingRowColors(true);
  table_view_->setShowGrid(false);
  table_view_->setTabKeyNavigation(false);
  table_view_->verticalHeader()->hide();
  table_view_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
  table_view_->horizontalHeader()->setStretchLastSection(true);
  table_view_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  const int character = fontMetrics().averageCharWidth();
  for (const auto& [column, characters] :
       {std::pair{0, 8}, {1, 9}, {2, 8}, {3, 12}, {4, 11}, {5, 11}, {6, 15}})
    table_view_->setColumnWidth(
        column, std::max(character * characters, table_view_->horizontalHeader()->sectionSizeHint(column)));
  connect(table_view_, &QTableView::activated, this,
          [this](const QModelIndex& index) { toggle_followed(table_->unit_at(index.row())); });
  map_pages_->addWidget(heatmap_);
  map_pages_->addWidget(table_view_);
  map_pages_->addWidget(expert_ = new ExpertView(map_pages_));
  connect(expert_, &ExpertView::left, this, [this] { look_at(std::nullopt); });
  legend_ = new LegendView(box);
  follow_ = new FollowView(box);
  layout->addWidget(map_pages_, 1);
  layout->addWidget(legend_);
  layout->addWidget(follow_);
  connect(heatmap_, &HeatmapView::followToggled, this, &LivePanel::toggle_followed);
  connect(heatmap_, &HeatmapView::singleLayerChanged, this, &LivePanel::arrange_map);
  connect(heatmap_, &HeatmapView::expertChosen, this, [this](qint64 unit) { look_at(unit); });
  connect(follow_, &FollowView::toggled, this, &LivePanel::toggle_followed);
  return box;
}

void LivePanel::add_section(QVBoxLayout* layout, const QString& title, QWidget* view) {
  auto* heading = new QLabel(title, view->parentWidget());
  QFont bold = heading->font();
  bold.setWeight(QFont::DemiBold);
  heading->setFont(bold);
  if (layout->count() > 0) layout->addSpacing(fontMetrics().height() * 3 / 4);
  layout->addWidget(heading);
  layout->addWidget(view);
}

QWidget* LivePanel::make_sections() {
  auto* scroll = new QScrollArea(this);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setAccessibleName(tr("Details"));
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget(scroll);
  auto* layout = new QVBoxLayout(inside);
  const int character = fontMetrics().averageCharWidth();
  layout->setContentsMargins(character / 2, character, character, character);
  pools_ = new PoolsView(inside);
  traffic_ = new TrafficView(inside);
  routers_ = new RouterView(inside);
  gain_ = new GainView(inside);
  add_section(layout, tr("What it gains"), gain_);
  add_section(layout, tr("Memory"), pools_);
  add_section(layout, tr("Traffic, last minute"), traffic_);
  add_section(layout, tr("Routers"), routers_);
  layout->addStretch(1);
  scroll->setWidget(inside);
  connect(gain_, &GainView::switchRequested, this, &LivePanel::switchPolicyRequested);
  connect(gain_, &GainView::choosePrecisionRequested, this, &LivePanel::choosePrecisionRequested);
  connect(routers_, &RouterView::layerChosen, this, [this](int layer) { heatmap_->show_layer(layer); });
  connect(routers_, &RouterView::conversationChosen, this, &LivePanel::choose_conversation);
  return scroll;
}

QWidget* LivePanel::make_timeline() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  play_ = icon_button(Glyph::play, tr("Play"), bar);
  play_->setToolTip(tr("Play on from here"));
  play_->setObjectName(QStringLiteral("play"));
  connect(play_, &QToolButton::clicked, this,
          [this] { source_.set_playing(!source_.nothing() && !source_.moment().playing); });
  slider_ = new QSlider(Qt::Horizontal, bar);
  slider_->setObjectName(QStringLiteral("timeline"));
  make_quiet(*slider_);
  slider_->setAccessibleName(tr("Time"));
  slider_->setToolTip(tr("Go back through the last minutes"));
  connect(slider_, &QSlider::valueChanged, this, [this](int index) { source_.go_to(index); });
  time_ = new QLabel(bar);
  set_type(*time_, Type::hint);
  time_->setMinimumWidth(time_->fontMetrics().horizontalAdvance(QStringLiteral("−00:00")));
  time_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  speed_ = new QComboBox(bar);
  speed_->setAccessibleName(tr("Speed"));
  speed_->setToolTip(tr("How fast to play"));
  for (const double speed : {0.5, 1.0, 2.0, 5.0, 20.0})
    speed_->addItem(QStringLiteral("%1×").arg(speed), speed);
  speed_->setCurrentIndex(1);
  live_ = make_button(bar, tr("Live"), tr("Back to what is happening now"));
  live_->setObjectName(QStringLiteral("live"));
  connect(live_, &QToolButton::clicked, &source_, &LiveSource::back_to_live);
  layout->addWidget(play_);
  layout->addWidget(slider_, 1);
  layout->addWidget(time_);
  layout->addWidget(speed_);
  layout->addWidget(live_);
  return bar;
}

QWidget* LivePanel::make_empty_page() {
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  const int character = fontMetrics().averageCharWidth();
  layout->setContentsMargins(character * 3, character * 3, character * 3, character * 3);
  empty_text_ = new QLabel(page);
  empty_text_->setObjectName(QStringLiteral("emptyText"));
  empty_text_->setWordWrap(true);
  empty_text_->setAlignment(Qt::AlignCenter);
  empty_text_->setTextFormat(Qt::RichText);
  auto* button = new QPushButton(tr("Choose how experts are kept…"), page);
  button->setObjectName(QStringLiteral("choosePrecision"));
  connect(button, &QPushButton::clicked, this, &LivePanel::choosePrecisionRequested);
  empty_button_ = button;
  auto* tour = new QPushButton(tr("Take the tour"), page);
  tour->setObjectName(QStringLiteral("takeTour"));
  tour->setToolTip(tr("Three questions, and what the experts do; about two minutes"));
  connect(tour, &QPushButton::clicked, this, &LivePanel::tourRequested);
  auto* replay = new QPushButton(tr("Replay a recording…"), page);
  replay->setFlat(true);
  connect(replay, &QPushButton::clicked, this, &LivePanel::ask_replay);
  layout->addStretch(2);
  layout->addWidget(empty_text_);
  layout->addSpacing(character * 2);
  layout->addWidget(button, 0, Qt::AlignHCenter);
  layout->addWidget(tour, 0, Qt::AlignHCenter);
  layout->addWidget(replay, 0, Qt::AlignHCenter);
  layout->addStretch(3);
  return page;
}

void LivePanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

// Details stand beside the story where there is room, else in its place. To go back in time the line alone
// does, until somebody does.
void LivePanel::arrange() {
  const bool wide = width() >= fontMetrics().averageCharWidth() * 110;
  const bool details = wide || details_->isChecked();
  const bool plays = details || is_held_;
  for (QToolButton* button : {play_, live_}) button->setVisible(plays);
  speed_->setVisible(plays && width() >= fontMetrics().averageCharWidth() * 46);
  const bool has_room = height() >= fontMetrics().height() * 36 && tour_->isHidden();
  timeline_->setVisible(plays || has_room);
  details_->setVisible(!wide);
  details_action_->setVisible(!wide);
  story_page_->setVisible(wide || !details);
  details_page_->setVisible(details);
  headline_->setVisible(plays);
  subtitle_->setVisible(headline_->isHidden() && width() >= panel_width - space::usual);
  tools_->setVisible(wide);
  if (!wide || std::exchange(was_wide_, wide) == wide) {
    was_wide_ = wide;
    return;
  }
  const int side = std::min(width() / 3, fontMetrics().averageCharWidth() * 62);
  splitter_->setSizes({width() - side, side});
}

void LivePanel::show_details(bool shown) {
  details_->setText(shown ? tr("Back to the map") : tr("Details"));
  details_->setIcon(icon_of(shown ? Glyph::previous : Glyph::next));
  arrange();
}

void LivePanel::confirm_switch(bool to_fixed, const QString& what_it_takes, bool possible) {
  auto* ask = new QMessageBox(possible ? QMessageBox::Question : QMessageBox::Warning,
                              to_fixed ? tr("Switch to a fixed mix") : tr("Follow the conversation"),
                              what_it_takes, QMessageBox::NoButton, this);
  ask->setObjectName(QStringLiteral("confirmSwitch"));
  ask->setAttribute(Qt::WA_DeleteOnClose);
  if (possible) {
    auto* yes = ask->addButton(tr("Switch"), QMessageBox::AcceptRole);
    yes->setObjectName(QStringLiteral("confirmSwitchYes"));
    connect(yes, &QAbstractButton::clicked, this, &LivePanel::switchPolicyConfirmed);
  }
  ask->setDefaultButton(ask->addButton(possible ? QMessageBox::Cancel : QMessageBox::Close));
  ask->open();
}

void LivePanel::ask_export(LiveSource::SaveAs format) {
  if (source_.nothing()) return;
  using enum LiveSource::SaveAs;
  // What is saved is what was to be seen when the dialog opened.
  const auto save = source_.saver(format, format == png ? grab().toImage() : QImage());
  const QString name = format == png   ? QStringLiteral("fovea-experts.png")
                       : format == csv ? QStringLiteral("fovea-experts.csv")
                                       : QStringLiteral("fovea-experts.jsonl");
  const QString path = QFileDialog::getSaveFileName(this, tr("Save"), name);
  if (!path.isEmpty()) save(path);
}

void LivePanel::ask_replay() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Replay"), {}, tr("Recordings and traces (*.jsonl *.trace *.fovtrace);;All files (*)"));
  if (!path.isEmpty()) Q_EMIT replayRequested(path);
}

}  // namespace fovea::ui
