// Every key of the window: those of the menus, as their actions have them, and those of its parts.
#pragma once

#include <QDialog>

class QMenu;
class QMenuBar;
class QTreeWidget;
class QTreeWidgetItem;

namespace fovea::ui {

class ShortcutsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ShortcutsDialog(const QMenuBar& menus, QWidget* parent = nullptr);

 private:
  QTreeWidgetItem* add_section(const QString& title);
  static void add_row(QTreeWidgetItem* section, const QString& what, const QString& keys);
  void add_menu(QTreeWidgetItem* section, const QMenu& menu);
  void add_parts();

  QTreeWidget* list_;
};

}  // namespace fovea::ui
