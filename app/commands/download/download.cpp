// fovea download REPOSITORY [FILE]: a model from the hub, into the cache that the hub's tools share or a
// folder.
#include "app/commands/download/download.h"

#include <CLI/CLI.hpp>
#include <QCoreApplication>
#include <QEventLoop>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <spdlog/fmt/fmt.h>
#include <stop_token>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/download/download_job.h"
#include "app/download/library_link.h"
#include "app/download/model_choices.h"
#include "app/library/data_folder.h"
#include "app/settings/settings_file.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

struct DownloadFlags {
  std::string repository, file, revision = "main", folder, search;
  bool list = false;
  bool json = false;
};

// What all kinds of this command use.
struct Session {
  Network network;
  TokenStore tokens;
  HubClient client;
  HubCache cache;
  Console& console;
  std::stop_token stop;

  Session(Console& terminal, std::stop_token token)
      : tokens(HubSettings::from_environment().endpoint.host()),
        client(network, HubSettings::from_environment(), &tokens),
        console(terminal),
        stop(std::move(token)) {
    const auto settings = SettingsFile(settings_path()).load();
    if (!settings || settings->offline)
      network.set_offline(true);  // nobody who said "offline" is let out by a broken file
  }
};

std::string time_text(std::int64_t seconds) {
  if (seconds < 0) return "";
  if (seconds < 60) return fmt::format(", {} s", seconds);
  return seconds < 3600 ? fmt::format(", {} min", seconds / 60)
                        : fmt::format(", {} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::unexpected<Error> stopped() {
  return std::unexpected(Error{ErrorKind::cancelled, {}, {}, {}});
}

// Waits for one answer of the hub, or for Ctrl-C.
template <class T>
HubResult<T> answer_of(Session& session, const std::function<void(QObject*, HubCallback<T>)>& ask) {
  QEventLoop loop;
  std::optional<HubResult<T>> answer;
  const std::stop_callback on_stop(
      session.stop, [&loop] { QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection); });
  ask(&loop, [&](HubResult<T> told) {
    answer = std::move(told);
    loop.quit();
  });
  loop.exec();
  if (answer) return *std::move(answer);
  return std::unexpected(HubFailure{.error = stopped().error()});
}

HubResult<HubRepository> listing(Session& session, const DownloadFlags& flags) {
  return answer_of<HubRepository>(session, [&](QObject* context, HubCallback<HubRepository> done) {
    session.client.list(flags.repository, flags.revision, context, std::move(done));
  });
}

Json as_json(const ModelChoice& choice) {
  Json files = Json::array();
  for (const HubFile& file : choice.files)
    files.push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  return {{"name", choice.name},
          {"quantization", choice.quantization},
          {"bytes", choice.bytes},
          {"complete", choice.is_complete},
          {"files", files}};
}

Result<void> show_choices(Session& session, const DownloadFlags& flags) {
  const auto repository = listing(session, flags);
  if (!repository) return std::unexpected(repository.error().error);
  const std::vector<ModelChoice> choices = model_choices(*repository);
  if (flags.json) {
    Json list = Json::array();
    for (const ModelChoice& choice : choices) list.push_back(as_json(choice));
    return write_json(session.console, {{"repository", repository->id},
                                        {"commit", repository->commit},
                                        {"gated", repository->gated},
                                        {"choices", list}});
  }
  std::string text = fmt::format("{:<14} {:>11}  {:>5}  {}\n", "version", "size", "files", "name");
  for (const ModelChoice& choice : choices)
    text += fmt::format("{:<14} {:>11}  {:>5}  {}{}\n", choice.quantization, size_text(choice.bytes),
                        choice.files.size(), choice.name, choice.is_complete ? "" : "  (a part is missing)");
  if (choices.empty()) text = "There are neither GGUF nor safetensors files.\n";
  return session.console.write_text(text);
}

Result<void> show_search(Session& session, const DownloadFlags& flags) {
  const auto models = answer_of<std::vector<HubModel>>(session, [&](QObject* context, auto done) {
    session.client.search(QString::fromStdString(flags.search), 30, context, std::move(done));
  });
  if (!models) return std::unexpected(models.error().error);
  if (flags.json) {
    Json list = Json::array();
    for (const HubModel& model : *models)
      list.push_back({{"repository", model.id},
                      {"downloads", model.downloads},
                      {"likes", model.likes},
                      {"gated", model.gated}});
    return write_json(session.console, {{"models", list}});
  }
  std::string text = models->empty() ? "Nothing was found.\n"
                                     : fmt::format("{:>12} {:>8}  {}\n", "downloads", "likes", "repository");
  for (const HubModel& model : *models)
    text += fmt::format("{:>12} {:>8}  {}{}\n", model.downloads, model.likes, model.id,
                        model.gated ? "  (terms to accept)" : "");
  return session.console.write_text(text);
}

Result<void> report(Session& session, const DownloadFlags& flags, const ModelChoice& choice,
                    const std::string& commit, const std::filesystem::path& path, const std::string& name) {
  if (flags.json) {
    Json object = {
        {"repository", flags.repository}, {"commit", commit}, {"path", path.string()}, {"model", name}};
    object.update(as_json(choice));
    return write_json(session.console, object);
  }
  std::string text = "path  " + path.string() + "\n";
  text += "chat  fovea chat " + (name.empty() ? path.string() : name) + "\n";
  return session.console.write_text(text);
}

