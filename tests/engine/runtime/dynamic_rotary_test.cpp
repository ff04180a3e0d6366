// Generation with dynamic rotary scaling, against transformers with its frequencies fixed to the context's.
#include "engine/api/engine.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::FinishReason;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::LoadOptions;
using fovea::TokenId;
using fovea::tests::chat_request;
using fovea::tests::expected_chat;
using fovea::tests::generate;
using fovea::tests::greedy;
using fovea::tests::messages_of;
using nlohmann::json;

namespace {

// The tiny chat model with another trained context and dynamic scaling.
void write_model(const std::filesystem::path& folder, const json& one) {
  for (const auto& file : std::filesystem::directory_iterator(fovea::tests::golden("chat")))
    if (file.path().filename() != "config.json")
      std::filesystem::create_symlink(file.path(), folder / file.path().filename());
  std::ifstream original(fovea::tests::golden("chat/config.json"));
  json config = json::parse(original);
  config["max_position_embeddings"] = one["trained"];
  config["rope_parameters"] = {{"rope_type", "dynamic"}, {"rope_theta", 10000.0}, {"factor", one["factor"]}};
  std::ofstream(folder / "config.json") << config;
}

}  // namespace

class DynamicRotaryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersEqualTransformers_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("beyond");
    QTest::addColumn<int>("chunk");
    for (int i = 0; i < static_cast<int>(expected_chat()["dynamic"].size()); ++i) {
      for (const int chunk : {1, 7, 64}) {
        QTest::addRow("%d, the trained context, chunk %d", i, chunk) << i << false << chunk;
        QTest::addRow("%d, a longer context, chunk %d", i, chunk) << i << true << chunk;
      }
    }
  }
  void answersEqualTransformers() {
    QFETCH(int, index);
    QFETCH(bool, beyond);
    QFETCH(int, chunk);
    const json& one = expected_chat()["dynamic"][static_cast<std::size_t>(index)];
    const fovea::tests::TemporaryFolder folder;
    write_model(folder.path(), one);
    LoadOptions request = chat_request();
    request.model = folder.path();
    request.context = one[beyond ? "context" : "trained"];
    request.chunk = chunk;
    const auto engine = Engine::load(request);
    FOVEA_VERIFY(engine);

    const auto expected = one[beyond ? "beyond" : "within"].get<std::vector<TokenId>>();
    const auto most = static_cast<std::int32_t>(beyond ? expected.size() : expected.size() + 10);
    const GenerateResult result = generate(**engine, greedy(messages_of(one), most));
    QCOMPARE(result.timings.prompt_tokens, std::ssize(one["prompt"]));
    QCOMPARE(result.tokens, expected);
    // The trained context is a border, not something to slip over.
    QCOMPARE(result.finish, beyond ? FinishReason::max_tokens : FinishReason::context_full);

    // A sequence that continues from cached keys rotates as one that is computed afresh.
    GenerateRequest again = greedy(messages_of(one), most);
    QCOMPARE(generate(**engine, again).timings.reused_tokens, std::ssize(one["prompt"]) - 1);
    QCOMPARE(generate(**engine, again).tokens, expected);
    again.reuse_cache = false;
    QCOMPARE(generate(**engine, again).tokens, expected);
  }

  // Were the scaling ignored, or the answers equal by chance, the test above would show nothing.
  void theScalingShowsInTheAnswers() {
    QVERIFY(expected_chat()["dynamic"].size() >= 3);
    for (const json& one : expected_chat()["dynamic"]) {
      const auto within = one["within"].get<std::vector<TokenId>>();
      auto beyond = one["beyond"].get<std::vector<TokenId>>();
      QVERIFY(one["prompt"].size() + within.size() > one["trained"].get<std::size_t>());
      QVERIFY(one["prompt"].size() + beyond.size() > one["trained"].get<std::size_t>() + 10);
      beyond.resize(within.size());
      QVERIFY(beyond != within);
    }
  }
};
FOVEA_TEST(DynamicRotaryTest)

#include "dynamic_rotary_test.moc"
