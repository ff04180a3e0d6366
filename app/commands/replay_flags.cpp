#include "app/commands/replay_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>

#include "app/commands/errors.h"
#include "app/commands/precision_flags.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

Result<void> set_skew(const std::string& text, SyntheticRouting& routing) {
  using Skew = SyntheticRouting::Skew;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (text == "uniform") {
    routing.skew = Skew::uniform;
    return {};
  }
  const auto strength = colon == std::string::npos
                            ? std::nullopt
                            : parse_number<double>(std::string_view(text).substr(colon + 1));
  if ((name != "zipf" && name != "exp") || !strength)
    return fail(phrases::option_place("--skew"), errors::no_skew(text));
  routing.skew = name == "zipf" ? Skew::zipf : Skew::exponential;
  routing.skew_strength = *strength;
  return {};
}

// "48x128", or the name of a model of which enough is published.
Result<SyntheticRouting> synthetic_shape(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross != std::string::npos) {
    const auto layers = parse_number<std::int64_t>(std::string_view(text).substr(0, cross));
    const auto experts = parse_number<std::int32_t>(std::string_view(text).substr(cross + 1));
    if (layers && experts) {
      SyntheticRouting routing;
      routing.layers = *layers;
      routing.experts = *experts;
      return routing;
    }
  }
  return synthetic_like(text);
}

Result<SyntheticRouting> made_up(const ReplayFlags& flags) {
  FOVEA_TRY(SyntheticRouting routing, synthetic_shape(flags.synthetic));
  if (flags.top > 0) routing.used = static_cast<std::int32_t>(flags.top);
  if (flags.kinds > 0) routing.kinds = static_cast<std::int32_t>(flags.kinds);
  if (flags.phases > 0) routing.phases = static_cast<std::int32_t>(flags.phases);
  if (flags.tokens > 0) routing.tokens = flags.tokens;
  if (flags.seed > 0) routing.seed = static_cast<std::uint64_t>(flags.seed);
  if (flags.prompt >= 0) routing.prompt = flags.prompt;
  if (flags.chunk > 0) routing.chunk = flags.chunk;
  if (flags.repeat >= 0) routing.repeat = flags.repeat;
  if (flags.drift >= 0) routing.drift = flags.drift;
  if (!flags.skew.empty()) FOVEA_CHECK(set_skew(flags.skew, routing));
  if (!flags.overlap.empty()) {
    routing.overlap.clear();
    for (const std::string& item : split(flags.overlap)) {
      const auto share = parse_number<double>(item);
      if (!share) return fail(phrases::option_place("--overlap"), errors::no_number(item));
      routing.overlap.push_back(*share);
    }
  }
  return routing;
}

void add_routing_flags(CLI::App& command, ReplayFlags& flags) {
  CLI::Option* const synthetic = command.add_option(
      "--synthetic", flags.synthetic,
      "LAYERSxEXPERTS, or qwen3-30b-a3b, qwen3-next-80b-a3b with what is published of them");
  const char* const group = "Made-up routing";
  synthetic->group(group);
  const auto of_it = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group(group)->needs(synthetic);
  };
  of_it("--top", flags.top, "Experts for a token (default: 8)")->check(number_between(1, 4096));
  of_it("--skew", flags.skew, "uniform, zipf:S or exp:S over a layer's experts (default: zipf:1.2)");
  of_it("--kinds", flags.kinds, "Kinds of work, each with its hot experts (default: 3)")
      ->check(number_between(1, 64));
  of_it("--phases", flags.phases, "Stretches of equal length whose kinds take turns (default: 4)")
      ->check(number_between(1, 1 << 20));
  of_it("--overlap", flags.overlap,
        "Share of the 16 hottest experts that two kinds have in common: one number, or one for each "
        "pair like 0.12,0.11,0.47 (default: 0.12)");
  of_it("--repeat", flags.repeat, "Chance that a choice repeats the token's before (default: 0)")
      ->check(number_between(0, 0.999));
  of_it("--drift", flags.drift, "Changes of place among the ranks for each token (default: 0)")
      ->check(number_between(0, 1000));
  of_it("--tokens", flags.tokens, "Tokens (default: 100000)")->check(number_between(1, 1e9));
  of_it("--prompt", flags.prompt, "Tokens of prefill that begin each phase (default: 0)")
      ->check(number_between(0, 1e9));
  of_it("--chunk", flags.chunk, "Tokens in one prefill pass (default: 128)")
      ->check(number_between(1, 1 << 20));
  of_it("--seed", flags.seed, "Seed (default: 1)")->check(number_between(1, 1e15));
  of_it("--out", flags.out, "Write the made-up routing as a trace, too");
}

