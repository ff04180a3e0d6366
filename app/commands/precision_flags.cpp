#include "app/commands/precision_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "app/commands/errors.h"
#include "engine/api/limits.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct ShortName {
  std::string_view short_name;
  const char* long_name;
};
constexpr ShortName short_names[] = {{"-ngl", "--n-gpu-layers"},
                                     {"-ncmoe", "--n-cpu-moe"},
                                     {"-cmoe", "--cpu-moe"},
                                     {"-ot", "--override-tensor"}};

constexpr std::int64_t max_layers = 1 << 20;

// A number of layers, or a word that stands for −1.
CLI::Validator layers_or(std::string word) {
  return CLI::Validator(
      [word = std::move(word)](std::string& text) -> std::string {
        if (text == word) return text = "-1", std::string();
        std::int64_t value = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= max_layers)
          return {};
        return text + " is neither a number of layers nor " + word;
      },
      "");
}

// A number of tokens, or a word. Fewer are asked of the processor, one by one or as a few together.
CLI::Validator tokens_or_words() {
  constexpr double fewest = 9;
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text == "auto") return text = "0", std::string();
        if (text == "off") return text = "-1", std::string();
        return number_between(fewest, static_cast<double>(max_chunk))(text).empty()
                   ? std::string()
                   : text + " is neither auto, off nor a number of tokens from 9 to " +
                         std::to_string(max_chunk);
      },
      "");
}

// Thousandths of a nat, or a word.
void add_prefer(CLI::App& command, PrecisionRequest& request) {
  command
      .add_option_function<std::string>(
          "--prefer",
          [&request](const std::string& text) {
            if (text == "exact") request.nats_per_ms = nats_per_ms_exact;
            if (text == "balanced") request.nats_per_ms = nats_per_ms_balanced;
            if (text == "fast") request.nats_per_ms = nats_per_ms_fast;
            double value = 0;
            if (CLI::detail::lexical_cast(text, value)) request.nats_per_ms = value / 1000;
          },
          "exact, balanced (1), fast (10), or what a millisecond of a token's time may cost in thousandths "
          "of a "
          "nat of divergence; needs a store with measured divergences (default: exact)")
      ->type_name("WORD|N")
      ->check(CLI::IsMember({"exact", "balanced", "fast"}) | number_between(0, 1e6))
      ->group("Precision");
}

void add_pipeline(CLI::App& command, PrecisionRequest& request) {
  const auto group = [](CLI::Option* option) { return option->group("Precision"); };
  group(command.add_option("--store", request.store,
                           "The file that holds all versions (default: beside the model library's files)"));
  group(command.add_option(
            "--swap-bandwidth", request.traffic_gb_per_s,
            "Limit of the swaps' traffic in GB/s (default: 5 % of the memory's measured bandwidth; on a GPU "
            "of its link's)"))
      ->check(number_between(0, 1e6));
  group(command.add_option(
            "--publish-after", request.publish_after_passes,
            "Publish each swap with the end of the next pass (0), or so many later, for repeatable runs"))
      ->check(number_between(0, 1 << 30));
  group(
      command.add_option(
          "--first-token-layers", request.first_token_layers,
          "With fovea and dynaexq, on a processor: in so many of the first layers a text's first token gets "
          "its experts at the highest tier, which are read for it; --as-published: in none (default: in as "
          "many as 128 MiB are read for, four at least)"))
      ->check(number_between(0, 1 << 20));
  group(command.add_option("--events", request.events, "Write the swap log to this file, as JSON lines"));
}

