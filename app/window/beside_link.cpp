#include "app/window/beside_link.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

#include "app/advisor/machine.h"
#include "app/library/background.h"
#include "app/window/chat_controller.h"
#include "app/window/generation_settings.h"
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
using Room = Counterpart::Room;

constexpr int kMostTokens = 400;  // of an answer, where the conversation sets no limit

struct BesideWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::BesideLink)
};

const Counterpart* find(const Counterparts& all, Kind kind) {
  const auto found = std::ranges::find(all.choices, kind, &Counterpart::kind);
  return found == all.choices.end() ? nullptr : &*found;
}

// What a counterpart has to write before it can be opened; nothing: 0 bytes.
StoreNeed to_write(const StoreNeed& store) {
  return store.needed && !store.there ? store : StoreNeed{};
}

// Why it cannot be opened here once the store `before` is written; empty: it can.
QString obstacle_of(const Counterpart& choice, const Counterparts& all, const StoreNeed& before) {
  if (choice.trouble) return error_words(*choice.trouble);
  if (choice.room == Room::none)
    return BesideWords::tr("it needs %1, and only %2 is free")
        .arg(ui::bytes_text(choice.bytes), ui::bytes_text(all.free_bytes + all.bytes));
  const StoreNeed store = to_write(choice.store);
  const std::int64_t left = store.free_bytes - to_write(before).bytes;
  if (store.bytes > 0 && store.bytes > left)
    return BesideWords::tr("%1 would have to be written to the disk, where only %2 is free")
        .arg(ui::bytes_text(store.bytes), ui::bytes_text(std::max<std::int64_t>(0, left)));
  return {};
}

// The full model: in memory, or with what has no room there elsewhere. Its obstacle is the one that counts.
const Counterpart* find_full(const Counterparts& all) {
  const Counterpart* const elsewhere = find(all, Kind::file_elsewhere);
  return elsewhere && !elsewhere->trouble && elsewhere->room != Room::none ? elsewhere
                                                                           : find(all, Kind::file);
}

QString first_written(const StoreNeed& one, const StoreNeed& other) {
  return BesideWords::tr("First, %1 is written to the disk. This takes about %2 and is done only once.")
      .arg(ui::bytes_text(one.bytes + other.bytes), ui::duration_text(one.seconds + other.seconds));
}

// What reading both answers with it takes, where they get so long. `pass_seconds`: of the disk; 0: not known.
QString full_words(const Counterpart& full, double pass_seconds, std::int64_t tokens) {
  if (full.kind == Kind::file)
    return BesideWords::tr(
               "At the end both answers are read by the model at full precision, which takes %1 of memory.")
        .arg(ui::bytes_text(full.bytes));
  if (full.pass_bytes == 0)
    return BesideWords::tr(
        "At the end both answers are read by the model at full precision. The processor computes the experts "
        "that do not fit on the card.");
  const std::int64_t chunk = std::max<std::int64_t>(1, full.options.chunk);
  const double seconds = 2 * pass_seconds * static_cast<double>((tokens + chunk - 1) / chunk);
  QString words = BesideWords::tr(
      "At the end both answers are read by the model at full precision. It does not fit into memory, so "
      "experts come from the disk.");
  if (seconds > 0)
    words += QLatin1Char(' ') +
             BesideWords::tr("This takes about %1 and can be stopped.").arg(ui::duration_text(seconds));
  return words;
}

// Both, and how fast the disk with the stores is read where that counts.
Result<std::pair<Counterparts, double>> look(const LoadOptions& open, const std::optional<Plan>& plan,
                                             std::int64_t held_bytes) {
  FOVEA_TRY(Counterparts found, counterparts_of(open, plan, held_bytes));
  double bytes_per_s = 0;
  const Counterpart* const elsewhere = find(found, Kind::file_elsewhere);
  if (elsewhere && elsewhere->pass_bytes > 0)
    bytes_per_s = 1e9 * measure_disk_read_gb_per_s(open.precision.stores_folder, {}).value_or(0);
  return std::pair(std::move(found), bytes_per_s);
}

