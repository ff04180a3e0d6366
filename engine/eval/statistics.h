// Order statistics of measured values.
#pragma once

#include <vector>

#include "engine/api/evaluate.h"

namespace fovea::eval {

// None takes an empty list.
// The value in the middle, or the mean of the two there.
double median(std::vector<double> values);
// The smallest value that at least this share of all values does not exceed.
double percentile(std::vector<double> values, double share);
Percentiles percentiles(const std::vector<double>& values);

}  // namespace fovea::eval
