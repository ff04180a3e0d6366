#include "app/window/models_controller.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QUrl>
#include <algorithm>

#include "app/download/hub_cache.h"
#include "app/files/folders.h"
#include "app/library/background.h"
#include "app/library/data_folder.h"
#include "app/library/stores.h"
#include "app/window/model_rows.h"
#include "app/window/wizard_downloads.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/api/prepare.h"
#include "engine/core/result.h"
#include "ui/language/number_text.h"
#include "ui/models/download_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/models/prepare_dialog.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

fs::path path_of(const QString& text) {
  return text.toStdString();
}

LibraryPlaces places_of(const ModelsSettings& settings) {
  LibraryPlaces places;
  places.folders = settings.own_folders;
  places.folders.insert(places.folders.end(), settings.folders.begin(), settings.folders.end());
  places.stores = settings.stores;
  places.cache = settings.cache;
  places.elsewhere = [cache = settings.downloads.downloads.job.cache] {
    std::vector<LibraryEntry> entries;
    for (const CachedModel& model : cache.models()) entries.push_back({model.name, model.path});
    return entries;
  };
  return places;
}

PrepareRequest request_for(const QString& model, std::vector<std::string> tiers) {
  PrepareRequest request;
  request.model = path_of(model);
  request.tiers = std::move(tiers);
  return request;
}

std::vector<std::string> names_of(const QStringList& list) {
  std::vector<std::string> names;
  for (const QString& name : list) names.push_back(name.toStdString());
  return names;
}

}  // namespace

ModelsSettings ModelsSettings::usual() {
  ModelsSettings settings;
  settings.own_folders = {models_folder()};
  settings.stores = stores_folder();
  settings.cache = cache_folder() / "library.json";
  settings.downloads.downloads.file = data_folder() / "downloads.json";
  settings.downloads.downloads.job.library = models_folder();
  return settings;
}

ModelsController::ModelsController(QWidget& parent, ModelsSettings settings)
    : parent_(parent),
      settings_(std::move(settings)),
      env_offline_(NetworkSettings::from_environment().offline),
      library_(places_of(settings_)),
      downloads_(settings_.downloads) {
  connect_scans();
  connect_work();
  connect_downloads();
}

ModelsController::~ModelsController() {
  delete view_;
}

// --- the page

void ModelsController::make_view() {
  if (view_) return;
  view_ = new ui::ModelsView(&parent_);
  connect_library(view_->library());
  connect_download(view_->download());
  view_->download().set_hub(settings_.downloads.hub.endpoint.host());
  view_->download().set_offline(settings_.downloads.network.offline);
  for (const auto& [id, status] : statuses_) show_status(status);
  if (early_error_) tell_error(view_->download(), *early_error_);
  show_folders();
  show_models();
}

void ModelsController::show_library() {
  make_view();
  view_->show_library();
  Q_EMIT viewWanted();
  scan();
}

void ModelsController::show_downloads(const QString& search) {
  show_library();
  view_->show_download();
  if (!search.isEmpty()) view_->download().search(search);
}

void ModelsController::connect_library(ui::LibraryPage& page) {
  using Page = ui::LibraryPage;
  connect(&page, &Page::openRequested, this, &ModelsController::open);
  connect(&page, &Page::prepareRequested, this, &ModelsController::ask_prepare);
  connect(&page, &Page::checkRequested, this, [this](const QString& path) {
    if (const LibraryModel* model = find(path)) work_.check(*model);
  });
  connect(&page, &Page::removeRequested, this, [this](const QString& path) {
    if (const LibraryModel* model = find(path)) work_.remove(*model);
  });
  connect(&page, &Page::cancelWorkRequested, this, [this] { work_.stop(); });
  connect(&page, &Page::showInFolderRequested, this, &ModelsController::show_in_folder);
  connect(&page, &Page::addFolderRequested, this, &ModelsController::folderAdded);
  connect(&page, &Page::removeFolderRequested, this, &ModelsController::folderRemoved);
  connect(&page, &Page::refreshRequested, this, &ModelsController::scan);
}

