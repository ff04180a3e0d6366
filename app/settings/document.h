// The settings as a JSON document in which everything unknown keeps its place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"

namespace fovea::app {

class SettingsDocument {
 public:
  // Empty when the text is a JSON object; otherwise what is wrong with it and in which line.
  static Phrase fault(std::string_view text);

  // The text must be without fault, or empty.
  explicit SettingsDocument(std::string_view text);
  ~SettingsDocument();

  // A value that does not fit is replaced by the default, with a sentence in `notices` (may be null).
  Settings settings(std::vector<Phrase>* notices) const;
  // Writes the fields in which the two differ. False when there are none.
  bool apply(const Settings& before, const Settings& after);
  std::string text() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
