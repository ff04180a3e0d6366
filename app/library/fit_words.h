// How a model fits, in words for people.
#pragma once

#include <QString>

#include "app/library/fit.h"

namespace fovea::app {

QString count_words(std::int64_t count);            // "8,192", as the user's language writes it
QString number_words(double number, int decimals);  // "17.5"
QString size_words(std::int64_t bytes);             // "18.6 GB"
QString fit_words(const ModelFit& fit);             // "Fits with experts on disk"
QString fit_reason(const ModelFit& fit);            // why: one or two sentences with the numbers
QString fit_number(const ModelFit& fit);            // "12.1 of 24.0 GB": what it takes of what is there

}  // namespace fovea::app
