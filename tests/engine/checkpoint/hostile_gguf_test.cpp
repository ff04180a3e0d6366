// Files that were made to harm: each is a good one with one field changed, and must cost one typed error that
// names the file and the offset of that field.
#include <functional>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_reader.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;

namespace {

constexpr std::uint64_t huge = std::uint64_t{1} << 63;

struct Hostile {
  const char* name;
  const char* file;
  std::function<std::uint64_t(FileBytes&)> change;  // returns the offset that the error must name
  ErrorKind kind;
  const char* words;  // part of the message
};

// Changes a number that stands `distance` bytes after a text.
template <class Number>
std::function<std::uint64_t(FileBytes&)> after(const char* text, std::uint64_t distance, Number value) {
  return [=](FileBytes& bytes) { return overwrite(bytes, after_text(bytes, text) + distance, value); };
}

// Changes a number at a fixed offset.
template <class Number>
std::function<std::uint64_t(FileBytes&)> fixed(std::uint64_t offset, Number value) {
  return [=](FileBytes& bytes) { return overwrite(bytes, offset, value); };
}

// Layout of a tensor's entry after its name: rank u32, two sizes u64 (innermost first), type u32, offset u64.
constexpr std::uint64_t first_size = 4, second_size = 12, type_field = 20, offset_field = 24;
constexpr ErrorKind format = ErrorKind::format, unsupported = ErrorKind::unsupported;

const std::vector<Hostile>& hostile_files() {
  static const std::vector<Hostile> list = {
      {"no magic", "small.gguf", fixed<char>(0, 'X'), format, "begins with \"XGUF\""},
      {"before GGUF", "small.gguf", [](FileBytes& b) { return overwrite<std::uint32_t>(b, 0, 0x67676a74); },
       unsupported, "before GGUF"},
      {"version 1", "small.gguf", fixed<std::uint32_t>(4, 1), unsupported,
       "version is 1, Fovea reads 2 and 3"},
      {"version 4", "small.gguf", fixed<std::uint32_t>(4, 4), unsupported, "version is 4"},
      {"version 0", "small.gguf", fixed<std::uint32_t>(4, 0), unsupported, "version is 0"},
      {"big-endian", "big_endian.gguf", [](FileBytes&) { return 4; }, unsupported, "big-endian"},
      {"tensor count", "small.gguf", fixed(8, huge), format, "tensor count is 9223372036854775808"},
      {"tensor count of all bits", "small.gguf", fixed(8, ~std::uint64_t{0}), format, "can hold at most"},
      {"key count", "small.gguf", fixed(16, huge), format, "metadata keys is 9223372036854775808"},
      {"key length", "small.gguf", fixed(24, huge), format,
       "length of a metadata key is 9223372036854775808"},
      {"key length of all bits", "small.gguf", fixed(24, ~std::uint64_t{0}), format, "at most"},
      {"key without a name", "small.gguf", fixed<std::uint64_t>(24, 0), format, "key is empty"},
      {"value type", "small.gguf", after<std::uint32_t>("general.name", 0, 13), format,
       "\"general.name\" is 13"},
      {"string length", "small.gguf", after("general.name", 4, huge), format, "length of \"general.name\""},
      {"string length of all bits", "small.gguf", after("general.name", 4, ~std::uint64_t{0}), format,
       "at most"},
      {"element type", "small.gguf", after<std::uint32_t>("ggml.tokens", 4, 77), format, "is 77"},
      {"array of arrays", "small.gguf", after<std::uint32_t>("ggml.tokens", 4, 9), unsupported,
       "array of arrays"},
      {"array length", "small.gguf", after("ggml.tokens", 8, std::uint64_t{1} << 61), format,
       "\"tokenizer.ggml.tokens\" has 2305843009213693952 elements"},
      {"array length past the end", "small.gguf", after<std::uint64_t>("ggml.tokens", 8, 200), format,
       "elements"},
      {"element length", "small.gguf", after("ggml.tokens", 16, huge), format,
       "length of \"tokenizer.ggml.tokens\""},
      {"the same key twice", "metadata.gguf",
       [](FileBytes& b) { return overwrite_text(b, "test.i8", "test.u8") - 8; }, format,
       "\"test.u8\" occurs twice"},
      {"truth value", "metadata.gguf", after<std::uint8_t>("test.true", 4, 2), format, "truth value 2"},
      {"truth value in an array", "metadata.gguf", after<std::uint8_t>("test.list.bool", 16, 255), format,
       "truth value 255"},
      {"alignment 0", "metadata.gguf", after<std::uint32_t>("general.alignment", 4, 0), format,
       "alignment is 0"},
      {"alignment 96", "metadata.gguf", after<std::uint32_t>("general.alignment", 4, 96), format,
       "power of two"},
      {"alignment 4", "metadata.gguf", after<std::uint32_t>("general.alignment", 4, 4), format,
       "power of two"},
      {"alignment of gigabytes", "metadata.gguf", after("general.alignment", 4, std::uint32_t{1} << 31),
       format, "power of two"},
      {"tensor name length", "small.gguf",
       [](FileBytes& b) { return overwrite(b, find_text(b, "blk.2.weight") - 8, huge); }, format,
       "a tensor's name"},
      {"tensor without a name", "small.gguf",
       [](FileBytes& b) { return overwrite<std::uint64_t>(b, find_text(b, "blk.2.weight") - 8, 0); }, format,
       "is empty"},
      {"rank 0", "small.gguf", after<std::uint32_t>("blk.1.weight", 0, 0), format, "0 dimensions"},
      {"rank 5", "small.gguf", after<std::uint32_t>("blk.1.weight", 0, 5), format, "5 dimensions"},
      {"rank of all bits", "small.gguf", after("blk.1.weight", 0, ~std::uint32_t{0}), format,
       "expected 1 to 4"},
      {"size 0", "small.gguf", after<std::uint64_t>("blk.1.weight", first_size, 0), format, "dimension of 0"},
      {"size beyond signed", "small.gguf", after("blk.1.weight", first_size, huge), format,
       "dimension of 9223"},
      {"type removed", "small.gguf", after<std::uint32_t>("blk.1.weight", type_field, 4), unsupported,
       "Q4_2 (4)"},
      {"type without a kernel", "small.gguf", after<std::uint32_t>("blk.1.weight", type_field, 16),
       unsupported, "\"blk.1.weight\" has type IQ2_XXS (16), which Fovea does not read. Use"},
      {"type undefined", "small.gguf", after<std::uint32_t>("blk.1.weight", type_field, 200), format,
       "number 200"},
      {"type of our own", "small.gguf", after<std::uint32_t>("blk.1.weight", type_field, 202), format,
       "number 202"},
      {"type of all bits", "small.gguf", after("blk.1.weight", type_field, ~std::uint32_t{0}), format,
       "4294967295"},
      {"type 256 is not F32", "small.gguf", after<std::uint32_t>("blk.1.weight", type_field, 256), format,
       "256"},
      {"offset unaligned", "small.gguf", after<std::uint64_t>("blk.1.weight", offset_field, 97), format,
       "begins at 97 of the data, expected a multiple of 32"},
      {"offset outside", "small.gguf", after("blk.1.weight", offset_field, huge), format, "the file holds"},
      {"offset that wraps", "small.gguf", after("blk.1.weight", offset_field, ~std::uint64_t{0} - 31), format,
       "the file holds"},
      {"offset at the end", "small.gguf", after<std::uint64_t>("blk.4.weight", offset_field, 480), format,
       "takes 68 bytes at 480"},
      {"overlap", "small.gguf", after<std::uint64_t>("blk.2.weight", offset_field, 128), format,
       "inside tensor \"blk.1.weight\""},
      {"the same place", "small.gguf", after<std::uint64_t>("blk.2.weight", offset_field, 96), format,
       "inside tensor"},
      {"the same tensor twice", "small.gguf",
       [](FileBytes& b) { return overwrite_text(b, "blk.3.weight", "blk.0.weight") - 8; }, format,
       "\"blk.0.weight\" occurs twice"},
  };
  return list;
}

// Shapes are complained about where the shape ends and the type has been read.
const std::vector<Hostile>& hostile_shapes() {
  const auto shape = [](std::uint64_t inner, std::uint64_t outer) {
    return [=](FileBytes& bytes) {
      overwrite(bytes, after_text(bytes, "blk.1.weight") + first_size, inner);
      return overwrite(bytes, after_text(bytes, "blk.1.weight") + second_size, outer) + 12;
    };
  };
  static const std::vector<Hostile> list = {
      {"row of broken blocks", "small.gguf", shape(33, 2), format,
       "rows of 33 elements, Q8_0 needs a multiple of 32"},
      {"product that overflows to 0", "small.gguf", shape(std::uint64_t{1} << 32, std::uint64_t{1} << 32),
       format, "shape [4294967296, 4294967296], which takes more than the file's"},
      {"product that overflows to little", "small.gguf", shape(32, (std::uint64_t{1} << 59) + 1), format,
       "shape ["},
      {"bytes that overflow", "small.gguf", shape(std::uint64_t{1} << 62, 1), format, "shape ["},
      {"more than the file", "small.gguf", shape(32, 28), format, "shape [28, 32]"},
  };
  return list;
}

}  // namespace
Q_DECLARE_METATYPE(const Hostile*)

class HostileGgufTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void is_refused_data();
  void is_refused();
  void every_prefix_is_refused_data();
  void every_prefix_is_refused();
  void arrays_are_bounded();
  void arrays_are_bounded_together();
  void keys_are_bounded();
};

void HostileGgufTest::is_refused_data() {
  QTest::addColumn<const Hostile*>("row");
  for (const auto* list : {&hostile_files(), &hostile_shapes()}) {
    for (const Hostile& row : *list) QTest::newRow(row.name) << &row;
  }
}

void HostileGgufTest::is_refused() {
  QFETCH(const Hostile*, row);
  const TemporaryFolder folder;
  FileBytes bytes = read_bytes(sample(row->file));
  if (std::string_view(row->file) != "big_endian.gguf") {  // the file is good before the change
    const auto good = checkpoint::read_gguf(bytes, "good.gguf");
    FOVEA_VERIFY(good);
  }
  const std::uint64_t offset = row->change(bytes);
  const auto path = folder.path() / "hostile.gguf";
  write_bytes(path, bytes);
  const auto file = Checkpoint::open(path);
  QVERIFY(!file);
  const std::string message = file.error().message();
  QVERIFY2(file.error().kind == row->kind, message.c_str());
  QVERIFY2(message.find(row->words) != std::string::npos, message.c_str());
  const std::string where = "hostile.gguf, offset " + std::to_string(offset) + ":";
  QVERIFY2(message.find(where) != std::string::npos, (message + " | expected " + where).c_str());
  QVERIFY2(file.error().has_advice(), message.c_str());
}

