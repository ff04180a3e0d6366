// One expert by itself: how much it is used, how precise it was over the last minutes, where it lies, and why
// it moved.
#pragma once

#include <QScrollArea>
#include <vector>

#include "engine/api/snapshot.h"
#include "ui/live/live_data.h"

class QLabel;

namespace fovea::ui {

// A followed expert's hotness over two minutes as a line, its precision as a ribbon below.
void paint_history(QPainter& painter, const QRectF& rect, const FollowedExpert& line, double until,
                   const std::vector<double>& bits, const QPalette& palette);

class ExpertView : public QScrollArea {
  Q_OBJECT

 public:
  explicit ExpertView(QWidget* parent = nullptr);
  void set_story(const ExpertStory& story, const ShownModel& model, const SnapshotNumbers& numbers);

 Q_SIGNALS:
  void left();  // by Escape

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  class History;
  History* history_;
  QLabel *use_, *place_, *changes_;
};

}  // namespace fovea::ui
