#include "app/wizard/wizard_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <algorithm>

#include "app/library/card_parts.h"
#include "app/library/fit_words.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

// Unqualified at the beginning of a function, where lupdate would lose the namespace.
using ui::FactView;
using ui::ModelRow;

struct WizardWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::WizardWords)
};

QString gb_per_s(double value) {
  return WizardWords::tr("%1 GB/s").arg(ui::number_text(value, value < 10 ? 1 : 0));
}

QString tokens_per_s(double value) {
  return WizardWords::tr("%1 tokens a second").arg(ui::number_text(value, value < 10 ? 1 : 0));
}

QString billions(std::int64_t parameters) {
  const auto value = static_cast<double>(parameters);
  return value < 1e9 ? WizardWords::tr("%1 million").arg(ui::number_text(value / 1e6, 0))
                     : WizardWords::tr("%1 billion").arg(ui::number_text(value / 1e9, 1));
}

// "6,144 experts at 4 bits 15.2 GB"
QString holds_of(const LoadPlan& report, bool has_experts) {
  const Plan::Parts parts = parts_of_all(report.plan);
  QStringList words;
  if (parts.experts.empty()) {
    words += WizardWords::tr("Weights %1").arg(ui::bytes_text(parts.dense));
  } else {
    words += WizardWords::tr("Shared weights %1").arg(ui::bytes_text(parts.dense));
    for (const PlanTier& tier : parts.experts)
      if (tier.bytes > 0)
        words +=
            (has_experts ? WizardWords::tr("%Ln expert(s) at %1 %2", nullptr, static_cast<int>(tier.units))
                         : WizardWords::tr("%Ln layer(s) at %1 %2", nullptr, static_cast<int>(tier.units)))
                .arg(tier_words(tier.name), ui::bytes_text(tier.bytes));
  }
  words += WizardWords::tr("conversation %1").arg(ui::bytes_text(parts.kv + parts.windows + parts.states));
  return words.join(QStringLiteral(" · "));
}

QString parameters_of(const Candidate& candidate) {
  if (candidate.experts == 0) return billions(candidate.parameters);
  return WizardWords::tr("%1, of which %2 are used for each token")
      .arg(billions(candidate.parameters), billions(candidate.parameters_active));
}

// The file's size, which nobody has asked the hub for.
bool is_computed(const Candidate& candidate) {
  return candidate.path.empty() && candidate.entry && candidate.entry->bytes_from_shape;
}

QString speed_why(const Candidate& candidate, const Machine& machine) {
  if (candidate.tokens_per_second <= 0)
    return candidate.fit.on_card
               ? WizardWords::tr("The card's speed is measured once the model is open.")
               : WizardWords::tr("The speed of this computer's memory has not been measured yet.");
  QString why =
      WizardWords::tr(
          "For each token the computer reads about %1 of weights, and its memory delivers %2. The real speed "
          "is lower; the last step measures it.")
          .arg(ui::bytes_text(candidate.bytes_per_token), gb_per_s(read_gb_per_s(machine)));
  if (candidate.fit.kind == FitKind::experts_elsewhere && candidate.fit.on_card)
    why += QLatin1Char(' ') + WizardWords::tr(
                                  "Experts that the processor computes are read from the computer's "
                                  "memory at %1.")
                                  .arg(gb_per_s(machine.memory_read_gb_per_s));
  else if (candidate.fit.kind == FitKind::experts_elsewhere)
    why += QLatin1Char(' ') + WizardWords::tr("Experts that are only on the disk are read at %1.")
                                  .arg(gb_per_s(machine.disk_read_gb_per_s));
  return why;
}

// At least, behind a prompt of usual length; empty: not known.
QString first_token(const LoadPlan& report) {
  const double seconds = report.first_token_seconds(std::min(usual_prompt_tokens, report.options.context));
  if (seconds <= 0) return {};
  const QString least = ui::number_text(seconds, seconds < 10 ? 2 : 0);
  // The only speed that nobody measures before the model is open.
  if (report.prompt.brought_bytes > 0)
    return WizardWords::tr("at least %1 s, assuming %2 to the card")
        .arg(least, gb_per_s(report.prompt.link_gb_per_s));
  return WizardWords::tr("at least %1 s").arg(least);
}

