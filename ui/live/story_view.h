// What has just happened among the experts, in a sentence; the ones before it on demand.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/live/live_data.h"

class QLabel;

namespace fovea::ui {

// "For “Now write a function”, 41 experts rose to more bits, 41 fell to fewer to make room; no token of the
// answer waited."
QString chapter_sentence(const Chapter& chapter, bool goes_on = false);

class StoryView : public QWidget {
  Q_OBJECT

 public:
  explicit StoryView(QWidget* parent = nullptr);
  void set_story(const std::vector<Chapter>& chapters);  // the newest first; none: nothing is shown
  QString text() const;

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void show_all();

  QLabel* sentence_;
  std::vector<Chapter> chapters_;
};

}  // namespace fovea::ui
