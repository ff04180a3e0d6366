#include "ui/chat/conversation_list.h"

#include <QLineEdit>
#include <QLocale>
#include <QMimeData>
#include <QPainter>
#include <QPoint>
#include <QTextLayout>
#include <algorithm>
#include <cmath>

#include "ui/chat/folder_row.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int kSide = 10;  // left and right of a row's text
constexpr int kGap = 7;    // above and below it

QVariantList points_of(const std::vector<MatchRange>& ranges) {
  QVariantList points;
  for (const MatchRange& range : ranges) points.append(QPoint(range.start, range.length));
  return points;
}

QString one_line(QString text) {
  text.replace(QLatin1Char('\n'), QLatin1Char(' '));
  return text;
}

// One line of text, cut off with … where it ends too late, with what was found in bold.
void draw_line(QPainter& painter, const QRect& area, const QString& whole, QVariantList matches,
               const QFont& font, const QColor& colour) {
  QFont bold_font = font;
  bold_font.setBold(true);
  const QString text = begun_in_sight(whole, matches, QFontMetrics(bold_font), area.width());
  const QFontMetrics metrics(font);
  const QString shown = metrics.elidedText(text, Qt::ElideRight, area.width());
  QTextLayout layout(shown, font);
  QTextOption option;
  option.setWrapMode(QTextOption::NoWrap);
  option.setTextDirection(text.isRightToLeft() ? Qt::RightToLeft : Qt::LeftToRight);
  layout.setTextOption(option);
  QList<QTextLayout::FormatRange> formats;
  for (const QVariant& match : matches) {
    const QPoint range = match.toPoint();
    if (range.x() >= shown.size()) break;
    QTextCharFormat bold;
    bold.setFontWeight(QFont::Bold);
    formats.append({range.x(), std::min<int>(range.y(), static_cast<int>(shown.size()) - range.x()), bold});
  }
  layout.setFormats(formats);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  if (line.isValid()) line.setLineWidth(area.width());
  layout.endLayout();
  painter.setPen(colour);
  painter.setFont(font);
  layout.draw(&painter, area.topLeft());
}

QString work_words(ConversationListModel::Work work) {
  switch (work) {
    case ConversationListModel::Work::none:
      return {};
    case ConversationListModel::Work::waiting:
      return ConversationListModel::tr("waiting to be answered");
    case ConversationListModel::Work::answering:
      return ConversationListModel::tr("is being answered");
  }
  return {};
}

// At the end of the row's line: full where an answer is written, a ring where one waits.
void draw_work(QPainter& painter, QRect& line, int height, ConversationListModel::Work work,
               const QColor& colour) {
  const double side = std::round(height * 0.4);
  const QRectF dot(line.right() - side, line.top() + (height - side) / 2, side, side);
  painter.setPen(QPen(colour, 1.6));
  painter.setBrush(work == ConversationListModel::Work::answering ? QBrush(colour) : QBrush(Qt::NoBrush));
  painter.drawEllipse(dot.adjusted(0.8, 0.8, -0.8, -0.8));
  line.setRight(static_cast<int>(dot.left()) - kSide / 2);
}

QFont small(QFont font) {
  font.setPointSizeF(font.pointSizeF() * 0.88);
  return font;
}

}  // namespace

QString begun_in_sight(const QString& line, QVariantList& matches, const QFontMetrics& metrics, int width) {
  if (matches.isEmpty()) return line;
  const QString dots = QStringLiteral("…");
  const int first = matches.front().toPoint().x();
  const int end = first + matches.front().toPoint().y();
  const auto is_seen = [&](const QString& text) {
    return metrics.horizontalAdvance(text) + metrics.horizontalAdvance(dots) < width;
  };
  if (metrics.horizontalAdvance(line) <= width || is_seen(line.left(end))) return line;
  // As much of what stands before it as there is room for, from the beginning of a word on.
  int begin = 0;
  do {
    const auto space = static_cast<int>(line.indexOf(QLatin1Char(' '), begin));
    begin = space < 0 || space >= first ? first : space + 1;
  } while (begin < first && !is_seen(dots + line.mid(begin, end - begin)));
  QVariantList moved;
  for (const QVariant& match : matches) {
    const QPoint range = match.toPoint();
    moved.append(QPoint(range.x() - begin + static_cast<int>(dots.size()), range.y()));
  }
  matches = moved;
  return dots + line.mid(begin);
}

