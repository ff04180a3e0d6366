// Order statistics of measured values.
#pragma once

#include <vector>

#include "engine/api/evaluate.h"

namespace fovea::eval {

// The smallest value that at least this share of all values does not exceed. `values` must not be empty.
double percentile(std::vector<double> values, double share);
Spread spread(const std::vector<double>& values);
Percentiles percentiles(const std::vector<double>& values);

}  // namespace fovea::eval
