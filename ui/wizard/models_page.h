// The third page: the models, best first, and the facts of the chosen one.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/wizard/wizard_view.h"

class QLabel;
class QListView;
class QProgressBar;

namespace fovea::ui {

class FactList;
class ModelListModel;

class ModelsPage : public QWidget {
  Q_OBJECT

 public:
  explicit ModelsPage(QWidget* parent = nullptr);
  // `note`: said above the list, or instead of it where there is none. `looking`: more may come.
  void set_models(const std::vector<ModelRow>& rows, int current, const QString& note, bool looking);

 Q_SIGNALS:
  void chosen(int row);
  void activated();  // a double click on a row

 private:
  void show_facts(int row);

  QLabel* note_;
  QProgressBar* looking_;
  QListView* list_;
  ModelListModel* model_;
  FactList* facts_;
};

}  // namespace fovea::ui
