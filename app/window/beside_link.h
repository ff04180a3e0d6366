// One question with adaptive and with fixed experts, side by side: looks whether there is room, runs it on
// the engine's thread, and says how far each answer is from the full model.
#pragma once

#include <QObject>
#include <QPointer>
#include <array>

#include "app/advisor/beside.h"
#include "app/window/beside_offer.h"
#include "ui/models/beside_dialog.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

class ChatController;

class BesideLink : public QObject {
  Q_OBJECT

 public:
  BesideLink(ChatController& chat, ui::ChatWindow& window);

  // Plans the fixed mix and the full model, then shows the dialog with the conversation's last question.
  // Without a model whose experts follow the conversation it says so.
  void open();
  ui::BesideDialog* dialog() const { return dialog_; }
  void set_most_tokens(int tokens) { most_tokens_ = tokens; }  // of an answer; for tests

 private:
  void show(const Counterparts& found, const BesideSpeeds& speeds);
  void wait_for_answers();
  void start(const QString& question);
  void show_progress(const BesideProgress& progress);
  void show_result(const BesideResult& result);
  void show_error(const Error& error);

  ChatController& chat_;
  ui::ChatWindow& window_;
  bool looking_ = false, running_ = false;
  int most_tokens_;
  BesideOffer offer_;
  QPointer<ui::BesideDialog> dialog_;
};

}  // namespace fovea::app
