// A model's tokeniser and template together: tests/golden/make_chat.py says what transformers makes of them.
#include "engine/text/text_model.h"

#include <fstream>
#include <thread>

#include "engine/text/errors.h"
#include "tests/support/test.h"

using fovea::ErrorKind;
using fovea::Result;
using fovea::TextModel;
using fovea::TokenId;
using fovea::tests::golden;
using nlohmann::ordered_json;

namespace {

using Opened = Result<std::shared_ptr<const TextModel>>;

const ordered_json& expected() {
  static const ordered_json all = [] {
    std::ifstream file(golden("chat/expected.json"));
    return ordered_json::parse(file, nullptr, false);
  }();
  return all;
}

std::string text_of(const ordered_json& value) {
  return value.is_null() ? std::string() : value.dump();
}

// The chat model with another tokenizer_config.json or template.
void copy_model(const std::filesystem::path& to, const ordered_json& tokenizer_config,
                const std::optional<std::string>& chat_template) {
  for (const auto& file : std::filesystem::directory_iterator(golden("chat"))) {
    const std::string name = file.path().filename();
    if (name != "tokenizer_config.json" && name != "chat_template.jinja")
      std::filesystem::create_symlink(file.path(), to / name);
  }
  std::ofstream(to / "tokenizer_config.json") << tokenizer_config;
  if (chat_template) std::ofstream(to / "chat_template.jinja") << *chat_template;
}

constexpr auto hello = R"([{"role": "user", "content": "Hello"}])";

}  // namespace

class TextModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theBeginOfTextIsKnown() {
    const Opened vocabulary = TextModel::open(golden("tokenizers/tiny/llama3.gguf"));
    FOVEA_VERIFY(vocabulary);
    QVERIFY((*vocabulary)->begin() == TokenId{1});  // <s>
    const Opened chat = TextModel::open(golden("chat"));
    FOVEA_VERIFY(chat);
    QVERIFY((*chat)->begin() == TokenId{0});  // <|endoftext|>
    // A vocabulary that lacks most letters, and then one that puts nothing before a text.
    const fovea::tests::TemporaryFolder folder;
    std::filesystem::copy(golden("chat"), folder.path());
    auto tokenizer = ordered_json::parse(fovea::tests::content(folder.path() / "tokenizer.json"));
    tokenizer["model"]["vocab"] = {{"z", 1}};
    tokenizer["model"]["merges"] = ordered_json::array();
    std::ofstream(folder.path() / "tokenizer.json") << tokenizer;
    const Opened poor = TextModel::open(folder.path());
    FOVEA_VERIFY(poor);
    QVERIFY((*poor)->encode("a").empty());
    QVERIFY((*poor)->begin() == TokenId{0});
    tokenizer["post_processor"] = nullptr;
    std::ofstream(folder.path() / "tokenizer.json") << tokenizer;
    const Opened plain = TextModel::open(folder.path());
    FOVEA_VERIFY(plain);
    QVERIFY(!(*plain)->begin());
  }

  void promptsEqualTransformers() {
    const Opened model = TextModel::open(golden("chat"));
    FOVEA_VERIFY(model);
    QVERIFY((*model)->has_chat_template());
    QCOMPARE((*model)->vocabulary(), 340);
    QVERIFY(expected()["chats"].size() >= 4);
    for (const ordered_json& chat : expected()["chats"]) {
      const auto prompt = (*model)->render(chat["messages"].dump(), true);
      FOVEA_VERIFY(prompt);
      const auto ids = chat["prompt"].get<std::vector<TokenId>>();
      QCOMPARE((*model)->encode(*prompt, {.parse_special = true}), ids);
      QVERIFY((*model)->encode(*prompt) != ids);  // without it the control tokens are text
      QCOMPARE((*model)->decode(ids, true), *prompt);
      QCOMPARE((*model)->decode(chat["answer"].get<std::vector<TokenId>>()), chat["text"].get<std::string>());
    }
  }

  void renderedTextsEqualTransformers() {
    const Opened model = TextModel::open(golden("chat"));
    FOVEA_VERIFY(model);
    QVERIFY(expected()["rendered"].size() >= 6);
    for (const ordered_json& one : expected()["rendered"]) {
      const std::string messages = one["messages"].dump();
      const bool prompt = one["generation_prompt"];
      const std::string tools = text_of(one["tools"]);
      const std::string variables = text_of(one["variables"]);
      const auto text = one["template"].is_null() ? (*model)->render(messages, prompt, tools, variables)
                                                  : (*model)->render_with(one["template"].get<std::string>(),
                                                                          messages, prompt, tools, variables);
      FOVEA_VERIFY(text);
      QCOMPARE(*text, one["text"].get<std::string>());
    }
  }

  // tokenizer_config.json spells a token as a text or as an object.
  void configuredTokensAreVariables() {
    const fovea::tests::TemporaryFolder folder;
    const ordered_json config = {
        {"bos_token", {{"content", "<|im_start|>"}, {"lstrip", false}, {"special", true}}},
        {"eos_token", "<|im_end|>"},
        {"pad_token", {{"content", "<|endoftext|>"}}},
        {"unk_token", nullptr},
        {"sep_token", 7},
        {"additional_special_tokens", {"<|im_end|>", {{"content", "<|im_start|>"}}, 3}}};
    copy_model(folder.path(), config, std::nullopt);
    const Opened model = TextModel::open(folder.path());
    FOVEA_VERIFY(model);
    QVERIFY(!(*model)->has_chat_template());
    const auto text = (*model)->render_with(
        "{{ bos_token }} {{ eos_token }} {{ pad_token }} {{ unk_token is defined }} {{ sep_token is defined "
        "}} "
        "{{ cls_token is defined }} {{ additional_special_tokens }}",
        hello, false);
    FOVEA_VERIFY(text);
    QCOMPARE(*text, std::string("<|im_start|> <|im_end|> <|endoftext|> False False False "
                                "['<|im_end|>', '<|im_start|>']"));
    const auto none = (*model)->render(hello, true);
    QVERIFY(!none);
    QCOMPARE(none.error().kind, ErrorKind::not_found);
  }

  // make_tokenizers.py wrote these files: <unk>, <s> and </s> are tokens 0, 1 and 2.
  void metadataNamesTokens_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("text");
    QTest::newRow("byte level") << "llama3.gguf" << "<s></s>False";
    QTest::newRow("SentencePiece") << "sentencepiece-bpe.gguf" << "<s></s>True<unk>";
  }
  void metadataNamesTokens() {
    QFETCH(QString, file);
    QFETCH(QString, text);
    const Opened model = TextModel::open(golden("tokenizers/tiny/" + file.toStdString()));
    FOVEA_VERIFY(model);
    QVERIFY(!(*model)->has_chat_template());
    const auto rendered = (*model)->render_with(
        "{{ bos_token }}{{ eos_token }}{{ unk_token is defined }}{{ unk_token }}{{ pad_token }}", hello,
        false);
    FOVEA_VERIFY(rendered);
    QCOMPARE(*rendered, text.toStdString());
    QCOMPARE((*model)->piece(1), std::string("<s>"));
  }

  void piecesJoinToTheText() {
    const Opened model = TextModel::open(golden("chat"));
    FOVEA_VERIFY(model);
    const std::string text = "Größe, naïve 日本語 👩‍🚀 <|im_end|>\n";
    const std::vector<TokenId> ids = (*model)->encode(text);
    std::string pieces;
    for (const TokenId id : ids) pieces += (*model)->piece(id);
    QCOMPARE(pieces, text);
    QCOMPARE((*model)->decode(ids), text);
    QCOMPARE((*model)->encode(text, {.add_special = true}).front(), 0);  // <|endoftext|> begins every text
  }

  // A template that cannot be read is an error when it is used, not before.
  void brokenTemplatesWaitUntilTheyAreUsed() {
    const fovea::tests::TemporaryFolder folder;
    copy_model(folder.path(), ordered_json::object(), "{% for m in messages %}");
    const Opened model = TextModel::open(folder.path());
    FOVEA_VERIFY(model);
    QVERIFY((*model)->has_chat_template());
    QVERIFY(!(*model)->encode("text").empty());
    const auto broken = (*model)->render(hello, true);
    QVERIFY(!broken);
    QCOMPARE(broken.error().where_words(), folder.path().string() + ", chat template, line 1");
    const auto other = (*model)->render_with("{{ messages[0].content }}", hello, true);
    FOVEA_VERIFY(other);
    QCOMPARE(*other, std::string("Hello"));
  }

  void wrongArgumentsAreNamed_data() {
    QTest::addColumn<QString>("messages");
    QTest::addColumn<QString>("tools");
    QTest::addColumn<QString>("variables");
    QTest::addColumn<QString>("says");
    QTest::newRow("messages are no JSON") << "[{" << "" << "" << "messages: this is not valid JSON";
    QTest::newRow("no messages") << "" << "" << "" << "messages: this is not valid JSON";
    QTest::newRow("messages are not a list") << "{}" << "" << "" << "messages: this is not a JSON list";
    QTest::newRow("tools are no JSON") << "[]" << "look" << "" << "tools: this is not valid JSON";
    QTest::newRow("tools are not a list") << "[]" << "{}" << "" << "tools: this is not a JSON list";
    QTest::newRow("variables are no JSON") << "[]" << "" << "{a}" << "variables: this is not valid JSON";
    QTest::newRow("variables are no object") << "[]" << "" << "[1]" << "variables: this is not a JSON object";
  }
  void wrongArgumentsAreNamed() {
    QFETCH(QString, messages);
    QFETCH(QString, tools);
    QFETCH(QString, variables);
    QFETCH(QString, says);
    const Opened model = TextModel::open(golden("chat"));
    FOVEA_VERIFY(model);
    const std::string m = messages.toStdString(), t = tools.toStdString(), v = variables.toStdString();
    for (const Result<std::string>& result :
         {(*model)->render(m, true, t, v), (*model)->render_with("x", m, true, t, v),
          fovea::render_template("x", m, true, t, v)}) {
      QVERIFY(!result);
      QCOMPARE(result.error().kind, ErrorKind::invalid);
      QCOMPARE(result.error().where_words() + ": " + result.error().what_words(), says.toStdString());
      QVERIFY(result.error().has_advice());
    }
  }

  void aTemplateAloneHasEmptyTokens() {
    constexpr auto source = "[{{ bos_token }}{{ eos_token }}]{{ messages[0].role }}{{ tools is none }}";
    const auto plain = fovea::render_template(source, hello, true, "null");
    FOVEA_VERIFY(plain);
    QCOMPARE(*plain, std::string("[]userTrue"));
    const auto given = fovea::render_template(source, hello, true, "[]", R"({"bos_token": "<s>"})");
    FOVEA_VERIFY(given);
    QCOMPARE(*given, std::string("[<s>]userFalse"));
    const auto unnamed = fovea::render_template("{{", hello, true);
    QVERIFY(!unnamed);
    QCOMPARE(unnamed.error().where_words(), std::string("chat template, line 1"));
    const auto named = fovea::render_template("{{", hello, true, {}, {},
                                              fovea::phrases::file_place(std::filesystem::path("x.jinja")));
    QVERIFY(!named);
    QCOMPARE(named.error().where_words(), std::string("x.jinja, line 1"));
    QVERIFY(!fovea::render_template("{{ raise_exception('no') }}", hello, true));
  }

  void whatIsNoModelIsAnError() {
    QCOMPARE(TextModel::open("/no/such/model").error().kind, ErrorKind::not_found);
    QVERIFY(!TextModel::open(golden("checkpoint/no_weights")));  // no tokeniser
    QVERIFY(!TextModel::open(golden("checkpoint/small.gguf")));  // no vocabulary
  }

  // One model serves many threads.
  void threadsShareAModel() {
    const Opened model = TextModel::open(golden("chat"));
    FOVEA_VERIFY(model);
    std::vector<int> equal(4, 0);
    {
      std::vector<std::jthread> threads;
      for (int& mine : equal)
        threads.emplace_back([&model, &mine] {
          for (int i = 0; i < 50; ++i)
            for (const ordered_json& chat : expected()["chats"]) {
              const auto prompt = (*model)->render(chat["messages"].dump(), true);
              mine += prompt && (*model)->encode(*prompt, {.parse_special = true}) ==
                                    chat["prompt"].get<std::vector<TokenId>>();
            }
        });
    }
    for (const int mine : equal) QCOMPARE(mine, 50 * static_cast<int>(expected()["chats"].size()));
  }
};
FOVEA_TEST(TextModelTest)

#include "text_model_test.moc"
