#include "ui/chat/chat_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QDockWidget>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QScreen>
#include <QSpacerItem>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat/composer.h"
#include "ui/chat/elided_label.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/starter_view.h"
#include "ui/chat/transcript_view.h"
#include "ui/chat/welcome_view.h"
#include "ui/theme/icons.h"
#include "ui/theme/page.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {

namespace {

constexpr int room_beside_name = 180;  // in the header
constexpr int name_inset = 15;         // within its button, about

// What a question can show of an address: in lines, and without the middle of an endless one.
QString readable(const QString& address) {
  constexpr qsizetype most = 400, end = 100, line = 40;
  QString shown = address.size() <= most
                      ? address
                      : QStringLiteral("%1 … %2").arg(address.left(most - end), address.right(end));
  for (qsizetype at = line; at < shown.size(); at += line + 1) shown.insert(at, QChar(0x200b));
  return shown;
}

}  // namespace

ChatWindow::ChatWindow(QWidget* parent) : QMainWindow(parent) {
  open_with(*this, {1280, 800});
  setDockOptions(AnimatedDocks | AllowNestedDocks);
  sidebar_ = new Sidebar(this);  // Tab goes through the widgets in the order in which they are made
  auto* centre = new QWidget(this);
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);

  places_ = new QStackedWidget(centre);
  header_ = make_header();
  layout->addWidget(header_);
  places_->addWidget(make_conversation());
  layout->addWidget(places_, 1);
  make_progress();
  add_centred(*layout, *progress_box_, conversation_width, space::wide);
  error_bar_ = new ErrorBar(centre);
  layout->addWidget(error_bar_);
  composer_ = new Composer(centre);
  status_ = new StatusStrip(composer_);
  composer_->set_status(status_);
  add_centred(*layout, *composer_, conversation_width, space::wide);
  setCentralWidget(centre);
  centre->installEventFilter(this);

  sidebar_dock_ = new QDockWidget(tr("Conversations"), this);
  sidebar_dock_->setObjectName(QStringLiteral("sidebarDock"));
  sidebar_dock_->setFeatures(QDockWidget::NoDockWidgetFeatures);
  sidebar_dock_->setTitleBarWidget(new QWidget(sidebar_dock_));
  sidebar_dock_->setWidget(sidebar_);
  addDockWidget(Qt::LeftDockWidgetArea, sidebar_dock_);
  resizeDocks({sidebar_dock_}, {sidebar_width}, Qt::Horizontal);
  make_menus();

  connect(composer_, &Composer::sendRequested, this, &ChatWindow::sendRequested);
  connect(composer_, &Composer::textEdited, this, &ChatWindow::update_composer);
  connect(composer_, &Composer::stopRequested, this, &ChatWindow::stopRequested);
  connect(transcript_, &TranscriptView::linkActivated, this, &ChatWindow::open_link);
  connect(composer_, &Composer::settingsRequested, this, &ChatWindow::chatSettingsRequested);
  connect(sidebar_, &Sidebar::newChatRequested, this, &ChatWindow::newChatRequested);
  connect(sidebar_, &Sidebar::modelsRequested, this, &ChatWindow::modelsRequested);
  connect(sidebar_, &Sidebar::settingsRequested, this, &ChatWindow::settingsRequested);
  connect(sidebar_, &Sidebar::conversationRequested, this, &ChatWindow::leave_page);
  connect(sidebar_, &Sidebar::newChatRequested, this, &ChatWindow::leave_page);
  connect(sidebar_, &Sidebar::filled, this, [this] { show_proposal_only(false); });
  connect(error_bar_, &ErrorBar::actionRequested, this, [this] {
    if (const auto act = std::exchange(error_act_, {})) act();
  });
  composer_->focus_input();
  set_state(State::no_model);
  update_title();
}

