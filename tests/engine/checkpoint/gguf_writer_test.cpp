#include "engine/checkpoint/gguf_writer.h"

#include "engine/checkpoint/checkpoint.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;
using checkpoint::GgufWriter;
using checkpoint::Metadata;
using checkpoint::StoredType;

class GgufWriterTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void copies_byte_for_byte();
  void keeps_keys_exactly();
  void appears_only_when_whole();
  void refuses_too_many_bytes();
  void refuses_unstorable_values();
  void refuses_broken_rows();
  void refuses_crooked_alignments();
  void says_that_a_folder_is_missing();
};

namespace {

// Copies an open file in pieces of `piece` bytes.
Result<void> copy(const Checkpoint& from, const std::filesystem::path& to, std::size_t piece) {
  auto writer = GgufWriter::create(to, from.metadata(), from.tensors());
  if (!writer) return std::unexpected(writer.error());
  for (const auto& info : from.tensors()) {
    std::span<const std::byte> bytes = from.bytes(info);
    while (!bytes.empty()) {
      const std::size_t count = std::min(piece, bytes.size());
      if (auto status = writer->append(bytes.first(count)); !status) return status;
      bytes = bytes.subspan(count);
    }
  }
  return writer->finish();
}

}  // namespace

// The golden file has its keys in sorted order, so the copy equals what gguf-py wrote.
void GgufWriterTest::copies_byte_for_byte() {
  const TemporaryFolder folder;
  const auto from = Checkpoint::open(sample("types.gguf"));
  FOVEA_VERIFY(from);
  FOVEA_VERIFY(copy(*from, folder.path() / "copy.gguf", 1000));
  QVERIFY(read_bytes(folder.path() / "copy.gguf") == read_bytes(sample("types.gguf")));
}

void GgufWriterTest::keeps_keys_exactly() {
  const TemporaryFolder folder;
  const auto from = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(from);
  FOVEA_VERIFY(copy(*from, folder.path() / "copy.gguf", 7));
  const auto to = Checkpoint::open(folder.path() / "copy.gguf");
  FOVEA_VERIFY(to);
  QVERIFY(to->metadata().all() == from->metadata().all());
  for (const auto& [key, value] : from->metadata().all()) {
    QVERIFY2(to->metadata().stored_type(key) == from->metadata().stored_type(key), key.c_str());
  }
  // Other order of keys, same sizes: the alignment of 64 and the tensors came along.
  QCOMPARE(read_bytes(folder.path() / "copy.gguf").size(), read_bytes(sample("metadata.gguf")).size());
  for (std::size_t k = 0; k < 2; ++k) QVERIFY(has_pattern(to->bytes(to->tensors()[k]), k));
}

void GgufWriterTest::appears_only_when_whole() {
  const TemporaryFolder folder;
  const auto path = folder.path() / "new.gguf";
  const std::vector<checkpoint::TensorInfo> tensors{{.name = "a", .shape = {4}}};
  {
    auto writer = GgufWriter::create(path, Metadata(), tensors);
    FOVEA_VERIFY(writer);
    FOVEA_VERIFY(writer->append(FileBytes(8)));
    QVERIFY(!std::filesystem::exists(path));
    QCOMPARE(std::filesystem::file_size(writer->unfinished()), writer->written_bytes());
    QVERIFY(!writer->finish());  // half of the tensor is missing
  }
  QVERIFY(std::filesystem::is_empty(folder.path()));
  write_text(path, "the file before");
  auto writer = GgufWriter::create(path, Metadata(), tensors);
  FOVEA_VERIFY(writer);
  FOVEA_VERIFY(writer->append(FileBytes(16)));
  QCOMPARE(writer->written_bytes(), writer->total_bytes());
  FOVEA_VERIFY(writer->finish());
  QCOMPARE(std::filesystem::file_size(path), writer->total_bytes());
  FOVEA_VERIFY(Checkpoint::open(path));
}

void GgufWriterTest::refuses_too_many_bytes() {
  const TemporaryFolder folder;
  auto writer = GgufWriter::create(folder.path() / "new.gguf", Metadata(),
                                   {{.name = "a", .shape = {4}}, {.name = "b", .shape = {4}}});
  FOVEA_VERIFY(writer);
  QVERIFY(!writer->append(FileBytes(17)));  // would run into the next tensor
  FOVEA_VERIFY(writer->append(FileBytes(16)));
  FOVEA_VERIFY(writer->append(FileBytes(16)));
  QVERIFY(!writer->append(FileBytes(1)));
  FOVEA_VERIFY(writer->finish());
  QVERIFY(!writer->append(FileBytes(1)));
  QVERIFY(!writer->finish());
}

void GgufWriterTest::refuses_unstorable_values() {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.set("key", std::string_view("text"), StoredType::u32);
  const auto writer = GgufWriter::create(folder.path() / "new.gguf", metadata, {});
  QVERIFY(!writer);
  QCOMPARE(writer.error().kind, ErrorKind::invalid);
  QVERIFY(writer.error().message().find("\"key\"") != std::string::npos);
}

void GgufWriterTest::refuses_broken_rows() {
  const TemporaryFolder folder;
  const auto writer = GgufWriter::create(folder.path() / "new.gguf", Metadata(),
                                         {{.name = "a", .type = kernels::Type::q8_0, .shape = {2, 33}}});
  QVERIFY(!writer);
  QCOMPARE(writer.error().kind, ErrorKind::invalid);
}

void GgufWriterTest::refuses_crooked_alignments() {
  const TemporaryFolder folder;
  for (const std::uint64_t alignment : {0, 4, 48}) {
    Metadata metadata;
    metadata.set("general.alignment", alignment, StoredType::u32);
    const auto writer = GgufWriter::create(folder.path() / "new.gguf", metadata, {});
    QVERIFY(!writer);
    QCOMPARE(writer.error().kind, ErrorKind::invalid);
  }
}

void GgufWriterTest::says_that_a_folder_is_missing() {
  const TemporaryFolder folder;
  const auto writer = GgufWriter::create(folder.path() / "none" / "new.gguf", Metadata(), {});
  QVERIFY(!writer);
  QCOMPARE(writer.error().kind, ErrorKind::io);
  QVERIFY(writer.error().message().find("none/new.gguf") != std::string::npos);
}

FOVEA_TEST(GgufWriterTest)
#include "gguf_writer_test.moc"
