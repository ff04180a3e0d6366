// Several answers at once: tokens per second of all together, and how long another answer's tokens take while
// a prompt is read.
//   bench_batch MODEL [--turns N] [--threads N] [--tokens N] [--prompt N]
// Answers of 256 tokens to different prompts of some 60, greedy, no policy; 1, 2, 4 and 8 of them in turns,
// medians. Of a model with experts also how many different ones a pass of them reads, and what that leaves to
// gain where reading weights is all that takes time. Then one answer while a prompt of 2,000 tokens is read:
// the median and the 99th percentile between its tokens with and without that, and the time to the prompt's
// first token beside it and alone.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/api/engine.h"

namespace {

using Clock = std::chrono::steady_clock;
using fovea::Engine;
using fovea::GenerateRequest;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// Words that differ from number to number.
std::string prompt(int number, int tokens) {
  static constexpr const char* words[] = {" sea", " story", " light", " water", " music", " stone", " tree"};
  std::string text = "Number " + std::to_string(number) + ":";
  unsigned state = 12345U + 977U * static_cast<unsigned>(number);
  for (int i = 0; i < tokens; ++i) {
    state = state * 1664525U + 1013904223U;
    text += words[(state >> 16) % std::size(words)];
  }
  return text;
}

GenerateRequest request(int number, int prompt_tokens, int tokens) {
  GenerateRequest made;
  made.raw_prompt = prompt(number, prompt_tokens);
  made.sampling.temperature = 1;
  made.sampling.seed = static_cast<std::uint64_t>(number) + 1;
  made.max_tokens = tokens;
  made.reuse_cache = false;
  return made;
}

struct Asked {
  double first = 0;             // s to the first text
  std::vector<double> between;  // s
  std::int64_t tokens = 0;
  std::vector<fovea::TokenId> text;  // prompt and answer
};

Asked ask(Engine& engine, const GenerateRequest& request, std::stop_token stop = {}) {
  Asked asked;
  const auto start = Clock::now();
  auto last = start;
  std::int64_t seen = 0;
  const auto result = engine.generate(
      request,
      [&](std::string_view, const fovea::Timings& so_far) {
        const auto now = Clock::now();
        const double passed = std::chrono::duration<double>(now - last).count();
        if (asked.tokens == 0) asked.first = passed;
        // A piece may hold several tokens.
        for (std::int64_t i = seen; asked.tokens > 0 && i < so_far.generated_tokens; ++i)
          asked.between.push_back(passed / static_cast<double>(so_far.generated_tokens - seen));
        seen = asked.tokens = so_far.generated_tokens;
        last = now;
      },
      {}, std::move(stop));
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    std::exit(1);
  }
  asked.tokens = result->timings.generated_tokens;
  asked.text = engine.text()->encode(*request.raw_prompt, {.add_special = true});
  asked.text.insert(asked.text.end(), result->tokens.begin(), result->tokens.end());
  return asked;
}

// The experts that the routers choose for the last `count` of the tokens, [token][layer].
std::vector<std::vector<std::vector<std::int32_t>>> routed(Engine& engine, const Asked& asked,
                                                           std::int64_t count) {
  std::vector<std::vector<std::vector<std::int32_t>>> all;
  const auto ran =
      engine.routing(asked.text, 128, [&](const fovea::PassRouting& pass) -> fovea::Result<void> {
        for (std::int64_t t = 0; t < pass.tokens; ++t) {
          auto& token = all.emplace_back();
          for (const fovea::LayerRouting& layer : pass.layers) {
            const std::size_t used = layer.ids.size() / static_cast<std::size_t>(layer.tokens);
            const auto ids = layer.ids.subspan(static_cast<std::size_t>(t) * used, used);
            token.emplace_back(ids.begin(), ids.end());
          }
        }
        return {};
      });
  if (!ran) {
    std::fprintf(stderr, "%s\n", ran.error().message().c_str());
    std::exit(1);
  }
  all.erase(all.begin(), all.end() - std::min(count, std::ssize(all)));
  return all;
}

