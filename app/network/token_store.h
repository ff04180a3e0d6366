// The user's access token for the hub. It lies in the system's keyring; the environment and what other tools
// have stored are read, never written. A token is in no log, no error and no address.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <optional>

#include "app/network/keyring.h"
#include "engine/api/error.h"

namespace fovea::app {

enum class TokenSource : std::uint8_t { none, environment, keyring, hub_file };

struct Token {
  QString text;  // empty: there is none
  TokenSource source = TokenSource::none;
  std::optional<Error> trouble = {};  // why the keyring could not be read
};

class TokenStore : public QObject {
  Q_OBJECT

 public:
  // host: whose token it is ("huggingface.co"). keyring: null: the system's.
  explicit TokenStore(QString host, std::shared_ptr<Keyring> keyring = {}, QObject* parent = nullptr);

  // HF_TOKEN; else the keyring; else the file that the hub's own tools write (HF_TOKEN_PATH, $HF_HOME/token).
  // A keyring that cannot be read, or is locked for long, counts as empty; the token says why.
  void find(std::function<void(Token)> found);
  // HF_TOKEN only; never waits.
  static Token from_environment();

  // Into and out of the keyring. Without a keyring service the error says so, and that HF_TOKEN is the way.
  void save(const QString& token, std::function<void(Result<void>)> done);
  void forget(std::function<void(Result<void>)> done);

 private:
  QString host_;
  std::shared_ptr<Keyring> keyring_;
};

}  // namespace fovea::app