void ModelsController::connect_download(ui::DownloadPage& page) {
  using Page = ui::DownloadPage;
  using List = ui::DownloadList;
  connect(&page, &Page::searchRequested, &downloads_, &DownloadWorker::search);
  connect(&page, &Page::listRequested, &downloads_, &DownloadWorker::list);
  connect(&page, &Page::downloadRequested, this, &ModelsController::start_download);
  connect(&page, &Page::catalogueRequested, this, &ModelsController::fetch);
  connect(&page, &Page::openRequested, this, &ModelsController::open);
  connect(&page, &Page::tokenEntered, &downloads_, &DownloadWorker::save_token);
  connect(&page, &Page::settingsRequested, this, &ModelsController::settingsRequested);
  connect(&page.downloads(), &List::pauseRequested, &downloads_, &DownloadWorker::pause);
  connect(&page.downloads(), &List::resumeRequested, &downloads_, &DownloadWorker::resume);
  connect(&page.downloads(), &List::cancelRequested, &downloads_, &DownloadWorker::cancel);
  connect(&page.downloads(), &List::removeRequested, &downloads_, &DownloadWorker::remove);
  connect(&page.downloads(), &List::openRequested, this, &ModelsController::open);
}

void ModelsController::open(const QString& path) {
  const LibraryModel* model = find(path);
  Q_EMIT openRequested(path, model && model->fit ? model->fit->precision : PrecisionRequest{});
  if (view_) Q_EMIT view_->left();
}

void ModelsController::show_in_folder(const QString& path) {
  const QFileInfo info(path);
  QDesktopServices::openUrl(QUrl::fromLocalFile(info.isDir() ? path : info.absolutePath()));
}

// Where a search's results are seen, the library is not.
void ModelsController::tell(const QString& text) {
  if (!view_ || !view_->isVisible()) return Q_EMIT notice(text);
  if (view_->library().isHidden()) return view_->download().show_notice(text);
  view_->library().show_notice(text);
}

void ModelsController::tell(const Error& error) {
  if (!view_ || !view_->isVisible()) return Q_EMIT troubled(error);
  if (view_->library().isHidden()) return tell_error(view_->download(), error);
  tell_error(view_->library(), error);
}

// --- what holds for all of it

void ModelsController::set_folders(const std::vector<fs::path>& folders) {
  if (folders == settings_.folders) return;
  settings_.folders = folders;
  library_.set_folders(places_of(settings_).folders);
  show_folders();
  look();
}

void ModelsController::show_folders() {
  if (!view_) return;
  std::vector<ui::FolderView> views;
  for (const fs::path& folder : settings_.own_folders) views.push_back({q(folder.string()), true});
  views.push_back({q(settings_.downloads.downloads.job.cache.folder().string()), true});
  for (const fs::path& folder : settings_.folders) views.push_back({q(folder.string()), false});
  view_->library().set_folders(views);
}

void ModelsController::set_offline(bool offline) {
  const bool wanted = offline || env_offline_;
  if (wanted == settings_.downloads.network.offline) return;
  settings_.downloads.network.offline = wanted;
  downloads_.set_offline(wanted);
  if (view_) view_->download().set_offline(wanted);
}

void ModelsController::set_limits(std::int64_t context, std::int64_t budget_bytes,
                                  const DeviceChoice& device) {
  if (context == context_ && budget_bytes == budget_bytes_ && device == device_) return;
  device_ = device;
  context_ = context;
  budget_bytes_ = budget_bytes;
  if (view_ && view_->isVisible()) scan();
}

void ModelsController::set_open_model(const QString& path, std::int64_t held_bytes,
                                      const std::string& device) {
  held_bytes_ = held_bytes;
  held_on_ = device;
  open_model_ = path.isEmpty() ? fs::path() : path_of(QFileInfo(path).canonicalFilePath());
  show_models();
}

// --- the library

