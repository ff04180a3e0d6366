// Looks for models in folders, on a thread of its own: what is known from before at once, the rest as it is
// read, and again when a folder changes. Answers are signals with plain data.
#pragma once

#include <QObject>
#include <QThread>
#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "app/library/library_types.h"
#include "app/library/model_library.h"

namespace fovea::app {

struct LibraryPlaces {
  std::vector<std::filesystem::path> folders;  // watched
  std::filesystem::path stores;                // where stores of the models lie
  std::filesystem::path cache;                 // what was read before; a file
  // Models in other places, as the hub's cache; asked on the worker's thread at each scan. May be empty.
  std::function<std::vector<LibraryEntry>()> elsewhere;
};

class LibraryWorker : public QObject {
  Q_OBJECT

 public:
  explicit LibraryWorker(LibraryPlaces places, QObject* parent = nullptr);
  ~LibraryWorker() override;

 public Q_SLOTS:
  // A scan in progress ends without finished(). `held_bytes`, `context`: see fit.h. `budget_bytes`: what a
  // model may take; 0: what is free. A device that is not there: the models are listed without their fit.
  void scan(std::int64_t held_bytes, std::int64_t context, std::int64_t budget_bytes = 0,
            const fovea::app::DeviceChoice& device = {});
  // Only what there is, without reading it: named() follows.
  void list();
  void set_folders(const std::vector<std::filesystem::path>& folders);  // does not scan

 Q_SIGNALS:
  void listed(const std::vector<fovea::app::LibraryModel>& models);  // all; some are not read yet
  void read(const fovea::app::LibraryModel& model);                  // one of them, read and fitted
  void finished();
  void named(const std::vector<fovea::app::LibraryEntry>& models);
  void folderChanged();  // something was added or taken away: time to scan again

 private:
  struct Parts;
  template <class Work>
  void post(Work work);

  QThread thread_;
  std::atomic<int> wanted_ = 0;  // the scan that was asked for last
  Parts* parts_;                 // lives on thread_ and ends with it
};

}  // namespace fovea::app

Q_DECLARE_METATYPE(fovea::app::LibraryModel)
Q_DECLARE_METATYPE(fovea::app::LibraryEntry)
