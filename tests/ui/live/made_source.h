// A source that shows what a test puts into it and notes what it is told, and a model of two layers of eight
// experts, small enough to be counted by hand.
#pragma once

#include <QColor>
#include <QStringList>

#include "ui/live/live_source.h"

namespace fovea::ui {
class LivePanel;
}

namespace fovea::tests {

// Layer 1 is hotter to the right.
Snapshot small_snapshot();

class MadeSource : public ui::LiveSource {
 public:
  std::optional<ui::NothingToSee> none;
  ui::ShownModel shown_model{.experts_used = 2, .moves_experts = true};
  ui::ShownMoment shown;
  ui::Alarms raised;
  std::vector<ui::FreshChange> fresh;
  std::vector<ui::UnitChange> last;
  ui::FollowedExperts follows;
  std::optional<std::int64_t> looked_unit;
  std::vector<ui::UnitChange> looked_changes;
  ui::Traffic seen_traffic;
  ui::MemoryParts parts;
  ui::Judgement judgement;
  ui::QualityLine line;
  std::vector<ui::Chapter> chapters;  // the newest first
  QStringList told;                   // "freeze", "go to 3", …

  MadeSource() { show(small_snapshot()); }
  void show(const Snapshot& snapshot);

  Step advance(double) override { return Step::held; }
  std::optional<ui::NothingToSee> nothing() const override { return none; }
  const ui::ShownModel& model() const override { return shown_model; }
  ui::Alarms alarms() const override { return raised; }
  ui::ShownMoment moment() const override { return shown; }
  const SnapshotNumbers& numbers() const override { return numbers_; }
  const ui::MapFrame& frame() override { return frame_; }
  std::vector<ui::FreshChange> fresh_changes() const override { return fresh; }
  std::vector<ui::UnitChange> last_changes() const override { return last; }
  const ui::FollowedExperts& followed() const override { return follows; }
  std::optional<ui::ExpertStory> looked_at() override;
  void look_at(std::optional<std::int64_t> unit) override { looked_unit = unit; }
  ui::Traffic traffic() const override { return seen_traffic; }
  ui::MemoryParts memory() override { return parts; }
  ui::Judgement judge() override { return judgement; }
  ui::QualityLine quality_line() const override { return line; }
  std::vector<ui::Chapter> story() override { return chapters; }
  std::vector<std::uint8_t> busiest_experts(const QString&) const override { return {}; }
  void freeze() override { told += QStringLiteral("freeze"); }
  void go_to(std::int64_t index) override { told += QStringLiteral("go to %1").arg(index); }
  void set_playing(bool on) override { told += on ? QStringLiteral("play") : QStringLiteral("pause"); }
  void back_to_live() override { told += QStringLiteral("live"); }
  void toggle_followed(std::int64_t unit) override { told += QStringLiteral("follow %1").arg(unit); }
  std::function<void(const QString& path)> saver(SaveAs, const QImage&) override {
    return [](const QString&) {};
  }

 private:
  Snapshot numbers_;
  ui::MapFrame frame_;
};

// In the middle of a cell of the panel's map.
QColor pixel(ui::LivePanel& panel, int layer, int slot);

}  // namespace fovea::tests
