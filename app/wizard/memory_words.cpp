// The memory page in words: choices, the parts of the budget, and what would make a plan fit.
#include <QCoreApplication>
#include <QStringList>

#include "app/files/size_argument.h"
#include "app/library/card_parts.h"
#include "app/library/device_choice.h"
#include "app/library/fit_words.h"
#include "app/wizard/wizard_words.h"
#include "app/words/qt_text.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

// Unqualified at the beginning of a function, where lupdate would lose the namespace.
using ui::BudgetView;
using ui::ChoiceView;
using ui::MemoryOptions;

struct MemoryWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::MemoryWords)
};

ChoiceView kv_choice(KvType kv) {
  switch (kv) {
    case KvType::f16:
      return {MemoryWords::tr("16 bits (usual)"),
              MemoryWords::tr("What the model remembers of the conversation, with 16 bits for each number.")};
    case KvType::q8:
      return {MemoryWords::tr("8 bits (half the memory)"),
              MemoryWords::tr(
                  "What the model remembers of the conversation takes half of the memory and is a little "
                  "less exact.")};
    case KvType::f32:
      break;
  }
  return {MemoryWords::tr("32 bits (twice the memory)"), MemoryWords::tr("Exact, and twice as large.")};
}

ChoiceView precision_choice(const PrecisionRequest& choice, bool has_experts) {
  QStringList tiers;
  for (const std::string& tier : choice.tiers) tiers += tier_words(tier);
  const QString all = tiers.join(QStringLiteral(", "));
  switch (choice.policy) {
    case PolicyKind::none:
      return {MemoryWords::tr("As in the file"),
              MemoryWords::tr(
                  "Every weight is as precise as in the model's file; nothing changes while it answers.")};
    case PolicyKind::dynaexq:
      return {MemoryWords::tr("Hot experts at %1, the others at %2, by use alone")
                  .arg(tiers.value(0), tiers.value(1)),
              MemoryWords::tr("The experts that the conversation uses most are precise; the others take less "
                              "room. This changes while you talk, and no token of an answer waits for it.")};
    case PolicyKind::fovea:
      return {tiers.size() == 2
                  ? MemoryWords::tr("Hot experts at %1, the others at %2").arg(tiers.value(0), tiers.value(1))
                  : MemoryWords::tr("Experts at %1, following the conversation").arg(all),
              MemoryWords::tr("Each expert is as precise as the conversation needs it to be. This changes "
                              "while you talk, and no token of an answer waits for it.")};
    case PolicyKind::static_tiers:
      if (tiers.isEmpty())
        return {
            MemoryWords::tr("A fixed mix that fills the budget"),
            has_experts
                ? MemoryWords::tr("Each expert keeps one precision: the best mix that fits in the budget.")
                : MemoryWords::tr("Each layer keeps one precision: the best mix that fits in the budget.")};
      return {has_experts ? MemoryWords::tr("All experts at %1").arg(all)
                          : MemoryWords::tr("All layers at %1").arg(all),
              MemoryWords::tr("The number of bits is roughly what each weight takes. Below 3 bits, answers "
                              "get noticeably worse.")};
    case PolicyKind::offload:
      return {MemoryWords::tr("Experts at %1, some on the disk").arg(all),
              MemoryWords::tr(
                  "Experts stay on the disk, and memory keeps those likely to be needed soon: slower, but a "
                  "larger model runs.")};
    case PolicyKind::flexquant:
      return {MemoryWords::tr("Layers at %1, lower while an answer is certain").arg(all),
              MemoryWords::tr("Each question is read at the highest precision; while an answer is certain "
                              "enough, its layers go down one by one. This is faster but saves no memory.")};
    case PolicyKind::pmpd:
      return {MemoryWords::tr("Layers at %1, lower with the length of an answer").arg(all),
              MemoryWords::tr("Each question is read at the highest precision; the longer an answer is, the "
                              "lower the precision of all layers. This is faster but saves no memory.")};
    case PolicyKind::automatic:
      break;
  }
  return {MemoryWords::tr("Chosen by Fovea"), {}};
}

}  // namespace