// What would be read and then ignored.
Result<void> check_policy_is_there(const PrecisionRequest& request) {
  FOVEA_CHECK(check_dynaexq(request.dynaexq, request.policy));
  FOVEA_CHECK(check_fovea(request.fovea, request.policy));
  FOVEA_CHECK(check_layers(request));
  const bool is_published = request.dynaexq.threshold_of_warm_up;
  if (request.first_token_layers != PrecisionRequest{}.first_token_layers &&
      request.policy != PolicyKind::automatic && (!moves_experts(request.policy) || is_published)) {
    const char* const policy = is_published ? "--as-published" : name_in(policy_names, request.policy);
    return fail(phrases::option_place("--first-token-layers"), errors::first_token_of_another_policy(policy));
  }
  const bool moves = moves_experts(request.policy) || lowers_layers(request.policy);
  if (request.host_cache_bytes > 0 && request.policy != PolicyKind::automatic &&
      request.policy != PolicyKind::none && !moves)
    return fail(phrases::option_place("--host-cache"),
                errors::host_cache_of_another_policy(name_in(policy_names, request.policy)));
  if (request.policy != PolicyKind::none) return {};
  const char* const flag = !request.store.empty()              ? "--store"
                           : request.nats_per_ms > 0           ? "--prefer"
                           : !request.events.empty()           ? "--events"
                           : request.traffic_gb_per_s > 0      ? "--swap-bandwidth"
                           : request.publish_after_passes >= 0 ? "--publish-after"
                           : request.host_cache_bytes > 0      ? "--host-cache"
                                                               : nullptr;
  if (flag == nullptr) return {};
  return fail(phrases::option_place(flag), errors::flag_without_policy());
}

}  // namespace

void add_dynaexq(CLI::App& command, DynaExqSettings& settings) {
  const auto group = [](CLI::Option* option) { return option->group("DynaExq"); };
  // Read before the settings behind it, which say what the paper leaves open.
  const auto version = std::make_shared<std::string>();
  CLI::Option* const published = group(command.add_flag(
      "--as-published{v1}", *version,
      "As the paper has it, without our additions; =later: with the limits of its later versions"));
  published->check(CLI::IsMember({"v1", "later"}))->each([&settings, version](const std::string& name) {
    settings = dynaexq_as_published(name == "later" ? DynaExqVersion::later : DynaExqVersion::v1);
  });
  group(command.add_option("--dynaexq-alpha", settings.smoothing,
                           "Hotness keeps this share of what it was (default: 0.9)"))
      ->check(number_between(0, 0.999999));
  group(
      command.add_option("--dynaexq-alpha-tokens", settings.smoothing_tokens,
                         "Tokens that one alpha stands for; 0: one pass, as the paper has it (default: 50)"))
      ->check(number_between(0, 1 << 30))
      ->excludes(published);
  group(command.add_option("--dynaexq-interval", settings.interval_tokens,
                           "Tokens between two updates (default: 200)"))
      ->check(number_between(1, 1 << 30));
  group(command.add_option("--dynaexq-threshold", settings.threshold,
                           "Least hotness of an expert in the high tier (default: 0, none)"))
      ->check(number_between(0, 1))
      ->excludes(published);
  group(command.add_option(
            "--dynaexq-hysteresis", settings.hysteresis,
            "By which share of its layer's mean hotness a newcomer must be hotter (default: 0.1)"))
      ->check(number_between(0, 1000))
      ->excludes(published);
  group(command.add_option("--dynaexq-transitions", settings.transitions,
                           "Changes at most in each interval of each layer (default: 4)"))
      ->check(number_between(1, 1 << 20))
      ->excludes(published);
  group(command.add_option("--dynaexq-in-flight", settings.in_flight, "Changes at once (default: 64)"))
      ->check(number_between(1, 1024));
  group(command.add_option("--dynaexq-warm-up", settings.warm_up_tokens,
                           "Tokens after which the first set is ranked (default: 64)"))
      ->check(number_between(0, 1 << 30));
}

Result<void> check_dynaexq(const DynaExqSettings& settings, PolicyKind policy) {
  DynaExqSettings later = dynaexq_as_published(DynaExqVersion::later);
  later.warm_up_tokens = settings.warm_up_tokens;
  if (settings.transitions_of_model && settings != later)
    return fail(phrases::option_place("--as-published=later"), errors::flags_beside_later_version());
  if (settings == DynaExqSettings{} || policy == PolicyKind::dynaexq || policy == PolicyKind::automatic)
    return {};
  return fail(phrases::option_place(settings.threshold_of_warm_up ? "--as-published" : "--dynaexq-…"),
              errors::dynaexq_flags_of_another_policy(name_in(policy_names, policy)));
}

