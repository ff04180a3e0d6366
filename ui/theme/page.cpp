#include "ui/theme/page.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int page_margin = space::widest - grasp_margin;
constexpr int scroll_room = space::tight + 10;  // a bar stands in the margin, apart from the page

}  // namespace

Page::Page(const QString& title, QWidget* parent)
    : QWidget(parent), head_(new QHBoxLayout), content_(new QVBoxLayout) {
  setWindowTitle(title);
  setAccessibleName(title);
  setFocusPolicy(Qt::ClickFocus);  // so that Escape leads back from everywhere on it
  auto* back = icon_button(Glyph::previous, tr("Back to the conversation"), this);
  back->setObjectName(QStringLiteral("pageBack"));
  back->setToolTip(tr("Back to the conversation (Esc)"));
  connect(back, &QToolButton::clicked, this, &Page::left);
  auto* name = new QLabel(title, this);
  name->setObjectName(QStringLiteral("pageTitle"));
  set_type(*name, Type::title, true);
  // The way back stands in the margin: the title begins where the content does.
  head_->setContentsMargins(page_margin - space::tight - back->width(), 0, space::widest, 0);
  head_->setSpacing(space::tight);
  head_->addWidget(back);
  head_->addWidget(name);
  head_->addStretch(1);
  content_->setContentsMargins(page_margin, 0, space::widest - scroll_room, 0);
  content_->setSpacing(space::close);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, space::wider, 0, space::usual);
  layout->setSpacing(space::close);
  layout->addLayout(head_);
  layout->addLayout(content_, 1);
}

void Page::add_tool(QWidget& tool, int stretch) {
  head_->addWidget(&tool, stretch);
}

// Before Escape stops an answer, which only the conversation shows.
bool Page::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Cancel))
    event->accept();
  return QWidget::event(event);
}

void Page::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Cancel)) return Q_EMIT left();
  QWidget::keyPressEvent(event);
}

}  // namespace fovea::ui
