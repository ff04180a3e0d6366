// The expert store: what is written is read back, what was interrupted goes on, what is damaged is refused.
#include "engine/checkpoint/store.h"

#include <fcntl.h>
#include <random>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "engine/checkpoint/checksum.h"
#include "engine/checkpoint/store_format.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::checkpoint;
using tests::FileBytes;

namespace {

constexpr std::int64_t units = 3;
constexpr std::int64_t tiers = 2;
constexpr std::int64_t sizes[units * tiers] = {12288, 4096, 8192, 4096, 4096, 4096};  // [units, tiers]

StoreIdentity identity() {
  return {.model_fingerprint = 0x0123456789abcdef,
          .packing = "cpu-tiles-16",
          .scope = "experts",
          .quantizer_version = 7,
          .calibration = 5,
          .tiers = {"q8", "q4"},
          .units = units};
}

FileBytes version(std::int64_t unit, std::int64_t tier) {
  FileBytes bytes(static_cast<std::size_t>(sizes[unit * tiers + tier]));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = tests::pattern(static_cast<std::size_t>(unit * tiers + tier), i);
  return bytes;
}

Extent errors(std::int64_t unit, std::int64_t tier) {
  return {.weight_error = 0.25F + static_cast<float>(unit),
          .output_error = 0.5F,
          .divergence = tier == 0 ? -1.0F : 0.125F,
          .calibration_tokens = 77};
}

Result<void> write_one(StoreWriter& writer, std::int64_t unit, std::int64_t tier) {
  return writer.write(unit, tier, version(unit, tier), errors(unit, tier));
}

Result<void> write_store(const std::filesystem::path& path) {
  FOVEA_TRY(StoreWriter writer, StoreWriter::create(path, identity(), sizes));
  for (std::int64_t unit = 0; unit < units; ++unit) {
    for (std::int64_t tier = 0; tier < tiers; ++tier) FOVEA_CHECK(write_one(writer, unit, tier));
  }
  return writer.finish();
}

struct Aligned {
  explicit Aligned(std::size_t size)
      : memory(static_cast<std::byte*>(std::aligned_alloc(4096, size)), std::free),
        bytes(memory.get(), size) {}
  std::unique_ptr<std::byte, void (*)(void*)> memory;
  std::span<std::byte> bytes;
};

Result<FileBytes> read_one(const Store& store, std::int64_t unit, std::int64_t tier) {
  const Aligned memory(static_cast<std::size_t>(store.extent(unit, tier).bytes));
  FOVEA_CHECK(store.read(unit, tier, memory.bytes));
  return FileBytes(memory.bytes.begin(), memory.bytes.end());
}

std::string part_of(const std::filesystem::path& path) {
  return path.string() + ".part";
}

// Puts right the checksums of a header that a test changed, so that the change itself is what is found.
void seal(FileBytes& file) {
  std::uint64_t json_bytes = 0;
  std::memcpy(&json_bytes, file.data() + 32, 8);
  json_bytes = std::min<std::uint64_t>(json_bytes, file.size() - store_header_bytes);
  tests::overwrite(file, 40, checksum64(std::span(file).subspan(store_header_bytes, json_bytes)));
  tests::overwrite(file, 80, checksum64(std::span(file).first(80)));
}

// The same for the index entries.
void seal_entries(FileBytes& file) {
  std::uint64_t index = 0, seed = 0;
  std::memcpy(&index, file.data() + 56, 8);
  std::memcpy(&seed, file.data() + 80, 8);
  for (std::size_t slot = 0; slot < units * tiers; ++slot) {
    const std::size_t at = index + slot * store_entry_bytes;
    tests::overwrite(file, at + 40, checksum64(std::span(file).subspan(at, 40), seed + slot));
  }
}

}  // namespace

class StoreTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isReadAsItWasWritten_data() {
    QTest::addColumn<bool>("direct");
    QTest::newRow("buffered") << false;
    QTest::newRow("direct") << true;
  }
  void isReadAsItWasWritten() {
    QFETCH(bool, direct);
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "new folder" / "a.store";
    FOVEA_VERIFY(write_store(path));
    QVERIFY(!std::filesystem::exists(part_of(path)));
    const auto store = Store::open(path, identity(), direct ? ReadMode::direct : ReadMode::buffered);
    FOVEA_VERIFY(store);
    QVERIFY(store->identity() == identity());
    QCOMPARE(store->file_bytes(), static_cast<std::int64_t>(std::filesystem::file_size(path)));
    QCOMPARE(store->file_bytes(), store_bytes(identity(), sizes));
    std::int64_t end = 4096;  // header and index fit one page
    for (std::int64_t tier = 0; tier < tiers; ++tier) {
      for (std::int64_t unit = 0; unit < units; ++unit) {
        const Extent& extent = store->extent(unit, tier);
        QCOMPARE(extent.offset, end);
        QCOMPARE(extent.bytes, sizes[unit * tiers + tier]);
        end += extent.bytes;
        QCOMPARE(extent.weight_error, errors(unit, tier).weight_error);
        QCOMPARE(extent.output_error, errors(unit, tier).output_error);
        QCOMPARE(extent.divergence, errors(unit, tier).divergence);
        QCOMPARE(extent.calibration_tokens, 77U);
        const auto bytes = read_one(*store, unit, tier);
        FOVEA_VERIFY(bytes);
        QVERIFY(*bytes == version(unit, tier));
      }
    }
    QCOMPARE(end, store->file_bytes());
  }

  void manyThreadsRead() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    const auto store = Store::open(path, identity());
    FOVEA_VERIFY(store);
    std::atomic<int> right = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          for (int round = 0; round < 50; ++round) {
            const std::int64_t unit = (i + round) % units, tier = round % tiers;
            const auto bytes = read_one(*store, unit, tier);
            if (bytes && *bytes == version(unit, tier)) ++right;
          }
        });
      }
    }
    QCOMPARE(right.load(), 200);
  }

  void goesOnWhereItWas() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    {
      auto writer = StoreWriter::create(path, identity(), sizes);
      FOVEA_VERIFY(writer);
      FOVEA_VERIFY(write_one(*writer, 1, 0));
      FOVEA_VERIFY(write_one(*writer, 2, 1));
    }
    const auto unfinished = Store::open(path, identity());
    QVERIFY(!unfinished);
    QCOMPARE(unfinished.error().kind, ErrorKind::not_found);
    QVERIFY(unfinished.error().what_words().contains("not finished"));

    auto writer = StoreWriter::create(path, identity(), sizes);
    FOVEA_VERIFY(writer);
    for (std::int64_t unit = 0; unit < units; ++unit) {
      for (std::int64_t tier = 0; tier < tiers; ++tier) {
        const bool there = (unit == 1 && tier == 0) || (unit == 2 && tier == 1);
        QCOMPARE(writer->has(unit, tier), there);
        if (there) {
          const Aligned memory(static_cast<std::size_t>(sizes[unit * tiers + tier]));
          FOVEA_VERIFY(writer->read(unit, tier, memory.bytes));
          QVERIFY(std::ranges::equal(memory.bytes, version(unit, tier)));
          QCOMPARE(writer->extent(unit, tier).weight_error, errors(unit, tier).weight_error);
        } else {
          FOVEA_VERIFY(write_one(*writer, unit, tier));
        }
      }
    }
    FOVEA_VERIFY(writer->amend(
        0, 1, {.weight_error = 3, .output_error = 4, .divergence = 5, .calibration_tokens = 6}));
    FOVEA_VERIFY(writer->finish());
    const auto store = Store::open(path, identity());
    FOVEA_VERIFY(store);
    QCOMPARE(store->extent(0, 1).divergence, 5.0F);
    QVERIFY(*read_one(*store, 0, 1) == version(0, 1));
  }

  // After a power cut an entry may be on the disk and its extent not.
  void lostBytesOfAPartAreFound() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    {
      auto writer = StoreWriter::create(path, identity(), sizes);
      FOVEA_VERIFY(writer);
      FOVEA_VERIFY(write_one(*writer, 1, 0));
    }
    FileBytes part = tests::read_bytes(part_of(path));
    part[4096 + 12288 + 77] ^= std::byte{1};
    tests::write_bytes(part_of(path), part);
    const auto writer = StoreWriter::create(path, identity(), sizes);
    FOVEA_VERIFY(writer);
    QVERIFY(writer->has(1, 0));
    const Aligned memory(8192);
    const auto lost = writer->read(1, 0, memory.bytes);
    QVERIFY(!lost);
    QCOMPARE(lost.error().kind, ErrorKind::format);
  }

  void aPartOfAnotherStoreIsBegunAnew_data() {
    QTest::addColumn<int>("what");
    QTest::newRow("model") << 0;
    QTest::newRow("calibration") << 1;
    QTest::newRow("sizes") << 2;
    QTest::newRow("nothing written yet") << 3;
    QTest::newRow("cut off") << 4;
  }
  void aPartOfAnotherStoreIsBegunAnew() {
    QFETCH(int, what);
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    StoreIdentity other = identity();
    std::vector<std::int64_t> other_sizes(std::begin(sizes), std::end(sizes));
    if (what == 0) ++other.model_fingerprint;
    if (what == 1) ++other.calibration;
    if (what == 2) std::swap(other_sizes[0], other_sizes[1]);
    {
      auto writer = StoreWriter::create(path, other, other_sizes);
      FOVEA_VERIFY(writer);
      if (what != 2) FOVEA_VERIFY(write_one(*writer, 0, 0));
    }
    if (what == 3) tests::write_text(part_of(path), std::string(50000, '\0'));
    if (what == 4) std::filesystem::resize_file(part_of(path), 100);
    auto writer = StoreWriter::create(path, identity(), sizes);
    FOVEA_VERIFY(writer);
    for (std::int64_t i = 0; i < units * tiers; ++i) {
      QVERIFY(!writer->has(i / tiers, i % tiers));
      FOVEA_VERIFY(write_one(*writer, i / tiers, i % tiers));
    }
    FOVEA_VERIFY(writer->finish());
    const auto store = Store::open(path, identity());
    FOVEA_VERIFY(store);
    QVERIFY(store->identity() == identity());
  }

  void anotherFileIsNotTakenForAPart() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    for (const std::string& text : {std::string("mine"), std::string(50000, 'x')}) {
      tests::write_text(part_of(path), text);
      const auto writer = StoreWriter::create(path, identity(), sizes);
      QVERIFY(!writer);
      QCOMPARE(writer.error().where_words(), part_of(path));
      QCOMPARE(std::filesystem::file_size(part_of(path)), text.size());
    }
  }

  void twoPreparationsDoNotMeet() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    auto first = StoreWriter::create(path, identity(), sizes);
    FOVEA_VERIFY(first);
    const auto second = StoreWriter::create(path, identity(), sizes);
    QVERIFY(!second);
    QVERIFY(second.error().what_words().contains("another program"));
    *first = *StoreWriter::create(folder.path() / "b.store", identity(), sizes);
    FOVEA_VERIFY(StoreWriter::create(path, identity(), sizes));
  }

  void isNotFinishedWithHoles() {
    const tests::TemporaryFolder folder;
    auto writer = StoreWriter::create(folder.path() / "a.store", identity(), sizes);
    FOVEA_VERIFY(writer);
    FOVEA_VERIFY(write_one(*writer, 0, 0));
    const auto finished = writer->finish();
    QVERIFY(!finished);
    QVERIFY(finished.error().what_words().contains("5 extents"));
    QVERIFY(!std::filesystem::exists(folder.path() / "a.store"));
  }

  void whatCannotBeWrittenIsRefused() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    auto writer = StoreWriter::create(path, identity(), sizes);
    FOVEA_VERIFY(writer);
    QCOMPARE(writer->write(0, 0, version(0, 1), errors(0, 0)).error().kind, ErrorKind::invalid);
    QVERIFY(!writer->has(0, 0));
    constexpr std::int64_t half = std::int64_t{1} << 62;
    const std::int64_t huge[units * tiers] = {half, half, 4096, 4096, 4096, 4096};
    const std::int64_t none[units * tiers] = {4096, 0, 4096, 4096, 4096, 4096};
    const std::int64_t crooked[units * tiers] = {4096, 4000, 4096, 4096, 4096, 4096};
    for (const auto& wrong : {huge, none, crooked})
      QCOMPARE(StoreWriter::create(folder.path() / "b.store", identity(), std::span(wrong, units * tiers))
                   .error()
                   .kind,
               ErrorKind::invalid);
  }

  void tooLittleRoomIsToldBeforeItBegins() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    struct statvfs disk{};
    QCOMPARE(::statvfs(folder.path().c_str(), &disk), 0);
    const auto free = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
    std::vector<std::int64_t> huge(std::begin(sizes), std::end(sizes));
    huge[0] = free / 4096 * 4096 + (std::int64_t{1} << 36);
    const auto writer = StoreWriter::create(path, identity(), huge);
    QVERIFY(!writer);
    QCOMPARE(writer.error().kind, ErrorKind::io);
    QVERIFY2(writer.error().what_words().contains(std::to_string(store_bytes(identity(), huge))),
             writer.error().message().c_str());
    QVERIFY(!std::filesystem::exists(path));
    QVERIFY(!std::filesystem::exists(part_of(path)));
  }

  // The room is taken at once, where the file system can; a limit on the file's size stands for a full disk.
  void theRoomIsTakenAtOnce() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{16384, 16384};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const auto writer = StoreWriter::create(path, identity(), sizes);
      ::_exit(!writer && writer.error().kind == ErrorKind::io ? 0 : 1);
    }
    int status = -1;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QCOMPARE(status, 0);
    QVERIFY(!std::filesystem::exists(part_of(path)));
  }

  void aPartOfItsTiersIsRead() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    StoreIdentity low = identity();
    low.tiers.erase(low.tiers.begin());
    const auto store = Store::open(path, low);
    FOVEA_VERIFY(store);
    QVERIFY(store->identity() == low);
    for (std::int64_t unit = 0; unit < units; ++unit) {
      QCOMPARE(store->extent(unit, 0).bytes, sizes[unit * tiers + 1]);
      const auto bytes = read_one(*store, unit, 0);
      FOVEA_VERIFY(bytes);
      QVERIFY(*bytes == version(unit, 1));
    }
    low.tiers = {identity().tiers[1], identity().tiers[0]};
    QVERIFY(!Store::open(path, low));  // not in the store's order
  }

  void anotherIdentityIsNamed_data() {
    QTest::addColumn<int>("field");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("model") << 0 << QByteArray("fingerprint 0123456789abcdef, expected 0123456789abcdf0");
    QTest::newRow("packing") << 1 << QByteArray("packing cpu-tiles-16, expected rows");
    QTest::newRow("scope") << 2 << QByteArray("scope experts, expected linear_layers");
    QTest::newRow("tiers") << 3 << QByteArray("tiers q8, q4, expected q8, q2");
    QTest::newRow("quantiser") << 4 << QByteArray("version 7, expected 8");
    QTest::newRow("units") << 5 << QByteArray("for 3 units, expected 4");
    QTest::newRow("calibration does not matter") << 6 << QByteArray();
  }
  void anotherIdentityIsNamed() {
    QFETCH(int, field);
    QFETCH(QByteArray, says);
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    StoreIdentity expected = identity();
    if (field == 0) ++expected.model_fingerprint;
    if (field == 1) expected.packing = "rows";
    if (field == 2) expected.scope = "linear_layers";
    if (field == 3) expected.tiers[1] = "q2";
    if (field == 4) ++expected.quantizer_version;
    if (field == 5) ++expected.units;
    if (field == 6) expected.calibration = 0;
    const auto store = Store::open(path, expected);
    QCOMPARE(store.has_value(), says.isEmpty());
    if (store) return;
    QCOMPARE(store.error().kind, ErrorKind::invalid);
    const std::string message = store.error().message();
    QVERIFY2(message.contains(says.toStdString()), message.c_str());
    QVERIFY(message.contains("prepare MODEL --rebuild") && message.contains(path.string()));
  }

  // Each field of the header, the description and the index, with the checksums around it put right.
  void hostileFieldsAreRefused_data() {
    QTest::addColumn<int>("offset");
    QTest::addColumn<qulonglong>("value");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, int offset, unsigned long long value, int bytes, const char* says) {
      QTest::newRow(name) << offset << static_cast<qulonglong>(value) << bytes << QByteArray(says);
    };
    row("magic", 0, 0, 1, "not an expert store");
    row("version", 8, 2, 4, "reads version 1");
    row("entry size", 12, 40, 4, "48 bytes");
    row("no units", 16, 0, 8, "number of units");
    row("many units", 16, ~0ULL, 8, "number of units");
    row("units that the index cannot hold", 16, 1ULL << 30, 8, "extents begin");
    row("another number of units", 16, 4, 8, "counts are not");
    row("no tiers", 24, 0, 8, "number of tiers");
    row("many tiers", 24, 17, 8, "number of tiers");
    row("another number of tiers", 24, 1, 8, "counts are not");
    row("no description", 32, 0, 8, "description's length");
    row("long description", 32, 1ULL << 40, 8, "description's length");
    row("sizes' checksum", 48, 1, 8, "extents' sizes");
    row("index elsewhere", 56, 96, 8, "index begins at 96");
    row("extents elsewhere", 64, 8192, 8, "extents begin at 8192");
    row("negative offset", 64, ~0ULL, 8, "first extent's offset");
    row("another size", 72, 8192, 8, "should end here");
    row("larger size", 72, 1ULL << 40, 8, "the file ends here");
    row("crooked size", 72, 5000, 8, "counts do not allow");
    row("entry's offset", -1, 8192, 8, "damaged or was never written");
    row("entry's bytes", -9, 1ULL << 40, 8, "does not fit the file");
    row("entry's crooked bytes", -9, 5, 8, "does not fit the file");
    row("entry's other bytes", -9, 8192, 8, "damaged or was never written");
    row("error not a number", -25, 0x7FC00000, 4, "not a possible number");
    row("negative error", -29, 0xBF800000, 4, "not a possible number");
    row("infinite divergence", -33, 0x7F800000, 4, "not a possible number");
  }
  void hostileFieldsAreRefused() {
    QFETCH(int, offset);
    QFETCH(qulonglong, value);
    QFETCH(int, bytes);
    QFETCH(QByteArray, says);
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    FileBytes file = tests::read_bytes(path);
    std::uint64_t at = static_cast<std::uint64_t>(offset);
    if (offset < 0) {  // in the first entry
      std::memcpy(&at, file.data() + 56, 8);
      at += static_cast<std::uint64_t>(-1 - offset);
    }
    std::memcpy(file.data() + at, &value, static_cast<std::size_t>(bytes));
    if (offset > 0) seal(file);
    seal_entries(file);
    tests::write_bytes(path, file);
    const auto store = Store::open(path);
    QVERIFY(!store);
    const std::string message = store.error().message();
    QVERIFY2(message.contains(says.toStdString()), message.c_str());
    QVERIFY2(message.contains(", offset "), message.c_str());
    QVERIFY(store.error().kind == ErrorKind::format || store.error().kind == ErrorKind::unsupported);
  }

  void hostileDescriptionsAreRefused_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("no JSON") << QByteArray("{\"model") << QByteArray("[\"model") << QByteArray("offset");
    QTest::newRow("fingerprint") << QByteArray("0123456789abcdef") << QByteArray("0123456789ABCDEF")
                                 << QByteArray("\"model_fingerprint\"");
    QTest::newRow("missing") << QByteArray("\"packing\"") << QByteArray("\"Packing\"")
                             << QByteArray("\"packing\"");
    QTest::newRow("twice") << QByteArray("[\"q8\",\"q4\"]") << QByteArray("[\"q8\",\"q8\"]")
                           << QByteArray("without repetitions");
    QTest::newRow("no names") << QByteArray("[\"q8\",\"q4\"]") << QByteArray("[\"q8\",1234]")
                              << QByteArray("\"tiers\"");
    QTest::newRow("nameless") << QByteArray("[\"q8\",\"q4\"]") << QByteArray("[\"q8\",\"\"  ]")
                              << QByteArray("\"tiers\"");
    QTest::newRow("units") << QByteArray("\"units\":3") << QByteArray("\"units\":4")
                           << QByteArray("counts are not");
    QTest::newRow("negative") << QByteArray("\"quantizer_version\":7")
                              << QByteArray("\"quantizer_versio\":-7") << QByteArray("\"quantizer_version\"");
    QTest::newRow("nothing") << QByteArray("\"cpu-tiles-16\"") << QByteArray("\"\"            ")
                             << QByteArray("\"packing\"");
  }
  void hostileDescriptionsAreRefused() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QByteArray, says);
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    FileBytes file = tests::read_bytes(path);
    tests::overwrite_text(file, from.toStdString(), to.toStdString());
    seal(file);
    seal_entries(file);
    tests::write_bytes(path, file);
    const auto store = Store::open(path);
    QVERIFY(!store);
    QVERIFY2(store.error().message().contains(says.toStdString()), store.error().message().c_str());
  }

  void oneChangedBitIsFound() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    const FileBytes good = tests::read_bytes(path);
    std::mt19937 random(tests::seed());
    std::uint64_t index = 0;
    std::memcpy(&index, good.data() + 56, 8);
    const std::size_t front = index + units * tiers * store_entry_bytes;
    // Each byte of the front, and some of what is behind it.
    for (std::size_t round = 0; round < front + static_cast<std::size_t>(tests::rounds(150)); ++round) {
      FileBytes file = good;
      const std::size_t at = round < front ? round : random() % file.size();
      file[at] ^= static_cast<std::byte>(1U << random() % 8);
      tests::write_bytes(path, file);
      const auto store = Store::open(path);
      bool found = !store;
      for (std::int64_t i = 0; store && i < units * tiers; ++i)
        found |= !read_one(*store, i / tiers, i % tiers).has_value();
      // FileBytes behind the index belong to nobody.
      const bool padding =
          (at >= front && at < 4096) || (at >= store_header_bytes && at < index && good[at] == std::byte{0});
      QVERIFY2(found || padding, qPrintable(QString("seed %1, byte %2").arg(tests::seed()).arg(at)));
    }
  }

  void cutOffFilesAreRefused() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    const auto size = std::filesystem::file_size(path);
    for (const std::uintmax_t length : {std::uintmax_t{0}, std::uintmax_t{5}, std::uintmax_t{60},
                                        std::uintmax_t{120}, std::uintmax_t{4000}, size - 4096, size - 1}) {
      std::filesystem::resize_file(path, length);
      const auto store = Store::open(path, identity());
      QVERIFY(!store);
      QCOMPARE(store.error().kind, ErrorKind::format);
      QVERIFY(store.error().where_words().contains("offset"));
      std::filesystem::remove(path);
      FOVEA_VERIFY(write_store(path));
    }
  }

  void cutOffWhileItIsOpen() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    FOVEA_VERIFY(write_store(path));
    const auto store = Store::open(path, identity());
    FOVEA_VERIFY(store);
    std::filesystem::resize_file(path, 8192);
    const auto bytes = read_one(*store, 2, 1);
    QVERIFY(!bytes);
    QVERIFY(bytes.error().what_words().contains("cut off"));
  }

  // One version that is read in pieces, each when its turn has come.
  void aReadKeepsItsPace() {
    const tests::TemporaryFolder folder;
    const auto path = folder.path() / "a.store";
    StoreIdentity one = identity();
    one.units = 1;
    one.tiers = {"q8"};
    const std::int64_t bytes = 2 * paced_bytes + 4096;
    const FileBytes content(static_cast<std::size_t>(bytes), std::byte{7});
    auto writer = StoreWriter::create(path, one, {&bytes, 1});
    FOVEA_VERIFY(writer);
    FOVEA_VERIFY(writer->write(0, 0, content, {}));
    FOVEA_VERIFY(writer->finish());
    const auto store = Store::open(path, one);
    FOVEA_VERIFY(store);
    const Aligned memory(content.size());
    std::vector<std::int64_t> pieces;
    FOVEA_VERIFY(store->read(0, 0, memory.bytes, [&](std::int64_t piece) {
      pieces.push_back(piece);
      return true;
    }));
    QCOMPARE(pieces, (std::vector<std::int64_t>{paced_bytes, paced_bytes, 4096}));
    QVERIFY(std::ranges::equal(memory.bytes, content));
    const auto given_up = store->read(0, 0, memory.bytes, [](std::int64_t) { return false; });
    QVERIFY(!given_up);
    QCOMPARE(given_up.error().kind, ErrorKind::cancelled);
  }

  void otherThingsAreNoStores() {
    const tests::TemporaryFolder folder;
    // What cannot be opened may well be there.
    std::filesystem::create_symlink("circle", folder.path() / "circle");
    QCOMPARE(Store::open(folder.path() / "circle").error().kind, ErrorKind::io);
    QCOMPARE(Store::open(folder.path() / "none").error().kind, ErrorKind::not_found);
    QCOMPARE(Store::open(folder.path()).error().kind, ErrorKind::invalid);
    QCOMPARE(Store::open(tests::sample("types.gguf")).error().kind, ErrorKind::format);
  }
};
FOVEA_TEST(StoreTest)

#include "store_test.moc"
