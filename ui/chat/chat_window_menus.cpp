// The main window's menus: every command, with its keys.
#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QToolButton>
#include <algorithm>

#include "ui/chat/chat_window.h"
#include "ui/chat/command_palette.h"
#include "ui/chat/composer.h"
#include "ui/chat/concepts_page.h"
#include "ui/chat/shortcuts_dialog.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/token_lens.h"
#include "ui/chat/transcript_view.h"

namespace fovea::ui {

QAction* ChatWindow::add_action(QMenu* menu, const char* name, const QString& text,
                                const QKeySequence& keys) {
  auto* action = new QAction(text, this);
  action->setObjectName(QLatin1String(name));
  action->setShortcut(keys);
  menu->addAction(action);
  addAction(action);  // its keys work without a menu bar
  return action;
}

void ChatWindow::make_menus() {
  const auto key = [](auto... parts) { return QKeySequence((... | parts)); };

  QMenu* file = menuBar()->addMenu(tr("&File"));
  connect(add_action(file, "newChatAction", tr("&New chat"), QKeySequence::New), &QAction::triggered, this,
          &ChatWindow::newChatRequested);
  connect(add_action(file, "newFolderAction", tr("New fol&der"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_F)),
          &QAction::triggered, this, [this] {
            show_sidebar(true);
            Q_EMIT sidebar_->newFolderRequested(0);
          });
  file->addSeparator();
  connect(add_action(file, "openFileAction", tr("&Open a file…"), QKeySequence::Open), &QAction::triggered,
          this, &ChatWindow::open_file);
  connect(add_action(file, "openFolderAction", tr("Open a &folder…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_O)),
          &QAction::triggered, this, &ChatWindow::open_folder);
  connect(
      add_action(file, "wizardAction", tr("Find a model that fi&ts…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_S)),
      &QAction::triggered, this, &ChatWindow::wizardRequested);
  connect(add_action(file, "modelsAction", tr("&Models…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_M)),
          &QAction::triggered, this, &ChatWindow::modelsRequested);
  connect(add_action(file, "downloadsAction", tr("&Download a model…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_D)),
          &QAction::triggered, this, &ChatWindow::downloadsRequested);
  file->addSeparator();
  connect(add_action(file, "importAction", tr("&Import conversations…"), {}), &QAction::triggered, this,
          &ChatWindow::import_file);
  QMenu* exporting = file->addMenu(tr("&Export this conversation"));
  const auto export_as = [this](ExportFormat format) {
    Q_EMIT sidebar_->exportRequested(sidebar_->current(), format);
  };
  connect(add_action(exporting, "exportMarkdownAction", tr("As &Markdown…"), {}), &QAction::triggered, this,
          [export_as] { export_as(ExportFormat::markdown); });
  connect(add_action(exporting, "exportJsonAction", tr("As &JSON…"), {}), &QAction::triggered, this,
          [export_as] { export_as(ExportFormat::json); });
  when_stored_.push_back(exporting->menuAction());
  deleted_menu_ = file->addMenu(tr("&Bring back what was deleted"));
  deleted_menu_->setObjectName(QStringLiteral("deletedMenu"));
  connect(deleted_menu_, &QMenu::aboutToShow, this, &ChatWindow::deletedWanted);
  set_deleted({});
  file->addSeparator();
  connect(add_action(file, "quitAction", tr("&Quit"), QKeySequence::Quit), &QAction::triggered, this,
          &QWidget::close);

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  connect(add_action(edit, "findAction", tr("&Find in this conversation"), QKeySequence::Find),
          &QAction::triggered, transcript_, &TranscriptView::open_find);
  connect(add_action(edit, "searchAction", tr("&Search all conversations"), key(Qt::CTRL, Qt::Key_K)),
          &QAction::triggered, this, [this] {
            show_sidebar(true);
            sidebar_->focus_search();
          });
  edit->addSeparator();
  connect(add_action(edit, "settingsAction", tr("Se&ttings…"), key(Qt::CTRL, Qt::Key_Comma)),
          &QAction::triggered, this, &ChatWindow::settingsRequested);

  QMenu* chat = menuBar()->addMenu(tr("&Chat"));
  stop_ = add_action(chat, "stopAction", tr("&Stop the answer"), {});
  stop_->setShortcuts({QKeySequence(Qt::Key_Escape), key(Qt::CTRL, Qt::Key_Period)});
  connect(stop_, &QAction::triggered, this, &ChatWindow::stopRequested);
  const auto idle = [this, chat](const char* name, const QString& text, const QKeySequence& keys,
                                 auto signal) {
    when_idle_.push_back(add_action(chat, name, text, keys));
    connect(when_idle_.back(), &QAction::triggered, this, signal);
  };
  idle("regenerateAction", tr("&Another answer"), key(Qt::CTRL, Qt::Key_R), &ChatWindow::regenerateRequested);
  idle("continueAction", tr("&Continue the answer"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_R),
       &ChatWindow::continueRequested);
  idle("editAction", tr("&Edit the last message"), key(Qt::CTRL, Qt::Key_E), &ChatWindow::editRequested);
  chat->addSeparator();
  connect(
      add_action(chat, "chatSettingsAction", tr("Chat se&ttings…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_Comma)),
      &QAction::triggered, this, &ChatWindow::chatSettingsRequested);
  presets_menu_ = chat->addMenu(tr("&Use a preset"));
  presets_menu_->setObjectName(QStringLiteral("presetsMenu"));
  prompts_menu_ = chat->addMenu(tr("&Insert a prompt"));
  prompts_menu_->setObjectName(QStringLiteral("promptsMenu"));
  connect(add_action(chat, "presetsAction", tr("&Presets and prompts…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_U)),
          &QAction::triggered, this, &ChatWindow::presetsRequested);
  connect(add_action(chat, "compareAction", tr("Co&mpare…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_E)),
          &QAction::triggered, this, &ChatWindow::compareRequested);
  connect(add_action(chat, "besideAction", tr("Fixed and adaptive side &by side…"), {}), &QAction::triggered,
          this, &ChatWindow::besideRequested);
  chat->addSeparator();
  const auto stored = [this, chat](const char* name, const QString& text, const QKeySequence& keys,
                                   auto act) {
    when_stored_.push_back(add_action(chat, name, text, keys));
    connect(when_stored_.back(), &QAction::triggered, this, act);
  };
  stored("renameAction", tr("&Rename…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_N), [this] {
    show_sidebar(true);
    sidebar_->rename(sidebar_->current());
  });
  stored("pinAction", tr("Pi&n"), {}, [this] {
    const qint64 current = sidebar_->current();
    Q_EMIT sidebar_->pinRequested(current, !sidebar_->is_pinned(current));
  });
  pin_ = when_stored_.back();
  pin_->setCheckable(true);
  move_menu_ = chat->addMenu(tr("Mo&ve to folder"));
  move_menu_->setObjectName(QStringLiteral("moveMenu"));
  when_stored_.push_back(move_menu_->menuAction());
  connect(sidebar_, &Sidebar::foldersChanged, this, &ChatWindow::tell_place);
  connect(chat, &QMenu::aboutToShow, this, &ChatWindow::tell_place);
  stored("deleteAction", tr("&Delete this conversation"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_Delete),
         [this] { Q_EMIT sidebar_->deleteRequested(sidebar_->current()); });

  view_menu_ = menuBar()->addMenu(tr("&View"));
  QAction* sidebar = add_action(view_menu_, "sidebarAction", tr("&Conversations"), key(Qt::CTRL, Qt::Key_B));
  sidebar->setCheckable(true);
  sidebar->setChecked(true);
  connect(sidebar, &QAction::triggered, this, [this] { show_sidebar(sidebar_dock_->isHidden()); });
  connect(sidebar_dock_, &QDockWidget::visibilityChanged, sidebar,
          [this, sidebar] { sidebar->setChecked(!sidebar_dock_->isHidden()); });
  view_menu_->addSeparator();
  TokenLens* lens = &transcript_->lens();
  QAction* inside =
      add_action(view_menu_, "lookInsideAction", tr("Look &inside the answers"), key(Qt::CTRL, Qt::Key_I));
  inside->setCheckable(true);
  connect(inside, &QAction::triggered, lens, &TokenLens::set_on);
  connect(lens, &TokenLens::switched, inside, &QAction::setChecked);
  QAction* low =
      add_action(view_menu_, "markLowAction", tr("&Mark low precision"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_I));
  low->setCheckable(true);
  connect(low, &QAction::triggered, lens, &TokenLens::set_marks_low);
  view_menu_->addSeparator();
  const auto text_size = [this](const char* name, const QString& text, const QKeySequence& keys, int step) {
    connect(add_action(view_menu_, name, text, keys), &QAction::triggered, this,
            [this, step] { Q_EMIT textSizeRequested(step); });
  };
  text_size("largerAction", tr("&Larger text"), QKeySequence::ZoomIn, 1);
  text_size("smallerAction", tr("&Smaller text"), QKeySequence::ZoomOut, -1);
  text_size("normalSizeAction", tr("&Normal text size"), key(Qt::CTRL, Qt::Key_0), 0);

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  connect(add_action(help, "commandsAction", tr("&Find a command…"), key(Qt::CTRL, Qt::SHIFT, Qt::Key_P)),
          &QAction::triggered, this, &ChatWindow::show_commands);
  connect(add_action(help, "tourAction", tr("Take the &tour"), {}), &QAction::triggered, this,
          &ChatWindow::tourRequested);
  connect(add_action(help, "conceptsAction", tr("&How Fovea works"), {}), &QAction::triggered, this,
          &ChatWindow::show_concepts);
  connect(add_action(help, "shortcutsAction", tr("&Keyboard"), QKeySequence::HelpContents),
          &QAction::triggered, this, &ChatWindow::show_shortcuts);
  connect(add_action(help, "aboutAction", tr("&About Fovea"), {}), &QAction::triggered, this,
          &ChatWindow::show_about);

  // What is done with the conversation shows it.
  for (const char* name : {"newChatAction", "findAction", "regenerateAction", "continueAction", "editAction"})
    connect(findChild<QAction*>(QLatin1String(name)), &QAction::triggered, this, &ChatWindow::leave_page);

  // One button instead of a bar, unless the desktop has a bar of its own.
  auto* all = new QMenu(more_);
  all->addActions(menuBar()->actions());
  more_->setMenu(all);
  more_->setShortcut(Qt::Key_F10);
  menuBar()->setVisible(menuBar()->isNativeMenuBar());
}

void ChatWindow::set_deleted(const std::vector<ConversationItem>& conversations) {
  deleted_menu_->clear();
  for (const ConversationItem& item : conversations) {
    QString title = item.title;
    title.replace(QLatin1Char('&'), QLatin1String("&&"));
    deleted_menu_->addAction(title, this, [this, id = item.id] { Q_EMIT restoreRequested(id); });
  }
  if (conversations.empty())
    deleted_menu_->addAction(tr("Nothing was deleted in the last 30 days"))->setEnabled(false);
}

void ChatWindow::set_saved(const std::vector<PresetView>& presets, const std::vector<PromptView>& prompts) {
  prompts_ = prompts;
  const auto shown = [](QString name) { return name.replace(QLatin1Char('&'), QLatin1String("&&")); };
  presets_menu_->clear();
  for (const PresetView& preset : presets)
    presets_menu_->addAction(shown(preset.name), this,
                             [this, id = preset.id] { Q_EMIT presetRequested(id); });
  prompts_menu_->clear();
  for (const PromptView& prompt : prompts)
    prompts_menu_->addAction(shown(prompt.name), this, [this, id = prompt.id] { insert_prompt(id); });
  composer_->set_prompts(prompts);
}

void ChatWindow::insert_prompt(const QString& id) {
  const auto prompt = std::ranges::find(prompts_, id, &PromptView::id);
  if (prompt == prompts_.end()) return;
  composer_->insert(prompt->text);
  composer_->focus_input();
}

// Of the conversation in the list.
void ChatWindow::tell_place() {
  pin_->setChecked(sidebar_->is_pinned(sidebar_->current()));
  move_menu_->clear();
  sidebar_->fill_move_menu(*move_menu_, sidebar_->current());
}

void ChatWindow::update_actions() {
  stop_->setEnabled(state_ == State::generating || state_ == State::waiting);
  const bool has_messages = transcript_->message_count() > 0;
  for (QAction* action : when_idle_) action->setEnabled(state_ == State::ready && has_messages);
  for (QAction* action : when_stored_) action->setEnabled(sidebar_->current() != 0);
  tell_place();
}

void ChatWindow::open_file() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open a model"), {}, tr("Models (*.gguf);;All files (*)"));
  if (!path.isEmpty()) Q_EMIT modelRequested(path);
}

void ChatWindow::open_folder() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Open a model folder"));
  if (!path.isEmpty()) Q_EMIT modelRequested(path);
}

void ChatWindow::import_file() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Import conversations"), {}, tr("Conversations of Fovea or ChatGPT (*.json);;All files (*)"));
  if (!path.isEmpty()) Q_EMIT importRequested(path);
}

void ChatWindow::show_commands() {
  tell_place();
  // The panel's work on what is seen of it.
  auto* palette = new CommandPalette(*menuBar(), has_panel() ? more_commands_ : QList<QMenu*>(), this);
  palette->setAttribute(Qt::WA_DeleteOnClose);
  palette->open();
}

void ChatWindow::show_concepts() {
  if (qobject_cast<ConceptsPage*>(page_)) return;
  auto* page = new ConceptsPage(this);
  page->setAttribute(Qt::WA_DeleteOnClose);
  show_page(*page, SidebarPlace::other);
}

void ChatWindow::show_shortcuts() {
  auto* dialog = new ShortcutsDialog(*menuBar(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void ChatWindow::show_about() {
  QMessageBox::about(
      this, tr("About Fovea"),
      tr("<b>Fovea %1</b><p>Large Mixture-of-Experts models on your own machine: each expert only "
         "as precise as the conversation needs it now.</p><p>Licence: Apache-2.0. Fovea uses Qt "
         "under the LGPL.</p>")
          .arg(QApplication::applicationVersion()));
}

}  // namespace fovea::ui
