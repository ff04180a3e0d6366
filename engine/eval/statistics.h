// Order statistics of measured values.
#pragma once

#include <vector>

#include "engine/api/evaluate.h"

namespace fovea::eval {

// Neither takes an empty list.
// The smallest value that at least this share of all values does not exceed.
double percentile(std::vector<double> values, double share);
Percentiles percentiles(const std::vector<double>& values);

}  // namespace fovea::eval
