#include "app/window/presets.h"

#include <QCoreApplication>
#include <QUuid>
#include <algorithm>
#include <optional>

#include "app/window/generation_settings.h"
#include "app/words/qt_text.h"

namespace fovea::app {
namespace {

struct PresetWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::Presets)
};

QString id_of(const Preset& preset) {
  return q(preset.id.empty() ? preset.name : preset.id);
}

ui::PresetView built_in(const char* id, const QString& name, const QString& instructions,
                        std::optional<double> temperature) {
  ui::PresetView preset{.id = QLatin1String(id), .name = name, .settings = {}, .built_in = true};
  preset.settings.instructions = instructions;
  preset.settings.temperature = temperature;
  return preset;
}

std::vector<ui::PresetView> built_in_presets() {
  return {
      built_in("built-in-precise", PresetWords::tr("Precise"),
               PresetWords::tr("Answer briefly and exactly. Say so when you do not know something."), 0.2),
      built_in("built-in-creative", PresetWords::tr("Creative"),
               PresetWords::tr("Be inventive: look for the unexpected word and the unexpected idea."), 1.1),
      built_in("built-in-simple", PresetWords::tr("Explain simply"),
               PresetWords::tr("Explain everything in plain words, step by step, with examples from everyday "
                               "life."),
               std::nullopt),
      built_in(
          "built-in-translate", PresetWords::tr("Translate"),
          PresetWords::tr("Translate every message into English, unless another language is named. Answer "
                          "with the translation alone."),
          0.3),
      built_in(
          "built-in-review", PresetWords::tr("Code review"),
          PresetWords::tr("Review the code that you are shown: first what is wrong, then what is hard to "
                          "read, each with a better version."),
          0.3),
  };
}

std::vector<ui::PromptView> built_in_prompts() {
  const auto prompt = [](const char* id, const QString& name, const QString& text) {
    return ui::PromptView{QLatin1String(id), name, text + QStringLiteral("\n\n"), true};
  };
  return {
      prompt("built-in-summarize", PresetWords::tr("Summarise"),
             PresetWords::tr("Summarise this text in a few sentences:")),
      prompt("built-in-improve", PresetWords::tr("Improve the wording"),
             PresetWords::tr("Improve the wording of this text, and keep what it says:")),
      prompt("built-in-tasks", PresetWords::tr("List the tasks"),
             PresetWords::tr("List the tasks that follow from this text:")),
      prompt("built-in-explain", PresetWords::tr("Explain the code"),
             PresetWords::tr("Explain what this code does, part by part:")),
  };
}

QString new_id() {
  return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

void put(std::vector<Preset>& all, Preset preset) {
  const auto same = std::ranges::find(all, q(preset.id), id_of);
  if (same == all.end()) {
    all.push_back(std::move(preset));
  } else {
    *same = std::move(preset);
  }
}

void take_out(std::vector<Preset>& all, const QString& id) {
  std::erase_if(all, [&id](const Preset& preset) { return id_of(preset) == id; });
}

}  // namespace

std::vector<ui::PresetView> presets_of(const Settings& settings) {
  std::vector<ui::PresetView> all;
  for (const Preset& preset : settings.system_prompts) {
    all.push_back({id_of(preset), q(preset.name), read_generation_settings(preset.settings), false});
    all.back().settings.instructions = q(preset.text);
  }
  std::ranges::copy(built_in_presets(), std::back_inserter(all));
  return all;
}

std::vector<ui::PromptView> prompts_of(const Settings& settings) {
  std::vector<ui::PromptView> all;
  for (const Preset& prompt : settings.prompts)
    all.push_back({id_of(prompt), q(prompt.name), q(prompt.text), false});
  std::ranges::copy(built_in_prompts(), std::back_inserter(all));
  return all;
}

ui::PresetView with_id(ui::PresetView preset) {
  if (preset.id.isEmpty()) preset.id = new_id();
  return preset;
}

ui::PromptView with_id(ui::PromptView prompt) {
  if (prompt.id.isEmpty()) prompt.id = new_id();
  return prompt;
}

void keep(const ui::PresetView& preset, Settings& settings) {
  put(settings.system_prompts, {preset.name.toStdString(), preset.settings.instructions.toStdString(),
                                preset.id.toStdString(), write_generation_settings(preset.settings)});
}

void keep(const ui::PromptView& prompt, Settings& settings) {
  put(settings.prompts, {prompt.name.toStdString(), prompt.text.toStdString(), prompt.id.toStdString()});
}

void forget_preset(const QString& id, Settings& settings) {
  take_out(settings.system_prompts, id);
}

void forget_prompt(const QString& id, Settings& settings) {
  take_out(settings.prompts, id);
}

}  // namespace fovea::app
