#include "ui/chat/composer.h"

#include <QAccessible>
#include <QDragEnterEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>
#include <QTextOption>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat/prompt_picker.h"
#include "ui/chat/screen_reader.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int kMaxLines = 10;  // then it scrolls

QStringList local_files(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls()) {
    if (url.isLocalFile()) paths += url.toLocalFile();
  }
  return paths;
}

}  // namespace

Composer::Composer(QWidget* parent)
    : QWidget(parent),
      editing_bar_(make_editing_bar()),
      warning_(new QLabel(this)),
      card_(new Card(radius::composer, this)),
      attachment_box_(new QScrollArea(card_)),
      input_(new QPlainTextEdit(card_)),
      attach_(new QToolButton(card_)),
      tune_(new QToolButton(card_)),
      button_(new RoundButton(card_)),
      picker_(new PromptPicker(this)) {
  setAcceptDrops(true);
  input_->setObjectName(QStringLiteral("input"));
  input_->setAccessibleName(tr("Message"));
  input_->setTabChangesFocus(true);
  input_->setAcceptDrops(false);  // a dropped file is attached, not pasted as its address
  input_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  input_->document()->setDocumentMargin(8);
  input_->installEventFilter(this);
  input_->setPlaceholderText(tr("Ask anything"));
  input_->setFrameShape(QFrame::NoFrame);
  set_type(*input_, Type::text);
  input_->viewport()->setAutoFillBackground(false);
  const auto tool = [this](QToolButton& button, const char* name, Glyph glyph, const QString& words,
                           const QString& why) {
    button.setObjectName(QLatin1String(name));
    button.setText(words);
    button.setToolTip(why);
    button.setIcon(icon_of(glyph));
    button.setIconSize({icon_size, icon_size});
    button.setToolButtonStyle(Qt::ToolButtonIconOnly);
    button.setAutoRaise(true);
    button.setFixedSize(control_height, control_height);
  };
  tool(*attach_, "attach", Glyph::attach, tr("Attach"),
       tr("Attach text files: they go into the prompt before your message"));
  tool(*tune_, "chatSettings", Glyph::tune, tr("Chat settings"),
       tr("Instructions and sampling for this conversation"));
  button_->setObjectName(QStringLiteral("send"));

  tools_ = new QHBoxLayout;
  tools_->setSpacing(space::hair);
  tools_->addWidget(attach_);
  tools_->addWidget(tune_);
  tools_->addStretch();
  tools_->addWidget(button_);
  auto* chips = new QWidget(attachment_box_);
  attachment_row_ = new QHBoxLayout(chips);
  attachment_row_->setContentsMargins(0, 0, 0, 0);
  attachment_row_->setSpacing(6);
  attachment_box_->setWidget(chips);
  attachment_box_->setWidgetResizable(true);
  attachment_box_->setFrameShape(QFrame::NoFrame);
  attachment_box_->setFocusPolicy(Qt::NoFocus);
  attachment_box_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  for (QWidget* ground : {chips, attachment_box_->viewport()}) ground->setAutoFillBackground(false);
  attachment_box_->installEventFilter(this);
  attachment_box_->hide();
  warning_->setObjectName(QStringLiteral("composerWarning"));
  warning_->setWordWrap(true);
  warning_->setTextFormat(Qt::PlainText);
  warning_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // also words of any length
  tint(*warning_, QPalette::WindowText, warning_text);
  warning_->hide();
  auto* inside = new QVBoxLayout(card_);
  inside->setContentsMargins(space::close, space::close, space::close, space::close);
  inside->setSpacing(space::hair);
  inside->addWidget(attachment_box_);
  inside->addWidget(input_);
  inside->addLayout(tools_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, space::hair, 0, space::usual);
  layout->setSpacing(space::tight);
  layout->addWidget(editing_bar_);
  layout->addWidget(warning_);
  layout->addWidget(card_);
  setTabOrder(input_, button_);
  setTabOrder(button_, attach_);
  setTabOrder(attach_, tune_);

  connect(button_, &QToolButton::clicked, this,
          [this] { busy_ == Busy::no ? send() : Q_EMIT stopRequested(); });
  connect(attach_, &QToolButton::clicked, this, &Composer::attachRequested);
  connect(tune_, &QToolButton::clicked, this, &Composer::settingsRequested);
  connect(input_, &QPlainTextEdit::textChanged, this, [this] {
    follow_direction();
    grow();
    update_button();
    offer_prompts();
    Q_EMIT textEdited();
  });
  connect(picker_, &PromptPicker::chosen, this, [this](const QString& text) {
    set_text(text);
    focus_input();
  });
  tell_keys();
  grow();
  update_button();
}

