// Hugging Face folders that were made to harm, or came down incomplete: each costs one typed error that names
// the file and, where a place in it is to blame, the offset.
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors_reader.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;

namespace {

constexpr ErrorKind format = ErrorKind::format, unsupported = ErrorKind::unsupported,
                    missing = ErrorKind::not_found;

// A safetensors file with this header and so many bytes of data.
FileBytes safetensors(std::string_view header, std::size_t data_bytes) {
  FileBytes bytes(8 + header.size() + data_bytes);
  overwrite<std::uint64_t>(bytes, 0, header.size());
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

struct HostileHeader {
  const char* name;
  std::string header;
  std::size_t data_bytes;
  ErrorKind kind;
  std::uint64_t offset;
  const char* words;
};

const std::vector<HostileHeader>& hostile_headers() {
  const auto tensor = [](const char* rest) { return R"({"a":)" + std::string(rest) + "}"; };
  static const std::vector<HostileHeader> list = {
      {"no JSON", "nonsense", 0, format, 8, "begins with \"n\", expected {"},
      {"an array", "[1,2,3]", 0, format, 8, "begins with \"[\""},
      {"broken JSON", R"({"a":{"dtype":)", 0, format, 22, "not valid JSON"},
      {"text after the object", R"({} x)", 0, format, 11, "not valid JSON"},
      {"nested without end", R"({"a":)" + std::string(100000, '['), 0, format, 8, "more than 4 levels"},
      {"invalid UTF-8", "{\"a\xff\":{}}", 0, format, 11, "not valid JSON"},
      {"the same tensor twice",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, format, 8, "\"a\" occurs twice"},
      {"no description", tensor("5"), 0, format, 9, "\"a\" has no description"},
      {"no dtype", tensor(R"({"shape":[1],"data_offsets":[0,4]})"), 4, format, 9, "no dtype"},
      {"dtype a number", tensor(R"({"dtype":3,"shape":[1],"data_offsets":[0,4]})"), 4, format, 9, "no dtype"},
      {"dtype unknown", tensor(R"({"dtype":"F4","shape":[2],"data_offsets":[0,1]})"), 1, unsupported, 9,
       "type \"F4\", which Fovea does not read"},
      {"dtype of an index", tensor(R"({"dtype":"I64","shape":[1],"data_offsets":[0,8]})"), 8, unsupported, 9,
       "type \"I64\", Fovea reads F32, F16 and BF16"},
      {"dtype quantised", tensor(R"({"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]})"), 1, unsupported,
       9, "\"F8_E4M3\""},
      {"no shape", tensor(R"({"dtype":"F32","data_offsets":[0,4]})"), 4, format, 9, "no shape"},
      {"negative size", tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), 4, format, 9,
       "shape [-1]"},
      {"broken size", tensor(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), 4, format, 9,
       "whole numbers"},
      {"size beyond signed", tensor(R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]})"),
       4, format, 9, "whole numbers"},
      {"too many dimensions", tensor(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"),
       4, format, 9, "9 dimensions"},
      {"product that overflows",
       tensor(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})"), 0, format, 9,
       "takes more than the file's"},
      {"bytes that overflow", tensor(R"({"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]})"),
       0, format, 9, "its shape and type need"},
      {"no offsets", tensor(R"({"dtype":"F32","shape":[1]})"), 4, format, 9, "no data_offsets"},
      {"one offset", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4]})"), 4, format, 9,
       "no data_offsets"},
      {"negative offset", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})"), 4, format, 9,
       "no data_offsets"},
      {"offsets reversed", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), 4, format, 9,
       "data_offsets [4,0], the file holds 4"},
      {"offset outside", tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), 4, format, 9,
       "the file holds 4"},
      {"offsets and shape differ", tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), 4, format,
       9, "has 4 bytes of data, its shape and type need 2 times 4"},
      {"bytes of half an element", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,6]})"), 6, format,
       9, "has 6 bytes"},
      {"hole at the beginning", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), 8, format, 9,
       "begins at byte 4 of the data, expected 0"},
      {"overlap",
       R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12, format, 62, "\"b\" begins at byte 4 of the data, expected 8"},
      {"hole",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
       12, format, 62, "\"b\" begins at byte 8 of the data, expected 4"},
      {"data without a tensor", tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), 9, format, 66,
       "goes on for 5 more bytes"},
  };
  return list;
}

struct HostileFolder {
  const char* name;
  const char* file;  // is written with the text
  std::string text;
  ErrorKind kind;
  const char* words;
};