void add_fovea(CLI::App& command, FoveaSettings& settings) {
  const auto group = [](CLI::Option* option) { return option->group("Fovea's policy"); };
  group(command.add_option("--fovea-half-lives", settings.half_lives,
                           "Tokens after which a use counts half, one for each time scale (default: 48,384)"))
      ->delimiter(',')
      ->check(number_between(1, 1 << 30));
  group(command.add_option("--fovea-weights", settings.weights,
                           "What the calibration's profile and each time scale count at first (default: all "
                           "alike)"))
      ->delimiter(',')
      ->check(number_between(0, 1));
  group(command.add_option("--fovea-weights-half-life", settings.weights_half_life,
                           "Tokens that these weights are learnt from; 0: they stay (default: 4096; 256 of "
                           "experts that only change places with the processor's)"))
      ->check(number_between(0, 1 << 30));
  group(command.add_option("--fovea-interval", settings.interval_tokens,
                           "Tokens between two decisions (default: 32; 4 of those)"))
      ->check(number_between(1, 1 << 30));
  group(
      command.add_option("--fovea-numbers-interval", settings.numbers_interval_tokens,
                         "Tokens between two changes of how many experts each tier holds, of three tiers or "
                         "more (default: 256)"))
      ->check(number_between(1, 1 << 30));
  group(
      command.add_option("--fovea-margin", settings.margin,
                         "Share of a promotion's gain that is left when another expert has made room for it, "
                         "at least (default: 0.4; 0.1 of those)"))
      ->check(number_between(0, 0.999999));
  group(command.add_option("--fovea-in-flight", settings.in_flight,
                           "Changes at once (default: one for each 96 experts, from 64 to 1024)"))
      ->check(number_between(1, 1024));
  group(command.add_option("--fovea-prompt-wait", settings.prompt_wait_share,
                           "Share of a prompt's time that it may wait for its changes (default: 0.05)"))
      ->check(number_between(0, 1));
  group(command.add_option("--fovea-cut", settings.cut_share,
                           "A prompt's next pass has a quarter of the tokens where the changes lower the "
                           "expected loss by more than this share; 1: never (default: 0.1; never for those)"))
      ->check(number_between(0, 1));
}

Result<void> check_fovea(const FoveaSettings& settings, PolicyKind policy) {
  if (settings == FoveaSettings{} || policy == PolicyKind::fovea) return {};
  return fail(phrases::option_place("--fovea-…"),
              errors::fovea_flags_of_another_policy(name_in(policy_names, policy)));
}

void add_flexquant(CLI::App& command, FlexQuantSettings& settings) {
  const auto group = [](CLI::Option* option) { return option->group("FlexQuant"); };
  group(command.add_option(
            "--flex-threshold", settings.threshold,
            "A layer goes down below this perplexity of the answer's last tokens (default: that of "
            "the prompt's last)"))
      ->check(number_between(1, 1e6));
  group(command.add_option("--flex-window", settings.window_tokens,
                           "So many last tokens, of either (default: 20)"))
      ->check(number_between(1, 1 << 20));
  group(command.add_option("--flex-wait", settings.wait_tokens,
                           "Tokens at the new precision before the next layer goes (default: 20)"))
      ->check(number_between(1, 1 << 20));
  group(command.add_option("--flex-layers", settings.layers, "Linear layers that go at once (default: 1)"))
      ->check(number_between(1, 1 << 20));
}

void add_pmpd(CLI::App& command, PmpdSettings& settings) {
  command
      .add_option("--pmpd-schedule", settings.schedule,
                  "Tokens of an answer behind which all layers go to the next tier, a number for each")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_between(1, 1 << 30))
      ->group("PMPD");
}

