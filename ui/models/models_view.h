// The page of models: those on this computer, and below them those that can be downloaded.
#pragma once

#include "ui/theme/page.h"

namespace fovea::ui {

class DownloadPage;
class LibraryPage;
class PageArea;

class ModelsView : public Page {
  Q_OBJECT

 public:
  explicit ModelsView(QWidget* parent = nullptr);

  LibraryPage& library() { return *library_; }
  DownloadPage& download() { return *download_; }
  void show_library();   // from its beginning
  void show_download();  // where something is to be found

 private:
  LibraryPage* library_;
  DownloadPage* download_;
  PageArea* area_;
};

}  // namespace fovea::ui
