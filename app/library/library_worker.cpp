#include "app/library/library_worker.h"

#include <QFileSystemWatcher>
#include <QTimer>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "app/library/library_cache.h"
#include "app/library/stores.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

constexpr int settle_ms = 700;  // a copy that is under way changes its folder several times
constexpr int max_watched = 200;

std::vector<LibraryModel> find_all(const LibraryPlaces& places) {
  std::vector<LibraryModel> models;
  std::set<fs::path> known;
  const auto add = [&](const LibraryEntry& entry, const fs::path& folder) {
    std::error_code error;
    LibraryModel model;
    model.name = entry.name;
    model.path = entry.path;
    model.real = fs::canonical(entry.path, error);
    if (error) model.real = entry.path;
    if (!known.insert(model.real).second) return;
    model.folder = folder;
    models.push_back(std::move(model));
  };
  for (const fs::path& folder : places.folders)
    for (const LibraryEntry& entry : find_models(folder)) add(entry, folder);
  if (places.elsewhere)
    for (const LibraryEntry& entry : places.elsewhere()) add(entry, {});
  return models;
}

// Free memory is never the same twice.
bool is_like(const ModelRoom& a, const ModelRoom& b) {
  constexpr std::int64_t share = 50;
  const auto are_close = [](std::int64_t x, std::int64_t y) { return std::abs(x - y) <= y / share; };
  return a.options.context == b.options.context && a.options.kv == b.options.kv &&
         a.options.device == b.options.device &&
         are_close(a.options.precision.budget_bytes, b.options.precision.budget_bytes) &&
         are_close(a.facts.device_free_bytes, b.facts.device_free_bytes) &&
         are_close(a.facts.first_free_bytes, b.facts.first_free_bytes);
}

}  // namespace

// Everything that belongs to the thread, made and ended there.
struct LibraryWorker::Parts : public QObject {
  explicit Parts(LibraryPlaces given) : places(std::move(given)), cache(places.cache) {}

  void begin(LibraryWorker* worker) {
    cache.load();
    watcher = std::make_unique<QFileSystemWatcher>();
    settle = std::make_unique<QTimer>();
    settle->setSingleShot(true);
    settle->setInterval(settle_ms);
    connect(watcher.get(), &QFileSystemWatcher::directoryChanged, settle.get(), [this] { settle->start(); });
    connect(settle.get(), &QTimer::timeout, worker, &LibraryWorker::folderChanged);
  }

  void watch(const std::vector<LibraryModel>& models) {
    QStringList wanted;
    const auto add = [&wanted](const fs::path& folder) {
      const QString name = QString::fromStdString(folder.string());
      std::error_code ignored;
      if (wanted.size() < max_watched && fs::is_directory(folder, ignored) && !wanted.contains(name))
        wanted += name;
    };
    for (const fs::path& folder : places.folders) add(folder);
    for (const LibraryModel& model : models)
      if (!model.folder.empty()) add(model.path.parent_path());
    QStringList gone = watcher->directories();
    for (const QString& folder : wanted) gone.removeAll(folder);
    if (!gone.isEmpty()) watcher->removePaths(gone);
    for (const QString& folder : watcher->directories()) wanted.removeAll(folder);
    if (!wanted.isEmpty()) watcher->addPaths(wanted);
  }

  void read(LibraryModel& model, const ModelFiles& files, const Result<ModelRoom>& machine) {
    if (!model.is_read) {
      auto info = inspect(model.path);
      if (info) {
        model.info = *std::move(info);
      } else {
        model.error = info.error();
      }
      model.is_read = true;
      cache.keep(model, files);
    }
    if (model.error) return;
    std::error_code error;
    const auto stores_time = fs::last_write_time(places.stores, error);
    Planned& known = planned[model.path];
    if (machine && known.files == files && known.stores_time == stores_time &&
        is_like(known.machine, *machine)) {
      model.stores = known.stores;
      model.fit = known.fit;
      return;
    }
    model.stores = stores_of(model.path, places.stores);
    if (!machine) return;
    auto fit = fit_of_model(model.path, machine->options, machine->facts);
    if (!fit) {
      model.error = fit.error();
      return;
    }
    model.fit = *std::move(fit);
    known = {files, *machine, stores_time, model.stores, model.fit};
  }

  void list(LibraryWorker* worker) {
    const std::vector<LibraryModel> models = find_all(places);
    watch(models);
    std::vector<LibraryEntry> entries;
    for (const LibraryModel& model : models) entries.push_back({model.name, model.path});
    std::ranges::stable_sort(entries, {}, &LibraryEntry::name);
    Q_EMIT worker->named(entries);
  }

  void scan(LibraryWorker* worker, const std::function<bool()>& is_wanted, const Result<ModelRoom>& machine) {
    if (!is_wanted()) return;
    std::vector<LibraryModel> models = find_all(places);
    watch(models);
    cache.begin_scan();
    std::vector<ModelFiles> files;
    for (LibraryModel& model : models) {
      files.push_back(files_of(model.path));
      model.file_bytes = files.back().bytes;
      cache.find(model, files.back());
    }
    Q_EMIT worker->listed(models);
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (!is_wanted()) return;
      read(models[i], files[i], machine);
      Q_EMIT worker->read(models[i]);
    }
    if (const auto saved = cache.save(); !saved) log::info("library", saved.error().message());
    Q_EMIT worker->finished();
  }

  // What the planner said in an earlier scan.
  struct Planned {
    ModelFiles files;
    ModelRoom machine;
    fs::file_time_type stores_time;
    std::vector<StoreFile> stores;
    std::optional<ModelFit> fit;
  };

  LibraryPlaces places;
  LibraryCache cache;
  std::map<fs::path, Planned> planned;
  std::unique_ptr<QFileSystemWatcher> watcher;
  std::unique_ptr<QTimer> settle;
};

LibraryWorker::LibraryWorker(LibraryPlaces places, QObject* parent)
    : QObject(parent), parts_(new Parts(std::move(places))) {
  qRegisterMetaType<LibraryModel>();
  qRegisterMetaType<std::vector<LibraryModel>>();
  qRegisterMetaType<std::vector<LibraryEntry>>();
  thread_.setObjectName(QStringLiteral("library"));
  parts_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, parts_, &QObject::deleteLater);
  thread_.start();
  post([this](Parts& parts) { parts.begin(this); });
}

LibraryWorker::~LibraryWorker() {
  ++wanted_;
  thread_.quit();
  thread_.wait();
}

template <class Work>
void LibraryWorker::post(Work work) {
  QMetaObject::invokeMethod(
      parts_, [parts = parts_, work = std::move(work)] { work(*parts); }, Qt::QueuedConnection);
}

void LibraryWorker::scan(std::int64_t held_bytes, std::int64_t context, std::int64_t budget_bytes,
                         const DeviceChoice& device) {
  const int number = ++wanted_;
  post([this, number, held_bytes, context, budget_bytes, device](Parts& parts) {
    auto machine = this_machine(held_bytes, device);
    if (machine) {
      machine->options.context = context;
      machine->options.context_may_shrink = true;
    }
    if (machine && budget_bytes > 0) machine->options.precision.budget_bytes = budget_bytes;
    parts.scan(this, [this, number] { return wanted_ == number; }, machine);
  });
}

void LibraryWorker::list() {
  post([this](Parts& parts) { parts.list(this); });
}

void LibraryWorker::set_folders(const std::vector<fs::path>& folders) {
  post([folders](Parts& parts) { parts.places.folders = folders; });
}

}  // namespace fovea::app
