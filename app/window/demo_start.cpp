#include "app/window/demo_start.h"

#include <QCoreApplication>
#include <utility>

#include "app/demo/demo_model.h"
#include "app/demo/demo_precision.h"
#include "app/demo/demo_prompts.h"
#include "app/library/device_choice.h"
#include "app/window/chat_controller.h"
#include "app/window/window_errors.h"
#include "app/words/qt_text.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/starter_view.h"

namespace fovea::app {
namespace {

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

}  // namespace

DemoStart::DemoStart(ChatController& chat, ui::ChatWindow& window, std::filesystem::path model,
                     std::filesystem::path stores)
    : chat_(chat), window_(window), model_(std::move(model)), stores_(std::move(stores)) {
  connect(&chat, &ChatController::modelOpened, this, &DemoStart::on_opened);
  connect(&chat.conversation(), &ConversationController::workChanged, this, &DemoStart::open_again);
  connect(&window.error_bar(), &ui::ErrorBar::dismissed, this, [this] { quiet_ = true; });
  connect(&worker_, &ModelWorker::progressed, this,
          [this](const QString&, const Progress& progress) { show_progress(progress); });
  connect(&worker_, &ModelWorker::prepared, this, [this] {
    ready_ = true;
    open_again();
  });
  connect(&worker_, &ModelWorker::failed, this, [this](const QString&, ModelTask, const Error& error) {
    if (error.kind != ErrorKind::cancelled) show_failure(error);
  });
}

DemoStart::~DemoStart() = default;

void DemoStart::apply(LoadOptions& request) {
  const PrecisionRequest& asked = request.precision;
  unplanned_.reset();
  asked_ = asked.policy == PolicyKind::none && asked.budget_bytes == 0 && asked.tiers.empty() &&
           !is_card(request.device) && same_file(request.model, model_);
  if (!asked_ || !demo_is_prepared(model_, stores_)) return;
  auto wanted = demo_precision(model_, stores_, request.context);
  if (wanted) {
    request.precision = *std::move(wanted);
  } else {
    unplanned_ = std::move(wanted.error());
  }
}

void DemoStart::on_opened() {
  show_starters();
  const bool asked = std::exchange(asked_, false);
  ready_ = false;
  if (unplanned_) {
    show_failure(*std::exchange(unplanned_, {}));
  } else if (asked && chat_.model().settings.precision.policy == PolicyKind::none) {
    prepare();
  } else {
    worker_.stop();
  }
}

// The demo's are English, which it was made to speak, and short: what any model so small answers well. Larger
// ones get what every model that chats can do.
void DemoStart::show_starters() {
  constexpr std::int64_t small = 1'000'000'000;  // parameters
  const ModelInfo& info = chat_.model().info;
  std::vector<ui::Starter> starters;
  QString about;
  if (info.name == demo_model_name)
    about = tr("A small model to try Fovea with: simple English, short answers.");
  if (info.has_chat_template && info.parameters < small) {
    for (const DemoPrompt& prompt : demo_prompts())
      starters.push_back({QCoreApplication::translate("fovea::app::DemoPrompts", prompt.title),
                          QString::fromUtf8(prompt.text)});
  } else if (info.has_chat_template) {
    starters = {{tr("An explanation"), tr("Explain how a rainbow forms, so that a child understands it.")},
                {tr("A function"), tr("Write a Python function that counts the words of a text.")},
                {tr("A letter"), tr("Write a friendly reminder about an unpaid invoice.")},
                {tr("A plan"), tr("Plan a weekend in a city I have never visited.")}};
  }
  window_.set_starters(about, starters);
}

// --- the store

void DemoStart::prepare() {
  told_.clear();
  quiet_ = false;
  worker_.prepare(model_,
                  {.tiers = demo_tiers(), .built_in_text = true, .measured_tokens = usual_divergence_tokens},
                  stores_);
}

void DemoStart::show_failure(const Error& error) {
  tell_error(window_, error,
             tr("The demo's experts could not be prepared, so they stay as they are in its file: %1"));
}

// Below another notice, and not in the place of an error.
void DemoStart::show_progress(const Progress& progress) {
  if (ready_ || quiet_ || progress.total <= 0) return;
  const ui::ErrorBar& bar = window_.error_bar();
  const QString shown = bar.message();
  if (shown.isEmpty() || shown != told_) {
    if (!shown.isEmpty() && bar.kind() == ui::ErrorBar::Kind::error) return;
    before_it_ = shown.isEmpty() ? QString() : shown + QLatin1Char('\n');
  }
  const QString text =
      before_it_ + tr("Preparing the demo's experts (needed only once): %1 %. You can already chat; when "
                      "this is done, the experts adapt to what you talk about.")
                       .arg(100 * progress.done / progress.total);
  if (text == shown) return;
  told_ = text;
  window_.show_notice(text);
}

void DemoStart::open_again() {
  if (!ready_ || !chat_.model_loaded() || chat_.conversation().answering() != 0) return;
  if (!same_file(chat_.model().settings.model, model_)) return;
  ready_ = false;
  chat_.open_model(q(chat_.model().settings.model.string()));  // as one that is chosen: apply() has its say
  if (unplanned_) return;
  window_.show_notice(
      tr("The demo's experts are ready: those that your conversation uses are kept precise, the others take "
         "less "
         "room. Watch them in the panel."));
}

}  // namespace fovea::app