QWidget* ChatWindow::make_header() {
  auto* header = new QWidget(this);
  auto* layout = new QHBoxLayout(header);
  layout->setContentsMargins(space::tight, space::close, space::usual, space::close);
  layout->setSpacing(0);
  header_indent_ = new QSpacerItem(0, 0, QSizePolicy::Maximum);
  layout->addItem(header_indent_);

  picker_ = new QToolButton(header);
  picker_->setObjectName(QStringLiteral("modelPicker"));
  picker_->setAccessibleName(tr("Model"));
  picker_->setToolTip(tr("Choose the model"));
  picker_->setPopupMode(QToolButton::InstantPopup);
  picker_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  picker_->setMinimumHeight(control_height);
  picker_->setAutoRaise(true);
  set_type(*picker_, Type::text, true);
  picker_->setMinimumWidth(control_height);  // a long name does not widen the window
  picker_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  picker_menu_ = new QMenu(picker_);
  picker_menu_->setToolTipsVisible(true);
  picker_->setMenu(picker_menu_);
  connect(picker_menu_, &QMenu::aboutToShow, this, &ChatWindow::fill_picker);
  requests_ = new QToolButton(header);
  requests_->setObjectName(QStringLiteral("requests"));
  requests_->setAutoRaise(true);
  requests_->setAccessibleName(tr("Requests from other programs"));
  requests_->setMinimumHeight(control_height);
  requests_->hide();
  connect(requests_, &QToolButton::clicked, this, &ChatWindow::serverSettingsRequested);
  panel_button_ = icon_button(Glyph::panel, tr("Show or hide the experts' panel"), header);
  panel_button_->setObjectName(QStringLiteral("panelButton"));
  panel_button_->setCheckable(true);
  panel_button_->hide();  // until there is a panel
  more_ = icon_button(Glyph::more, tr("All commands"), header);
  more_->setObjectName(QStringLiteral("more"));
  more_->setPopupMode(QToolButton::InstantPopup);

  layout->addWidget(picker_);
  layout->addSpacing(space::hair);
  layout->addWidget(requests_);
  layout->addStretch(1);
  layout->addWidget(panel_button_);
  layout->addSpacing(space::hair);
  layout->addWidget(more_);
  return header;
}

// The conversation, and over it what is shown while there is none to lead.
QWidget* ChatWindow::make_conversation() {
  auto* conversation = new QWidget(this);
  auto* layout = new QGridLayout(conversation);
  layout->setContentsMargins(0, 0, 0, 0);
  transcript_ = new TranscriptView(this);
  transcript_->setObjectName(QStringLiteral("transcript"));
  transcript_->setMinimumHeight(control_height);  // it gives way to what went wrong
  welcome_ = new WelcomeView;
  welcome_area_ = new PageArea(welcome_, this);
  layout->addWidget(transcript_, 0, 0);
  layout->addWidget(welcome_area_, 0, 0);
  starters_ = new StarterView(this);
  layout->addWidget(starters_, 0, 0, Qt::AlignCenter);
  connect(starters_, &StarterView::chosen, this, [this](const QString& text) {
    if (composer_->text().isEmpty()) return Q_EMIT sendRequested(text);
    composer_->set_text(composer_->text() + QLatin1Char('\n') + text);  // what was typed is not lost
    composer_->focus_input();
  });
  connect(transcript_, &TranscriptView::messagesChanged, this, [this] {
    update_empty_text();
    update_actions();
  });
  connect(welcome_, &WelcomeView::wizardRequested, this, &ChatWindow::wizardRequested);
  connect(welcome_, &WelcomeView::modelsRequested, this, &ChatWindow::modelsRequested);
  connect(welcome_, &WelcomeView::fileRequested, this, &ChatWindow::open_file);
  return conversation;
}

