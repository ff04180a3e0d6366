#include <limits>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;
using checkpoint::StoredType;

class GgufTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void reads_every_type_data();
  void reads_every_type();
  void reads_scalars();
  void reads_lists();
  void remembers_stored_types();
  void converts_only_what_fits();
  void honours_the_alignment();
  void reads_both_versions();
  void opens_all_parts_data();
  void opens_all_parts();
  void names_a_missing_part();
  void refuses_parts_with_other_names();
  void refuses_a_tensor_in_two_parts();
  void refuses_parts_with_too_few_tensors();
  void opens_the_only_part();
  void opens_a_vocabulary();
  void drop_keeps_the_bytes();
  void refuses_what_is_no_model();
};

void GgufTest::reads_every_type_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<int>("number");
  QTest::addColumn<int>("type");
  QTest::addColumn<int>("bytes");
  // Bytes of [2, 3, 256] elements, from the block sizes that the GGUF specification states.
  struct Row {
    const char* name;
    int type;
    int bytes;
  };
  static constexpr Row rows[] = {
      {"F32", 0, 6144},   {"F16", 1, 3072},    {"BF16", 30, 3072},  {"Q4_0", 2, 864},
      {"Q4_1", 3, 960},   {"Q5_0", 6, 1056},   {"Q5_1", 7, 1152},   {"Q8_0", 8, 1632},
      {"Q2_K", 10, 504},  {"Q3_K", 11, 660},   {"Q4_K", 12, 864},   {"Q5_K", 13, 1056},
      {"Q6_K", 14, 1260}, {"IQ4_NL", 20, 864}, {"IQ4_XS", 23, 816}, {"MXFP4", 39, 816}};
  int number = 0;
  for (const Row& row : rows)
    QTest::newRow(row.name) << QString(row.name) << number++ << row.type << row.bytes;
}

void GgufTest::reads_every_type() {
  QFETCH(QString, name);
  QFETCH(int, number);
  QFETCH(int, type);
  QFETCH(int, bytes);
  const auto file = Checkpoint::open(sample("types.gguf"));
  FOVEA_VERIFY(file);
  QCOMPARE(file->tensors().size(), std::size_t{16});
  const checkpoint::TensorInfo* info = file->find("weight." + name.toStdString());
  QVERIFY(info);
  QCOMPARE(static_cast<int>(info->type), type);
  QCOMPARE(info->shape, (std::vector<std::int64_t>{2, 3, 256}));
  QCOMPARE(info->elements(), 1536);
  QCOMPARE(file->bytes(*info).size(), static_cast<std::size_t>(bytes));
  QVERIFY(has_pattern(file->bytes(*info), static_cast<std::size_t>(number)));
  QVERIFY(!has_pattern(file->bytes(*info), static_cast<std::size_t>(number) + 1));
  QVERIFY(!file->find("weight"));
}

void GgufTest::reads_scalars() {
  const auto file = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(file);
  const checkpoint::Metadata& keys = file->metadata();
  QCOMPARE(keys.integer("test.u8"), 200);
  QCOMPARE(keys.integer("test.i8"), -100);
  QCOMPARE(keys.integer("test.u16"), 60000);
  QCOMPARE(keys.integer("test.i16"), -30000);
  QCOMPARE(keys.integer("test.u32"), 4000000000);
  QCOMPARE(keys.integer("test.i32"), -2000000000);
  QCOMPARE(keys.integer("test.i64"), std::numeric_limits<std::int64_t>::min());
  QCOMPARE(keys.number("test.f32"), static_cast<double>(0.1F));
  QCOMPARE(keys.number("test.f64"), 0.1);
  QCOMPARE(keys.boolean("test.true"), true);
  QCOMPARE(keys.boolean("test.false"), false);
  QVERIFY(keys.string("test.string") == "Grüße, 世界");
  QVERIFY(keys.string("test.empty_string") == "");
  QVERIFY(keys.string("general.architecture") == "llama");
  QVERIFY(!keys.contains("test"));
}

void GgufTest::reads_lists() {
  const auto file = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(file);
  const checkpoint::Metadata& keys = file->metadata();
  using Integers = std::vector<std::int64_t>;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  QCOMPARE(keys.integers("test.list.u8"), (Integers{0, 255}));
  QCOMPARE(keys.integers("test.list.i8"), (Integers{-128, 127}));
  QCOMPARE(keys.integers("test.list.u16"), (Integers{1, 2, 65535}));
  QCOMPARE(keys.integers("test.list.i16"), (Integers{-32768, 5}));
  QCOMPARE(keys.integers("test.list.u32"), (Integers{7, 4294967295}));
  QCOMPARE(keys.integers("test.list.i32"), (Integers{-1, 3, -2147483648}));
  QCOMPARE(keys.integers("test.list.i64"), (Integers{least, 9223372036854775807}));
  QCOMPARE(keys.numbers("test.list.f32"), (std::vector<double>{0.5, -1.25}));
  QCOMPARE(keys.numbers("test.list.f64"), (std::vector<double>{0.1, 1e300}));
  QCOMPARE(keys.numbers("test.list.i8"), (std::vector<double>{-128, 127}));
  const auto* flags = std::get_if<std::vector<bool>>(keys.find("test.list.bool"));
  QVERIFY(flags && *flags == (std::vector<bool>{true, false, true}));
  const auto* texts = keys.strings("test.list.string");
  QVERIFY(texts && *texts == (std::vector<std::string_view>{"", "a", "Ġhello", "世界"}));
}

