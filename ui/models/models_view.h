// The page of models: those on this computer, and those that can be downloaded.
#pragma once

#include "ui/theme/page.h"

class QTabWidget;

namespace fovea::ui {

class DownloadPage;
class LibraryPage;

class ModelsView : public Page {
  Q_OBJECT

 public:
  explicit ModelsView(QWidget* parent = nullptr);

  LibraryPage& library() { return *library_; }
  DownloadPage& download() { return *download_; }
  void show_library();
  void show_download();

 private:
  QTabWidget* tabs_;
  LibraryPage* library_;
  DownloadPage* download_;
};

}  // namespace fovea::ui
