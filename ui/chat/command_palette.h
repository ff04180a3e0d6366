// Every command of the menus, found by typing some of its words.
#pragma once

#include <QDialog>
#include <QPointer>
#include <vector>

class QAction;
class QLineEdit;
class QListWidget;
class QMenuBar;

namespace fovea::ui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  // Those that can be used now. The one that is chosen is triggered when the palette has closed.
  explicit CommandPalette(const QMenuBar& menus, QWidget* parent = nullptr);

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
