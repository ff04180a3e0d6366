#include "ui/models/models_view.h"

#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

ModelsView::ModelsView(QWidget* parent) : Page(tr("Models"), parent) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setDrawBase(false);
  library_ = new LibraryPage(tabs_);
  download_ = new DownloadPage(tabs_);
  for (QWidget* page : std::initializer_list<QWidget*>{library_, download_})
    page->layout()->setContentsMargins(0, space::close, 0, 0);
  tabs_->addTab(library_, tr("On this &computer"));
  tabs_->addTab(download_, tr("Do&wnload"));
  connect(library_, &LibraryPage::downloadsRequested, this, &ModelsView::show_download);
  content().addWidget(tabs_, 1);
}

void ModelsView::show_library() {
  tabs_->setCurrentWidget(library_);
}

void ModelsView::show_download() {
  tabs_->setCurrentWidget(download_);
}

}  // namespace fovea::ui
