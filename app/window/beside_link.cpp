#include "app/window/beside_link.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/advisor/machine.h"
#include "app/library/background.h"
#include "app/window/chat_controller.h"
#include "app/window/generation_settings.h"
#include "app/window/model_rows.h"
#include "app/window/model_words.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

using Kind = Counterpart::Kind;
using Part = BesideProgress::Part;

constexpr int kMostTokens = 400;  // of an answer, where the conversation sets no limit

struct BesideWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::BesideLink)
};

// Both, and how fast that is which reads with the full model.
Result<std::pair<Counterparts, BesideSpeeds>> look(const LoadOptions& open, const std::optional<Plan>& plan,
                                                   std::int64_t held_bytes) {
  FOVEA_TRY(Counterparts found, counterparts_of(open, plan, held_bytes));
  BesideSpeeds speeds;
  const auto elsewhere = std::ranges::find(found.choices, Kind::file_elsewhere, &Counterpart::kind);
  if (elsewhere == found.choices.end()) {
    speeds.device = measure_speed(open.device).value_or(DeviceSpeed{});
  } else if (elsewhere->pass_bytes > 0) {
    speeds.disk_bytes_per_s = 1e9 * measure_disk_read_gb_per_s(open.precision.stores_folder, {}).value_or(0);
  }
  return std::pair(std::move(found), speeds);
}

QString facts_of(const BesideAnswer& answer) {
  QStringList parts{BesideWords::tr("%1 tokens, %2 a second")
                        .arg(ui::count_text(answer.tokens), ui::number_text(answer.tokens_per_second))};
  if (answer.bits_per_use > 0)
    parts += BesideWords::tr("experts in use averaged %1 bits").arg(ui::number_text(answer.bits_per_use, 2));
  if (answer.quality_kept)
    parts += BesideWords::tr("estimated quality kept %1").arg(ui::percent_text(*answer.quality_kept, 1));
  if (answer.divergence)
    parts += BesideWords::tr("measured: %1 nats a token from the full model")
                 .arg(ui::number_text(*answer.divergence, 3));
  return parts.join(QStringLiteral(" · "));
}

ErrorText sentence_of(const BesideResult& found, const ErrorText& why_not_full) {
  const QString same = found.adaptive.text == found.fixed.text
                           ? BesideWords::tr("Both answers are the same, word for word.")
                           : BesideWords::tr("Tokens that appear in only one answer are marked.");
  if (!found.adaptive.divergence || !found.fixed.divergence) {
    if (found.left_out)
      return {same + QLatin1Char(' ') + BesideWords::tr("The full model was left out."), {}};
    const ErrorText why = found.trouble ? error_text(*found.trouble) : why_not_full;
    return {same + QLatin1Char(' ') +
                (why.text.isEmpty()
                     ? BesideWords::tr("An empty answer cannot be compared with the full model.")
                     : BesideWords::tr("They were not compared with the full model. %1").arg(why.text)),
            why.details};
  }
  const double adaptive = *found.adaptive.divergence, fixed = *found.fixed.divergence;
  return {same + QLatin1Char(' ') +
              (adaptive < fixed   ? BesideWords::tr("The adaptive answer is closer to the full model.")
               : fixed < adaptive ? BesideWords::tr("The fixed answer is closer to the full model.")
                                  : BesideWords::tr("Both are equally close to the full model.")) +
              QLatin1Char(' ') + BesideWords::tr("One question proves little. Try a few of your own."),
          {}};
}

}  // namespace

BesideLink::BesideLink(ChatController& chat, ui::ChatWindow& window)
    : QObject(&window), chat_(chat), window_(window), most_tokens_(kMostTokens) {
  EngineWorker& worker = chat.worker();
  connect(&worker, &EngineWorker::besideProgress, this, &BesideLink::show_progress);
  connect(&worker, &EngineWorker::besideText, this, [this](int setting, const QString& text) {
    if (dialog_ && running_) dialog_->add_text(setting, text);
  });
  connect(&worker, &EngineWorker::besideTokens, this, [this](int setting, const QList<qint64>& ends) {
    if (dialog_ && running_) dialog_->add_tokens(setting, ends);
  });
  connect(&worker, &EngineWorker::answeredBeside, this, &BesideLink::show_result);
  connect(&worker, &EngineWorker::besideFailed, this, &BesideLink::show_error);
  connect(&chat.conversation(), &ConversationController::workChanged, this, &BesideLink::wait_for_answers);
}