MemoryOptions memory_options(const Candidate& candidate, const std::vector<std::int64_t>& contexts,
                             const std::vector<PrecisionRequest>& choices, const Machine& machine) {
  ui::MemoryOptions options;
  options.model = published_name(candidate.name);
  options.contexts.assign(contexts.begin(), contexts.end());
  options.trained_context = candidate.context;
  for (const KvType kv : {KvType::f32, KvType::f16, KvType::q8}) options.kv_types.push_back(kv_choice(kv));
  for (const PrecisionRequest& choice : choices)
    options.precisions.push_back(precision_choice(choice, candidate.experts > 0));
  if (machine.first_gpu) {
    const CardNames names = card_names(machine);
    options.budget_why =
        MemoryWords::tr("What is free on each card, less 1/32 for other programs: %1 on %2, %3 on %4.")
            .arg(ui::bytes_text(machine.facts.first_free_bytes), names.first,
                 ui::bytes_text(machine.facts.device_free_bytes), names.last);
    options.size_of = [](const QString&) { return std::nullopt; };
    return options;
  }
  options.max_bytes = machine.gpu                             ? machine.gpu->memory_bytes
                      : machine.facts.device_memory_bytes > 0 ? machine.facts.device_memory_bytes
                                                              : machine.device.memory_bytes;
  options.budget_why =
      MemoryWords::tr(
          "What the model may take: its weights, the conversation and working memory. Even when precision "
          "changes, it never takes more, not even for a moment. %1 is free for a model now.")
          .arg(ui::bytes_text(machine.room.precision.budget_bytes));
  options.size_of = [](const QString& text) { return parse_size(text.toStdString()); };
  return options;
}

