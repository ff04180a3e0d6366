// Offload: llama.cpp's flags mean what they mean there, for whole units.
#include "engine/precision/offload.h"

#include <algorithm>

#include "engine/precision/model_shapes.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;
using Strings = std::vector<std::string>;
Q_DECLARE_METATYPE(Strings)
Q_DECLARE_METATYPE(OffloadSettings)

namespace {

// 12 layers of 3 experts.
constexpr ModelShape small{.name = "small",
                           .layers = 12,
                           .hidden = 64,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_dim = 32,
                           .vocabulary = 100,
                           .context = 100,
                           .experts = 3,
                           .experts_used = 1,
                           .expert_width = 32};

const UnitTable& units() {
  static const ShapeWeights weights = weights_of(small);
  static const UnitTable table(weights.plan, UnitScope::experts);
  return table;
}

// 3 layers without experts.
const UnitTable& dense_units() {
  static const checkpoint::TensorInfo tensor;
  static const models::WeightPlan plan = [] {
    const models::MatrixSource matrix{.tensor = &tensor, .rows = 32, .columns = 32};
    models::LayerPlan layer;
    layer.q = layer.k = layer.v = layer.attention_output = matrix;
    layer.shared = {matrix, matrix, matrix};
    models::WeightPlan made;
    made.layers.assign(3, layer);
    return made;
  }();
  static const UnitTable table(plan, UnitScope::linear_layers);
  return table;
}

Result<OffloadChoice> choose(const OffloadSettings& settings) {
  return choose_offloaded(units(), settings, [](const std::vector<bool>&) { return true; });
}

// "0 1 11": the layers all of whose units are away; "?" behind one of which only some are.
QString layers_away(const OffloadChoice& choice) {
  QStringList away;
  for (int layer = 0; layer < 12; ++layer) {
    const auto count =
        std::count(choice.absent.begin() + layer * 3, choice.absent.begin() + layer * 3 + 3, true);
    if (count > 0) away << QString::number(layer) + (count < 3 ? "?" : "");
  }
  return away.join(' ');
}

}  // namespace

class OffloadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void layersAway_data() {
    QTest::addColumn<OffloadSettings>("settings");
    QTest::addColumn<QString>("layers");
    const QString all = "0 1 2 3 4 5 6 7 8 9 10 11";
    QTest::newRow("nothing") << OffloadSettings{} << "";
    QTest::newRow("first two") << OffloadSettings{.cpu_moe_layers = 2, .override_tensors = {}} << "0 1";
    QTest::newRow("more than there are")
        << OffloadSettings{.cpu_moe_layers = 99, .override_tensors = {}} << all;
    // The output counts as a layer: of 13, the last 13, 3, 1 and none.
    QTest::newRow("-ngl 13") << OffloadSettings{.override_tensors = {}, .gpu_layers = 13} << "";
    QTest::newRow("-ngl 99") << OffloadSettings{.override_tensors = {}, .gpu_layers = 99} << "";
    QTest::newRow("-ngl 3") << OffloadSettings{.override_tensors = {}, .gpu_layers = 3}
                            << "0 1 2 3 4 5 6 7 8 9";
    QTest::newRow("-ngl 1") << OffloadSettings{.override_tensors = {}, .gpu_layers = 1} << all;
    QTest::newRow("-ngl 0") << OffloadSettings{.override_tensors = {}, .gpu_layers = 0} << all;
    const auto pattern = [](const char* text) { return OffloadSettings{.override_tensors = {text}}; };
    QTest::newRow("all experts") << pattern("exps=CPU") << all;
    QTest::newRow("found anywhere in the name") << pattern("blk\\.1=CPU") << "1 10 11";
    QTest::newRow("alternatives") << pattern("blk\\.(2|3)\\.ffn_.*_exps\\.weight$=CPU") << "2 3";
    QTest::newRow("one of three tensors") << pattern("blk\\.4\\.ffn_down_exps=CPU") << "4";
    QTest::newRow("another tensor") << pattern("attn_q=CPU") << "";
    QTest::newRow("the device") << pattern("exps=CUDA0") << "";
    QTest::newRow("the first one decides") << pattern("blk\\.0\\.=GPU,blk\\.[01]\\.=CPU") << "1";
    QTest::newRow("several flags") << OffloadSettings{.override_tensors = {"blk\\.7\\.=CPU",
                                                                           "blk\\.8\\.=CPU"}}
                                   << "7 8";
    QTest::newRow("patterns go before layers")
        << OffloadSettings{.cpu_moe_layers = 3, .override_tensors = {"blk\\.1\\.=GPU"}} << "0 2";
  }
  void layersAway() {
    QFETCH(OffloadSettings, settings);
    QFETCH(QString, layers);
    const auto choice = choose(settings);
    FOVEA_VERIFY(choice);
    QCOMPARE(layers_away(*choice), layers);
  }

  // With attention and all: of 12 layers, from the first one on.
  void layersNamedWhole_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<int>("whole");
    QTest::addColumn<bool>("attention_stays");
    const auto row = [](const char* pattern, int whole, bool stays) {
      QTest::newRow(pattern) << QString(pattern) << whole << stays;
    };
    row("blk\\.[0-3]\\.=CPU", 4, false);
    row("blk\\.=CPU", 12, false);
    row("blk\\.[1-3]\\.=CPU", 0, true);
    row("blk\\.[0245]\\.=CPU", 1, true);
    row("exps=CPU", 0, false);
    row("attn=CPU", 0, true);
    row("blk\\.[01]\\.(attn|ffn)_=CPU", 2, false);
    row("blk\\.[01]\\.attn=CPU,exps=CPU", 2, false);
    row("blk\\.1\\.attn_k=GPU,blk\\.[0-2]\\.=CPU", 1, true);
  }
  void layersNamedWhole() {
    QFETCH(QString, pattern);
    QFETCH(int, whole);
    QFETCH(bool, attention_stays);
    const std::vector<std::string> patterns{pattern.toStdString()};
    const auto layers = layers_named_whole(patterns, std::vector<bool>(12, true));
    FOVEA_VERIFY(layers);
    QCOMPARE(*layers, whole);
    const auto stay = patterns_of_attention(patterns, whole, 12);
    FOVEA_VERIFY(stay);
    QCOMPARE(!stay->empty(), attention_stays);
  }
  void patternsOfWholeLayersAreChecked() {
    QVERIFY(!layers_named_whole({"blk"}, std::vector<bool>(12, true)));
    QVERIFY(!patterns_of_attention({"(=CPU"}, 0, 12));
    const std::vector<bool> first_is_dense{false, true};
    QCOMPARE(*layers_named_whole({"blk\\.0\\.=CPU"}, first_is_dense), 1);
    QCOMPARE(*layers_named_whole({"attn_=CPU,exps=CPU"}, first_is_dense), 0);
    // One pattern for attention and one for the rest; alone the first names nothing that can go.
    const OffloadSettings both{.override_tensors = {"blk\\.[01]\\.attn=CPU", "blk\\.[01]\\.ffn=CPU"}};
    const auto fits = [](const std::vector<bool>&) { return true; };
    FOVEA_VERIFY(choose_offloaded(units(), both, fits, SlowerPlace::host, nullptr, Taken::first_layers, 2));
    QVERIFY(!choose_offloaded(units(), both, fits, SlowerPlace::host));
  }

  void whatTheUserShouldKnow() {
    auto choice = choose({.override_tensors = {"ffn_down_exps=CPU"}});
    FOVEA_VERIFY(choice);
    QCOMPARE(choice->notes.size(), std::size_t{1});
    QVERIFY(english(choice->notes[0]).find("36 units") != std::string::npos);
    choice = choose({.override_tensors = {"nothing=CPU"}});
    FOVEA_VERIFY(choice);
    QVERIFY(english(choice->notes.at(0)).find("changes nothing") != std::string::npos);
    choice = choose({.override_tensors = {"_exps=CPU"}});
    FOVEA_VERIFY(choice);
    QVERIFY(choice->notes.empty());
  }

  void autoFindsTheSmallest() {
    int asked = 0;
    const auto choice = choose_offloaded(
        units(), {.cpu_moe_layers = -1, .override_tensors = {}},
        [&](const std::vector<bool>& away) {
          ++asked;
          return std::ranges::count(away, true) >= 13;  // four layers are 12 units
        },
        SlowerPlace::host);
    FOVEA_VERIFY(choice);
    QCOMPARE(choice->cpu_moe_layers, 5);
    QCOMPARE(layers_away(*choice), QString("0 1 2 3 4"));
    QVERIFY(asked > 1);
    const auto never = choose_offloaded(
        units(), {.cpu_moe_layers = -1, .override_tensors = {}},
        [](const std::vector<bool>&) { return false; }, SlowerPlace::host);
    FOVEA_VERIFY(never);
    QCOMPARE(never->cpu_moe_layers, 12);
  }

  // On disk all layers share what room there is.
  void autoOnDiskIsNoneOrAll() {
    const OffloadSettings automatic{.cpu_moe_layers = -1, .override_tensors = {}};
    const auto all = choose_offloaded(units(), automatic, [](const std::vector<bool>& away) {
      return std::ranges::find(away, true) != away.end();
    });
    FOVEA_VERIFY(all);
    QCOMPARE(all->cpu_moe_layers, 12);
    QCOMPARE(std::ranges::count(all->absent, true), 36);
    QVERIFY(!all->notes.empty());
    const auto none = choose_offloaded(units(), automatic, [](const std::vector<bool>&) { return true; });
    FOVEA_VERIFY(none);
    QCOMPARE(none->cpu_moe_layers, 0);
    QVERIFY(none->notes.empty());
  }

  void wrongSettingsAreNamed_data() {
    QTest::addColumn<OffloadSettings>("settings");
    QTest::addColumn<QString>("says");
    const auto pattern = [](const char* text) { return OffloadSettings{.override_tensors = {text}}; };
    QTest::newRow("no place") << pattern("exps") << "\"exps\" is not PATTERN=PLACE";
    QTest::newRow("no pattern") << pattern("=CPU") << "PATTERN=PLACE";
    QTest::newRow("empty") << pattern("") << "PATTERN=PLACE";
    QTest::newRow("second of two") << pattern("exps=CPU,b=") << "\"b=\" is not PATTERN=PLACE";
    QTest::newRow("place") << pattern("exps=Vulkan0") << "\"Vulkan0\" is not a place";
    QTest::newRow("expression") << pattern("blk\\.(=CPU") << "blk\\.(";
    QTest::newRow("layers") << OffloadSettings{.cpu_moe_layers = -2, .override_tensors = {}} << "-2";
    QTest::newRow("-ngl") << OffloadSettings{.override_tensors = {}, .gpu_layers = -5} << "-5";
  }
  void wrongSettingsAreNamed() {
    QFETCH(OffloadSettings, settings);
    QFETCH(QString, says);
    const auto choice = choose(settings);
    QVERIFY(!choice);
    QCOMPARE(choice.error().kind, ErrorKind::invalid);
    QVERIFY2(QString::fromStdString(choice.error().message()).contains(says),
             choice.error().message().c_str());
  }

  // Beside a card the feed-forward of a layer without experts goes as one, and nothing else can.
  void denseLayersOnTheHost_data() {
    QTest::addColumn<OffloadSettings>("settings");
    QTest::addColumn<QString>("layers");
    const auto pattern = [](const char* text) { return OffloadSettings{.override_tensors = {text}}; };
    QTest::newRow("-ngl 4") << OffloadSettings{.override_tensors = {}, .gpu_layers = 4} << "";
    QTest::newRow("-ngl 2") << OffloadSettings{.override_tensors = {}, .gpu_layers = 2} << "0 1";
    QTest::newRow("-ngl 0") << OffloadSettings{.override_tensors = {}, .gpu_layers = 0} << "0 1 2";
    QTest::newRow("a layer") << pattern("blk\\.1\\.=CPU") << "1";
    QTest::newRow("one of three tensors") << pattern("blk\\.2\\.ffn_up=CPU") << "2";
    QTest::newRow("the first one decides") << pattern("blk\\.0\\.ffn_up=GPU,ffn=CPU") << "1 2";
  }
  void denseLayersOnTheHost() {
    QFETCH(OffloadSettings, settings);
    QFETCH(QString, layers);
    const auto fits = [](const std::vector<bool>&) { return true; };
    const auto choice = choose_offloaded(dense_units(), settings, fits, SlowerPlace::host);
    FOVEA_VERIFY(choice);
    auto shares = host_shares(dense_units(), choice->absent);
    QCOMPARE(shares.empty(), layers.isEmpty());
    shares.resize(3);
    QStringList shared;
    for (int layer = 0; layer < 3; ++layer) {
      if (shares[std::size_t(layer)].shared) shared << QString::number(layer);
      QVERIFY(shares[std::size_t(layer)].experts.empty());
      for (int unit = 0; unit < 7; ++unit)
        QCOMPARE(choice->absent[std::size_t(layer * 7 + unit)],
                 unit >= 4 && shares[std::size_t(layer)].shared);
    }
    QCOMPARE(shared.join(' '), layers);
  }

  // Each token needs each of them.
  void linearLayersOnTheDiskAreRefused() {
    const auto fits = [](const std::vector<bool>&) { return true; };
    for (const OffloadSettings& settings :
         {OffloadSettings{.override_tensors = {}, .gpu_layers = 2}, {.override_tensors = {"ffn_down=CPU"}}}) {
      const auto choice = choose_offloaded(dense_units(), settings, fits, SlowerPlace::disk);
      QVERIFY(!choice);
      QCOMPARE(choice.error().kind, ErrorKind::unsupported);
    }
    FOVEA_VERIFY(
        choose_offloaded(dense_units(), {.override_tensors = {}, .gpu_layers = 4}, fits, SlowerPlace::disk));
  }

  void whatTheHostCannotComputeIsRefused() {
    const auto fits = [](const std::vector<bool>&) { return true; };
    const OffloadSettings settings{.override_tensors = {"attn_q=CPU"}};
    for (const UnitTable* table : {&units(), &dense_units()}) {
      const auto choice = choose_offloaded(*table, settings, fits, SlowerPlace::host);
      QVERIFY(!choice);
      QCOMPARE(choice.error().kind, ErrorKind::invalid);
      QVERIFY(choice.error().message().find("attn_q names nothing") != std::string::npos);
    }
  }

  void sharesNameEachExpert() {
    std::vector<bool> absent(36, false);
    absent[4] = absent[5] = true;  // of layer 1, the second and the third
    const auto shares = host_shares(units(), absent);
    QCOMPARE(shares.size(), std::size_t{12});
    for (std::size_t layer = 0; layer < 12; ++layer) {
      QVERIFY(!shares[layer].shared);
      QCOMPARE(shares[layer].experts,
               layer == 1 ? std::vector<bool>({false, true, true}) : std::vector<bool>{});
    }
  }

  void namesAreThoseOfGguf() {
    QCOMPARE(tensor_names(units(), 4), (Strings{"blk.1.ffn_gate_exps.weight", "blk.1.ffn_up_exps.weight",
                                                "blk.1.ffn_down_exps.weight"}));
  }
};
FOVEA_TEST(OffloadTest)

#include "offload_test.moc"