void GgufTest::remembers_stored_types() {
  const auto file = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(file);
  for (const char* prefix : {"test.", "test.list."}) {
    for (const char* type : {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "string"}) {
      const std::string key = std::string(prefix) + type;
      QVERIFY2(stored_type_name(file->metadata().stored_type(key)) == type, key.c_str());
    }
  }
  QVERIFY(file->metadata().stored_type("test.true") == StoredType::boolean);
  QVERIFY(file->metadata().stored_type("test.list.bool") == StoredType::boolean);
}

void GgufTest::converts_only_what_fits() {
  const auto file = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(file);
  const checkpoint::Metadata& keys = file->metadata();
  QVERIFY(!keys.integer("test.u64"));  // 2^64 - 1
  QVERIFY(keys.integers("test.list.u64").empty());
  QVERIFY(!keys.integer("test.f32"));
  QVERIFY(!keys.integer("test.true"));
  QVERIFY(!keys.number("test.string"));
  QVERIFY(!keys.string("test.u8"));
  QVERIFY(!keys.boolean("test.u8"));
  QVERIFY(!keys.strings("test.string"));
  QVERIFY(keys.integers("test.list.string").empty());
  QCOMPARE(keys.number("test.u8"), 200.0);
}

void GgufTest::honours_the_alignment() {
  const auto file = Checkpoint::open(sample("metadata.gguf"));
  FOVEA_VERIFY(file);
  QCOMPARE(file->metadata().integer("general.alignment"), 64);
  QCOMPARE(file->tensors().size(), std::size_t{2});
  QCOMPARE(file->tensors()[1].offset, file->tensors()[0].offset + 64);
  QVERIFY(has_pattern(file->bytes(*file->find("odd")), 0));
  QVERIFY(has_pattern(file->bytes(*file->find("next")), 1));
  QCOMPARE(file->find("next")->shape, (std::vector<std::int64_t>{5, 7}));
}

void GgufTest::reads_both_versions() {
  const auto second = Checkpoint::open(sample("version2.gguf"));
  const auto third = Checkpoint::open(sample("small.gguf"));
  FOVEA_VERIFY(second);
  FOVEA_VERIFY(third);
  QCOMPARE(second->format_name(), std::string("GGUF v2"));
  QCOMPARE(third->format_name(), std::string("GGUF v3"));
  QCOMPARE(second->tensors().size(), std::size_t{5});
  for (std::size_t k = 0; k < 5; ++k) {
    const auto* info = second->find("blk." + std::to_string(k) + ".weight");
    QVERIFY(info);
    QVERIFY(has_pattern(second->bytes(*info), k));
  }
}

void GgufTest::opens_all_parts_data() {
  QTest::addColumn<QString>("part");
  for (const char* number : {"1", "2", "3"})
    QTest::newRow(number) << QString("split-0000%1-of-00003.gguf").arg(number);
}

void GgufTest::opens_all_parts() {
  QFETCH(QString, part);
  const auto file = Checkpoint::open(sample(part.toStdString()));
  FOVEA_VERIFY(file);
  QCOMPARE(file->files().size(), std::size_t{3});
  QCOMPARE(file->files()[1].filename().string(), std::string("split-00002-of-00003.gguf"));
  QCOMPARE(file->tensors().size(), std::size_t{5});
  for (std::size_t k = 0; k < 5; ++k) {
    const auto* info = file->find("blk." + std::to_string(k) + ".weight");
    QVERIFY(info);
    QCOMPARE(info->file, static_cast<std::uint32_t>(k / 2));
    QVERIFY(has_pattern(file->bytes(*info), k));
  }
  QVERIFY(file->metadata().string("general.name") == "small");
}

void GgufTest::names_a_missing_part() {
  const TemporaryFolder folder;
  for (const char* name : {"split-00001-of-00003.gguf", "split-00003-of-00003.gguf"}) {
    write_bytes(folder.path() / name, read_bytes(sample(name)));
  }
  const auto file = Checkpoint::open(folder.path() / "split-00003-of-00003.gguf");
  QVERIFY(!file);
  QCOMPARE(file.error().kind, ErrorKind::not_found);
  QVERIFY(file.error().message().find("split-00002-of-00003.gguf") != std::string::npos);
}

