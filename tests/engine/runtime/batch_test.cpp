// Several answers at once: each is what it is alone, whoever is beside it, waits, is cancelled or gives way.
#include <QTemporaryDir>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "engine/precision/best_mix.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "engine/runtime/scheduler.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "tests/engine/chat/chat_model.h"
#include "expert_model.h"
#include "family_models.h"

using fovea::Engine;
using fovea::FinishReason;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::LoadOptions;
using fovea::PolicyKind;
using fovea::precision::Policy;
using fovea::precision::PolicyWorld;
using fovea::runtime::SliceLength;
using fovea::tests::chat_request;
using fovea::tests::generate;
using namespace fovea::tests::family_models;

namespace fs = std::filesystem;

namespace {

std::unique_ptr<Engine> load(const LoadOptions& options) {
  auto engine = Engine::load(options);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

LoadOptions for_sequences(LoadOptions options, std::int64_t sequences) {
  options.sequences = sequences;
  options.cache_tokens = sequences * options.context;
  return options;
}

// The file of a tier map of the model's experts.
fs::path every_second_low(const fs::path& folder, const Engine& engine, const std::string& low) {
  const fs::path path = folder / (engine.info().name + ".map");
  std::ofstream map(path);
  for (const fovea::ExpertLayer& layer : engine.expert_layers())
    for (std::int64_t expert = 0; expert < layer.experts; ++expert)
      map << "blk." << layer.layer << ".expert." << expert << ' ' << (expert % 2 == 0 ? "file" : low) << '\n';
  return path;
}

// Moves nothing, and remembers how many tokens of each sequence chose each unit. Not those of the last layer,
// which reads no more of a prompt than it must, and that depends on who shares the pass.
class Listener : public Policy {
 public:
  using Uses = std::map<std::int32_t, std::int64_t>;
  using Seen = std::map<std::uint64_t, Uses>;

  Listener(const PolicyWorld& world, Seen& seen)
      : first_(fovea::precision::best_fill(world, fovea::precision::expected_loss(world))),
        hotness_(first_.size()),
        last_layer_(world.first_unit[static_cast<std::size_t>(world.layers() - 1)]),
        seen_(seen) {}
  static std::unique_ptr<Engine> load(const LoadOptions& options, Seen& seen) {
    auto engine = fovea::runtime::load(options, [&seen](const PolicyWorld& world) {
      return fovea::Result<std::unique_ptr<Policy>>(std::make_unique<Listener>(world, seen));
    });
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }
  static std::multiset<Uses> uses(const Seen& seen) {
    std::multiset<Uses> all;
    for (const auto& [sequence, its] : seen) all.insert(its);
    return all;
  }

  std::string_view name() const override { return "listener"; }
  std::vector<std::uint8_t> initial() const override { return first_; }
  void observe(const fovea::precision::Observation& observation) override {
    for (const auto& use : observation.uses)
      if (use.unit < last_layer_) seen_[observation.sequence][use.unit] += use.tokens;
  }
  void propose(std::span<const std::uint8_t>, std::int32_t,
               std::vector<fovea::precision::Decision>&) override {}
  std::span<const float> hotness() const override { return hotness_; }

 private:
  std::vector<std::uint8_t> first_;
  std::vector<float> hotness_;
  std::int32_t last_layer_;  // its first unit
  Seen& seen_;
};

// Moves nothing, and remembers whose prompt was read by how many tokens, in the order of the passes.
class Readings final : public Listener {
 public:
  using Read = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  Readings(const PolicyWorld& world, Seen& seen, Read& read) : Listener(world, seen), read_(read) {}
  void observe(const fovea::precision::Observation& observation) override {
    Listener::observe(observation);
    if (observation.prefill) read_.emplace_back(observation.sequence, observation.tokens);
  }

 private:
  Read& read_;
};

// Words of different lengths, so that prompts end anywhere in a page, a slice or a chunk.
GenerateRequest request(int number, std::size_t words, std::int32_t tokens) {
  static constexpr const char* some[] = {"sea",    " story", " of",  " the",   " mixture",
                                         " night", "\n",     " and", " expert"};
  std::mt19937 random(static_cast<std::uint32_t>(number));
  GenerateRequest made;
  made.raw_prompt = std::to_string(number);
  for (std::size_t i = 0; i < words; ++i) *made.raw_prompt += some[random() % std::size(some)];
  made.max_tokens = tokens;
  made.sampling.temperature = number % 2 == 0 ? 0.0F : 1.0F;
  made.sampling.seed = static_cast<std::uint64_t>(number) + 1;
  if (number % 3 == 0) made.top_logprobs = 2;
  return made;
}

// All of them, each on a thread of its own. None goes on behind its first text before all have asked, unless
// that is all of an answer.
struct Together {
  std::vector<GenerateResult> answers;
  std::int64_t most = 0;  // that were answered at once
};
Together at_once(Engine& engine, const std::vector<GenerateRequest>& requests) {
  Together result{.answers = std::vector<GenerateResult>(requests.size())};
  std::atomic<std::int64_t> most = 0, asking = 0, done = 0;
  std::atomic<bool> have_asked = false;
  // An answer that has ended already is in no count: then whoever is about to ask has a moment for it.
  const auto wait = [&] {
    auto since = std::chrono::steady_clock::now();
    while (!have_asked) {
      const fovea::EngineLoad load = engine.load();
      const auto now = std::chrono::steady_clock::now();
      if (asking < std::ssize(requests)) since = now;
      if (load.answering + load.waiting + done >= std::ssize(requests) ||
          now - since > std::chrono::seconds(2))  // a machine with other work is slow to ask
        have_asked = true;
      std::this_thread::yield();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < requests.size(); ++i)
    threads.emplace_back([&, i] {
      ++asking;
      auto answer = engine.generate(requests[i], [&](std::string_view, const fovea::Timings&) {
        wait();
        most = std::max(most.load(), engine.load().answering);
      });
      if (!answer) qFatal("%s", answer.error().message().c_str());
      result.answers[i] = *std::move(answer);
      ++done;
    });
  threads.clear();
  result.most = most;
  return result;
}

}  // namespace

class BatchTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  LoadOptions of_family(const Subject& subject) const {
    const fs::path file = fs::path(folder_.path().toStdString()) / subject.file;
    if (!fs::exists(file)) Copy(subject.file, file);
    return {.model = file, .context = 512, .threads = 2, .chunk = 128};
  }

 private Q_SLOTS:
  void eightAtOnceSayWhatTheySayAlone_data() {
    QTest::addColumn<int>("index");
    QTest::newRow("chat") << -1;
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }
  void eightAtOnceSayWhatTheySayAlone() {
    QFETCH(int, index);
    LoadOptions options = index < 0 ? chat_request() : of_family(subjects[index]);
    const auto together = load(for_sequences(options, 8));
    const auto alone = load(options);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 8; ++i)
      requests.push_back(request(
          i, index < 0 ? 10 + static_cast<std::size_t>(i) * 9 : 3 + static_cast<std::size_t>(i * i) * 2, 40));
    for (int round = 0; round < 2; ++round) {  // the second finds the prompts in the cache
      const auto [answers, most] = at_once(*together, requests);
      QVERIFY2(most >= 6, qPrintable(QString::number(most)));  // one or two may end with their first token
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const GenerateResult one = generate(*alone, requests[i]);
        QCOMPARE(answers[i].tokens, one.tokens);
        QCOMPARE(answers[i].text, one.text);
        QVERIFY(answers[i].choices == one.choices);  // bit for bit
        QCOMPARE(std::ssize(one.choices), requests[i].top_logprobs < 0 ? 0 : std::ssize(one.tokens));
        QCOMPARE(answers[i].finish, one.finish);
        QCOMPARE(answers[i].timings.generated_tokens, one.timings.generated_tokens);
      }
    }
    QCOMPARE(together->load().answering + together->load().waiting, 0);
  }

  // The same with experts at different tiers, as a fixed mix has them.
  void eightOfAFixedMixSayWhatTheySayAlone_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      if (subjects[i].experts > 0) QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }
  void eightOfAFixedMixSayWhatTheySayAlone() {
    QFETCH(int, index);
    LoadOptions options = of_family(subjects[index]);
    options.precision.policy = PolicyKind::static_tiers;
    options.precision.tiers = {"file", subjects[index].low};
    options.precision.stores_folder = folder_.path().toStdString();
    options.precision.tier_map = every_second_low(folder_.path().toStdString(),
                                                  *load(of_family(subjects[index])), subjects[index].low);
    const auto alone = load(options), together = load(for_sequences(options, 8));
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 8; ++i) requests.push_back(request(i, 3 + static_cast<std::size_t>(i) * 2, 20));
    const auto [answers, most] = at_once(*together, requests);
    QVERIFY(most >= 6);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const GenerateResult one = generate(*alone, requests[i]);
      QCOMPARE(answers[i].tokens, one.tokens);
      QVERIFY(answers[i].choices == one.choices);  // bit for bit
    }
    for (const Engine* engine : {alone.get(), together.get()})
      QVERIFY(engine->precision()->hit_rate > 0.1 && engine->precision()->hit_rate < 0.9);
  }

  // A policy is told of each sequence by itself, whoever shares the passes.
  void aPolicySeesWhichSequenceUsedWhat() {
    const Subject* with_experts =
        std::ranges::find_if(subjects, [](const Subject& s) { return s.experts > 0; });
    LoadOptions options = of_family(*with_experts);
    options.precision.policy = PolicyKind::fovea;
    options.precision.tiers = {"file", with_experts->low};
    options.precision.stores_folder = folder_.path().toStdString();
    options.precision.traffic_gb_per_s = 1;
    Listener::Seen of_alone, of_together;
    const auto alone = Listener::load(options, of_alone);
    const auto together = Listener::load(for_sequences(options, 4), of_together);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 4; ++i) requests.push_back(request(i, 6, 12));
    QVERIFY(at_once(*together, requests).most > 1);
    for (const GenerateRequest& one : requests) generate(*alone, one);
    QCOMPARE(of_together.size(), requests.size());
    QVERIFY(Listener::uses(of_together) == Listener::uses(of_alone));
  }

  // Of prompts that are read beside an answer none waits for another one to be read: from when all have been
  // begun until one is done, none gets further ahead of another than a pass reads.
  void promptsTakeTurns() {
    const Subject* with_experts =
        std::ranges::find_if(subjects, [](const Subject& s) { return s.experts > 0; });
    LoadOptions options = of_family(*with_experts);
    options.precision.policy = PolicyKind::fovea;
    options.precision.tiers = {"file", with_experts->low};
    options.precision.stores_folder = folder_.path().toStdString();
    options.precision.traffic_gb_per_s = 1;
    Listener::Seen seen;
    Readings::Read read;
    auto engine = fovea::runtime::load(for_sequences(options, 4), [&](const PolicyWorld& world) {
      return fovea::Result<std::unique_ptr<Policy>>(std::make_unique<Readings>(world, seen, read));
    });
    FOVEA_VERIFY(engine);
    // While the first one's sink waits, no pass runs: so all three are there before one of them is read.
    std::vector<std::jthread> readers;
    const auto begin_reading = [&](std::string_view, const fovea::Timings&) {
      if (!readers.empty()) return;
      for (int number = 1; number <= 3; ++number)
        readers.emplace_back([&, number] {
          const auto answer = (*engine)->generate(request(number, 90, 1));
          if (!answer) qFatal("%s", answer.error().message().c_str());
        });
      while ((*engine)->load().waiting < 3) std::this_thread::yield();
    };
    FOVEA_VERIFY((*engine)->generate(request(0, 3, 60), begin_reading));
    readers.clear();
    std::map<std::uint64_t, std::int64_t> all, so_far, ahead;
    for (const auto& [sequence, tokens] : read) all[sequence] += tokens;
    std::erase_if(all, [](const auto& each) { return each.second < 200; });
    QCOMPARE(all.size(), std::size_t{3});
    std::int64_t parts = 0;
    for (const auto& [sequence, tokens] : read) {
      if (!all.contains(sequence)) continue;
      so_far[sequence] += tokens;
      if (so_far.size() < all.size()) continue;
      if (so_far[sequence] >= all[sequence]) break;
      ahead[sequence] += tokens;
      ++parts;
      std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
      for (const auto& [each, whole] : all) {
        least = std::min(least, ahead[each]);
        most = std::max(most, ahead[each]);
      }
      QVERIFY2(most - least <= options.chunk, qPrintable(QString::number(most - least)));
    }
    QVERIFY(parts >= 3);
  }

  // Whatever passes a prompt is divided into, as long as those are multiples of what recurrent layers take at
  // once.
  void aPromptIsTheSameHoweverItIsDivided_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }
  void aPromptIsTheSameHoweverItIsDivided() {
    QFETCH(int, index);
    LoadOptions options = of_family(subjects[index]);
    const bool recurrent = std::string_view(subjects[index].file).contains("qwen3");
    const auto tokens = fovea::tests::expert_model::some_tokens(300);
    const auto whole = fovea::tests::expert_model::logits(*load(options), tokens);
    for (const int chunk : recurrent ? std::vector{64} : std::vector{64, 37, 16, 2}) {
      options.chunk = chunk;
      QVERIFY2(fovea::tests::expert_model::logits(*load(options), tokens) == whole,
               qPrintable(QString::number(chunk)));
    }
  }

  // Experts on disk alone: what all sequences need of a layer is there at once.
  void expertsOnDiskServeAllSequences() {
    const Subject* with_experts =
        std::ranges::find_if(subjects, [](const Subject& s) { return s.experts > 0; });
    LoadOptions options = of_family(*with_experts);
    options.precision.policy = PolicyKind::offload;
    options.precision.stores_folder = folder_.path().toStdString();
    options.precision.traffic_gb_per_s = 1;
    options.chunk = 2;
    const auto alone = load(options);
    const auto together = load(for_sequences(options, 4));
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 4; ++i) requests.push_back(request(i, 6, 12));
    const auto [answers, most] = at_once(*together, requests);
    QVERIFY(most > 1);
    for (std::size_t i = 0; i < requests.size(); ++i)
      QCOMPARE(answers[i].tokens, generate(*alone, requests[i]).tokens);
  }

  // Each has the experts of its own first token at the highest tier, wherever it stands in a pass.
  void firstTokensOfAllSequencesAreExact_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      if (subjects[i].experts > 0) QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }
  void firstTokensOfAllSequencesAreExact() {
    QFETCH(int, index);
    const auto with_policy = [&](std::int64_t sequences, std::int64_t layers) {
      LoadOptions options = for_sequences(of_family(subjects[index]), sequences);
      options.precision.policy = PolicyKind::fovea;
      options.precision.tiers = {"file", subjects[index].low};
      options.precision.stores_folder = folder_.path().toStdString();
      options.precision.traffic_gb_per_s = 1;
      options.precision.first_token_layers = layers;
      const auto plan = fovea::plan_model(options);
      if (!plan) qFatal("%s", plan.error().message().c_str());
      options.precision.budget_bytes = plan->plan.min_bytes;  // everything is at the lower tier and stays
      return load(options);
    };
    constexpr std::int64_t all_layers = 99;
    const auto alone = with_policy(1, all_layers), together = with_policy(4, all_layers);
    const auto without = with_policy(1, 0);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 4; ++i) {
      requests.push_back(request(i, 6, 12));
      requests.back().top_logprobs = 2;
    }
    const auto [answers, most] = at_once(*together, requests);
    QVERIFY(most > 1);
    int differ = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      QVERIFY(answers[i].choices == generate(*alone, requests[i]).choices);  // bit for bit
      differ += answers[i].choices == generate(*without, requests[i]).choices ? 0 : 1;
    }
    QVERIFY(differ > 0);
  }

  // On a device whose memory the host cannot reach: the same as on its own, alone.
  void aDeviceApartAnswersAllAtOnce() {
    const fovea::kernels::Device& cpu = **fovea::runtime::chosen_device({});
    const fovea::tests::ApartDevice apart(cpu);
    const auto alone = load(chat_request());
    const auto together = fovea::runtime::load(for_sequences(chat_request(), 4), {}, {}, {}, &apart);
    FOVEA_VERIFY(together);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 4; ++i) requests.push_back(request(i, 10 + static_cast<std::size_t>(i) * 9, 40));
    requests[3].sampling.top_k = 20;  // of which the device sorts the likeliest
    const auto [answers, most] = at_once(**together, requests);
    QVERIFY(most > 1);
    for (std::size_t i = 0; i < requests.size(); ++i)
      QCOMPARE(answers[i].tokens, generate(*alone, requests[i]).tokens);
  }

  // The GPU's own kernels: beside others as alone.
  void aGpusKernelsAnswerAllAtOnce() {
    FOVEA_NEEDS_PTX;
    const auto gpu = fovea::tests::ptx::device();
    LoadOptions options = chat_request();
    const auto alone = fovea::runtime::load(options, {}, {}, {}, gpu.get());
    const auto together = fovea::runtime::load(for_sequences(options, 3), {}, {}, {}, gpu.get());
    FOVEA_VERIFY(alone);
    FOVEA_VERIFY(together);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(request(i, 5, 10));
    const auto [answers, most] = at_once(**together, requests);
    QVERIFY(most > 1);
    for (std::size_t i = 0; i < requests.size(); ++i)
      QCOMPARE(answers[i].tokens, generate(**alone, requests[i]).tokens);
  }

  // Each thread is told what ended the pass.
  void aFailedDeviceEndsAllAnswers() {
    const fovea::kernels::Device& cpu = **fovea::runtime::chosen_device({});
    const fovea::tests::ApartDevice lost(cpu);
    const auto engine = fovea::runtime::load(for_sequences(chat_request(), 3), {}, {}, {}, &lost);
    FOVEA_VERIFY(engine);
    std::atomic<int> ended = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 5; ++i)
      threads.emplace_back([&, i] {
        const auto answer =
            (*engine)->generate(request(i, 12, 200), [&](std::string_view, const auto& so_far) {
              if (so_far.generated_tokens == 5) lost.fail("the device is lost");
            });
        ended += !answer && answer.error().kind == fovea::ErrorKind::device;
      });
    threads.clear();
    QCOMPARE(ended.load(), 5);
  }

  // More than there are places for.
  void whoDoesNotFitWaits() {
    LoadOptions options = chat_request();
    const auto alone = load(options);
    const auto together = load(for_sequences(options, 3));
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 12; ++i) requests.push_back(request(i, 12, 60));
    const auto [answers, most] = at_once(*together, requests);
    QVERIFY(most > 1 && most <= 3);
    for (std::size_t i = 0; i < requests.size(); ++i)
      QCOMPARE(answers[i].tokens, generate(*alone, requests[i]).tokens);
  }

  // Three that write until the context is full share the pages of one: they begin together, give way in the
  // middle, and go on where they were.
  void whoOutgrowsItsPagesGivesWay() {
    LoadOptions options = of_family(subjects[1]);
    options.context = 1400;
    const auto alone = load(options);
    options.sequences = 3;
    const auto together = load(options);
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(request(2 * i, 12, -1));
    const auto [answers, most] = at_once(*together, requests);
    QVERIFY(most > 1);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const GenerateResult one = generate(*alone, requests[i]);
      QCOMPARE(answers[i].tokens, one.tokens);
      QCOMPARE(answers[i].finish, one.finish);
      tokens += one.tokens.size();
    }
    QVERIFY2(tokens > 2 * 1400, qPrintable(QString::number(tokens)));  // more than the pages hold
  }

  // In the middle of an answer, by the thread that runs the passes, and before its turn comes; the others go
  // on.
  void eachIsCancelledByItself() {
    const auto alone = load(chat_request());
    const auto together = load(for_sequences(chat_request(), 2));
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 5; ++i) requests.push_back(request(2 * i + 1, 12, 60));
    std::vector<GenerateResult> results(requests.size());
    std::stop_source first, last;
    std::atomic<bool> runs = false;  // the first, which no other can run any more
    const auto ask = [&](std::size_t i, const fovea::TextSink& sink, std::stop_token stop) {
      auto result = together->generate(requests[i], sink, {}, std::move(stop));
      if (!result) qFatal("%s", result.error().message().c_str());
      results[i] = *std::move(result);
    };
    last.request_stop();
    {
      std::vector<std::jthread> threads;
      threads.emplace_back([&] {
        ask(
            0,
            [&](std::string_view, const fovea::Timings& so_far) {
              runs = true;
              const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
              while (together->load().waiting + together->load().answering < 3 &&
                     std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
              if (so_far.generated_tokens >= 3) first.request_stop();
            },
            first.get_token());
      });
      while (!runs) std::this_thread::yield();
      for (std::size_t i = 1; i < requests.size(); ++i)
        threads.emplace_back([&, i] { ask(i, {}, i == 4 ? last.get_token() : std::stop_token()); });
    }
    QCOMPARE(results[0].finish, FinishReason::cancelled);
    QVERIFY(results[0].tokens.size() >= 3 && results[0].tokens.size() < 10);
    QCOMPARE(results[4].finish, FinishReason::cancelled);
    QVERIFY(results[4].tokens.empty());
    for (std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{3}})
      QCOMPARE(results[i].tokens, generate(*alone, requests[i]).tokens);
    const GenerateResult whole = generate(*alone, requests[0]);
    QVERIFY(std::equal(results[0].tokens.begin(), results[0].tokens.end(), whole.tokens.begin()));
  }

  // What a sink throws ends its own answer alone.
  void aSinkThatThrowsEndsItsOwnAnswer() {
    const auto alone = load(chat_request());
    const auto together = load(for_sequences(chat_request(), 2));
    for (int round = 0; round < 5; ++round) {
      bool refused = false;
      GenerateResult other;
      {
        const std::jthread throws([&] {
          const auto result =
              together->generate(request(1, 12, 60), [](std::string_view, const auto& so_far) {
                if (so_far.generated_tokens >= 3) throw std::bad_alloc();
              });
          refused = !result && result.error().kind == fovea::ErrorKind::memory;
        });
        const std::jthread goes_on([&] { other = generate(*together, request(3, 12, 60)); });
      }
      QVERIFY(refused);
      QCOMPARE(other.tokens, generate(*alone, request(3, 12, 60)).tokens);
    }
    QCOMPARE(together->load().answering + together->load().waiting, 0);
  }

  // Sinks are called on the thread that asks, in order, with everything.
  void eachThreadHearsItsOwnAnswer() {
    const auto engine = load(for_sequences(chat_request(), 4));
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const auto me = std::this_thread::get_id();
        std::string heard;
        std::int64_t progress = -1;
        const auto result = engine->generate(
            request(i, 20, 30),
            [&](std::string_view text, const fovea::Timings&) {
              heard += text;
              wrong += std::this_thread::get_id() != me;
            },
            [&](const fovea::Progress& p) {
              wrong += std::this_thread::get_id() != me || p.done < progress;
              progress = p.done;
            });
        wrong += !result || heard != result->text || progress != result->timings.prompt_tokens;
      });
    threads.clear();
    QCOMPARE(wrong.load(), 0);
  }

  // Other calls come between passes and see whole ones.
  void otherCallsWaitForTheirTurn() {
    const auto engine = load(for_sequences(chat_request(), 2));
    const auto wanted =
        fovea::tests::expert_model::logits(*engine, std::vector<fovea::TokenId>{1, 2, 3, 4, 5});
    const GenerateResult expected = generate(*engine, request(1, 12, 60));
    std::jthread other([&] {
      for (int i = 0; i < 5; ++i)
        if (generate(*engine, request(1, 12, 60)).tokens != expected.tokens) qFatal("another answer");
    });
    for (int i = 0; i < 20; ++i)
      QVERIFY(fovea::tests::expert_model::logits(*engine, std::vector<fovea::TokenId>{1, 2, 3, 4, 5}) ==
              wanted);
  }

  void sequencesBeyondTheLimitAreRefused() {
    for (const std::int64_t sequences : {0, 9}) {
      LoadOptions options = chat_request();
      options.sequences = sequences;
      const auto engine = Engine::load(options);
      QVERIFY(!engine);
      QCOMPARE(engine.error().kind, fovea::ErrorKind::invalid);
      QVERIFY(engine.error().message().find("sequences") != std::string::npos);
    }
  }

  // A slice fills what a pass may take, in whole units, at least one.
  void slicesAreAsLongAsAPassMayBe() {
    SliceLength slice(16, 512);
    QCOMPARE(slice.tokens(), 16);
    slice.learn(0.02, 0);
    slice.learn(0.02 + 16 * 0.0005, 16);
    QCOMPARE(slice.tokens(), 112);                     // (0.08 − 0.02) / 0.0005 = 120
    for (int i = 0; i < 60; ++i) slice.learn(0.4, 0);  // a large model: 2.5 times a pass without
    for (int i = 0; i < 60; ++i) slice.learn(0.4 + 64 * 0.005, 64);
    QCOMPARE(slice.tokens(), 112);  // 1.5 · 0.4 / 0.005 = 120
    for (int i = 0; i < 60; ++i) slice.learn(4, 16);
    QCOMPARE(slice.tokens(), 16);
    for (int i = 0; i < 60; ++i) slice.learn(0.4, 16);  // free
    QCOMPARE(slice.tokens(), 512);
  }
};

FOVEA_TEST(BatchTest)
#include "batch_test.moc"
