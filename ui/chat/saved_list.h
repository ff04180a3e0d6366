// Things that are kept under a name, found by typing, with what can be done with each.
#pragma once

#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace fovea::ui {

struct SavedItem {
  QString id;
  QString name;
  QString text;  // begun beneath the name
  bool built_in = false;
};

class SavedList : public QWidget {
  Q_OBJECT

 public:
  // `what`: "Presets"; `use`: what the main button says.
  SavedList(const QString& what, const QString& use, QWidget* parent = nullptr);

  // What was chosen stays so; in its place comes what stands there now.
  void set_items(const std::vector<SavedItem>& items);
  void choose(const QString& id);
  QString chosen() const;  // empty: nothing

 Q_SIGNALS:
  void useRequested(const QString& id);
  void newRequested();
  void editRequested(const QString& id);
  void copyRequested(const QString& id);
  void deleteRequested(const QString& id);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void show_matching();
  void update_buttons();

  std::vector<SavedItem> items_;
  QLineEdit* field_;
  QListWidget* list_;
  QLabel* empty_;
  QPushButton *use_, *new_, *edit_, *copy_, *delete_;
};

}  // namespace fovea::ui
