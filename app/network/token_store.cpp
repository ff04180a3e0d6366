#include "app/network/token_store.h"

#include <filesystem>

#include "app/files/files.h"
#include "app/network/errors.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace {

constexpr std::int64_t token_file_limit_bytes = 4096;

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

}  // namespace

TokenStore::TokenStore(QString host, std::shared_ptr<Keyring> keyring, QObject* parent)
    : QObject(parent), host_(std::move(host)), keyring_(keyring ? std::move(keyring) : system_keyring()) {}

Token TokenStore::from_environment() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const QString token = usable(qEnvironmentVariable(name)); !token.isEmpty())
      return {token, TokenSource::environment};
  return {};
}

void TokenStore::find(std::function<void(Token)> found) {
  if (Token token = from_environment(); !token.text.isEmpty()) return found(token);
  keyring_->read(host_, this, [found = std::move(found)](const Result<QString>& text) {
    if (text)
      if (const QString token = usable(*text); !token.isEmpty()) return found({token, TokenSource::keyring});
    const QString token = from_hub_file();
    Token other{token, token.isEmpty() ? TokenSource::none : TokenSource::hub_file};
    if (!text) other.trouble = text.error();
    if (!text) log::info("network", text.error().message());
    found(other);
  });
}

void TokenStore::save(const QString& token, std::function<void(Result<void>)> done) {
  const QString clean = usable(token);
  if (clean.isEmpty()) return done(std::unexpected(errors::token_unusable().at(phrases::access_token())));
  keyring_->write(host_, clean, this, std::move(done));
}

void TokenStore::forget(std::function<void(Result<void>)> done) {
  keyring_->remove(host_, this, std::move(done));
}

}  // namespace fovea::app
