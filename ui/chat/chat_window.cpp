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
constexpr int name_inset = 12;         // within its button, about

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

ChatWindow::ChatWindow(QWidget* parent) : QMainWindow(parent), beside_width_(panel_width) {
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
  add_centred(*layout, *progress_box_, conversation_width, conversation_margin);
  error_bar_ = new ErrorBar(centre);
  layout->addWidget(error_bar_);
  composer_ = new Composer(centre);
  status_ = new StatusStrip(composer_);
  composer_->set_status(status_);
  add_centred(*layout, *composer_, conversation_width, conversation_margin);
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
  connect(sidebar_dock_, &QDockWidget::visibilityChanged, this, &ChatWindow::tell_sidebar);
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
  // The name stands on the line of the mark's; the icons end where the conversation does, for what is in
  // them.
  layout->setContentsMargins(space::tight, space::close + 1, space::close + 1, space::close - 1);
  layout->setSpacing(0);
  sidebar_button_ = icon_button(Glyph::sidebar, tr("Show the conversations"), header);
  sidebar_button_->setObjectName(QStringLiteral("sidebarButton"));
  sidebar_button_->hide();  // while they are shown
  connect(sidebar_button_, &QToolButton::clicked, this, [this] { show_sidebar(true); });
  layout->addWidget(sidebar_button_);
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
  panel_button_ = icon_button(Glyph::panel, tr("Show or hide the experts"), header);
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
  const int left = std::max<int>(conversation_margin, (header_->width() - column) / 2);
  const int before = space::tight + name_inset + (sidebar_button_->isHidden() ? 0 : sidebar_button_->width());
  header_indent_->changeSize(std::max(0, left - before), 0, QSizePolicy::Maximum, QSizePolicy::Minimum);
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

// What is typed where nothing takes it belongs to the next message.
void ChatWindow::keyPressEvent(QKeyEvent* event) {
  if (page_) {
    if (event->matches(QKeySequence::Cancel)) leave_page();
    return QMainWindow::keyPressEvent(event);
  }
  if (event->matches(QKeySequence::Cancel) && is_over_ && has_panel()) {
    show_live_panel(false);
    panel_waits_ = true;  // out of the way, until there is room: no choice for good
    return;
  }
  if (!composer_->take_typed(*event)) QMainWindow::keyPressEvent(event);
}

// Its own button closes the panel, too.
bool ChatWindow::eventFilter(QObject* object, QEvent* event) {
  if (object == centralWidget() && event->type() == QEvent::FontChange)
    QTimer::singleShot(0, this, [this] {  // the transcript has it then, too
      align_to_column();
      place_overlay();
    });
  if (object == centralWidget() && event->type() == QEvent::Resize) {
    align_to_column();
    update_empty_text();
    place_overlay();
  }
  if (object == live_dock_ && event->type() == QEvent::Close) Q_EMIT livePanelShown(false);
  return QMainWindow::eventFilter(object, event);
}

void ChatWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  give_way();
}

void ChatWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  give_way();
}

// With all that belongs to it: what is being done may take a while to end.
void ChatWindow::closeEvent(QCloseEvent* event) {
  layout()->setEnabled(false);  // nothing of this widens it
  show_proposal_only(false);    // what is kept of the window is how it usually is
  lay_over(false);
  if (sidebar_gave_way_) sidebar_dock_->show();
  Q_EMIT closing();
  for (QWidget* other : findChildren<QWidget*>())
    if (other->isWindow()) other->hide();
  event->accept();
}

}  // namespace fovea::ui
