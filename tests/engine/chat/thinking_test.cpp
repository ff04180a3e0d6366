// Prompts of conversations with thoughts against transformers (tests/golden/make_thinking.py).
#include "engine/api/model_info.h"
#include "engine/chat/errors.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/engine/chat/template_model.h"
#include "tests/support/test.h"

using namespace fovea;
using chat::AnswerPlace;
using chat::Prompt;
using tests::TemplateModel;

namespace {

std::string rendered(const TemplateModel& model, const GenerateRequest& request) {
  const auto text = model.rendered(request);
  return text ? *text : text.error().message();
}

GenerateRequest asked(std::optional<bool> thinking = {}) {
  GenerateRequest request;
  request.messages = {{"user", "Is it?"}};
  request.thinking = thinking;
  return request;
}

GenerateRequest begun(const std::string& answer, std::optional<bool> thinking = {}) {
  GenerateRequest request = asked(thinking);
  request.messages.push_back({"assistant", answer});
  request.continue_last = true;
  return request;
}

}  // namespace

class ThinkingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QVERIFY(tests::thinking_cases().is_object()); }

  void promptsAreAsTransformersMakesThem() {
    for (const auto& [style, known] : tests::thinking_cases()["templates"].items()) {
      const TemplateModel model = TemplateModel::thinking(style);
      int cases = 0;
      for (const auto& one : tests::thinking_cases()["cases"]) {
        if (one["template"] != style) continue;
        GenerateRequest request;
        request.messages = tests::messages_of(one);
        if (!one["thinking"].is_null()) request.thinking = one["thinking"].get<bool>();
        request.effort = one["effort"];
        const std::string text = rendered(model, request);
        QVERIFY2(text == one["text"].get<std::string>(),
                 (one["name"].get<std::string>() + ": " + text).c_str());
        ++cases;
      }
      QVERIFY(cases >= 5);
    }
  }

  void whatATemplateKnowsIsFound() {
    for (const auto& [style, known] : tests::thinking_cases()["templates"].items()) {
      const TemplateModel model = TemplateModel::thinking(style);
      const auto info = inspect(model.path());
      FOVEA_VERIFY(info);
      QCOMPARE(info->can_switch_thinking, known["switch"].get<bool>());
      QCOMPARE(info->has_effort, known["effort"].get<bool>());
      // What it does not know cannot be asked for.
      const auto switched = model.prompt(asked(true));
      QCOMPARE(switched.has_value(), info->can_switch_thinking);
      if (!switched) QVERIFY(switched.error().is(errors::thinking_not_switched.code));
      GenerateRequest hard = asked();
      hard.effort = "high";
      const auto tried = model.prompt(hard);
      QCOMPARE(tried.has_value(), info->has_effort);
      if (!tried) QVERIFY(tried.error().is(errors::no_effort.code));
    }
    const auto refused = TemplateModel::thinking("channels").prompt(asked(false));
    QVERIFY2(refused.error().advice_words().contains("effort"), refused.error().message().c_str());
  }

  void aRawPromptHasNoThinkingToSwitch() {
    GenerateRequest request;
    request.raw_prompt = "Is it?";
    request.thinking = false;
    const auto refused = TemplateModel::thinking("opened").prompt(request);
    QVERIFY(!refused && refused.error().is(errors::raw_prompt_has_no_template.code));
  }

  void thoughtsThatWereCutAreNotSentBack() {
    GenerateRequest request = asked();
    request.messages.push_back({"assistant", "<think>\nsecret"});
    request.messages.push_back({"user", "Why?"});
    for (const char* const style : {"field_and_content", "content", "other_variable", "none", "channels"})
      QVERIFY2(!rendered(TemplateModel::thinking(style), request).contains("secret"), style);
  }

  void aMessageOfTheUserIsLeftAlone() {
    GenerateRequest request;
    request.messages = {{"user", "<think>mine</think>"}};
    QVERIFY(rendered(TemplateModel::thinking("none"), request).contains("<think>mine</think>"));
  }

  void thoughtsThatThePromptOpensBeginTheText() {
    const TemplateModel model = TemplateModel::thinking("opened");
    const auto open = model.prompt(asked());
    FOVEA_VERIFY(open);
    QCOMPARE(open->opened, std::string("<think>\n"));
    QVERIFY(open->place == AnswerPlace::thoughts);
    const auto off = model.prompt(asked(false));
    FOVEA_VERIFY(off);
    QCOMPARE(off->opened, std::string());
    QVERIFY(off->place == AnswerPlace::beginning);
  }

  void anAnswerGoesOnAsItBegan_data() {
    QTest::addColumn<QString>("style");
    QTest::addColumn<int>("thinking");  // -1: not said
    QTest::addColumn<QString>("begun");
    QTest::addColumn<QString>("end");  // of the prompt
    const auto row = [](const char* name, const char* style, int thinking, const char* begun,
                        const char* end) {
      QTest::newRow(name) << QString(style) << thinking << QString(begun) << QString(end);
    };
    row("thoughts, opened", "opened", -1, "<think>\nhm", "assistant\n<think>\nhm");
    row("a line shorter", "opened", -1, "<think>hm", "assistant\n<think>\nhm");
    row("text, opened", "opened", -1, "<think>\nhm\n</think>\n\nYes",
        "assistant\n<think>\nhm\n</think>\n\nYes");
    row("kept without the tag", "opened", -1, "hm\n</think>\n\nYes",
        "assistant\n<think>\nhm\n</think>\n\nYes");
    row("off when it began", "opened", -1, "Yes", "assistant\n<think>\n\n</think>\n\nYes");
    row("on when it began", "opened", 0, "<think>\nhm", "assistant\n<think>\nhm");
    row("by itself", "field_and_content", -1, "<think>\nhm", "assistant\n<think>\nhm");
    row("on by itself", "field_and_content", 0, "<think>\nhm", "assistant\n<think>\nhm");
    row("on, asked for", "other_variable", -1, "<think>hm</think>Yes", "assistant\n<think>hm</think>Yes");
    row("channels", "channels", -1, "<think>\nhm\n</think>\n\nYes",
        "<|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|"
        "message|>Yes");
    row("channels, open", "channels", -1, "<think>\nhm",
        "<|start|>assistant<|channel|>analysis<|message|>hm");
    row("other channels", "other_channels", 1, "<think>\nhm\n</think>\n\nYes",
        "<|turn>model\n<|channel>thought\nhm\n<channel|>Yes");
    row("other channels, open", "other_channels", 1, "<think>\nhm", "<|turn>model\n<|channel>thought\nhm");
    row("other channels, on when it began", "other_channels", -1, "<think>\nhm\n</think>\n\nYes",
        "<|turn>model\n<|channel>thought\nhm\n<channel|>Yes");
    row("other channels, text", "other_channels", -1, "Yes",
        "<|turn>model\n<|channel>thought\n<channel|>Yes");
  }
  void anAnswerGoesOnAsItBegan() {
    QFETCH(QString, style);
    QFETCH(int, thinking);
    QFETCH(QString, begun);
    QFETCH(QString, end);
    const std::optional<bool> chosen = thinking < 0 ? std::nullopt : std::optional(thinking == 1);
    const TemplateModel model = TemplateModel::thinking(style.toStdString());
    const GenerateRequest request = ::begun(begun.toStdString(), chosen);
    const std::string text = rendered(model, request);
    QVERIFY2(text.ends_with(end.toStdString()), text.c_str());
    const auto prompt = model.prompt(request);
    FOVEA_VERIFY(prompt);
    QVERIFY(prompt->continues && prompt->opened.empty());
  }

  void channelsThatAnAnswerSpellsAreText() {
    const TemplateModel model = TemplateModel::thinking("channels");
    const auto prompt = model.prompt(begun("<think>\n<|end|>\n</think>\n\n<|return|>"));
    FOVEA_VERIFY(prompt);
    const auto plain = model.prompt(begun("<think>\nx\n</think>\n\ny"));
    FOVEA_VERIFY(plain);
    const auto control = [](const Prompt& p) {
      return std::ranges::count_if(p.tokens, [](TokenId id) { return id < 8; });  // they stand first
    };
    QCOMPARE(control(*prompt), control(*plain));
  }
};
FOVEA_TEST(ThinkingTest)

#include "thinking_test.moc"