void GgufTest::refuses_parts_with_other_names() {
  const TemporaryFolder folder;
  const FileBytes first = read_bytes(sample("split-00001-of-00003.gguf"));
  for (const char* name : {"renamed.gguf", "x-00002-of-00003.gguf", "x-00001-of-00004.gguf"}) {
    write_bytes(folder.path() / name, first);
    const auto file = Checkpoint::open(folder.path() / name);
    QVERIFY2(!file, name);
    QVERIFY(file.error().message().find(name) != std::string::npos);
    QVERIFY(file.error().advice_words().find("names") != std::string::npos);
  }
}

void GgufTest::refuses_a_tensor_in_two_parts() {
  const TemporaryFolder folder;
  for (const char* name :
       {"split-00001-of-00003.gguf", "split-00002-of-00003.gguf", "split-00003-of-00003.gguf"}) {
    FileBytes bytes = read_bytes(sample(name));
    if (std::string_view(name).starts_with("split-00002"))
      overwrite_text(bytes, "blk.2.weight", "blk.0.weight");
    write_bytes(folder.path() / name, bytes);
  }
  const auto file = Checkpoint::open(folder.path() / "split-00001-of-00003.gguf");
  QVERIFY(!file);
  QCOMPARE(file.error().kind, ErrorKind::format);
  QVERIFY(file.error().message().find("split-00002-of-00003.gguf, offset") != std::string::npos);
  QVERIFY(file.error().message().find("blk.0.weight") != std::string::npos);
}

void GgufTest::refuses_parts_with_too_few_tensors() {
  const TemporaryFolder folder;
  for (const char* name :
       {"split-00001-of-00003.gguf", "split-00002-of-00003.gguf", "split-00003-of-00003.gguf"}) {
    FileBytes bytes = read_bytes(sample(name));
    if (std::string_view(name).starts_with("split-00001"))
      overwrite<std::int32_t>(bytes, after_text(bytes, "split.tensors.count") + 4, 6);
    write_bytes(folder.path() / name, bytes);
  }
  const auto file = Checkpoint::open(folder.path() / "split-00002-of-00003.gguf");
  QVERIFY(!file);
  QCOMPARE(file.error().kind, ErrorKind::format);
  QVERIFY(file.error().message().find("hold 5 tensors, split.tensors.count says 6") != std::string::npos);
}

// A model of one part need not be named as a part.
void GgufTest::opens_the_only_part() {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.gguf";
  checkpoint::Metadata metadata;
  metadata.set("split.count", std::uint64_t{1}, checkpoint::StoredType::u16);
  auto writer = checkpoint::GgufWriter::create(path, metadata, {});
  FOVEA_VERIFY(writer);
  FOVEA_VERIFY(writer->finish());
  FOVEA_VERIFY(Checkpoint::open(path));
}

void GgufTest::opens_a_vocabulary() {
  const auto file = Checkpoint::open(sample("vocabulary.gguf"));
  FOVEA_VERIFY(file);
  QVERIFY(file->tensors().empty());
  QCOMPARE(file->metadata().strings("tokenizer.ggml.tokens")->size(), std::size_t{3});
  QVERIFY(file->chat_template() == "{{ messages[0]['content'] }}");
  QVERIFY(file->tokenizer_json().empty());
}

void GgufTest::drop_keeps_the_bytes() {
  const auto file = Checkpoint::open(sample("types.gguf"));
  FOVEA_VERIFY(file);
  for (const auto& info : file->tensors()) file->will_need(info);
  for (const auto& info : file->tensors()) file->drop(info);
  for (std::size_t k = 0; k < file->tensors().size(); ++k)
    QVERIFY(has_pattern(file->bytes(file->tensors()[k]), k));
}

void GgufTest::refuses_what_is_no_model() {
  const TemporaryFolder folder;
  const auto missing = Checkpoint::open(folder.path() / "none.gguf");
  QVERIFY(!missing);
  QCOMPARE(missing.error().kind, ErrorKind::not_found);
  QVERIFY(missing.error().message().find("none.gguf") != std::string::npos);
  const auto empty_folder = Checkpoint::open(folder.path());
  QVERIFY(!empty_folder);
  QCOMPARE(empty_folder.error().kind, ErrorKind::not_found);
  write_text(folder.path() / "empty.gguf", "");
  const auto empty = Checkpoint::open(folder.path() / "empty.gguf");
  QVERIFY(!empty);
  QCOMPARE(empty.error().kind, ErrorKind::format);
  const auto device = Checkpoint::open("/dev/null");
  QVERIFY(!device);
  QCOMPARE(device.error().kind, ErrorKind::invalid);
}

FOVEA_TEST(GgufTest)
#include "gguf_test.moc"
