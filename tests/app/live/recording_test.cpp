#include "app/live/recording.h"

#include <QBuffer>
#include <cmath>

#include "tests/app/live/sessions.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

SnapshotRing small_session() {
  SnapshotRing ring;
  tests::SessionShape shape;
  shape.seconds = 12;
  const auto played =
      tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        ring.add(snapshot, seconds);
        return {};
      });
  if (!played) qFatal("%s", played.error().message().c_str());
  return ring;
}

// A file on a disk that fails behind its beginning.
class FailingFile : public QIODevice {
 public:
  explicit FailingFile(QByteArray beginning) : beginning_(std::move(beginning)) {
    open(QIODevice::ReadOnly | QIODevice::Unbuffered);
  }
  qint64 size() const override { return 2 * beginning_.size(); }

 protected:
  qint64 readData(char* data, qint64 most) override {
    const qint64 count = std::min<qint64>(most, beginning_.size() - pos());
    if (count <= 0) {
      setErrorString(QStringLiteral("the disk fails"));
      return -1;
    }
    std::copy_n(beginning_.constData() + pos(), count, data);
    return count;
  }
  qint64 writeData(const char*, qint64) override { return -1; }

 private:
  QByteArray beginning_;
};

}  // namespace

class RecordingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comesBack() {
    const SnapshotRing ring = small_session();
    LiveModel model;
    model.name = QStringLiteral("a model");
    model.policy = PolicyKind::dynaexq;
    model.experts_used = 8;
    model.cards = {{.name = "RTX 5090", .rows = 20}, {.name = "RTX A6000", .rows = 28}};
    QBuffer file;
    file.open(QIODevice::ReadWrite);
    FOVEA_VERIFY(write_json_lines(ring, model, file));
    file.seek(0);
    const auto read = read_json_lines(file);
    FOVEA_VERIFY(read);
    QCOMPARE(read->model.name, model.name);
    QVERIFY(read->model.cards == model.cards);
    QCOMPARE(read->model.experts_used, 8);
    QCOMPARE(read->model.policy, PolicyKind::dynaexq);
    QCOMPARE(read->ring->end(), ring.end());
    FrameCursor a, b;
    for (std::int64_t index = 0; index < ring.end(); ++index) {
      QVERIFY(a.seek(ring, index) && b.seek(*read->ring, index));
      QCOMPARE(b.frame().tier, a.frame().tier);
      QCOMPARE(b.frame().target, a.frame().target);
      QCOMPARE(b.frame().uses, a.frame().uses);
      QCOMPARE(b.frame().hot, a.frame().hot);
      const SnapshotNumbers &x = ring.moment(index).numbers, &y = read->ring->moment(index).numbers;
      QCOMPARE(y.tokens, x.tokens);
      QCOMPARE(y.swaps.promotions, x.swaps.promotions);
      QCOMPARE(y.swaps.bytes_read, x.swaps.bytes_read);
      QCOMPARE(y.tiers[0].hits, x.tiers[0].hits);
      QCOMPARE(y.pools.size(), x.pools.size());
      QCOMPARE(y.arena_used_bytes, x.arena_used_bytes);
      QCOMPARE(y.quality.hindsight.tokens, x.quality.hindsight.tokens);
      QCOMPARE(y.calibration_part, x.calibration_part);
      QVERIFY(std::abs(y.quality.hindsight.loss - x.quality.hindsight.loss) < 1e-9);
      QVERIFY(std::abs(y.quality.hindsight.low - x.quality.hindsight.low) < 1e-9);
    }
    QVERIFY(ring.last().numbers.quality.hindsight.tokens > 0);
    QCOMPARE(read->ring->changes().size(), ring.changes().size());
    QVERIFY(!ring.changes().empty());
  }

  void refuses_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("where");
    const QByteArray head =
        R"({"format":"fovea live recording","version":1,"layers":1,"units_per_layer":2,"tiers":[{"name":"q4"}]})";
    QTest::newRow("empty") << QByteArray() << QStringLiteral("line 1");
    QTest::newRow("no JSON") << QByteArray("hello\n") << QStringLiteral("line 1");
    QTest::newRow("another format") << QByteArray("{}\n") << QStringLiteral("line 1");
    QTest::newRow("another version") << QByteArray(head).replace("\"version\":1", "\"version\":7")
                                     << QStringLiteral("line 1");
    QTest::newRow("too many")
        << QByteArray(head).replace("\"layers\":1", "\"layers\":4000").replace(":2,", ":65000,")
        << QStringLiteral("line 1");
    QTest::newRow("negative") << QByteArray(head).replace("\"layers\":1", "\"layers\":-1")
                              << QStringLiteral("line 1");
    QTest::newRow("no moment") << head << QStringLiteral("line 1");
    QTest::newRow("no time") << head + "\n{}" << QStringLiteral("line 2");
    QTest::newRow("a unit that does not exist")
        << head + "\n{\"seconds\":1,\"units\":[[2,0,255,0,0]]}" << QStringLiteral("line 2");
    QTest::newRow("cut off") << head + "\n{\"seconds\":1,\"units\":[[1,0,25" << QStringLiteral("line 2");
  }
  void refuses() {
    QFETCH(QByteArray, text);
    QFETCH(QString, where);
    QBuffer file(&text);
    file.open(QIODevice::ReadOnly);
    const auto read = read_json_lines(file);
    QVERIFY(!read);
    QCOMPARE(read.error().kind, ErrorKind::format);
    QVERIFY2(read.error().where_words().ends_with(where.toStdString()), read.error().message().c_str());
  }

  // A tier that is not listed is no tier.
  void keepsToTheTiers() {
    QByteArray text =
        R"({"format":"fovea live recording","version":1,"layers":1,"units_per_layer":2,"tiers":[{"name":"q4"}]})"
        "\n{\"seconds\":1,\"units\":[[0,9,-3,0.5,1],[1,0,0,1e300,-5]]}\n";
    QBuffer file(&text);
    file.open(QIODevice::ReadOnly);
    const auto read = read_json_lines(file);
    FOVEA_VERIFY(read);
    QCOMPARE(read->ring->last_frame().tier, (std::vector<std::uint8_t>{no_tier, 0}));
    QCOMPARE(read->ring->last_frame().target, (std::vector<std::uint8_t>{no_tier, 0}));
    QCOMPARE(read->ring->last_frame().uses, (std::vector<std::uint32_t>{1, 0}));
  }

  // Units that the processor computes stay its own, with what they were used.
  void keepsTheHostsUnits() {
    Snapshot s;
    s.layers = 1;
    s.units_per_layer = 2;
    s.units = {{.tier = host_tier, .uses = 4}, {.tier = 0, .uses = 1}};
    s.tiers = {{.name = "q4"}};
    s.host_units = 1;
    s.host_hits = 4;
    SnapshotRing ring;
    ring.add(s, 1);
    QBuffer file;
    file.open(QIODevice::ReadWrite);
    FOVEA_VERIFY(write_json_lines(ring, {}, file));
    file.seek(0);
    const auto read = read_json_lines(file);
    FOVEA_VERIFY(read);
    QCOMPARE(read->ring->last_frame().tier, (std::vector<std::uint8_t>{host_tier, 0}));
    QCOMPARE(read->ring->last().numbers.host_units, std::int64_t{1});
    QCOMPARE(read->ring->last().numbers.host_hits, std::int64_t{4});
  }

  void aDiskThatFailsIsAnError() {
    const SnapshotRing ring = small_session();
    QBuffer whole;
    whole.open(QIODevice::ReadWrite);
    FOVEA_VERIFY(write_json_lines(ring, {}, whole));
    FailingFile file(whole.data().left(whole.data().indexOf('\n') + 1));
    const auto read = read_json_lines(file);
    QVERIFY(!read);
    QCOMPARE(read.error().kind, ErrorKind::io);
    QCOMPARE(read.error().what_words(), std::string("the disk fails"));
  }

  void csvHasEveryExpert() {
    const SnapshotRing ring = small_session();
    QBuffer file;
    file.open(QIODevice::ReadWrite);
    FOVEA_VERIFY(write_csv(ring, {}, ring.end() - 1, file));
    const QList<QByteArray> lines = file.data().split('\n');
    QCOMPARE(lines.size(), 1 + 48 * 128 + 1);
    for (qsizetype i = 0; i + 1 < lines.size(); ++i) QCOMPARE(lines[i].count(','), 9);
    QVERIFY(lines[1].startsWith("0,0,q"));
    QVERIFY(lines[48 * 128].startsWith("47,127,q"));
    QVERIFY(file.data().contains(",hotter\n") && file.data().contains(",colder\n"));
  }

  // Whatever moved them, by its name.
  void csvNamesEachReason() {
    const std::pair<SwapReason, const char*> reasons[] = {
        {SwapReason::initial, "initial"}, {SwapReason::hotter, "hotter"},
        {SwapReason::colder, "colder"},   {SwapReason::requested, "requested"},
        {SwapReason::absent, "absent"},   {SwapReason::expected, "expected"},
        {SwapReason::yields, "yields"},   {SwapReason::balanced, "balanced"},
        {SwapReason::certain, "certain"}, {SwapReason::scheduled, "scheduled"},
        {SwapReason::prompt, "prompt"}};
    Snapshot snapshot;
    snapshot.layers = 1;
    snapshot.units_per_layer = static_cast<std::int64_t>(std::size(reasons));
    snapshot.tiers = {{.name = "q4"}, {.name = "q2"}};
    snapshot.units.resize(std::size(reasons));
    snapshot.skew.resize(1);
    for (UnitState& unit : snapshot.units) unit.tier = 1;
    SnapshotRing ring;
    ring.add(snapshot, 1);
    for (std::size_t i = 0; i < std::size(reasons); ++i) {
      snapshot.units[i].tier = 0;
      snapshot.decisions[i] = {
          .unit = static_cast<std::int32_t>(i), .from = 1, .to = 0, .reason = reasons[i].first, .token = 1};
    }
    ring.add(snapshot, 2);
    QBuffer file;
    file.open(QIODevice::ReadWrite);
    FOVEA_VERIFY(write_csv(ring, {}, ring.end() - 1, file));
    const QList<QByteArray> lines = file.data().split('\n');
    for (std::size_t i = 0; i < std::size(reasons); ++i)
      QVERIFY2(lines[static_cast<qsizetype>(i) + 1].endsWith(QByteArray(",") + reasons[i].second),
               lines[static_cast<qsizetype>(i) + 1].constData());
  }

  void saysThatAFileCannotBeWritten() {
    const SnapshotRing ring = small_session();
    QBuffer closed;
    closed.open(QIODevice::ReadOnly);
    QTest::ignoreMessage(QtWarningMsg, "QIODevice::write (QBuffer): ReadOnly device");
    const auto written = write_json_lines(ring, {}, closed);
    QVERIFY(!written);
    QCOMPARE(written.error().kind, ErrorKind::io);
  }
};

FOVEA_TEST(RecordingTest)
#include "recording_test.moc"
