// A tour: questions of different subjects, asked one after the other in a conversation of their own, answered
// at a speed one can read, with captions over the panel. What they count was counted.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <filesystem>

#include "ui/live/tour_view.h"

namespace fovea::ui {
class ChatWindow;
class LivePanel;
}  // namespace fovea::ui

namespace fovea::app {

class ChatController;
class LiveSession;

class Tour : public QObject {
  Q_OBJECT

 public:
  // `demo`: the demo model's file, which is opened where the open model moves no experts.
  Tour(ChatController& chat, ui::ChatWindow& window, ui::LivePanel& panel, LiveSession& session,
       std::filesystem::path demo);

  void start();
  bool is_under_way() const { return phase_ != Phase::none; }
  // For tests: faster than one can read.
  void set_speed(double tokens_per_second, int milliseconds_to_read, int most_tokens);

 private:
  enum class Phase : std::uint8_t { none, opening, asking, answering, reading, ended };

  void begin();
  void ask();
  void send();
  void go_on();
  void on_work();
  void read_numbers();
  void tell_numbers();
  void pause(bool pause);
  void skip();
  void end();
  void keep(bool keep);
  void leave();
  void show(ui::TourCaption::Phase phase, const QString& text);
  bool is_asking() const {
    return phase_ == Phase::asking || phase_ == Phase::answering || phase_ == Phase::reading;
  }
  bool moves() const;  // the open model's experts do

  ChatController& chat_;
  ui::ChatWindow& window_;
  QPointer<ui::LivePanel> panel_;
  LiveSession& session_;
  std::filesystem::path demo_;
  Phase phase_ = Phase::none;
  std::size_t step_ = 0;
  qint64 conversation_ = 0;  // its own; 0: not stored yet
  bool paused_ = false;
  QString text_;                           // the caption's
  QTimer reading_{this}, counting_{this};  // experts still move after the last token
  double tokens_per_second_;
  int most_tokens_;
};

}  // namespace fovea::app
