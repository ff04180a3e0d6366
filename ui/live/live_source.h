// Where the live panel gets what it draws, and to whom it tells what its user does. Implemented in app/live.
#pragma once

#include <QImage>
#include <QObject>
#include <functional>
#include <optional>
#include <vector>

#include "ui/live/live_data.h"
#include "ui/live/data/map_frame.h"

namespace fovea::ui {

// All of it on the GUI's thread.
class LiveSource : public QObject {
  Q_OBJECT

 public:
  // The moment in view is held still, is the same as before, is another.
  enum class Step : std::uint8_t { held, waiting, moved };
  enum class SaveAs : std::uint8_t { png, csv, json_lines };

  using QObject::QObject;

  // Called ten times a second while the panel is seen, less often for large maps: takes what the engine has
  // to show, and goes on by so much in what is played.
  virtual Step advance(double played_seconds) = 0;

  virtual std::optional<NothingToSee> nothing() const = 0;
  virtual const ShownModel& model() const = 0;
  virtual Alarms alarms() const = 0;

  // Of the moment in view; asked for only where there is something to see.
  virtual ShownMoment moment() const = 0;
  virtual const SnapshotNumbers& numbers() const = 0;          // without its units
  virtual const MapFrame& frame() = 0;                         // until it is asked for again
  virtual std::vector<FreshChange> fresh_changes() const = 0;  // the newest first
  virtual std::vector<UnitChange> last_changes() const = 0;    // [units]
  virtual const FollowedExperts& followed() const = 0;
  virtual std::optional<ExpertStory> looked_at() = 0;  // of the expert of look_at()
  virtual Traffic traffic() const = 0;
  virtual MemoryParts memory() = 0;
  virtual Judgement judge() = 0;
  virtual QualityLine quality_line() const = 0;
  virtual std::vector<Chapter> story() = 0;  // the newest first
  // [units] 1 for the conversation's busiest experts; empty when it is not known.
  virtual std::vector<std::uint8_t> busiest_experts(const QString& conversation) const = 0;

  virtual void freeze() = 0;
  virtual void go_to(std::int64_t index) = 0;  // and stays there
  virtual void set_playing(bool playing) = 0;
  virtual void back_to_live() = 0;
  virtual void toggle_followed(std::int64_t unit) = 0;
  virtual void look_at(std::optional<std::int64_t> unit) = 0;  // at one expert; none: at the map again
  // Holds what is in view, to be written to the file that the user chooses next. The picture: of SaveAs::png.
  virtual std::function<void(const QString& path)> saver(SaveAs format, const QImage& picture) = 0;

 Q_SIGNALS:
  void modelChanged();     // that in view
  void momentChanged();    // otherwise than by advance()
  void measuresChanged();  // alarms(), memory() and traffic() are others
};

}  // namespace fovea::ui
