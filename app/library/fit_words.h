// How a model fits, in words for people.
#pragma once

#include <QString>

#include "app/library/fit.h"

namespace fovea::app {

QString fit_words(const ModelFit& fit);   // "Fits with experts on disk"
QString fit_reason(const ModelFit& fit);  // why: one or two sentences with the numbers
QString fit_number(const ModelFit& fit);  // "12.1 GB of 24.0 GB": what it takes of what is there

}  // namespace fovea::app