void Composer::set_status(QWidget* status) {
  tools_->insertWidget(2, status, 1);
  tools_->insertSpacing(3, space::tight);
}

QWidget* Composer::make_editing_bar() {
  auto* bar = new QWidget(this);
  bar->setObjectName(QStringLiteral("editingBar"));
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(2, 0, 0, 0);
  auto* text = new QLabel(
      tr("You are editing an earlier message. The answers to it are kept as another branch."), bar);
  text->setForegroundRole(QPalette::PlaceholderText);
  text->setWordWrap(true);
  auto* cancel = new QToolButton(bar);
  cancel->setText(tr("Cancel"));
  cancel->setToolTip(tr("Leave the message as it was (Esc)"));
  connect(cancel, &QToolButton::clicked, this, &Composer::editCancelled);
  layout->addWidget(text, 1);
  layout->addWidget(cancel);
  bar->hide();
  return bar;
}

void Composer::set_ready(bool ready) {
  ready_ = ready;
  update_button();
}

void Composer::set_busy(Busy busy) {
  busy_ = busy;
  update_button();
}

void Composer::set_text(const QString& text) {
  input_->setPlainText(text);
  input_->moveCursor(QTextCursor::End);
  picker_->hide();  // nobody has typed it
}

void Composer::insert(const QString& text) {
  input_->insertPlainText(text);
  picker_->hide();
}

void Composer::set_prompts(const std::vector<PromptView>& prompts) {
  picker_->set_prompts(prompts);
}

void Composer::offer_prompts() {
  picker_->show_for(input_->hasFocus() && !editing_ ? text() : QString(), *card_);
}

QString Composer::text() const {
  return input_->toPlainText();
}

void Composer::focus_input() {
  input_->setFocus();
}

void Composer::set_send_with_control(bool control) {
  send_with_control_ = control;
  tell_keys();
  update_button();
}

void Composer::set_editing(bool editing) {
  editing_ = editing;
  editing_bar_->setVisible(editing);
}

void Composer::set_attachments(const std::vector<AttachmentView>& attachments) {
  while (QLayoutItem* item = attachment_row_->takeAt(0)) {
    if (item->widget()) item->widget()->deleteLater();
    delete item;
  }
  attachments_ = attachments.size();
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    auto* chip = new QToolButton(attachment_box_->widget());
    QString name = fontMetrics().elidedText(attachments[i].name, Qt::ElideMiddle, 180);
    name.replace(QLatin1Char('&'), QLatin1String("&&"));
    chip->setText(QStringLiteral("%1 · %2").arg(name, attachments[i].details));
    chip->setIcon(icon_of(Glyph::close));
    chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip->setToolTip(tr("Remove %1").arg(attachments[i].name));
    chip->setAccessibleName(
        tr("Attached file %1, %2. Press to remove it.").arg(attachments[i].name, attachments[i].details));
    connect(chip, &QToolButton::clicked, this, [this, i] { Q_EMIT attachmentRemoved(static_cast<int>(i)); });
    attachment_row_->addWidget(chip);
    chip->show();
  }
  attachment_row_->addStretch(1);
  attachment_box_->setVisible(!attachments.empty());
  fit_attachments();
  update_button();
}

void Composer::set_warning(const QString& text) {
  if (text == warning_->text()) return;
  warning_->setText(text);
  warning_->setVisible(!text.isEmpty());
  if (text.isEmpty()) return;
  QAccessibleEvent event(warning_, QAccessible::Alert);
  tell_screen_reader(event);
}

// Many of them scroll: they must not widen the window.
void Composer::fit_attachments() {
  const QSize chips = attachment_box_->widget()->minimumSizeHint();
  const bool scrolls = chips.width() > attachment_box_->width();
  attachment_box_->setFixedHeight(
      chips.height() + (scrolls ? attachment_box_->horizontalScrollBar()->sizeHint().height() : 0));
}