namespace {

void add_part(ui::BudgetBarView& view, ui::BudgetPartView::Kind kind, const QString& name, std::int64_t bytes,
              const QString& why) {
  if (bytes <= 0) return;
  ui::BudgetPartView part;
  part.kind = kind;
  part.name = name;
  part.bytes = bytes;
  part.why = why;
  view.parts.push_back(part);
}

void add_parts(ui::BudgetBarView& view, const Plan::Parts& parts, const LoadPlan& report, bool has_experts) {
  using Kind = ui::BudgetPartView::Kind;
  add_part(view, Kind::dense,
           parts.experts.empty() ? MemoryWords::tr("Weights") : MemoryWords::tr("Shared weights"),
           parts.dense,
           parts.experts.empty() ? MemoryWords::tr("All weights as they are in the file.")
                                 : MemoryWords::tr("What every token uses: embeddings, attention, routers."));
  for (const PlanTier& tier : parts.experts) {
    ui::BudgetPartView part;
    part.kind = Kind::tier;
    part.bits_per_weight = tier.bits_per_weight;
    part.name = has_experts ? MemoryWords::tr("%Ln expert(s) at %1", nullptr, static_cast<int>(tier.units))
                                  .arg(tier_words(tier.name))
                            : MemoryWords::tr("%Ln layer(s) at %1", nullptr, static_cast<int>(tier.units))
                                  .arg(tier_words(tier.name));
    part.bytes = tier.bytes;
    part.why = MemoryWords::tr("%1 bits per weight, including rounding up to whole blocks and a spare one.")
                   .arg(ui::number_text(tier.bits_per_weight, 2));
    if (tier.bytes > 0) view.parts.push_back(part);
  }
  add_part(view, Kind::kv, MemoryWords::tr("Conversation"), parts.kv,
           MemoryWords::tr("Keys and values of %1 tokens, for each layer.")
               .arg(ui::count_text(report.options.context)));
  if (parts.windows > 0)
    add_part(
        view, Kind::kv, MemoryWords::tr("Conversation (windows)"), parts.windows,
        MemoryWords::tr("Keys and values of the layers that see only the last tokens, with earlier ones to "
                        "return to when you change something further up."));
  if (parts.states > 0)
    add_part(
        view, Kind::kv, MemoryWords::tr("Conversation (recurrent state)"), parts.states,
        MemoryWords::tr("What some layers keep instead of keys and values, with copies to return to when "
                        "you change something further up."));
  add_part(view, Kind::activations, MemoryWords::tr("Working memory"), parts.activations,
           MemoryWords::tr("What the layers pass on, for %1 tokens of a prompt at once.")
               .arg(ui::count_text(report.options.chunk)));
  add_part(view, Kind::safety, MemoryWords::tr("Kept free"), parts.safety,
           MemoryWords::tr("Two per cent of the budget, at most 1 GiB, for what cannot be planned."));
}

QString remedy_words(const Remedy& remedy, bool has_experts) {
  switch (remedy.kind) {
    case Remedy::Kind::budget:
      return MemoryWords::tr("Set the budget to %1").arg(ui::bytes_text(remedy.setup.precision.budget_bytes));
    case Remedy::Kind::kv:
      return MemoryWords::tr("Remember the conversation with 8 bits");
    case Remedy::Kind::context:
      return MemoryWords::tr("Shorten the context to %1 tokens").arg(ui::count_text(remedy.setup.context));
    case Remedy::Kind::precision:
      return precision_choice(choice_of(remedy.setup), has_experts).text;
  }
  return {};
}

void set_bytes(ui::BudgetBarView& view, std::int64_t budget, std::int64_t total, std::int64_t safety) {
  view.budget_bytes = budget;
  view.total_bytes = total;
  view.over = total > budget;
  view.needed_bytes = view.over ? total : total - safety;
}

// Time is weighed against what tiers were measured to cost.
void set_preference(ui::BudgetView& view, const Candidate& candidate, const LoadOptions& setup,
                    const LoadPlan& report) {
  const PolicyKind policy = report.policy();
  view.prefers = !candidate.path.empty() && report.plan.parts.experts.size() > 1 &&
                 (policy == PolicyKind::fovea || policy == PolicyKind::static_tiers);
  view.can_prefer = report.basis.harm_is_measured;
  if (!view.can_prefer) {
    view.prefer_why = MemoryWords::tr(
        "What each precision costs this model has not been measured yet. \"Prepare…\" in the list of models "
        "measures it; then you can trade quality for speed here.");
    return;
  }
  view.prefer_why =
      setup.precision.nats_per_ms == preferences.front()
          ? MemoryWords::tr("Every expert is as precise as the budget allows.")
          : MemoryWords::tr(
                "%1 bits on average: experts are less precise where that saves more time than it "
                "costs quality.")
                .arg(ui::number_text(report.plan.mean_bits_per_weight, 1));
}

// "It fits" or what lacks, where two cards have it.
QString verdict_of(const CardPart& first, const CardPart& last, const CardNames& names, bool fits) {
  if (fits)
    return MemoryWords::tr(
               "It fits: %1 has the first %n layer(s) and %2 to spare, %3 has the others and %4 to spare.",
               nullptr, static_cast<int>(first.layers))
        .arg(names.first, ui::bytes_text(std::max<std::int64_t>(0, first.budget_bytes - first.total_bytes)),
             names.last, ui::bytes_text(std::max<std::int64_t>(0, last.budget_bytes - last.total_bytes)));
  return MemoryWords::tr(
             "It does not fit: %1 needs %2 for the first %n layer(s) and has %3, %4 needs %5 for the others "
             "and has "
             "%6.",
             nullptr, static_cast<int>(first.layers))
      .arg(names.first, ui::bytes_text(first.total_bytes), ui::bytes_text(first.budget_bytes), names.last,
           ui::bytes_text(last.total_bytes), ui::bytes_text(last.budget_bytes));
}

QString remedy_lead(bool is_there) {
  return is_there ? MemoryWords::tr("Each of these alone makes it fit:")
                  : MemoryWords::tr("Nothing on this page makes it fit. Choose another model.");
}

}  // namespace

CardNames card_names(const Machine& machine) {
  if (!machine.first_gpu || !machine.gpu)
    return {MemoryWords::tr("the first card"), MemoryWords::tr("the second card")};
  return {short_name(*machine.first_gpu, *machine.gpu), short_name(*machine.gpu, *machine.first_gpu)};
}

int preference_of(double nats_per_ms) {
  const auto nearest = std::ranges::min_element(preferences, {}, [&](double each) {
    return std::abs(std::log(1e-6 + each) - std::log(1e-6 + nats_per_ms));
  });
  return static_cast<int>(nearest - preferences.begin());
}