ConversationListModel::ConversationListModel(QObject* parent) : QAbstractListModel(parent) {}

void ConversationListModel::add_heading(const QString& text) {
  Row row;
  row.heading = text;
  rows_.push_back(row);
}

void ConversationListModel::add_conversation(const ConversationItem& item, const FolderItem* folder) {
  Row row;
  row.id = item.id;
  row.title = one_line(item.title);
  row.pinned = item.pinned;
  row.tooltip = item.title + QLatin1Char('\n') + QLocale().toString(item.updated, QLocale::ShortFormat);
  if (folder) {
    row.in_folder = folder->id;
    row.folder_name = folder->name;
  }
  rows_.push_back(row);
}

void ConversationListModel::add_folders(const std::vector<ConversationItem>& items,
                                        const std::vector<FolderItem>& folders) {
  if (!folders.empty()) add_heading(tr("Folders"));
  for (const FolderItem& folder : folders) {
    Row row;
    row.folder = folder.id;
    row.title = one_line(folder.name);
    row.tooltip = folder.name;
    row.collapsed = folder.collapsed;
    row.count = static_cast<int>(std::ranges::count(items, folder.id, &ConversationItem::folder));
    rows_.push_back(row);
    if (folder.collapsed) continue;
    for (const ConversationItem& item : items)
      if (item.folder == folder.id) add_conversation(item, &folder);
  }
}

void ConversationListModel::set_conversations(const std::vector<ConversationItem>& items, const QDate& today,
                                              const std::vector<FolderItem>& folders) {
  beginResetModel();
  rows_.clear();
  add_folders(items, folders);
  QString heading;
  for (const ConversationItem& item : items) {
    if (std::ranges::find(folders, item.folder, &FolderItem::id) != folders.end()) continue;
    const qint64 days = item.updated.date().daysTo(today);
    QString section = days <= 0   ? tr("Today")
                      : days == 1 ? tr("Yesterday")
                      : days < 7  ? tr("Last seven days")
                                  : QLocale().toString(item.updated.date(), QStringLiteral("MMMM yyyy"));
    if (item.pinned) section = tr("Pinned");
    if (section != heading) add_heading(heading = section);
    add_conversation(item, nullptr);
  }
  endResetModel();
}

void ConversationListModel::set_results(const std::vector<SearchItem>& items) {
  beginResetModel();
  rows_.clear();
  for (const SearchItem& item : items) {
    Row row;
    row.id = item.conversation;
    row.message = item.message;
    row.title = one_line(item.title);
    row.pinned = item.pinned;
    row.snippet = one_line(item.snippet);
    row.tooltip = item.title;
    row.folder_name = item.folder;
    if (!item.folder.isEmpty()) row.tooltip += QLatin1Char('\n') + tr("In the folder “%1”").arg(item.folder);
    row.matches = points_of(item.snippet.isEmpty() ? item.title_matches : item.snippet_matches);
    rows_.push_back(row);
  }
  endResetModel();
}

void ConversationListModel::set_at_work(qint64 answering, const std::vector<qint64>& waiting) {
  if (answering == answering_ && waiting == waiting_) return;
  answering_ = answering;
  waiting_ = waiting;
  if (!rows_.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1), {WorkRole, Qt::AccessibleTextRole});
}