void Composer::tell_keys() {
  input_->setToolTip(send_with_control_ ? tr("Ctrl+Enter sends, Enter starts a new line")
                                        : tr("Enter sends, Shift+Enter starts a new line"));
}

// Right-to-left text begins at the right, as it will in the conversation.
void Composer::follow_direction() {
  QTextOption option = input_->document()->defaultTextOption();
  const Qt::Alignment side =
      input_->document()->firstBlock().text().isRightToLeft() ? Qt::AlignRight : Qt::AlignLeft;
  if (option.alignment() == side) return;
  option.setAlignment(side);
  input_->document()->setDefaultTextOption(option);
}

bool Composer::handle_key(const QKeyEvent& key) {
  if (picker_->take_key(key)) return true;
  const bool enter = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
  const bool control = key.modifiers() & Qt::ControlModifier;
  if (enter && (send_with_control_ ? control : !(key.modifiers() & Qt::ShiftModifier))) {
    send();
    return true;
  }
  if (key.key() != Qt::Key_Escape || !editing_) return false;
  Q_EMIT editCancelled();
  return true;
}

bool Composer::take_typed(const QKeyEvent& key) {
  const bool is_text =
      !key.text().isEmpty() && (key.text().front().isPrint() || key.text().front().isSurrogate());
  const bool is_command = key.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
  if (key.matches(QKeySequence::Paste)) {
    input_->paste();
  } else if (is_text && !is_command) {
    input_->insertPlainText(key.text());
  } else {
    return false;
  }
  focus_input();
  return true;
}

bool Composer::eventFilter(QObject* object, QEvent* event) {
  if (object == attachment_box_ && event->type() == QEvent::Resize) fit_attachments();
  if (object == input_ && event->type() == QEvent::Resize) grow();
  if (object == input_ && event->type() == QEvent::FocusOut) picker_->hide();
  // Escape leaves the prompts, also while an answer could be stopped with it.
  if (object == input_ && event->type() == QEvent::ShortcutOverride && picker_->isVisible() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  if (object == input_ && event->type() == QEvent::KeyPress && handle_key(*static_cast<QKeyEvent*>(event)))
    return true;
  return QWidget::eventFilter(object, event);
}

void Composer::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasText() || !local_files(*event->mimeData()).isEmpty())
    event->acceptProposedAction();
}

void Composer::dropEvent(QDropEvent* event) {
  const QStringList files = local_files(*event->mimeData());
  if (!files.isEmpty()) {
    Q_EMIT filesDropped(files);
  } else {
    input_->insertPlainText(event->mimeData()->text());
  }
  event->acceptProposedAction();
}

void Composer::send() {
  const QString message = text().trimmed();
  if ((message.isEmpty() && attachments_ == 0) || !ready_ || busy_ != Busy::no) return;
  input_->clear();
  Q_EMIT sendRequested(message);
}

void Composer::grow() {
  int lines = 0;
  for (QTextBlock block = input_->document()->begin(); block.isValid() && lines < kMaxLines;
       block = block.next()) {
    lines += std::max(1, block.layout()->lineCount());
  }
  lines = std::clamp(lines, 1, kMaxLines);
  const int frame = 2 * input_->frameWidth() + 2 * static_cast<int>(input_->document()->documentMargin());
  input_->setFixedHeight(lines * input_->fontMetrics().lineSpacing() + frame + 4);
  input_->setVerticalScrollBarPolicy(lines < kMaxLines ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
}

void Composer::update_button() {
  const QString send =
      send_with_control_ ? tr("Send the message (Ctrl+Enter)") : tr("Send the message (Enter)");
  switch (busy_) {
    case Busy::no:
      button_->setText(tr("Send"));
      button_->set_glyph(Glyph::send);
      button_->setToolTip(send);
      break;
    case Busy::waiting:
      button_->setText(tr("Take back"));
      button_->set_glyph(Glyph::close);
      button_->setToolTip(tr("Take back the message waiting to be answered (Esc)"));
      break;
    case Busy::answering:
      button_->setText(tr("Stop"));
      button_->set_glyph(Glyph::stop);
      button_->setToolTip(tr("Stop the answer (Esc)"));
  }
  button_->setAccessibleName(button_->text());
  button_->setEnabled(busy_ != Busy::no || (ready_ && (!text().trimmed().isEmpty() || attachments_ > 0)));
}

}  // namespace fovea::ui
