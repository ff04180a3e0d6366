#include "ui/chat/command_palette.h"

#include <QAction>
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int keys_role = Qt::UserRole + 1, command_role = Qt::UserRole + 2;

// The command at the left, its keys at the right.
class CommandDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {0, option.fontMetrics.height() + space::close};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Tones& t = tones(option.palette);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver))
      style_paint::rounded(*painter, option.rect, radius::row, t.hover, {}, 0);
    const QRect line = option.rect.adjusted(space::tight + 2, 0, -space::tight - 2, 0);
    const bool mirrored = option.direction == Qt::RightToLeft;
    painter->setFont(option.font);
    painter->setPen(t.text);
    painter->drawText(line, Qt::AlignVCenter | (mirrored ? Qt::AlignRight : Qt::AlignLeft),
                      index.data().toString());
    painter->setFont(type_of(option.font, Type::hint));
    painter->setPen(t.second);
    painter->drawText(line, Qt::AlignVCenter | (mirrored ? Qt::AlignLeft : Qt::AlignRight),
                      index.data(keys_role).toString());
  }
};

}  // namespace

CommandPalette::CommandPalette(const QMenuBar& menus, const QList<QMenu*>& more, QWidget* parent)
    : QDialog(parent), field_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setObjectName(QStringLiteral("commandPalette"));
  setWindowTitle(tr("Commands"));
  collect({}, menus.actions());
  for (const QMenu* menu : more) collect(menu->title(), menu->actions());
  field_->setPlaceholderText(tr("What do you want to do?"));
  field_->setAccessibleName(tr("Find a command"));
  field_->installEventFilter(this);
  list_->setAccessibleName(tr("Commands"));
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setFocusPolicy(Qt::NoFocus);  // its keys are the field's
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(space::close, space::close, space::close, space::close);
  layout->setSpacing(space::tight);
  layout->addWidget(field_);
  layout->addWidget(list_, 1);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::show_matching);
  connect(list_, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) { run(list_->row(item)); });
  resize(fontMetrics().averageCharWidth() * 74, fontMetrics().height() * 24);
  show_matching({});
}

void CommandPalette::collect(const QString& path, const QList<QAction*>& actions) {
  for (QAction* action : actions) {
    if (action->isSeparator() || !action->isVisible() || !action->isEnabled()) continue;
    const QString words =
        (path.isEmpty() ? QString() : path + QStringLiteral(" › ")) + action->text().remove(QLatin1Char('&'));
    if (action->menu()) {
      collect(words, action->menu()->actions());
    } else if (action->objectName() != QLatin1String("commandsAction")) {
      commands_.push_back({action, words, action->shortcut().toString(QKeySequence::NativeText)});
    }
  }
}

// Every word that is typed stands somewhere in it, at the beginning of a word first.
void CommandPalette::show_matching(const QString& typed) {
  const QStringList wanted = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  const auto rank = [&](const Command& command) {
    int rank = 0;
    for (const QString& word : wanted) {
      const auto at = command.words.indexOf(word, 0, Qt::CaseInsensitive);
      if (at < 0) return -1;
      rank += at == 0 || !command.words.at(at - 1).isLetterOrNumber() ? 2 : 1;
    }
    return rank;
  };
  std::vector<std::pair<int, std::size_t>> found;
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (const int r = rank(commands_[i]); r >= 0) found.emplace_back(r, i);
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<int, std::size_t>::first);
  list_->clear();
  for (const auto& [r, i] : found) {
    auto* item = new QListWidgetItem(commands_[i].words, list_);
    item->setData(keys_role, commands_[i].keys);
    item->setData(command_role, static_cast<qulonglong>(i));
    item->setData(Qt::AccessibleTextRole, commands_[i].words + QLatin1Char(' ') + commands_[i].keys);
  }
  if (list_->count() > 0) list_->setCurrentRow(0);
}

void CommandPalette::run(int row) {
  if (row < 0 || row >= list_->count()) return;
  const auto command = static_cast<std::size_t>(list_->item(row)->data(command_role).toULongLong());
  QTimer::singleShot(0, qApp, [action = commands_[command].action] {
    if (action) action->trigger();
  });
  accept();
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
  if (object != field_ || event->type() != QEvent::KeyPress) return QDialog::eventFilter(object, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up:
    case Qt::Key_PageDown:
    case Qt::Key_PageUp:
      QApplication::sendEvent(list_, event);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      run(list_->currentRow());
      return true;
    default:
      return QDialog::eventFilter(object, event);
  }
}

}  // namespace fovea::ui