FactView longest_context(const Candidate& candidate) {
  if (candidate.longest_context <= 0) return {};
  return {WizardWords::tr("Longest conversation"),
          WizardWords::tr("%1 of %2 tokens")
              .arg(ui::count_text(candidate.longest_context), ui::count_text(candidate.context)),
          WizardWords::tr("The longest context for which the planner finds room beside the weights, out of "
                          "what the model was trained for.")};
}

}  // namespace

namespace {

// What is there, and whether it is counted.
FactView card_facts(const Machine& machine, const QStringList& cards) {
  const QString name =
      machine.first_gpu ? WizardWords::tr("Graphics cards") : WizardWords::tr("Graphics card");
  if (machine.gpu) {
    const auto words = [](const DeviceInfo& card) {
      QString value = WizardWords::tr("%1 (%2): %3, of which %4 is free")
                          .arg(q(card.description), q(card.name), ui::bytes_text(card.memory_bytes),
                               ui::bytes_text(card.memory_free_bytes));
      if (card.bandwidth_gb_per_s > 0)
        value += WizardWords::tr("; read at %1").arg(gb_per_s(card.bandwidth_gb_per_s));
      return value;
    };
    QString value = words(*machine.gpu);
    if (machine.first_gpu) value = words(*machine.first_gpu) + QLatin1Char('\n') + value;
    return {name, value,
            WizardWords::tr("As reported by its driver now; memory used by other programs does not count as "
                            "free. The speed is what its clock and bus width allow.")};
  }
  if (cards.isEmpty())
    return {name, WizardWords::tr("none found"), WizardWords::tr("As reported by the system's drivers.")};
  return {name, cards.join(QStringLiteral("; ")),
          machine.no_gpu.empty()
              ? WizardWords::tr("Models run on the processor, so the card's memory is not counted.")
              : WizardWords::tr("The card's memory is not counted, because no card can be "
                                "used: %1.")
                    .arg(sentence_words(machine.no_gpu))};
}

}  // namespace

namespace {

QString room_words(const Machine& machine) {
  if (machine.trouble) return QStringLiteral("–");
  const QString all = ui::bytes_text(room_bytes(machine.room, machine.facts));
  if (!machine.first_gpu) return all;
  const CardNames names = card_names(machine);
  return WizardWords::tr("%1 together: %2 on %3, %4 on %5")
      .arg(all, ui::bytes_text(machine.facts.first_free_bytes), names.first,
           ui::bytes_text(machine.facts.device_free_bytes), names.last);
}

}  // namespace

