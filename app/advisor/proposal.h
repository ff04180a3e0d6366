// The model to open for somebody who has not chosen one.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/advisor/candidates.h"

namespace fovea::app {

struct Proposal {
  std::optional<Candidate> model;  // nothing: none fits
  bool was_last = false;           // it is the one that was used last …
  int fitting = 0;                 // … or the best for quality of so many
};

// The first of `recent` that fits, else the best of `library`. Reads headers only; takes up to a second for
// each model.
Proposal propose_model(const std::vector<std::filesystem::path>& recent,
                       const std::vector<std::filesystem::path>& library,
                       const std::vector<CatalogueEntry>& catalogue, const Machine& machine,
                       std::stop_token stop = {});

}  // namespace fovea::app