void add_clock_flags(CLI::App& command, ReplayFlags& flags) {
  const char* group = "Clock";
  command.add_option("--bandwidth", flags.clock.read_gb_per_s, "Of reading versions, GB/s (default: 1)")
      ->check(number_between(1e-6, 1e6))
      ->group(group);
  command
      .add_option("--latency", flags.clock.read_latency_ms,
                  "Milliseconds before each version's bytes (default: 0)")
      ->check(number_between(0, 1e6))
      ->group(group);
  command
      .add_option("--upload-bandwidth", flags.clock.upload_gb_per_s,
                  "Of copying them to the device, GB/s (default: 0, at once)")
      ->check(number_between(0, 1e6))
      ->group(group);
  command.add_option("--tok-per-s", flags.clock.decode_tok_per_s, "Decode (default: 20)")
      ->check(number_between(1e-3, 1e6))
      ->group(group);
  command.add_option("--prefill-tok-per-s", flags.clock.prefill_tok_per_s, "Prefill (default: 200)")
      ->check(number_between(1e-3, 1e9))
      ->group(group);
  command
      .add_option("--publish-after", flags.clock.publish_after_passes,
                  "Publish exactly so many passes after the decision; the clock waits for the bytes")
      ->check(number_between(0, 1e9))
      ->group(group);
}

}  // namespace

void add_replay_flags(CLI::App& command, ReplayFlags& flags) {
  command.add_option("TRACE", flags.trace, "What `fovea trace` wrote, unless --synthetic is given");
  command.add_option("--policy", flags.policy, "fovea, dynaexq, offload or static (default: fovea)")
      ->check(CLI::IsMember({"fovea", "dynaexq", "offload", "static"}));
  command.add_option("--store", flags.store,
                     "The model's store: its sizes, how much each tier hurts each expert, and how often the "
                     "calibration used it (default: sizes and 4^-bits)");
  command.add_option(
      "--tiers", flags.tiers,
      "Tiers from high to low (default: the store's, else file,q2=2.25; offload: file); q2=2.25 "
      "gives the bits per weight itself");
  CLI::Option* const map = command.add_option(
      "--write-map", flags.write_map, "Write fixed tiers as a tier map, for --policy static --tier-map");
  command
      .add_option("--map-of", flags.map_of,
                  "Which: static (the calibration's), \"fixed at start\" or \"fixed hindsight\" (default)")
      ->check(CLI::IsMember({reference_static, reference_start, reference_hindsight}))
      ->needs(map);
  take_size(command.add_option("--budget", flags.budget_bytes,
                               "Room for the experts with spare blocks, like 8GiB"));
  command.add_option("--high-share", flags.high_share, "… or the share of experts in the high tier")
      ->check(number_between(1e-6, 1));
  command
      .add_option("--prompt-pass", flags.prompt_pass_tokens,
                  "Put a prompt's passes together up to so many tokens, or fewer where the policy cuts them "
                  "(default: as recorded)")
      ->check(number_between(1, 1 << 20));
  command
      .add_option("--profile-tokens", flags.profile_tokens,
                  "First tokens that choose the mix that is fixed at start (default: 2048)")
      ->check(number_between(1, 1e9));
  add_dynaexq(command, flags.dynaexq);
  add_fovea(command, flags.fovea);
  add_offload(command, flags.offload);
  add_clock_flags(command, flags);
  add_routing_flags(command, flags);
}

Result<ReplayRequest> replay_request(const ReplayFlags& flags) {
  if (flags.offload.any() && flags.policy != "offload")
    return fail(phrases::option_place("--policy"), errors::offload_flags_not_of_policy(flags.policy));
  const PolicyKind policy = flags.policy == "static"    ? PolicyKind::static_tiers
                            : flags.policy == "offload" ? PolicyKind::offload
                            : flags.policy == "fovea"   ? PolicyKind::fovea
                                                        : PolicyKind::dynaexq;
  FOVEA_CHECK(check_dynaexq(flags.dynaexq, policy));
  FOVEA_CHECK(check_fovea(flags.fovea, policy));
  ReplayRequest request{.trace = flags.trace,
                        .synthetic = {},
                        .policy = policy,
                        .dynaexq = flags.dynaexq,
                        .fovea = flags.fovea,
                        .offload = flags.offload,
                        .store = flags.store,
                        .tiers = {},
                        .budget_bytes = flags.budget_bytes,
                        .high_share = flags.high_share,
                        .clock = flags.clock,
                        .prompt_pass_tokens = flags.prompt_pass_tokens,
                        .profile_tokens = flags.profile_tokens,
                        .tier_map = flags.write_map.empty() ? "" : flags.map_of};
  if (!flags.tiers.empty()) request.tiers = split(flags.tiers);
  if (!flags.synthetic.empty()) {
    FOVEA_TRY(request.synthetic, made_up(flags));
  }
  return request;
}

}  // namespace fovea::app