// Answers that were written side by side: what a pass of the first 1, 2, 4 and 8 of them reads.
void experts_together(Engine& engine, const std::vector<Asked>& asked) {
  const fovea::TokenCost cost = engine.cost();
  const auto layers = std::ssize(engine.expert_layers());
  if (layers == 0) return;
  std::int64_t steps = 1 << 20;
  for (const Asked& each : asked) steps = std::min(steps, each.tokens);
  std::vector<std::vector<std::vector<std::vector<std::int32_t>>>> all;
  for (const Asked& each : asked) all.push_back(routed(engine, each, steps));
  double one = 0;
  for (const std::size_t count : {1, 2, 4, 8}) {
    std::int64_t different = 0;
    for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step)
      for (std::size_t layer = 0; layer < static_cast<std::size_t>(layers); ++layer) {
        std::set<std::int32_t> pass;
        for (std::size_t i = 0; i < count; ++i)
          pass.insert(all[i][step][layer].begin(), all[i][step][layer].end());
        different += std::ssize(pass);
      }
    const double experts = static_cast<double>(different) / static_cast<double>(steps * layers);
    if (count == 1) one = experts;
    const double bytes = static_cast<double>(cost.weight_bytes - cost.expert_bytes) +
                         static_cast<double>(cost.expert_bytes) * experts / one;
    std::printf(
        "%zu at once: %.1f different experts a layer, %.0f MB of weights a pass, at most %.2f × one\n", count,
        experts, bytes / 1e6, static_cast<double>(count) * static_cast<double>(cost.weight_bytes) / bytes);
  }
}

void throughput(Engine& engine, int turns, int prompt_tokens, int tokens) {
  std::map<int, std::vector<double>> speeds;
  std::vector<Asked> last;
  for (int turn = 0; turn < turns; ++turn) {
    for (const int count : {1, 2, 4, 8}) {
      std::vector<Asked> asked(static_cast<std::size_t>(count));
      const auto start = Clock::now();
      {
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
          threads.emplace_back([&, i] {
            asked[static_cast<std::size_t>(i)] = ask(engine, request(turn * 8 + i, prompt_tokens, tokens));
          });
      }
      std::int64_t all = 0;
      for (const Asked& each : asked) all += each.tokens;
      speeds[count].push_back(static_cast<double>(all) / seconds_since(start));
      last = std::move(asked);
    }
  }
  for (const auto& [count, all] : speeds)
    std::printf("%d at once: %.1f tok/s (%.1f … %.1f), %.2f × one\n", count, quantile(all, 0.5),
                quantile(all, 0), quantile(all, 1), quantile(all, 0.5) / quantile(speeds[1], 0.5));
  experts_together(engine, last);
}

void interference(Engine& engine, int turns, int tokens) {
  std::vector<double> quiet, beside, first_alone, first_beside;
  for (int turn = 0; turn < turns; ++turn) {
    const GenerateRequest reader = request(100 + turn, tokens, 1);
    first_alone.push_back(ask(engine, reader).first);
    GenerateRequest writer = request(turn, 20, 400);
    std::stop_source stop;
    Asked asked;
    std::jthread writes([&] { asked = ask(engine, writer, stop.get_token()); });
    while (engine.load().answering == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first_beside.push_back(ask(engine, reader).first);
    stop.request_stop();
    writes.join();
    beside.insert(beside.end(), asked.between.begin(), asked.between.end());
    const Asked alone = ask(engine, request(turn, 20, 100));
    quiet.insert(quiet.end(), alone.between.begin(), alone.between.end());
  }
  std::printf(
      "between tokens alone: median %.1f ms, 99 %% %.1f ms; while a prompt of %d is read: median %.1f ms, "
      "99 %% %.1f ms\n",
      1e3 * quantile(quiet, 0.5), 1e3 * quantile(quiet, 0.99), tokens, 1e3 * quantile(beside, 0.5),
      1e3 * quantile(beside, 0.99));
  std::printf("its first token: alone %.2f s, beside %.2f s, %.2f ×\n", quantile(first_alone, 0.5),
              quantile(first_beside, 0.5), quantile(first_beside, 0.5) / quantile(first_alone, 0.5));
}

}  // namespace

int main(int count, char** words) {
  fovea::LoadOptions options{.context = 4096, .sequences = 8, .cache_tokens = 8192};
  int turns = 3, tokens = 256, prompt_tokens = 60, long_prompt = 2000;
  for (int i = 1; i < count; ++i) {
    const auto number = [&] { return i + 1 < count ? std::atoi(words[++i]) : 0; };
    if (std::strcmp(words[i], "--turns") == 0) {
      turns = number();
    } else if (std::strcmp(words[i], "--threads") == 0) {
      options.threads = number();
    } else if (std::strcmp(words[i], "--tokens") == 0) {
      tokens = number();
    } else if (std::strcmp(words[i], "--prompt") == 0) {
      long_prompt = number();
    } else {
      options.model = words[i];
    }
  }
  options.precision.policy = fovea::PolicyKind::none;
  auto engine = Engine::load(options);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().message().c_str());
    return 1;
  }
  throughput(**engine, turns, prompt_tokens, tokens);
  if (long_prompt > 0) interference(**engine, turns, long_prompt);
}
