// The presets and prompts that the settings keep, and those that come with the program.
#pragma once

#include <vector>

#include "app/settings/settings.h"
#include "ui/chat/preset_view.h"

namespace fovea::app {

// The user's own first, then those that are built in, in the user's language.
std::vector<ui::PresetView> presets_of(const Settings& settings);
std::vector<ui::PromptView> prompts_of(const Settings& settings);

// With an id that nothing else has, unless it has one.
ui::PresetView with_id(ui::PresetView preset);
ui::PromptView with_id(ui::PromptView prompt);

// In the place of the one with this id, else as the last one.
void keep(const ui::PresetView& preset, Settings& settings);
void keep(const ui::PromptView& prompt, Settings& settings);
void forget_preset(const QString& id, Settings& settings);
void forget_prompt(const QString& id, Settings& settings);

}  // namespace fovea::app