// Something came or went. Models are read only for a window that shows them.
void ModelsController::look() {
  library_.list();
  if (view_ && view_->isVisible()) scan();
}

void ModelsController::scan() {
  if (view_) view_->library().set_looking(true);
  library_.scan(held_there(), context_, budget_bytes_, device_);
  plan_catalogue();
}

std::int64_t ModelsController::held_there() const {
  return same_device(held_on_, device_.name) ? held_bytes_ : 0;
}

const LibraryModel* ModelsController::find(const QString& path) const {
  const fs::path wanted = path_of(path), real = path_of(QFileInfo(path).canonicalFilePath());
  const auto found = std::ranges::find_if(models_, [&](const LibraryModel& model) {
    return model.path == wanted || (!real.empty() && model.real == real);
  });
  return found == models_.end() ? nullptr : &*found;
}

void ModelsController::show_models() {
  if (!view_) return;
  std::vector<ui::LibraryRow> rows;
  for (const LibraryModel& model : models_) rows.push_back(row_of(model, open_model_));
  view_->library().set_models(rows);
  show_catalogue();
}

void ModelsController::connect_scans() {
  connect(&library_, &LibraryWorker::listed, this, [this](const std::vector<LibraryModel>& models) {
    // What was read is shown until it is read again.
    std::vector<LibraryModel> before = std::exchange(models_, models);
    for (LibraryModel& model : models_) {
      const auto known = std::ranges::find(before, model.path, &LibraryModel::path);
      if (known == before.end() || !model.is_read) continue;
      model.fit = known->fit;
      model.stores = known->stores;
    }
    show_models();
  });
  connect(&library_, &LibraryWorker::read, this, [this](const LibraryModel& model) {
    const auto known = std::ranges::find(models_, model.path, &LibraryModel::path);
    if (known == models_.end()) return;
    *known = model;
    if (view_) view_->library().set_model(row_of(model, open_model_));
  });
  connect(&library_, &LibraryWorker::finished, this, [this] {
    if (view_) view_->library().set_looking(false);
  });
  connect(&library_, &LibraryWorker::named, this, &ModelsController::modelsNamed);
  connect(&library_, &LibraryWorker::folderChanged, this, &ModelsController::look);
}

void ModelsController::connect_work() {
  connect(&work_, &ModelWorker::started, this, [this](const QString& path, ModelTask task) {
    if (!view_) return;
    const QString name = QFileInfo(path).fileName();
    view_->library().show_work(task == ModelTask::prepare ? tr("Preparing %1").arg(name)
                               : task == ModelTask::check ? tr("Checking %1").arg(name)
                                                          : tr("Moving %1 to the trash").arg(name),
                               0, 0);
  });
  connect(&work_, &ModelWorker::progressed, this, [this](const QString& path, const Progress& progress) {
    if (!view_) return;
    const QString name = QFileInfo(path).fileName();
    QString text = name;
    if (progress.unit == Progress::Unit::tokens) {
      text = tr("%1 is reading the text: %2 of %3 tokens").arg(name).arg(progress.done).arg(progress.total);
    } else if (progress.total > 0) {
      text = tr("%1: %2 of %3").arg(name, ui::bytes_text(progress.done), ui::bytes_text(progress.total));
    }
    view_->library().show_work(text, progress.done, progress.total);
  });
  connect(&work_, &ModelWorker::prepared, this, [this](const QString& path, const PrepareReport& report) {
    if (view_) view_->library().show_work({}, 0, 0);
    const QString name = QFileInfo(path).fileName();
    const QString size = ui::bytes_text(report.bytes);
    tell(report.was_there ? tr("%1 is already prepared like this.").arg(name)
         : report.recalibrated
             ? tr("%1 was prepared again, because it had been prepared without this text: %2 on the disk.")
                   .arg(name, size)
             : tr("%1 is prepared: %2 on the disk.").arg(name, size));
    scan();
  });
  connect(&work_, &ModelWorker::checked, this, [this](const QString& path, const CheckReport& report) {
    if (view_) view_->library().show_work({}, 0, 0);
    const QString name = QFileInfo(path).fileName();
    QString text =
        tr("%1 is intact: %2 was read without an error.").arg(name, ui::bytes_text(report.files.bytes));
    if (report.files.compared > 0)
      text = tr("%1 is intact: %2 was read, and the checksums of %n file(s) match those of the hub.", nullptr,
                static_cast<int>(report.files.compared))
                 .arg(name, ui::bytes_text(report.files.bytes));
    if (report.stores > 0)
      text = tr("%1 What was prepared from it is intact too: %n part(s).", nullptr,
                static_cast<int>(report.versions))
                 .arg(text);
    tell(text);
  });
  connect(&work_, &ModelWorker::removed, this, [this](const QString& path, std::int64_t bytes) {
    if (view_) view_->library().show_work({}, 0, 0);
    tell(tr("%1 is in the trash: %2.").arg(QFileInfo(path).fileName(), ui::bytes_text(bytes)));
    look();
  });
  connect(&work_, &ModelWorker::failed, this, &ModelsController::show_task_error);
}