const std::vector<HostileFolder>& hostile_folders() {
  const char* index = "model.safetensors.index.json";
  const auto map = [](std::string_view entries) { return "{\"weight_map\":{" + std::string(entries) + "}}"; };
  static const std::vector<HostileFolder> list = {
      {"config is no JSON", "config.json", "hello", format, "config.json, offset 0: this is not valid JSON"},
      {"config is cut off", "config.json", R"({"model_type": "lla)", format, "config.json, offset 19"},
      {"config is an array", "config.json", "[]", format, "no JSON object"},
      {"config is empty", "config.json", "", format, "config.json, offset"},
      {"config nested", "config.json", R"({"a":)" + std::string(200000, '['), format, "more than 64 levels"},
      {"generation config", "generation_config.json", "{", format, "generation_config.json, offset 1"},
      {"chat template of another kind", "tokenizer_config.json", R"({"chat_template": 7})", format,
       "chat_template is"},
      {"chat templates without a default", "tokenizer_config.json",
       R"({"chat_template": [{"name": "rag", "template": "x"}, 5, {"name": "default"}]})", format,
       "\"default\""},
      {"index is empty", index, "{}", format, "no weight_map"},
      {"weight_map is a list", index, R"({"weight_map":[]})", format, "no weight_map"},
      {"shard is a number", index, map(R"("layers.0.weight":3)"), format, "expected the name of a file"},
      {"shard above", index, map(R"("layers.0.weight":"../sharded/model-00001-of-00003.safetensors")"),
       format, "expected the name of a file in this folder"},
      {"shard elsewhere", index, map(R"("layers.0.weight":"/etc/passwd")"), format,
       "expected the name of a file"},
      {"shard is the folder", index, map(R"("layers.0.weight":"..")"), format, "expected the name of a file"},
      {"shard without a name", index, map(R"("layers.0.weight":"")"), format, "expected the name of a file"},
      {"shard with a zero byte", index, map(R"("layers.0.weight":"model\u0000")"), format,
       "expected the name of a file"},
      {"shard is missing", index, map(R"("layers.0.weight":"model-00007-of-00003.safetensors")"), missing,
       "model-00007-of-00003.safetensors: this file of the model is missing"},
      {"tensor that the index lacks", index, map(R"("layers.0.weight":"model-00001-of-00003.safetensors")"),
       format, "\"layers.1.weight\", which the index does not place"},
      {"tensor that the shard lacks", index,
       map(R"("layers.4.weight":"model-00003-of-00003.safetensors","x":"model-00003-of-00003.safetensors")"),
       format, "model-00003-of-00003.safetensors: the file lacks tensor \"x\""},
  };
  return list;
}

}  // namespace
Q_DECLARE_METATYPE(const HostileHeader*)
Q_DECLARE_METATYPE(const HostileFolder*)

class HostileFolderTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void header_is_refused_data();
  void header_is_refused();
  void header_length_is_refused_data();
  void header_length_is_refused();
  void every_prefix_is_refused();
  void folder_is_refused_data();
  void folder_is_refused();
};

void HostileFolderTest::header_is_refused_data() {
  QTest::addColumn<const HostileHeader*>("row");
  for (const HostileHeader& row : hostile_headers()) QTest::newRow(row.name) << &row;
}

void HostileFolderTest::header_is_refused() {
  QFETCH(const HostileHeader*, row);
  const auto result =
      checkpoint::read_safetensors(safetensors(row->header, row->data_bytes), "x.safetensors");
  QVERIFY(!result);
  const std::string message = result.error().message();
  QVERIFY2(result.error().kind == row->kind, message.c_str());
  QVERIFY2(message.find(row->words) != std::string::npos, message.c_str());
  const std::string where = "x.safetensors, offset " + std::to_string(row->offset) + ":";
  QVERIFY2(message.starts_with(where), (message + " | expected " + where).c_str());
  QVERIFY2(result.error().has_advice(), message.c_str());
}

void HostileFolderTest::header_length_is_refused_data() {
  QTest::addColumn<quint64>("length");
  QTest::newRow("none") << quint64{0};
  QTest::newRow("one byte") << quint64{1};
  QTest::newRow("more than the file") << quint64{439};  // the file has 446 bytes, 8 of them hold the length
  QTest::newRow("beyond signed") << (quint64{1} << 63);
  QTest::newRow("all bits") << ~quint64{0};
}

void HostileFolderTest::header_length_is_refused() {
  QFETCH(quint64, length);
  FileBytes bytes = read_bytes(sample("folder/model.safetensors"));
  overwrite<std::uint64_t>(bytes, 0, length);
  const auto result = checkpoint::read_safetensors(bytes, "x.safetensors");
  QVERIFY(!result);
  const std::string message = result.error().message();
  QVERIFY2(message.find("offset 0: the header length is " + std::to_string(length)) != std::string::npos,
           message.c_str());
}

void HostileFolderTest::every_prefix_is_refused() {
  const FileBytes whole = read_bytes(sample("folder/model.safetensors"));
  FOVEA_VERIFY(checkpoint::read_safetensors(whole, "whole"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const FileBytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto result = checkpoint::read_safetensors(prefix, "cut");
    QVERIFY2(!result, std::to_string(length).c_str());
    QVERIFY2(result.error().message().starts_with("cut, offset "), result.error().message().c_str());
  }
}

void HostileFolderTest::folder_is_refused_data() {
  QTest::addColumn<const HostileFolder*>("row");
  for (const HostileFolder& row : hostile_folders()) QTest::newRow(row.name) << &row;
}

void HostileFolderTest::folder_is_refused() {
  QFETCH(const HostileFolder*, row);
  const TemporaryFolder folder;
  std::filesystem::copy(sample("sharded"), folder.path(), std::filesystem::copy_options::recursive);
  FOVEA_VERIFY(Checkpoint::open(folder.path()));  // good before the change
  write_text(folder.path() / row->file, row->text);
  const auto result = Checkpoint::open(folder.path());
  QVERIFY(!result);
  const std::string message = result.error().message();
  QVERIFY2(result.error().kind == row->kind, message.c_str());
  QVERIFY2(message.find(row->words) != std::string::npos, message.c_str());
  QVERIFY2(message.starts_with(folder.path().string()), message.c_str());
  QVERIFY2(result.error().has_advice(), message.c_str());
}

FOVEA_TEST(HostileFolderTest)
#include "hostile_folder_test.moc"
