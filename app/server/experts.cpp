#include "app/server/experts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/library/card_parts.h"
#include "app/library/device_choice.h"
#include "app/server/errors.h"
#include "engine/api/load_options.h"
#include "engine/core/result.h"
#include "ui/live/data/map_frame.h"

namespace fovea::app {
namespace {

int tier_index(std::uint8_t tier) {
  return tier == no_tier ? -1 : tier == host_tier ? -2 : tier;
}

Json swaps_json(const SwapCounters& swaps) {
  return {{"promotions", swaps.promotions},         {"demotions", swaps.demotions},
          {"bytes_promoted", swaps.bytes_promoted}, {"bytes_demoted", swaps.bytes_demoted},
          {"bytes_read", swaps.bytes_read},         {"stalls", swaps.stalls},
          {"stall_seconds", swaps.stall_seconds}};
}

Json quality_json(const QualityState& q) {
  return {{"in_nats", q.in_nats},
          {"has_calibration", q.has_calibration},
          {"tokens", q.tokens},
          {"loss", q.loss},
          {"all_high", q.all_high},
          {"all_low", q.all_low},
          {"calibrated", q.calibrated},
          {"tokens_since", q.tokens_since},
          {"loss_since", q.loss_since},
          {"low_since", q.low_since},
          {"high_since", q.high_since},
          {"calibrated_since", q.calibrated_since},
          {"start_since", q.start_since},
          {"hindsight",
           {{"tokens", q.hindsight.tokens},
            {"loss", q.hindsight.loss},
            {"low", q.hindsight.low},
            {"high", q.hindsight.high}}}};
}

Json memory_json(const Plan::Parts& parts) {
  return {{"weights", parts.dense},
          {"kv_cache", parts.kv + parts.windows + parts.states},
          {"activations", parts.activations}};
}

Json cards_json(const std::vector<WatchedModel::Card>& cards) {
  Json json = Json::array();
  for (const WatchedModel::Card& card : cards)
    json.push_back({{"name", card.name},
                    {"layers", card.layers},
                    {"budget_bytes", card.budget_bytes},
                    {"memory", memory_json(card.memory)}});
  return json;
}

// --- and back

// The first that is wrong stays. What is not there is 0 or empty.
class EventFields {
 public:
  EventFields(const Json& object, std::string& wrong) : object_(object), wrong_(wrong) {}

  bool has(const char* name) const { return find(name) != nullptr; }
  const Json* find(const char* name) const {
    const auto at = object_.find(name);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }
  void refuse(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }

