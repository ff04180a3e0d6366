// A tour's captions, above what they speak of, and the buttons by which one goes on, waits or leaves.
#pragma once

#include <QString>
#include <QWidget>

class QLabel;
class QToolButton;

namespace fovea::ui {

struct TourCaption {
  enum class Phase : std::uint8_t {
    waits,   // for a model
    runs,    // an answer is written, or its numbers are to be read
    paused,  //
    ended,   // keep the conversation, or not?
    failed,  // it cannot begin
  };
  Phase phase = Phase::runs;
  int step = 0, steps = 0;  // from 1; 0: none yet
  QString text;

  bool operator==(const TourCaption&) const = default;
};

class TourView : public QWidget {
  Q_OBJECT

 public:
  explicit TourView(QWidget* parent = nullptr);
  void set_caption(const TourCaption& caption);
  QString text() const;

 Q_SIGNALS:
  void pauseRequested(bool pause);
  void skipRequested();
  void endRequested();
  void conversationKept(bool keep);  // the tour is over

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  // Escape ends it

 private:
  TourCaption caption_;
  QLabel *step_, *text_;
  QToolButton *pause_, *skip_, *end_, *keep_, *remove_;
};

}  // namespace fovea::ui
