// How many experts each tier holds follows what a real engine uses: the versions lie where its arena has
// room, and what it computes is what these tiers compute that were never anywhere else.
#include <fstream>

#include "engine/eval/synthetic_model.h"
#include "engine/precision/fovea_policy.h"
#include "engine/precision/synthetic_versions.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

constexpr std::int64_t made_layers = 2, made_experts = 64;
// Versions of 13, 7 and 4 pages: none is a multiple of another.
constexpr const char* made_shape = R"({"layers": 2, "hidden": 128, "heads": 4, "kv_heads": 2, "head_dim": 32,
  "vocabulary": 256, "context": 2048, "experts": 64, "experts_used": 4, "expert_width": 128, "qk_norm": true})";
const std::vector<std::string> made_tiers{"q8", "q4", "q2"};

const kernels::Device& processor() {
  return **runtime::chosen_device({});
}

struct Seen {
  std::vector<std::uint8_t> tiers = {};  // published or in flight
  std::int32_t in_flight = 0;
  bool still = false;  // nothing is proposed any more
};

// fovea, until it shall be still.
class Stoppable final : public precision::Policy {
 public:
  Stoppable(std::unique_ptr<precision::Policy> fovea, std::shared_ptr<Seen> seen)
      : fovea_(std::move(fovea)), seen_(std::move(seen)) {}
  std::string_view name() const override { return fovea_->name(); }
  std::vector<std::uint8_t> initial() const override { return fovea_->initial(); }
  void observe(const precision::Observation& observation) override { fovea_->observe(observation); }
  void propose(std::span<const std::uint8_t> now, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override {
    seen_->tiers.assign(now.begin(), now.end());
    seen_->in_flight = in_flight;
    if (!seen_->still) fovea_->propose(now, in_flight, decisions);
  }
  std::span<const float> hotness() const override { return fovea_->hotness(); }

 private:
  std::unique_ptr<precision::Policy> fovea_;
  std::shared_ptr<Seen> seen_;
};

std::vector<TokenId> made_tokens(std::int64_t count, TokenId of) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>((i * i + i) % 3 + of);
  return tokens;
}

std::vector<float> logits(Engine& engine, std::span<const TokenId> tokens) {
  std::vector<float> all;
  const auto done = engine.logits(tokens, [&](std::int64_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  });
  if (!done) qFatal("%s", done.error().message().c_str());
  return all;
}

std::vector<std::int64_t> counts(std::span<const std::uint8_t> of) {
  std::vector<std::int64_t> found(made_tiers.size());
  for (const std::uint8_t tier : of) ++found[tier];
  return found;
}

}  // namespace

class AnyMixTest : public QObject {
  Q_OBJECT

 private:
  const tests::TemporaryFolder folder_;
  eval::NamedShape shape_;

  LoadOptions request(PolicyKind policy) const {
    LoadOptions request;
    request.model = "made";
    request.context = 512;
    request.chunk = 8;
    request.threads = 2;
    request.need_tokenizer = false;
    request.precision.policy = policy;
    request.precision.tiers = made_tiers;
    request.precision.traffic_gb_per_s = 1;  // not measured
    request.precision.publish_after_passes = 1;
    request.precision.first_token_layers = 0;  // a first token has others, whatever stands where
    request.precision.fovea.numbers_interval_tokens = 16;
    return request;
  }

  Result<std::unique_ptr<Engine>> load(const LoadOptions& request, const runtime::PolicyMaker& policy) const {
    FOVEA_TRY(const auto made, eval::synthetic_model(shape_, {}, 5));
    FOVEA_TRY(auto checkpoint, checkpoint::synthetic_checkpoint(made));
    const auto versions = [](const precision::UnitPlan& units) {
      return std::make_unique<precision::SyntheticVersions>(units.units, units.tiers, processor(), 5);
    };
    return runtime::load(request, {.checkpoint = std::move(checkpoint), .versions = versions}, policy, {}, {},
                         processor());
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::filesystem::path file = folder_.path() / "made.json";
    std::ofstream(file) << made_shape;
    auto read = eval::read_shape(file.string());
    FOVEA_VERIFY(read);
    shape_ = *std::move(read);
  }

  void numbersFollowTheWork() {
    LoadOptions moving = request(PolicyKind::fovea);
    moving.precision.budget_bytes = 1;
    const auto small = load(moving, {});
    QVERIFY(!small);
    // Room for a quarter of what q8 takes more than q2, over what all at q2 take.
    constexpr std::int64_t page = 4096;
    moving.precision.budget_bytes =
        small.error().number("least").value_or(0) + made_layers * made_experts * 9 * page / 4;
    const auto seen = std::make_shared<Seen>();
    std::int64_t any_mix = 0;
    const auto fovea = [&](precision::PolicyWorld world) -> Result<std::unique_ptr<precision::Policy>> {
      any_mix = world.any_mix_bytes;
      // A page gains as much between q4 and q2 as between q8 and q4, so that what is used most goes to q8.
      for (std::int64_t unit = 0; unit < made_layers * made_experts; ++unit)
        world.damage.insert(world.damage.end(), {0, 6.F / 9, 1});
      std::vector<precision::TierId> first;
      for (std::size_t tier = 0; tier < world.capacity.size(); ++tier)
        first.insert(first.end(), static_cast<std::size_t>(world.capacity[tier]),
                     static_cast<precision::TierId>(tier));
      FOVEA_TRY(auto policy, precision::make_fovea(world, moving.precision.fovea, std::move(first)));
      return std::make_unique<Stoppable>(std::move(policy), seen);
    };
    auto loaded = load(moving, fovea);
    FOVEA_VERIFY(loaded);
    Engine& engine = **loaded;
    QVERIFY(any_mix > 0);
    logits(engine, made_tokens(8, 0));
    const auto begun = counts(seen->tiers);
    bool changed = false;
    for (TokenId of = 0; of < 250 && !changed; of += 5) {
      logits(engine, made_tokens(64, of));
      changed = counts(seen->tiers) != begun;
    }
    QVERIFY(changed);
    seen->still = true;
    const std::vector<TokenId> text = made_tokens(40, 100);
    do {
      logits(engine, text);
    } while (seen->in_flight > 0);
    const std::vector<float> moved = logits(engine, text);
    const PrecisionUse use = *engine.precision();
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    QVERIFY(use.promotions > 0 && use.demotions > 0);
    QCOMPARE(use.swaps_failed, 0);

    const std::filesystem::path map = folder_.path() / "tiers";
    std::ofstream lines(map);
    for (std::int64_t unit = 0; unit < made_layers * made_experts; ++unit)
      lines << "blk." << unit / made_experts << ".expert." << unit % made_experts << ' '
            << made_tiers[seen->tiers[static_cast<std::size_t>(unit)]] << '\n';
    lines.close();
    LoadOptions fixed = request(PolicyKind::static_tiers);
    fixed.precision.tier_map = map;
    fixed.precision.fovea = {};
    fixed.precision.publish_after_passes = -1;
    auto still = load(fixed, {});
    FOVEA_VERIFY(still);
    QVERIFY(logits(**still, text) == moved);
  }
};

FOVEA_TEST(AnyMixTest)
#include "any_mix_test.moc"
