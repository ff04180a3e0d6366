#include "ui/wizard/models_page.h"

#include <QLabel>
#include <QListView>
#include <QProgressBar>
#include <QVBoxLayout>

#include "ui/wizard/fact_list.h"
#include "ui/wizard/model_list.h"

namespace fovea::ui {
namespace {

// What is told of the chosen model takes its room from the list, in which it stays to be seen.
class ModelListView : public QListView {
 public:
  using QListView::QListView;

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QListView::resizeEvent(event);
    scrollTo(currentIndex());
  }
};

}  // namespace

ModelsPage::ModelsPage(QWidget* parent) : QWidget(parent), model_(new ModelListModel(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height() / 2);
  note_ = new QLabel(this);
  note_->setObjectName(QStringLiteral("wizardModelsNote"));
  note_->setWordWrap(true);
  looking_ = new QProgressBar(this);
  looking_->setRange(0, 0);
  looking_->setTextVisible(false);
  looking_->setMaximumHeight(fontMetrics().height() / 2);
  looking_->setAccessibleName(tr("Planning the models"));
  list_ = new ModelListView(this);
  list_->setObjectName(QStringLiteral("wizardModels"));
  list_->setAccessibleName(tr("Models, best first"));
  list_->setModel(model_);
  list_->setItemDelegate(new ModelRowDelegate(list_));
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setMinimumHeight(fontMetrics().height() * 10);
  facts_ = new FactList(this);
  layout->addWidget(note_);
  layout->addWidget(looking_);
  layout->addWidget(list_, 1);
  layout->addWidget(facts_);
  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& current) {
            show_facts(current.row());
            if (current.isValid()) Q_EMIT chosen(current.row());
          });
  // Enter presses the window's own button.
  connect(list_, &QListView::doubleClicked, this, &ModelsPage::activated);
}

void ModelsPage::set_models(const std::vector<ModelRow>& rows, int current, const QString& note,
                            bool looking) {
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
  looking_->setVisible(looking);
  list_->setVisible(!rows.empty());
  const QSignalBlocker quiet(list_->selectionModel());
  model_->set_rows(rows);
  list_->setCurrentIndex(model_->index(current, 0));
  list_->scrollTo(list_->currentIndex());
  show_facts(list_->currentIndex().row());
}

void ModelsPage::show_facts(int row) {
  facts_->set_facts(row >= 0 && row < model_->rowCount() ? model_->row(row).facts : std::vector<FactView>());
}

}  // namespace fovea::ui
