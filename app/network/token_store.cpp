#include "app/network/token_store.h"

#include <QTimer>
#include <filesystem>
#include <memory>
#include <qt6keychain/keychain.h>

#include "app/files/files.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace {

constexpr int keyring_wait_ms = 10000;  // it may ask the user to unlock it
constexpr std::int64_t token_file_limit_bytes = 4096;

const QString& service() {
  static const QString name = QStringLiteral("Fovea");
  return name;
}

// What a header can carry; anything else is a mistake in copying.
QString usable(const QString& text) {
  const QString token = text.trimmed();
  for (const QChar c : token)
    if (c.unicode() <= 0x20 || c.unicode() >= 0x7F) return {};
  return token;
}

QString from_hub_file() {
  std::filesystem::path path(qEnvironmentVariable("HF_TOKEN_PATH").toStdString());
  if (path.empty()) {
    std::filesystem::path home(qEnvironmentVariable("HF_HOME").toStdString());
    if (home.empty()) {
      const std::filesystem::path cache(qEnvironmentVariable("XDG_CACHE_HOME").toStdString());
      home = (cache.empty() ? std::filesystem::path(qEnvironmentVariable("HOME").toStdString()) / ".cache"
                            : cache) /
             "huggingface";
    }
    path = home / "token";
  }
  const auto text = read_file(path, token_file_limit_bytes);
  return text ? usable(QString::fromStdString(*text)) : QString();
}

Error keyring_error(const QKeychain::Job& job) {
  const bool absent = job.error() == QKeychain::NoBackendAvailable ||
                      job.error() == QKeychain::NotImplemented || job.error() == QKeychain::OtherError;
  if (job.error() == QKeychain::AccessDeniedByUser || job.error() == QKeychain::AccessDenied)
    return {ErrorKind::io, "keyring", "access to the system's keyring was denied",
            "Unlock it and try again, or set the environment variable HF_TOKEN"};
  return {absent ? ErrorKind::not_found : ErrorKind::io, "keyring",
          absent ? "the system has no keyring service that can be used" : "the system's keyring failed",
          "Start one (GNOME Keyring, KWallet), or set the environment variable HF_TOKEN"};
}

// Runs the job; its end, or the time's end, calls done exactly once.
void run(QKeychain::Job* job, QObject* owner, std::function<void(const QKeychain::Job*)> done) {
  auto once = std::make_shared<std::function<void(const QKeychain::Job*)>>(std::move(done));
  const auto call = [once](const QKeychain::Job* finished) {
    if (auto function = std::exchange(*once, nullptr)) function(finished);
  };
  job->setAutoDelete(true);
  job->setInsecureFallback(false);
  QObject::connect(job, &QKeychain::Job::finished, owner,
                   [call](QKeychain::Job* finished) { call(finished); });
  QTimer::singleShot(keyring_wait_ms, owner, [call] { call(nullptr); });
  job->start();
}

Result<void> outcome(const QKeychain::Job* job) {
  if (!job)
    return std::unexpected(Error{ErrorKind::io, "keyring", "the system's keyring does not answer",
                                 "Unlock it and try again, or set the environment variable HF_TOKEN"});
  if (job->error() == QKeychain::NoError || job->error() == QKeychain::EntryNotFound) return {};
  return std::unexpected(keyring_error(*job));
}

}  // namespace

TokenStore::TokenStore(QString host, QObject* parent) : QObject(parent), host_(std::move(host)) {}

Token TokenStore::from_environment() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const QString token = usable(qEnvironmentVariable(name)); !token.isEmpty())
      return {token, TokenSource::environment};
  return {};
}

void TokenStore::find(std::function<void(Token)> found) {
  if (Token token = from_environment(); !token.text.isEmpty()) return found(token);
  auto* job = new QKeychain::ReadPasswordJob(service());
  job->setKey(host_);
  run(job, this, [this, found = std::move(found)](const QKeychain::Job* finished) {
    const auto result = outcome(finished);
    keyring_trouble_ = result ? QString() : QString::fromStdString(result.error().message());
    if (!result) log::info("network", result.error().message());
    const auto* read = static_cast<const QKeychain::ReadPasswordJob*>(finished);
    if (result && read->error() == QKeychain::NoError)
      if (const QString token = usable(read->textData()); !token.isEmpty())
        return found({token, TokenSource::keyring});
    const QString token = from_hub_file();
    found({token, token.isEmpty() ? TokenSource::none : TokenSource::hub_file});
  });
}

void TokenStore::save(const QString& token, std::function<void(Result<void>)> done) {
  const QString clean = usable(token);
  if (clean.isEmpty())
    return done(std::unexpected(Error{ErrorKind::invalid, "token", "this is no access token",
                                      "Copy it again from the hub's settings, without spaces"}));
  auto* job = new QKeychain::WritePasswordJob(service());
  job->setKey(host_);
  job->setTextData(clean);
  run(job, this, [done = std::move(done)](const QKeychain::Job* finished) { done(outcome(finished)); });
}

void TokenStore::forget(std::function<void(Result<void>)> done) {
  auto* job = new QKeychain::DeletePasswordJob(service());
  job->setKey(host_);
  run(job, this, [done = std::move(done)](const QKeychain::Job* finished) { done(outcome(finished)); });
}

}  // namespace fovea::app
