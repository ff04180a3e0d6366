// Means, scores and their standard errors over documents.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/api/tasks.h"

namespace fovea::tasks {

struct Estimate {
  double value = 0;
  std::optional<double> standard_error = {};  // nothing: of a single document
};

// A function of sums over documents, with its error by leaving out each document once (M. H. Quenouille's
// jackknife): of a mean that is the sample's standard deviation / √n. rows: [documents][values].
using SumFunction = std::function<double(std::span<const double> sums, std::int64_t documents)>;
Estimate estimate(const std::vector<std::vector<double>>& rows, const SumFunction& function);

Estimate mean(const std::vector<double>& values);

// Of groups with these sizes and errors, taken together, as the harness pools them: Σ nᵢ (nᵢ − 1) sᵢ² is
// spread over the Σ nᵢ − groups degrees of freedom.
std::optional<double> pooled_error(const std::vector<std::int64_t>& sizes,
                                   const std::vector<std::optional<double>>& errors);

}  // namespace fovea::tasks
