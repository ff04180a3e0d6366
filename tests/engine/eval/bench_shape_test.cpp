// A shape as a model: its weights' bytes are the shape's, its routing is the given one, and what cannot be
// run is refused.
#include "engine/api/bench_shape.h"

#include <fstream>

#include "engine/eval/bench_policy.h"
#include "engine/eval/bench_shape_on.h"
#include "engine/eval/decorated_device.h"
#include "engine/eval/synthetic_model.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"

using namespace fovea;

namespace {

constexpr const char* small_shape = R"({"layers": 2, "hidden": 128, "heads": 4, "kv_heads": 2, "head_dim": 32,
  "vocabulary": 256, "context": 512, "experts": 8, "experts_used": 2, "expert_width": 64, "qk_norm": true})";

const kernels::Device& cpu() {
  return **runtime::chosen_device({});
}

// An engine in which always the same two experts compute.
class Made {
 public:
  Made(const eval::NamedShape& shape, std::int32_t first, std::int32_t second, const kernels::Device& inner,
       std::int64_t host_layers = 0)
      : device_(inner), processor_(cpu()) {
    auto made = eval::synthetic_model(shape, {}, 5);
    auto checkpoint = checkpoint::synthetic_checkpoint(*made);
    const auto routing = [this, first, second](std::int64_t tokens) {
      ids_.clear();
      for (std::int64_t i = 0; i < 2 * tokens; ++i) ids_.insert(ids_.end(), {first, second});
      return ids_.data();
    };
    if (!device_.choose({.routing = routing,
                         .layers = 2,
                         .used = 2,
                         .max_tokens = 4,
                         .host_reads_them = host_layers > 0}))
      qFatal("no memory");
    LoadOptions request;
    request.model = "made";
    request.context = 64;
    request.chunk = 4;
    request.threads = 2;
    request.need_tokenizer = false;
    request.precision.offload.cpu_moe_layers = host_layers;
    auto loaded = runtime::load(request, {.checkpoint = *std::move(checkpoint), .processor = &processor_}, {},
                                {}, {}, device_, [this](layers::Forward& made) { forward = &made; });
    if (!loaded) qFatal("%s", loaded.error().message().c_str());
    engine_ = *std::move(loaded);
  }
  void leave_out(eval::DecoratedDevice::Part part) {
    device_.leave_out(part);
    processor_.leave_out(part);
    forward->forget_graphs();
  }
  layers::Forward* forward = nullptr;
  Engine& engine() { return *engine_; }

  // Of some tokens.
  std::vector<float> logits() {
    std::vector<float> all;
    const std::vector<TokenId> tokens{3, 1, 4, 1, 5, 9, 2};
    const auto done = engine_->logits(tokens, [&](std::int64_t, std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    if (!done) qFatal("%s", done.error().message().c_str());
    return all;
  }

 private:
  std::vector<std::int32_t> ids_;
  eval::DecoratedDevice device_, processor_;
  std::unique_ptr<Engine> engine_;
};

std::vector<float> logits_with(const eval::NamedShape& shape, std::int32_t first, std::int32_t second,
                               const kernels::Device& device) {
  return Made(shape, first, second, device).logits();
}

}  // namespace

class BenchShapeTest : public QObject {
  Q_OBJECT

  tests::TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "small.json").string();

 private Q_SLOTS:
  void initTestCase() { std::ofstream(file_) << small_shape; }

  void theGivenExpertsCompute() {
    const auto shape = eval::read_shape(file_);
    FOVEA_VERIFY(shape);
    const auto logits = logits_with(*shape, 0, 1, cpu());
    QCOMPARE(logits.size(), std::size_t{7 * 256});
    for (const float each : logits) QVERIFY(std::isfinite(each));
    QVERIFY(logits == logits_with(*shape, 0, 1, cpu()));
    QVERIFY(logits != logits_with(*shape, 6, 7, cpu()));
    // On a device whose memory the host cannot touch: the same bits.
    const tests::ApartDevice apart(cpu());
    QVERIFY(logits == logits_with(*shape, 0, 1, apart));
    QCOMPARE(apart.allocated(), 0);
    // Beside it the processor computes what is chosen, too.
    QVERIFY(logits == Made(*shape, 0, 1, apart, 1).logits());
  }