QWidget* ChatWindow::make_progress() {
  progress_box_ = new QWidget(this);
  auto* layout = new QHBoxLayout(progress_box_);
  layout->setContentsMargins(0, 4, 0, 4);
  progress_text_ = new ElidedLabel(progress_box_);
  progress_text_->setObjectName(QStringLiteral("progressText"));
  progress_text_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  progress_bar_ = new QProgressBar(progress_box_);
  progress_bar_->setTextVisible(false);
  progress_bar_->setMaximumHeight(8);
  auto* cancel = new QToolButton(progress_box_);
  cancel->setText(tr("Cancel"));
  connect(cancel, &QToolButton::clicked, this, [this] {
    if (state_ == State::loading) {
      Q_EMIT cancelLoadRequested();
    } else {
      Q_EMIT stopRequested();
    }
  });
  layout->addWidget(progress_text_);
  layout->addWidget(progress_bar_, 1);
  layout->addWidget(cancel);
  progress_box_->hide();
  return progress_box_;
}

void ChatWindow::set_state(State state) {
  state_ = state;
  composer_->set_ready(state == State::ready);
  composer_->set_busy(state == State::generating ? Composer::Busy::answering
                      : state == State::waiting  ? Composer::Busy::waiting
                                                 : Composer::Busy::no);
  picker_->setEnabled(state != State::loading);
  update_actions();
  if (state == State::loading) model_details_.clear();  // those of the one before
  if (state != State::loading && state != State::generating) show_progress({}, 0, 0);
  update_empty_text();
  if (state != State::no_model) show_proposal_only(false);  // behind what stood in its place
}

void ChatWindow::set_model(const QString& name, const QString& details) {
  model_name_ = name;
  model_details_ = details;
  update_title();
  update_empty_text();
}

// Nobody has been here before: what is beside the proposal would be empty. It comes with the first model,
// page or search.
void ChatWindow::show_proposal_only(bool only) {
  if (only == proposal_only_) return;
  proposal_only_ = only;
  if (only) sidebar_was_hidden_ = sidebar_dock_->isHidden();
  sidebar_dock_->setVisible(!only && !sidebar_was_hidden_);
  picker_->setVisible(!only);
  panel_button_->setVisible(!only && live_dock_);
}

void ChatWindow::show_sidebar(bool shown) {
  show_proposal_only(false);
  sidebar_dock_->setVisible(shown);
}

void ChatWindow::set_requests(int count, const QString& address) {
  requests_->setVisible(count > 0);
  if (count == 0) return;
  requests_->setText(tr("%n request(s)", nullptr, count));
  requests_->setToolTip(tr("Other programs can reach Fovea at %1").arg(address));
}

void ChatWindow::set_starters(const QString& about, const std::vector<Starter>& starters) {
  starters_->set_starters(about, starters);
  update_empty_text();
}

void ChatWindow::set_conversation_title(const QString& title) {
  conversation_title_ = title;
  update_title();
  update_actions();
}

// The name and what is written begin and end where the conversation does, whose column grows with its
// letters.
void ChatWindow::align_to_column() {
  const int column = transcript_->widest_column();
  const int left = std::max<int>(space::wide, (header_->width() - column) / 2);
  header_indent_->changeSize(left - space::tight - name_inset, 0, QSizePolicy::Maximum, QSizePolicy::Minimum);
  header_->layout()->invalidate();
  composer_->setMaximumWidth(column);
  name_room_ = header_->width() - left - room_beside_name;
}

void ChatWindow::update_title() {
  setWindowTitle(conversation_title_.isEmpty() ? tr("Fovea") : tr("%1 – Fovea").arg(conversation_title_));
}

