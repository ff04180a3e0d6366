#include "engine/eval/trace.h"

#include <cmath>
#include <optional>
#include <random>

#include "engine/api/engine.h"
#include "tests/support/test.h"

using namespace fovea::eval;
using fovea::ErrorKind;
using fovea::ExpertLayer;
using fovea::precision::ExpertUse;

namespace {

TraceShape small_shape() {
  return {.model = "small",
          .used = 2,
          .layers = {{.layer = 0, .experts = 4, .parameters = 96, .file_bytes = 54},
                     {.layer = 2, .experts = 300, .parameters = 1 << 20, .file_bytes = 0}}};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string written(const TraceShape& shape, const std::vector<TracePass>& passes,
                    std::optional<std::uint64_t> text = {}) {
  std::string bytes;
  TraceWriter writer(shape);
  writer.begin(bytes);
  for (const TracePass& pass : passes) writer.pass(pass, bytes);
  writer.end(bytes, text);
  return bytes;
}

std::vector<TracePass> two_passes() {
  return {
      {.tokens = 3,
       .prefill = true,
       .entropy = 1.5F,
       .routed = {3, 1},
       .uses = {{.unit = 1, .tokens = 3, .gate_sum = 2.25F},
                {.unit = 3, .tokens = 1, .gate_sum = 0.5F},
                {.unit = 4, .tokens = 1, .gate_sum = 0.25F},
                {.unit = 303, .tokens = 1, .gate_sum = 0.75F}}},
      {.tokens = 1, .prefill = false, .entropy = -1, .routed = {1, 1}, .uses = {{0, 1, 0.5F}, {1, 1, 0.5F}}}};
}

std::vector<TracePass> random_passes(const TraceShape& shape, int count, std::mt19937& random) {
  std::vector<TracePass> passes;
  const auto first = shape.first_unit();
  for (int i = 0; i < count; ++i) {
    TracePass pass{.tokens = random() % 3 == 0 ? 1 : 1 + static_cast<int>(random() % 200),
                   .prefill = random() % 2 == 0,
                   .entropy = random() % 2 == 0 ? -1.0F : static_cast<float>(random() % 100) / 8,
                   .routed = {},
                   .uses = {}};
    for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
      const auto routed =
          static_cast<std::int32_t>(random() % 3 == 0 ? random() % (pass.tokens + 1) : pass.tokens);
      pass.routed.push_back(routed);
      std::int32_t left = routed * shape.used;
      for (std::int32_t unit = first[layer]; unit < first[layer + 1] && left > 0; ++unit) {
        if (random() % 4 != 0) continue;
        const auto tokens = 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(routed));
        pass.uses.push_back(
            {.unit = unit,
             .tokens = tokens,
             .gate_sum = std::uniform_real_distribution<float>(0, 1)(random) * float(tokens)});
        --left;
      }
    }
    passes.push_back(pass);
  }
  return passes;
}

// Empty, or how two passes differ. Weights are kept to a 255th of the layer's largest mean weight, and a
// little for the half-precision scale.
QString difference(const TraceShape& shape, const TracePass& found, const TracePass& wanted) {
  if (found.tokens != wanted.tokens || found.prefill != wanted.prefill || found.entropy != wanted.entropy ||
      found.routed != wanted.routed || found.uses.size() != wanted.uses.size())
    return "the pass";
  const auto first = shape.first_unit();
  for (std::size_t i = 0; i < found.uses.size(); ++i) {
    const ExpertUse &f = found.uses[i], &w = wanted.uses[i];
    if (f.unit != w.unit || f.tokens != w.tokens) return QString("use %1").arg(i);
    float most = 0;
    for (const ExpertUse& use : wanted.uses) {
      const auto layer_of = [&](std::int32_t unit) { return std::ranges::upper_bound(first, unit); };
      if (layer_of(use.unit) == layer_of(w.unit)) most = std::max(most, use.gate_sum / float(use.tokens));
    }
    if (std::abs(f.gate_sum - w.gate_sum) > most * float(w.tokens) * (0.5F / 255 + 1.0F / 1024))
      return QString("gate of use %1").arg(i);
  }
  return {};
}

}  // namespace

class TraceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theLayoutIsTheDocumentedOne() {
    const TraceShape shape{.model = "m",
                           .used = 1,
                           .layers = {{.layer = 5, .experts = 3, .parameters = 200, .file_bytes = 113}}};
    const std::vector<TracePass> passes{{.tokens = 1,
                                         .prefill = false,
                                         .entropy = -1,
                                         .routed = {1},
                                         .uses = {{.unit = 2, .tokens = 1, .gate_sum = 1}}},
                                        {.tokens = 130,
                                         .prefill = true,
                                         .entropy = 2,
                                         .routed = {129},
                                         .uses = {{.unit = 0, .tokens = 129, .gate_sum = 0}}}};
    const std::string wanted(
        "FOVTRACE\x01\0\0\0\x01m\x01\x01"
        "\x05\x03\xC8\x01\x71"
        "\x01\x04\x01\x01\x00\x3C\x02\xFF"
        "\x01\x03\x82\x01\x00\x00\x00\x40\x81\x01\x01\x00\x00\x00\x80\x01\x00"
        "\x02\x02\x83\x01",
        12 + 4 + 5 + 8 + 17 + 4);
    QCOMPARE(QByteArray::fromStdString(written(shape, passes)).toHex(' '),
             QByteArray::fromStdString(wanted).toHex(' '));
    const std::string with_text = wanted.substr(0, wanted.size() - 4) +
                                  std::string("\x03\xEF\xCD\xAB\x89\x67\x45\x23\x01", 9) +
                                  wanted.substr(wanted.size() - 4);
    QCOMPARE(QByteArray::fromStdString(written(shape, passes, 0x0123456789ABCDEF)).toHex(' '),
             QByteArray::fromStdString(with_text).toHex(' '));
  }

  void passesComeBack() {
    std::mt19937 random(fovea::tests::seed());
    const TraceShape shape = small_shape();
    const auto passes = random_passes(shape, fovea::tests::rounds(200), random);
    const std::string bytes = written(shape, passes, 12);
    auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
    FOVEA_VERIFY(reader);
    QCOMPARE(reader->shape().model, shape.model);
    QCOMPARE(reader->shape().used, 2);
    QCOMPARE(reader->shape().layers[1].layer, 2);
    QCOMPARE(reader->shape().layers[1].experts, 300);
    QCOMPARE(reader->shape().layers[0].file_bytes, 54);
    for (int twice = 0; twice < 2; ++twice) {
      TracePass pass;
      for (const TracePass& wanted : passes) {
        QVERIFY(reader->next(pass).value_or(false));
        const QString wrong = difference(shape, pass, wanted);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1, seed %2").arg(wrong).arg(fovea::tests::seed())));
      }
      QVERIFY(!reader->text());
      QCOMPARE(reader->next(pass).value_or(true), false);
      QVERIFY(reader->text() == std::uint64_t{12});
      reader->rewind();
    }
  }

  void theComparisonCanFail() {
    const TraceShape shape = small_shape();
    const TracePass pass = two_passes().front();
    QVERIFY(difference(shape, pass, pass).isEmpty());
    TracePass other = pass;
    other.uses[0].gate_sum += 0.02F;
    QCOMPARE(difference(shape, other, pass), "gate of use 0");
    other = pass;
    other.uses[3].unit = 302;
    QCOMPARE(difference(shape, other, pass), "use 3");
    other = pass;
    other.routed[1] = 2;
    QCOMPARE(difference(shape, other, pass), "the pass");
  }

  // Every prefix of a trace and every single changed byte: an error with a place and words, or passes within
  // the shape.
  void damageIsATypedErrorOrHarmless() {
    const std::string good = written(small_shape(), two_passes(), 5);
    int refused = 0;
    const auto judge = [&](const std::string& bytes, bool must_fail) {
      auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
      std::optional<fovea::Error> error;
      if (!reader) {
        error = reader.error();
      } else {
        TracePass pass;
        while (true) {
          const auto more = reader->next(pass);
          if (!more) error = more.error();
          if (!more || !*more) break;
          for (const ExpertUse& use : pass.uses) QVERIFY(use.unit >= 0 && use.unit < reader->shape().units());
        }
      }
      QVERIFY(error || !must_fail);
      if (!error) return;
      ++refused;
      QVERIFY(error->kind == ErrorKind::format || error->kind == ErrorKind::unsupported);
      QVERIFY(error->where_words().starts_with("t.trace") && !error->what.empty());
    };
    for (std::size_t length = 0; length < good.size(); ++length) judge(good.substr(0, length), true);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
        judge(bad, at < 12);  // magic and version
      }
    }
    judge(good + "x", true);
    QVERIFY(refused > 200);
  }

  void whatIsRefused_data() {
    QTest::addColumn<QByteArray>("hex");
    QTest::addColumn<QString>("message");
    QTest::newRow("no trace") << QByteArray("47475546")
                              << "t.trace: it is not a trace: it does not begin with FOVTRACE. "
                                 "Give a file that `fovea trace` wrote";
    QTest::newRow("later version")
        << QByteArray("464f56545241434502000000")
        << "t.trace: the trace has version 2, this program reads version 1. Record "
           "the trace again";
    QTest::newRow("no layers")
        << QByteArray(
               "464f565452414345010000000001"
               "00")
        << "t.trace, offset 14: the number of layers is 0, it must be 1 … 1024. Record the "
           "trace again";
    QTest::newRow("too few experts")
        << QByteArray(
               "464f56545241434501000000000201"
               "0001")
        << "t.trace, offset 16: the number of experts is 1, it must be 2 … 4096. "
           "Record the trace again";
    QTest::newRow("endless number")
        << QByteArray(
               "464f56545241434501000000"
               "ffffffffffffffffffff01")
        << "t.trace, offset 12: the name's length is a number of more than 63 bits. "
           "Record the trace again";
  }
  void whatIsRefused() {
    QFETCH(QByteArray, hex);
    QFETCH(QString, message);
    const std::string bytes = QByteArray::fromHex(hex).toStdString();
    const auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
    QVERIFY(!reader);
    QCOMPARE(QString::fromStdString(reader.error().message()), message);
  }

  void countsAtTheEndMustAgree() {
    std::string bytes = written(small_shape(), two_passes());
    bytes[bytes.size() - 2] = 3;
    auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
    FOVEA_VERIFY(reader);
    TracePass pass;
    QVERIFY(reader->next(pass).value_or(false) && reader->next(pass).value_or(false));
    const auto end = reader->next(pass);
    QVERIFY(!end);
    QVERIFY(end.error().what_words().starts_with("the end counts 3 passes"));
  }

  // The golden model has two layers of four experts, of which each token uses two.
  void recordsAModel_data() {
    QTest::addColumn<bool>("decode");
    QTest::newRow("chunks") << false;
    QTest::newRow("token by token") << true;
  }
  void recordsAModel() {
    QFETCH(bool, decode);
    auto engine = fovea::Engine::load(
        {.model = fovea::tests::golden("chat"), .context = 32, .threads = 1, .chunk = 12});
    FOVEA_VERIFY(engine);
    std::string text, bytes;
    for (int word = 0; word < 40; ++word) text += "a word and another ";
    const auto result = fovea::record_trace(**engine, text, {.tokens = 50, .chunk = 12, .decode = decode},
                                            [&](std::string_view part) -> fovea::Result<void> {
                                              bytes += part;
                                              return {};
                                            });
    FOVEA_VERIFY(result);
    QCOMPARE(result->tokens, 50);
    QCOMPARE(result->passes, decode ? 50 : 3 + 2);  // windows of 32 and 18 tokens
    QCOMPARE(result->layers, 2);
    QCOMPARE(result->experts, 4);
    QCOMPARE(result->bytes, std::ssize(bytes));
    auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
    FOVEA_VERIFY(reader);
    QCOMPARE(reader->shape().layers[0].parameters, 3 * 32 * 48);
    TracePass pass;
    std::int64_t uses[2] = {0, 0};
    double gates[2] = {0, 0};
    while (true) {
      const auto more = reader->next(pass);
      FOVEA_VERIFY(more);
      if (!*more) break;
      QCOMPARE(pass.prefill, !decode);
      QVERIFY(pass.entropy > 0);
      QCOMPARE(pass.routed[1], pass.tokens);
      for (const ExpertUse& use : pass.uses) {
        uses[use.unit / 4] += use.tokens;
        gates[use.unit / 4] += double(use.gate_sum);
      }
    }
    for (const std::int64_t each : uses) QCOMPARE(each, 2 * 50);
    for (const double each : gates) QVERIFY2(std::abs(each - 50) < 0.5, qPrintable(QString::number(each)));
  }

  // The same for the same tokens in the same windows, however they were computed, and for these alone.
  void tellsTextsApart() {
    const auto text_of = [](std::int64_t context, bool decode, std::int64_t tokens) {
      auto engine = fovea::Engine::load(
          {.model = fovea::tests::golden("chat"), .context = context, .threads = 1, .chunk = 12});
      std::string bytes;
      const auto result = fovea::record_trace(
          **engine, "a word and another a word and another a word and another a word and another",
          {.tokens = tokens, .chunk = 12, .decode = decode},
          [&](std::string_view part) -> fovea::Result<void> {
            bytes += part;
            return {};
          });
      auto reader = TraceReader::open(bytes_of(bytes), "t.trace");
      TracePass pass;
      while (result && reader->next(pass).value_or(false)) {
      }
      return reader->text();
    };
    const auto text = text_of(16, false, 18);
    QVERIFY(text.has_value());
    QVERIFY(text_of(16, true, 18) == text);
    QVERIFY(text_of(17, false, 18) != text);
    QVERIFY(text_of(16, false, 17) != text);
  }

  void decodeChoosesAsPrefillDoes() {
    auto engine = fovea::Engine::load({.model = fovea::tests::golden("chat"),
                                       .context = 64,
                                       .kv = fovea::KvType::f32,
                                       .threads = 1,
                                       .chunk = 16});
    FOVEA_VERIFY(engine);
    std::vector<std::vector<std::int64_t>> counts;
    for (const std::int64_t chunk : {16, 1}) {
      std::vector<std::int64_t> count(8);
      const std::vector<fovea::TokenId> tokens{5, 9,  200, 31, 77, 8, 120, 44, 5,
                                               5, 17, 300, 2,  3,  4, 99,  6,  7};
      FOVEA_VERIFY(
          (*engine)->routing(tokens, chunk, [&](const fovea::PassRouting& pass) -> fovea::Result<void> {
            for (std::size_t layer = 0; layer < pass.layers.size(); ++layer) {
              for (const std::int32_t expert : pass.layers[layer].ids)
                ++count[layer * 4 + static_cast<std::size_t>(expert)];
            }
            return {};
          }));
      counts.push_back(count);
    }
    QCOMPARE(counts[0], counts[1]);
  }
};
FOVEA_TEST(TraceTest)

#include "trace_test.moc"
