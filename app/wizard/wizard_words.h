// What the wizard knows, in its pages' words.
#pragma once

#include <QString>
#include <array>
#include <optional>
#include <vector>

#include "app/advisor/calibration.h"
#include "app/advisor/candidates.h"
#include "app/advisor/setup.h"
#include "app/library/fit.h"
#include "app/library/stores.h"
#include "engine/api/prepare.h"
#include "ui/wizard/wizard_view.h"

namespace fovea::app {

std::vector<ui::FactView> machine_facts(const Machine& machine, bool measuring);
QString machine_note(const Machine& machine);

ui::FitView fit_view(FitKind kind);
ui::ModelRow model_row(const Candidate& candidate, const Machine& machine);

ui::MemoryOptions memory_options(const Candidate& candidate, const std::vector<std::int64_t>& contexts,
                                 const std::vector<PrecisionRequest>& choices, const Machine& machine);
// Of the wizard's slider, from exact to fast: PrecisionRequest::nats_per_ms.
inline constexpr std::array<double, ui::max_prefer + 1> preferences{nats_per_ms_exact, nats_per_ms_balanced,
                                                                    nats_per_ms_fast};

// The nearest of them.
int preference_of(double nats_per_ms);

// `machine`: its cards' names, where two are planned for.
ui::BudgetView budget_view(const Candidate& candidate, const LoadOptions& setup, const LoadPlan& report,
                           const std::vector<Remedy>& remedies, const Machine& machine = {});
// Where the planner has seen neither the model nor its shape.
ui::BudgetView budget_by_size(const Candidate& candidate, const LoadOptions& setup);

// The cards of a machine of which two hold models together.
struct CardNames {
  QString first, last;
};
CardNames card_names(const Machine& machine);

std::vector<ui::FactView> start_facts(const Candidate& candidate, const StoreNeed& store,
                                      const Machine& machine);
QString stage_words(const Progress& progress);

// `report`: of the plan; `result`: nothing before it was measured.
std::vector<ui::ComparisonRow> comparison(const Candidate& candidate, const std::optional<LoadPlan>& report,
                                          const Machine& machine,
                                          const std::optional<CalibrationResult>& result);

}  // namespace fovea::app
