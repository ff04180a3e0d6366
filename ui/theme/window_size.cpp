#include "ui/theme/window_size.h"

#include <QEvent>
#include <QScreen>
#include <QScrollBar>
#include <QStyle>
#include <algorithm>

#include "ui/theme/tokens.h"

namespace fovea::ui {

QSize room_for(const QWidget& window) {
  const QSize whole = window.screen()->size();
  return window.screen()->availableSize().boundedTo({whole.width() * 19 / 20, whole.height() * 9 / 10});
}

void open_with(QWidget& window, QSize wanted) {
  window.resize(wanted.boundedTo(room_for(window)));
  if (!window.isVisible()) return;
  // One that grows where it stands stays on its screen.
  const QRect room = window.screen()->availableGeometry();
  QRect frame = window.frameGeometry();
  frame.moveBottomRight({std::min(frame.right(), room.right()), std::min(frame.bottom(), room.bottom())});
  frame.moveTopLeft({std::max(frame.left(), room.left()), std::max(frame.top(), room.top())});
  if (frame.topLeft() != window.pos()) window.move(frame.topLeft());
}

PageArea::PageArea(QWidget* page, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);
  setWidget(page);
  for (QWidget* ground : {viewport(), page}) ground->setAutoFillBackground(false);
  verticalScrollBar()->installEventFilter(this);
}

// The bar stands apart from the page's fields.
bool PageArea::eventFilter(QObject* watched, QEvent* event) {
  if (watched == verticalScrollBar() && (event->type() == QEvent::Show || event->type() == QEvent::Hide))
    setViewportMargins(0, 0, event->type() == QEvent::Show ? space::tight : 0, 0);
  return QScrollArea::eventFilter(watched, event);
}

QSize PageArea::sizeHint() const {
  return widget()->sizeHint();
}

// As wide as the page beside its scroll bar, and a few lines high.
QSize PageArea::minimumSizeHint() const {
  const QSize least = widget()->minimumSizeHint();
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this);
  return {least.width() + space::tight + bar, std::min(least.height(), 6 * fontMetrics().height())};
}

int PageArea::heightForWidth(int width) const {
  return widget()->hasHeightForWidth() ? widget()->heightForWidth(width) : widget()->sizeHint().height();
}

}  // namespace fovea::ui
