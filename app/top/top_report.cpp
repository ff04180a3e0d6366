#include "app/top/top_report.h"

#include <nlohmann/json.hpp>

#include "app/top/draw_top.h"
#include "engine/api/load_options.h"

namespace fovea::app {

std::string top_text(const TopModel& model, const std::string& source, int columns) {
  TopView view{.state = TopView::State::live, .source = source, .now = model.seconds()};
  if (!model.is_empty()) view.places.by_hotness(model.frame());
  const Canvas canvas = draw_top(model, view, rows_for_all(model), columns);
  std::string text;
  bool was_empty = true;
  for (int row = 0; row < canvas.rows(); ++row) {
    std::string line = canvas.text(row);
    const bool is_last = row + 1 == canvas.rows();
    if (const std::size_t keys = line.find("h help"); is_last && keys != std::string::npos) {
      line.resize(keys);
      line.erase(line.find_last_not_of(' ') + 1);
    }
    if (line.empty() && was_empty) continue;  // at most one
    was_empty = line.empty();
    text += line + "\n";
  }
  return text;
}

nlohmann::ordered_json top_json(const TopModel& model, const std::string& source) {
  using nlohmann::ordered_json;
  const SnapshotNumbers& n = model.numbers();
  const ui::PolicyGain gain = model.gain();
  const ui::RouterHealth routers = model.routers();
  const bool is_judged = gain.tokens > 0;
  const auto judged = [](bool is_known, double share) {
    return is_known ? ordered_json(share) : ordered_json(nullptr);
  };
  ordered_json tiers = ordered_json::array();
  std::int64_t uses = n.misses + n.host_hits;
  for (const TierState& tier : n.tiers) uses += tier.hits;
  for (const TierState& tier : n.tiers)
    tiers.push_back(
        {{"name", tier.name},
         {"bits_per_weight", tier.bits_per_weight},
         {"experts", tier.units},
         {"bytes", tier.bytes},
         {"share_of_uses", uses > 0 ? static_cast<double>(tier.hits) / static_cast<double>(uses) : 0}});
  double used = 0;
  for (const ui::BudgetPart& part : model.memory())
    if (part.kind != ui::BudgetPart::Kind::free && part.kind != ui::BudgetPart::Kind::unplanned)
      used += part.bytes;
  ordered_json cards = ordered_json::array();
  for (const ui::CardMemory& card : model.cards()) {
    double taken = 0;
    for (const ui::BudgetPart& part : card.budget)
      if (part.kind != ui::BudgetPart::Kind::free && part.kind != ui::BudgetPart::Kind::unplanned)
        taken += part.bytes;
    cards.push_back({{"name", card.name},
                     {"budget_bytes", static_cast<std::int64_t>(card.budget_bytes)},
                     {"used_bytes", static_cast<std::int64_t>(taken)}});
  }
  if (!cards.empty()) cards.front()["layers"] = model.model().cards.front().layers;
  return {{"source", source},
          {"model", model.model().name},
          {"policy", name_in(policy_names, model.model().policy)},
          {"quality_kept", judged(is_judged, gain.kept)},
          {"quality_in_nats", gain.in_nats},
          {"fixed_kept", judged(gain.chosen_by != ui::FixedMix::none, gain.fixed_kept)},
          {"low_kept", judged(is_judged, gain.low_kept)},
          {"bits_per_use", gain.bits_per_use},
          {"tokens", n.tokens},
          {"tok_per_s", n.tokens_per_second},
          {"prefill_tok_per_s", n.prefill_tokens_per_second},
          {"layers", n.layers},
          {"experts_per_layer", n.units_per_layer},
          {"tiers", std::move(tiers)},
          {"budget_bytes", n.budget_bytes},
          {"used_bytes", static_cast<std::int64_t>(used)},
          {"cards", std::move(cards)},
          {"promotions", n.swaps.promotions},
          {"demotions", n.swaps.demotions},
          {"bytes_read", n.swaps.bytes_read},
          {"stalls", n.swaps.stalls},
          {"top_tenth", routers.top_tenth},
          {"evenness", routers.evenness},
          {"collapsed_layers", routers.collapsed}};
}

}  // namespace fovea::app
