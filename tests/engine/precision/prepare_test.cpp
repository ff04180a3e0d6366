// Stores made from small models: what stands in them, and whatever interrupted their making.
#include "engine/precision/prepare.h"

#include <cmath>
#include <cstring>
#include <fstream>

#include "engine/precision/fingerprint.h"
#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"

#include "../models/runner.h"
#include "store_subject.h"

using namespace fovea;
using namespace fovea::precision;
using checkpoint::Checkpoint;
using checkpoint::Store;
using checkpoint::StoreWriter;
using fovea::tests::content;
using fovea::tests::make_store;
using fovea::tests::matrix_values;
using fovea::tests::small_model;
using fovea::tests::store_subject;
using fovea::tests::StoredVersion;

class PrepareTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // On the reference device, versions are the matrices in the file's order.
  void versionsAreWhatTheTierSays_data() { tests::add_scopes(); }
  void versionsAreWhatTheTierSays() {
    QFETCH(bool, experts);
    const tests::TemporaryFolder folder;
    const auto s =
        store_subject(kernels::reference::device(), experts ? UnitScope::experts : UnitScope::linear_layers);
    FOVEA_VERIFY(s);
    const auto store = make_store(*s, folder.path() / "a.store");
    FOVEA_VERIFY(store);
    int different = 0;
    for (UnitId id = 0; id < s->units.size(); ++id) {
      const StoredVersion file(*store, *s, id, 0), q4(*store, *s, id, 1);
      QVERIFY(file.read && q4.read);
      double error = 0, size = 0;
      std::size_t file_at = 0, q4_at = 0;
      for (const models::MatrixSource& matrix : s->units[id].matrices()) {
        const auto as_file = static_cast<std::size_t>(matrix.bytes());
        QCOMPARE(std::memcmp(file.bytes.data() + file_at,
                             s->checkpoint.bytes(*matrix.tensor).data() + matrix.offset(), as_file),
                 0);
        const std::vector<float> w = matrix_values(*s, matrix);
        std::vector<std::byte> expected(
            static_cast<std::size_t>(matrix.rows * kernels::row_bytes(*s->tiers[1].type, matrix.columns)));
        std::vector<float> again(w.size());
        kernels::formats::quantize(*s->tiers[1].type, w.data(), matrix.parameters(), expected.data());
        QCOMPARE(std::memcmp(q4.bytes.data() + q4_at, expected.data(), expected.size()), 0);
        kernels::formats::dequantize(*s->tiers[1].type, expected.data(), matrix.parameters(), again.data());
        for (std::size_t i = 0; i < w.size(); ++i) {
          const double difference = static_cast<double>(w[i]) - static_cast<double>(again[i]);
          error += difference * difference;
          size += static_cast<double>(w[i]) * static_cast<double>(w[i]);
        }
        file_at += (as_file + 63) / 64 * 64;
        q4_at += (expected.size() + 63) / 64 * 64;
      }
      QCOMPARE(store->extent(id, 0).weight_error, 0.0F);
      QVERIFY(std::abs(static_cast<double>(store->extent(id, 1).weight_error) - std::sqrt(error / size)) <
              1e-6);
      different += error > 0 ? 1 : 0;
    }
    QVERIFY(different > 2);  // some are stored like that in the file already
  }

  // On every CPU the "file" tier is what a static model has in memory, byte for byte.
  void theFileTierIsTheStaticModel() {
    const tests::TemporaryFolder folder;
    for (const std::string_view set : kernels::cpu::available_instruction_sets()) {
      const kernels::Device& device = *kernels::cpu::device(set);
      const auto s = store_subject(device, UnitScope::experts);
      FOVEA_VERIFY(s);
      const auto model = tests::load(small_model(), device);
      FOVEA_VERIFY(model);
      const auto store = make_store(*s, folder.path() / (std::string(set) + ".store"));
      FOVEA_VERIFY(store);
      for (UnitId id = 0; id < s->units.size(); ++id) {
        const StoredVersion version(*store, *s, id, 0);
        QVERIFY(version.read);
        const Unit& unit = s->units[id];
        const auto found = weights_at(s->tiers[0], unit, device, version.bytes.data());
        const kernels::Expert& expert = model->layers()[static_cast<std::size_t>(unit.layer)]
                                            .experts[static_cast<std::size_t>(unit.index)];
        const kernels::Weight* const parts[] = {&expert.gate, &expert.up, &expert.down};
        for (std::size_t p = 0; p < 3; ++p) {
          QVERIFY(found[p].type == parts[p]->type && found[p].packing == parts[p]->packing);
          const auto bytes = static_cast<std::size_t>(
              device.packed_bytes(found[p].packing, found[p].type, found[p].rows, found[p].columns));
          QCOMPARE(std::memcmp(found[p].data, parts[p]->data, bytes), 0);
        }
      }
    }
  }

  void threadsChangeNothing() {
    const tests::TemporaryFolder folder;
    const auto s = store_subject(*kernels::cpu::default_device(), UnitScope::experts);
    FOVEA_VERIFY(s);
    FOVEA_VERIFY(make_store(*s, folder.path() / "1.store", 1));
    FOVEA_VERIFY(make_store(*s, folder.path() / "5.store", 5));
    QVERIFY(content(folder.path() / "1.store") == content(folder.path() / "5.store"));
  }

  // Stopped after each number of units: nothing appears under the name, and going on gives the same bytes.
  void goesOnAfterEachStop() {
    const tests::TemporaryFolder folder;
    const auto s = store_subject(*kernels::cpu::default_device(), UnitScope::linear_layers);
    FOVEA_VERIFY(s);
    FOVEA_VERIFY(make_store(*s, folder.path() / "whole.store"));
    const auto path = folder.path() / "a.store";
    const std::vector<std::int64_t> sizes = version_sizes(s->units, s->tiers, s->device);
    for (std::size_t missing = 0; missing < sizes.size(); ++missing) {
      {
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = write_versions(s->parts(), path, 1, {}, stop.get_token());
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
        QVERIFY(!std::filesystem::exists(path));
        // One version more than the time before.
        auto writer = StoreWriter::create(path, identity_of(s->parts()), sizes);
        FOVEA_VERIFY(writer);
        const auto unit = static_cast<std::int64_t>(missing / 2),
                   tier = static_cast<std::int64_t>(missing % 2);
        const Store whole = *Store::open(folder.path() / "whole.store");
        const StoredVersion version(whole, *s, static_cast<UnitId>(unit), tier);
        FOVEA_VERIFY(writer->write(unit, tier, version.bytes, whole.extent(unit, tier)));
      }
      // Damage to what was written, as a power cut leaves it, is put right.
      if (missing == 2) {
        std::fstream part(path.string() + ".part", std::ios::in | std::ios::out | std::ios::binary);
        part.seekp(Store::open(folder.path() / "whole.store")->extent(0, 0).offset + 5);
        part.write("damage", 6);
      }
    }
    FOVEA_VERIFY(make_store(*s, path));
    QVERIFY(content(path) == content(folder.path() / "whole.store"));
  }

  // Versions are read from whichever store of the model holds them: the one of the name, then a calibrated
  // one, then the smallest.
  void aStoreThatHoldsMoreIsFound() {
    const tests::TemporaryFolder folder;
    const auto s = store_subject(*kernels::cpu::default_device(), UnitScope::experts);
    FOVEA_VERIFY(s);
    const auto identity = [&](std::vector<std::string> tiers) {
      auto identity = identity_of(s->parts());
      identity.tiers = std::move(tiers);
      return identity;
    };
    const auto find = [&](std::vector<std::string> tiers) {
      return find_store(folder.path(), small_model(), identity(std::move(tiers))).value_or("none");
    };
    // Versions of a page each: what stands in them does not matter here.
    const auto make = [&](const char* name, checkpoint::StoreIdentity of) -> Result<void> {
      const std::vector<std::byte> version(4096);
      const std::vector<std::int64_t> sizes(static_cast<std::size_t>(of.units) * of.tiers.size(), 4096);
      FOVEA_TRY(StoreWriter writer, StoreWriter::create(folder.path() / name, of, sizes));
      for (std::int64_t unit = 0; unit < of.units; ++unit)
        for (std::int64_t tier = 0; tier < std::ssize(of.tiers); ++tier)
          FOVEA_CHECK(writer.write(unit, tier, version, {}));
      return writer.finish();
    };
    QCOMPARE(find({"q4"}), std::filesystem::path("none"));
    std::ofstream(folder.path() / "broken.store") << "no store";
    FOVEA_VERIFY(make("large.store", identity({"file", "q8", "q4", "q2"})));
    auto other = identity({"file", "q4"});
    other.packing = "cuda-rows-1";
    FOVEA_VERIFY(make("card.store", other));
    QCOMPARE(find({"file", "q4"}).filename(), std::filesystem::path("large.store"));
    FOVEA_VERIFY(make("small.store", identity({"file", "q4", "q2"})));
    QCOMPARE(find({"file", "q4"}).filename(), std::filesystem::path("small.store"));
    QCOMPARE(find({"q8", "q4"}).filename(), std::filesystem::path("large.store"));
    auto calibrated = identity({"file", "q8", "q4", "q2"});
    calibrated.calibration = 7;
    FOVEA_VERIFY(make("calibrated.store", calibrated));
    QCOMPARE(find({"file", "q4"}).filename(), std::filesystem::path("calibrated.store"));
    QCOMPARE(find({"q3", "q2"}), std::filesystem::path("none"));
    // What a calibrated one has of what is asked for.
    const auto held = [&](std::vector<std::string> tiers) {
      return calibrated_tiers(folder.path(), identity(std::move(tiers)));
    };
    QCOMPARE(held({"q8", "q3", "q2"}), (std::vector<std::string>{"q8", "q2"}));
    QCOMPARE(held({"bf16", "q3"}), std::vector<std::string>());
    QVERIFY(calibrated_tiers(folder.path(), other).empty());  // for another device
    const std::string own = store_name(small_model(), identity({"file", "q4"}));
    FOVEA_VERIFY(make(own.c_str(), identity({"file", "q4"})));
    QCOMPARE(find({"file", "q4"}).filename(), std::filesystem::path(own));
  }

  void unitsThatDoNotFitATierAreNamed() {
    auto s = store_subject(*kernels::cpu::default_device(), UnitScope::experts);
    FOVEA_VERIFY(s);
    s->tiers[1].type = kernels::Type::q4_k;  // blocks of 256, and no quantiser
    const auto checked = check_tiers(s->units, s->tiers);
    QVERIFY(!checked);
    QCOMPARE(checked.error().kind, ErrorKind::unsupported);
    QVERIFY(checked.error().where_words().contains("exps"));
  }

  void theFingerprintIsOfTheContent() {
    const tests::TemporaryFolder folder;
    const auto copy = folder.path() / "copy.gguf";
    std::filesystem::copy_file(small_model(), copy);
    const auto original = Checkpoint::open(small_model());
    FOVEA_VERIFY(original);
    const std::uint64_t expected = model_fingerprint(*original);
    std::uint64_t last = 0;
    {
      const auto same = Checkpoint::open(copy);
      FOVEA_VERIFY(same);
      QCOMPARE(model_fingerprint(*same), expected);
      const auto& tensor = same->tensors().front();
      last = tensor.offset + tensor.bytes - 1;
    }
    std::string bytes = content(copy);
    bytes[last] = static_cast<char>(bytes[last] ^ 1);
    std::ofstream(copy, std::ios::binary) << bytes;
    const auto changed = Checkpoint::open(copy);
    FOVEA_VERIFY(changed);
    QVERIFY(model_fingerprint(*changed) != expected);
  }

  void aStoresNameTellsWhatItIs() {
    checkpoint::StoreIdentity identity;
    identity.model_fingerprint = 0x0123456789abcdef;
    identity.scope = "experts";
    identity.tiers = {"file", "q2"};
    QCOMPARE(store_name("/m/a.b.gguf", identity), std::string("a.b-01234567-file-q2.store"));
    identity.scope = "linear_layers";
    QCOMPARE(store_name("/m/folder.1/", identity), std::string("folder.1-01234567-file-q2-linear.store"));
    identity.packing = "cpu-tiles-16";
    QCOMPARE(store_name("a.gguf", identity), std::string("a-01234567-file-q2-linear.store"));
    identity.packing = "cuda-tiles-16";
    QCOMPARE(store_name("a.gguf", identity), std::string("a-01234567-file-q2-linear-cuda.store"));
    identity.packing = "cuda-tiles-16.2";
    QCOMPARE(store_name("a.gguf", identity), std::string("a-01234567-file-q2-linear-cuda2.store"));
  }
};
FOVEA_TEST(PrepareTest)

#include "prepare_test.moc"