void ChatWindow::update_empty_text() {
  const bool welcomes = state_ == State::no_model && transcript_->message_count() == 0;
  const bool had_focus = composer_->isAncestorOf(focusWidget());
  if (welcomes == welcome_area_->isHidden()) {
    welcome_area_->setVisible(welcomes);
    // At once: what is shown next beside it, as the panel, must not find the window too small for both.
    for (QWidget* outer = welcome_area_->parentWidget(); outer && outer != this;
         outer = outer->parentWidget())
      if (outer->layout()) outer->layout()->activate();
  }
  update_composer();
  if (welcomes && had_focus && composer_->isHidden()) welcome_->focus_main();
  const bool suggests = state_ == State::ready && !starters_->is_empty();
  starters_->setVisible(suggests && transcript_->message_count() == 0);
  picker_->setToolTip(tr("Choose the model"));
  switch (state_) {
    case State::no_model:
      picker_->setText(tr("Open a model"));
      transcript_->set_empty_text({});
      break;
    case State::loading:
      picker_->setText(tr("Loading…"));
      transcript_->set_empty_text({});
      break;
    default:
      picker_->setText(picker_->fontMetrics()
                           .elidedText(model_name_, Qt::ElideRight, std::max(name_room_, 160))
                           .replace(QLatin1Char('&'), QLatin1String("&&")));
      picker_->setToolTip(model_details_.isEmpty() ? model_name_
                                                   : model_name_ + QLatin1Char('\n') + model_details_);
      transcript_->set_empty_text(suggests ? QString() : tr("What shall we talk about?"));
  }
}

// Not where there is nobody to ask, but for what is typed all the same.
void ChatWindow::update_composer() {
  const bool was_hidden = composer_->isHidden();
  const bool is_wanted = welcome_area_->isHidden() || !composer_->text().isEmpty();
  composer_->setVisible(is_wanted && !page_);
  if (was_hidden && !composer_->isHidden() && !focusWidget()) composer_->focus_input();
}

void ChatWindow::set_library(const std::vector<ModelChoice>& models) {
  library_ = models;
}

void ChatWindow::set_recent(const std::vector<ModelChoice>& models) {
  recent_ = models;
}

std::vector<ModelChoice> ChatWindow::known_models() const {
  std::vector<ModelChoice> all = library_;
  for (const ModelChoice& model : recent_)
    if (std::ranges::find(all, model.path, &ModelChoice::path) == all.end()) all.push_back(model);
  return all;
}

void ChatWindow::fill_picker() {
  picker_menu_->clear();
  const auto add = [this](const QString& title, const std::vector<ModelChoice>& models) {
    if (models.empty()) return;
    picker_menu_->addSection(title);
    for (const ModelChoice& model : models) {
      QString label = model.label;
      label.replace(QLatin1Char('&'), QLatin1String("&&"));
      QAction* action =
          picker_menu_->addAction(label, this, [this, path = model.path] { Q_EMIT modelRequested(path); });
      action->setToolTip(model.path);
    }
  };
  add(tr("Library"), library_);
  add(tr("Recent"), recent_);
  picker_menu_->addSeparator();
  picker_menu_->addAction(tr("Download a model…"), this, &ChatWindow::downloadsRequested);
  picker_menu_->addAction(tr("All models…"), this, &ChatWindow::modelsRequested);
  picker_menu_->addAction(tr("Find a model that fits…"), this, &ChatWindow::wizardRequested);
  picker_menu_->addAction(tr("Open a file…"), this, &ChatWindow::open_file);
  picker_menu_->addAction(tr("Open a folder…"), this, &ChatWindow::open_folder);
}

void ChatWindow::open_link(const QString& address) {
  const QUrl url(address);
  if (url.scheme() != QLatin1String("https") && url.scheme() != QLatin1String("http") &&
      url.scheme() != QLatin1String("mailto")) {
    show_error(tr("The link \"%1\" is not a web or mail address, so it was not opened.").arg(address));
    return;
  }
  // A model can write any address behind any words, so the address is shown before it is opened.
  const auto answer = QMessageBox::question(
      this, tr("Open a link"), tr("Open this address outside Fovea?\n\n%1").arg(readable(url.toString())),
      QMessageBox::Open | QMessageBox::Cancel, QMessageBox::Cancel);
  if (answer == QMessageBox::Open) QDesktopServices::openUrl(url);
}

