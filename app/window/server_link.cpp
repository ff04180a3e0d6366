#include "app/window/server_link.h"

#include <mutex>

#include "app/advisor/model_setups.h"
#include "app/library/data_folder.h"
#include "app/server/access.h"
#include "app/server/engine_models.h"
#include "app/server/errors.h"
#include "app/server/port_owner.h"
#include "app/server/service.h"
#include "app/window/chat_controller.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/api/limits.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"

namespace fovea::app {
namespace {

using State = ui::ServerStateView::State;

constexpr int kCountMilliseconds = 250;
constexpr const char* kHere = "127.0.0.1";
constexpr const char* kEverywhere = "0.0.0.0";

}  // namespace

// What the window's settings say, for threads of the server.
struct ServerLink::Loading {
  std::mutex mutex;
  LoadOptions load;                 // guarded by mutex, as are the others
  std::vector<LoadOptions> setups;  // of single models
  std::int64_t slots = 1;
  NamedPaths models;

  LoadOptions options(const std::string& model) {
    const std::scoped_lock lock(mutex);
    LoadOptions options = load;
    options.model = model;
    apply_setup(setups, options);
    options.sequences = slots;
    options.cache_tokens = 0;
    return options;
  }
  NamedPaths others() {
    const std::scoped_lock lock(mutex);
    return models;
  }
};

struct ServerLink::Running {
  EngineWorker& worker;
  std::shared_ptr<EngineModels> models;
  std::unique_ptr<Service> service;