  // 0 … 2^53, so that sums of them are numbers, too.
  std::int64_t count(const char* name) {
    const Json* const value = find(name);
    if (value == nullptr) return 0;
    constexpr std::uint64_t most = std::uint64_t{1} << 53;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) return refuse(name), 0;
    return static_cast<std::int64_t>(value->get<std::uint64_t>());
  }
  double number(const char* name, double least = 0) {
    const Json* const value = find(name);
    if (value == nullptr) return 0;
    if (!value->is_number()) return refuse(name), 0;
    const double number = value->get<double>();
    if (!(number >= least && number <= 1e18)) return refuse(name), 0;
    return number;
  }
  bool yes(const char* name) {
    const Json* const value = find(name);
    if (value != nullptr && !value->is_boolean()) refuse(name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  std::string text(const char* name) {
    const Json* const value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string() || value->get_ref<const std::string&>().size() > 512) return refuse(name), "";
    return value->get<std::string>();
  }
  const Json& list(const char* name, std::size_t most) {
    static const Json none = Json::array();
    const Json* const value = find(name);
    if (value == nullptr) return none;
    if (!value->is_array() || value->size() > most) return refuse(name), none;
    return *value;
  }
  const Json& object(const char* name) {
    static const Json none = Json::object();
    const Json* const value = find(name);
    if (value == nullptr) return none;
    if (!value->is_object()) return refuse(name), none;
    return *value;
  }
  // Numbers from least to most, exactly so many, or none at all.
  std::vector<std::int64_t> whole(const char* name, std::size_t size, std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> numbers;
    const Json& values = list(name, size);
    if (!values.empty() && values.size() != size) return refuse(name), numbers;
    for (const Json& value : values) {
      const bool fits =
          value.is_number_integer() &&
          (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
      const std::int64_t number = fits ? value.get<std::int64_t>() : least - 1;
      if (number < least || number > most) return refuse(name), std::vector<std::int64_t>();
      numbers.push_back(number);
    }
    return numbers;
  }

 private:
  const Json& object_;
  std::string& wrong_;
};

std::uint8_t tier_of(std::int64_t index) {
  return index == -1 ? no_tier : index == -2 ? host_tier : static_cast<std::uint8_t>(index);
}

void read_tiers(EventFields& fields, Snapshot& snapshot, std::string& wrong) {
  constexpr std::size_t most_tiers = 16;
  for (const Json& each : fields.list("tiers", most_tiers)) {
    if (!each.is_object()) return fields.refuse("tiers");
    EventFields tier(each, wrong);
    snapshot.tiers.push_back({.name = tier.text("name"),
                              .bits_per_weight = tier.number("bits_per_weight"),
                              .units = tier.count("units"),
                              .bytes = tier.count("bytes"),
                              .hits = tier.count("hits")});
  }
}

void read_layers(EventFields& fields, ExpertsEvent& event, std::string& wrong) {
  Snapshot& snapshot = event.snapshot;
  const Json& layers = fields.list("layers", static_cast<std::size_t>(max_watched_units));
  if (!fields.has("layers")) return fields.refuse("layers");
  snapshot.layers = std::ssize(layers);
  const std::int64_t tiers = std::ssize(snapshot.tiers);
  for (const Json& each : layers) {
    if (!each.is_object()) return fields.refuse("layers");
    EventFields layer(each, wrong);
    const Json& of_layer = layer.list("tiers", static_cast<std::size_t>(max_watched_units));
    if (snapshot.units_per_layer == 0) snapshot.units_per_layer = std::ssize(of_layer);
    const std::int64_t width = snapshot.units_per_layer;
    if (width == 0 || std::ssize(of_layer) != width || width * snapshot.layers > max_watched_units)
      return fields.refuse("layers");
    const auto size = static_cast<std::size_t>(width);
    const auto tier = layer.whole("tiers", size, -2, tiers - 1);
    const auto recent = layer.whole("recent_tokens", size, 0, 65'535);
    const auto uses = layer.whole("uses", size, 0, 0xFFFF'FFFF);
    const auto hot = layer.whole("hotness", size, 0, 255);
    if (!wrong.empty()) return;
    for (std::size_t i = 0; i < size; ++i)
      snapshot.units.push_back(
          {.hotness = hot.empty() ? 0 : ui::hotness_of(static_cast<std::uint8_t>(hot[i])),
           .tier = tier_of(tier[i]),
           .target = no_tier,
           .recent_tokens = recent.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(recent[i]),
           .uses = uses.empty() ? 0 : static_cast<std::uint32_t>(uses[i])});
    const std::int64_t experts = layer.has("experts") ? layer.count("experts") : width;
    if (experts > width) return fields.refuse("layers");
    event.model.experts_per_layer.push_back(experts);
    event.model.layer_numbers.push_back(layer.has("number") ? layer.count("number")
                                                            : std::ssize(event.model.layer_numbers));
  }
  for (const Json& each : fields.list("moving", static_cast<std::size_t>(max_watched_units))) {
    const bool is_pair = each.is_array() && each.size() == 2 && each[0].is_number_unsigned() &&
                         each[1].is_number_integer() && !each[1].is_number_float();
    if (!is_pair || each[0].get<std::uint64_t>() >= snapshot.units.size() || each[1] < -2 || each[1] >= tiers)
      return fields.refuse("moving");
    snapshot.units[each[0].get<std::size_t>()].target = tier_of(each[1].get<std::int64_t>());
  }
}

QualityState::Hindsight read_hindsight(EventFields fields) {
  return {.tokens = fields.count("tokens"),
          .loss = fields.number("loss", -1e18),
          .low = fields.number("low", -1e18),
          .high = fields.number("high", -1e18)};
}

QualityState read_quality(EventFields fields, std::string& wrong) {
  return {.in_nats = fields.yes("in_nats"),
          .has_calibration = fields.yes("has_calibration"),
          .tokens = fields.count("tokens"),
          .loss = fields.number("loss", -1e18),
          .all_high = fields.number("all_high", -1e18),
          .all_low = fields.number("all_low", -1e18),
          .calibrated = fields.number("calibrated", -1e18),
          .tokens_since = fields.count("tokens_since"),
          .loss_since = fields.number("loss_since", -1e18),
          .low_since = fields.number("low_since", -1e18),
          .high_since = fields.number("high_since", -1e18),
          .calibrated_since = fields.number("calibrated_since", -1e18),
          .start_since = fields.number("start_since", -1e18),
          .hindsight = read_hindsight({fields.object("hindsight"), wrong})};
}

Plan::Parts read_memory(EventFields fields) {
  Plan::Parts parts;
  parts.dense = fields.count("weights");
  parts.kv = fields.count("kv_cache");
  parts.activations = fields.count("activations");
  return parts;
}

void read_cards(EventFields& fields, WatchedModel& model, std::string& wrong) {
  const Json& cards = fields.list("cards", 2);
  if (cards.size() == 1) return fields.refuse("cards");
  for (const Json& each : cards) {
    if (!each.is_object()) return fields.refuse("cards");
    EventFields card(each, wrong);
    model.cards.push_back({.name = card.text("name"),
                           .layers = card.count("layers"),
                           .budget_bytes = card.count("budget_bytes"),
                           .memory = read_memory({card.object("memory"), wrong})});
  }
}

SwapCounters read_swaps(EventFields fields) {
  SwapCounters swaps;
  swaps.promotions = fields.count("promotions");
  swaps.demotions = fields.count("demotions");
  swaps.bytes_promoted = fields.count("bytes_promoted");
  swaps.bytes_demoted = fields.count("bytes_demoted");
  swaps.bytes_read = fields.count("bytes_read");
  swaps.stalls = fields.count("stalls");
  swaps.stall_seconds = fields.number("stall_seconds");
  return swaps;
}

}  // namespace

std::int64_t WatchedModel::rows_of_first() const {
  const std::int64_t layers = cards.empty() ? 0 : cards.front().layers;
  return std::ranges::count_if(layer_numbers, [layers](std::int64_t layer) { return layer < layers; });
}

WatchedModel watched_model(std::string name, const ModelInfo& info, const LoadPlan& plan,
                           std::span<const ExpertLayer> layers) {
  WatchedModel model{.name = std::move(name),
                     .policy = plan.policy(),
                     .experts_used = info.experts_used,
                     .memory = plan.plan.parts};
  const auto first = first_card_of(plan.plan);
  std::int64_t experts = 0, of_first = 0;
  for (const ExpertLayer& layer : layers) {
    model.layer_numbers.push_back(layer.layer);
    model.experts_per_layer.push_back(layer.experts);
    const std::int64_t bytes = layer.experts * layer.file_bytes;
    experts += bytes;
    if (first && layer.layer < first->layers) of_first += bytes;
  }
  // Without a policy the experts are planned as the other weights are, and the snapshot has them apart.
  if (model.policy == PolicyKind::none)
    model.memory.dense = std::max<std::int64_t>(0, model.memory.dense - experts);
  model.memory.experts.clear();
  if (!first) return model;
  const std::vector<std::string> names = names_of(plan.options.device);
  model.memory = {};
  const auto add = [&](const std::string& card, const CardPart& part, std::int64_t experts_there) {
    Plan::Parts memory = part.parts;
    if (memory.experts.empty()) memory.dense = std::max<std::int64_t>(0, memory.dense - experts_there);
    memory.experts.clear();
    for (const auto each : {&Plan::Parts::dense, &Plan::Parts::kv, &Plan::Parts::windows,
                            &Plan::Parts::states, &Plan::Parts::activations, &Plan::Parts::safety})
      model.memory.*each += memory.*each;
    model.cards.push_back({.name = card,
                           .layers = part.layers,
                           .budget_bytes = part.budget_bytes,
                           .memory = std::move(memory)});
  };
  add(names.front(), *first, of_first);
  add(names.back(), last_card_of(plan.plan), experts - of_first);
  return model;
}

Json experts_json(const WatchedModel& model, const Snapshot& snapshot, std::int64_t questions) {
  Json tiers = Json::array();
  for (const TierState& tier : snapshot.tiers)
    tiers.push_back({{"name", tier.name},
                     {"bits_per_weight", tier.bits_per_weight},
                     {"units", tier.units},
                     {"bytes", tier.bytes},
                     {"hits", tier.hits}});
  Json layers = Json::array(), moving = Json::array();
  const ui::HotnessCodes code;
  const auto width = static_cast<std::size_t>(snapshot.units_per_layer);
  for (std::size_t first = 0; width > 0 && first + width <= snapshot.units.size(); first += width) {
    Json unit_tiers = Json::array(), recent = Json::array(), uses = Json::array(), hotness = Json::array();
    for (std::size_t i = first; i < first + width; ++i) {
      const UnitState& unit = snapshot.units[i];
      unit_tiers.push_back(tier_index(unit.tier));
      recent.push_back(unit.recent_tokens);
      uses.push_back(unit.uses);
      hotness.push_back(code(unit.hotness));
      if (unit.target != no_tier) moving.push_back({i, tier_index(unit.target)});
    }
    const std::size_t layer = first / width;
    Json object{{"tiers", std::move(unit_tiers)},
                {"recent_tokens", std::move(recent)},
                {"uses", std::move(uses)},
                {"hotness", std::move(hotness)}};
    if (layer < model.layer_numbers.size()) object["number"] = model.layer_numbers[layer];
    if (layer < model.experts_per_layer.size()) object["experts"] = model.experts_per_layer[layer];
    layers.push_back(std::move(object));
  }
  return {{"model", model.name},
          {"policy", name_in(policy_names, model.policy)},
          {"experts_used", model.experts_used},
          {"tokens", snapshot.tokens},
          {"questions", questions},
          {"tokens_per_second", snapshot.tokens_per_second},
          {"prefill_tokens_per_second", snapshot.prefill_tokens_per_second},
          {"mean_bits_per_weight", snapshot.mean_bits_per_weight},
          {"budget_bytes", snapshot.budget_bytes},
          {"arena_bytes", snapshot.arena_bytes},
          {"arena_used_bytes", snapshot.arena_used_bytes},
          {"misses", snapshot.misses},
          {"host_hits", snapshot.host_hits},
          {"host_units", snapshot.host_units},
          {"memory", memory_json(model.memory)},
          {"cards", cards_json(model.cards)},
          {"quality", quality_json(snapshot.quality)},
          {"swaps", swaps_json(snapshot.swaps)},
          {"swaps_waiting", snapshot.queued + snapshot.reading + snapshot.ready},
          {"tiers", std::move(tiers)},
          {"layers", std::move(layers)},
          {"moving", std::move(moving)}};
}

Result<ExpertsEvent> read_experts(std::string_view text) {
  auto json = parse_body(text);
  if (!json) return fail(phrases::server_event_place(), std::move(json).error());
  std::string wrong;
  EventFields fields(*json, wrong);
  ExpertsEvent event;
  event.model.name = fields.text("model");
  const std::string policy = fields.text("policy");
  const auto known = named_in(policy_names, policy);
  if (!known && !policy.empty()) fields.refuse("policy");
  event.model.policy = known.value_or(PolicyKind::none);
  event.model.experts_used = fields.count("experts_used");
  Snapshot& snapshot = event.snapshot;
  read_tiers(fields, snapshot, wrong);
  read_layers(fields, event, wrong);
  snapshot.tokens = fields.count("tokens");
  event.questions = fields.count("questions");
  snapshot.tokens_per_second = fields.number("tokens_per_second");
  snapshot.prefill_tokens_per_second = fields.number("prefill_tokens_per_second");
  snapshot.mean_bits_per_weight = fields.number("mean_bits_per_weight");
  snapshot.budget_bytes = fields.count("budget_bytes");
  snapshot.arena_bytes = fields.count("arena_bytes");
  snapshot.arena_used_bytes = fields.count("arena_used_bytes");
  snapshot.misses = fields.count("misses");
  snapshot.host_hits = fields.count("host_hits");
  snapshot.host_units = fields.count("host_units");
  snapshot.queued = static_cast<std::int32_t>(std::min<std::int64_t>(fields.count("swaps_waiting"), 1 << 30));
  snapshot.quality = read_quality({fields.object("quality"), wrong}, wrong);
  snapshot.swaps = read_swaps({fields.object("swaps"), wrong});
  event.model.memory = read_memory({fields.object("memory"), wrong});
  read_cards(fields, event.model, wrong);
  if (!wrong.empty()) return fail(phrases::server_event_place(), errors::server_bad_event(wrong));
  return event;
}

}  // namespace fovea::app
