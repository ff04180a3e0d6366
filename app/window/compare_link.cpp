#include "app/window/compare_link.h"

#include <QCoreApplication>
#include <cmath>
#include <tuple>

#include "app/files/files.h"
#include "app/library/background.h"
#include "app/library/comparison_text.h"
#include "app/window/chat_controller.h"
#include "app/window/model_rows.h"
#include "app/window/model_words.h"
#include "app/window/window_errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "app/words/tier_words.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

using Kind = Counterpart::Kind;
using Room = Counterpart::Room;
using ui::CompareChoice;

struct CompareWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::CompareLink)
};

constexpr qint64 compared_file_limit_bytes = 8 << 20;

QString name_of(const Counterpart& choice) {
  switch (choice.kind) {
    case Kind::file:
      return CompareWords::tr("every weight as in the model's file");
    case Kind::lowest:
      return CompareWords::tr("everything at %1").arg(tier_words(choice.tier));
    case Kind::file_elsewhere:  // is not offered
    case Kind::fixed:
      break;
  }
  return CompareWords::tr("a fixed mix of the same size");
}

QString text_of(const Counterpart& choice) {
  switch (choice.kind) {
    case Kind::file:
      return CompareWords::tr("Every weight as in the model's file");
    case Kind::lowest:
      return CompareWords::tr("Everything at the lowest precision, %1").arg(tier_words(choice.tier));
    case Kind::file_elsewhere:  // is not offered
    case Kind::fixed:
      break;
  }
  return CompareWords::tr("A fixed mix of the same size: as many bytes, and nothing changes");
}

// Of the disk, where something must be prepared first.
QString store_words(const StoreNeed& store) {
  if (!store.needed || store.there) return {};
  return QLatin1Char(' ') + CompareWords::tr(
                                "Its experts are first written at that precision: %1 on the disk, where %2 "
                                "is free. This takes about %3 and is done only once.")
                                .arg(ui::bytes_text(store.bytes), ui::bytes_text(store.free_bytes),
                                     time_words(std::llround(store.seconds)));
}

CompareChoice view_of(const Counterpart& choice, const Counterparts& all) {
  CompareChoice view{.text = text_of(choice)};
  const QString open = ui::bytes_text(all.bytes), other = ui::bytes_text(choice.bytes),
                free = ui::bytes_text(all.free_bytes);
  if (choice.trouble) {
    view.possible = false;
    const auto [text, details] = error_text(*choice.trouble);
    view.note = text;
    view.details = details;
  } else if (choice.room == Room::none) {
    view.possible = false;
    view.note = CompareWords::tr("It takes %1, which does not fit: %2 is free beside the open model.")
                    .arg(other, free);
  } else if (choice.store.needed && !choice.store.there && choice.store.bytes > choice.store.free_bytes) {
    view.possible = false;
    view.note = CompareWords::tr(
                    "Its experts would first have to be written at that precision: %1 on the disk, where "
                    "only %2 is free.")
                    .arg(ui::bytes_text(choice.store.bytes), ui::bytes_text(choice.store.free_bytes));
  } else if (choice.room == Room::beside_the_open) {
    view.note =
        CompareWords::tr(
            "The model stays open. This takes another %1 and then %2, one after the other; %3 is free.")
            .arg(open, other, free) +
        store_words(choice.store);
  } else {
    view.closes_model = true;
    view.note = CompareWords::tr(
                    "This takes %1 and then %2, one after the other. There is no room for that while the "
                    "model is open, so it is closed and reopened afterwards. The conversation is kept.")
                    .arg(open, other) +
                store_words(choice.store);
  }
  return view;
}

QString speed_text(const CalibrationResult& speed) {
  return CompareWords::tr("%1 tokens a second (%2 to %3)")
      .arg(ui::number_text(speed.tokens_per_second), ui::number_text(speed.slowest),
           ui::number_text(speed.fastest));
}

QString seconds_text(double seconds) {
  return seconds < 1 ? ui::milliseconds_text(seconds)
                     : CompareWords::tr("%1 s").arg(ui::number_text(seconds));
}

