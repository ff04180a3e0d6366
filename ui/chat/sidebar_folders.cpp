// The sidebar's folders, and the menus of its rows.
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

#include "ui/chat/conversation_list.h"
#include "ui/chat/conversation_list_view.h"
#include "ui/chat/sidebar.h"

namespace fovea::ui {
namespace {

// What a menu shows of it as it is.
QString menu_text(QString name) {
  return name.replace(QLatin1Char('&'), QLatin1String("&&"));
}

}  // namespace

void Sidebar::show_menu(const QPoint& position) {
  const QModelIndex index = list_->indexAt(position);
  QMenu menu(this);
  if (!index.isValid() || index.data(ConversationListModel::HeadingRole).toBool()) {
    menu.addAction(tr("New folder"), this, [this] { Q_EMIT newFolderRequested(0); });
  } else if (const qint64 folder = index.data(ConversationListModel::FolderRole).toLongLong(); folder != 0) {
    fill_folder_menu(menu, folder);
  } else {
    fill_conversation_menu(menu, index);
  }
  menu.exec(list_->viewport()->mapToGlobal(position));
}

void Sidebar::fill_conversation_menu(QMenu& menu, const QModelIndex& index) {
  const qint64 id = index.data(ConversationListModel::IdRole).toLongLong();
  const bool pinned = index.data(ConversationListModel::PinnedRole).toBool();
  menu.addAction(tr("Rename"), this, [this, index = QPersistentModelIndex(index)] { list_->edit(index); });
  menu.addAction(pinned ? tr("Unpin") : tr("Pin"), this,
                 [this, id, pinned] { Q_EMIT pinRequested(id, !pinned); });
  fill_move_menu(*menu.addMenu(tr("Move to folder")), id);
  menu.addSeparator();
  menu.addAction(tr("Export as Markdown…"), this,
                 [this, id] { Q_EMIT exportRequested(id, ExportFormat::markdown); });
  menu.addAction(tr("Export as JSON…"), this, [this, id] { Q_EMIT exportRequested(id, ExportFormat::json); });
  menu.addSeparator();
  menu.addAction(tr("Delete"), this, [this, id] { Q_EMIT deleteRequested(id); });
}

bool Sidebar::is_pinned(qint64 conversation) const {
  const auto item = std::ranges::find(conversations_, conversation, &ConversationItem::id);
  return item != conversations_.end() && item->pinned;
}

void Sidebar::fill_move_menu(QMenu& menu, qint64 conversation) {
  const auto item = std::ranges::find(conversations_, conversation, &ConversationItem::id);
  const qint64 now = item == conversations_.end() ? 0 : item->folder;
  const auto add = [&](const QString& text, qint64 folder) {
    QAction* action = menu.addAction(
        text, this, [this, conversation, folder] { Q_EMIT moveRequested(conversation, folder); });
    action->setCheckable(true);
    action->setChecked(folder == now);
  };
  for (const FolderItem& folder : folders_) add(menu_text(folder.name), folder.id);
  if (!folders_.empty()) {
    menu.addSeparator();
    add(tr("No folder"), 0);
  }
  menu.addAction(tr("New folder"), this, [this, conversation] { Q_EMIT newFolderRequested(conversation); });
}

void Sidebar::fill_folder_menu(QMenu& menu, qint64 folder) {
  const int place = place_of(folder);
  menu.addAction(tr("New chat in this folder"), this, [this, folder] { Q_EMIT newChatInRequested(folder); });
  menu.addAction(tr("What new chats start with…"), this,
                 [this, folder] { Q_EMIT folderSettingsRequested(folder); });
  menu.addSeparator();
  menu.addAction(tr("Rename"), this, [this, folder] { rename_folder(folder); });
  menu.addAction(tr("Move up"), this,
                 [this, folder, place] { Q_EMIT folderPlaceRequested(folder, place - 1); })
      ->setEnabled(place > 0);
  menu.addAction(tr("Move down"), this,
                 [this, folder, place] { Q_EMIT folderPlaceRequested(folder, place + 1); })
      ->setEnabled(place + 1 < static_cast<int>(folders_.size()));
  menu.addSeparator();
  menu.addAction(tr("New folder"), this, [this] { Q_EMIT newFolderRequested(0); });
  menu.addAction(tr("Delete the folder"), this, [this, folder] { delete_folder(folder); });
}

bool Sidebar::folder_keys(const QModelIndex& index, const QKeyEvent& event) {
  const qint64 folder = index.data(ConversationListModel::FolderRole).toLongLong();
  const int key = event.key();
  if (folder == 0) {
    const QModelIndex around =
        model_->index_of_folder(index.data(ConversationListModel::InFolderRole).toLongLong());
    if (key != Qt::Key_Left || !around.isValid()) return false;
    list_->setCurrentIndex(around);
    return true;
  }
  const bool collapsed = index.data(ConversationListModel::CollapsedRole).toBool();
  const bool control = event.modifiers() & Qt::ControlModifier;
  if (control && (key == Qt::Key_Up || key == Qt::Key_Down)) {
    const int place = place_of(folder) + (key == Qt::Key_Up ? -1 : 1);
    if (place >= 0 && place < static_cast<int>(folders_.size())) Q_EMIT folderPlaceRequested(folder, place);
    return true;
  }
  switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      set_collapsed(folder, key == Qt::Key_Left);
      return true;
    case Qt::Key_Space:
      set_collapsed(folder, !collapsed);
      return true;
    case Qt::Key_Delete:
      delete_folder(folder);
      return true;
    default:
      return false;
  }
}