std::vector<ui::FactView> machine_facts(const Machine& machine, bool measuring) {
  const QString pending =
      measuring ? WizardWords::tr("measuring…") : WizardWords::tr("could not be measured");
  const DeviceInfo& device = machine.device;
  QStringList cards;
  for (const Card& card : machine.cards)
    cards += card.memory_bytes > 0
                 ? WizardWords::tr("%1, %2").arg(q(card.name), ui::bytes_text(card.memory_bytes))
                 : q(card.name);
  const FactView card_fact = card_facts(machine, cards);
  const QString memory_speed =
      machine.memory_read_gb_per_s > 0 ? gb_per_s(machine.memory_read_gb_per_s) : pending;
  const QString disk_speed = machine.disk_read_gb_per_s > 0 ? gb_per_s(machine.disk_read_gb_per_s) : pending;
  return {
      {WizardWords::tr("Processor"),
       WizardWords::tr("%1 · %n core(s)", nullptr, device.cores).arg(q(device.description)),
       WizardWords::tr("The cores that this program may use. The fastest instruction set that the processor "
                       "understands is %1.")
           .arg(q(device.instruction_set))},
      card_fact,
      {WizardWords::tr("Memory"),
       WizardWords::tr("%1, of which %2 is free")
           .arg(ui::bytes_text(device.memory_bytes), ui::bytes_text(device.memory_free_bytes)),
       WizardWords::tr(
           "What the system, or the container, lets this program take without writing memory to the "
           "disk.")},
      {WizardWords::tr("For a model"), room_words(machine),
       machine.first_gpu
           ? WizardWords::tr("What is free on each card, less 1/32 for other programs; a model that would be "
                             "closed counts as free. The first card has a model's first layers and the other "
                             "one the rest.")
       : machine.gpu
           ? WizardWords::tr("The card's free memory, less 1/32 for other programs; a model that would be "
                             "closed counts as free. The computer's own memory can hold more experts, which "
                             "the processor then computes. You can change this later.")
           : WizardWords::tr("The free memory, less 1 GiB for the desktop and its programs; a model that "
                             "would be closed counts as free. You can change this later.")},
      {WizardWords::tr("Memory read speed"), memory_speed,
       WizardWords::tr("Measured by reading half a gibibyte with all threads, again and again, until the "
                       "fastest passes agree. It limits how fast answers are written.")},
      {WizardWords::tr("Disk"), WizardWords::tr("%1 free").arg(ui::bytes_text(machine.disk_free_bytes)),
       WizardWords::tr("On the disk with the folder %1, where models are kept.")
           .arg(q(machine.folder.string()))},
      {WizardWords::tr("Disk read speed"), disk_speed,
       WizardWords::tr("Measured by reading the largest model there for up to a second, or a file of 67 MB "
                       "made for this and then removed, bypassing the system's cache. It limits how fast "
                       "models load and experts are read from the disk.")},
  };
}

