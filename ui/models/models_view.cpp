#include "ui/models/models_view.h"

#include <QLineEdit>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/models/catalogue_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/theme/tokens.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

constexpr int search_width = 280;

}  // namespace

ModelsView::ModelsView(QWidget* parent) : Page(tr("Models"), parent) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::close);
  library_ = new LibraryPage(page);
  download_ = new DownloadPage(page);
  download_->search_box().setMaximumWidth(search_width);
  add_tool(download_->search_box(), 1);
  layout->addWidget(library_);
  layout->addWidget(download_, 1);
  area_ = new PageArea(page, this);
  content().addWidget(area_, 1);
  // What is typed is looked for here and there; what a search finds takes the place of both.
  connect(download_, &DownloadPage::typed, library_, &LibraryPage::set_filter);
  connect(download_, &DownloadPage::resultsShown, library_, &QWidget::setHidden);
  connect(library_, &LibraryPage::mainShown, this,
          [this](bool shown) { download_->catalogue().set_main(!shown); });
  const auto show = [this](QWidget* where) {
    QTimer::singleShot(0, where, [this, where] {  // when it has its place
      if (where->isVisibleTo(area_->widget())) area_->ensureWidgetVisible(where, 0, space::close);
    });
  };
  connect(library_, &LibraryPage::told, this, show);
  connect(download_, &DownloadPage::told, this, show);
}

void ModelsView::show_library() {
  download_->end_search();
  area_->verticalScrollBar()->setValue(0);
}

void ModelsView::show_download() {
  download_->search_box().findChild<QLineEdit*>()->setFocus();
}

}  // namespace fovea::ui
