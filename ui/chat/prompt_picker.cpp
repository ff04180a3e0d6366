#include "ui/chat/prompt_picker.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat/screen_reader.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int prompt_text_role = Qt::UserRole + 1;
constexpr int most_rows = 6;  // then it scrolls

// Its name, and after it how it begins.
class PromptDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {0, option.fontMetrics.height() + space::close};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Tones& t = tones(option.palette);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver))
      style_paint::rounded(*painter, option.rect, radius::row, t.hover, {}, 0);
    QRect line = option.rect.adjusted(space::tight + 2, 0, -space::tight - 2, 0);
    const QString name =
        option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, line.width() / 2);
    painter->setFont(option.font);
    painter->setPen(t.text);
    painter->drawText(line, Qt::AlignVCenter | Qt::AlignLeft, name);
    line.setLeft(line.left() + option.fontMetrics.horizontalAdvance(name) + space::close);
    const QFont small = type_of(option.font, Type::label);
    painter->setFont(small);
    painter->setPen(t.second);
    painter->drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                      QFontMetrics(small).elidedText(index.data(prompt_text_role).toString().simplified(),
                                                     Qt::ElideRight, line.width()));
  }
};

// How well it goes on like what is typed; 0: not at all.
int likeness(const QString& name, const QString& typed) {
  if (typed.isEmpty() || name.startsWith(typed, Qt::CaseInsensitive)) return 3;
  const auto at = name.indexOf(typed, 0, Qt::CaseInsensitive);
  if (at < 0) return 0;
  return name.at(at - 1).isLetterOrNumber() ? 1 : 2;
}

}  // namespace

PromptPicker::PromptPicker(QWidget* parent) : Card(radius::card, parent), list_(new QListWidget(this)) {
  setObjectName(QStringLiteral("promptPicker"));
  list_->setAccessibleName(tr("Prompts"));
  list_->setItemDelegate(new PromptDelegate(list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setFocusPolicy(Qt::NoFocus);  // its keys are the composer's
  list_->viewport()->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(space::hair, space::hair, space::hair, space::hair);
  layout->addWidget(list_);
  connect(list_, &QListWidget::itemClicked, this,
          [this](QListWidgetItem* item) { choose(list_->row(item)); });
  connect(list_, &QListWidget::currentRowChanged, this, &PromptPicker::tell_row);
  hide();
}

void PromptPicker::set_prompts(const std::vector<PromptView>& prompts) {
  prompts_ = prompts;
  hide();
}

void PromptPicker::show_for(const QString& typed, const QWidget& below) {
  const bool begins = typed.startsWith(QLatin1Char('/')) && !typed.contains(QLatin1Char('\n'));
  std::vector<std::pair<int, const PromptView*>> found;
  for (const PromptView& prompt : prompts_) {
    const int like = begins ? likeness(prompt.name, typed.mid(1)) : 0;
    if (like > 0) found.emplace_back(like, &prompt);
  }
  if (found.empty()) return hide();
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<int, const PromptView*>::first);
  list_->clear();
  for (const auto& [like, prompt] : found) {
    auto* item = new QListWidgetItem(prompt->name, list_);
    item->setData(prompt_text_role, prompt->text);
    item->setToolTip(prompt->text);
  }
  QWidget* const window = below.window();
  if (parentWidget() != window) setParent(window);
  const int rows = std::min(list_->count(), most_rows);
  const QPoint corner = below.mapTo(window, QPoint(0, 0));
  const QMargins around = layout()->contentsMargins();
  const int height = std::min(rows * list_->sizeHintForRow(0) + around.top() + around.bottom() + 2,
                              std::max(corner.y() - space::hair, 1));
  setGeometry(corner.x(), corner.y() - height - space::hair, below.width(), height);
  show();
  raise();
  list_->setCurrentRow(0);
}

bool PromptPicker::take_key(const QKeyEvent& key) {
  if (!isVisible() || (key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  const int row = list_->currentRow();
  switch (key.key()) {
    case Qt::Key_Down:
      list_->setCurrentRow((row + 1) % list_->count());
      return true;
    case Qt::Key_Up:
      list_->setCurrentRow((row + list_->count() - 1) % list_->count());
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Tab:
      choose(row);
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return false;
  }
}

void PromptPicker::choose(int row) {
  if (row < 0 || row >= list_->count()) return;
  const QString text = list_->item(row)->data(prompt_text_role).toString();
  hide();
  Q_EMIT chosen(text);
}

// The composer keeps the focus, so a screen reader is told where the choice is.
void PromptPicker::tell_row(int row) {
  if (row < 0 || !isVisible()) return;
  QAccessibleEvent event(list_, QAccessible::Focus);
  event.setChild(row);
  tell_screen_reader(event);
}

}  // namespace fovea::ui
