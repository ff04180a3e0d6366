// What stands in the empty conversation while no model is open: the ways to one.
#pragma once

#include <QWidget>

class QLabel;

namespace fovea::ui {

class WelcomeView : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomeView(QWidget* parent = nullptr);

 Q_SIGNALS:
  void wizardRequested();
  void modelsRequested();
  void fileRequested();

 private:
  QLabel* title_;
};

}  // namespace fovea::ui