void ChatWindow::show_progress(const QString& text, qint64 done, qint64 total) {
  progress_box_->setVisible(!text.isEmpty());
  if (text.isEmpty()) return;
  progress_text_->setText(text);
  progress_bar_->setRange(0, total > 0 ? 1000 : 0);
  if (total > 0) progress_bar_->setValue(static_cast<int>(1000 * done / total));
}

void ChatWindow::show_error(const QString& text, const QString& action, std::function<void()> act,
                            const QString& details) {
  error_act_ = std::move(act);
  error_bar_->show_message(text, ErrorBar::Kind::error, action, details);
}

void ChatWindow::show_notice(const QString& text, const QString& action, std::function<void()> act) {
  error_act_ = std::move(act);
  error_bar_->show_message(text, ErrorBar::Kind::notice, action);
}

void ChatWindow::clear_error() {
  error_bar_->hide();
}

void ChatWindow::set_live_panel(QWidget* panel, QMenu* commands) {
  if (commands) more_commands_.append(commands);
  live_dock_ = new QDockWidget(tr("Experts"), this);
  live_dock_->setObjectName(QStringLiteral("liveDock"));
  live_dock_->setWidget(panel);
  show_panel_title(false);
  live_dock_->installEventFilter(this);
  addDockWidget(Qt::RightDockWidgetArea, live_dock_);
  resizeDocks({live_dock_}, {panel_width}, Qt::Horizontal);
  QAction* toggle = live_dock_->toggleViewAction();
  addAction(toggle);
  panel_button_->show();
  connect(panel_button_, &QToolButton::clicked, toggle, &QAction::trigger);
  connect(live_dock_, &QDockWidget::visibilityChanged, panel_button_,
          [this] { panel_button_->setChecked(!live_dock_->isHidden()); });
  toggle->setText(tr("Live panel"));
  toggle->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_L));
  view_menu_->insertAction(view_menu_->actions().value(1), toggle);
  auto* detach = new QAction(tr("&Detach the live panel"), this);
  detach->setObjectName(QStringLiteral("detachLiveAction"));
  detach->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
  detach->setCheckable(true);
  addAction(detach);
  view_menu_->insertAction(view_menu_->actions().value(2), detach);
  connect(detach, &QAction::triggered, this, [this](bool apart) {
    show_proposal_only(false);
    live_dock_->show();
    if (apart) docked_widths_ = {sidebar_dock_->width(), live_dock_->width()};
    show_panel_title(apart);  // before it gets a frame, whose size counts
    live_dock_->setFloating(apart);
    // Else it comes back as wide as it was apart, and takes that from the sidebar. Once it is there it can be
    // narrow again.
    const auto as_before = [this] {
      resizeDocks({sidebar_dock_, live_dock_}, docked_widths_, Qt::Horizontal);
    };
    if (!apart) {
      as_before();
      QTimer::singleShot(0, this, as_before);
    }
    Q_EMIT livePanelShown(true);
  });
  connect(live_dock_, &QDockWidget::topLevelChanged, detach, &QAction::setChecked);
  connect(live_dock_, &QDockWidget::topLevelChanged, this, &ChatWindow::place_panel);
  connect(toggle, &QAction::triggered, this, [this](bool shown) {
    if (shown) show_proposal_only(false);
    Q_EMIT livePanelShown(shown);
  });
}

// The panel has a title of its own; a window needs one to be moved by.
void ChatWindow::show_panel_title(bool shown) {
  QWidget* const before = live_dock_->titleBarWidget();
  if (shown == (before == nullptr)) return;
  live_dock_->setTitleBarWidget(shown ? nullptr : new QWidget(live_dock_));
  if (before) before->deleteLater();
}

void ChatWindow::show_live_panel(bool shown) {
  if (shown) show_proposal_only(false);
  if (page_) {
    panel_gave_way_ = shown;
  } else if (live_dock_) {
    live_dock_->setVisible(shown);
  }
}