void HostileGgufTest::every_prefix_is_refused_data() {
  QTest::addColumn<QString>("name");
  for (const char* name : {"small.gguf", "version2.gguf", "metadata.gguf", "vocabulary.gguf"}) {
    QTest::newRow(name) << QString(name);
  }
}

// A file that is cut off anywhere before its last tensor's last byte. Each prefix has its own allocation, so
// that the address sanitizer sees a read past its end.
void HostileGgufTest::every_prefix_is_refused() {
  QFETCH(QString, name);
  const FileBytes whole = read_bytes(sample(name.toStdString()));
  const auto good = checkpoint::read_gguf(whole, "good.gguf");
  FOVEA_VERIFY(good);
  std::uint64_t end = 0;
  for (const auto& info : good->tensors) end = std::max(end, info.offset + info.bytes);
  // Without tensors the file ends with its last value, up to padding.
  if (good->tensors.empty()) end = after_text(whole, "{{ messages[0]['content'] }}");
  for (std::uint64_t length = 0; length < end; ++length) {
    const FileBytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto result = checkpoint::read_gguf(prefix, "cut.gguf");
    QVERIFY2(!result, std::to_string(length).c_str());
    const std::string message = result.error().message();
    QVERIFY2(result.error().kind == ErrorKind::format, message.c_str());
    QVERIFY2(message.starts_with("cut.gguf, offset "), message.c_str());
  }
  const FileBytes rest(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end));
  FOVEA_VERIFY(checkpoint::read_gguf(rest, "whole.gguf"));
}

