#include "app/window/tour.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "app/demo/demo_prompts.h"
#include "app/live/live_session.h"
#include "app/window/chat_controller.h"
#include "app/words/qt_text.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/sidebar.h"
#include "ui/live/live_panel.h"
#include "ui/live/story_view.h"

namespace fovea::app {
namespace {

using Caption = ui::TourCaption::Phase;

constexpr double kReadTokensPerSecond = 9;  // some seven words
constexpr int kReadMilliseconds = 6000;     // of a caption's numbers
constexpr int kCountMilliseconds = 200;
constexpr int kMostTokens = 140;  // of an answer

// Of other kinds each, so that other experts become busy.
constexpr std::array<const char*, 3> kSubjects{"A poem", "Python", "Health"};

const DemoPrompt& prompt_of(std::size_t step) {
  return *std::ranges::find(demo_prompts(), std::string_view(kSubjects[step]),
                            [](const DemoPrompt& prompt) { return std::string_view(prompt.title); });
}

}  // namespace

Tour::Tour(ChatController& chat, ui::ChatWindow& window, ui::LivePanel& panel, LiveSession& session,
           std::filesystem::path demo)
    : QObject(&chat),
      chat_(chat),
      window_(window),
      panel_(&panel),
      session_(session),
      demo_(std::move(demo)),
      tokens_per_second_(kReadTokensPerSecond),
      most_tokens_(kMostTokens) {
  reading_.setSingleShot(true);
  reading_.setInterval(kReadMilliseconds);
  connect(&reading_, &QTimer::timeout, this, &Tour::go_on);
  counting_.setInterval(kCountMilliseconds);
  connect(&counting_, &QTimer::timeout, this, &Tour::tell_numbers);
  connect(&chat, &ChatController::modelOpened, this, [this] {
    if (phase_ != Phase::opening) return;
    if (moves()) return begin();
    show(Caption::waits, tr("The demo model's experts are being prepared. This is needed only once; the tour "
                            "starts by itself when they are ready."));
  });
  connect(&chat, &ChatController::modelClosed, this, [this] {
    if (is_asking()) leave();
  });
  connect(&chat.conversation(), &ConversationController::workChanged, this, &Tour::on_work);
  connect(&chat.conversation(), &ConversationController::opened, this, [this] {
    // Somebody went elsewhere.
    if (phase_ != Phase::none && phase_ != Phase::opening && conversation_ != 0 &&
        chat_.conversation().conversation().id != conversation_)
      leave();
  });
  connect(&panel, &ui::LivePanel::tourRequested, this, &Tour::start);
  connect(&window, &ui::ChatWindow::tourRequested, this, &Tour::start);
  ui::TourView& view = panel.tour();
  connect(&view, &ui::TourView::pauseRequested, this, &Tour::pause);
  connect(&view, &ui::TourView::skipRequested, this, &Tour::skip);
  connect(&view, &ui::TourView::endRequested, this, &Tour::end);
  connect(&view, &ui::TourView::conversationKept, this, &Tour::keep);
}

void Tour::set_speed(double tokens_per_second, int milliseconds_to_read, int most_tokens) {
  tokens_per_second_ = tokens_per_second;
  most_tokens_ = most_tokens;
  reading_.setInterval(milliseconds_to_read);
}

bool Tour::moves() const {
  return chat_.model_loaded() && moves_experts(chat_.model().settings.precision.policy);
}

void Tour::start() {
  if (is_under_way()) return;
  window_.show_live_panel(true);
  step_ = 0;
  conversation_ = 0;
  paused_ = false;
  if (moves()) return begin();
  std::error_code error;
  if (!std::filesystem::exists(demo_, error)) {
    phase_ = Phase::ended;
    return show(Caption::failed,
                tr("The tour shows how experts change their precision. For that it needs a model opened that "
                   "way, or the demo model, which is not on this computer."));
  }
  phase_ = Phase::opening;
  show(Caption::waits, tr("The demo model is being opened."));
  if (!chat_.model_loaded() || chat_.model().settings.model != demo_) chat_.open_model(q(demo_.string()));
}

void Tour::begin() {
  chat_.conversation().new_chat_apart();
  ui::ChatSettingsView settings = chat_.conversation().chat_settings();
  settings.max_tokens = most_tokens_;
  chat_.conversation().set_chat_settings(settings);
  chat_.worker().set_pace(tokens_per_second_);
  step_ = 0;
  ask();
}

void Tour::ask() {
  const QString subject = QCoreApplication::translate("fovea::app::DemoPrompts", prompt_of(step_).title);
  phase_ = Phase::asking;
  show(Caption::runs,
       step_ == 0 ? tr("%1. Each token is written by a few experts in every layer. Those that it needs get "
                       "more bits: watch them brighten on the map.")
                        .arg(subject)
                  : tr("Now another subject: %1. Other experts are needed, and the earlier ones make room.")
                        .arg(subject));
  if (chat_.conversation().work() == Work::none) send();
}

void Tour::send() {
  phase_ = Phase::answering;
  chat_.conversation().send(QString::fromUtf8(prompt_of(step_).text));
}

void Tour::go_on() {
  ++step_;
  step_ < kSubjects.size() ? ask() : end();
}

// An answer began, or ended.
void Tour::on_work() {
  const ConversationController& conversation = chat_.conversation();
  if (phase_ == Phase::asking && conversation.work() == Work::none) return send();
  if (phase_ != Phase::answering) return;
  if (conversation_ == 0) conversation_ = conversation.conversation().id;
  if (conversation_ == 0 || conversation.work() != Work::none || conversation.messages().empty()) return;
  const history::Message& last = conversation.messages().back();
  if (last.role != history::Role::assistant) return;
  // Escape, or the stop button, ends the tour as well.
  if (last.state != history::MessageState::complete) return end();
  read_numbers();
}

void Tour::read_numbers() {
  phase_ = Phase::reading;
  tell_numbers();
  counting_.start();
  if (!paused_) reading_.start();
}

void Tour::tell_numbers() {
  if (phase_ != Phase::reading) return counting_.stop();
  const std::vector<ui::Chapter> story = session_.story();
  show(paused_ ? Caption::paused : Caption::runs, story.empty()
                                                      ? tr("Nothing is known about this answer's experts.")
                                                      : ui::chapter_sentence(story.front()));
}

void Tour::pause(bool pause) {
  if (!is_asking()) return;
  paused_ = pause;
  chat_.worker().set_pace(pause ? EngineWorker::standing_still : tokens_per_second_);
  if (phase_ == Phase::reading) pause ? reading_.stop() : reading_.start();
  show(pause ? Caption::paused : Caption::runs, text_);
}

void Tour::skip() {
  if (phase_ == Phase::answering) {
    // What was written stays; its numbers are told.
    phase_ = Phase::reading;  // its end is ours
    chat_.conversation().stop();
    chat_.worker().set_pace(tokens_per_second_);
    paused_ = false;
    read_numbers();
  } else if (phase_ == Phase::reading) {
    paused_ = false;
    chat_.worker().set_pace(tokens_per_second_);
    reading_.stop();
    go_on();
  }
}

void Tour::end() {
  if (!is_asking()) return leave();
  const bool writes = phase_ == Phase::answering;
  phase_ = Phase::ended;
  reading_.stop();
  chat_.worker().set_pace(0);
  if (writes) chat_.conversation().stop();
  show(Caption::ended, tr("That was the tour. Ask something of your own, and watch the map."));
}

void Tour::keep(bool keep) {
  const qint64 own = conversation_;
  leave();
  if (keep || own == 0) return;
  Q_EMIT window_.sidebar().deleteRequested(own);
}

void Tour::leave() {
  phase_ = Phase::none;
  paused_ = false;
  reading_.stop();
  chat_.worker().set_pace(0);
  if (panel_) panel_->show_tour({});
}

void Tour::show(ui::TourCaption::Phase phase, const QString& text) {
  text_ = text;
  const int step = is_asking() ? static_cast<int>(step_) + 1 : 0;
  if (panel_)
    panel_->show_tour(ui::TourCaption{
        .phase = phase, .step = step, .steps = static_cast<int>(kSubjects.size()), .text = text});
}

}  // namespace fovea::app
