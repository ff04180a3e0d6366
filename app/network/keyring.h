// Where secrets lie: the system's keyring, or for tests another place.
#pragma once

#include <QString>
#include <functional>
#include <memory>

#include "engine/api/error.h"

class QObject;

namespace fovea::app {

class Keyring {
 public:
  virtual ~Keyring() = default;

  // Answers come once, on the owner's thread; not at all when the owner is gone.
  using Read = std::function<void(const Result<QString>& text)>;  // empty: no such entry
  using Done = std::function<void(const Result<void>& outcome)>;
  virtual void read(const QString& key, QObject* owner, Read done) = 0;
  virtual void write(const QString& key, const QString& text, QObject* owner, Done done) = 0;
  virtual void remove(const QString& key, QObject* owner, Done done) = 0;  // one that is not there: removed
};

std::shared_ptr<Keyring> system_keyring();

}  // namespace fovea::app
