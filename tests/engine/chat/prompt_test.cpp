#include "engine/chat/prompt.h"

#include "engine/text/text_model.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/support/test.h"

using fovea::ContextOverflow;
using fovea::ErrorKind;
using fovea::GenerateRequest;
using fovea::Message;
using fovea::TextModel;
using fovea::TokenId;
using fovea::chat::ControlTokens;
using fovea::chat::PromptMaker;
using fovea::tests::expected_chat;
using fovea::tests::messages_of;

class PromptTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    auto opened = TextModel::open(fovea::tests::golden("chat"));
    FOVEA_VERIFY(opened);
    text_ = *std::move(opened);
    control_ = std::make_unique<ControlTokens>(text_->parts().tokenizer);
    QVERIFY(expected_chat().is_object());
  }

  void conversationsEncodeAsInTransformers() {
    for (const auto& chat : expected_chat()["chats"]) {
      GenerateRequest request;
      request.messages = messages_of(chat);
      const auto prompt = maker(1000).make(request);
      FOVEA_VERIFY(prompt);
      QCOMPARE(prompt->tokens, chat["prompt"].get<std::vector<TokenId>>());
      QCOMPARE(prompt->dropped_messages, 0);
    }
  }

  void controlTokensInAMessageAreText() {
    for (const auto& spelled : expected_chat()["spelled"]) {
      GenerateRequest request;
      request.messages = {{"user", spelled["content"]}};
      const auto prompt = maker(1000).make(request);
      FOVEA_VERIFY(prompt);
      QVERIFY2(prompt->tokens == spelled["prompt"].get<std::vector<TokenId>>(), spelled.dump().c_str());
    }
  }

  void aMessageMayHoldThePrivateCharacters() {
    GenerateRequest request;
    request.messages = {{"user", "\uE000\uE001 <|im_end|>"}};
    const auto prompt = maker(1000).make(request);
    FOVEA_VERIFY(prompt);
    const std::string shown = text_->decode(prompt->tokens, true);
    QCOMPARE(shown,
             std::string("<|im_start|>user\n\uE000\uE001 <|im_end|><|im_end|>\n<|im_start|>assistant\n"));
    QCOMPARE(std::ranges::count(prompt->tokens, control_id("<|im_end|>")), 1);
  }

  void rawPromptsParseControlTokens() {
    GenerateRequest request;
    request.raw_prompt.emplace("<|im_start|>a");
    const auto prompt = maker(1000).make(request);
    FOVEA_VERIFY(prompt);
    QCOMPARE(prompt->tokens.front(),
             control_id("<|endoftext|>"));  // this tokeniser begins every text with it
    QCOMPARE(prompt->tokens[1], control_id("<|im_start|>"));
    request.raw_prompt.emplace("<|endoftext|>a");
    const auto begun = maker(1000).make(request);
    FOVEA_VERIFY(begun);
    QCOMPARE(std::ranges::count(begun->tokens, control_id("<|endoftext|>")), 1);
  }

  void spellingsAreFoundAndMarked() {
    const ControlTokens control(std::vector<std::string>{"<a>", "<a><b>", "é!", "x"});
    QCOMPARE(control.find("--<a><b>", 0).length, 6U);
    QCOMPARE(control.find("--<a>", 3).begin, std::string::npos);
    QCOMPARE(control.protect("1<a>2<a><b>3é!<a", "|"), std::string("1<|a>2<|a><b>3é|!<a"));
    QCOMPARE(control.protect("axb", "|"), std::string("ax|b"));
    QCOMPARE(ControlTokens(std::vector<std::string>{}).protect("<a>", "|"), std::string("<a>"));
  }

  void aPromptThatDoesNotFitIsRefusedWithNumbers() {
    GenerateRequest request;
    request.messages = conversation(6);
    const auto whole = maker(100'000).make(request);
    FOVEA_VERIFY(whole);
    const std::int64_t length = std::ssize(whole->tokens);
    FOVEA_VERIFY(maker(length + 1).make(request));
    const auto refused = maker(length).make(request);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
    QVERIFY2(refused.error().what_words().contains(std::to_string(length)),
             refused.error().what_words().c_str());
  }

  void oldTurnsAreDroppedWholeAndSeldom() {
    constexpr std::int64_t context = 300;
    std::int32_t last_dropped = 0;
    int changes = 0;
    for (int turns = 1; turns <= 40; ++turns) {
      GenerateRequest request;
      request.messages = conversation(turns);
      request.overflow = ContextOverflow::drop_oldest_turns;
      const auto prompt = maker(context).make(request);
      FOVEA_VERIFY(prompt);
      QVERIFY(std::ssize(prompt->tokens) < context);
      QCOMPARE(prompt->dropped_messages % 2, 0);  // a question and its answer
      QVERIFY(prompt->dropped_messages >= last_dropped);
      changes += prompt->dropped_messages != last_dropped ? 1 : 0;
      last_dropped = prompt->dropped_messages;

      // What is left is the conversation without those messages.
      GenerateRequest shorter;
      shorter.messages = request.messages;
      shorter.messages.erase(shorter.messages.begin() + 1,
                             shorter.messages.begin() + 1 + prompt->dropped_messages);
      const auto expected = maker(100'000).make(shorter);
      FOVEA_VERIFY(expected);
      QCOMPARE(prompt->tokens, expected->tokens);
    }
    QVERIFY(last_dropped >= 60);
    QVERIFY2(changes <= 20, std::to_string(changes).c_str());
  }

  void theLastTurnIsNeverDropped() {
    GenerateRequest request;
    request.messages = conversation(3);
    request.messages.back().content = QString("very long ").repeated(200).toStdString();
    request.overflow = ContextOverflow::drop_oldest_turns;
    const auto refused = maker(300).make(request);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
  }

  void theRefusalSaysWhatWouldBeLeftOut() {
    GenerateRequest request;
    request.messages = conversation(20);
    const auto refused = maker(300).make(request);
    QVERIFY(!refused);
    request.overflow = ContextOverflow::drop_oldest_turns;
    const auto shorter = maker(300).make(request);
    FOVEA_VERIFY(shorter);
    QVERIFY(shorter->dropped_messages > 1);
    const std::string expected = std::to_string(shorter->dropped_messages) + " oldest messages";
    QVERIFY2(refused.error().advice_words().contains(expected), refused.error().advice_words().c_str());
  }

  void anAnswerGoesOnWhereItStopped() {
    GenerateRequest request;
    request.messages = conversation(2);
    const auto asked = maker(1000).make(request);
    FOVEA_VERIFY(asked);
    const std::string begun = "It begins <|im_end|> like";
    request.messages.push_back({"assistant", begun});
    request.continue_last = true;
    const auto prompt = maker(1000).make(request);
    FOVEA_VERIFY(prompt);
    std::vector<TokenId> expected = asked->tokens;
    for (const TokenId token : text_->encode(begun)) expected.push_back(token);
    QCOMPARE(prompt->tokens, expected);
    QCOMPARE(std::ranges::count(prompt->tokens, control_id("<|im_end|>")),
             std::ranges::count(asked->tokens, control_id("<|im_end|>")));  // what it said is text
  }

  void wrongRequestsAreRefused() {
    GenerateRequest question;
    question.messages = {{"user", "Hello"}};
    question.continue_last = true;
    const auto no_answer = maker(100).make(question);
    QVERIFY(!no_answer);
    QCOMPARE(no_answer.error().kind, ErrorKind::invalid);
    const auto nothing = maker(100).make({});
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().kind, ErrorKind::invalid);
    GenerateRequest request;
    request.messages = {{"user", "\xFF"}};
    const auto bytes = maker(100).make(request);
    QVERIFY(!bytes);
    QCOMPARE(bytes.error().kind, ErrorKind::invalid);
  }

 private:
  PromptMaker maker(std::int64_t context) const {
    return {.text = *text_, .tokenizer = text_->parts().tokenizer, .control = *control_, .context = context};
  }
  TokenId control_id(const char* name) const { return text_->encode(name, {.parse_special = true}).front(); }

  // A system message, `turns` questions, and answers to all but the last.
  static std::vector<Message> conversation(int turns) {
    std::vector<Message> messages{{"system", "Answer."}};
    for (int turn = 0; turn < turns; ++turn) {
      messages.push_back({"user", "Question " + std::to_string(turn)});
      if (turn + 1 < turns) messages.push_back({"assistant", "The answer is " + std::to_string(turn)});
    }
    return messages;
  }

  std::shared_ptr<const TextModel> text_;
  std::unique_ptr<ControlTokens> control_;
};
FOVEA_TEST(PromptTest)

#include "prompt_test.moc"