void ModelsController::connect_downloads() {
  connect(&downloads_, &DownloadWorker::changed, this, &ModelsController::on_download);
  connect(&downloads_, &DownloadWorker::removed, this, [this](std::int64_t id) {
    statuses_.erase(id);
    if (view_) view_->download().downloads().remove_download(id);
  });
  connect(&downloads_, &DownloadWorker::found, this,
          [this](const QString& text, const std::vector<HubModel>& models) {
            if (!view_) return;
            std::vector<ui::RepositoryRow> rows;
            for (const HubModel& model : models) rows.push_back(row_of(model));
            view_->download().show_found(text, rows);
          });
  connect(&downloads_, &DownloadWorker::listed, this, &ModelsController::on_listed);
  connect(&downloads_, &DownloadWorker::failed, this, &ModelsController::on_download_failed);
  connect(&downloads_, &DownloadWorker::listTroubled, this, [this](const Error& error) {
    early_error_ = error;
    if (view_) tell_error(view_->download(), error);
  });
  connect(&downloads_, &DownloadWorker::tokenWanted, this, [this] {
    if (view_) view_->download().ask_token();
  });
  connect(&downloads_, &DownloadWorker::tokenSaved, this, [this] {
    const QString text = tr("The token is in the keyring.");
    if (view_) {
      view_->download().token_saved();
      view_->download().show_notice(text);
      if (const QString repository = view_->download().repository(); !repository.isEmpty())
        downloads_.list(repository);
    }
    for (const auto& [id, status] : statuses_)
      if (status.wants_token) downloads_.resume(id);
    Q_EMIT tokenNote(text, false);
  });
  connect(&downloads_, &DownloadWorker::tokenForgotten, this, [this](TokenSource still) {
    Q_EMIT tokenNote(still == TokenSource::environment
                         ? tr("The keyring no longer has a token for Fovea. The one that Fovea was started "
                              "with is still used.")
                     : still == TokenSource::hub_file ? tr("The keyring no longer has a token for Fovea. The "
                                                           "one stored by the hub's own tools is still used.")
                                                      : tr("The keyring no longer has a token for Fovea."),
                     false);
  });
}

void ModelsController::save_token(const QString& token) {
  downloads_.save_token(token);
}

void ModelsController::forget_token() {
  downloads_.forget_token();
}

void ModelsController::show_task_error(const QString& path, ModelTask task, const Error& error) {
  if (view_) view_->library().show_work({}, 0, 0);
  const QString name = QFileInfo(path).fileName();
  if (error.kind == ErrorKind::cancelled) {
    tell(task == ModelTask::prepare
             ? tr("Preparing %1 was stopped. What is done is kept: preparing it again continues from there.")
                   .arg(name)
             : tr("The check of %1 was stopped.").arg(name));
    return;
  }
  tell(error);
  if (task == ModelTask::remove) look();
}

// --- preparing

