#include "app/network/keyring.h"

#include <QTimer>
#include <qt6keychain/keychain.h>
#include <utility>

#include "app/network/errors.h"

namespace fovea::app {
namespace {

constexpr int keyring_wait_ms = 10000;  // it may ask the user to unlock it

const QString& service() {
  static const QString name = QStringLiteral("Fovea");
  return name;
}

Error keyring_error(const QKeychain::Job& job) {
  const bool absent = job.error() == QKeychain::NoBackendAvailable ||
                      job.error() == QKeychain::NotImplemented || job.error() == QKeychain::OtherError;
  if (job.error() == QKeychain::AccessDeniedByUser || job.error() == QKeychain::AccessDenied)
    return errors::keyring_denied().at(phrases::keyring());
  return (absent ? errors::keyring_absent() : errors::keyring_failed()).at(phrases::keyring());
}

Result<void> outcome(const QKeychain::Job* job) {
  if (!job) return std::unexpected(errors::keyring_silent().at(phrases::keyring()));
  if (job->error() == QKeychain::NoError || job->error() == QKeychain::EntryNotFound) return {};
  return std::unexpected(keyring_error(*job));
}

// Runs the job; its end, or the time's end, calls done exactly once.
void run(QKeychain::Job* job, const QString& key, QObject* owner,
         std::function<void(const QKeychain::Job*)> done) {
  auto once = std::make_shared<std::function<void(const QKeychain::Job*)>>(std::move(done));
  const auto call = [once](const QKeychain::Job* finished) {
    if (auto function = std::exchange(*once, nullptr)) function(finished);
  };
  job->setKey(key);
  job->setAutoDelete(true);
  job->setInsecureFallback(false);
  QObject::connect(job, &QKeychain::Job::finished, owner,
                   [call](QKeychain::Job* finished) { call(finished); });
  QTimer::singleShot(keyring_wait_ms, owner, [call] { call(nullptr); });
  job->start();
}

class SystemKeyring : public Keyring {
 public:
  void read(const QString& key, QObject* owner, Read done) override {
    run(new QKeychain::ReadPasswordJob(service()), key, owner,
        [done = std::move(done)](const QKeychain::Job* finished) {
          if (const auto result = outcome(finished); !result) return done(std::unexpected(result.error()));
          const auto* job = static_cast<const QKeychain::ReadPasswordJob*>(finished);
          done(job->error() == QKeychain::NoError ? job->textData() : QString());
        });
  }
  void write(const QString& key, const QString& text, QObject* owner, Done done) override {
    auto* job = new QKeychain::WritePasswordJob(service());
    job->setTextData(text);
    run(job, key, owner,
        [done = std::move(done)](const QKeychain::Job* finished) { done(outcome(finished)); });
  }
  void remove(const QString& key, QObject* owner, Done done) override {
    run(new QKeychain::DeletePasswordJob(service()), key, owner,
        [done = std::move(done)](const QKeychain::Job* finished) { done(outcome(finished)); });
  }
};

}  // namespace

std::shared_ptr<Keyring> system_keyring() {
  return std::make_shared<SystemKeyring>();
}

}  // namespace fovea::app
