// Feeds the live panel, and does what it asks for on other threads.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <filesystem>

#include "app/window/engine_worker.h"

namespace fovea::ui {
class LivePanel;
struct LiveExport;
}  // namespace fovea::ui

namespace fovea::app {

class ChatController;

class LiveController : public QObject {
  Q_OBJECT

 public:
  LiveController(ui::LivePanel& panel, ChatController& chat);

 private:
  void show_model();
  void show_conversation();
  void show_timings(const Timings& so_far);
  void read_memory();
  void measure_link();
  void save(const QString& path, const ui::LiveExport& data);
  void open_recording(const QString& path);
  PrecisionRequest fixed_mix() const;
  void offer_fixed_mix();
  void switch_to_fixed_mix();

  QPointer<ui::LivePanel> panel_;  // the window owns it
  ChatController& chat_;
  QTimer memory_timer_{this};
  std::filesystem::path measured_;  // the store that was read
  double link_bytes_per_s_ = 0;
};

}  // namespace fovea::app