// Without the hub: what is in the cache, whoever has put it there.
Result<void> from_cache(Session& session, const DownloadFlags& flags, const Error& why) {
  const auto cached = session.cache.repository(flags.repository, flags.revision);
  if (!cached || !flags.folder.empty()) return std::unexpected(why);
  FOVEA_TRY(const ModelChoice choice, choose(*cached, flags.file));
  session.console.note("The hub was not asked (" + english(why.what) + "); this is in the cache already");
  const auto snapshot = session.cache.snapshot(flags.repository, cached->commit);
  const auto path = choice.is_folder ? snapshot : snapshot / choice.files.front().path;
  return report(session, flags, choice, cached->commit, path,
                link_into_library(models_folder(), choice, snapshot));
}

void show_progress(const DownloadStatus& status, const ProgressSink& progress) {
  if (!progress || status.bytes_total == 0) return;
  std::string item = state_name(status.state);
  if (status.state == DownloadState::running)
    item = status.bytes_per_s > 0 ? size_text(static_cast<std::int64_t>(status.bytes_per_s)) + "/s" +
                                        time_text(status.seconds_left)
                                  : "";
  if (status.state == DownloadState::waiting)
    item = status.error ? status.error->message() : "Another program is downloading this file";
  progress(
      {Progress::Stage::downloading, status.bytes_done, status.bytes_total, Progress::Unit::bytes, item});
}

Result<void> fetch(Session& session, const DownloadFlags& flags) {
  const auto repository = listing(session, flags);
  if (!repository) {
    if (session.stop.stop_requested() || repository.error().status != 0)
      return std::unexpected(repository.error().error);
    return from_cache(session, flags, repository.error().error);
  }
  FOVEA_TRY(const ModelChoice choice, choose(*repository, flags.file));
  JobSettings settings;
  settings.cache = session.cache;
  settings.library = models_folder();
  DownloadJob job(session.client, {repository->id, flags.revision, repository->commit, choice, flags.folder},
                  settings);
  const ProgressSink progress = session.console.progress();
  QEventLoop loop;
  QObject::connect(&job, &DownloadJob::changed, &loop, [&] { show_progress(job.status(), progress); });
  QObject::connect(&job, &DownloadJob::rested, &loop, &QEventLoop::quit, Qt::QueuedConnection);
  const std::stop_callback on_stop(
      session.stop, [&job] { QMetaObject::invokeMethod(&job, &DownloadJob::pause, Qt::QueuedConnection); });
  job.start();
  loop.exec();
  session.console.clear_progress();
  const DownloadStatus status = job.status();
  if (status.state == DownloadState::done)
    return report(session, flags, choice, repository->commit, status.path, status.library_name);
  if (status.state == DownloadState::paused)
    return fail(phrases::name_place(repository->id),
                errors::download_paused(Bytes{status.bytes_done}, Bytes{status.bytes_total}));
  return std::unexpected(status.error.value());
}

Result<void> run_download(const DownloadFlags& flags, Console& console, Interrupts& interrupts) {
  int count = 1;
  std::string name = "fovea";
  char* arguments[] = {name.data(), nullptr};
  const QCoreApplication application(count, arguments);
  const Interrupts::Operation operation(interrupts);
  Session session(console, operation.token());
  if (!flags.search.empty()) return show_search(session, flags);
  return flags.list ? show_choices(session, flags) : fetch(session, flags);
}

}  // namespace

void add_download(Registry& registry) {
  auto flags = std::make_shared<DownloadFlags>();
  CLI::App* command = add_command(
      registry, "download",
      "Download a model from the Hugging Face hub; the same command goes on after a stop", flags->json,
      "  repository, commit  what was downloaded, or listed\n"
      "  path                what to open\n"
      "  model               its name in the model library; empty where that has another one\n"
      "  name, quantization, bytes, complete, files  of what was chosen; a file has path, bytes, sha256\n"
      "  gated, choices      with --list: whether terms must be accepted, and all there is to choose\n"
      "  models              with --search: repository, downloads, likes, gated\n"
      "\nVariables: HF_TOKEN (access token), HF_ENDPOINT (another hub), HF_HUB_OFFLINE=1 (use the cache "
      "only),\n"
      "HF_HOME or HF_HUB_CACHE (the cache), HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE.");
  CLI::Option* repository =
      command->add_option("REPOSITORY", flags->repository, "ORG/NAME as the hub shows it");
  command->add_option("FILE", flags->file, "A quantisation (Q4_K_M), or a file (any part of a split one)")
      ->needs(repository);
  command->add_option("--revision", flags->revision, "A branch, a tag or a commit (default: main)")
      ->needs(repository);
  CLI::Option* to =
      command->add_option("--to", flags->folder, "Put the files into this folder, not into the hub's cache")
          ->needs(repository);
  CLI::Option* list =
      command->add_flag("--list", flags->list, "Show what can be chosen")->needs(repository)->excludes(to);
  command->add_option("--search", flags->search, "Show the hub's repositories for these words")
      ->excludes(repository)
      ->excludes(list);
  command->callback([&registry, flags] {
    if (flags->repository.empty() && flags->search.empty())
      throw CLI::RequiredError("One of REPOSITORY and --search");
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return run_download(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