QString facts_of(const BesideAnswer& answer) {
  QStringList parts{BesideWords::tr("%1 tokens, %2 tok/s")
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

QString sentence_of(const BesideResult& found, const QString& why_not_full) {
  const QString same = found.adaptive.text == found.fixed.text
                           ? BesideWords::tr("Both answers are the same, word for word.")
                           : BesideWords::tr("Tokens that appear in only one answer are marked.");
  if (!found.adaptive.divergence || !found.fixed.divergence)
    return same + QLatin1Char(' ') +
           (found.left_out  ? BesideWords::tr("The full model was left out.")
            : found.trouble ? BesideWords::tr("They were not compared with the full model: %1.")
                                  .arg(error_words(*found.trouble))
            : why_not_full.isEmpty()
                ? BesideWords::tr("An empty answer cannot be compared with the full model.")
                : BesideWords::tr("They were not compared with the full model: %1.").arg(why_not_full));
  const double adaptive = *found.adaptive.divergence, fixed = *found.fixed.divergence;
  return same + QLatin1Char(' ') +
         (adaptive < fixed   ? BesideWords::tr("The adaptive answer is closer to the full model.")
          : fixed < adaptive ? BesideWords::tr("The fixed answer is closer to the full model.")
                             : BesideWords::tr("Both are equally close to the full model.")) +
         QLatin1Char(' ') + BesideWords::tr("One question proves little. Try a few of your own.");
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
  in_background(this, work, [this](const Result<std::pair<Counterparts, double>>& found) {
    looking_ = false;
    if (!found) return tell_error(window_, found.error());
    const auto& [all, disk_bytes_per_s] = *found;
    if (chat_.model_loaded() && chat_.model().settings.model == all.open.model) show(all, disk_bytes_per_s);
  });
}

void BesideLink::show(const Counterparts& found, double disk_bytes_per_s) {
  const Counterpart* const fixed = find(found, Kind::fixed);
  const Counterpart* const full = find_full(found);
  if (!fixed) return;
  adaptive_ = found.open;
  fixed_ = fixed->options;
  full_.reset();
  full_pass_seconds_ =
      full && disk_bytes_per_s > 0 ? static_cast<double>(full->pass_bytes) / disk_bytes_per_s : 0;
  why_not_full_ = full ? obstacle_of(*full, found, fixed->store) : QString();
  if (full && why_not_full_.isEmpty()) full_ = full->options;
  const QString obstacle = obstacle_of(*fixed, found, {});
  QString takes = tr("The fixed mix cannot be opened here: %1.").arg(obstacle);
  if (obstacle.isEmpty()) {
    takes = tr("The model is closed for this and reopened afterwards; the conversation stays as it is.");
    const StoreNeed mix = to_write(fixed->store), whole = full_ ? to_write(full->store) : StoreNeed{};
    if (mix.bytes + whole.bytes > 0) {
      takes += QLatin1Char(' ') + first_written(mix, whole);
    } else if (fixed->store.needed) {
      takes += QLatin1Char(' ') + tr("Nothing is written to the disk.");
    }
    takes += QLatin1Char(' ') +
             (full_ ? full_words(*full, full_pass_seconds_, most_tokens_)
                    : tr("They cannot be compared with the model at full precision: %1.").arg(why_not_full_));
  }
  QString question;
  for (const history::Message& message : chat_.conversation().messages())
    if (message.role == history::Role::user) question = q(message.text);
  dialog_ = new ui::BesideDialog(question, takes, obstacle.isEmpty(), &window_);
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
  BesideRequest request{
      .adaptive = adaptive_, .fixed = fixed_, .full = full_, .full_pass_seconds = full_pass_seconds_};
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
    text += QLatin1Char(' ') +
            tr("About %1. Stop skips this step.").arg(ui::duration_text(progress.seconds_left));
  dialog_->show_progress(text);
}

void BesideLink::show_result(const BesideResult& result) {
  if (!std::exchange(running_, false) || !dialog_) return;
  dialog_->show_result({facts_of(result.adaptive), facts_of(result.fixed)},
                       sentence_of(result, why_not_full_));
}

void BesideLink::show_error(const Error& error) {
  if (!std::exchange(running_, false) || !dialog_) return;
  dialog_->show_end(error.kind == ErrorKind::cancelled ? tr("It was stopped.") : error_words(error));
}

}  // namespace fovea::app
