#include "ui/chat/shortcuts_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QMenu>
#include <QMenuBar>
#include <QStyle>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <initializer_list>

#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

QString without_mnemonic(QString text) {
  return text.remove(QLatin1Char('&'));
}

QString keys(std::initializer_list<QKeyCombination> combinations) {
  QStringList texts;
  for (const QKeyCombination combination : combinations)
    texts += QKeySequence(combination).toString(QKeySequence::NativeText);
  return texts.join(QStringLiteral(", "));
}

}  // namespace

ShortcutsDialog::ShortcutsDialog(const QMenuBar& menus, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keyboard"));
  list_ = new QTreeWidget(this);
  list_->setObjectName(QStringLiteral("shortcuts"));
  list_->setAccessibleName(tr("Keys"));
  list_->setColumnCount(2);
  list_->setHeaderHidden(true);
  list_->setRootIsDecorated(false);
  list_->setIndentation(fontMetrics().averageCharWidth() * 2);
  list_->setSelectionMode(QAbstractItemView::NoSelection);
  list_->setAllColumnsShowFocus(true);
  for (const QAction* each : menus.actions()) {
    if (each->menu()) add_menu(add_section(without_mnemonic(each->text())), *each->menu());
  }
  add_parts();
  for (int i = list_->topLevelItemCount(); i-- > 0;) {
    if (list_->topLevelItem(i)->childCount() == 0) delete list_->takeTopLevelItem(i);
  }
  list_->expandAll();
  list_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  for (const int column : {0, 1}) list_->resizeColumnToContents(column);
  list_->setCurrentItem(list_->topLevelItem(0));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(list_, 1);
  layout->addWidget(buttons);
  open_with(*this, {fontMetrics().averageCharWidth() * 84, fontMetrics().height() * 36});
  // The keys stand at the right, behind words of any language.
  const int words = list_->columnWidth(0) + list_->columnWidth(1);
  list_->setMinimumWidth(words + style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, list_) +
                         2 * list_->frameWidth());
}

QTreeWidgetItem* ShortcutsDialog::add_section(const QString& title) {
  auto* section = new QTreeWidgetItem(list_, {title});
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  section->setFont(0, bold);
  section->setFirstColumnSpanned(true);
  return section;
}

void ShortcutsDialog::add_row(QTreeWidgetItem* section, const QString& what, const QString& keys) {
  new QTreeWidgetItem(section, {what, keys});
}

void ShortcutsDialog::add_menu(QTreeWidgetItem* section, const QMenu& menu) {
  for (const QAction* action : menu.actions()) {
    if (action->menu()) add_menu(section, *action->menu());
    if (action->shortcut().isEmpty()) continue;
    add_row(section, without_mnemonic(action->text()), action->shortcut().toString(QKeySequence::NativeText));
  }
}

void ShortcutsDialog::add_parts() {
  QTreeWidgetItem* everywhere = add_section(tr("Everywhere"));
  add_row(everywhere, tr("To the next part, to the one before"),
          keys({Qt::Key_Tab, Qt::SHIFT | Qt::Key_Tab}));
  add_row(everywhere, tr("A menu: Alt with its underlined letter"), keys({Qt::ALT | Qt::Key_F}));

  QTreeWidgetItem* conversation = add_section(tr("In the conversation"));
  add_row(conversation, tr("From message to message"),
          keys({Qt::CTRL | Qt::Key_Up, Qt::CTRL | Qt::Key_Down}));
  add_row(conversation, tr("A message's buttons and links"), keys({Qt::Key_Tab, Qt::Key_Return}));
  add_row(conversation, tr("A message's other branches"), keys({Qt::Key_Left, Qt::Key_Right}));
  add_row(conversation, tr("Looking inside: from token to token, other words, leave"),
          keys({Qt::Key_Left, Qt::Key_Right, Qt::Key_Return, Qt::Key_Escape}));
  add_row(conversation, tr("A message's menu"), keys({Qt::Key_Menu}));
  add_row(conversation, tr("To the beginning, to the newest text"), keys({Qt::Key_Home, Qt::Key_End}));
  add_row(conversation, tr("Select text"), keys({Qt::SHIFT | Qt::Key_Left, Qt::SHIFT | Qt::Key_Right}));
  add_row(conversation, tr("Copy, copy as Markdown"),
          keys({Qt::CTRL | Qt::Key_C, Qt::CTRL | Qt::SHIFT | Qt::Key_C}));

  QTreeWidgetItem* sidebar = add_section(tr("In the list of conversations"));
  add_row(sidebar, tr("Open, rename, delete"), keys({Qt::Key_Return, Qt::Key_F2, Qt::Key_Delete}));
  add_row(sidebar, tr("Open a folder, close it"), keys({Qt::Key_Right, Qt::Key_Left}));
  add_row(sidebar, tr("Move a folder up, down"), keys({Qt::CTRL | Qt::Key_Up, Qt::CTRL | Qt::Key_Down}));
  add_row(sidebar, tr("Bring back what was deleted"), keys({Qt::CTRL | Qt::Key_Z}));
  add_row(sidebar, tr("Pin, export: the conversation's menu"), keys({Qt::Key_Menu, Qt::SHIFT | Qt::Key_F10}));

  QTreeWidgetItem* composer = add_section(tr("Where you type"));
  add_row(composer, tr("A prompt that you have saved"), keys({Qt::Key_Slash}));
  add_row(composer, tr("Discard changes to a message"), keys({Qt::Key_Escape}));

  QTreeWidgetItem* map = add_section(tr("On the map of experts"));
  add_row(map, tr("From expert to expert"), keys({Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}));
  add_row(map, tr("Follow an expert, or stop following it"), keys({Qt::Key_Return}));
  add_row(map, tr("Zoom in, zoom out, the whole map"), keys({Qt::Key_Plus, Qt::Key_Minus, Qt::Key_0}));
  add_row(map, tr("One layer or all, one expert"), keys({Qt::Key_L, Qt::Key_E}));
}

}  // namespace fovea::ui