Result<void> check_layers(const PrecisionRequest& request) {
  const char* const policy = name_in(policy_names, request.policy);
  if (request.flexquant != FlexQuantSettings{} && request.policy != PolicyKind::flexquant)
    return fail(phrases::option_place("--flex-…"), errors::flexquant_flags_of_another_policy(policy));
  if (request.pmpd != PmpdSettings{} && request.policy != PolicyKind::pmpd)
    return fail(phrases::option_place("--pmpd-schedule"), errors::pmpd_schedule_of_another_policy(policy));
  return {};
}

void add_host_cache(CLI::App& command, PrecisionRequest& request) {
  const auto group = [](CLI::Option* option) { return option->group("Precision"); };
  take_size(group(command.add_option(
      "--host-cache", request.host_cache_bytes,
      "On a GPU, with a policy that moves weights: main memory for versions that were read, pinned as it "
      "fills, so that what comes back is not read again (default: half of what is left; --no-host-cache: "
      "none)")));
  group(command.add_flag_callback(
      "--no-host-cache", [&request] { request.host_cache_bytes = 0; }, "Keep none in main memory"));
}

void add_offload(CLI::App& command, OffloadSettings& offload) {
  const auto group = [](CLI::Option* option) { return option->group("Offload"); };
  CLI::Option* const some = group(command.add_option(
      "--n-cpu-moe", offload.cpu_moe_layers,
      "Keep the experts of the first N layers off the device; auto: the smallest N "
      "that fits the budget (-ncmoe). Beside a GPU the processor computes what is kept "
      "off it, as the file has it, whatever the policy does with the rest; with auto and "
      "neither policy nor tiers they change places with those on the device, where main "
      "memory has room for all; else it is "
      "read from disk and stays in memory while it is likely to be needed soon, and auto is "
      "none or all"));
  some->type_name("N|auto")->transform(layers_or("auto"));
  group(command.add_flag_callback(
            "--cpu-moe", [&offload] { offload.cpu_moe_layers = max_layers; },
            "Keep all experts off the device (-cmoe)"))
      ->excludes(some);
  group(command.add_option(
            "--override-tensor", offload.override_tensors,
            "PATTERN=PLACE,…: units with a tensor whose name the regular expression is found "
            "in, or beside a GPU the first layers as a whole where all of them is named; PLACE is "
            "CPU (off the device) or GPU; the first that is found decides (-ot)"))
      ->allow_extra_args(false);
  group(command.add_option(
            "--n-gpu-layers,--gpu-layers", offload.gpu_layers,
            "Keep only the last N layers on the device, the output counted as a layer (without a GPU, and of "
            "layers that cannot be divided: their experts); all: every one (-ngl)"))
      ->type_name("N|all")
      ->transform(layers_or("all"));
  group(command.add_option(
            "--stream-experts", offload.stream_from,
            "Beside a GPU: from how many tokens of a prompt's pass on the experts that are kept off it are "
            "brought to it, a few at a time; auto: from where that is faster, which is measured (default)"))
      ->type_name("N|auto|off")
      ->transform(tokens_or_words());
}

