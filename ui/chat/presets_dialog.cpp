#include "ui/chat/presets_dialog.h"

#include <QLocale>
#include <QMessageBox>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat/prompt_dialog.h"
#include "ui/chat/saved_list.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

// What tells it from others: its instructions, else how daring it is.
QString preview_of(const ChatSettingsView& settings) {
  if (!settings.instructions.isEmpty()) return settings.instructions;
  if (settings.temperature)
    return PresetsDialog::tr("Temperature %1").arg(QLocale().toString(*settings.temperature, 'g', 3));
  return PresetsDialog::tr("Without instructions");
}

// A new one like it.
template <class View>
View copy_of(View view) {
  view.id.clear();
  view.built_in = false;
  view.name = PresetsDialog::tr("%1 (copy)").arg(view.name);
  return view;
}

}  // namespace

PresetsDialog::PresetsDialog(QWidget* parent)
    : QDialog(parent),
      tabs_(new QTabWidget(this)),
      preset_list_(new SavedList(tr("Presets"), tr("Use in this chat"), this)),
      prompt_list_(new SavedList(tr("Prompts"), tr("Insert"), this)) {
  setWindowTitle(tr("Presets and prompts"));
  preset_list_->setObjectName(QStringLiteral("presets"));
  prompt_list_->setObjectName(QStringLiteral("prompts"));
  tabs_->setDocumentMode(true);
  tabs_->addTab(preset_list_, tr("Presets"));
  tabs_->addTab(prompt_list_, tr("Prompts"));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(tabs_, 1);
  connect_presets();
  connect_prompts();
  open_with(*this,
            sizeHint().expandedTo({fontMetrics().averageCharWidth() * 84, fontMetrics().lineSpacing() * 26}));
}

void PresetsDialog::connect_presets() {
  connect(preset_list_, &SavedList::useRequested, this, &PresetsDialog::presetUsed);
  connect(preset_list_, &SavedList::newRequested, this, [this] { Q_EMIT presetEditWanted({}); });
  connect(preset_list_, &SavedList::editRequested, this, [this](const QString& id) {
    if (const PresetView* found = preset(id))
      Q_EMIT presetEditWanted(found->built_in ? copy_of(*found) : *found);
  });
  connect(preset_list_, &SavedList::copyRequested, this, [this](const QString& id) {
    if (const PresetView* found = preset(id)) Q_EMIT presetSaved(copy_of(*found));
  });
  connect(preset_list_, &SavedList::deleteRequested, this, [this](const QString& id) {
    if (const PresetView* found = preset(id))
      ask_before(tr("Delete the preset “%1”? Chats that use it stay as they are.").arg(found->name),
                 [this, id] { Q_EMIT presetDeleted(id); });
  });
}

void PresetsDialog::connect_prompts() {
  connect(prompt_list_, &SavedList::useRequested, this, &PresetsDialog::promptUsed);
  connect(prompt_list_, &SavedList::newRequested, this, [this] { edit_prompt({}); });
  connect(prompt_list_, &SavedList::editRequested, this, [this](const QString& id) {
    if (const PromptView* found = prompt(id)) edit_prompt(found->built_in ? copy_of(*found) : *found);
  });
  connect(prompt_list_, &SavedList::copyRequested, this, [this](const QString& id) {
    if (const PromptView* found = prompt(id)) Q_EMIT promptSaved(copy_of(*found));
  });
  connect(prompt_list_, &SavedList::deleteRequested, this, [this](const QString& id) {
    if (const PromptView* found = prompt(id))
      ask_before(tr("Delete the prompt “%1”?").arg(found->name), [this, id] { Q_EMIT promptDeleted(id); });
  });
}

void PresetsDialog::ask_before(const QString& question, std::function<void()> act) {
  auto* box = new QMessageBox(QMessageBox::Question, windowTitle(), question, QMessageBox::Cancel, this);
  box->setObjectName(QStringLiteral("deleteSaved"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->addButton(tr("Delete"), QMessageBox::AcceptRole);
  connect(box, &QMessageBox::accepted, this, std::move(act));
  box->open();
}

void PresetsDialog::edit_prompt(const PromptView& view) {
  auto* editor = new PromptDialog(view, this);
  editor->setAttribute(Qt::WA_DeleteOnClose);
  connect(editor, &QDialog::accepted, this, [this, editor] { Q_EMIT promptSaved(editor->prompt()); });
  editor->open();
}

void PresetsDialog::set_presets(const std::vector<PresetView>& presets) {
  presets_ = presets;
  std::vector<SavedItem> items;
  for (const PresetView& each : presets)
    items.push_back({each.id, each.name, preview_of(each.settings), each.built_in});
  preset_list_->set_items(items);
}

void PresetsDialog::set_prompts(const std::vector<PromptView>& prompts) {
  prompts_ = prompts;
  std::vector<SavedItem> items;
  for (const PromptView& each : prompts) items.push_back({each.id, each.name, each.text, each.built_in});
  prompt_list_->set_items(items);
}

void PresetsDialog::choose_preset(const QString& id) {
  preset_list_->choose(id);
}

void PresetsDialog::choose_prompt(const QString& id) {
  prompt_list_->choose(id);
}

const PresetView* PresetsDialog::preset(const QString& id) const {
  const auto found = std::ranges::find(presets_, id, &PresetView::id);
  return found == presets_.end() ? nullptr : &*found;
}

const PromptView* PresetsDialog::prompt(const QString& id) const {
  const auto found = std::ranges::find(prompts_, id, &PromptView::id);
  return found == prompts_.end() ? nullptr : &*found;
}

}  // namespace fovea::ui