  // As graphs, too: a part that is left out is not computed, and afterwards everything is again.
  void leavesPartsOutForAWhile() {
    using enum eval::DecoratedDevice::Part;
    const auto shape = eval::read_shape(file_);
    FOVEA_VERIFY(shape);
    const tests::ApartDevice apart(cpu());
    Made made(*shape, 2, 5, apart);
    const std::vector<float> before = made.logits();
    const int steps = 5;
    // Two layers of the context's pass, and of each step but the first …
    const auto computed = [&](eval::DecoratedDevice::Part part) {
      made.leave_out(part);
      const int first = apart.feed_forwards().done, launched = apart.graphs().launched;
      if (!made.engine().time_decode(4, steps)) qFatal("no steps");
      // … which is done by pieces, as graphs.
      if (apart.graphs().launched - launched != steps - 1) qFatal("no graphs");
      return apart.feed_forwards().done - first;
    };
    QCOMPARE(computed(none), 2 + 2 * steps);
    QCOMPARE(computed(experts), 0);
    QCOMPARE(computed(attention), 2 + 2 * steps);
    QVERIFY(before != made.logits());
    QCOMPARE(computed(linear), 2 + 2 * steps);
    made.leave_out(none);
    QVERIFY(before == made.logits());
  }

  void measuresEachLength() {
    const auto result = bench_shape({.shape = file_,
                                     .threads = 2,
                                     .contexts = {8, 100},
                                     .prompts = {16},
                                     .generated_tokens = 3,
                                     .repetitions = 2});
    FOVEA_VERIFY(result);
    QCOMPARE(result->model, std::string("small"));
    QCOMPARE(result->decode.size(), std::size_t{2});
    QCOMPARE(result->decode[1].length, std::int64_t{100});
    QCOMPARE(result->prefill.size(), std::size_t{1});
    for (const LengthResult& each : result->decode) {
      QVERIFY(each.speed.tokens_per_second.median > 0 && each.speed.ceiling_share > 0);
      QVERIFY(each.token_ms.median > 0 && each.token_ms.median <= each.token_ms.p99);
      std::vector<std::string> names;
      for (const StepPart& part : each.parts) names.push_back(part.name);
      QCOMPARE(names, (std::vector<std::string>{"experts", "attention", "linear layers", "the rest"}));
      QVERIFY(std::ranges::find(names, each.limited_by) != names.end());
      // Float16 keys and values of two heads of 32, in two layers, behind three tokens of which one is there.
      QCOMPARE(each.parts[1].bytes, (each.length + 1) * 2 * 2 * 2 * 2 * 32);
      QCOMPARE(each.parts[0].bytes, kernels::row_bytes(kernels::Type::q4_f, 2 * 2 * 3 * 128 * 64));
      QCOMPARE(each.parts[0].bytes + each.parts[2].bytes, result->bytes_per_token);
    }
    QVERIFY(result->bandwidth_is_measured && result->link_gb_per_s > 0);
    // Read for a token: q8 of 34/32 bytes a weight for attention and output, an embedding's row, routers of
    // two bytes, q4 of the experts used, and the norms.
    const std::int64_t attention = 2 * (128 * 128 * 2 + 128 * 64 * 2), output = 256 * 128;
    const std::int64_t experts = 2 * 2 * 3 * 128 * 64, routers = 2 * 8 * 128;
    const std::int64_t norms = 4 * (5 * 128 + 2 * 2 * 32);
    const std::int64_t q4 = kernels::row_bytes(kernels::Type::q4_f, experts);
    QCOMPARE(result->bytes_per_token, (attention + output + 128) * 34 / 32 + 2 * routers + q4 + norms);
  }

