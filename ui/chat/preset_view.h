// What is kept under a name to be used again: how a conversation is answered, and what is asked. Plain data.
#pragma once

#include <QString>

#include "ui/chat/chat_settings_view.h"

namespace fovea::ui {

struct PresetView {
  QString id;  // empty: a new one
  QString name;
  ChatSettingsView settings;
  bool built_in = false;  // changed as a copy only
  bool operator==(const PresetView&) const = default;
};

struct PromptView {
  QString id;  // empty: a new one
  QString name;
  QString text;
  bool built_in = false;
  bool operator==(const PromptView&) const = default;
};

}  // namespace fovea::ui
