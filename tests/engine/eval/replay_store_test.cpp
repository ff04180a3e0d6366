// Replays with a store's measured damages, and the tier map that a session's trace gives.
#include <array>
#include <cmath>
#include <fstream>

#include "engine/checkpoint/store.h"
#include "engine/eval/replay.h"
#include "engine/precision/tier_map.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::eval;
using checkpoint::Extent;
using checkpoint::StoreIdentity;
using checkpoint::StoreWriter;

namespace {

constexpr int units = 8;  // two layers of four
constexpr std::array<std::int64_t, 2> sizes{65536, 32768};

// Harm of q4 at each unit: the square of the output's error.
Result<void> write_store(const std::filesystem::path& path, const std::array<float, units>& error,
                         const std::string& scope = "experts") {
  const StoreIdentity identity{.packing = "p", .scope = scope, .tiers = {"q8", "q4"}, .units = units};
  std::vector<std::int64_t> bytes;
  for (int unit = 0; unit < units; ++unit) bytes.insert(bytes.end(), sizes.begin(), sizes.end());
  auto writer = StoreWriter::create(path, identity, bytes);
  if (!writer) return std::unexpected(writer.error());
  const std::vector<std::byte> content(sizes[0], std::byte{1});
  for (std::int64_t unit = 0; unit < units; ++unit) {
    for (std::size_t tier = 0; tier < 2; ++tier) {
      Extent extent;
      extent.output_error = tier == 0 ? 0 : error[static_cast<std::size_t>(unit)];
      auto written = writer->write(unit, static_cast<std::int64_t>(tier),
                                   std::span(content).first(static_cast<std::size_t>(sizes[tier])), extent);
      if (!written) return written;
    }
  }
  return writer->finish();
}

// One token chooses two experts of each layer with these weights; `passes` times.
Result<void> write_trace(const std::filesystem::path& path, int passes) {
  TraceWriter writer({.model = "m",
                      .used = 2,
                      .layers = {{.layer = 0, .experts = 4, .parameters = 65536, .file_bytes = 65536},
                                 {.layer = 2, .experts = 4, .parameters = 65536, .file_bytes = 65536}}});
  std::string bytes;
  writer.begin(bytes);
  const TracePass pass{.tokens = 1,
                       .prefill = false,
                       .entropy = -1,
                       .routed = {1, 1},
                       .uses = {{.unit = 0, .tokens = 1, .gate_sum = 0.75F},
                                {.unit = 1, .tokens = 1, .gate_sum = 0.25F},
                                {.unit = 5, .tokens = 1, .gate_sum = 0.5F},
                                {.unit = 6, .tokens = 1, .gate_sum = 0.5F}}};
  for (int i = 0; i < passes; ++i) writer.pass(pass, bytes);
  writer.end(bytes);
  std::ofstream(path, std::ios::binary) << bytes;
  return {};
}

}  // namespace

class ReplayStoreTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<fovea::tests::TemporaryFolder>();
    FOVEA_VERIFY(write_trace(folder_->path() / "t", 20));
    // Use × harm: 0.75 · 0.01, 0.25 · 0.16, 0.5 · 0.0001, 0.5 · 0.04; units that are not used harm nobody.
    FOVEA_VERIFY(write_store(folder_->path() / "s", {0.1F, 0.4F, 0.9F, 0.9F, 0.9F, 0.01F, 0.2F, 0.9F}));
    request_ = {.trace = folder_->path() / "t",
                .synthetic = {},
                .policy = PolicyKind::static_tiers,
                .store = folder_->path() / "s",
                .high_share = 0.25,  // one of four: two in all
                .tier_map = reference_hindsight};
  }

  void harmDecidesWhatIsHigh() {
    const auto report = replay(request_);
    FOVEA_VERIFY(report);
    QCOMPARE(report->tiers.size(), std::size_t{2});
    QCOMPARE(report->tiers[1].name, "q4");
    const ReplayRow& best = report->rows[2];
    QCOMPARE(best.name, reference_hindsight);
    QCOMPARE(best.bytes, 2 * sizes[0] + 6 * sizes[1]);
    QVERIFY(std::abs(best.loss - (0.0075 + 0.00005) / (0.0075 + 0.04 + 0.00005 + 0.02)) < 1e-3);
    const std::array<std::string, units> names{"blk.0.expert.0", "blk.0.expert.1", "blk.0.expert.2",
                                               "blk.0.expert.3", "blk.2.expert.0", "blk.2.expert.1",
                                               "blk.2.expert.2", "blk.2.expert.3"};
    const std::array<std::string, 2> tiers{"q8", "q4"};
    const auto map = precision::parse_tier_map(report->tier_map, "map", names, tiers);
    FOVEA_VERIFY(map);
    QCOMPARE(*map, (std::vector<std::uint8_t>{1, 0, 1, 1, 1, 1, 0, 1}));
    // By bits alone the most used ones stand high: another answer.
    request_.store.clear();
    request_.tiers = {"q8", "q4"};
    const auto by_bits = replay(request_);
    FOVEA_VERIFY(by_bits);
    QVERIFY(by_bits->tier_map.find("blk.0.expert.0 q8") != std::string::npos);
  }

  // Six units' worth more than all low ones need is room for some, and the map fits the arena.
  void aBudgetHasAMap() {
    request_.high_share = 0;
    request_.budget_bytes = 8 * sizes[1] + 3 * sizes[1];
    const auto report = replay(request_);
    FOVEA_VERIFY(report);
    QVERIFY(report->rows.front().bytes <= request_.budget_bytes);
    QVERIFY(report->rows.front().bytes > 8 * sizes[1]);
    QVERIFY(report->tier_map.find("blk.0.expert.1 q8") != std::string::npos);
    request_.budget_bytes = 7 * sizes[1];
    QCOMPARE(replay(request_).error().kind, ErrorKind::memory);
  }

  void aTierThatTheStoreDoesNotHold() {
    request_.tiers = {"q8", "q2"};
    const auto report = replay(request_);
    QVERIFY(!report);
    QCOMPARE(report.error().kind, ErrorKind::invalid);
    QVERIFY(report.error().message().find("q2") != std::string::npos);
  }

  void anotherModelsStore() {
    FOVEA_VERIFY(write_store(folder_->path() / "l", {}, "linear_layers"));
    request_.store = folder_->path() / "l";
    QCOMPARE(replay(request_).error().kind, ErrorKind::invalid);
    request_.store = folder_->path() / "none";
    QCOMPARE(replay(request_).error().kind, ErrorKind::not_found);
  }

 private:
  std::unique_ptr<fovea::tests::TemporaryFolder> folder_;
  ReplayRequest request_;
};
FOVEA_TEST(ReplayStoreTest)

#include "replay_store_test.moc"