void ModelsController::ask_prepare(const QString& path) {
  struct Offer {
    Result<StorePlan> usual;
    std::vector<ui::TierChoice> tiers;
  };
  const auto look = [path] {
    Offer offer{describe_store(request_for(path, {})), {}};
    for (const char* name : {"file", "q8", "q4", "q3", "q2"}) {
      PrepareRequest request = request_for(path, {"file"});
      if (std::string_view(name) != "file") request.tiers.emplace_back(name);
      if (!describe_store(request)) continue;  // not below the file's
      ui::TierChoice choice = tier_choice(name);
      choice.chosen = offer.usual && std::ranges::find(offer.usual->tiers, name) != offer.usual->tiers.end();
      offer.tiers.push_back(choice);
      if (const auto better = closer_tier(request); better && *better)
        offer.tiers.push_back(tier_choice(**better));
    }
    return offer;
  };
  in_background(this, look, [this, path](const Offer& offer) {
    if (!offer.usual) return tell(offer.usual.error());
    if (offer.tiers.size() < 2)
      return tell(tr("There is no precision below that of %1's file, so nothing can be prepared.")
                      .arg(QFileInfo(path).fileName()));
    offer_tiers(path, offer.tiers, offer.usual->scope == "experts");
  });
}

void ModelsController::offer_tiers(const QString& path, const std::vector<ui::TierChoice>& tiers,
                                   bool has_experts) {
  if (!view_) return;
  auto* ask = new ui::PrepareDialog(QFileInfo(path).fileName(), tiers, has_experts, view_);
  ask->setAttribute(Qt::WA_DeleteOnClose);
  const auto measure = [path, ask, stores = settings_.stores](const QStringList& chosen) {
    if (chosen.size() < 2)
      return ask->show_obstacle(tr("Choose at least two: with only one there is nothing to switch between."),
                                false);
    const auto look = [path, chosen, stores] {
      return std::pair(describe_store(request_for(path, names_of(chosen))),
                       free_disk_bytes(stores).value_or(0));
    };
    in_background(ask, look, [ask, chosen](const auto& found) {
      if (ask->tiers() != chosen) return;
      const auto& [plan, room] = found;
      if (!plan) {
        const auto [text, details] = error_text(plan.error());
        return ask->show_obstacle(text, true, details);
      }
      const QString bytes = ui::bytes_text(plan->bytes), free = ui::bytes_text(room);
      if (plan->bytes > room)
        return ask->show_obstacle(tr("It takes %1 on the disk, and only %2 is free there.").arg(bytes, free),
                                  true);
      ask->show_ready(tr("It takes %1 on the disk; %2 is free there.").arg(bytes, free));
    });
  };
  connect(ask, &ui::PrepareDialog::tiersChosen, this, measure);
  connect(ask, &QDialog::accepted, this, [this, path, ask] {
    work_.prepare(path_of(path),
                  {.tiers = names_of(ask->tiers()),
                   .built_in_text = ask->text() == ui::PrepareText::built_in,
                   .text_file = path_of(ask->text_file()),
                   .measured_tokens = ask->measures() ? usual_divergence_tokens : 0},
                  settings_.stores);
  });
  ask->open();
  measure(ask->tiers());
}

// --- downloads

void ModelsController::show_status(const DownloadStatus& status) {
  if (view_) view_->download().downloads().set_download(row_of(status));
}

void ModelsController::on_download(const DownloadStatus& status) {
  const auto before = statuses_.find(status.id);
  const bool is_news = before != statuses_.end() && before->second.state != status.state;
  statuses_[status.id] = status;
  show_status(status);
  if (!is_news) return;
  if (status.state == DownloadState::done) {
    if (!view_ || !view_->isVisible())
      Q_EMIT notice(tr("%1 was downloaded. It is in the list of models.").arg(q(status.name)));
    look();
  } else if (status.state == DownloadState::failed) {
    if (status.wants_token && view_) view_->download().ask_token();
    if (!view_ || !view_->isVisible())
      Q_EMIT notice(tr("The download of %1 failed: %2").arg(q(status.name), why_words(status).text));
  }
}

