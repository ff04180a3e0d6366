// The downloads that run, wait, or have ended: a line for each with its progress and its buttons.
#pragma once

#include <QScrollArea>
#include <map>

#include "ui/models/model_rows.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace fovea::ui {

class DetailedText;
class DownloadLine;

class DownloadList : public QScrollArea {
  Q_OBJECT

 public:
  explicit DownloadList(QWidget* parent = nullptr);

  void set_download(const DownloadRow& row);  // a new one, or a change of one
  void remove_download(qint64 id);
  int count() const { return static_cast<int>(lines_.size()); }

 Q_SIGNALS:
  void countChanged(int count);
  void pauseRequested(qint64 id);
  void resumeRequested(qint64 id);
  void cancelRequested(qint64 id);
  void removeRequested(qint64 id);  // from the list; its files stay
  void openRequested(const QString& path);

 private:
  void ask_cancel(qint64 id);
  void set_room();

  QWidget* page_;
  QVBoxLayout* layout_;
  QLabel* empty_;
  std::map<qint64, DownloadLine*> lines_;
};

// One of them.
class DownloadLine : public QWidget {
  Q_OBJECT

 public:
  explicit DownloadLine(QWidget* parent = nullptr);
  void show_download(const DownloadRow& row);
  const DownloadRow& download() const { return row_; }

 Q_SIGNALS:
  void pauseRequested();
  void resumeRequested();
  void cancelRequested();
  void removeRequested();
  void openRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void elide_name();

  DownloadRow row_;
  QLabel* name_;
  DetailedText* text_;
  QProgressBar* bar_;
  QPushButton *pause_, *resume_, *cancel_, *remove_, *open_;
};

}  // namespace fovea::ui
