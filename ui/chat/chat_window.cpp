#include "ui/chat/chat_window.h"

#include <QCloseEvent>
#include <QDesktopServices>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/transcript_view.h"
#include "ui/theme/theme.h"

namespace fovea::ui {

namespace {

constexpr int kWidestModelName = 260;

}  // namespace

ChatWindow::ChatWindow(QWidget* parent) : QMainWindow(parent) {
  setWindowTitle(tr("Fovea"));
  resize(980, 720);
  auto* centre = new QWidget(this);
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);

  layout->addWidget(make_header());
  transcript_ = new TranscriptView(centre);
  layout->addWidget(transcript_, 1);
  layout->addWidget(make_progress());
  error_bar_ = new ErrorBar(centre);
  layout->addWidget(error_bar_);
  composer_ = new Composer(centre);
  layout->addWidget(composer_);
  status_ = new QLabel(centre);
  status_->setObjectName(QStringLiteral("status"));
  status_->setAccessibleName(tr("Status"));
  status_->setContentsMargins(18, 0, 18, 8);
  status_->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(status_);
  setCentralWidget(centre);

  connect(composer_, &Composer::sendRequested, this, &ChatWindow::sendRequested);
  connect(composer_, &Composer::stopRequested, this, &ChatWindow::stopRequested);
  connect(transcript_, &TranscriptView::linkActivated, this, &ChatWindow::open_link);
  setTabOrder(picker_, new_chat_);
  setTabOrder(new_chat_, transcript_);
  setTabOrder(transcript_, composer_);
  set_state(State::no_model);
  composer_->focus_input();
}

QWidget* ChatWindow::make_header() {
  auto* header = new QWidget(this);
  auto* layout = new QHBoxLayout(header);
  layout->setContentsMargins(16, 8, 16, 8);
  layout->setSpacing(10);

  picker_ = new QToolButton(header);
  picker_->setObjectName(QStringLiteral("modelPicker"));
  picker_->setAccessibleName(tr("Model"));
  picker_->setToolTip(tr("Choose the model"));
  picker_->setPopupMode(QToolButton::InstantPopup);
  picker_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  picker_->setMinimumHeight(32);
  picker_menu_ = new QMenu(picker_);
  picker_->setMenu(picker_menu_);
  connect(picker_menu_, &QMenu::aboutToShow, this, &ChatWindow::fill_picker);
  details_ = new QLabel(header);
  details_->setForegroundRole(QPalette::PlaceholderText);
  new_chat_ = new QToolButton(header);
  new_chat_->setObjectName(QStringLiteral("newChat"));
  new_chat_->setText(tr("New chat"));
  new_chat_->setMinimumHeight(32);
  new_chat_->setShortcut(QKeySequence::New);
  new_chat_->setToolTip(tr("Start again with an empty conversation (%1)")
                            .arg(QKeySequence(QKeySequence::New).toString(QKeySequence::NativeText)));
  connect(new_chat_, &QToolButton::clicked, this, &ChatWindow::newChatRequested);

  layout->addWidget(picker_);
  layout->addWidget(details_, 1);
  layout->addWidget(new_chat_);
  return header;
}

QWidget* ChatWindow::make_progress() {
  progress_box_ = new QWidget(this);
  auto* layout = new QHBoxLayout(progress_box_);
  layout->setContentsMargins(16, 4, 16, 4);
  progress_text_ = new QLabel(progress_box_);
  progress_text_->setObjectName(QStringLiteral("progressText"));
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
  composer_->set_generating(state == State::generating);
  picker_->setEnabled(state != State::loading);
  new_chat_->setEnabled(state == State::ready || state == State::generating);
  if (state == State::ready || state == State::no_model) show_progress({}, 0, 0);
  update_empty_text();
}

void ChatWindow::set_model(const QString& name, const QString& details) {
  model_name_ = name;
  details_->setText(details);
  setWindowTitle(name.isEmpty() ? tr("Fovea") : tr("%1 – Fovea").arg(name));
  update_empty_text();
}

void ChatWindow::update_empty_text() {
  switch (state_) {
    case State::no_model:
      picker_->setText(tr("Open a model"));
      transcript_->set_empty_text(tr("Open a model to begin: the button at the top left."));
      break;
    case State::loading:
      picker_->setText(tr("Loading…"));
      transcript_->set_empty_text({});
      break;
    default:
      picker_->setText(picker_->fontMetrics().elidedText(model_name_, Qt::ElideRight, kWidestModelName));
      picker_->setToolTip(model_name_);
      transcript_->set_empty_text(tr("Ask %1 something.").arg(model_name_));
  }
}

void ChatWindow::set_library(const std::vector<ModelChoice>& models) {
  library_ = models;
}

void ChatWindow::set_recent(const std::vector<ModelChoice>& models) {
  recent_ = models;
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
  picker_menu_->addAction(tr("Open a GGUF file…"), this, &ChatWindow::open_file);
  picker_menu_->addAction(tr("Open a Hugging Face folder…"), this, &ChatWindow::open_folder);
}

void ChatWindow::open_file() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open a model"), {}, tr("GGUF models (*.gguf);;All files (*)"));
  if (!path.isEmpty()) Q_EMIT modelRequested(path);
}

void ChatWindow::open_folder() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Open a model folder"));
  if (!path.isEmpty()) Q_EMIT modelRequested(path);
}

void ChatWindow::open_link(const QString& address) {
  const QUrl url(address);
  if (url.scheme() != QLatin1String("https") && url.scheme() != QLatin1String("http") &&
      url.scheme() != QLatin1String("mailto")) {
    show_error(tr("The link \"%1\" is not a web or mail address, so it was not opened.").arg(address));
    return;
  }
  // A model can write any address behind any words, so the address is shown before it is opened.
  const auto answer = QMessageBox::question(this, tr("Open a link"),
                                            tr("Open this address outside Fovea?\n\n%1").arg(url.toString()),
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

void ChatWindow::show_status(const QString& text) {
  status_->setText(text);
}

void ChatWindow::show_error(const QString& text) {
  error_bar_->show_message(text);
}

void ChatWindow::clear_error() {
  error_bar_->hide();
}

void ChatWindow::closeEvent(QCloseEvent* event) {
  Q_EMIT closing();
  event->accept();
}

}  // namespace fovea::ui
