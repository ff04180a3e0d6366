#include "app/advisor/candidates.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "app/advisor/setup.h"
#include "app/library/card_parts.h"
#include "app/library/model_files.h"
#include "app/library/model_library.h"
#include "app/words/error_words.h"
#include "engine/api/model_info.h"

namespace fovea::app {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

const CatalogueEntry* entry_of(const std::filesystem::path& path,
                               const std::vector<CatalogueEntry>& entries) {
  const std::string stem = lower(path.stem().string());
  for (const CatalogueEntry& entry : entries) {
    const std::filesystem::path file(entry.file);
    if (stem == (entry.file.empty() ? entry.id : lower(file.stem().string()))) return &entry;
  }
  return nullptr;
}

double bits_of(const Candidate& candidate) {
  const LoadPlan& report = candidate.fit.report;
  if (report.policy() != PolicyKind::none && report.plan.mean_bits_per_weight > 0)
    return report.plan.mean_bits_per_weight;
  return candidate.parameters > 0
             ? 8.0 * static_cast<double>(candidate.file_bytes) / static_cast<double>(candidate.parameters)
             : 0;
}

// Experts that are elsewhere are read from there: from main memory beside a card each time that they are
// used, else from the disk when memory has not kept them.
double bytes_elsewhere_per_token(const Candidate& candidate) {
  const LoadPlan& report = candidate.fit.report;
  if (!candidate.fit.on_card) return report.disk_bytes_per_token;
  if (report.units_offloaded == 0 || report.units() == 0 || candidate.experts == 0) return 0;
  const double share = static_cast<double>(report.units_offloaded) / static_cast<double>(report.units());
  const double used = static_cast<double>(candidate.experts_used) / static_cast<double>(candidate.experts);
  const double experts = static_cast<double>(candidate.parameters) * candidate.bits_per_weight / 8;
  return experts * used * share;
}

void judge(Candidate& candidate, const Machine& machine) {
  candidate.bits_per_weight = bits_of(candidate);
  candidate.bytes_per_token = bytes_per_token(candidate, candidate.fit.report);
  if (candidate.fit.on_card && !machine.gpu) return;  // one that is only planned for
  if (read_gb_per_s(machine) <= 0 || candidate.bytes_per_token <= 0) return;
  double seconds = candidate.bytes_per_token / (read_gb_per_s(machine) * 1e9);
  if (const double elsewhere = bytes_elsewhere_per_token(candidate); elsewhere > 0) {
    const double there = candidate.fit.on_card ? machine.memory_read_gb_per_s : machine.disk_read_gb_per_s;
    if (there <= 0) return;
    seconds += elsewhere / (there * 1e9);
  }
  candidate.tokens_per_second = 1 / seconds;
}

// The ways of fit.h for a published file: as it is, with lower tiers, with experts elsewhere.
Result<ModelFit> fit_of_entry(const CatalogueEntry& entry, const Machine& machine) {
  const auto by_size = [&] { return estimate_fit(entry.file, entry.bytes, machine.room, facts_of(machine)); };
  if (entry.shape.empty()) return by_size();
  ModelFit fit{.is_estimate = true,
               .budget_bytes = room_bytes(machine.room, machine.facts),
               .on_card = on_card(machine.room, machine.facts)};
  const auto plan = [&](PolicyKind policy, std::vector<std::string> tiers, std::int64_t cpu_moe) {
    LoadOptions options = machine.room;
    options.precision.policy = policy;
    options.precision.tiers = std::move(tiers);
    options.precision.offload.cpu_moe_layers = cpu_moe;
    auto report = plan_shape(
        {.name = entry.shape, .dense_tier = entry.dense, .dense_bytes = entry.experts == 0 ? entry.bytes : 0},
        options, facts_of(machine));
    if (report) {
      fit.precision = options.precision;
      fit.report = *report;
      const std::int64_t least = least_of_all(report->plan);
      fit.min_bytes = fit.min_bytes == 0 ? least : std::min(fit.min_bytes, least);
    }
    return report;
  };
  const auto whole =
      entry.experts == 0 ? plan(PolicyKind::none, {}, 0) : plan(PolicyKind::static_tiers, {entry.tier}, 0);
  // Two cards have a model as its file has it, and of a shape there is no file. Whether its layers can be
  // parted is known.
  if (!whole && machine.first_gpu && whole.error().kind == ErrorKind::unsupported) {
    if (const auto parted = plan(PolicyKind::none, {}, 0); !parted) return std::unexpected(parted.error());
    return by_size();
  }
  if (!whole) return std::unexpected(whole.error());
  fit.needed_bytes = least_of_all(whole->plan);
  if (whole->plan.fits) {
    fit.kind = FitKind::fits;
    return fit;
  }
  if (entry.experts == 0) return fit;
  if (const auto mixed = plan(PolicyKind::fovea, {entry.tier, "q2"}, 0); mixed && mixed->plan.fits) {
    fit.kind = FitKind::lower_precision;
  } else if (const auto away = plan(PolicyKind::offload, {"q2"}, -1); away && away->plan.fits) {
    fit.kind = FitKind::experts_elsewhere;
  }
  return fit;
}

int rank_of(const Candidate& candidate) {
  if (!candidate.trouble.empty()) return 3;
  switch (candidate.fit.kind) {
    case FitKind::fits:
    case FitKind::lower_precision:
      return 0;
    case FitKind::experts_elsewhere:
      return 1;
    case FitKind::does_not_fit:
      break;
  }
  return 2;
}

// What a tier's perplexity leaves of a model: docs/tiers.md, SmolLM2 with calibrated tiers, 22.6 / 22.6,
// 24.0, 27.2 and 73.5 at 8.5, 4.25, 3.25 and 2.25 bits.
double kept_at(double bits) {
  struct Point {
    double bits, kept;
  };
  constexpr Point points[] = {{2.25, 0.31}, {3.25, 0.83}, {4.25, 0.94}, {8.5, 1}};
  if (bits <= points[0].bits) return points[0].kept;
  for (std::size_t i = 1; i < std::size(points); ++i) {
    if (bits > points[i].bits) continue;
    const double share = (bits - points[i - 1].bits) / (points[i].bits - points[i - 1].bits);
    return points[i - 1].kept + share * (points[i].kept - points[i - 1].kept);
  }
  return 1;
}

double kept(const Candidate& candidate, const LoadPlan& report) {
  double units = 0, sum = 0;
  for (const PlanTier& tier : parts_of_all(report.plan).experts) {
    units += static_cast<double>(tier.units);
    sum += static_cast<double>(tier.units) * kept_at(tier.bits_per_weight);
  }
  return units > 0 ? sum / units : kept_at(candidate.bits_per_weight);
}

// Of the model at full precision, 0 … 1.
double talent(const Candidate& candidate) {
  constexpr double guessing = 10;  // per cent right of ten answers each
  if (candidate.entry && candidate.entry->mmlu_pro > guessing)
    return (candidate.entry->mmlu_pro - guessing) / (100 - guessing);
  constexpr double half = 12;  // 10^9 parameters
  const double all = static_cast<double>(candidate.parameters) / 1e9;
  const double active = static_cast<double>(candidate.parameters_active) / 1e9;
  const double mean = std::sqrt(all * active);
  return mean / (mean + half);
}

void cannot_open(Candidate& candidate, const Error& error) {
  const auto [text, details] = error_text(error);
  candidate.trouble = text.toStdString();
  candidate.trouble_details = details.toStdString();
}

}  // namespace

