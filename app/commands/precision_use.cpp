#include "app/commands/precision_use.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <sys/resource.h>

#include "app/commands/errors.h"
#include "app/library/device_choice.h"
#include "app/terminal/draw_snapshot.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {

std::int64_t resident_peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

void add_precision_use(nlohmann::ordered_json& object, const Engine& engine) {
  const auto use = engine.precision();
  if (!use) return;
  object["budget_bytes"] = use->budget_bytes;
  object["accounted_bytes"] = use->accounted_bytes;
  object["resident_peak_bytes"] = resident_peak_bytes();
  object["promotions"] = use->promotions;
  object["demotions"] = use->demotions;
  object["swaps_refused"] = use->swaps_refused;
  object["swaps_failed"] = use->swaps_failed;
  object["bytes_read"] = use->bytes_read;
  object["bytes_found"] = use->bytes_found;
  object["stalls"] = use->stalls;
  object["hit_rate"] = use->hit_rate;
  object["mean_bits_per_weight"] = use->mean_bits_per_weight;
  object["bits_per_use"] = use->bits_per_use;
  object["answer_bits_per_weight"] = use->answer_bits_per_weight;
  if (use->foresight.weights.empty()) return;
  object["expectation_weights"] = use->foresight.weights;
  object["expectation_log_likelihood"] = use->foresight.log_likelihood;
}

Result<void> check_stats(const Engine& engine) {
  if (engine.precision() || !engine.expert_layers().empty()) return {};
  return fail(phrases::option_place("--stats"), errors::stats_of_nothing(engine.info().name));
}

std::string stats_line(const Engine& engine, const std::function<bool(Snapshot&)>& read) {
  if (engine.precision()) return precision_line(engine);
  Snapshot snapshot;
  read(snapshot);
  return status_line(snapshot) + "\n";
}

std::string precision_line(const Engine& engine) {
  const auto use = engine.precision();
  if (!use) return {};
  std::string line =
      use->quality_kept ? fmt::format("quality kept {:.1f} %, ", 100 * *use->quality_kept) : std::string();
  line += fmt::format(
      "{:.2f} bits per weight, {:.2f} per use, {} promotions, {} demotions, {} read, {} of {} accounted, {} "
      "resident at most",
      use->mean_bits_per_weight, use->bits_per_use, use->promotions, use->demotions,
      size_text(use->bytes_read), size_text(use->accounted_bytes), size_text(use->budget_bytes),
      size_text(resident_peak_bytes()));
  if (!use->foresight.weights.empty())
    line += fmt::format(", expects by {:.0f} % what the calibration used", 100 * use->foresight.weights[0]);
  if (use->bytes_found > 0) line += ", " + size_text(use->bytes_found) + " found in main memory";
  if (use->stalls > 0) line += fmt::format(", {} stalls ({:.2f} s)", use->stalls, use->stall_seconds);
  if (use->swaps_refused > 0) line += fmt::format(", {} refused swaps", use->swaps_refused);
  if (use->swaps_failed > 0) line += fmt::format(", {} failed swaps", use->swaps_failed);
  return line + "\n";
}

std::string precision_warning(const Engine& engine) {
  const auto use = engine.precision();
  return use ? english(use->log_failure) : std::string();
}

std::string memory_warning(const Engine& engine) {
  const std::string& device = engine.settings().device;
  return is_card(device) ? short_of_memory(device).toStdString() : std::string();
}

}  // namespace fovea::app