  // Beside a device whose memory is its own, the processor has the first layer's experts: what each side
  // reads for a token is told apart, and each length is measured by graphs, which are cut there, and in
  // single calls.
  void measuresAPartLeftToTheProcessor() {
    ShapeBenchSettings settings{.shape = file_,
                                .threads = 2,
                                .contexts = {8},
                                .prompts = {16},
                                .generated_tokens = 4,
                                .repetitions = 1};
    const tests::ApartDevice apart(cpu());
    const auto whole = eval::bench_shape_on(apart, settings);
    FOVEA_VERIFY(whole);
    QVERIFY(whole->host_bytes_per_token == 0 && whole->host_gb_per_s == 0);
    settings.offload.cpu_moe_layers = 1;
    const auto result = eval::bench_shape_on(apart, settings);
    FOVEA_VERIFY(result);
    const std::int64_t of_layer = kernels::row_bytes(kernels::Type::q4_f, 2 * 3 * 128 * 64);
    QCOMPARE(result->host_bytes_per_token, of_layer);
    QCOMPARE(result->bytes_per_token, whole->bytes_per_token);
    QCOMPARE(result->memory.host_weights, of_layer * 8 / 2);
    QVERIFY(result->host_gb_per_s > 0);
    const LengthResult& decode = result->decode.front();
    QCOMPARE(decode.parts[0].bytes, of_layer);
    QVERIFY(decode.speed.tokens_per_second.median > 0 && decode.pieces_ms.median > 0);
    QVERIFY(decode.pieces_ms.median <= decode.pieces_ms.p99);
    QVERIFY(result->prefill.front().speed.tokens_per_second.median > 0);
    // Nothing to leave it to, and experts that move.
    QCOMPARE(eval::bench_shape_on(cpu(), settings).error().kind, ErrorKind::invalid);
    settings.low_tier = "q2";
    settings.budget_bytes = std::int64_t{1} << 30;
    QCOMPARE(eval::bench_shape_on(apart, settings).error().kind, ErrorKind::invalid);
  }

  // A tier within a budget: the least that the planner names holds it, a byte less does not.
  void keepsOneTierWithinABudget() {
    ShapeBenchSettings settings{.shape = file_,
                                .threads = 2,
                                .contexts = {8},
                                .prompts = {16},
                                .generated_tokens = 3,
                                .repetitions = 1};
    settings.budget_bytes = 1;
    const auto small = bench_shape(settings);
    QVERIFY(!small);
    QCOMPARE(small.error().kind, ErrorKind::memory);
    settings.budget_bytes = small.error().number("least").value_or(0);
    const auto result = bench_shape(settings);
    FOVEA_VERIFY(result);
    QCOMPARE(result->budget_bytes, settings.budget_bytes);
    QVERIFY(result->accounted_bytes > 0 && result->accounted_bytes <= settings.budget_bytes);
    QCOMPARE(result->decode.size() + result->prefill.size(), std::size_t{2});
    --settings.budget_bytes;
    QCOMPARE(bench_shape(settings).error().kind, ErrorKind::memory);
  }

  void measuresMovingExperts_data() {
    QTest::addColumn<PolicyKind>("policy");
    QTest::newRow("dynaexq") << PolicyKind::dynaexq;
    QTest::newRow("fovea") << PolicyKind::fovea;
  }
  // In turns: nothing moves, the policy decides, experts change places; within the budget all the time.
  void measuresMovingExperts() {
    QFETCH(const PolicyKind, policy);
    ShapeBenchSettings settings{.shape = file_,
                                .low_tier = "q2",
                                .threads = 2,
                                .contexts = {8},
                                .prompts = {},
                                .generated_tokens = 40,
                                .repetitions = 2};
    settings.policy = policy;
    settings.traffic_gb_per_s = 10;
    settings.budget_bytes = 1;
    const auto small = bench_shape(settings);
    QVERIFY(!small);
    QCOMPARE(small.error().kind, ErrorKind::memory);
    settings.budget_bytes = small.error().number("least").value_or(0) + 100'000;
    const auto result = bench_shape(settings);
    FOVEA_VERIFY(result);
    QVERIFY(result->moving);
    const MovingResult& moving = *result->moving;
    QVERIFY(moving.high_per_layer >= 1 && moving.high_per_layer < 8);
    QVERIFY(moving.mean_bits_per_weight > 2.25 && moving.mean_bits_per_weight < 4.5);
    QVERIFY(moving.accounted_bytes <= moving.budget_bytes);
    // How many experts change places is the machine's doing; what asks them to is tested below.
    QVERIFY(moving.promotions >= 0 && moving.demotions >= 0 && moving.read_gb_per_s >= 0);
    QVERIFY(moving.flood_gb_per_s >= 0 && result->link_gb_per_s > 0);
    QVERIFY(moving.hit_rate > 0 && moving.hit_rate < 1);
    QVERIFY(result->decode.empty() && result->prefill.empty());
    for (const LengthResult* each : {&moving.quiet, &moving.idle, &moving.storm, &moving.live}) {
      QVERIFY(each->speed.tokens_per_second.median > 0);
      QVERIFY(each->token_ms.p99 >= each->token_ms.median);
    }
    QCOMPARE(moving.storm_p99_over_median, moving.storm.token_ms.p99 / moving.storm.token_ms.median);
  }

