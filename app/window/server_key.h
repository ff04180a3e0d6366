// The key that other computers' programs must send: made here, kept in the system's keyring, or where there
// is none in a file that only its owner reads.
#pragma once

#include <QObject>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/network/keyring.h"

namespace fovea::app {

class ServerKey : public QObject {
  Q_OBJECT

 public:
  // keyring: null: the system's.
  ServerKey(std::filesystem::path file, std::shared_ptr<Keyring> keyring = {}, QObject* parent = nullptr);

  struct Kept {
    std::string text;
    bool in_file = false;  // else in the keyring
  };
  using Found = std::function<void(const Result<Kept>& key)>;
  // The one that is kept; one is made where there is none. server_key_locked where the keyring may have it
  // and does not answer.
  void find(Found found);
  // Another one in its place.
  void renew(Found made);

  const std::filesystem::path& file() const { return file_; }

 private:
  void keep_in_file(const std::string& key, const Found& done);

  std::filesystem::path file_;
  std::shared_ptr<Keyring> keyring_;
};

}  // namespace fovea::app
