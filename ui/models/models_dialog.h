// The window of models: those on this computer, and those that can be downloaded. It stays open beside the
// chat.
#pragma once

#include <QDialog>

class QTabWidget;

namespace fovea::ui {

class DownloadPage;
class LibraryPage;

class ModelsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ModelsDialog(QWidget* parent = nullptr);

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