// Small elements are widened to 8 bytes; a file of zeros must not turn into eight times its size without
// limit.
void HostileGgufTest::arrays_are_bounded() {
  const TemporaryFolder folder;
  FileBytes bytes = read_bytes(sample("metadata.gguf"));
  const std::uint64_t offset = after_text(bytes, "test.list.u8") + 8;
  constexpr std::uint64_t count = (std::uint64_t{1} << 25) + 1;
  overwrite(bytes, offset, count);
  const auto path = folder.path() / "hostile.gguf";
  write_bytes(path, bytes);
  std::filesystem::resize_file(path, count + bytes.size());  // sparse
  const auto file = Checkpoint::open(path);
  QVERIFY(!file);
  const std::string message = file.error().message();
  QVERIFY2(message.find("offset " + std::to_string(offset)) != std::string::npos, message.c_str());
  QVERIFY2(message.find("has 33554433 elements, at most") != std::string::npos, message.c_str());
}

namespace {

template <class Number>
void append(FileBytes& bytes, Number value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void append_key(FileBytes& bytes, std::string_view key) {
  append<std::uint64_t>(bytes, key.size());
  for (const char c : key) append(bytes, c);
}

// The head of a file with so many keys and no tensor.
FileBytes head(std::uint64_t keys) {
  FileBytes bytes;
  append<std::uint32_t>(bytes, 0x46554747);
  append<std::uint32_t>(bytes, 3);
  append<std::uint64_t>(bytes, 0);
  append<std::uint64_t>(bytes, keys);
  return bytes;
}

}  // namespace

void HostileGgufTest::arrays_are_bounded_together() {
  constexpr std::uint32_t boolean = 7, array = 9;
  constexpr std::uint64_t half = std::uint64_t{1} << 24;
  for (const std::uint64_t second : {half, half + 1}) {
    FileBytes bytes = head(2);
    std::uint64_t offset = 0;
    for (const auto& [key, count] : {std::pair("a", half), std::pair("b", second)}) {
      append_key(bytes, key);
      append(bytes, array);
      append(bytes, boolean);
      offset = bytes.size();
      append(bytes, count);
      bytes.resize(bytes.size() + count);
    }
    const auto file = checkpoint::read_gguf(bytes, "hostile.gguf");
    QCOMPARE(file.has_value(), second == half);
    if (file) continue;
    const std::string message = file.error().message();
    QVERIFY2(message.find("offset " + std::to_string(offset)) != std::string::npos, message.c_str());
    QVERIFY2(message.find("has 16777217 elements, at most 16777216") != std::string::npos, message.c_str());
  }
}

void HostileGgufTest::keys_are_bounded() {
  for (const std::size_t length : {65535, 65536}) {
    FileBytes bytes = head(1);
    append_key(bytes, std::string(length, 'k'));
    append<std::uint32_t>(bytes, 0);
    append<std::uint8_t>(bytes, 1);
    const auto file = checkpoint::read_gguf(bytes, "hostile.gguf");
    QCOMPARE(file.has_value(), length == 65535);
    if (!file) QVERIFY(file.error().message().find("is 65536, at most 65535") != std::string::npos);
  }
}

FOVEA_TEST(HostileGgufTest)
#include "hostile_gguf_test.moc"
