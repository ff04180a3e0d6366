// The presets and prompts that are kept: found, used, and changed.
#pragma once

#include <QDialog>
#include <functional>
#include <vector>

#include "ui/chat/preset_view.h"

class QTabWidget;

namespace fovea::ui {

class SavedList;

class PresetsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PresetsDialog(QWidget* parent = nullptr);

  void set_presets(const std::vector<PresetView>& presets);
  void set_prompts(const std::vector<PromptView>& prompts);
  void choose_preset(const QString& id);
  void choose_prompt(const QString& id);

 Q_SIGNALS:
  void presetUsed(const QString& id);
  void promptUsed(const QString& id);
  void presetEditWanted(const fovea::ui::PresetView& preset);  // id empty: a new one
  void presetSaved(const fovea::ui::PresetView& preset);       // id empty: a new one
  void presetDeleted(const QString& id);
  void promptSaved(const fovea::ui::PromptView& prompt);  // id empty: a new one
  void promptDeleted(const QString& id);

 private:
  void connect_presets();
  void connect_prompts();
  const PresetView* preset(const QString& id) const;
  const PromptView* prompt(const QString& id) const;
  void edit_prompt(const PromptView& prompt);
  void ask_before(const QString& question, std::function<void()> act);

  std::vector<PresetView> presets_;
  std::vector<PromptView> prompts_;
  QTabWidget* tabs_;
  SavedList* preset_list_;
  SavedList* prompt_list_;
};

}  // namespace fovea::ui
