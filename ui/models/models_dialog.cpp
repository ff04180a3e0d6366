#include "ui/models/models_dialog.h"

#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {

ModelsDialog::ModelsDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Models"));
  setWindowFlag(Qt::WindowMaximizeButtonHint);
  const int character = fontMetrics().averageCharWidth();
  const int line = fontMetrics().height();
  open_with(*this, {character * 165, line * 42});
  setMinimumSize(QSize(character * 90, line * 28).boundedTo(size()));
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setDrawBase(false);
  library_ = new LibraryPage(tabs_);
  download_ = new DownloadPage(tabs_);
  tabs_->addTab(library_, tr("On this &computer"));
  tabs_->addTab(download_, tr("Do&wnload"));
  connect(library_, &LibraryPage::downloadsRequested, this, &ModelsDialog::show_download);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, line / 3, 0, 0);
  layout->addWidget(tabs_);
}

void ModelsDialog::show_library() {
  tabs_->setCurrentWidget(library_);
}

void ModelsDialog::show_download() {
  tabs_->setCurrentWidget(download_);
}

}  // namespace fovea::ui
