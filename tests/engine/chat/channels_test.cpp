// Channels and thoughts in an answer's text, however it is cut, and back into a prompt.
#include "engine/chat/channels.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "engine/chat/answer_text.h"
#include "tests/engine/chat/marks.h"
#include "tests/support/test.h"

using namespace fovea;
using chat::AnswerPlace;
using chat::AnswerText;
using chat::ChannelTokens;
using Strings = std::vector<std::string>;

namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

text::Tokenizer open_tokenizer(const char* folder, bool with_gemmas_marks = false) {
  const auto path = tests::golden(folder);
  const auto read = [&](const char* file) {
    return with_gemmas_marks ? tests::with_gemmas_marks(file_text(path / file)) : file_text(path / file);
  };
  const auto config = nlohmann::json::parse(read("tokenizer_config.json"), nullptr, false);
  auto tokenizer = text::Tokenizer::from_json(read("tokenizer.json"), config, path / "tokenizer.json");
  if (!tokenizer) qFatal("%s", tokenizer.error().message().c_str());
  return *std::move(tokenizer);
}

const char* const prompt_end = "<|start|>user<|message|>Is it?<|end|><|start|>assistant";

struct Row {
  const char* name;
  const char* written;  // behind the prompt
  const char* text;
  const char* cut;  // where it differs when the answer is cut there, not ended
};

const Row rows[] = {
    {"thoughts and answer",
     "<|channel|>analysis<|message|>Hm, <b> & Größe "
     "🙂.<|end|><|start|>assistant<|channel|>final<|message|>Yes.\n\n- é",
     "<think>\nHm, <b> & Größe 🙂.\n</think>\n\nYes.\n\n- é", nullptr},
    {"an answer alone", "<|channel|>final<|message|>Yes.", "Yes.", nullptr},
    {"thoughts alone", "<|channel|>analysis<|message|>Hm", "<think>\nHm\n</think>\n\n", "<think>\nHm"},
    {"a preamble before thoughts",
     "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis<|message|>a<|end|>"
     "<|start|>assistant<|channel|>final<|message|>b",
     "I look.\n\n<think>\na\n</think>\n\nb", nullptr},
    {"a call",
     "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.x "
     "<|constrain|>json<|message|>{\"y\": 1}",
     "<think>\na\n</think>\n\n{\"y\": 1}", nullptr},
    {"a recipient before the channel", " to=functions.x<|channel|>commentary<|message|>{}", "{}", nullptr},
    {"an unknown channel",
     "<|channel|>diary<|message|>Dear<|end|><|start|>assistant<|channel|>final<|message|>Yes", "Dear\n\nYes",
     nullptr},
    {"thoughts twice",
     "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|start|>"
     "assistant"
     "<|channel|>final<|message|>c",
     "<think>\na\n</think>\n\n<think>\nb\n</think>\n\nc", nullptr},
    {"nothing ends the thoughts", "<|channel|>analysis<|message|>a<|channel|>final<|message|>b",
     "<think>\na\n</think>\n\nb", nullptr},
    {"no channel", "<|message|>Yes", "Yes", nullptr},
    {"no header at all", "Yes, it is", "Yes, it is", nullptr},
    {"cut in a later header", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>fin",
     "<think>\na\n</think>\n\n", nullptr},
    {"nothing", "", "", nullptr},
};

}  // namespace

class ChannelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QVERIFY(channels_.has_value()); }

  void onlyWhatHasAllTokensHasChannels() {
    QVERIFY(!ChannelTokens::of(open_tokenizer("chat")));
    QVERIFY(!channels_->mark(tokenizer_.find("<|return|>")));
    QVERIFY(channels_->mark(tokenizer_.find("<|end|>")) == chat::Channels::Mark::end);
  }

  void aPartsEndIsNoEnd() {
    const auto& ends = tokenizer_.end_of_generation();
    const auto ends_with = [&](const char* name) {
      return std::ranges::count(ends, tokenizer_.find(name)) == 1;
    };
    QVERIFY(ends_with("<|return|>"));
    QVERIFY(ends_with("<|call|>"));
    QVERIFY(!ends_with("<|end|>"));
    // Not even where a file says so; but it is one where there are no channels.
    const nlohmann::json says_end = {{"eos_token", "<|end|>"}};
    const std::string json = file_text(tests::golden("thinking/tokenizer.json"));
    const auto again = text::Tokenizer::from_json(json, says_end, "tokenizer.json");
    FOVEA_VERIFY(again);
    QCOMPARE(std::ranges::count(again->end_of_generation(), again->find("<|end|>")), 0);
    auto plain = nlohmann::json::parse(json);
    std::erase_if(plain["added_tokens"].get_ref<nlohmann::json::array_t&>(), [](const auto& token) {
      return token["content"] == "<|return|>" || token["content"] == "<|call|>";
    });
    const auto other = text::Tokenizer::from_json(plain.dump(), says_end, "tokenizer.json");
    FOVEA_VERIFY(other);
    QCOMPARE(std::ranges::count(other->end_of_generation(), other->find("<|end|>")), 1);
  }

  void channelsBecomeText_data() {
    QTest::addColumn<int>("row");
    for (int i = 0; i < static_cast<int>(std::size(rows)); ++i) QTest::newRow(rows[i].name) << i;
  }
  void channelsBecomeText() {
    QFETCH(int, row);
    const Row& r = rows[row];
    // The text's tokens, and the same in single bytes: a token may be cut anywhere.
    QCOMPARE(answer(r.written, true), std::string(r.text));
    QCOMPARE(answer(r.written, false), std::string(r.cut ? r.cut : r.text));
    std::mt19937 random(tests::seed() + static_cast<unsigned>(row));
    for (int round = 0; round < tests::rounds(30); ++round) {
      const std::string text = text_of(cut_tokens(r.written, random), true, {}, "");
      QVERIFY2(text == r.text, (text + " with seed " + std::to_string(tests::seed())).c_str());
    }
  }

  void whatStreamedIsNeverTakenBack() {
    // Each beginning of an answer is the beginning of its text, and goes on as if it had not been cut.
    for (const Row& r : rows) {
      const std::vector<TokenId> tokens = encode(r.written);
      for (std::size_t cut = 0; cut <= tokens.size(); ++cut) {
        const std::vector<TokenId> begun(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(cut));
        const std::string text = text_of(begun, false, {}, "");
        QVERIFY2(std::string(r.text).starts_with(text) || text.ends_with("\uFFFD"),
                 (r.name + (": " + text)).c_str());
      }
    }
  }

  void anAnswerIsPutBackIntoItsChannels_data() {
    QTest::addColumn<QString>("begun");
    QTest::addColumn<QString>("channels");
    const auto row = [](const char* name, const char* begun, const char* channels) {
      QTest::newRow(name) << QString(begun) << QString(channels);
    };
    row("nothing", "", "");
    row("text", "Yes, <b>", "<|channel|>final<|message|>Yes, <b>");
    row("open thoughts", "<think>\nHm\n", "<|channel|>analysis<|message|>Hm\n");
    row("open, empty", "<think>\n", "<|channel|>analysis<|message|>");
    row("closed", "<think>\nHm\n</think>\n\n", "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant");
    row("both", "<think>\nHm\n</think>\n\nYes\n",
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>Yes\n");
    row("preamble", "I look.\n\n<think>\na\n</think>\n\nb",
        "<|channel|>commentary<|message|>I "
        "look.<|end|><|start|>assistant<|channel|>analysis<|message|>a<|end|>"
        "<|start|>assistant<|channel|>final<|message|>b");
    row("another family's", "<think>Hm</think>Yes",
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>Yes");
  }
  void anAnswerIsPutBackIntoItsChannels() {
    QFETCH(QString, begun);
    QFETCH(QString, channels);
    std::string text;
    for (const chat::ChannelPart& part : channels_->parts(begun.toStdString(), false))
      text += part.mark ? std::string(tokenizer_.name(channels_->token(*part.mark))) : part.text;
    QCOMPARE(text, channels.toStdString());
  }

  // Gemma 4's, behind prompts that have nothing of the answer, no thoughts, or open ones.
  void gemmasChannelsBecomeText_data() {
    QTest::addColumn<QString>("prompt");
    QTest::addColumn<QString>("written");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("cut");
    const QString on = "<|turn>model\n", off = on + "<|channel>thought\n<channel|>";
    const auto row = [](const char* name, const QString& prompt, const char* written, const char* text,
                        const char* cut = nullptr) {
      QTest::newRow(name) << prompt << QString(written) << QString(text) << QString(cut ? cut : text);
    };
    row("thoughts and answer", on, "<|channel>thought\nHm,\nso.\n<channel|>Yes.\n\n- é",
        "<think>\nHm,\nso.\n</think>\n\nYes.\n\n- é");
    row("no line break before the end", on, "<|channel>thought\nHm<channel|>Yes",
        "<think>\nHm\n</think>\n\nYes");
    row("an answer alone", off, "Yes.", "Yes.");
    row("an answer alone, thinking", on, "Yes.", "Yes.");
    row("nothing thought", on, "<|channel>thought\n<channel|>Yes", "Yes");
    row("not even a line", on, "<|channel>thought<channel|>Yes", "Yes");
    row("thoughts alone", on, "<|channel>thought\nHm", "<think>\nHm\n</think>\n\n", "<think>\nHm");
    row("nothing thought behind it", on, "Yes<|channel>thought\n<channel|>", "Yes");
    row("thoughts behind it", on, "Yes<|channel>thought\nHm\n<channel|>No",
        "Yes\n\n<think>\nHm\n</think>\n\nNo");
    row("closed twice", on, "<|channel>thought\nHm\n<channel|><channel|>Yes<channel|>",
        "<think>\nHm\n</think>\n\nYes");
    row("opened twice", on, "<|channel><|channel>thought\nHm\n<channel|>Yes", "<think>\nHm\n</think>\n\nYes");
    row("another channel", on, "<|channel>diary\nDear<channel|>Yes", "DearYes");
    row("a call", on, "<|channel>thought\nHm<|tool_call>f{}", "<think>\nHm\n</think>\n\nf{}");
    row("opened by the prompt", on + "<|channel>thought\n", "Hm\n<channel|>Yes",
        "<think>\nHm\n</think>\n\nYes");
    row("another turn", on, "Yes<|turn>user\nWhy?", "Yes");
    row("another turn behind thoughts", on, "<|channel>thought\nHm<|turn>user\nWhy?",
        "<think>\nHm\n</think>\n\n");
    row("nothing", on, "", "");
  }
  void gemmasChannelsBecomeText() {
    QFETCH(QString, prompt);
    QFETCH(QString, written);
    QFETCH(QString, text);
    QFETCH(QString, cut);
    const text::Tokenizer tokenizer = open_tokenizer("thinking", true);
    const auto channels = ChannelTokens::of(tokenizer);
    QVERIFY(channels.has_value());
    const auto encode = [&](const QString& of) {
      return tokenizer.encode(of.toStdString(), {.parse_special = true});
    };
    const auto text_of = [&](std::span<const TokenId> tokens, const chat::Prompt& behind, bool complete) {
      AnswerText answer(tokenizer, &*channels, behind, {"STOP"});
      std::string all = answer.opened();
      for (const TokenId token : tokens) all += answer.push(token);
      return all + answer.finish(complete);
    };
    const std::vector<TokenId> tokens = encode(written);
    QCOMPARE(text_of(tokens, {.tokens = encode(prompt)}, true), text.toStdString());
    QCOMPARE(text_of(tokens, {.tokens = encode(prompt)}, false), cut.toStdString());
    // Cut anywhere, put into the prompt again and gone on with, it becomes the same. Within a name, or just
    // behind it, nothing is begun, and behind an end nothing says that it was there.
    for (std::size_t middle = 0; middle <= tokens.size(); ++middle) {
      // Another's turn has ended it.
      if (middle > 0 && channels->mark(tokens[middle - 1]) == chat::Channels::Mark::start) break;
      const std::span<const TokenId> rest = std::span(tokens).subspan(middle);
      const std::string begun = text_of(std::span(tokens).first(middle), {.tokens = encode(prompt)}, false);
      if (begun.empty() || begun.contains("\uFFFD") || (middle > 0 && channels->mark(tokens[middle - 1])))
        continue;
      std::size_t mark = middle;
      while (mark > 0 && channels->mark(tokens[mark - 1]) != chat::Channels::Mark::channel) --mark;
      const std::string behind = tokenizer.decode(std::span(tokens).subspan(mark, middle - mark));
      if (mark > 0 && behind.find('\n') >= behind.size() - 1) continue;
      chat::Prompt continued{.tokens = encode("<|turn>model\n"), .continues = true};
      for (const chat::ChannelPart& part : channels->parts(begun, false)) {
        const auto more = part.mark ? std::vector{channels->token(*part.mark)} : tokenizer.encode(part.text);
        continued.tokens.insert(continued.tokens.end(), more.begin(), more.end());
      }
      const std::string whole = begun + text_of(rest, continued, true);
      QVERIFY2(whole == text.toStdString(), (begun + " | " + whole).c_str());
    }
  }

  // An answer that was cut in the middle of a message is put into the prompt again and goes on.
  void theRestFollowsWhatWasBegun() {
    int cuts = 0;
    for (const Row& r : rows) {
      const std::string whole = answer(r.written, true);
      const std::vector<TokenId> tokens = encode(r.written);
      std::optional<chat::Channels::Mark> last;
      for (auto middle = tokens.begin(); middle != tokens.end(); ++middle) {
        const std::string begun = text_of({tokens.begin(), middle}, false, {}, "");
        if (last == chat::Channels::Mark::message && !begun.empty() && !begun.contains("\uFFFD")) {
          AnswerText rest(tokenizer_, &*channels_, continued(begun), {});
          std::string text = begun + rest.opened();
          for (auto at = middle; at != tokens.end(); ++at) text += rest.push(*at);
          text += rest.finish(true);
          QCOMPARE(text, whole);
          ++cuts;
        }
        if (const auto mark = channels_->mark(*middle)) last = mark;
      }
    }
    QVERIFY(cuts > 50);
  }

  void thePromptMayOpenAChannel() {
    chat::Prompt prompt{.tokens = encode(std::string(prompt_end) + "<|channel|>analysis<|message|>"),
                        .opened = {}};
    const AnswerText text(tokenizer_, &*channels_, prompt, {});
    QCOMPARE(text.opened(), std::string("<think>\n"));
  }

  void anothersMessageEndsTheAnswer() {
    AnswerText text(tokenizer_, &*channels_, {.tokens = encode(prompt_end)}, {});
    std::string all;
    for (const TokenId token : encode("<|channel|>final<|message|>Yes<|end|><|start|>user<|message|>Why?"))
      all += text.push(token);
    QVERIFY(text.ended());
    QCOMPARE(all + text.finish(true), std::string("Yes"));
  }

  void stopStringsLookAtWhatIsSaid() {
    const char* const written =
        "<|channel|>analysis<|message|>STOP\n\nhm<|end|><|start|>assistant<|channel|>final<|message|>a\n\nb "
        "STOP c";
    QCOMPARE(answer(written, true, {"STOP"}), std::string("<think>\nSTOP\n\nhm\n</think>\n\na\n\nb "));
    QCOMPARE(answer(written, true, {"\n\n"}), std::string("<think>\nSTOP\n\nhm\n</think>\n\na"));
  }

  void stopStringsLetOthersThinkToo_data() {
    QTest::addColumn<int>("place");
    QTest::addColumn<QString>("written");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, AnswerPlace place, const char* written, const char* text) {
      QTest::newRow(name) << static_cast<int>(place) << QString(written) << QString(text);
    };
    row("thoughts", AnswerPlace::beginning, "<think>\nSTOP\n</think>\n\na STOP b",
        "<think>\nSTOP\n</think>\n\na ");
    row("begun by the prompt", AnswerPlace::thoughts, "STOP</think>a STOP b", "STOP</think>a ");
    row("none", AnswerPlace::beginning, "a <think> STOP", "a <think> ");
    row("goes on", AnswerPlace::text, "<think>STOP", "<think>");
    row("unfinished", AnswerPlace::beginning, "<think>STOP</thi", "<think>STOP</thi");
    row("an unfinished tag", AnswerPlace::beginning, " <th", " <th");
  }
  void stopStringsLetOthersThinkToo() {
    QFETCH(int, place);
    QFETCH(QString, written);
    QFETCH(QString, text);
    const text::Tokenizer plain = open_tokenizer("chat");
    std::mt19937 random(tests::seed());
    for (int round = 0; round < tests::rounds(20); ++round) {
      AnswerText answer(plain, nullptr, {.place = static_cast<AnswerPlace>(place)}, {"STOP"});
      std::string all;
      const std::string bytes = written.toStdString();
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = 1 + random() % 9;
        for (const TokenId token : plain.encode(bytes.substr(at, length))) all += answer.push(token);
        at += length;
      }
      QCOMPARE(all + answer.finish(true), text.toStdString());
    }
  }

 private:
  std::vector<TokenId> encode(std::string_view text) const {
    return tokenizer_.encode(text, {.parse_special = true});
  }

  // Control tokens stay whole; the text between them is cut into pieces that the tokeniser would not choose.
  std::vector<TokenId> cut_tokens(const std::string& text, std::mt19937& random) const {
    std::vector<TokenId> tokens;
    for (const TokenId token : encode(text)) {
      const std::string piece = tokenizer_.piece(token);
      if (tokenizer_.is_control(token) || static_cast<unsigned char>(piece[0]) >= 0x80 || random() % 2 == 0) {
        tokens.push_back(token);
        continue;
      }
      for (std::size_t i = 0; i < piece.size(); ++i)
        for (const TokenId byte : tokenizer_.encode(piece.substr(i, 1))) tokens.push_back(byte);
    }
    return tokens;
  }

  chat::Prompt continued(const std::string& begun) const {
    chat::Prompt prompt{.tokens = encode(prompt_end), .continues = true};
    for (const chat::ChannelPart& part : channels_->parts(begun, false)) {
      const auto more = part.mark ? std::vector{channels_->token(*part.mark)} : tokenizer_.encode(part.text);
      prompt.tokens.insert(prompt.tokens.end(), more.begin(), more.end());
    }
    return prompt;
  }

  std::string text_of(const std::vector<TokenId>& tokens, bool complete, const Strings& stops,
                      const std::string& opened) const {
    AnswerText text(tokenizer_, &*channels_, {.tokens = encode(prompt_end), .opened = opened}, stops);
    std::string all = text.opened();
    for (const TokenId token : tokens) {
      all += text.push(token);
      if (text.found_stop()) break;
    }
    return all + text.finish(complete);
  }
  std::string answer(const char* written, bool complete, const Strings& stops = {}) const {
    return text_of(encode(written), complete, stops, "");
  }

  text::Tokenizer tokenizer_ = open_tokenizer("thinking");
  std::optional<ChannelTokens> channels_ = ChannelTokens::of(tokenizer_);
};
FOVEA_TEST(ChannelsTest)

#include "channels_test.moc"
