// The same promises on real weights: quantised matrices, an f16 cache, a trained tokeniser and template.
#include "tests/engine/chat/chat_model.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::FinishReason;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::Message;
using fovea::tests::demo_model;

class DemoModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY2(!demo_model().empty(), "the demo model is not there; ./scripts/demo builds it");
    auto engine = Engine::load({.model = demo_model(), .context = 1024});
    FOVEA_VERIFY(engine);
    engine_ = *std::move(engine);
  }

  void aConversationDoesNotDependOnWhatIsCached() {
    std::vector<Message> messages{{"user", "Name three animals that live in the sea."}};
    const GenerateResult first = answer(messages);
    QVERIFY(!first.text.empty());
    messages.push_back({"assistant", first.text});
    messages.push_back({"user", "Which of them is the largest?"});
    const GenerateResult second = answer(messages);
    QVERIFY(second.timings.reused_tokens >= first.timings.prompt_tokens);

    // Another conversation in between, then the same turn again, with the cache and without.
    const GenerateResult other = answer({{"user", "What is the sum of two and three?"}});
    QVERIFY(other.timings.reused_tokens > 0);  // the system message that the template adds
    const GenerateResult again = answer(messages);
    QCOMPARE(again.timings.reused_tokens, again.timings.prompt_tokens - 1);
    QCOMPARE(again.tokens, second.tokens);
    const GenerateResult fresh = answer(messages, false);
    QCOMPARE(fresh.timings.reused_tokens, 0);
    QCOMPARE(fresh.tokens, second.tokens);
  }

  void stoppingInAPassLeavesTheAnswerWhole() {
    const std::vector<Message> messages{{"user", "Why is the sky blue?"}};
    const GenerateResult whole = answer(messages);
    std::stop_source source;
    int pieces = 0;
    const auto cut = engine_->generate(
        request(messages),
        [&](auto, const auto&) {
          if (++pieces == 5) source.request_stop();
        },
        {}, source.get_token());
    FOVEA_VERIFY(cut);
    QCOMPARE(cut->finish, FinishReason::cancelled);
    QVERIFY(whole.text.starts_with(cut->text));
    QCOMPARE(answer(messages).tokens, whole.tokens);
  }

 private:
  static GenerateRequest request(std::vector<Message> messages) {
    GenerateRequest request;
    request.messages = std::move(messages);
    request.sampling.seed = 17;
    request.max_tokens = 40;
    return request;
  }
  GenerateResult answer(std::vector<Message> messages, bool reuse_cache = true) {
    GenerateRequest wanted = request(std::move(messages));
    wanted.reuse_cache = reuse_cache;
    auto result = engine_->generate(wanted);
    if (!result) qFatal("%s", result.error().message().c_str());
    return *std::move(result);
  }

  std::unique_ptr<Engine> engine_;
};
FOVEA_TEST(DemoModelTest)

#include "demo_model_test.moc"
