// Every command of the menus and of more of them, as the panel's, found by typing some of its words.
#pragma once

#include <QDialog>
#include <QPointer>
#include <vector>

class QAction;
class QLineEdit;
class QListWidget;
class QMenu;
class QMenuBar;

namespace fovea::ui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  // Those that can be used now. The one that is chosen is triggered when the palette has closed. `more`: by
  // their titles.
  explicit CommandPalette(const QMenuBar& menus, const QList<QMenu*>& more = {}, QWidget* parent = nullptr);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Command {
    QPointer<QAction> action;
    QString words;  // "Chat › Another answer"
    QString keys;
  };
  void collect(const QString& path, const QList<QAction*>& actions);
  void show_matching(const QString& typed);
  void run(int row);

  QLineEdit* field_;
  QListWidget* list_;
  std::vector<Command> commands_;
};

}  // namespace fovea::ui