  explicit Running(EngineWorker& engine) : worker(engine) {}
  ~Running() {
    service.reset();
    worker.serve(nullptr);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

struct ServerLink::Started {
  std::shared_ptr<Running> running = {};  // null: it could not be
  std::optional<Error> error = {};
  std::optional<PortOwner> owner = {};  // of the port, where that was it
};

ServerLink::ServerLink(ChatController& chat, ui::ChatWindow& window, PlanText plan_text,
                       std::filesystem::path key_file)
    : chat_(chat),
      window_(window),
      plan_text_(std::move(plan_text)),
      key_(std::make_unique<ServerKey>(std::move(key_file))),
      loading_(std::make_shared<Loading>()) {
  lane_.setMaxThreadCount(1);
  counting_.setInterval(kCountMilliseconds);
  connect(&counting_, &QTimer::timeout, this, &ServerLink::count);
}

ServerLink::~ServerLink() {
  leave();
  lane_.waitForDone();
}

void ServerLink::set_keyring(std::shared_ptr<Keyring> keyring) {
  key_ = std::make_unique<ServerKey>(key_->file(), std::move(keyring));
}

void ServerLink::set_models(NamedPaths models) {
  const std::scoped_lock lock(loading_->mutex);
  loading_->models = std::move(models);
}

void ServerLink::apply(const Settings& settings, const LoadOptions& load) {
  {
    const std::scoped_lock lock(loading_->mutex);
    loading_->load = load;
    loading_->setups = settings.model_setups;
    loading_->slots = settings.server.slots;
  }
  if (settings.server == choice_) return;
  choice_ = settings.server;
  if (begun_) restart();
}

void ServerLink::begin() {
  begun_ = true;
  if (choice_.on) restart();
}

void ServerLink::retry() {
  if (state_.state == State::failed) restart();
}

void ServerLink::end() {
  choice_.on = false;
  leave();
}

// Whoever is being answered is told so; on another thread, since that may take a moment.
void ServerLink::leave() {
  ++turn_;
  counting_.stop();
  window_.set_requests(0, {});
  if (running_) lane_.start([left = std::move(running_)]() mutable { left.reset(); });
  running_.reset();
}

void ServerLink::restart() {
  leave();
  state_.key.clear();
  state_.key_place.clear();
  if (!choice_.on) return show(State::off, {});
  show(State::starting, tr("Starting…"));
  if (!choice_.for_other_computers) return start({});
  key_->find([this, turn = turn_](const Result<ServerKey::Kept>& key) {
    if (turn == turn_) take_key(key);
  });
}

void ServerLink::renew_key() {
  if (!choice_.on || !choice_.for_other_computers) return;
  leave();
  show(State::starting, tr("Starting…"));
  key_->renew([this, turn = turn_](const Result<ServerKey::Kept>& key) {
    if (turn == turn_) take_key(key);
  });
}

void ServerLink::take_key(const Result<ServerKey::Kept>& key) {
  if (!key) return fail_with(error_words(key.error()));
  state_.key = q(key->text);
  state_.key_place =
      key->in_file
          ? tr("The system has no usable keyring, so the key is kept in a file that only you can read: %1")
                .arg(q(key_->file().string()))
          : tr("The key is kept in the system's keyring.");
  start(key->text);
}

void ServerLink::start(const std::string& key) {
  const std::string host = choice_.for_other_computers ? kEverywhere : kHere;
  const auto open = [loading = loading_, worker = &chat_.worker(), plan_text = plan_text_, choice = choice_,
                     host, key]() -> Result<std::shared_ptr<Running>> {
    FOVEA_TRY(AccessRules rules, rules_for(host, key));
    auto running = std::make_shared<Running>(*worker);
    FOVEA_TRY(running->models,
              EngineModels::open({.folder = models_folder(),
                                  .others = [loading] { return loading->others(); },
                                  .options = [loading](const std::string& model) -> Result<LoadOptions> {
                                    return loading->options(model);
                                  }}));
    worker->serve(running->models);
    FOVEA_TRY(running->service, Service::start({.host = host,
                                                .port = static_cast<std::uint16_t>(choice.port),
                                                .slots = static_cast<int>(choice.slots),
                                                .access = std::move(rules),
                                                .version = FOVEA_VERSION,
                                                .plan_json = plan_text},
                                               *running->models));
    return running;
  };
  lane_.start([this, turn = turn_, open, host, port = static_cast<std::uint16_t>(choice_.port)] {
    auto started = std::make_shared<Started>();
    if (auto opened = open(); opened) {
      started->running = *std::move(opened);
    } else {
      started->error = std::move(opened).error();
      if (started->error->is(errors::server_port_in_use.code)) started->owner = ask_port(host, port);
    }
    QMetaObject::invokeMethod(this, [this, turn, started] { take(turn, *started); });
  });
}

void ServerLink::take(int turn, Started& started) {
  if (turn != turn_) {  // it was switched off, or chosen otherwise, meanwhile
    if (started.running) lane_.start([left = std::move(started.running)]() mutable { left.reset(); });
    return;
  }
  if (!started.running) return take_failure(started);
  running_ = std::move(started.running);
  const std::string here = choice_.for_other_computers ? address_here() : std::string();
  const QString url =
      here.empty() ? QStringLiteral("http://%1:%2").arg(QLatin1String(kHere)).arg(running_->service->port())
                   : QStringLiteral("http://%1:%2").arg(q(here)).arg(running_->service->port());
  show(State::listening,
       here.empty() ? tr("Programs on this computer are answered at this address:")
                    : tr("Programs on this and other computers are answered at this address, with the key:"),
       url);
  counting_.start();
  offer_room();
}

void ServerLink::take_failure(const Started& started) {
  const Error& error = *started.error;
  const qint64 port = choice_.port;
  if (started.owner)
    return fail_with(tr("Another Fovea (version %1, process %2) is already answering on port %3. Programs "
                        "can use that one; or choose another port.")
                         .arg(q(started.owner->version))
                         .arg(started.owner->process)
                         .arg(port));
  if (error.is(errors::server_port_in_use.code))
    return fail_with(tr("Port %1 is used by another program. Choose another port.").arg(port));
  fail_with(error_words(error));
}

void ServerLink::fail_with(const QString& sentence) {
  show(State::failed, sentence);
  window_.show_notice(tr("Other programs are not answered. %1").arg(sentence), tr("Settings…"),
                      [this] { Q_EMIT window_.serverSettingsRequested(); });
}

void ServerLink::show(State state, const QString& sentence, const QString& address) {
  state_.state = state;
  state_.sentence = sentence;
  state_.address = address;
  state_.requests = 0;
  Q_EMIT changed(state_);
}

void ServerLink::count() {
  const auto requests = static_cast<int>(running_->service->requests());
  if (std::exchange(state_.requests, requests) == requests) return;
  window_.set_requests(requests, state_.address);
  Q_EMIT changed(state_);
}

// A model that was opened for fewer answers at once is opened again, unless that would end one.
void ServerLink::offer_room() {
  if (!chat_.model_loaded() || chat_.model().settings.sequences >= sequences_for(choice_)) return;
  const auto again = [this] {
    if (chat_.model_loaded()) chat_.reload(chat_.model().settings.precision);
  };
  if (chat_.conversation().answering() == 0 && chat_.conversation().work() == Work::none) return again();
  window_.show_notice(tr("Until the model is reopened with room for several answers at once, other programs "
                         "wait for your answers."),
                      tr("Open it again"), again);
}

}  // namespace fovea::app