void Sidebar::set_collapsed(qint64 folder, bool collapsed) {
  const auto item = std::ranges::find(folders_, folder, &FolderItem::id);
  if (item == folders_.end() || item->collapsed == collapsed) return;
  item->collapsed = collapsed;
  show_rows();
  Q_EMIT folderCollapsed(folder, collapsed);
}

// So that its row is there.
void Sidebar::expand_around(qint64 conversation) {
  const auto item = std::ranges::find(conversations_, conversation, &ConversationItem::id);
  if (item != conversations_.end()) set_collapsed(item->folder, false);
}

int Sidebar::place_of(qint64 folder) const {
  const auto item = std::ranges::find(folders_, folder, &FolderItem::id);
  return static_cast<int>(item - folders_.begin());
}

void Sidebar::rename_folder(qint64 folder) {
  if (!model_->index_of_folder(folder).isValid()) field_->clear();  // a search shows no folders
  if (const QModelIndex index = model_->index_of_folder(folder); index.isValid()) {
    list_->setCurrentIndex(index);
    list_->edit(index);
  }
}

// An empty one goes at once: nobody could miss anything of it.
void Sidebar::delete_folder(qint64 folder) {
  const auto item = std::ranges::find(folders_, folder, &FolderItem::id);
  if (item == folders_.end()) return;
  const auto inside = std::ranges::count(conversations_, folder, &ConversationItem::folder);
  if (inside == 0) return Q_EMIT folderDeleteRequested(folder);
  auto* question = new QMessageBox(QMessageBox::Question, tr("Delete the folder"),
                                   tr("Delete the folder “%1”?").arg(item->name), QMessageBox::Cancel, this);
  question->setObjectName(QStringLiteral("deleteFolder"));
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->setInformativeText(
      tr("%n conversation(s) in it are kept, in no folder.", nullptr, static_cast<int>(inside)));
  QPushButton* remove = question->addButton(tr("Delete the folder"), QMessageBox::AcceptRole);
  connect(question, &QMessageBox::accepted, this, [this, folder] { Q_EMIT folderDeleteRequested(folder); });
  question->setDefaultButton(remove);
  question->open();
}

}  // namespace fovea::ui
