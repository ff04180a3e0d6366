// What changing precision costs decoding, with the real engine on a real model.
//   bench_overhead idle MODEL STORES TIERS [TOKENS [ROUNDS]]
//     times between tokens without a policy, with every unit pinned at the file's tier, and with dynaexq
//     (of two tiers) and fovea watching although there is nothing to change (not with TIERS -, which needs no
//     lower tier)
//   bench_overhead storm MODEL STORES TIERS [TOKENS [ROUNDS]]
//     the same engine with and without a storm of swaps that goes round all units, whatever the routers
//     choose, with its traffic at 5 % of the memory's bandwidth; TIERS as file,q2
// What is compared takes turns, because the machine is not always the same. STORES is a folder for stores;
// they are made when they are missing.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/plan.h"
#include "engine/precision/swap_storm.h"
#include "engine/runtime/load.h"

using namespace fovea;

namespace {

constexpr std::int64_t depth = 16;  // tokens of context before the first that is timed

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

template <class T>
T value_of(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

struct Arguments {
  std::filesystem::path model, stores;
  std::vector<std::string> tiers = {};
  std::int64_t tokens = 32;
  int rounds = 12;
};

LoadOptions plain(const Arguments& arguments) {
  LoadOptions request;
  request.model = arguments.model;
  request.context = depth + arguments.tokens;
  request.chunk = depth;  // the same for every policy, so that their plans differ in the experts alone
  request.need_tokenizer = false;
  request.precision.stores_folder = arguments.stores;
  return request;
}

// Times between tokens in milliseconds; each round's, and all together.
struct Times {
  std::string name;
  std::vector<double> all = {}, medians = {};

  void take(Engine& engine, std::int64_t tokens) {
    std::vector<double> round = value_of(engine.time_decode(depth, tokens));
    for (double& each : round) each *= 1e3;
    medians.push_back(quantile(round, 0.5));
    all.insert(all.end(), round.begin(), round.end());
  }
  // The median over the rounds of this one's median ÷ the other's in the same round.
  double ratio(const Times& other) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < medians.size(); ++i) ratios.push_back(medians[i] / other.medians[i]);
    return quantile(ratios, 0.5);
  }
  void print(const Times& base) const {
    std::printf(
        "  %-18s 10 %% %7.3f ms, median %7.3f, 90 %% %7.3f, 99 %% %7.3f   x %.4f, %.4f (of the rounds' "
        "medians %.4f), %.4f, %.4f\n",
        name.c_str(), quantile(all, 0.1), quantile(all, 0.5), quantile(all, 0.9), quantile(all, 0.99),
        quantile(all, 0.1) / quantile(base.all, 0.1), quantile(all, 0.5) / quantile(base.all, 0.5),
        ratio(base), quantile(all, 0.9) / quantile(base.all, 0.9),
        quantile(all, 0.99) / quantile(base.all, 0.99));
  }
};

void idle(const Arguments& arguments) {
  LoadOptions pinned = plain(arguments);
  pinned.precision.policy = PolicyKind::static_tiers;
  pinned.precision.tiers = {"file"};
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<Times> times{{.name = "no policy"}, {.name = "all units pinned"}};
  engines.push_back(value_of(Engine::load(plain(arguments))));
  engines.push_back(value_of(Engine::load(pinned)));
  for (const PolicyKind policy : {PolicyKind::dynaexq, PolicyKind::fovea}) {
    if (arguments.tiers.empty()) break;
    if (policy == PolicyKind::dynaexq && arguments.tiers.size() > 2) continue;
    LoadOptions watched = plain(arguments);
    watched.precision.policy = policy;
    watched.precision.tiers = arguments.tiers;
    engines.push_back(value_of(Engine::load(watched)));
    times.push_back({.name = std::string(name_in(policy_names, policy)) + ", all high"});
  }
  for (int round = -1; round < arguments.rounds; ++round) {
    for (std::size_t i = 0; i < engines.size(); ++i) {
      // Whoever comes first in a round, so that none is always behind the same one.
      const std::size_t which = (i + static_cast<std::size_t>(round + 1)) % engines.size();
      if (round >= 0) {
        times[which].take(*engines[which], arguments.tokens);
      } else {
        value_of(engines[which]->time_decode(depth, 4));
      }
    }
  }
  for (const Times& each : times) each.print(times.front());
}

void storm(const Arguments& arguments) {
  LoadOptions request = plain(arguments);
  request.precision.policy = PolicyKind::dynaexq;
  request.precision.tiers = arguments.tiers;
  request.precision.dynaexq.in_flight = 16;  // more than may be published after a token
  // Half way between all low and all high.
  LoadOptions low = request;
  low.precision.policy = PolicyKind::static_tiers;
  low.precision.tiers = {arguments.tiers.back()};
  const auto whole = [](const LoadOptions& of) { return value_of(plan_model(of)).plan.whole_bytes; };
  request.precision.budget_bytes = (whole(request) + whole(low)) / 2;
  const auto control = std::make_shared<precision::StormControl>();
  const auto engine = value_of(runtime::load(
      request, [&](const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
        return std::make_unique<precision::SwapStorm>(world, control);
      }));
  std::printf("  %lld units of each layer are high; the limit is %.2f GB/s\n",
              static_cast<long long>(engine->plan().plan.high_per_layer),
              0.05 * engine->measure_ceiling().read_gb_per_s);
  // The second one without swaps shows what the same thing differs by from itself.
  std::array<Times, 3> times = {{{.name = "no swaps"}, {.name = "no swaps again"}, {.name = "storm"}}};
  double storming = 0;
  const PrecisionUse before = *engine->precision();
  for (int round = -1; round < arguments.rounds; ++round) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(round + 1)) % times.size();
      const bool on = which == 2;
      control->mode = on ? precision::StormMode::flood : precision::StormMode::still;
      // The swaps of the storm before end, or this one's begin, before anything is timed.
      value_of(engine->time_decode(depth, 8));
      if (round < 0) continue;
      const double begun = seconds();
      times[which].take(*engine, arguments.tokens);
      if (on) storming += seconds() - begun;
    }
  }
  for (const Times& each : times) each.print(times.front());
  const PrecisionUse use = *engine->precision();
  std::printf("  %lld promotions, %lld demotions, %lld refused, %lld failed; about %.2f GB/s\n",
              static_cast<long long>(use.promotions), static_cast<long long>(use.demotions),
              static_cast<long long>(use.swaps_refused), static_cast<long long>(use.swaps_failed),
              static_cast<double>(use.bytes_read - before.bytes_read) / storming / 1e9);
  if (use.promotions > before.promotions) return;
  std::fputs("nothing was swapped: this measured nothing\n", stderr);
  std::exit(1);
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if ((mode != "idle" && mode != "storm") || argc < (mode == "storm" ? 5 : 4)) {
    std::fputs("usage: bench_overhead idle|storm MODEL STORES TIERS [TOKENS [ROUNDS]]\n", stderr);
    return 2;
  }
  Arguments arguments{.model = argv[2], .stores = argv[3]};
  if (argc > 4 && std::string_view(argv[4]) != "-") arguments.tiers = split(argv[4]);
  if (argc > 5) arguments.tokens = std::atoll(argv[5]);
  if (argc > 6) arguments.rounds = std::atoi(argv[6]);
  mode == "idle" ? idle(arguments) : storm(arguments);
  return 0;
}
