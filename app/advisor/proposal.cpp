#include "app/advisor/proposal.h"

#include <algorithm>

namespace fovea::app {

Proposal propose_model(const std::vector<std::filesystem::path>& recent,
                       const std::vector<std::filesystem::path>& library,
                       const std::vector<CatalogueEntry>& entries, const Machine& machine,
                       std::stop_token stop) {
  for (const auto& path : recent) {
    if (stop.stop_requested()) return {};
    if (Candidate last = examine_model(path, machine, entries); last.usable())
      return {.model = std::move(last), .was_last = true, .fitting = 1};
  }
  std::vector<Candidate> found;
  for (const auto& path : library) {
    if (stop.stop_requested()) return {};
    if (Candidate candidate = examine_model(path, machine, entries); candidate.usable())
      found.push_back(std::move(candidate));
  }
  if (found.empty()) return {};
  sort_for(found, Wish::quality);
  return {.model = found.front(), .was_last = false, .fitting = static_cast<int>(found.size())};
}

}  // namespace fovea::app
