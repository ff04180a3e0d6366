// What keeps windows within their screen.
#pragma once

#include <QScrollArea>

namespace fovea::ui {

// What a window may take of its screen, without its title and the desktop's bars, which not every desktop
// tells.
QSize room_for(const QWidget& window);
// The size that it opens with: this one, or as much of it as there is room for.
void open_with(QWidget& window, QSize wanted);

// Scrolls where a window has no room for all of its page.
class PageArea : public QScrollArea {
  Q_OBJECT

 public:
  explicit PageArea(QWidget* page, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace fovea::ui