void ChatWindow::show_page(Page& page, SidebarPlace place) {
  if (page_ && page_ != &page) leave_page();
  sidebar_->set_place(place);
  if (page_ == &page) return;
  places_->addWidget(&page);
  connect(&page, &Page::left, this, &ChatWindow::leave_page, Qt::UniqueConnection);
  page_ = &page;
  show_proposal_only(false);
  header_->hide();
  update_composer();
  panel_gave_way_ = live_dock_ && !live_dock_->isFloating() && !live_dock_->isHidden();
  if (panel_gave_way_) live_dock_->hide();
  places_->setCurrentWidget(&page);
  page.setFocus();
}

void ChatWindow::leave_page() {
  if (!header_->isHidden()) return;  // no page is shown
  sidebar_->set_place(SidebarPlace::conversation);
  places_->setCurrentIndex(0);
  if (page_) {
    places_->removeWidget(page_);  // it takes no room from the conversation
    page_->close();
  }
  page_.clear();
  header_->show();
  update_composer();
  if (std::exchange(panel_gave_way_, false)) live_dock_->show();
  composer_->isHidden() ? welcome_->focus_main() : composer_->focus_input();
}

// Beside the conversation and not over it: where the screen has no room for both, the window gives up the
// panel's width for as long as that is apart. What is dragged goes where it is dragged to.
void ChatWindow::place_panel(bool apart) {
  const int before = std::exchange(width_with_panel_, 0);
  if (!apart) {
    show_panel_title(false);
    if (before > 0) resize(before, height());
    return;
  }
  if (!isVisible() || QGuiApplication::mouseButtons() != Qt::NoButton) return;
  const QRect room = screen()->availableGeometry();
  const QRect window = frameGeometry();
  const QSize edges = live_dock_->frameGeometry().size() - live_dock_->size();
  const QSize inside = live_dock_->size().boundedTo(room_for(*this));
  const QSize panel = inside + edges;
  int left = window.right() + 1;
  if (left + panel.width() > room.right() + 1) left = window.left() - panel.width();
  if (left < room.left()) {
    left = std::min(window.right(), room.right()) + 1 - panel.width();
    const QRect wide = geometry();
    if (isMaximized()) showNormal();
    layout()->activate();  // it has become less wide than with the panel in it
    setGeometry(wide.left(), wide.top(), wide.width() - (window.right() + 1 - left), wide.height());
    width_with_panel_ = wide.width();
  }
  live_dock_->resize(inside);
  live_dock_->move(left, std::clamp(window.top(), room.top(), room.bottom() + 1 - panel.height()));
}

// What is typed where nothing takes it belongs to the next message.
void ChatWindow::keyPressEvent(QKeyEvent* event) {
  if (page_) {
    if (event->matches(QKeySequence::Cancel)) leave_page();
    return QMainWindow::keyPressEvent(event);
  }
  if (!composer_->take_typed(*event)) QMainWindow::keyPressEvent(event);
}

// Its own button closes the panel, too.
bool ChatWindow::eventFilter(QObject* object, QEvent* event) {
  if (object == centralWidget() && event->type() == QEvent::FontChange)
    QTimer::singleShot(0, this, &ChatWindow::align_to_column);  // the transcript has it then, too
  if (object == centralWidget() && event->type() == QEvent::Resize) {
    align_to_column();
    update_empty_text();
  }
  if (object == live_dock_ && event->type() == QEvent::Close) Q_EMIT livePanelShown(false);
  return QMainWindow::eventFilter(object, event);
}

// With all that belongs to it: what is being done may take a while to end.
void ChatWindow::closeEvent(QCloseEvent* event) {
  show_proposal_only(false);  // what is kept of the window is how it usually is
  Q_EMIT closing();
  for (QWidget* other : findChildren<QWidget*>())
    if (other->isWindow()) other->hide();
  event->accept();
}

}  // namespace fovea::ui
