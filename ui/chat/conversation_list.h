// The sidebar's rows: folders with what is in them, the other conversations under headings by age, or what a
// search found.
#pragma once

#include <QAbstractListModel>
#include <QFontMetrics>
#include <QStyledItemDelegate>
#include <vector>

#include "ui/chat/conversation_item.h"

namespace fovea::ui {

// A line that is too long for its place (in pixels) and would lose the first thing that was found in it:
// begun later, so that this is seen. `matches` (start, length) move along.
QString begun_in_sight(const QString& line, QVariantList& matches, const QFontMetrics& metrics, int width);

class ConversationListModel : public QAbstractListModel {
  Q_OBJECT

 public:
  enum Role {
    IdRole = Qt::UserRole,
    MessageRole,
    HeadingRole,
    PinnedRole,
    SnippetRole,
    MatchesRole,
    WorkRole,
    FolderRole,    // of a folder's row: its id; of others 0
    InFolderRole,  // of a conversation that stands under its folder: the folder's id
    CollapsedRole,
    CountRole  // of conversations in a folder
  };
  enum class Work { none, waiting, answering };

  explicit ConversationListModel(QObject* parent = nullptr);

  // Pinned ones first, then by age; they come in that order. `today` divides those that are in no folder.
  void set_conversations(const std::vector<ConversationItem>& items, const QDate& today,
                         const std::vector<FolderItem>& folders = {});
  void set_results(const std::vector<SearchItem>& items);
  void set_at_work(qint64 answering, const std::vector<qint64>& waiting);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // Renaming in place: emits renamed() or folderRenamed() and leaves the row as it is until the list is set
  // again.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  QModelIndex index_of(qint64 conversation) const;  // invalid: not in the list
  QModelIndex index_of_folder(qint64 folder) const;

  // What is dragged: a number in text.
  static QString conversation_type();
  static QString folder_type();
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;

 Q_SIGNALS:
  void renamed(qint64 id, const QString& title);
  void folderRenamed(qint64 id, const QString& name);

 private:
  struct Row {
    QString heading;  // not empty: a heading, nothing else
    qint64 id = 0;
    qint64 message = 0;
    QString title;
    bool pinned = false;
    QString snippet;
    QString tooltip;
    QVariantList matches;  // QPoint(start, length): of the snippet, or of the title without one
    qint64 folder = 0;     // not 0: it is this folder, and no conversation
    qint64 in_folder = 0;
    QString folder_name;  // that it is in
    bool collapsed = false;
    int count = 0;
  };
  void add_heading(const QString& text);
  void add_folders(const std::vector<ConversationItem>& items, const std::vector<FolderItem>& folders);
  void add_conversation(const ConversationItem& item, const FolderItem* folder);
  QString spoken(const Row& row) const;
  Work work_of(const Row& row) const;

  std::vector<Row> rows_;
  qint64 answering_ = 0;
  std::vector<qint64> waiting_;
};

class ConversationDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const override;
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override;
};

}  // namespace fovea::ui