QString machine_note(const Machine& machine) {
  QStringList notes;
  const auto is_usable = [](const DeviceInfo& d) { return is_card(d.name) && d.unusable.empty(); };
  const auto cards = std::ranges::count_if(machine.devices, is_usable);
  if (!machine.gpu && cards == 1)
    notes += WizardWords::tr(
        "Models run on the processor. The graphics card is used only if you choose it above.");
  if (!machine.gpu && cards > 1)
    notes += WizardWords::tr(
        "Models run on the processor. The graphics cards are used only if you choose one or two of them "
        "above.");
  if (machine.gpu && !machine.first_gpu && cards > 1)
    notes += WizardWords::tr("A model that does not fit on one card may fit on two: choose them above.");
  if (machine.trouble) return {};  // the choice says it
  if (room_bytes(machine.room, machine.facts) < 2'000'000'000)
    notes +=
        WizardWords::tr("Little memory is free. Close other programs and come back to see larger models.");
  return notes.join(QStringLiteral("\n"));
}

ui::FitView fit_view(FitKind kind) {
  switch (kind) {
    case FitKind::fits:
      return ui::FitView::fits;
    case FitKind::lower_precision:
      return ui::FitView::lower_precision;
    case FitKind::experts_elsewhere:
      return ui::FitView::experts_elsewhere;
    case FitKind::does_not_fit:
      break;
  }
  return ui::FitView::does_not_fit;
}

ModelRow model_row(const Candidate& candidate, const Machine& machine) {
  ui::ModelRow row;
  row.name = published_name(candidate.name);
  row.usable = candidate.usable();
  if (!candidate.path.empty()) {
    row.place = WizardWords::tr("on this computer, %1").arg(ui::bytes_text(candidate.file_bytes));
  } else if (candidate.entry && !candidate.entry->made_by.empty()) {
    row.place = WizardWords::tr("to be made with a command");
  } else {
    row.place = (is_computed(candidate) ? WizardWords::tr("to download, about %1")
                                        : WizardWords::tr("to download, %1"))
                    .arg(ui::bytes_text(candidate.file_bytes));
  }
  if (candidate.entry)
    row.good_at =
        q(good_at(*candidate.entry, QLocale().name().section(QLatin1Char('_'), 0, 0).toStdString()));
  if (!candidate.trouble.empty()) {
    row.fit = ui::FitView::does_not_fit;
    row.fit_text = WizardWords::tr("Cannot be opened");
    row.holds = q(candidate.trouble);
    row.place = candidate.path.empty() ? QString() : WizardWords::tr("on this computer");
    row.facts = {{WizardWords::tr("File"), q(candidate.path.string()),
                  q(candidate.trouble_details.empty() ? candidate.trouble : candidate.trouble_details),
                  true}};
    return row;
  }
  if (row.good_at.isEmpty()) row.good_at = parameters_of(candidate);
  row.fit = fit_view(candidate.fit.kind);
  row.fit_text = fit_words(candidate.fit);
  row.holds = candidate.fit.report.plan.total_bytes > 0 && candidate.usable()
                  ? holds_of(candidate.fit.report, candidate.experts > 0)
                  : fit_number(candidate.fit);
  row.facts.push_back({WizardWords::tr("Memory"), fit_number(candidate.fit), fit_reason(candidate.fit)});
  row.facts.push_back({WizardWords::tr("Parameters"), parameters_of(candidate),
                       candidate.path.empty()
                           ? WizardWords::tr("As published by its makers.")
                           : WizardWords::tr("Counted in the file. Each token uses the dense weights and the "
                                             "experts that the routers choose for it.")});
  row.facts.push_back({WizardWords::tr("Speed"),
                       candidate.tokens_per_second > 0
                           ? WizardWords::tr("at most %1").arg(tokens_per_s(candidate.tokens_per_second))
                           : WizardWords::tr("not known yet"),
                       speed_why(candidate, machine)});
  if (const QString first = first_token(candidate.fit.report); !first.isEmpty())
    row.facts.push_back({WizardWords::tr("First word"), first,
                         WizardWords::tr("Reading a prompt of %1 tokens: the arithmetic alone, at the speed "
                                         "measured for this machine. The real time is longer.")
                             .arg(ui::count_text(usual_prompt_tokens))});
  if (const ui::FactView fact = longest_context(candidate); !fact.name.isEmpty()) row.facts.push_back(fact);
  if (candidate.entry)
    row.facts.push_back({WizardWords::tr("Licence"), q(candidate.entry->licence),
                         WizardWords::tr("As published by its makers.")});
  return row;
}

std::vector<ui::FactView> start_facts(const Candidate& candidate, const StoreNeed& store,
                                      const Machine& machine) {
  std::vector<ui::FactView> facts;
  if (!candidate.path.empty()) {
    facts.push_back({WizardWords::tr("File"), q(candidate.path.string()), {}, true});
  } else if (candidate.entry && !candidate.entry->repository.empty()) {
    facts.push_back({WizardWords::tr("From"), q(candidate.entry->repository),
                     WizardWords::tr("The model hub's repository."), true});
    facts.push_back({WizardWords::tr("File"), q(candidate.entry->file), {}, true});
    const bool computed = is_computed(candidate);
    facts.push_back({WizardWords::tr("Size"),
                     (computed ? WizardWords::tr("about %1; %2 is free on the disk")
                               : WizardWords::tr("%1; %2 is free on the disk"))
                         .arg(ui::bytes_text(candidate.file_bytes), ui::bytes_text(machine.disk_free_bytes)),
                     computed ? WizardWords::tr("Computed from the model's published sizes. The hub gives "
                                                "the exact size when the download begins.")
                              : WizardWords::tr("As the hub lists it, to three digits.")});
  }
  if (store.needed && store.there) {
    facts.push_back({WizardWords::tr("Precisions"), WizardWords::tr("already prepared"),
                     WizardWords::tr("The file with every expert at each precision is there.")});
  } else if (store.needed) {
    facts.push_back(
        {WizardWords::tr("Precisions"),
         WizardWords::tr("will be prepared first: %1 on the disk, %2 is free")
             .arg(ui::bytes_text(store.bytes), ui::bytes_text(machine.disk_free_bytes)),
         WizardWords::tr(
             "Every expert is written once at each precision, so that a change while you talk takes a single "
             "read. This is done once for each model; it can be stopped and continued later.")});
  }
  return facts;
}

QString stage_words(const Progress& progress) {
  using enum Progress::Stage;
  if (progress.stage == preparing || progress.stage == writing)
    return WizardWords::tr("Preparing the precisions…");
  if (progress.stage == calibrating) return WizardWords::tr("Measuring…");
  return WizardWords::tr("Loading…");
}

std::vector<ui::ComparisonRow> comparison(const Candidate& candidate, const std::optional<LoadPlan>& report,
                                          const Machine& machine,
                                          const std::optional<CalibrationResult>& result) {
  const QString nothing = QStringLiteral("–");
  const auto size = [&](double bytes) { return bytes > 0 ? ui::bytes_text(bytes) : nothing; };
  const double bytes = report ? bytes_per_token(candidate, *report) : candidate.bytes_per_token;
  const double memory_speed = read_gb_per_s(machine);
  const bool offloaded = report && report->units_offloaded > 0;
  const double most = bytes > 0 && !offloaded ? memory_speed * 1e9 / bytes : 0;
  std::vector<ui::ComparisonRow> rows;
  QString speed_reason = WizardWords::tr(
                             "Predicted: what the memory can deliver (%1), divided by what a token reads. No "
                             "computer quite reaches it.")
                             .arg(gb_per_s(memory_speed));
  if (result)
    speed_reason +=
        QLatin1Char(' ') +
        WizardWords::tr("Measured: the median of several rounds, %1 tokens in all, from %2 to %3.")
            .arg(ui::count_text(result->tokens), tokens_per_s(result->slowest),
                 tokens_per_s(result->fastest));
  rows.push_back({WizardWords::tr("Speed of an answer"),
                  most > 0 ? WizardWords::tr("at most %1").arg(tokens_per_s(most)) : nothing,
                  result ? tokens_per_s(result->tokens_per_second) : nothing, speed_reason});
  if (report && !first_token(*report).isEmpty())
    rows.push_back(
        {WizardWords::tr("First word of an answer"), first_token(*report),
         result ? WizardWords::tr("%1 s").arg(ui::number_text(result->first_token_seconds, 2)) : nothing,
         WizardWords::tr("After a prompt of %1 tokens. Predicted: the arithmetic alone, at the speed "
                         "measured for this machine. Measured: the same prompt, once.")
             .arg(ui::count_text(std::min(usual_prompt_tokens, report->options.context)))});
  rows.push_back(
      {WizardWords::tr("Read for each token"), size(bytes),
       result ? size(static_cast<double>(result->bytes_per_token)) : nothing,
       WizardWords::tr(
           "Predicted from the plan: the dense weights and the experts that a token uses. Measured: what "
           "the engine counts, with the conversation so far.")});
  rows.push_back(
      {WizardWords::tr("Memory read speed"), memory_speed > 0 ? gb_per_s(memory_speed) : nothing,
       result ? gb_per_s(result->read_gb_per_s) : nothing,
       WizardWords::tr("The first page's measurement, and the same again with the model in memory.")});
  rows.push_back({WizardWords::tr("Memory of the model"),
                  report ? size(static_cast<double>(taken_bytes(report->plan))) : nothing,
                  result ? size(static_cast<double>(result->accounted_bytes)) : nothing,
                  WizardWords::tr("The plan, and what the engine has taken by its own count; both leave out "
                                  "the part of the budget that is kept free.")});
  rows.push_back(
      {WizardWords::tr("Memory of the whole program"), nothing,
       result ? size(static_cast<double>(result->resident_bytes)) : nothing,
       WizardWords::tr(
           "What the system counts for Fovea: the model, the window, and pages of the file that the "
           "system may take back at any time.")});
  return rows;
}

}  // namespace fovea::app
