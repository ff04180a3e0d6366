#include "app/library/fit_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <vector>

#include "app/library/card_parts.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

struct FitWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::FitWords)
};

// "1,205 of 6,144 experts at 4 bits, the others at 2 bits"
QString tiers_of(const LoadPlan& report) {
  std::vector<PlanTier> tiers = parts_of_all(report.plan).experts;
  if (tiers.size() > 2) std::erase_if(tiers, [](const PlanTier& tier) { return tier.units == 0; });
  if (moves_experts(report.policy()) && tiers.size() == 2) {
    return FitWords::tr("%1 of %2 experts at %3, the others at %4")
        .arg(ui::count_text(tiers[0].units), ui::count_text(report.units()))
        .arg(tier_words(tiers[0].name), tier_words(tiers[1].name));
  }
  if (moves_experts(report.policy()) && tiers.size() == 3) {
    return FitWords::tr("%1 of %2 experts at %3, %4 at %5, the others at %6")
        .arg(ui::count_text(tiers[0].units), ui::count_text(report.units()), tier_words(tiers[0].name),
             ui::count_text(tiers[1].units), tier_words(tiers[1].name), tier_words(tiers[2].name));
  }
  QStringList parts;
  for (const PlanTier& tier : tiers) {
    if (tier.units > 0)
      parts += FitWords::tr("%n weight unit(s) at %1", nullptr, static_cast<int>(tier.units))
                   .arg(tier_words(tier.name));
  }
  return parts.join(QStringLiteral(", "));
}

QString reason_to_fit(const ModelFit& fit) {
  const Plan& plan = fit.report.plan;
  const Plan::Parts parts = parts_of_all(plan);
  return FitWords::tr(
             "At its file's precision it takes %1 of the %2 that is free for a model; %3 of that holds %4 "
             "tokens of conversation.")
      .arg(ui::bytes_text(taken_bytes(plan)), ui::bytes_text(fit.budget_bytes),
           ui::bytes_text(parts.kv + parts.windows), ui::count_text(fit.report.options.context));
}

QString reason_of_offload(const ModelFit& fit) {
  const LoadPlan& report = fit.report;
  const QString tier =
      report.plan.parts.experts.empty() ? QString() : tier_words(report.plan.parts.experts.front().name);
  if (!fit.on_card)
    return FitWords::
        tr("Its experts (%1) are read from the disk when they are needed, which can be slow; memory keeps "
           "%2 of them at a time, those likely to be needed soon. That takes %3 of %4.")
            .arg(ui::count_text(report.units_offloaded), ui::count_text(report.plan.units_cached),
                 ui::bytes_text(taken_bytes(report.plan)), ui::bytes_text(fit.budget_bytes));
  const QString where = FitWords::tr(
      "The experts of %n layer(s) stay in the computer's memory and are computed by the processor", nullptr,
      static_cast<int>(report.cpu_moe_layers));
  return FitWords::tr("%1 (%2 of %3 experts); the others are at %4. That takes %5 of %6.")
      .arg(where, ui::count_text(report.units_offloaded), ui::count_text(report.units()), tier,
           ui::bytes_text(taken_bytes(report.plan)), ui::bytes_text(fit.budget_bytes));
}

QString planned_reason(const ModelFit& fit) {
  switch (fit.kind) {
    case FitKind::fits:
      return reason_to_fit(fit);
    case FitKind::lower_precision:
      return FitWords::tr(
                 "At its file's precision it would need %1, and %2 is free for a model. It fits with %3, "
                 "which takes %4.")
          .arg(ui::bytes_text(fit.needed_bytes), ui::bytes_text(fit.budget_bytes), tiers_of(fit.report),
               ui::bytes_text(taken_bytes(fit.report.plan)));
    case FitKind::experts_elsewhere:
      return reason_of_offload(fit);
    case FitKind::does_not_fit:
      break;
  }
  return FitWords::tr(
             "At its file's precision it would need %1, and %2 is free for a model. With everything lowered "
             "that can be, %3 would be enough.")
      .arg(ui::bytes_text(fit.needed_bytes), ui::bytes_text(fit.budget_bytes), ui::bytes_text(fit.min_bytes));
}

}  // namespace

QString fit_words(const ModelFit& fit) {
  switch (fit.kind) {
    case FitKind::fits:
      return fit.is_estimate ? FitWords::tr("Should fit") : FitWords::tr("Fits");
    case FitKind::lower_precision:
      if (fit.is_estimate) return FitWords::tr("Should fit at lower precision");
      return moves_experts(fit.report.policy()) ? FitWords::tr("Fits with experts at lower precision")
                                                : FitWords::tr("Fits at lower precision");
    case FitKind::experts_elsewhere:
      if (fit.is_estimate)
        return fit.on_card ? FitWords::tr("Should fit, experts on the processor")
                           : FitWords::tr("Should fit, experts on the disk");
      return fit.on_card ? FitWords::tr("Fits with experts on the processor")
                         : FitWords::tr("Fits with experts on the disk");
    case FitKind::does_not_fit:
      break;
  }
  return fit.is_estimate ? FitWords::tr("Unlikely to fit") : FitWords::tr("Does not fit");
}

QString fit_reason(const ModelFit& fit) {
  if (!fit.is_estimate) return planned_reason(fit);
  if (fit.report.units() > 0) {
    return FitWords::tr("An estimate from the published model's shape. %1").arg(planned_reason(fit));
  }
  if (fit.kind == FitKind::fits) {
    return FitWords::
        tr("Estimated from the file's size: with the conversation and working memory it should take about %1 "
           "of the %2 that is free for a model. The planner will know exactly once the file is here.")
            .arg(ui::bytes_text(fit.needed_bytes), ui::bytes_text(fit.budget_bytes));
  }
  return FitWords::tr(
             "Estimated from the file's size: with the conversation and working memory it should take about "
             "%1, and %2 is free for a model. If it has experts, it may still fit with them at lower "
             "precision; the planner will know once the file is here.")
      .arg(ui::bytes_text(fit.needed_bytes), ui::bytes_text(fit.budget_bytes));
}

QString fit_number(const ModelFit& fit) {
  const bool planned = fit.report.plan.total_bytes > 0 && fit.kind != FitKind::does_not_fit;
  const std::int64_t takes = planned                             ? taken_bytes(fit.report.plan)
                             : fit.kind == FitKind::does_not_fit ? fit.min_bytes
                                                                 : fit.needed_bytes;
  if (fit.kind == FitKind::does_not_fit)
    return FitWords::tr("needs %1, %2 is free").arg(ui::bytes_text(takes), ui::bytes_text(fit.budget_bytes));
  return FitWords::tr("%1 of %2").arg(ui::bytes_text(takes), ui::bytes_text(fit.budget_bytes));
}

}  // namespace fovea::app
