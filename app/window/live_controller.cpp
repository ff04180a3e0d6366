#include "app/window/live_controller.h"

#include <QFileInfo>
#include <algorithm>
#include <tuple>
#include <utility>

#include "app/advisor/counterparts.h"
#include "app/advisor/machine.h"
#include "app/library/background.h"
#include "app/library/device_choice.h"
#include "app/library/stores.h"
#include "app/live/live_session.h"
#include "app/live/panel_files.h"
#include "app/window/chat_controller.h"
#include "app/window/model_words.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/api/devices.h"
#include "ui/live/live_panel.h"

namespace fovea::app {
namespace {

constexpr int kMemoryMilliseconds = 2000;

// Two cards, or none: there is one device.
std::vector<CardPlan> cards_of(const LoadedModel& loaded) {
  if (!loaded.first_card) return {};
  std::int64_t rows = 0, experts_of_first = 0, experts_of_last = 0;
  for (const ExpertLayer& layer : loaded.expert_layers) {
    const bool is_first = layer.layer < loaded.first_card->layers;
    rows += is_first ? 1 : 0;
    (is_first ? experts_of_first : experts_of_last) += layer.experts * layer.file_bytes;
  }
  const auto card = [](const DeviceInfo& device, const DeviceInfo& other, const CardPart& part,
                       std::int64_t experts) {
    CardPlan plan{.name = short_name(device, other).toStdString(),
                  .layers = part.layers,
                  .parts = part.parts,
                  .budget_bytes = part.budget_bytes,
                  .arena_bytes = part.arena_bytes};
    // The snapshots tell of the experts.
    if (part.parts.experts.empty()) plan.parts.dense = std::max<std::int64_t>(0, part.parts.dense - experts);
    plan.parts.experts.clear();
    return plan;
  };
  std::vector<CardPlan> cards{card(loaded.first_device, loaded.device, *loaded.first_card, experts_of_first),
                              card(loaded.device, loaded.first_device, loaded.last_card, experts_of_last)};
  cards[0].rows = rows;
  cards[1].rows = std::ssize(loaded.expert_layers) - rows;
  return cards;
}

// Where the bytes are: as planned, or as a model without a policy took them.
Plan memory_plan(const LoadedModel& loaded) {
  if (loaded.plan) return *loaded.plan;
  Plan plan;
  std::int64_t experts = 0;
  for (const ExpertLayer& layer : loaded.expert_layers) experts += layer.experts * layer.file_bytes;
  const MemoryUse& memory = loaded.memory;
  plan.parts.dense = std::max<std::int64_t>(0, memory.weights + memory.host_weights - experts);
  plan.parts.kv = memory.kv_cache;
  plan.parts.windows = memory.windows;
  plan.parts.states = memory.states;
  plan.parts.activations = memory.activations;
  plan.host_bytes = memory.host_weights + memory.host_buffers;
  return plan;
}

}  // namespace

LiveController::LiveController(LiveSession& session, ui::LivePanel& panel, ChatController& chat)
    : QObject(&chat), session_(session), panel_(&panel), chat_(chat) {
  session.set_reader([controller = QPointer<LiveController>(this)](Snapshot& snapshot) {
    return controller && controller->chat_.worker().read_snapshot(snapshot);
  });
  connect(&chat, &ChatController::modelOpened, this, &LiveController::show_model);
  connect(&chat, &ChatController::modelClosed, &session, &LiveSession::clear_model);
  connect(&chat, &ChatController::modelOpening, &session, &LiveSession::set_opening);
  connect(&chat, &ChatController::timingsArrived, this, &LiveController::show_timings);
  connect(&chat, &ChatController::questionAsked, this, &LiveController::begin_chapter);
  connect(&chat.conversation(), &ConversationController::opened, this, &LiveController::show_conversation);
  connect(&chat.conversation(), &ConversationController::changed, this, &LiveController::show_conversation);
  connect(&chat.conversation(), &ConversationController::workChanged, this,
          &LiveController::show_conversation);
  connect(&session, &LiveSession::exportRequested, this, &LiveController::save);
  connect(&panel, &ui::LivePanel::replayRequested, this, &LiveController::open_recording);
  connect(&panel, &ui::LivePanel::switchPolicyRequested, this, &LiveController::offer_switch);
  connect(&panel, &ui::LivePanel::switchPolicyConfirmed, this, &LiveController::switch_policy);
  memory_timer_.setInterval(kMemoryMilliseconds);
  connect(&memory_timer_, &QTimer::timeout, this, &LiveController::read_memory);
  connect(&panel, &ui::LivePanel::watchingChanged, this, [this](bool watching) {
    watching ? memory_timer_.start() : memory_timer_.stop();
    if (watching) read_memory();
  });
}

void LiveController::show_model() {
  const LoadedModel& loaded = chat_.model();
  LiveModel model;
  model.name = shown_name(loaded.info);
  model.policy = loaded.settings.precision.policy;
  model.experts = loaded.info.experts;
  model.experts_used = loaded.info.experts_used;
  for (const ExpertLayer& layer : loaded.expert_layers) {
    model.layer_numbers.push_back(layer.layer);
    model.experts_per_layer.push_back(layer.experts);
  }
  model.calibrated_uses = loaded.calibrated_uses;
  model.plan = memory_plan(loaded);
  model.cards = cards_of(loaded);
  session_.set_model(model);
  session_.set_kv_used(-1);
  show_fidelity();
  show_conversation();
  measure_link();
}

void LiveController::set_fidelity(const LoadOptions& opened, double share, const QString& other) {
  fidelity_ = Fidelity{opened, share, other};
  show_fidelity();
}

void LiveController::show_fidelity() {
  if (!fidelity_ || !chat_.model_loaded()) return;
  if (chat_.opened_with(chat_.model().settings.precision) == fidelity_->opened)
    session_.set_fidelity(ui::RoutingFidelity{fidelity_->share, fidelity_->other.toStdString()});
}

void LiveController::show_timings(const Timings& so_far) {
  session_.add_timings(so_far);
  const LoadedModel& loaded = chat_.model();
  if (loaded.settings.context <= 0) return;
  const double filled = static_cast<double>(so_far.prompt_tokens + so_far.generated_tokens) /
                        static_cast<double>(loaded.settings.context);
  session_.set_kv_used(
      static_cast<std::int64_t>(static_cast<double>(loaded.memory.kv_cache) * std::min(1.0, filled)));
}

// By its first words.
void LiveController::begin_chapter(const QString& question) {
  constexpr qsizetype longest = 36;
  QString shown = question.simplified();
  if (shown.size() > longest) {
    const auto end = shown.lastIndexOf(QLatin1Char(' '), longest);
    shown = shown.left(end > longest / 2 ? end : longest) + QStringLiteral("…");
  }
  session_.begin_chapter(shown);
}

// What the store can be read with, past the system's cache: the line that the traffic is held against. Once
// for each store, when its model is opened.
void LiveController::measure_link() {
  const LoadOptions& opened = chat_.model().settings;
  if (opened.precision.policy == PolicyKind::none) return;
  using Measured = std::pair<std::filesystem::path, double>;
  in_background(
      this,
      [opened, known = Measured{measured_, link_bytes_per_s_}] {
        std::filesystem::path store = opened.precision.store;
        const auto made = stores_of(opened.model, opened.precision.stores_folder);
        if (store.empty() && !made.empty())
          store = std::ranges::max_element(made, {}, &StoreFile::bytes)->path;
        if (store == known.first) return known;
        return Measured{store, measure_file_read_gb_per_s(store, {}).value_or(0) * 1e9};
      },
      [this, model = opened.model](const Measured& measured) {
        if (chat_.model().settings.model != model) return;
        std::tie(measured_, link_bytes_per_s_) = measured;
        session_.set_link(link_bytes_per_s_);
      });
}

void LiveController::show_conversation() {
  const history::Conversation& conversation = chat_.conversation().conversation();
  session_.set_conversation(conversation.id == 0 ? QStringLiteral("new") : QString::number(conversation.id),
                            conversation.id == 0 ? tr("New chat") : q(conversation.title));
  const qint64 answering = chat_.conversation().answering();
  session_.set_answering(answering == 0 ? QString() : QString::number(answering),
                         chat_.conversation().answering_title());
}

void LiveController::read_memory() {
  in_background(
      &session_,
      [device = chat_.model().settings.device] {
        const std::vector<std::string> names = names_of(device);
        const std::int64_t host = is_card(device) ? device_memory("cpu").total_bytes : 0;
        const DeviceMemory first = names.size() == 2 ? device_memory(names.front()) : DeviceMemory{};
        return std::tuple(device_memory(names.back()), host, first);
      },
      [session = &session_](const std::tuple<DeviceMemory, std::int64_t, DeviceMemory>& memory) {
        const auto& [device, host, first] = memory;
        session->set_device_memory(device.used_bytes, device.total_bytes, host, first);
      });
}

void LiveController::save(const QString& path, const LiveExport& data) {
  in_background(
      panel_.data(), [path, data] { return save_export(path, data); },
      [panel = panel_.data(), path](const Result<void>& saved) {
        if (saved) return panel->show_message(tr("Saved %1").arg(path));
        const ErrorText error = error_text(saved.error());
        panel->show_message(error.text, error.details);
      });
}

void LiveController::open_recording(const QString& path) {
  in_background(
      panel_.data(), [path] { return app::open_recording(path.toStdString()); },
      [session = &session_, panel = panel_.data(), path](const Result<Recording>& recording) {
        if (recording) {
          session->play(*recording, QFileInfo(path).fileName());
        } else {
          const ErrorText error = error_text(recording.error());
          panel->show_message(error.text, error.details);
        }
      });
}

bool LiveController::is_adaptive() const {
  return moves_experts(chat_.model().settings.precision.policy);
}

void LiveController::offer_switch() {
  if (!chat_.model_loaded() || !chat_.model().plan) return;
  const LoadOptions& opened = chat_.model().settings;
  const auto look = [model = opened.model, plan = *chat_.model().plan, device = opened.device,
                     store = opened.precision.store, stores = opened.precision.stores_folder] {
    StoreNeed need = store_need(model, plan, stores, device);
    std::error_code error;
    if (!store.empty()) need.there = std::filesystem::exists(store, error);
    return need;
  };
  in_background(panel_.data(), look,
                [panel = panel_.data(), to_fixed = is_adaptive()](const StoreNeed& need) {
                  panel->confirm_switch(to_fixed, switch_words(to_fixed, need),
                                        need.there || need.bytes <= need.free_bytes);
                });
}

void LiveController::switch_policy() {
  if (!chat_.model_loaded()) return;
  const LoadOptions& open = chat_.model().settings;
  // With the tiers that are open: what the panel has compared, and their store is there already.
  if (is_adaptive()) {
    left_ = {open.model, open.precision};
    LoadOptions fixed = chat_.opened_with(fixed_mix_of(open.precision, chat_.model().plan));
    fixed.chunk = open.chunk;  // as many experts at each precision: what else lies in the memory is as large
    chat_.open_model(fixed);
  } else {
    chat_.reload(left_.first == open.model ? left_.second : adaptive_of(open.precision, chat_.model().plan));
  }
}

}  // namespace fovea::app
