#include "ui/chat/conversation_list_view.h"

#include <QDrag>
#include <QDropEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <utility>

#include "ui/chat/conversation_list.h"
#include "ui/chat/folder_row.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

using Model = ConversationListModel;

qint64 dragged(const QMimeData& data, const QString& type) {
  return data.data(type).toLongLong();
}

}  // namespace

ConversationListView::ConversationListView(QWidget* parent) : QListView(parent) {
  setDragEnabled(true);
  setDragDropMode(QAbstractItemView::DragDrop);
  setDropIndicatorShown(false);  // the folder itself shows it
}

void ConversationListView::startDrag(Qt::DropActions) {
  const QModelIndex index = currentIndex();
  if (!index.isValid() || !(index.flags() & Qt::ItemIsDragEnabled)) return;
  auto* drag = new QDrag(this);
  drag->setMimeData(model()->mimeData({index}));
  drag->setPixmap(viewport()->grab(visualRect(index)));
  drag->exec(Qt::MoveAction);
}

ConversationListView::Target ConversationListView::target_of(const QMimeData& data,
                                                             const QPoint& position) const {
  const QModelIndex under = indexAt(position);
  const qint64 of_row = under.data(Model::FolderRole).toLongLong();
  const qint64 folder = of_row != 0 ? of_row : under.data(Model::InFolderRole).toLongLong();
  const auto* rows = static_cast<const Model*>(model());
  const int shown = folder == 0 ? -1 : rows->index_of_folder(folder).row();
  if (const qint64 moved = dragged(data, Model::folder_type()); moved != 0)
    return {folder != 0 && folder != moved, folder, shown};
  const qint64 moved = dragged(data, Model::conversation_type());
  if (moved == 0) return {};
  const qint64 now = rows->index_of(moved).data(Model::InFolderRole).toLongLong();
  return {folder != now, folder, shown};
}

void ConversationListView::show_target(int row) {
  if (std::exchange(target_row_, row) != row) viewport()->update();
}

void ConversationListView::dragEnterEvent(QDragEnterEvent* event) {
  event->setAccepted(event->source() == this);
}

void ConversationListView::dragMoveEvent(QDragMoveEvent* event) {
  QListView::dragMoveEvent(event);  // scrolls at the edges
  const Target target =
      event->source() == this ? target_of(*event->mimeData(), event->position().toPoint()) : Target{};
  show_target(target.possible ? target.row : -1);
  if (target.possible) {
    event->setDropAction(Qt::MoveAction);
    event->accept();
  } else {
    event->ignore();
  }
}

void ConversationListView::dragLeaveEvent(QDragLeaveEvent* event) {
  show_target(-1);
  QListView::dragLeaveEvent(event);
}

void ConversationListView::dropEvent(QDropEvent* event) {
  show_target(-1);
  stopAutoScroll();
  setState(NoState);
  const bool moved = event->source() == this && drop(*event->mimeData(), event->position().toPoint());
  event->setDropAction(moved ? Qt::MoveAction : Qt::IgnoreAction);
  event->setAccepted(moved);
}

bool ConversationListView::drop(const QMimeData& data, const QPoint& position) {
  const Target target = target_of(data, position);
  if (!target.possible) return false;
  if (const qint64 folder = dragged(data, Model::folder_type()); folder != 0) {
    Q_EMIT folderDropped(folder, target.folder);
  } else {
    Q_EMIT conversationDropped(dragged(data, Model::conversation_type()), target.folder);
  }
  return true;
}

qint64 ConversationListView::plus_at(const QPoint& position) const {
  const QModelIndex index = indexAt(position);
  const qint64 folder = index.data(Model::FolderRole).toLongLong();
  return folder != 0 && folder_plus(visualRect(index)).contains(position) ? folder : 0;
}

void ConversationListView::mousePressEvent(QMouseEvent* event) {
  pressed_plus_ = event->button() == Qt::LeftButton ? plus_at(event->position().toPoint()) : 0;
  if (pressed_plus_ == 0) QListView::mousePressEvent(event);
}

void ConversationListView::mouseReleaseEvent(QMouseEvent* event) {
  const qint64 pressed = std::exchange(pressed_plus_, 0);
  if (pressed == 0) return QListView::mouseReleaseEvent(event);
  if (plus_at(event->position().toPoint()) == pressed) Q_EMIT plusPressed(pressed);
}

void ConversationListView::paintEvent(QPaintEvent* event) {
  QListView::paintEvent(event);
  if (target_row_ < 0) return;
  QPainter painter(viewport());
  const QRectF row(visualRect(model()->index(target_row_, 0)));
  style_paint::rounded(painter, row.adjusted(0, 1, 0, -1), radius::row, Qt::NoBrush, tones(palette()).accent,
                       focus_width);
}

}  // namespace fovea::ui
