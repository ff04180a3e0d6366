// The language of the window. The translations are in the program; English is what the source says.
#pragma once

#include <QString>
#include <vector>

namespace fovea::ui {

struct WindowLanguage {
  QString code;  // "de"
  QString name;  // in the language itself
};

const std::vector<WindowLanguage>& languages();

// The one that is meant by a setting; empty: the system's where it is there, else English.
QString chosen_language(const QString& wanted);

// Texts that are made from now on are in this language, Qt's own too where the system has their translation
// (package qt6-translations-l10n). Numbers follow the system, except where a language was asked for.
void use_language(const QString& wanted);

}  // namespace fovea::ui
