#include "ui/chat/saved_list.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/style.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int id_role = Qt::UserRole + 1, preview_role = Qt::UserRole + 2, built_in_role = Qt::UserRole + 3;

// The name, what is beneath it, and at the end that it came with the program.
class SavedDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    const QFontMetrics small(type_of(option.font, Type::label));
    return {0, option.fontMetrics.height() + small.height() + 2 * space::tight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Tones& t = tones(option.palette);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver))
      style_paint::rounded(*painter, option.rect, radius::row, t.hover, {}, 0);
    if (option.state & QStyle::State_HasFocus)
      style_paint::rounded(*painter, option.rect, radius::row, Qt::NoBrush, t.accent, focus_width);
    QRect line = option.rect.adjusted(space::tight + 2, space::tight, -space::tight - 2, -space::tight);
    const Qt::Alignment side = option.direction == Qt::RightToLeft ? Qt::AlignRight : Qt::AlignLeft;
    const Qt::Alignment other = option.direction == Qt::RightToLeft ? Qt::AlignLeft : Qt::AlignRight;
    const QFont hint = type_of(option.font, Type::hint), small = type_of(option.font, Type::label);
    if (index.data(built_in_role).toBool()) {
      painter->setFont(hint);
      painter->setPen(t.second);
      painter->drawText(line, Qt::AlignTop | other, SavedList::tr("Built in"));
    }
    painter->setFont(option.font);
    painter->setPen(t.text);
    const int room =
        line.width() - QFontMetrics(hint).horizontalAdvance(SavedList::tr("Built in")) - space::close;
    painter->drawText(line, Qt::AlignTop | side,
                      option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, room));
    painter->setFont(small);
    painter->setPen(t.second);
    painter->drawText(
        line, Qt::AlignBottom | side,
        QFontMetrics(small).elidedText(index.data(preview_role).toString(), Qt::ElideRight, line.width()));
  }
};

bool has_words(const SavedItem& item, const QStringList& words) {
  return std::ranges::all_of(words, [&](const QString& word) {
    return item.name.contains(word, Qt::CaseInsensitive) || item.text.contains(word, Qt::CaseInsensitive);
  });
}

}  // namespace

SavedList::SavedList(const QString& what, const QString& use, QWidget* parent)
    : QWidget(parent),
      field_(new QLineEdit(this)),
      list_(new QListWidget(this)),
      empty_(new QLabel(this)),
      use_(new QPushButton(use, this)),
      new_(new QPushButton(tr("New…"), this)),
      edit_(new QPushButton(tr("Edit…"), this)),
      copy_(new QPushButton(tr("Duplicate"), this)),
      delete_(new QPushButton(tr("Delete"), this)) {
  field_->setPlaceholderText(tr("Search"));
  field_->setAccessibleName(tr("Search: %1").arg(what));
  field_->setClearButtonEnabled(true);
  field_->installEventFilter(this);
  list_->setAccessibleName(what);
  list_->setItemDelegate(new SavedDelegate(list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->installEventFilter(this);
  empty_->setText(tr("Nothing was found."));
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  const auto name = [](QPushButton* button, const char* name) {
    button->setObjectName(QLatin1String(name));
    button->setAutoDefault(false);
  };
  make_main(*use_);
  // Also while it is disabled, and its words are narrower.
  const QFontMetrics main_font(type_of(font(), Type::control, true));
  use_->setMinimumWidth(main_font.horizontalAdvance(use) + 2 * space::usual);
  name(use_, "use");
  name(new_, "new");
  name(edit_, "edit");
  name(copy_, "copy");
  name(delete_, "delete");
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(space::tight);
  for (QPushButton* each : {new_, edit_, copy_, delete_}) buttons->addWidget(each);
  buttons->addStretch(1);
  buttons->addWidget(use_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, space::close, 0, 0);
  layout->setSpacing(space::tight);
  layout->addWidget(field_);
  layout->addWidget(list_, 1);
  layout->addWidget(empty_, 1);
  layout->addLayout(buttons);
  connect(field_, &QLineEdit::textChanged, this, &SavedList::show_matching);
  connect(list_, &QListWidget::currentRowChanged, this, &SavedList::update_buttons);
  connect(list_, &QListWidget::itemDoubleClicked, this, [this] { Q_EMIT useRequested(chosen()); });
  connect(use_, &QPushButton::clicked, this, [this] { Q_EMIT useRequested(chosen()); });
  connect(new_, &QPushButton::clicked, this, &SavedList::newRequested);
  connect(edit_, &QPushButton::clicked, this, [this] { Q_EMIT editRequested(chosen()); });
  connect(copy_, &QPushButton::clicked, this, [this] { Q_EMIT copyRequested(chosen()); });
  connect(delete_, &QPushButton::clicked, this, [this] { Q_EMIT deleteRequested(chosen()); });
  show_matching();
}

void SavedList::set_items(const std::vector<SavedItem>& items) {
  items_ = items;
  show_matching();
}

void SavedList::show_matching() {
  const QString before = chosen();
  const int row = list_->currentRow();
  const QStringList words = field_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  list_->clear();
  for (const SavedItem& item : items_) {
    if (!has_words(item, words)) continue;
    auto* made = new QListWidgetItem(item.name, list_);
    made->setData(id_role, item.id);
    made->setData(preview_role, item.text.simplified());
    made->setData(built_in_role, item.built_in);
    made->setToolTip(item.text);
    made->setData(Qt::AccessibleTextRole, (item.built_in ? tr("%1, built in").arg(item.name) : item.name) +
                                              QStringLiteral(". ") + item.text.simplified());
  }
  list_->setVisible(list_->count() > 0);
  empty_->setVisible(list_->count() == 0);
  choose(before);
  if (list_->currentRow() < 0) list_->setCurrentRow(std::clamp(row, 0, std::max(list_->count() - 1, 0)));
  update_buttons();
}

void SavedList::choose(const QString& id) {
  for (int row = 0; row < list_->count(); ++row)
    if (list_->item(row)->data(id_role).toString() == id) list_->setCurrentRow(row);
}

QString SavedList::chosen() const {
  return list_->currentItem() ? list_->currentItem()->data(id_role).toString() : QString();
}

// What came with the program stays as it is.
void SavedList::update_buttons() {
  const QListWidgetItem* item = list_->currentItem();
  const bool built_in = item && item->data(built_in_role).toBool();
  for (QPushButton* each : {use_, edit_, copy_}) each->setEnabled(item);
  edit_->setText(built_in ? tr("Edit a copy…") : tr("Edit…"));
  delete_->setEnabled(item && !built_in);
}

bool SavedList::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(object, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up:
      if (object != field_) break;
      QApplication::sendEvent(list_, event);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (use_->isEnabled()) use_->click();
      return true;
    case Qt::Key_Delete:
      if (object != list_) break;
      if (delete_->isEnabled()) delete_->click();
      return true;
    default:
      break;
  }
  return QWidget::eventFilter(object, event);
}

}  // namespace fovea::ui
