#include "engine/runtime/swap_log.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/core/file_descriptor.h"
#include "engine/core/log.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

const char* name_of(precision::SwapOutcome outcome) {
  switch (outcome) {
    case precision::SwapOutcome::published:
      return "published";
    case precision::SwapOutcome::cancelled:
      return "cancelled";
    case precision::SwapOutcome::io_error:
      return "io_error";
    case precision::SwapOutcome::checksum_error:
      return "checksum_error";
    case precision::SwapOutcome::refused:
      return "refused";
  }
  return "";
}

std::string tier_name(const precision::TierSet& tiers, precision::TierId tier) {
  return tier < tiers.size() ? tiers[tier].name : tier == tiers.size() ? "host" : "disk";
}

}  // namespace

Result<SwapLog> SwapLog::create(const std::filesystem::path& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return fail(phrases::file_place(path), errors::cannot_write(Said{system_message(errno)}));
  return SwapLog(path, file);
}

void SwapLog::write(const precision::SwapEvent& event, const precision::UnitTable& units,
                    const precision::TierSet& tiers, std::int64_t token) {
  if (!file_) return;
  const nlohmann::ordered_json line = {
      {"token", token},
      {"pass", event.pass},
      {"unit", units.name(event.decision.unit)},
      {"from", tier_name(tiers, event.from)},
      {"to", tier_name(tiers, event.decision.target)},
      {"reason", name_of(event.decision.reason)},
      {"score", event.decision.score},
      {"margin", event.decision.margin},
      {"other", event.decision.other < 0 ? "" : units.name(event.decision.other)},
      {"outcome", name_of(event.outcome)},
      {"bytes", event.bytes},
      {"ms", 1e3 * event.seconds}};
  const std::string text = line.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() && std::fflush(file_.get()) == 0)
    return;
  failure_ = phrases::swap_log_ends(path_, Said{system_message(errno)});
  log::error("runtime", english(failure_));
  file_.reset();
}

}  // namespace fovea::runtime
