// Feeds the live panel's session, and does what the panel asks for on other threads.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <filesystem>
#include <optional>

#include "app/window/engine_worker.h"

namespace fovea::ui {
class LivePanel;
}

namespace fovea::app {

class ChatController;
class LiveSession;
struct LiveExport;

class LiveController : public QObject {
  Q_OBJECT

 public:
  LiveController(LiveSession& session, ui::LivePanel& panel, ChatController& chat);

  // Shown while the model is open as it was then, also when it was closed meanwhile.
  void set_fidelity(const LoadOptions& opened, double share, const QString& other);

 private:
  void show_model();
  void show_conversation();
  void show_timings(const Timings& so_far);
  void begin_chapter(const QString& question);
  void read_memory();
  void measure_link();
  void show_fidelity();
  void save(const QString& path, const LiveExport& data);
  void open_recording(const QString& path);
  bool is_adaptive() const;  // the open model's experts change places
  void offer_switch();
  void switch_policy();

  LiveSession& session_;           // the desktop's, which outlives the window
  QPointer<ui::LivePanel> panel_;  // the window owns it
  ChatController& chat_;
  QTimer memory_timer_{this};
  std::filesystem::path measured_;  // the store that was read
  double link_bytes_per_s_ = 0;
  struct Fidelity {
    LoadOptions opened;
    double share = 0;
    QString other;
  };
  std::optional<Fidelity> fidelity_;  // that was measured last
  // What the last switch to a fixed mix left, of which model.
  std::pair<std::filesystem::path, PrecisionRequest> left_;
};

}  // namespace fovea::app
