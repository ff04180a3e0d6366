// The hub and the queue of downloads on a thread of their own, for a window that must not wait: questions go
// in from any thread, answers come as signals with plain data.
#pragma once

#include <QObject>
#include <QThread>
#include <memory>
#include <vector>

#include "app/download/downloads.h"
#include "app/download/hub_types.h"
#include "app/network/network.h"
#include "app/network/token_store.h"

namespace fovea::app {

struct DownloadWorkerSettings {
  DownloadsSettings downloads;
  NetworkSettings network =
      NetworkSettings::from_environment();  // offline: the user's switch, or the variable's
  HubSettings hub = HubSettings::from_environment();
  std::shared_ptr<Keyring> keyring = {};  // null: the system's
};

class DownloadWorker : public QObject {
  Q_OBJECT

 public:
  explicit DownloadWorker(DownloadWorkerSettings settings, QObject* parent = nullptr);
  // What runs is kept as it is on the disk; the next program goes on with it.
  ~DownloadWorker() override;

 public Q_SLOTS:
  void search(const QString& text);
  void list(const QString& repository);
  void add(const fovea::app::DownloadRequest& request);
  void pause(std::int64_t id);
  void resume(std::int64_t id);
  void cancel(std::int64_t id);
  void remove(std::int64_t id);
  void set_offline(bool offline);
  // Into and out of the system's keyring; for the hub that the settings name.
  void save_token(const QString& token);
  void forget_token();

 Q_SIGNALS:
  void found(const QString& text, const std::vector<fovea::app::HubModel>& models);
  // asked: the name in list(); the repository may be called otherwise today.
  void listed(const QString& asked, const fovea::app::HubRepository& repository,
              const std::vector<fovea::app::ModelChoice>& choices);
  // A search, a listing or the keyring; about: what was asked.
  void failed(const QString& about, const fovea::Error& error);
  // The hub shows what was asked for only to some; after failed().
  void tokenWanted(const QString& about);
  void tokenSaved();
  // still: what is used in its place from now on.
  void tokenForgotten(fovea::app::TokenSource still);
  // The list of downloads could not be read, or is another Fovea's.
  void listTroubled(const fovea::Error& error);
  void changed(const fovea::app::DownloadStatus& status);
  void removed(std::int64_t id);

 private:
  struct Parts;
  template <class Work>
  void post(Work work);
  void tell(const QString& about, const HubFailure& failure);

  QThread thread_;
  Parts* parts_;  // lives on thread_ and ends with it
};

}  // namespace fovea::app