double bytes_per_token(const Candidate& candidate, const LoadPlan& report) {
  if (report.device_part.bytes() > 0) return report.device_part.bytes();
  if (candidate.parameters <= 0) return 0;
  return static_cast<double>(candidate.parameters_active) * static_cast<double>(candidate.file_bytes) /
         static_cast<double>(candidate.parameters);
}

Candidate examine_model(const std::filesystem::path& path, const Machine& machine,
                        const std::vector<CatalogueEntry>& entries) {
  Candidate candidate;
  candidate.path = path;
  candidate.name = path.stem().string();
  if (const CatalogueEntry* entry = entry_of(path, entries)) {
    candidate.entry = *entry;
    candidate.name = entry->name;
  }
  const auto info = inspect(path);
  if (!info) {
    cannot_open(candidate, info.error());
    return candidate;
  }
  if (!candidate.entry && !info->name.empty()) candidate.name = info->name;
  candidate.file_bytes = files_of(path).bytes;
  candidate.parameters = info->parameters;
  candidate.parameters_active = info->parameters_active;
  candidate.experts = info->experts;
  candidate.experts_used = info->experts_used;
  candidate.context = info->context;
  candidate.extended_context = info->extended_context;
  auto fit = fit_of_model(path, machine.room, facts_of(machine));
  if (!fit) {
    cannot_open(candidate, fit.error());
    return candidate;
  }
  candidate.fit = *std::move(fit);
  judge(candidate, machine);
  return candidate;
}