ConversationListModel::Work ConversationListModel::work_of(const Row& row) const {
  if (row.id == 0) return Work::none;
  if (row.id == answering_) return Work::answering;
  return std::ranges::find(waiting_, row.id) == waiting_.end() ? Work::none : Work::waiting;
}

QString ConversationListModel::spoken(const Row& row) const {
  if (row.folder != 0) {
    const QString inside = tr("%n conversation(s)", nullptr, row.count);
    return row.collapsed ? tr("Folder %1, %2, closed").arg(row.title, inside)
                         : tr("Folder %1, %2, open").arg(row.title, inside);
  }
  QString text = row.pinned ? tr("%1, pinned").arg(row.title) : row.title;
  if (!row.folder_name.isEmpty()) text = tr("%1, in the folder %2").arg(text, row.folder_name);
  if (const Work work = work_of(row); work != Work::none) text += QStringLiteral(", ") + work_words(work);
  return text + QLatin1Char(' ') + row.snippet;
}

int ConversationListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant ConversationListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const bool heading = !row.heading.isEmpty();
  const Work work = work_of(row);
  switch (role) {
    case Qt::DisplayRole:
      return heading ? row.heading : row.title;
    case Qt::EditRole:
      return row.title;
    case Qt::ToolTipRole:
      if (heading) return {};
      return work_words(work).isEmpty() ? row.tooltip : row.tooltip + QLatin1Char('\n') + work_words(work);
    case Qt::AccessibleTextRole:
      return heading ? row.heading : spoken(row);
    case IdRole:
      return row.id;
    case MessageRole:
      return row.message;
    case HeadingRole:
      return heading;
    case PinnedRole:
      return row.pinned;
    case SnippetRole:
      return row.snippet;
    case MatchesRole:
      return row.matches;
    case WorkRole:
      return static_cast<int>(work);
    case FolderRole:
      return row.folder;
    case InFolderRole:
      return row.in_folder;
    case CollapsedRole:
      return row.collapsed;
    case CountRole:
      return row.count;
    default:
      return {};
  }
}

Qt::ItemFlags ConversationListModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  if (!rows_[static_cast<std::size_t>(index.row())].heading.isEmpty()) return Qt::ItemNeverHasChildren;
  return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsEditable | Qt::ItemIsDragEnabled |
         Qt::ItemNeverHasChildren;
}

bool ConversationListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
  const QString title = value.toString().simplified();
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  if (title.isEmpty() || title == row.title) return false;
  if (row.folder != 0) {
    Q_EMIT folderRenamed(row.folder, title);
  } else {
    Q_EMIT renamed(row.id, title);
  }
  return true;
}

QModelIndex ConversationListModel::index_of(qint64 conversation) const {
  if (conversation == 0) return {};
  const auto row = std::ranges::find(rows_, conversation, &Row::id);
  return row == rows_.end() ? QModelIndex() : index(static_cast<int>(row - rows_.begin()));
}

QModelIndex ConversationListModel::index_of_folder(qint64 folder) const {
  if (folder == 0) return {};
  const auto row = std::ranges::find(rows_, folder, &Row::folder);
  return row == rows_.end() ? QModelIndex() : index(static_cast<int>(row - rows_.begin()));
}

QString ConversationListModel::conversation_type() {
  return QStringLiteral("application/x-fovea-conversation");
}

QString ConversationListModel::folder_type() {
  return QStringLiteral("application/x-fovea-folder");
}

QStringList ConversationListModel::mimeTypes() const {
  return {conversation_type(), folder_type()};
}

QMimeData* ConversationListModel::mimeData(const QModelIndexList& indexes) const {
  auto* data = new QMimeData;
  if (indexes.isEmpty()) return data;
  const Row& row = rows_[static_cast<std::size_t>(indexes.front().row())];
  data->setData(row.folder != 0 ? folder_type() : conversation_type(),
                QByteArray::number(row.folder != 0 ? row.folder : row.id));
  return data;
}

void ConversationDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const {
  const QPalette& palette = option.palette;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (index.data(ConversationListModel::HeadingRole).toBool()) {
    const QRect area = option.rect.adjusted(kSide, 0, -kSide, -kGap / 2);
    QFont font = type_of(option.font, Type::hint);
    font.setWeight(QFont::Medium);
    painter->setFont(font);
    painter->setPen(tones(palette).third);
    painter->drawText(area, Qt::AlignLeft | Qt::AlignBottom, index.data().toString());
    painter->restore();
    return;
  }
  const bool selected = option.state & QStyle::State_Selected;
  const bool hovered = option.state & QStyle::State_MouseOver;
  if (selected || hovered) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(tones(palette).hover);
    painter->setOpacity(selected ? 1 : 0.6);
    painter->drawRoundedRect(QRectF(option.rect).adjusted(0, 1, 0, -1), radius::row, radius::row);
    painter->setOpacity(1);
  }
  if (option.state & QStyle::State_HasFocus) {
    painter->setPen(QPen(palette.color(QPalette::Highlight), 1.5));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(option.rect).adjusted(0.75, 1.75, -0.75, -1.75), radius::row,
                             radius::row);
  }
  if (index.data(ConversationListModel::FolderRole).toLongLong() != 0) {
    paint_folder(*painter, option, index.data().toString(),
                 {index.data(ConversationListModel::CountRole).toInt(),
                  index.data(ConversationListModel::CollapsedRole).toBool()});
    painter->restore();
    return;
  }
  QRect area = option.rect.adjusted(kSide, kGap, -kSide, -kGap);
  if (index.data(ConversationListModel::InFolderRole).toLongLong() != 0)
    area.setLeft(area.left() + folder_indent - 2);
  const QString snippet = index.data(ConversationListModel::SnippetRole).toString();
  const QVariantList matches = index.data(ConversationListModel::MatchesRole).toList();
  const QColor text = selected || hovered ? tones(palette).text : tones(palette).second;
  QRect title = area;
  const auto work =
      static_cast<ConversationListModel::Work>(index.data(ConversationListModel::WorkRole).toInt());
  if (work != ConversationListModel::Work::none)
    draw_work(*painter, title, QFontMetrics(option.font).lineSpacing(), work,
              palette.color(QPalette::Highlight));
  draw_line(*painter, title, index.data().toString(), snippet.isEmpty() ? matches : QVariantList(),
            option.font, text);
  if (!snippet.isEmpty()) {
    area.setTop(area.top() + QFontMetrics(option.font).lineSpacing() + 1);
    draw_line(*painter, area, snippet, matches, small(option.font), subtle_text(palette));
  }
  painter->restore();
}

QSize ConversationDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int line = QFontMetrics(option.font).lineSpacing();
  if (index.data(ConversationListModel::HeadingRole).toBool()) return {0, line + 3 * kGap};
  if (index.data(ConversationListModel::SnippetRole).toString().isEmpty()) return {0, line + 2 * kGap};
  return {0, line + QFontMetrics(small(option.font)).lineSpacing() + 1 + 2 * kGap};
}

// Over the text, and not over what stands before it.
void ConversationDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                                const QModelIndex& index) const {
  const bool indented = index.data(ConversationListModel::FolderRole).toLongLong() != 0 ||
                        index.data(ConversationListModel::InFolderRole).toLongLong() != 0;
  editor->setGeometry(option.rect.adjusted(kSide - 4 + (indented ? folder_indent - 2 : 0), 0, 0, 0));
}

QWidget* ConversationDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                            const QModelIndex& index) const {
  QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
  if (auto* line = qobject_cast<QLineEdit*>(editor)) {
    line->setMaxLength(200);
    line->setAccessibleName(index.data(ConversationListModel::FolderRole).toLongLong() != 0
                                ? tr("Name of the folder")
                                : tr("Title of the conversation"));
  }
  return editor;
}

}  // namespace fovea::ui
