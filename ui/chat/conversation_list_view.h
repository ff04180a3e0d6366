// The sidebar's list as a place to drag in: conversations into folders and out of them, folders to other
// places.
#pragma once

#include <QListView>

namespace fovea::ui {

class ConversationListView : public QListView {
  Q_OBJECT

 public:
  explicit ConversationListView(QWidget* parent = nullptr);

  // What one of its rows said of itself (QAbstractItemModel::mimeData) is let go of there. Whether that moves
  // something.
  bool drop(const QMimeData& data, const QPoint& position);

 Q_SIGNALS:
  void conversationDropped(qint64 conversation, qint64 folder);  // 0: into none
  void folderDropped(qint64 folder, qint64 at);                  // into another folder's place
  void plusPressed(qint64 folder);                               // of its row

 protected:
  void startDrag(Qt::DropActions actions) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Target {
    bool possible = false;
    qint64 folder = 0;  // where it goes
    int row = -1;       // that shows it; -1: none does
  };
  Target target_of(const QMimeData& data, const QPoint& position) const;
  void show_target(int row);
  qint64 plus_at(const QPoint& position) const;

  int target_row_ = -1;
  qint64 pressed_plus_ = 0;
};

}  // namespace fovea::ui
