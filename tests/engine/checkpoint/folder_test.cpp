#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors_reader.h"
#include "tests/support/test.h"

#include "sample.h"

using namespace fovea;
using namespace fovea::tests;
using checkpoint::Checkpoint;
using kernels::Type;

class FolderTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void reads_one_file();
  void reads_shards();
  void reads_what_transformers_saves_data();
  void reads_what_transformers_saves();
  void finds_the_chat_template_data();
  void finds_the_chat_template();
  void opens_without_weights();
  void opens_a_tokenizer_alone();
  void reads_other_types_as_entries();
};

void FolderTest::reads_one_file() {
  const auto file = Checkpoint::open(sample("folder"));
  FOVEA_VERIFY(file);
  QCOMPARE(file->format_name(), std::string("safetensors"));
  QCOMPARE(file->tensors().size(), std::size_t{5});
  struct Expected {
    const char* name;
    Type type;
    std::vector<std::int64_t> shape;
    std::size_t bytes;
    std::size_t number;
  };
  for (const Expected& row : {Expected{"a.weight", Type::f32, {3, 5}, 60, 0},
                              {"b.weight", Type::f16, {7}, 14, 1},
                              {"c.weight", Type::bf16, {2, 2, 2}, 16, 2},
                              {"none", Type::f32, {0, 4}, 0, 3},
                              {"scalar", Type::f32, {}, 4, 4}}) {
    const auto* info = file->find(row.name);
    QVERIFY2(info, row.name);
    QCOMPARE(info->type, row.type);
    QCOMPARE(info->shape, row.shape);
    QCOMPARE(file->bytes(*info).size(), row.bytes);
    QVERIFY2(has_pattern(file->bytes(*info), row.number), row.name);
  }
  QCOMPARE(file->config().at("hidden_size").get<int>(), 8);
  QCOMPARE(file->generation_config().at("eos_token_id").size(), std::size_t{2});
  QVERIFY(file->tokenizer_config().at("bos_token") == "<s>");
  QVERIFY(file->tokenizer_json() == R"({"version": "1.0"})");
  QVERIFY(file->metadata().all().empty());
}

void FolderTest::reads_shards() {
  const auto file = Checkpoint::open(sample("sharded"));
  FOVEA_VERIFY(file);
  QCOMPARE(file->files().size(), std::size_t{3});
  QCOMPARE(file->tensors().size(), std::size_t{5});
  for (std::size_t k = 0; k < 5; ++k) {
    const auto* info = file->find("layers." + std::to_string(k) + ".weight");
    QVERIFY(info);
    QCOMPARE(info->file, static_cast<std::uint32_t>(k / 2));
    QVERIFY(has_pattern(file->bytes(*info), k));
  }
  QVERIFY(file->generation_config().is_object() && file->generation_config().empty());
  QVERIFY(file->tokenizer_json().empty());
}

void FolderTest::reads_what_transformers_saves_data() {
  QTest::addColumn<QString>("folder");
  QTest::newRow("transformers 4") << "transformers4";
  QTest::newRow("transformers 5") << "transformers5";
}

// A llama of one layer, d 8, 2 heads and 1 KV head of 4, width 12, vocabulary 8; parameters in the order of
// their names have the pattern's bytes.
void FolderTest::reads_what_transformers_saves() {
  QFETCH(QString, folder);
  const auto file = Checkpoint::open(sample(folder.toStdString()));
  FOVEA_VERIFY(file);
  QCOMPARE(file->files().size(), std::size_t{4});
  const std::vector<std::pair<const char*, std::vector<std::int64_t>>> expected = {
      {"lm_head.weight", {8, 8}},
      {"model.embed_tokens.weight", {8, 8}},
      {"model.layers.0.input_layernorm.weight", {8}},
      {"model.layers.0.mlp.down_proj.weight", {8, 12}},
      {"model.layers.0.mlp.gate_proj.weight", {12, 8}},
      {"model.layers.0.mlp.up_proj.weight", {12, 8}},
      {"model.layers.0.post_attention_layernorm.weight", {8}},
      {"model.layers.0.self_attn.k_proj.weight", {4, 8}},
      {"model.layers.0.self_attn.o_proj.weight", {8, 8}},
      {"model.layers.0.self_attn.q_proj.weight", {8, 8}},
      {"model.layers.0.self_attn.v_proj.weight", {4, 8}},
      {"model.norm.weight", {8}}};
  QCOMPARE(file->tensors().size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const auto* info = file->find(expected[k].first);
    QVERIFY2(info, expected[k].first);
    QCOMPARE(info->shape, expected[k].second);
    QCOMPARE(info->type, Type::f32);
    QVERIFY2(has_pattern(file->bytes(*info), k), expected[k].first);
  }
  QVERIFY(file->config().at("model_type") == "llama");
  QVERIFY(!file->generation_config().empty());
  QVERIFY(file->tokenizer_json().starts_with("{"));
  QVERIFY(file->chat_template() == "{{ messages[0]['content'] }}");
}

void FolderTest::finds_the_chat_template_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<QString>("text");
  QTest::newRow("its own file wins") << "folder" << "from the file\n";
  QTest::newRow("the default of named ones") << "sharded" << "for chat";
  QTest::newRow("a string in tokenizer_config.json") << "no_weights" << "a single text";
}

void FolderTest::finds_the_chat_template() {
  QFETCH(QString, folder);
  QFETCH(QString, text);
  const auto file = Checkpoint::open(sample(folder.toStdString()));
  FOVEA_VERIFY(file);
  QVERIFY(file->chat_template() == text.toStdString());
}

void FolderTest::opens_without_weights() {
  const auto file = Checkpoint::open(sample("no_weights"));
  FOVEA_VERIFY(file);
  QVERIFY(file->tensors().empty());
  QVERIFY(file->files().empty());
  QVERIFY(file->config().at("model_type") == "llama");
}

void FolderTest::opens_a_tokenizer_alone() {
  const TemporaryFolder folder;
  write_text(folder.path() / "tokenizer.json", "{}");
  const auto file = Checkpoint::open(folder.path());
  FOVEA_VERIFY(file);
  QVERIFY(file->tokenizer_json() == "{}");
  QVERIFY(file->config().empty());
  QVERIFY(file->chat_template().empty());
}

// The demo model's recipe holds indices and halves beside weights.
void FolderTest::reads_other_types_as_entries() {
  const auto path = std::filesystem::path(FOVEA_SOURCE_DIR) / "resources/demo/recipe.safetensors";
  const FileBytes bytes = read_bytes(path);
  const auto entries = checkpoint::read_safetensors_entries(bytes, "recipe");
  FOVEA_VERIFY(entries);
  const auto it = std::ranges::find(*entries, "experts.0", &checkpoint::SafetensorsEntry::name);
  QVERIFY(it != entries->end());
  QCOMPARE(it->dtype, std::string("I16"));
  QCOMPARE(it->shape, (std::vector<std::int64_t>{512}));
  QCOMPARE(it->bytes, std::uint64_t{512 * 2});
  const auto weights = checkpoint::read_safetensors(bytes, "recipe");
  QVERIFY(!weights);
  QCOMPARE(weights.error().kind, ErrorKind::unsupported);
}

FOVEA_TEST(FolderTest)
#include "folder_test.moc"
