#include "ui/chat/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

QToolButton* make_button(QWidget* parent, Glyph glyph, const QString& name, const QString& tip) {
  QToolButton* button = icon_button(glyph, name, parent);
  button->setToolTip(tip);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

}  // namespace

FindBar::FindBar(QWidget* parent) : QFrame(parent), input_(new QLineEdit(this)), count_(new QLabel(this)) {
  setObjectName(QStringLiteral("findBar"));
  setAccessibleName(tr("Find in the conversation"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setCursor(Qt::ArrowCursor);
  input_->setAccessibleName(tr("Find"));
  input_->setPlaceholderText(tr("Find in the conversation"));
  input_->setClearButtonEnabled(true);
  input_->setMinimumWidth(input_->fontMetrics().averageCharWidth() * 26);
  input_->installEventFilter(this);
  count_->setAccessibleName(tr("Matches"));
  count_->setForegroundRole(QPalette::PlaceholderText);
  count_->setMinimumWidth(count_->fontMetrics().horizontalAdvance(QStringLiteral("0000 / 0000")));
  count_->setAlignment(Qt::AlignCenter);
  previous_ = make_button(this, Glyph::up, tr("Previous match"), tr("Previous match (Shift+Enter)"));
  next_ = make_button(this, Glyph::down, tr("Next match"), tr("Next match (Enter)"));
  QToolButton* close = make_button(this, Glyph::close, tr("Close the search"), tr("Close (Esc)"));

  auto* layout = new QHBoxLayout(this);
  const int gap = fontMetrics().height() / 4;
  layout->setContentsMargins(2 * gap, gap, gap, gap);
  layout->setSpacing(gap);
  layout->addWidget(input_, 1);
  layout->addWidget(count_);
  layout->addWidget(previous_);
  layout->addWidget(next_);
  layout->addWidget(close);

  connect(input_, &QLineEdit::textChanged, this, &FindBar::textChanged);
  connect(previous_, &QToolButton::clicked, this, &FindBar::previousRequested);
  connect(next_, &QToolButton::clicked, this, &FindBar::nextRequested);
  connect(close, &QToolButton::clicked, this, &FindBar::close_bar);
  show_count(-1, 0);
  hide();
}

QString FindBar::text() const {
  return input_->text();
}

void FindBar::start(const QString& text) {
  show();
  raise();
  input_->setFocus(Qt::ShortcutFocusReason);
  if (!text.isEmpty()) input_->setText(text);
  input_->selectAll();
  Q_EMIT textChanged(input_->text());
}

void FindBar::show_count(int current, int total) {
  if (text().isEmpty()) {
    count_->clear();
  } else if (total == 0) {
    count_->setText(tr("Not found"));
  } else {
    count_->setText(tr("%1 / %2").arg(current + 1).arg(total));
  }
  previous_->setEnabled(total > 0);
  next_->setEnabled(total > 0);
}

// Enter goes on in both directions without leaving the line. Escape is the bar's, also while an answer could
// be stopped with it.
bool FindBar::eventFilter(QObject* object, QEvent* event) {
  if (object == input_ && event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  if (object == input_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      key->modifiers() & Qt::ShiftModifier ? Q_EMIT previousRequested() : Q_EMIT nextRequested();
      return true;
    }
  }
  return QFrame::eventFilter(object, event);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    close_bar();
  } else if (event->matches(QKeySequence::FindNext)) {
    Q_EMIT nextRequested();
  } else if (event->matches(QKeySequence::FindPrevious)) {
    Q_EMIT previousRequested();
  } else {
    QFrame::keyPressEvent(event);
  }
}

void FindBar::close_bar() {
  hide();
  Q_EMIT closed();
}

}  // namespace fovea::ui
