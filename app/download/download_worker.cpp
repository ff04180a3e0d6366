#include "app/download/download_worker.h"

#include "app/download/model_choices.h"

namespace fovea::app {

constexpr int max_found = 50;

// Everything that belongs to the thread, made and ended there.
struct DownloadWorker::Parts : public QObject {
  explicit Parts(DownloadWorkerSettings given) : settings(std::move(given)) {}

  void begin(DownloadWorker* worker) {
    network = std::make_unique<Network>(settings.network);
    tokens = std::make_unique<TokenStore>(settings.hub.endpoint.host(), settings.keyring);
    client = std::make_unique<HubClient>(*network, settings.hub, tokens.get());
    downloads = std::make_unique<Downloads>(*client, settings.downloads);
    connect(downloads.get(), &Downloads::changed, worker, &DownloadWorker::changed);
    connect(downloads.get(), &Downloads::removed, worker, &DownloadWorker::removed);
    const auto started = downloads->start();
    for (const DownloadStatus& status : downloads->list()) Q_EMIT worker->changed(status);
    if (!started) Q_EMIT worker->listTroubled(started.error());
  }

  DownloadWorkerSettings settings;
  std::unique_ptr<Network> network;
  std::unique_ptr<TokenStore> tokens;
  std::unique_ptr<HubClient> client;
  std::unique_ptr<Downloads> downloads;
};

DownloadWorker::DownloadWorker(DownloadWorkerSettings settings, QObject* parent)
    : QObject(parent), parts_(new Parts(std::move(settings))) {
  qRegisterMetaType<HubRepository>();
  qRegisterMetaType<std::vector<HubModel>>();
  qRegisterMetaType<std::vector<ModelChoice>>();
  qRegisterMetaType<fovea::Error>();
  qRegisterMetaType<DownloadStatus>();
  qRegisterMetaType<TokenSource>();
  thread_.setObjectName(QStringLiteral("downloads"));
  parts_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, parts_, &QObject::deleteLater);
  thread_.start();
  post([this](Parts& parts) { parts.begin(this); });
}

DownloadWorker::~DownloadWorker() {
  thread_.quit();
  thread_.wait();
}

template <class Work>
void DownloadWorker::post(Work work) {
  QMetaObject::invokeMethod(
      parts_, [parts = parts_, work = std::move(work)] { work(*parts); }, Qt::QueuedConnection);
}

void DownloadWorker::tell(const QString& about, const HubFailure& failure) {
  Q_EMIT failed(about, failure.error);
  if (failure.wants_token()) Q_EMIT tokenWanted(about);
}

void DownloadWorker::search(const QString& text) {
  post([this, text](Parts& parts) {
    parts.client->search(text, max_found, &parts,
                         [this, text](const HubResult<std::vector<HubModel>>& models) {
                           models ? Q_EMIT found(text, *models) : tell(text, models.error());
                         });
  });
}

void DownloadWorker::list(const QString& repository) {
  post([this, repository](Parts& parts) {
    parts.client->list(
        repository.toStdString(), "main", &parts, [this, repository](const HubResult<HubRepository>& files) {
          files ? Q_EMIT listed(repository, *files, model_choices(*files)) : tell(repository, files.error());
        });
  });
}

void DownloadWorker::add(const DownloadRequest& request) {
  post([request](Parts& parts) { parts.downloads->add(request); });
}

void DownloadWorker::pause(std::int64_t id) {
  post([id](Parts& parts) { parts.downloads->pause(id); });
}

void DownloadWorker::resume(std::int64_t id) {
  post([id](Parts& parts) { parts.downloads->resume(id); });
}

void DownloadWorker::cancel(std::int64_t id) {
  post([id](Parts& parts) { parts.downloads->cancel(id); });
}

void DownloadWorker::remove(std::int64_t id) {
  post([id](Parts& parts) { parts.downloads->remove(id); });
}

void DownloadWorker::set_offline(bool offline) {
  post([offline](Parts& parts) { parts.network->set_offline(offline); });
}

void DownloadWorker::save_token(const QString& token) {
  post([this, token](Parts& parts) {
    parts.tokens->save(token, [this, token, &parts](const Result<void>& saved) {
      if (!saved) return Q_EMIT failed(QString(), saved.error());
      parts.client->set_token(token.trimmed());
      Q_EMIT tokenSaved();
    });
  });
}

void DownloadWorker::forget_token() {
  post([this](Parts& parts) {
    parts.tokens->forget([this, &parts](const Result<void>& forgotten) {
      if (!forgotten) return Q_EMIT failed(QString(), forgotten.error());
      parts.tokens->find([this, &parts](const Token& still) {
        parts.client->set_token(still.text);
        Q_EMIT tokenForgotten(still.source);
      });
    });
  });
}

}  // namespace fovea::app