BudgetView budget_view(const Candidate& candidate, const LoadOptions& setup, const LoadPlan& report,
                       const std::vector<Remedy>& remedies, const Machine& machine) {
  ui::BudgetView view;
  const Plan& plan = report.plan;
  const bool has_experts = candidate.experts > 0;
  const auto first = first_card_of(plan);
  const CardPart last = last_card_of(plan);
  const CardNames names = card_names(machine);
  add_parts(view, plan.parts, report, has_experts);
  if (first) {
    set_bytes(view, last.budget_bytes, last.total_bytes, last.parts.safety);
    view.name = names.last;
    ui::BudgetBarView& bar = view.first_card.emplace();
    bar.name = names.first;
    add_parts(bar, first->parts, report, has_experts);
    set_bytes(bar, first->budget_bytes, first->total_bytes, first->parts.safety);
  } else {
    set_bytes(view, setup.precision.budget_bytes, plan.total_bytes, plan.parts.safety);
  }
  set_preference(view, candidate, setup, report);
  view.fits = plan.fits;
  if (first) {
    view.verdict = verdict_of(*first, last, names, plan.fits);
    if (!plan.fits) view.verdict += QLatin1Char(' ') + remedy_lead(!remedies.empty());
  } else if (plan.fits) {
    view.verdict =
        MemoryWords::tr("It fits, with %1 to spare beyond what is kept free.")
            .arg(ui::bytes_text(std::max<std::int64_t>(0, setup.precision.budget_bytes - plan.total_bytes)));
    if (moves_experts(report.policy()) && plan.parts.experts.front().units < report.units())
      view.verdict += QLatin1Char(' ') + MemoryWords::tr("%1 of %2 experts have the high precision.")
                                             .arg(ui::count_text(plan.parts.experts.front().units),
                                                  ui::count_text(report.units()));
    if (report.units_offloaded > 0)
      view.verdict +=
          QLatin1Char(' ') + MemoryWords::tr(
                                 "%1 of %2 experts stay on the disk and are read when they are used; "
                                 "memory keeps %3 of them at a time.")
                                 .arg(ui::count_text(report.units_offloaded), ui::count_text(report.units()),
                                      ui::count_text(plan.units_cached));
  } else {
    view.verdict = MemoryWords::tr("It does not fit: it needs at least %1, which is %2 more than the budget.")
                       .arg(ui::bytes_text(plan.min_bytes),
                            ui::bytes_text(plan.min_bytes - setup.precision.budget_bytes));
    view.verdict += QLatin1Char(' ') + remedy_lead(!remedies.empty());
  }
  for (const Remedy& remedy : remedies) view.remedies += remedy_words(remedy, has_experts);
  if (candidate.path.empty()) {
    view.why_short = MemoryWords::tr("planned from the published model");
    view.why = MemoryWords::tr(
        "Fovea's planner computes them from the sizes of the published model's tensors. It plans again, "
        "exactly, once the file is here.");
  } else {
    view.why_short = MemoryWords::tr("planned from the file");
    view.why = MemoryWords::tr(
        "Fovea's planner reads the sizes of all tensors in the file and adds up what will be held, as "
        "it does when the model is opened. The budget is never exceeded.");
    if (report.policy() != PolicyKind::none && report.basis.store_fingerprint.empty())
      view.why += QLatin1Char(' ') +
                  MemoryWords::tr(
                      "No precisions are prepared yet, so lower precision is assumed to hurt every expert "
                      "alike. Once they are prepared, the plan can change, and Fovea will say so.");
  }
  return view;
}

BudgetView budget_by_size(const Candidate& candidate, const LoadOptions& setup) {
  ui::BudgetView view;
  add_part(view, ui::BudgetPartView::Kind::dense, MemoryWords::tr("Weights"), candidate.file_bytes,
           MemoryWords::tr("The size of the file."));
  add_part(view, ui::BudgetPartView::Kind::kv, MemoryWords::tr("Conversation and working memory, estimated"),
           candidate.fit.needed_bytes - candidate.file_bytes,
           MemoryWords::tr("A tenth of the weights, at least 268 MB."));
  set_bytes(view,
            setup.precision.budget_bytes > 0 ? setup.precision.budget_bytes : candidate.fit.budget_bytes,
            candidate.fit.needed_bytes, 0);
  view.fits = !view.over;
  view.verdict = view.fits ? MemoryWords::tr("It should fit.") : MemoryWords::tr("It is unlikely to fit.");
  view.why_short = MemoryWords::tr("estimated from the file's size");
  view.why = fit_reason(candidate.fit);
  return view;
}

}  // namespace fovea::app
