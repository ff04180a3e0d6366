// Where the device's bytes are: the whole budget as one bar, and each pool of the arena.
#pragma once

#include <QWidget>
#include <vector>

#include "engine/api/snapshot.h"
#include "ui/live/live_model.h"

namespace fovea::ui {

// One part of the budget bar.
struct BudgetPart {
  enum class Kind { dense, kv, activations, tier, in_flight, free, unplanned };
  Kind kind = Kind::dense;
  int tier = -1;  // of Kind::tier
  double bytes = 0;
};

// The parts add up to the budget, or to more when it is exceeded or there is none. Without a plan only the
// experts are known.
std::vector<BudgetPart> budget_parts(const Plan& plan, const Snapshot& numbers);

// The tier whose units have blocks of the pool's size; -1 where that is none, or more than one.
int tier_of_pool(const Snapshot& numbers, std::size_t pool);

class PoolsView : public QWidget {
  Q_OBJECT

 public:
  explicit PoolsView(QWidget* parent = nullptr);

  void set_plan(const Plan& plan);
  void set_numbers(const Snapshot& numbers, double in_flight_units);
  // Bytes of the KV cache that hold something; negative: not known.
  void set_kv_used(double bytes);
  // Of the whole device, every program's; total 0: not known.
  // `host_bytes`: of main memory in all, where the device has its own.
  void set_device_memory(double used_bytes, double total_bytes, double host_bytes = 0);

  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  // Draws, or with no painter only measures. Returns the height.
  double lay_out(QPainter* painter, double width) const;
  double budget_bar(QPainter* painter, double top, double width) const;
  double legend(QPainter* painter, double top, double width) const;
  double pool_bars(QPainter* painter, double top, double width) const;
  double bar(QPainter* painter, double top, double width, const QString& name, double used, double total,
             const QColor& colour, const QString& value) const;
  QString part_name(const BudgetPart& part) const;
  QString part_value(const BudgetPart& part) const;
  QColor part_colour(const BudgetPart& part) const;
  QString host_value() const;
  void tell();

  Plan plan_;
  Snapshot numbers_;
  std::vector<BudgetPart> parts_;
  double in_flight_units_ = 0;
  double kv_used_ = -1, device_used_ = 0, device_total_ = 0, main_memory_ = 0;
};

}  // namespace fovea::ui