void add_precision(CLI::App& command, PrecisionRequest& request, bool pipeline) {
  request.policy = PolicyKind::automatic;
  const auto group = [](CLI::Option* option) { return option->group("Precision"); };
  std::vector<std::pair<std::string, int>> names;
  for (const auto& [value, name] : policy_names) names.emplace_back(name, static_cast<int>(value));
  CLI::Option* const policy = group(command.add_option(
      "--policy", request.policy,
      "What decides where weights are and how precise (default: offload with an offload flag, but on a GPU "
      "none without --tiers and fovea with several; else, with --tiers or --budget, fovea for a model "
      "with experts and static for another)"));
  take_one_of(policy, std::move(names));
  group(command.add_option(
            "--tiers", request.tiers,
            "Storage formats from high to low, as q4,q2; known: file (as the file has it), bf16, "
            "q8, q4, q4e, q3, q2; dynaexq takes two, or beside a GPU with an offload flag file alone "
            "(default: the "
            "policy's)"))
      ->delimiter(',')
      ->allow_extra_args(false);
  group(command.add_option_function<std::string>(
            "--budget",
            [&request](const std::string& sizes) {
              const std::size_t comma = sizes.find(',');
              const auto bytes = [&](std::size_t from, std::size_t count) {
                return parse_size(sizes.substr(from, count)).value_or(0);
              };
              request.first_budget_bytes = comma == std::string::npos ? 0 : bytes(0, comma);
              request.budget_bytes = bytes(comma == std::string::npos ? 0 : comma + 1, std::string::npos);
            },
            "Memory for everything on the device, as 8GiB, 8GB or 500MB; of two cards for each, or as "
            "20GiB,10GiB (default: what the highest tier needs, on a GPU what is free)"))
      ->type_name("SIZE[,SIZE]")
      ->check(CLI::Validator(
          [](const std::string& sizes) -> std::string {
            const std::size_t comma = std::min(sizes.find(','), sizes.size());
            for (const std::string& size :
                 {sizes.substr(0, comma),
                  comma < sizes.size() ? sizes.substr(comma + 1) : sizes.substr(0, comma)})
              if (const auto bytes = parse_size(size); !bytes || *bytes < 1)
                return size + " is not a size such as 8GiB, 8GB or 500MB";
            return {};
          },
          ""));
  group(command.add_option("--tier-map", request.tier_map,
                           "static: a file of lines \"unit tier\" (default: the best mix of the budget)"));
  add_prefer(command, request);
  if (pipeline) add_pipeline(command, request);
  add_host_cache(command, request);
  add_offload(command, request.offload);
  add_dynaexq(command, request.dynaexq);
  add_fovea(command, request.fovea);
  add_flexquant(command, request.flexquant);
  add_pmpd(command, request.pmpd);
}

Result<PrecisionRequest> precision_request(PrecisionRequest request, bool card) {
  const OffloadSettings& offload = request.offload;
  const bool given = request.policy != PolicyKind::automatic;
  const auto refuse = [](const char* flag, Error error) {
    return fail(phrases::option_place(flag), std::move(error));
  };
  const char* const policy = name_in(policy_names, request.policy);
  if (offload.cpu_moe_layers < 0 && request.budget_bytes == 0 && !card)
    return refuse("--n-cpu-moe", errors::auto_without_budget());
  if (offload.stream_from != OffloadSettings{}.stream_from && !card)
    return refuse("--stream-experts", errors::streaming_without_card());
  if (request.host_cache_bytes > 0 && !card) return refuse("--host-cache", errors::host_cache_without_card());
  if (given && offload.any() && !card && request.policy != PolicyKind::offload)
    return refuse("--policy", errors::offload_flags_not_of_policy(policy));
  if (request.policy == PolicyKind::none && (!request.tiers.empty() || !request.tier_map.empty()))
    return refuse("--policy", errors::tiers_without_policy());
  if (!request.tier_map.empty() && given && request.policy != PolicyKind::static_tiers)
    return refuse("--tier-map", errors::map_of_another_policy(policy));
  const bool means_one =
      offload.any() || request.budget_bytes > 0 || !request.tiers.empty() || !request.tier_map.empty();
  if (!given && !means_one) request.policy = PolicyKind::none;
  FOVEA_CHECK(check_policy_is_there(request));
  if (!request.tier_map.empty() && offload.any()) return refuse("--tier-map", errors::map_with_offload());
  return request;
}

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool replace = true;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--") replace = false;
    for (const ShortName& name : short_names) {
      if (replace && argument == name.short_name) argument = name.long_name;
    }
    arguments.push_back(std::move(argument));
  }
  std::ranges::reverse(arguments);
  return arguments;
}

}  // namespace fovea::app
