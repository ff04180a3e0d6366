#include "app/window/server_key.h"

#include <utility>

#include "app/library/data_folder.h"
#include "app/server/access.h"
#include "app/window/errors.h"

namespace fovea::app {
namespace {

const QString& entry() {
  static const QString name = QStringLiteral("server");
  return name;
}

bool is_there(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

}  // namespace

ServerKey::ServerKey(std::filesystem::path file, std::shared_ptr<Keyring> keyring, QObject* parent)
    : QObject(parent), file_(std::move(file)), keyring_(keyring ? std::move(keyring) : system_keyring()) {}

void ServerKey::find(Found found) {
  keyring_->read(entry(), this, [this, found = std::move(found)](const Result<QString>& text) {
    if (text && !text->isEmpty()) return found(Kept{text->toStdString(), false});
    if (is_there(file_)) {
      auto key = read_key(file_);
      if (!key) return found(std::unexpected(std::move(key).error()));
      return found(Kept{*std::move(key), true});
    }
    const bool is_locked = !text && text.error().kind != ErrorKind::not_found;
    if (is_locked) return found(std::unexpected(errors::server_key_locked()));
    renew(found);
  });
}

void ServerKey::renew(Found made) {
  const std::string key = make_key();
  keyring_->write(entry(), QString::fromStdString(key), this,
                  [this, key, made = std::move(made)](const Result<void>& written) {
                    if (!written && written.error().kind != ErrorKind::not_found)
                      return made(std::unexpected(errors::server_key_locked()));
                    if (!written) return keep_in_file(key, made);
                    std::error_code error;
                    std::filesystem::remove(file_, error);  // of a time without a keyring
                    made(Kept{key, false});
                  });
}

void ServerKey::keep_in_file(const std::string& key, const Found& done) {
  if (const auto folder = make_folder(file_.parent_path()); !folder)
    return done(std::unexpected(folder.error()));
  if (const auto written = write_key(file_, key); !written) return done(std::unexpected(written.error()));
  done(Kept{key, true});
}

}  // namespace fovea::app
