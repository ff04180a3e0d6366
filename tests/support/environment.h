// Environment variables of this process, which are as they were when the test is over.
#pragma once

#include <QByteArray>
#include <initializer_list>
#include <map>
#include <utility>

#include "tests/support/paths.h"

namespace fovea::tests {

class Environment {
 public:
  // A null value: without this variable.
  Environment(std::initializer_list<std::pair<const char*, QByteArray>> variables) {
    for (const auto& [name, value] : variables) {
      before_.try_emplace(name, qgetenv(name));
      put(name, value);
    }
  }
  Environment(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) put(name, value);
  }

 private:
  static void put(const char* name, const QByteArray& value) {
    value.isNull() ? qunsetenv(name) : qputenv(name, value);
  }
  std::map<const char*, QByteArray> before_;
};

// The data folder while it lives: empty at first, and gone afterwards.
class DataFolder : public TemporaryFolder {
  Environment environment_{{"FOVEA_DATA", QByteArray::fromStdString(path().string())}};
};

}  // namespace fovea::tests
