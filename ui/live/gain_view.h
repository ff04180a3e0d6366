// Whether changing the experts' tiers pays in this session, in one plain sentence.
#pragma once

#include <QWidget>

#include "ui/live/live_data.h"

class QLabel;
class QPushButton;

namespace fovea::ui {

// The sentence that a user reads.
QString gain_sentence(const PolicyGain& gain);

class GainView : public QWidget {
  Q_OBJECT

 public:
  explicit GainView(QWidget* parent = nullptr);
  void set_gain(const PolicyGain& gain);

 Q_SIGNALS:
  void switchRequested();           // to a fixed mix
  void choosePrecisionRequested();  // where no policy is at work

 private:
  class Bars;
  QLabel* sentence_;
  Bars* bars_;
  QPushButton *switch_, *choose_;
};

}  // namespace fovea::ui
