// The engine's texts as Qt's.
#pragma once

#include <QString>
#include <string>

namespace fovea::app {

// text: UTF-8.
inline QString q(const std::string& text) {
  return QString::fromStdString(text);
}

}  // namespace fovea::app