void ModelsController::on_listed(const QString& asked, const HubRepository& repository,
                                 const std::vector<ModelChoice>& choices) {
  if (!view_ || asked != view_->download().repository()) return;
  asked_ = asked;
  listed_ = repository;
  choices_ = choices;
  const auto look = [id = repository.id, choices, held = held_there(), context = context_,
                     budget = budget_bytes_, device = device_]() -> Result<std::vector<ui::VersionRow>> {
    FOVEA_TRY(ModelRoom machine, this_machine(held, device));
    machine.options.context = context;
    machine.options.context_may_shrink = true;
    if (budget > 0) machine.options.precision.budget_bytes = budget;
    return rows_of(choices, id, machine);
  };
  in_background(this, look, [this, asked](const Result<std::vector<ui::VersionRow>>& rows) {
    if (!rows) return on_download_failed(asked, rows.error());
    if (view_) view_->download().show_versions(asked, *rows);
  });
}

void ModelsController::on_download_failed(const QString& about, const Error& error) {
  if (about.isEmpty()) Q_EMIT tokenNote(error_text(error).text, true);
  if (view_) tell_error(view_->download(), error);
}

// Takes a moment for each model.
void ModelsController::plan_catalogue() {
  if (!view_) return;
  const auto plan = [folder = settings_.own_folders.empty() ? fs::path() : settings_.own_folders.front(),
                     held = held_there(), context = context_, budget = budget_bytes_,
                     device = device_]() -> std::vector<Candidate> {
    auto machine = find_machine(folder, device, held);
    if (!machine || machine->trouble) return {};
    machine->room.context = context;
    machine->room.context_may_shrink = true;
    if (budget > 0) machine->room.precision.budget_bytes = budget;
    std::vector<Candidate> planned;
    for (const CatalogueEntry& entry : catalogue())
      if (!entry.repository.empty()) planned.push_back(examine_entry(entry, *machine));
    sort_for(planned, first_wish);
    return planned;
  };
  in_background(this, plan, [this, number = ++plans_](const std::vector<Candidate>& planned) {
    if (number != plans_) return;
    catalogue_ = planned;
    show_catalogue();
  });
}

void ModelsController::show_catalogue() {
  if (!view_) return;
  std::vector<ui::CatalogueRow> rows;
  for (const Candidate& candidate : catalogue_) {
    const std::string stem = fs::path(candidate.entry->file).stem().string();
    const auto here = std::ranges::find_if(
        models_, [&](const LibraryModel& model) { return model.path.stem().string() == stem; });
    rows.push_back(row_of(candidate, here == models_.end() ? fs::path() : here->path));
  }
  view_->download().set_catalogue(rows);
}

// The hub is asked which files belong to it; the list of downloads shows the rest.
void ModelsController::fetch(const QString& id) {
  const auto found = std::ranges::find_if(
      catalogue_, [&](const Candidate& candidate) { return q(candidate.entry->id) == id; });
  if (found == catalogue_.end()) return;
  auto* asking = new WizardDownloads(downloads_, this);
  connect(asking, &WizardDownloads::changed, this, [this, asking](const WizardDownload& download) {
    const bool is_asked = download.error.empty() && download.total == 0;
    if (is_asked) return;
    if (!download.error.empty() && view_) view_->download().show_error(q(download.error));
    asking->disconnect(this);
    asking->deleteLater();
  });
  asking->start(q(found->entry->repository), q(found->entry->file));
}

void ModelsController::start_download(const QString& repository, int version) {
  if (asked_ != repository || version < 0 || version >= std::ssize(choices_)) return;
  DownloadRequest request;
  request.repository = listed_.id;
  request.revision = listed_.revision;
  request.commit = listed_.commit;
  request.choice = choices_[static_cast<std::size_t>(version)];
  downloads_.add(request);
}

}  // namespace fovea::app
