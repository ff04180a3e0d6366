// Compares the open model with other settings: plans what there is to choose, runs it on the engine's thread,
// and says what is lost and gained.
#pragma once

#include <QObject>
#include <QPointer>
#include <optional>

#include "app/advisor/comparison.h"
#include "app/advisor/counterparts.h"
#include "ui/models/compare_dialog.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

class ChatController;

// `other`: the words of the first setting. The second one is the open model's.
QString comparison_sentence(const SettingsComparison& found, const QString& other);

class CompareLink : public QObject {
  Q_OBJECT

 public:
  CompareLink(ChatController& chat, ui::ChatWindow& window);

  // Looks at what there is to choose, then shows the dialog. Without a model it says so.
  void open();
  ui::CompareDialog* dialog() const { return dialog_; }
  // Shorter than usual, for tests.
  void set_speed(const CalibrationSettings& speed) { speed_ = speed; }

 Q_SIGNALS:
  // Which share of the other setting's choices of experts the model makes too, as it was opened.
  void routersCompared(const fovea::LoadOptions& opened, double share, const QString& other);

 private:
  void show(const Counterparts& found);
  void wait_for_answers();
  void start(int choice, const QString& text_file);
  void stop();
  void run(int choice, const std::string& text);
  void show_progress(const ComparisonProgress& progress);
  void show_result(const SettingsComparison& found);
  void show_error(const Error& error);

  ChatController& chat_;
  ui::ChatWindow& window_;
  std::optional<CalibrationSettings> speed_;
  bool looking_ = false;  // what there is to choose is being planned
  Counterparts found_;
  QString now_, other_;  // what is compared
  int running_ = -1;     // the choice; -1: none
  int begun_ = 0;        // by the dialog, and its stops: what is read for an earlier one is not compared
  QPointer<ui::CompareDialog> dialog_;
};

}  // namespace fovea::app
