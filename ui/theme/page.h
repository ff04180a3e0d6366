// A page in the main window's middle: a title with a way back, and below it what the page is for.
#pragma once

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace fovea::ui {

class Page : public QWidget {
  Q_OBJECT

 public:
  explicit Page(const QString& title, QWidget* parent = nullptr);

 Q_SIGNALS:
  void left();  // by its way back, or with Escape

 protected:
  // At the title's right.
  void add_tool(QWidget& tool, int stretch = 0);
  QVBoxLayout& content() { return *content_; }
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QHBoxLayout* head_;
  QVBoxLayout* content_;
};

}  // namespace fovea::ui