std::vector<ui::CompareRow> rows_of(const SettingsComparison& found) {
  const auto& [other, now] = std::tie(found.first, found.second);
  const auto perplexity = [](const ComparedSetting& setting) {
    return ui::number_text(setting.reading.perplexity, 2);
  };
  return {
      {CompareWords::tr("Perplexity of the text"), perplexity(other), perplexity(now)},
      {CompareWords::tr("Memory"), ui::bytes_text(other.bytes), ui::bytes_text(now.bytes)},
      {CompareWords::tr("Writing speed"), speed_text(other.writing), speed_text(now.writing)},
      {CompareWords::tr("First word after a long question"), seconds_text(other.writing.first_token_seconds),
       seconds_text(now.writing.first_token_seconds)},
  };
}

QString meaning_of(const SettingsComparison& found, const QString& other) {
  QString words =
      CompareLink::tr(
          "Quality is the probability that the model gives to the text's next token, averaged over %1 "
          "tokens. The difference is %2 ± %3 nats per token; up to twice its margin of error, it may be "
          "chance. "
          "Speeds count as different only if every round of one is faster than every round of the other.")
          .arg(ui::count_text(found.tokens), ui::number_text(found.log_likelihood.value, 4),
               ui::number_text(found.log_likelihood.standard_error.value_or(0), 4));
  if (found.same_experts)
    words += QLatin1Char(' ') +
             CompareLink::tr("The routers make %2 of the choices of experts that they make with “%1”.")
                 .arg(other, ui::percent_text(*found.same_experts, 1));
  return words;
}

}  // namespace

QString comparison_sentence(const SettingsComparison& found, const QString& other) {
  const QString bytes = ui::bytes_text(found.second.bytes), other_bytes = ui::bytes_text(found.first.bytes);
  const QString memory = bytes == other_bytes
                             ? CompareWords::tr("takes as much memory (%1)").arg(bytes)
                             : CompareWords::tr("takes %1 instead of %2").arg(bytes, other_bytes);
  const double ratio = found.second.writing.tokens_per_second / found.first.writing.tokens_per_second;
  const QString speed = found.speed_differs()
                            ? CompareWords::tr("%1 × as fast").arg(ui::number_text(ratio, 2))
                            : CompareWords::tr("just as fast, as far as can be told");
  const QString quality = ui::percent_text(found.kept(), 1);
  return found.quality_differs()
             ? CompareWords::tr(
                   "As it is now, the model reaches %1 of the quality of “%2”, %3, and writes %4.")
                   .arg(quality, other, memory, speed)
             : CompareWords::tr(
                   "As it is now, the model reaches %1 of the quality of “%2”, %3, and writes %4; the "
                   "difference in quality could be chance.")
                   .arg(quality, other, memory, speed);
}

CompareLink::CompareLink(ChatController& chat, ui::ChatWindow& window) : chat_(chat), window_(window) {
  const EngineWorker& worker = chat.worker();
  connect(&worker, &EngineWorker::comparisonProgress, this, &CompareLink::show_progress);
  connect(&worker, &EngineWorker::compared, this, &CompareLink::show_result);
  connect(&worker, &EngineWorker::comparisonFailed, this, &CompareLink::show_error);
  connect(&chat.conversation(), &ConversationController::workChanged, this, &CompareLink::wait_for_answers);
  // Opened otherwise meanwhile: what the dialog offers is of another plan.
  connect(&chat, &ChatController::modelOpened, this, [this] {
    if (dialog_ && chat_.opened_with(chat_.model().settings.precision) != found_.open) dialog_->reject();
  });
}

void CompareLink::open() {
  if (dialog_) return dialog_->raise();
  if (looking_) return;
  if (!chat_.model_loaded()) {
    window_.show_notice(tr("There is nothing to compare before a model is open."));
    return;
  }
  looking_ = true;
  const LoadedModel& model = chat_.model();
  const auto look = [open = chat_.opened_with(model.settings.precision), plan = model.plan,
                     held = memory_bytes(model)] { return counterparts_of(open, plan, held); };
  in_background(this, look, [this](const Result<Counterparts>& found) {
    looking_ = false;
    if (!found) return tell_error(window_, found.error());
    if (chat_.model_loaded() && chat_.model().settings.model == found->open.model) show(*found);
  });
}

