// The server's switch: starts and stops what answers other programs beside the window, and says how it is.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/settings/settings.h"
#include "app/window/server_key.h"
#include "engine/api/plan.h"
#include "ui/settings/server_page.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

class ChatController;

class ServerLink : public QObject {
  Q_OBJECT

 public:
  using PlanText = std::function<std::string(const LoadPlan&)>;
  using NamedPaths = std::vector<std::pair<std::string, std::filesystem::path>>;

  // plan_text: of /fovea/plan. key_file: where the key is without a keyring.
  ServerLink(ChatController& chat, ui::ChatWindow& window, PlanText plan_text,
             std::filesystem::path key_file);
  // Ends clients' answers, and waits for them.
  ~ServerLink() override;

  // From now on what apply() chooses is done.
  void begin();
  // Starts, stops or starts anew, where the choice is another one. Models that programs name are loaded as
  // the window would: with these settings.
  void apply(const Settings& settings, const LoadOptions& load);
  // Of other folders than Fovea's own.
  void set_models(NamedPaths models);
  void retry();
  void renew_key();
  // Nothing is answered any more; for a window that closes.
  void end();

  const ui::ServerStateView& state() const { return state_; }
  // The model is loaded for so many answers at once: the window's own and others'.
  static std::int64_t sequences_for(const ServerChoice& choice) { return choice.on ? 1 + choice.slots : 1; }

  // For tests, before begin(): another keyring than the system's.
  void set_keyring(std::shared_ptr<Keyring> keyring);

 Q_SIGNALS:
  void changed(const fovea::ui::ServerStateView& state);

 private:
  struct Running;
  struct Started;
  struct Loading;

  void restart();
  void take_key(const Result<ServerKey::Kept>& key);
  void start(const std::string& key);
  void take(int turn, Started& started);
  void take_failure(const Started& started);
  void fail_with(const QString& sentence);
  void leave();
  void count();
  void show(ui::ServerStateView::State state, const QString& sentence, const QString& address = {});
  void offer_room();

  ChatController& chat_;
  ui::ChatWindow& window_;
  PlanText plan_text_;
  std::unique_ptr<ServerKey> key_;
  ServerChoice choice_;
  bool begun_ = false;
  int turn_ = 0;  // of starting: what an earlier one gives is not wanted
  ui::ServerStateView state_;
  QTimer counting_{this};
  std::shared_ptr<Loading> loading_;  // how clients' models are loaded
  std::shared_ptr<Running> running_;  // null: nothing is answered
  QThreadPool lane_;                  // one thread: starts and stops, one after the other
};

}  // namespace fovea::app
