// Models that could be used on this machine: what each would hold, how fast it would be at most, and which
// is best for what matters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/advisor/catalogue.h"
#include "app/advisor/machine.h"
#include "app/library/fit.h"
#include "engine/api/plan.h"

namespace fovea::app {

enum class Wish : std::uint8_t { speed, quality, long_context };
// What is proposed to those who were not asked: on the first screen and in the list of models.
inline constexpr Wish first_wish = Wish::speed;

struct Candidate {
  std::string name;
  std::filesystem::path path;           // empty: not on this machine
  std::optional<CatalogueEntry> entry;  // published facts
  std::int64_t file_bytes = 0;          // on the disk, of all its files
  std::int64_t parameters = 0, parameters_active = 0;
  std::int64_t experts = 0, experts_used = 0;  // 0: dense
  std::int64_t context = 0;                    // trained, tokens
  std::int64_t extended_context = 0;           // … and what rotary scaling is made for
  ModelFit fit;
  std::string trouble, trouble_details;  // why it cannot be opened; then all else is empty

  // From these and the machine:
  double bits_per_weight = 0;
  double bytes_per_token = 0;
  double tokens_per_second = 0;      // at most: what memory and disk can deliver; 0: not known
  std::int64_t longest_context = 0;  // that still fits, tokens; 0: not planned
  std::int64_t best_context = 0;     // for long conversations: where length is not paid with precision …
  double long_score = 0;             // … and what it is worth
  bool usable() const { return trouble.empty() && fit.kind != FitKind::does_not_fit; }
};

// A model on the disk, and what the catalogue tells of it.
Candidate examine_model(const std::filesystem::path& path, const Machine& machine,
                        const std::vector<CatalogueEntry>& catalogue);
// One that would have to be downloaded or made.
Candidate examine_entry(const CatalogueEntry& entry, const Machine& machine);
// Fills what is told of contexts: some more plans.
void find_longest_context(Candidate& candidate, const Machine& machine);

// Local models of the folders and paths, then what else the catalogue has. Unsorted.
std::vector<Candidate> find_candidates(const std::vector<std::filesystem::path>& folders,
                                       const std::vector<std::filesystem::path>& paths,
                                       const std::vector<CatalogueEntry>& catalogue, const Machine& machine,
                                       std::stop_token stop = {});

// How capable a model is, 0 … 1, to compare: its published MMLU-Pro above guessing, else a guess from the
// geometric mean of all and of the active parameters; times what its precisions keep (1 / the perplexity's
// growth in docs/tiers.md).
double capability(const Candidate& candidate);
// Larger is better; compares usable candidates only.
double score(const Candidate& candidate, Wish wish);
// Best first. What holds everything in memory stands before what must read experts from the disk, and what
// does not fit or cannot be opened comes last.
void sort_for(std::vector<Candidate>& candidates, Wish wish);

// Bytes read from memory for one token at this plan, the KV cache apart; where only the model's size is
// known, as its parameters share it.
double bytes_per_token(const Candidate& candidate, const LoadPlan& report);

}  // namespace fovea::app
