// What calibration measures of small models, and what it does to the stores that are made with it.
#include "engine/precision/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "engine/precision/fingerprint.h"
#include "engine/precision/prepare_divergence.h"
#include "kernels/api/forwarding_device.h"
#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "tests/kernels/ptx/device.h"

#include "../models/runner.h"
#include "store_subject.h"

using namespace fovea;
using namespace fovea::precision;
using checkpoint::Store;
using fovea::tests::make_store;
using fovea::tests::matrix_values;
using fovea::tests::small_model;
using fovea::tests::store_subject;
using fovea::tests::StoredVersion;

namespace {

// The file's order.
class InRows final : public kernels::ForwardingDevice {
 public:
  using Forwarding::Forwarding;
  std::string name() const override { return "rows"; }
  kernels::Packing preferred_packing(kernels::Type, std::int64_t, std::int64_t) const override {
    return kernels::Packing::rows;
  }
};

std::vector<TokenId> tokens(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(random() % 37);
  return ids;
}

double norm(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

// [tokens, rows] = x [tokens, columns] · Wᵀ, in double.
std::vector<double> multiply(std::span<const double> x, std::span<const float> w, std::int64_t columns) {
  const auto c = static_cast<std::size_t>(columns);
  std::vector<double> out;
  for (std::size_t t = 0; t < x.size() / c; ++t) {
    for (std::size_t r = 0; r < w.size() / c; ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < c; ++i) sum += x[t * c + i] * static_cast<double>(w[r * c + i]);
      out.push_back(sum);
    }
  }
  return out;
}

std::vector<double> silu_times(std::vector<double> gate, const std::vector<double>& up) {
  for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
  return gate;
}

std::int64_t heads_of(const models::Model& model) {
  const models::AttentionConfig& attention = *model.config().layers.front().attention();
  return attention.heads * attention.head_dim;
}

// Every input of every kind, as the passes show them.
struct Recorder : layers::PassObserver {
  struct Routed {
    std::vector<double> x;
    std::int64_t expert;
  };
  std::vector<Routed> routed_tokens;
  std::array<std::vector<double>, 3> inputs;
  std::int64_t used = 0, d = 0;
  std::array<std::int64_t, 3> columns = {};

  bool routed(const Where& where, const float* x, const std::int32_t* ids, const float*) override {
    for (std::int64_t t = 0; t < where.tokens; ++t) {
      for (std::int64_t j = 0; j < used; ++j)
        routed_tokens.push_back({{x + t * d, x + (t + 1) * d}, ids[t * used + j]});
    }
    return true;
  }
  void input(const Where& where, Input which, const float* x) override {
    const auto i = static_cast<std::size_t>(which);
    inputs[i].insert(inputs[i].end(), x, x + where.tokens * columns[i]);
  }
};

std::vector<double> mean_squares(std::span<const double> x, std::int64_t columns) {
  std::vector<double> out(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < x.size(); ++i) out[i % out.size()] += x[i] * x[i];
  for (double& value : out) value *= static_cast<double>(columns) / static_cast<double>(x.size());
  return out;
}

bool close(std::span<const float> found, std::span<const double> expected, double tolerance) {
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::abs(static_cast<double>(found[i]) - expected[i]) > tolerance * (std::abs(expected[i]) + 1e-3))
      return false;
  }
  return true;
}

// Which of all rows [count, columns] the found ones are, each looked for behind the one before it and then
// from the beginning; what is not among them is left out.
std::vector<std::int64_t> found_in(std::span<const float> found, std::span<const double> all,
                                   std::int64_t columns) {
  const auto n = static_cast<std::size_t>(columns);
  const std::size_t count = all.size() / n;
  std::vector<bool> taken(count);
  std::vector<std::int64_t> places;
  for (std::size_t begin = 0; begin < found.size(); begin += n) {
    const std::size_t after = places.empty() ? 0 : static_cast<std::size_t>(places.back()) + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = (after + i) % count;
      if (taken[place] || !close(found.subspan(begin, n), all.subspan(place * n, n), 1e-4)) continue;
      taken[place] = true;
      places.push_back(static_cast<std::int64_t>(place));
      break;
    }
  }
  return places;
}

}  // namespace

class CalibrateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void windowsAreSpreadOverTheText_data() {
    QTest::addColumn<int>("text");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("window");
    QTest::addColumn<QList<int>>("starts");
    QTest::newRow("all") << 100 << 1000 << 30 << QList<int>{0, 30, 60};
    QTest::newRow("every second") << 120 << 60 << 30 << QList<int>{0, 60};
    QTest::newRow("at least one") << 120 << 5 << 30 << QList<int>{0};
    QTest::newRow("short text") << 7 << 1000 << 30 << QList<int>{0};
    QTest::newRow("none") << 0 << 1000 << 30 << QList<int>{};
  }
  void windowsAreSpreadOverTheText() {
    QFETCH(int, text);
    QFETCH(int, tokens);
    QFETCH(int, window);
    QFETCH(QList<int>, starts);
    std::vector<TokenId> ids(static_cast<std::size_t>(text));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
    QList<int> found;
    for (const auto& part : cut_windows(ids, tokens, window, -1)) {
      QCOMPARE(std::ssize(part), std::min<std::ptrdiff_t>(window, text));
      QCOMPARE(part.back(), part.front() + static_cast<TokenId>(part.size()) - 1);
      found.push_back(part.front());
    }
    QCOMPARE(found, starts);
    for (const auto& part : cut_windows(ids, tokens, window, 777)) QCOMPARE(part.front(), 777);
  }

  // Column statistics and output errors against sums in double over what the passes show.
  void calibrationMeasuresInputs_data() { tests::add_scopes(); }
  void calibrationMeasuresInputs() {
    QFETCH(bool, experts);
    const kernels::Device& device = kernels::reference::device();
    const tests::TemporaryFolder folder;
    const auto s = store_subject(device, experts ? UnitScope::experts : UnitScope::linear_layers);
    FOVEA_VERIFY(s);
    const auto model = tests::load(small_model(), device);
    FOVEA_VERIFY(model);
    const Windows windows{tokens(30, tests::seed()), tokens(17, tests::seed() + 1)};
    const auto calibration = calibrate(*model, s->units, device, windows, {.rows_per_unit = 9}, {}, {});
    FOVEA_VERIFY(calibration);

    Recorder recorder;
    recorder.used = model->config().experts_used();
    recorder.d = model->config().hidden;
    recorder.columns = {model->config().hidden, heads_of(*model), model->config().hidden};
    auto runner = WindowRunner::create(*model, device, 30, 1);
    FOVEA_VERIFY(runner);
    for (const auto& window : windows) FOVEA_VERIFY(runner->run(window, &recorder, {}, {}));

    const auto store = make_store(*s, folder.path() / "a.store", 2, &*calibration);
    FOVEA_VERIFY(store);
    QCOMPARE(store->identity().calibration, calibration->fingerprint());
    std::int64_t reached = 0;
    for (UnitId id = 0; id < s->units.size(); ++id) {
      std::vector<double> x, hidden;
      const Unit& unit = s->units[id];
      std::array<std::vector<float>, 3> w;
      for (std::size_t p = 0; p < unit.matrices().size(); ++p) w[p] = matrix_values(*s, unit.parts[p]);
      if (experts) {
        for (const auto& use : recorder.routed_tokens) {
          if (use.expert == unit.index) x.insert(x.end(), use.x.begin(), use.x.end());
        }
        hidden = silu_times(multiply(x, w[0], recorder.d), multiply(x, w[1], recorder.d));
      } else {
        const auto role = static_cast<LinearRole>(unit.index);
        x = role <= LinearRole::v                  ? recorder.inputs[0]
            : role == LinearRole::attention_output ? recorder.inputs[1]
                                                   : recorder.inputs[2];
        if (role == LinearRole::down) {
          x = silu_times(multiply(x, matrix_values(*s, s->units[id - 2].parts[0]), recorder.d),
                         multiply(x, matrix_values(*s, s->units[id - 1].parts[0]), recorder.d));
        }
      }
      const std::int64_t columns = unit.parts[0].columns;
      const std::int64_t count = std::ssize(x) / columns;
      QCOMPARE(calibration->tokens(id), count);
      QCOMPARE(static_cast<std::int64_t>(store->extent(id, 1).calibration_tokens), count);
      if (count == 0) continue;
      ++reached;
      QVERIFY(close(calibration->importance(id)[0], mean_squares(x, columns), 1e-4));
      if (experts)
        QVERIFY(close(calibration->importance(id)[2], mean_squares(hidden, unit.parts[2].columns), 1e-4));

      // The inputs that were kept are some of these, from the whole text, and the output errors are theirs.
      const std::vector<float> kept = calibration->inputs(id);
      const std::vector<std::int64_t> places = found_in(kept, x, columns);
      QVERIFY(!places.empty() && std::ssize(places) <= 9 && std::ssize(places) * columns == std::ssize(kept));
      if (!experts) QCOMPARE(places.size(), 9U);
      if (!experts && unit.layer > 0) {  // before the first attention equal tokens have equal inputs
        QVERIFY(std::ranges::count_if(places, [](std::int64_t place) { return place < 30; }) == 6);
        QVERIFY(std::ranges::is_sorted(places) && places[0] > 0 && places[5] > 24 && places[8] > 43);
      }
      x.assign(kept.begin(), kept.end());
      std::array<std::vector<float>, 3> low;
      for (std::size_t p = 0; p < unit.matrices().size(); ++p) {
        std::vector<std::byte> q4(static_cast<std::size_t>(
            unit.parts[p].rows * kernels::row_bytes(*s->tiers[1].type, unit.parts[p].columns)));
        low[p].resize(w[p].size());
        QVERIFY(kernels::formats::quantize_rows(*s->tiers[1].type, w[p].data(), unit.parts[p].rows,
                                                unit.parts[p].columns, calibration->importance(id)[p].data(),
                                                q4.data()));
        kernels::formats::dequantize(*s->tiers[1].type, q4.data(), std::ssize(w[p]), low[p].data());
      }
      const auto output = [&](const std::array<std::vector<float>, 3>& m) {
        if (!experts) return multiply(x, m[0], columns);
        return multiply(silu_times(multiply(x, m[0], columns), multiply(x, m[1], columns)), m[2],
                        unit.parts[2].columns);
      };
      const std::vector<double> y = output(w);
      std::vector<double> difference = output(low);
      for (std::size_t i = 0; i < y.size(); ++i) difference[i] -= y[i];
      const double expected = norm(difference) / norm(y);
      QVERIFY2(std::abs(static_cast<double>(store->extent(id, 1).output_error) - expected) <
                   1e-9 + 2e-3 * expected,
               qPrintable(QString("unit %1: %2, expected %3")
                              .arg(id)
                              .arg(static_cast<double>(store->extent(id, 1).output_error))
                              .arg(expected)));
      QCOMPARE(store->extent(id, 0).output_error, 0.0F);
    }
    QCOMPARE(calibration->reached_units(), reached);
    QVERIFY(reached > 0);
  }

  // A store for a card holds the weights of the processor's, in the card's order, with the same errors.
  void theProcessorMeasuresWhatACardReads() {
    const kernels::Device& cpu = *kernels::cpu::default_device();
    FOVEA_NEEDS_PTX;
    const auto card = fovea::tests::ptx::device();
    const InRows in_rows(cpu);
    const tests::TemporaryFolder folder;
    const auto s = store_subject(cpu, UnitScope::experts);
    FOVEA_VERIFY(s);
    const auto model = tests::load(small_model(), cpu);
    FOVEA_VERIFY(model);
    const Windows windows{tokens(150, tests::seed()), tokens(150, tests::seed() + 1)};
    const auto calibration = calibrate(*model, s->units, cpu, windows, {}, {}, {});
    FOVEA_VERIFY(calibration);
    const auto store_for = [&](const kernels::Device& device) {
      const PrepareParts parts{s->checkpoint, s->units, s->tiers, device, cpu, &*calibration};
      const std::filesystem::path path = folder.path() / (device.name() + ".store");
      auto writer = write_versions(parts, path, 2, {}, {});
      if (!writer || !writer->finish()) qFatal("no store");
      auto store = Store::open(path, identity_of(parts));
      if (!store) qFatal("%s", store.error().message().c_str());
      return *std::move(store);
    };
    const Store wanted = store_for(cpu), made = store_for(*card), rows = store_for(in_rows);
    QVERIFY(made.identity().packing != wanted.identity().packing);
    int measured = 0;
    for (UnitId id = 0; id < s->units.size(); ++id) {
      for (std::int64_t tier = 0; tier < 2; ++tier) {
        const checkpoint::Extent &a = wanted.extent(id, tier), &b = made.extent(id, tier);
        QCOMPARE(b.weight_error, a.weight_error);
        QCOMPARE(b.output_error, a.output_error);
        QCOMPARE(b.calibration_tokens, a.calibration_tokens);
        measured += b.output_error > 0;

        std::vector<std::byte> version(static_cast<std::size_t>(b.bytes)), packed(version.size());
        std::vector<std::byte> file(static_cast<std::size_t>(rows.extent(id, tier).bytes));
        FOVEA_VERIFY(made.read(id, tier, version));
        FOVEA_VERIFY(rows.read(id, tier, file));
        const Tier& t = s->tiers[static_cast<std::size_t>(tier)];
        const Unit& unit = s->units[id];
        const auto plain = weights_at(t, unit, in_rows, file.data());
        const auto cards = weights_at(t, unit, *card, packed.data());
        for (std::size_t part = 0; part < unit.matrices().size(); ++part) {
          const kernels::Weight& w = cards[part];
          card->pack(w.packing, w.type, w.rows, w.columns, plain[part].data, 0, w.rows,
                     const_cast<std::byte*>(w.data));
        }
        QVERIFY(version == packed);
      }
    }
    QVERIFY(measured > 0);
  }

  // With enough inputs the rounding follows them: on other inputs of the same kind the outputs are closer.
  void inputsGuideTheRounding() {
    const kernels::Device& device = kernels::reference::device();
    const tests::TemporaryFolder folder;
    const auto s = store_subject(device, UnitScope::linear_layers);
    FOVEA_VERIFY(s);
    const auto model = tests::load(small_model(), device);
    FOVEA_VERIFY(model);
    const Windows windows{tokens(150, tests::seed()), tokens(150, tests::seed() + 1)};
    const auto calibration = calibrate(*model, s->units, device, windows, {}, {}, {});
    FOVEA_VERIFY(calibration);
    const auto guided = make_store(*s, folder.path() / "guided.store", 2, &*calibration);
    const auto free = make_store(*s, folder.path() / "free.store", 2);
    FOVEA_VERIFY(guided);
    FOVEA_VERIFY(free);
    Recorder recorder;
    recorder.used = model->config().experts_used();
    recorder.d = model->config().hidden;
    recorder.columns = {recorder.d, heads_of(*model), recorder.d};
    auto runner = WindowRunner::create(*model, device, 100, 1);
    FOVEA_VERIFY(runner);
    FOVEA_VERIFY(runner->run(tokens(100, tests::seed() + 2), &recorder, {}, {}));
    double guided_error = 0, free_error = 0;
    for (UnitId id = 0; id < 3; ++id) {  // q, k, v
      const models::MatrixSource& matrix = s->units[id].parts[0];
      const std::vector<double> expected =
          multiply(recorder.inputs[0], matrix_values(*s, matrix), matrix.columns);
      const auto error = [&](const Store& store) {
        const StoredVersion version(store, *s, id, 1);
        std::vector<float> w(static_cast<std::size_t>(matrix.parameters()));
        kernels::formats::dequantize(*s->tiers[1].type, version.bytes.data(), matrix.parameters(), w.data());
        std::vector<double> y = multiply(recorder.inputs[0], w, matrix.columns);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] -= expected[i];
        return norm(y) / norm(expected);
      };
      guided_error += error(*guided);
      free_error += error(*free);
    }
    QVERIFY2(guided_error < 0.8 * free_error,
             qPrintable(QString("%1, without %2").arg(guided_error).arg(free_error)));
  }

  // Other windows or settings are another calibration, which a store tells.
  void calibrationsHaveNames() {
    const Windows windows{{1, 2, 3}, {4, 5}};
    const std::uint64_t name = calibration_fingerprint(windows, {});
    QVERIFY(name != 0 && name == calibration_fingerprint(windows, {.threads = 7}));
    QVERIFY(name != calibration_fingerprint({{1, 2, 3}, {4, 6}}, {}));
    QVERIFY(name != calibration_fingerprint(windows, {.rows_per_unit = 5}));
  }

  // What a layer's experts cost, against logits of a model whose weights were exchanged by hand: all of them,
  // and each half. It is divided by uses and squared errors.
  void divergencesAreThoseOfTheModelsOutput() {
    const kernels::Device& device = kernels::reference::device();
    const tests::TemporaryFolder folder;
    const auto s = store_subject(device, UnitScope::experts);
    FOVEA_VERIFY(s);
    auto model = tests::load(small_model(), device);
    FOVEA_VERIFY(model);
    const Windows windows{tokens(12, tests::seed()), tokens(5, tests::seed() + 9)};
    auto writer = write_versions(s->parts(), folder.path() / "a.store", 1, {}, {});
    FOVEA_VERIFY(writer);
    FOVEA_VERIFY(
        measure_divergences(*model, s->units, s->tiers, device, {*writer}, *writer, windows, 1, {}, {}));
    // With versions that another store holds, of the tier that is measured alone.
    QCOMPARE(first_measured_tier(s->units, s->tiers), 1);
    const TierSet lowest{s->tiers.back()};
    const PrepareParts again{.checkpoint = s->parts().checkpoint,
                             .units = s->units,
                             .tiers = lowest,
                             .device = device,
                             .computes = device};
    auto versions = write_versions(again, folder.path() / "lowest.store", 1, {}, {});
    auto other = write_versions(s->parts(), folder.path() / "b.store", 1, {}, {});
    FOVEA_VERIFY(versions);
    FOVEA_VERIFY(other);
    FOVEA_VERIFY(
        measure_divergences(*model, s->units, s->tiers, device, {*versions, 1}, *other, windows, 1, {}, {}));
    for (UnitId id = 0; id < s->units.size(); ++id)
      QCOMPARE(other->extent(id, 1).divergence, writer->extent(id, 1).divergence);
    FOVEA_VERIFY(writer->finish());
    const auto store = Store::open(folder.path() / "a.store");
    FOVEA_VERIFY(store);
    const auto vocabulary = static_cast<std::size_t>(model->config().vocabulary);
    const auto all_logits = [&] {
      std::vector<float> all;
      auto runner = WindowRunner::create(*model, device, 12, 1);
      for (const auto& window : windows) {
        static_cast<void>(runner->run(window, nullptr,
                                      [&](std::int64_t, std::span<const float> rows) {
                                        all.insert(all.end(), rows.begin(), rows.end());
                                      },
                                      {}));
      }
      return all;
    };
    const std::vector<float> before = all_logits();
    const auto divergence_of = [&](const std::vector<UnitId>& ids) {
      std::vector<std::unique_ptr<StoredVersion>> versions;
      const std::vector<kernels::Expert> kept(model->handles()[0].experts.begin(),
                                              model->handles()[0].experts.end());
      for (const UnitId id : ids) {
        versions.push_back(std::make_unique<StoredVersion>(*store, *s, id, 1));
        const auto weights = weights_at(s->tiers[1], s->units[id], device, versions.back()->bytes.data());
        model->handles()[0].experts[static_cast<std::size_t>(id)] = {weights[0], weights[1], weights[2]};
      }
      const std::vector<float> after = all_logits();
      for (std::size_t i = 0; i < kept.size(); ++i) model->handles()[0].experts[i] = kept[i];
      double divergence = 0;
      for (std::size_t at = 0; at < before.size(); at += vocabulary) {
        double p_sum = 0, q_sum = 0, both = 0;
        for (std::size_t i = at; i < at + vocabulary; ++i) {
          p_sum += std::exp(static_cast<double>(before[i]));
          q_sum += std::exp(static_cast<double>(after[i]));
        }
        for (std::size_t i = at; i < at + vocabulary; ++i)
          both += std::exp(static_cast<double>(before[i])) / p_sum *
                  (static_cast<double>(before[i]) - static_cast<double>(after[i]));
        divergence += both + std::log(q_sum) - std::log(p_sum);
      }
      return divergence / static_cast<double>(before.size() / vocabulary);
    };
    std::vector<UnitId> all, even, odd;  // without a calibration all are used alike
    for (UnitId id = 0; id < s->units.size(); ++id) {
      all.push_back(id);
      (id % 2 == 0 ? even : odd).push_back(id);
    }
    const double whole = divergence_of(all);
    const double own = std::clamp(2 * whole - divergence_of(even) - divergence_of(odd), 0.05 * whole, whole);
    QVERIFY(whole > 1e-7);
    double sum = 0;
    for (const UnitId id : all) {
      QCOMPARE(store->extent(id, 0).divergence, 0.0F);
      sum += static_cast<double>(store->extent(id, 1).divergence);
      const auto by_error = [&](UnitId of) {
        const checkpoint::Extent& extent = store->extent(of, 1);
        return static_cast<double>(extent.divergence) / std::pow(static_cast<double>(extent.output_error), 2);
      };
      QVERIFY(std::abs(by_error(id) / by_error(0) - 1) < 1e-3);
    }
    QVERIFY2(std::abs(sum - own) < 1e-6 + 2e-3 * own,
             qPrintable(QString("%1, expected %2").arg(sum).arg(own)));
    QVERIFY(all_logits() == before);  // the model is left as it was
  }
};
FOVEA_TEST(CalibrateTest)

#include "calibrate_test.moc"
