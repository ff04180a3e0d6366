// The demo model's own start: experts that move without anybody setting a budget, and questions that it,
// or another model, answers well.
#pragma once

#include <QObject>
#include <filesystem>
#include <optional>

#include "app/library/model_worker.h"
#include "engine/api/engine.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

class ChatController;

class DemoStart : public QObject {
  Q_OBJECT

 public:
  // `model`: the demo's file in the model library.
  DemoStart(ChatController& chat, ui::ChatWindow& window, std::filesystem::path model,
            std::filesystem::path stores);
  // Stops what is being prepared; it goes on from there at the next start.
  ~DemoStart() override;

  // Gives a request for the demo on the processor, that says nothing of precision, the budget of
  // app/demo/demo_precision.h. While its store is missing the model opens as its file has it; the store is
  // prepared then, with calibration_text(), and the model opened again when no answer is under way.
  void apply(LoadOptions& request);

 private:
  void on_opened();
  void show_starters();
  void prepare();
  void show_progress(const Progress& progress);
  void show_failure(const Error& error);
  void open_again();

  ChatController& chat_;
  ui::ChatWindow& window_;
  std::filesystem::path model_, stores_;
  bool asked_ = false;              // the model that is being opened is to have the budget
  bool ready_ = false;              // the store is there, the model is to be opened again
  std::optional<Error> unplanned_;  // why the model that is being opened does not have it
  QString told_;                    // the notice of the preparation, as it stands
  QString before_it_;               // what was told before, which stays above it
  bool quiet_ = false;              // it was dismissed
  ModelWorker worker_;              // its thread ends first
};

}  // namespace fovea::app