void CompareLink::show(const Counterparts& found) {
  found_ = found;
  // Its speed would be the disk's.
  std::erase_if(found_.choices,
                [](const Counterpart& choice) { return choice.kind == Kind::file_elsewhere; });
  std::vector<CompareChoice> views;
  for (const Counterpart& choice : found_.choices) views.push_back(view_of(choice, found_));
  now_ = policy_text(chat_.model());
  dialog_ = new ui::CompareDialog(q(chat_.model().info.name), now_, views, &window_);
  dialog_->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog_, &ui::CompareDialog::startRequested, this, &CompareLink::start);
  connect(dialog_, &ui::CompareDialog::stopRequested, this, &CompareLink::stop);
  wait_for_answers();
  dialog_->open();
}

// The dialog takes what is typed, so that no answer is begun while it compares.
void CompareLink::wait_for_answers() {
  if (!dialog_ || dialog_->is_running()) return;
  dialog_->set_obstacle(
      chat_.conversation().answering() == 0
          ? QString()
          : tr("The model is answering. The comparison can start when the answer is finished."));
}

void CompareLink::start(int choice, const QString& text_file) {
  dialog_->show_progress(tr("Reading the text…"), 0, 0);
  if (text_file.isEmpty()) return run(choice, std::string(comparison_text()));
  const auto read = [file = text_file.toStdString()] { return read_file(file, compared_file_limit_bytes); };
  in_background(dialog_, read, [this, choice, begun = ++begun_](const Result<std::string>& text) {
    if (begun != begun_) return;
    if (!text) return tell_error(*dialog_, text.error());
    run(choice, *text);
  });
}

void CompareLink::stop() {
  ++begun_;
  if (running_ >= 0) return chat_.worker().stop();
  dialog_->show_stopped(tr("The comparison was stopped."));  // its text was still being read
}

void CompareLink::run(int choice, const std::string& text) {
  const Counterpart& other = found_.choices[static_cast<std::size_t>(choice)];
  if (!chat_.model_loaded() || chat_.conversation().answering() != 0)
    return dialog_->show_stopped(tr("The model was closed or is busy answering, so nothing was compared."));
  ComparisonRequest request{.first = other.options, .second = found_.open, .text = text};
  if (speed_) request.speed = *speed_;
  other_ = name_of(other);
  running_ = choice;
  chat_.compare(request, other.room == Room::beside_the_open);
}

void CompareLink::show_progress(const ComparisonProgress& progress) {
  if (!dialog_ || running_ < 0) return;
  const Progress& part = progress.part;
  const QString what = progress.setting == 0 ? other_ : now_;
  QString text;
  switch (part.stage) {
    case Progress::Stage::perplexity:
      text = tr("Reading (%1): %2 of %3 tokens.")
                 .arg(what, ui::count_text(part.done), ui::count_text(part.total));
      break;
    case Progress::Stage::calibrating:
      text = tr("Writing (%1).").arg(what);
      break;
    case Progress::Stage::loading:
      text = tr("Opening (%1).").arg(what);
      break;
    default:
      text = tr("Preparing (%1).").arg(what);
      break;
  }
  if (progress.seconds_left > 0)
    text += QLatin1Char(' ') + tr("About %1 left.").arg(time_words(std::llround(progress.seconds_left)));
  dialog_->show_progress(text, part.done, part.total);
}

void CompareLink::show_result(const SettingsComparison& found) {
  running_ = -1;
  if (found.same_experts) Q_EMIT routersCompared(found_.open, *found.same_experts, other_);
  if (!dialog_) return;
  dialog_->show_result({.sentence = comparison_sentence(found, other_),
                        .now = tr("as it is now"),
                        .other = other_,
                        .rows = rows_of(found),
                        .note = meaning_of(found, other_)});
}

void CompareLink::show_error(const Error& error) {
  running_ = -1;
  if (!dialog_) return;
  if (error.kind == ErrorKind::cancelled) return dialog_->show_stopped(tr("The comparison was stopped."));
  tell_error(*dialog_, error);
}

}  // namespace fovea::app