Candidate examine_entry(const CatalogueEntry& entry, const Machine& machine) {
  Candidate candidate;
  candidate.name = entry.name;
  candidate.entry = entry;
  candidate.file_bytes = entry.bytes;
  candidate.parameters = entry.parameters;
  candidate.parameters_active = entry.parameters_active;
  candidate.experts = entry.experts;
  candidate.experts_used = entry.experts_used;
  candidate.context = candidate.extended_context = entry.context;
  auto fit = fit_of_entry(entry, machine);
  if (!fit) {
    cannot_open(candidate, fit.error());
    return candidate;
  }
  candidate.fit = *std::move(fit);
  judge(candidate, machine);
  return candidate;
}

void find_longest_context(Candidate& candidate, const Machine& machine) {
  constexpr std::int64_t least = 2048;
  if (!candidate.usable()) return;
  const auto consider = [&](std::int64_t context, double kept_share) {
    const double value = talent(candidate) * kept_share * std::log2(1 + static_cast<double>(context) / least);
    if (value <= candidate.long_score) return;
    candidate.long_score = value;
    candidate.best_context = context;
  };
  consider(std::min(candidate.context, least), kept(candidate, candidate.fit.report));
  if (planned_by_size_alone(candidate)) return;
  LoadOptions setup = usual_setup(candidate, machine);
  for (const std::int64_t context : contexts_of(candidate)) {
    setup.context = context;
    const auto report = plan_of(candidate, setup, machine);
    if (!report || !report->plan.fits) return;
    consider(context, kept(candidate, *report));
    candidate.longest_context = context;
  }
}

std::vector<Candidate> find_candidates(const std::vector<std::filesystem::path>& folders,
                                       const std::vector<std::filesystem::path>& paths,
                                       const std::vector<CatalogueEntry>& entries, const Machine& machine,
                                       std::stop_token stop) {
  std::vector<Candidate> found;
  std::set<std::filesystem::path> seen;
  const auto add = [&](const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (error || stop.stop_requested() || !seen.insert(real).second) return;
    found.push_back(examine_model(path, machine, entries));
  };
  for (const auto& folder : folders)
    for (const LibraryEntry& model : find_models(folder)) add(model.path);
  for (const auto& path : paths) add(path);
  for (const CatalogueEntry& entry : entries) {
    if (stop.stop_requested()) break;
    const bool there = std::ranges::any_of(
        found, [&](const Candidate& c) { return c.entry && c.entry->id == entry.id && c.trouble.empty(); });
    if (!there) found.push_back(examine_entry(entry, machine));
  }
  return found;
}

double capability(const Candidate& candidate) {
  return talent(candidate) * kept(candidate, candidate.fit.report);
}

double score(const Candidate& candidate, Wish wish) {
  constexpr double reading_speed = 20;  // tok/s: faster than anybody reads
  const double capable = capability(candidate);
  switch (wish) {
    case Wish::quality:
      return capable;
    case Wish::speed: {
      if (candidate.tokens_per_second <= 0) return capable / std::max(candidate.bytes_per_token / 1e9, 1e-3);
      const double share = std::min(1.0, candidate.tokens_per_second / reading_speed);
      return capable * share * share;
    }
    case Wish::long_context:
      return candidate.long_score;
  }
  return 0;
}

void sort_for(std::vector<Candidate>& candidates, Wish wish) {
  std::ranges::stable_sort(candidates, [wish](const Candidate& a, const Candidate& b) {
    const int rank_a = rank_of(a), rank_b = rank_of(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    if (rank_a == 2) return a.fit.min_bytes < b.fit.min_bytes;
    if (rank_a == 3) return a.name < b.name;
    return score(a, wish) > score(b, wish);
  });
}

}  // namespace fovea::app
