#include "app/window/desktop.h"

#include <QApplication>
#include <QFileInfo>
#include <QFontDatabase>

#include "app/advisor/model_setups.h"
#include "app/advisor/proposal.h"
#include "app/library/background.h"
#include "app/library/data_folder.h"
#include "app/library/model_library.h"
#include "app/library/sampling_defaults.h"
#include "app/library/stores.h"
#include "app/live/live_session.h"
#include "app/window/beside_link.h"
#include "app/window/compare_link.h"
#include "app/window/generation_settings.h"
#include "app/window/model_words.h"
#include "app/window/models_controller.h"
#include "app/window/presets_link.h"
#include "app/window/server_link.h"
#include "app/window/token_inspector.h"
#include "app/window/tour.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/core/result.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/language/language.h"
#include "ui/live/live_panel.h"
#include "ui/theme/motion.h"
#include "ui/theme/theme.h"

namespace fovea::app {
namespace {

constexpr std::size_t kRecentModels = 8;

std::vector<ui::ModelChoice> recent_choices(const Settings& settings) {
  std::vector<ui::ModelChoice> choices;
  for (const std::string& path : settings.recent_models) {
    if (QFileInfo::exists(q(path))) choices.push_back({QFileInfo(q(path)).fileName(), q(path)});
  }
  return choices;
}

std::vector<std::filesystem::path> folders_of(const Settings& settings) {
  return {settings.model_folders.begin(), settings.model_folders.end()};
}

QByteArray from_base64(const std::string& text) {
  return QByteArray::fromBase64(QByteArray::fromStdString(text));
}

// What the desktop prefers and its font, before Fovea's own replace them.
struct SystemLook {
  ui::Scheme scheme = ui::preferred_scheme();
  QFont font = QApplication::font();
};
const SystemLook& system_look() {
  static const SystemLook look;
  return look;
}

}  // namespace

Desktop::Desktop(const WindowRequest& request) : request_(request), settings_file_(settings_path()) {
  writer_.setMaxThreadCount(1);
  system_look();
  first_start_ = !QFileInfo::exists(q(settings_file_.path().string()));
  const auto settings = settings_file_.load();
  if (settings) settings_ = *settings;
  ui::use_language(q(settings_.language));
  apply_appearance();
  history_ = std::make_unique<history::HistoryThread>(history_file());
  window_ = std::make_unique<ui::ChatWindow>();
  live_session_ = std::make_unique<LiveSession>();
  live_panel_ = new ui::LivePanel(*live_session_);
  window_->set_live_panel(live_panel_, &live_panel_->commands());
  chat_ =
      std::make_unique<ChatController>(*window_, *history_, load_defaults(), [this](const ModelInfo& info) {
        GenerateRequest answer;
        answer.sampling = sampling_defaults(info).sampling;
        apply(with_general({}, settings_), answer);
        return answer;
      });
  presets_ = std::make_unique<PresetsLink>(
      *chat_, *window_, settings_,
      [this](const std::function<void(Settings&)>& change) { change_settings(change); });
  demo_ = std::make_unique<DemoStart>(*chat_, *window_, models_folder() / "demo.gguf", stores_folder());
  chat_->set_load_setup([this](LoadOptions& load) { apply_kept_setup(load); });
  auto* const live = new LiveController(*live_session_, *live_panel_, *chat_);
  tour_ = new Tour(*chat_, *window_, *live_panel_, *live_session_, models_folder() / "demo.gguf");
  new TokenInspector(*window_, *live_panel_, *live_session_, *chat_);
  ModelsSettings models = ModelsSettings::usual();
  models.folders = folders_of(settings_);
  models.downloads.network.offline |= settings_.offline;
  models_ = std::make_unique<ModelsController>(*window_, std::move(models));
  wizard_ = std::make_unique<WizardLink>(
      *chat_, *window_, [this](const std::function<void(Settings&)>& change) { change_settings(change); });
  wizard_->set_downloads(models_->downloads());
  first_screen_ = std::make_unique<FirstScreen>(window_->welcome(), models_->downloads());
  compare_ = std::make_unique<CompareLink>(*chat_, *window_);
  connect(compare_.get(), &CompareLink::routersCompared, live, &LiveController::set_fidelity);
  beside_ = new BesideLink(*chat_, *window_);
  connect(window_.get(), &ui::ChatWindow::besideRequested, beside_, &BesideLink::open);
  connect(live_panel_, &ui::LivePanel::besideRequested, beside_, &BesideLink::open);
  server_ =
      std::make_unique<ServerLink>(*chat_, *window_, request_.plan_text, config_folder() / "server.key");
  connect_window();
  connect_models();
  connect_server();
  apply_settings();
  if (!settings) tell_error(*window_, settings.error());
  tell_settings(settings_file_.take_notices());
}

Desktop::~Desktop() {
  stop_.request_stop();
  server_.reset();
  compare_.reset();
  wizard_.reset();
  first_screen_.reset();
  models_.reset();
  demo_.reset();
  presets_.reset();
  chat_.reset();  // its worker feeds the panel
  window_.reset();
  history_.reset();
  writer_.waitForDone();
}

void Desktop::connect_window() {
  connect(history_.get(), &history::HistoryThread::notice, window_.get(),
          [this](const QString& sentence) { window_->show_notice(tr("Conversations: %1").arg(sentence)); });
  connect(history_.get(), &history::HistoryThread::failed, window_.get(), [this](const QString& sentence) {
    window_->show_error(sentence);
    storing_error_ = sentence;
  });
  connect(history_.get(), &history::HistoryThread::recovered, window_.get(), [this] {
    const QString shown = window_->error_bar().message();
    if (shown.isEmpty() || shown == storing_error_)
      window_->show_notice(tr("Conversations: everything that could not be saved earlier is saved now."));
  });
  connect(history_.get(), &history::HistoryThread::closed, this, &Desktop::closed);
  connect(chat_.get(), &ChatController::closed, history_.get(), &history::HistoryThread::close);
  connect(chat_.get(), &ChatController::modelOpened, this, &Desktop::remember_model);
  connect(chat_.get(), &ChatController::modelOpened, this, &Desktop::check_device);
  connect(chat_.get(), &ChatController::modelOpened, window_.get(),
          [this] { window_->offer_live_panel(settings_.show_live_panel); });
  connect(chat_.get(), &ChatController::restartRequested, this, &Desktop::begin_restart);
  connect(window_.get(), &ui::ChatWindow::closing, this, &Desktop::keep_geometry);
  connect(window_.get(), &ui::ChatWindow::closing, this, [this] {
    stop_.request_stop();
    first_screen_->stop();
  });
  connect(live_panel_, &ui::LivePanel::choosePrecisionRequested, this,
          [this] { wizard_->open(settings_, true); });
  connect(wizard_.get(), &WizardLink::chosen, this, &Desktop::remember_model);
  connect(wizard_.get(), &WizardLink::endedWithoutModel, this, &Desktop::open_what_fits);
  connect(window_.get(), &ui::ChatWindow::wizardRequested, this, [this] {
    first_screen_->stop();  // the wizard measures by itself
    wizard_->open(settings_);
  });
  connect(window_.get(), &ui::ChatWindow::settingsRequested, this, &Desktop::show_settings);
  connect(window_.get(), &ui::ChatWindow::compareRequested, compare_.get(), &CompareLink::open);
  connect(window_.get(), &ui::ChatWindow::livePanelShown, this,
          [this](bool shown) { change_settings([shown](Settings& s) { s.show_live_panel = shown; }); });
  live_panel_->set_hottest_first(settings_.hottest_first);
  connect(live_panel_, &ui::LivePanel::hottestFirstChosen, this,
          [this](bool on) { change_settings([on](Settings& s) { s.hottest_first = on; }); });
  connect(window_.get(), &ui::ChatWindow::textSizeRequested, this, [this](int step) {
    const std::int64_t percent =
        step == 0 ? 100 : std::clamp<std::int64_t>(settings_.text_percent + 10 * step, 50, 300);
    change_settings([percent](Settings& s) { s.text_percent = percent; });
    apply_appearance();
  });
}

void Desktop::connect_models() {
  using Window = ui::ChatWindow;
  ModelsController* models = models_.get();
  connect(window_.get(), &Window::modelsRequested, models, &ModelsController::show_library);
  connect(window_.get(), &Window::downloadsRequested, models, [models] { models->show_downloads(); });
  connect(models, &ModelsController::openRequested, this, &Desktop::open_with);
  connect(first_screen_.get(), &FirstScreen::openRequested, this, &Desktop::open_with);
  connect(models, &ModelsController::viewWanted, window_.get(),
          [this] { window_->show_page(*models_->view(), ui::SidebarPlace::models); });
  connect(models, &ModelsController::settingsRequested, this, &Desktop::show_settings);
  connect(models, &ModelsController::modelsNamed, window_.get(), [this](const auto& named) {
    std::vector<ui::ModelChoice> library;
    library_.emplace();
    for (const LibraryEntry& entry : named) {
      library.push_back({q(entry.name), q(entry.path.string())});
      library_->push_back(entry.path);
    }
    window_->set_library(library);
    if (wants_model_) open_what_fits();
  });
  connect(models, &ModelsController::notice, window_.get(),
          [this](const QString& text) { window_->show_notice(text); });
  connect(models, &ModelsController::troubled, window_.get(),
          [this](const Error& error) { tell_error(*window_, error); });
  connect(models, &ModelsController::folderAdded, this, [this](const QString& folder) {
    const std::string path = folder.toStdString();
    change_settings([path](Settings& s) {
      if (std::ranges::find(s.model_folders, path) == s.model_folders.end()) s.model_folders.push_back(path);
    });
    apply_settings();
  });
  connect(models, &ModelsController::folderRemoved, this, [this](const QString& folder) {
    change_settings([path = folder.toStdString()](Settings& s) { std::erase(s.model_folders, path); });
    apply_settings();
  });
  connect(chat_.get(), &ChatController::modelOpened, models, [this](const QString& path) {
    const LoadedModel& model = chat_->model();
    models_->set_open_model(path, memory_bytes(model), model.settings.device);
  });
  connect(chat_.get(), &ChatController::modelClosed, models, [this] { models_->set_open_model({}, 0); });
}

void Desktop::start() {
  show_models();
  window_->restoreGeometry(from_base64(settings_.window_geometry));
  window_->restoreState(from_base64(settings_.window_state));
  window_->show_live_panel(false);  // until there is a model to show
  // Who has opened no model has hardly a conversation; if there is one, the window shows it.
  const bool is_new = settings_.recent_models.empty() && !request_.load && request_.conversation <= 0;
  window_->show_proposal_only(is_new);
  window_->show();
  server_->begin();
  if (request_.conversation > 0) chat_->conversation().open(request_.conversation);
  if (request_.load) {
    LoadOptions load = *request_.load;
    if (load.device.empty()) load.device = settings_.device;
    LoadOptions kept = load;
    if (!request_.policy_given && !apply_setup(settings_.model_setups, kept)) demo_->apply(load);
    chat_->open_model(load);
  } else if (const auto recent = recent_choices(settings_); !recent.empty()) {
    chat_->open_model(recent.front().path);
  } else if (first_start_) {
    propose();
  } else {
    open_what_fits();
  }
}

// As its model was set up, or as the demo starts; false when it is as every model.
bool Desktop::apply_kept_setup(LoadOptions& load) {
  if (apply_setup(settings_.model_setups, load)) return true;
  demo_->apply(load);
  return load.precision.policy != PolicyKind::none;
}

void Desktop::open_with(const QString& path, const PrecisionRequest& precision) {
  first_screen_->stop();
  LoadOptions load = load_defaults();
  load.model = path.toStdString();
  if (!apply_kept_setup(load) && load.precision.policy == PolicyKind::none &&
      precision.policy != PolicyKind::none) {
    load.precision = precision;
    load.precision.stores_folder = stores_folder();
  }
  chat_->open_model(load);
}

// For somebody who has nothing to open, or has not seen Fovea before.
void Desktop::propose() {
  FirstWorld world{.models_folder = models_folder(),
                   .folders = folders_of(settings_),
                   .stores = stores_folder(),
                   .device = device(),
                   .sequences = ServerLink::sequences_for(settings_.server)};
  if (const auto demo = models_folder() / "demo.gguf"; QFileInfo::exists(q(demo.string()))) world.demo = demo;
  first_screen_->look(world);
}

// For somebody who has not chosen. Where nothing fits, the window says so.
void Desktop::open_what_fits() {
  wants_model_ = !library_;
  if (wants_model_) return;
  std::vector<std::filesystem::path> recent;
  for (const ui::ModelChoice& choice : recent_choices(settings_))
    recent.emplace_back(choice.path.toStdString());
  const auto look = [recent, library = *library_, context = settings_.context_tokens,
                     budget = static_cast<std::int64_t>(settings_.budget_gb * 1e9), device = device(),
                     sequences = ServerLink::sequences_for(settings_.server),
                     stop = stop_.get_token()]() -> Result<Proposal> {
    FOVEA_TRY(Machine machine, find_machine({}, device));
    if (machine.trouble) return std::unexpected(*machine.trouble);
    machine.room.context = context;
    machine.room.context_may_shrink = true;
    if (budget > 0) machine.room.precision.budget_bytes = budget;
    machine.room.sequences = sequences;
    return propose_model(recent, library, catalogue(), machine, stop);
  };
  in_background(this, look, [this](const Result<Proposal>& proposal) {
    if (stop_.stop_requested()) return;  // the window closes
    if (proposal) return take_proposal(*proposal);
    const auto [text, details] = error_text(proposal.error());
    window_->show_error(text, tr("Settings…"), [this] { show_settings(); }, details);
  });
}

void Desktop::take_proposal(const Proposal& proposal) {
  using State = ui::ChatWindow::State;
  if (chat_->model_loaded() || window_->state() == State::loading || wizard_->trying()) return;
  if (!proposal.model) {
    if (!library_->empty())
      window_->show_notice(tr("None of the models here fits into the memory that is free now."));
    return propose();
  }
  const QString path = q(proposal.model->path.string()), name = q(proposal.model->name);
  open_with(path, proposal.model->fit.precision);
  window_->show_notice(
      proposal.was_last ? tr("Opening %1, the model you used last.").arg(name)
      : proposal.fitting == 1
          ? tr("Opening %1, the only model here that fits. The button at the top left leads to more.")
                .arg(name)
          : tr("Opening %1, the most capable model here that fits. The button at the top left leads to the "
               "others.")
                .arg(name));
}

void Desktop::apply_appearance() {
  ui::Scheme scheme = system_look().scheme;
  if (settings_.theme == ThemeChoice::light) scheme = ui::Scheme::light;
  if (settings_.theme == ThemeChoice::dark) scheme = ui::Scheme::dark;
  ui::motion::set_less(settings_.less_motion);
  ui::apply_theme(*qApp, scheme);
  QFont font = ui::interface_font(system_look().font, QFontDatabase::families());
  font.setPointSizeF(font.pointSizeF() * static_cast<double>(settings_.text_percent) / 100);
  QApplication::setFont(font);
}

void Desktop::show_models() {
  models_->list_models();
  window_->set_recent(recent_choices(settings_));
}

void Desktop::remember_model(const QString& path) {
  if (wizard_->trying()) return;
  const std::string absolute = QFileInfo(path).absoluteFilePath().toStdString();
  change_settings([absolute](Settings& s) {
    std::erase(s.recent_models, absolute);
    s.recent_models.insert(s.recent_models.begin(), absolute);
    if (s.recent_models.size() > kRecentModels) s.recent_models.resize(kRecentModels);
  });
  window_->set_recent(recent_choices(settings_));
}

// The same program with the same model and conversation, once this one has stored everything and let go of
// the device.
void Desktop::begin_restart() {
  restart_ = request_.arguments;
  const std::filesystem::path& open = chat_->model().settings.model;
  // Another model than the command line's is the one that was used last, which is opened again without one.
  if (request_.load && !open.empty() && open != request_.load->model) restart_->clear();
  if (const std::int64_t id = chat_->conversation().conversation().id; id != 0) {
    restart_->emplace_back("--conversation");
    restart_->push_back(std::to_string(id));
  }
  window_->close();
}

void Desktop::keep_geometry() {
  const std::string geometry = window_->saveGeometry().toBase64().toStdString();
  const std::string state = window_->saveState().toBase64().toStdString();
  change_settings([geometry, state](Settings& s) {
    s.window_geometry = geometry;
    s.window_state = state;
  });
}

}  // namespace fovea::app
