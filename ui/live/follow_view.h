// The experts that are followed: each one's hotness and tier over the last two minutes.
#pragma once

#include <QWidget>
#include <functional>
#include <vector>

#include "ui/live/live_data.h"

namespace fovea::ui {

class FollowView : public QWidget {
  Q_OBJECT

 public:
  explicit FollowView(QWidget* parent = nullptr);

  void set_followed(const FollowedExperts& followed);
  void set_tiers(const std::vector<QString>& names, const std::vector<double>& bits);
  void set_names(std::function<QString(std::int64_t unit)> name) { name_ = std::move(name); }

  QSize sizeHint() const override;

 Q_SIGNALS:
  void toggled(qint64 unit);  // no longer followed

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  QRectF row_rect(std::size_t row) const;

  FollowedExperts followed_;
  std::vector<QString> tiers_;  // in words
  std::vector<double> bits_;    // of the tiers, for each weight
  std::function<QString(std::int64_t)> name_;
};

}  // namespace fovea::ui