  // Quiet: the policy is not asked; idle: it is, and nothing comes of it; storm: a pair for each pass; live:
  // as it decides; flood: what may be under way.
  void theModesMoveWhatTheySay() {
    struct Counts {
      int observed = 0, proposed = 0;
    };
    class Counting final : public precision::Policy {
     public:
      explicit Counting(Counts& counts) : counts_(counts) {}
      std::string_view name() const override { return "counting"; }
      std::vector<std::uint8_t> initial() const override { return {0, 1, 1, 1, 0, 1}; }
      void observe(const precision::Observation&) override { ++counts_.observed; }
      void propose(std::span<const std::uint8_t>, std::int32_t,
                   std::vector<precision::Decision>& decisions) override {
        ++counts_.proposed;
        decisions.push_back({.unit = 1, .target = 0});
      }
      std::span<const float> hotness() const override { return {}; }

     private:
      Counts& counts_;
    };
    Counts counts;
    precision::PolicyWorld world;
    world.bits_per_weight = {4.5, 2.25};
    const auto mode = std::make_shared<std::atomic<eval::BenchMode>>(eval::BenchMode::quiet);
    world.spare_blocks = 2;
    eval::BenchPolicy policy(world, std::make_unique<Counting>(counts), mode, 64);
    const std::vector<std::uint8_t> tiers = policy.initial();
    QCOMPARE(tiers, (std::vector<std::uint8_t>{0, 1, 1, 1, 0, 1}));
    const auto pass = [&] {
      std::vector<precision::Decision> decisions;
      policy.observe({});
      policy.propose(tiers, 0, decisions);
      return decisions;
    };
    QVERIFY(pass().empty());
    QVERIFY(counts.observed == 0 && counts.proposed == 0);
    *mode = eval::BenchMode::idle;
    QVERIFY(pass().empty());
    QVERIFY(counts.observed == 1 && counts.proposed == 1);
    *mode = eval::BenchMode::storm;
    const auto pair = pass();
    QCOMPARE(pair.size(), std::size_t{2});
    QVERIFY(tiers[static_cast<std::size_t>(pair[0].unit)] == 1 && pair[0].target == 0);
    QVERIFY(tiers[static_cast<std::size_t>(pair[1].unit)] == 0 && pair[1].target == 1);
    QVERIFY(counts.observed == 1 && counts.proposed == 1);
    *mode = eval::BenchMode::live;
    QCOMPARE(pass().size(), std::size_t{1});
    QVERIFY(counts.observed == 2 && counts.proposed == 2);
    *mode = eval::BenchMode::flood;
    QCOMPARE(pass().size(), std::size_t{4});  // of two spare blocks, one for each of a pair
    QVERIFY(counts.observed == 2 && counts.proposed == 2);
    std::vector<precision::Decision> decisions;
    policy.propose(tiers, 3, decisions);
    QVERIFY(decisions.empty());
  }

  void refuses_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("says");
    QTest::newRow("no JSON") << QStringLiteral("}") << QStringLiteral("not a JSON object");
    QTest::newRow("no layers") << QStringLiteral(R"("layers": 0, "x": 1)") << QStringLiteral("layers is 0");
    QTest::newRow("a text") << QStringLiteral(R"("layers": "2")") << QStringLiteral("layers is missing");
  }
  void refuses() {
    QFETCH(QString, change);
    QFETCH(QString, says);
    const std::string path = (folder_.path() / "wrong.json").string();
    QString text = QString::fromLatin1(small_shape);
    std::ofstream(path) << text.replace(QStringLiteral("\"layers\": 2"), change).toStdString();
    const auto result = bench_shape({.shape = path});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::format);
    QVERIFY2(result.error().message().contains(says.toStdString()), result.error().message().c_str());
  }

  void refusesWhatItDoesNotRun() {
    const auto result = bench_shape({.shape = "qwen3-next-80b-a3b"});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::unsupported);
    QCOMPARE(bench_shape({.shape = "no-such-shape"}).error().kind, ErrorKind::not_found);
    QCOMPARE(bench_shape({.shape = file_, .tier = "file"}).error().kind, ErrorKind::invalid);
  }
};

FOVEA_TEST(BenchShapeTest)
#include "bench_shape_test.moc"