void BesideLink::open() {
  if (dialog_) return dialog_->raise();
  if (looking_) return;
  if (!chat_.model_loaded() || !moves_experts(chat_.model().settings.precision.policy))
    return window_.show_notice(tr(
        "This needs a model whose experts follow the conversation. Set a memory budget for a model first."));
  looking_ = true;
  const LoadedModel& model = chat_.model();
  const auto work = [open = chat_.opened_with(model.settings.precision), plan = model.plan,
                     held = memory_bytes(model)] { return look(open, plan, held); };
  in_background(this, work, [this](const Result<std::pair<Counterparts, BesideSpeeds>>& found) {
    looking_ = false;
    if (!found) return tell_error(window_, found.error());
    const auto& [all, speeds] = *found;
    if (chat_.model_loaded() && chat_.model().settings.model == all.open.model) show(all, speeds);
  });
}

void BesideLink::show(const Counterparts& found, const BesideSpeeds& speeds) {
  offer_ = offer_beside(found, speeds, most_tokens_);
  if (offer_.takes.text.isEmpty()) return;
  QString question;
  for (const history::Message& message : chat_.conversation().messages())
    if (message.role == history::Role::user) question = q(message.text);
  dialog_ =
      new ui::BesideDialog(question, offer_.takes.text, offer_.takes.details, offer_.is_possible, &window_);
  dialog_->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog_, &ui::BesideDialog::startRequested, this, &BesideLink::start);
  connect(dialog_, &ui::BesideDialog::stopRequested, this, [this] { chat_.worker().stop(); });
  wait_for_answers();
  dialog_->open();
}

void BesideLink::wait_for_answers() {
  if (!dialog_ || dialog_->is_running()) return;
  dialog_->set_obstacle(chat_.conversation().answering() == 0
                            ? QString()
                            : tr("The model is answering. This can start when the answer is finished."));
}

void BesideLink::start(const QString& question) {
  if (!chat_.model_loaded() || chat_.conversation().answering() != 0)
    return dialog_->show_end(tr("The model was closed or is busy answering, so the question was not asked."));
  BesideRequest request{.adaptive = offer_.adaptive,
                        .fixed = offer_.fixed,
                        .full = offer_.full,
                        .full_pass_seconds = offer_.full_pass_seconds};
  request.question = chat_.usual_request();
  const ui::ChatSettingsView settings = chat_.conversation().chat_settings();
  apply(settings, request.question);
  leave_out_unknown(chat_.model().info, request.question);
  request.question.form = {};
  if (!settings.instructions.isEmpty())
    request.question.messages.push_back({"system", settings.instructions.toStdString()});
  request.question.messages.push_back({"user", question.toStdString()});
  if (request.question.max_tokens < 0 || request.question.max_tokens > most_tokens_)
    request.question.max_tokens = most_tokens_;
  running_ = true;
  chat_.answer_beside(request);
}

void BesideLink::show_progress(const BesideProgress& progress) {
  if (!dialog_ || !running_) return;
  const QString which = progress.setting == 0   ? tr("adaptive experts")
                        : progress.setting == 1 ? tr("a fixed mix")
                                                : tr("full precision");
  QString text = progress.part == Part::judges ? tr("The model at full precision reads both answers.")
                                               : tr("Opening the model with %1, then answering.").arg(which);
  if (progress.seconds_left > 0)
    text +=
        QLatin1Char(' ') +
        tr("About %1. Press Stop to skip this step.").arg(time_words(std::llround(progress.seconds_left)));
  dialog_->show_progress(text);
}

void BesideLink::show_result(const BesideResult& result) {
  if (!std::exchange(running_, false) || !dialog_) return;
  const auto [sentence, details] = sentence_of(result, offer_.why_not_full);
  dialog_->show_result({facts_of(result.adaptive), facts_of(result.fixed)}, sentence, details);
}

void BesideLink::show_error(const Error& error) {
  if (!std::exchange(running_, false) || !dialog_) return;
  if (error.kind == ErrorKind::cancelled) return dialog_->show_end(tr("It was stopped."));
  const auto [text, details] = error_text(error);
  dialog_->show_end(text, details);
}

}  // namespace fovea::app
