// The last minute in strips: changes of tier, bytes, uses below the highest tier, queue, tokens a second.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/live/live_data.h"

namespace fovea::ui {

class TrafficView : public QWidget {
  Q_OBJECT

 public:
  explicit TrafficView(QWidget* parent = nullptr);

  void set_traffic(const Traffic& traffic, const SnapshotNumbers& numbers);
  // Without a policy nothing is swapped: the tokens alone are shown.
  void set_swaps(bool shown);

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Row {
    QString title, value, why;
    const TrafficSeries::Strip* up;
    const TrafficSeries::Strip* down = nullptr;
    QColor colour, down_colour;
    double limit = 0, full = 0;
  };
  std::vector<Row> rows() const;
  double row_height() const;

  Traffic traffic_;
  SnapshotNumbers numbers_;
  bool swaps_ = true;
};

}  // namespace fovea::ui
