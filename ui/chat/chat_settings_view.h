// How one conversation is answered. Plain data.
#pragma once

#include <QString>
#include <optional>

namespace fovea::ui {

struct ChatSettingsView {
  QString instructions;  // the system message
  std::optional<double> temperature, top_p, min_p, repetition_penalty, dry_multiplier;
  std::optional<int> top_k, max_tokens;
  std::optional<quint64> seed;
  std::optional<bool> thinking;
  QString effort;                 // "low", "medium", "high"; empty: as the model likes
  bool as_json = false;           // answers are JSON …
  QString schema;                 // … under this schema, kept where they are not; empty: any object
  bool leave_out_oldest = false;  // when the context is full
  bool operator==(const ChatSettingsView&) const = default;
};

}  // namespace fovea::ui
