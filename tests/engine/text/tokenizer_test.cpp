#include "engine/text/tokenizer.h"

#include <QCryptographicHash>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/checkpoint.h"
#include "engine/text/errors.h"
#include "tests/support/test.h"

#include "corpora.h"

using fovea::ErrorKind;
using fovea::Result;
using fovea::TokenId;
using fovea::tests::content;
using fovea::tests::corpus;
using fovea::tests::RandomTexts;
using fovea::tests::unpacked;
using fovea::text::StreamDecoder;
using fovea::text::Tokenizer;
using nlohmann::json;

namespace {

Result<Tokenizer> open(const std::filesystem::path& path) {
  if (path.extension() == ".json") return Tokenizer::from_json(content(path), json::object(), path.string());
  auto checkpoint = fovea::checkpoint::Checkpoint::open(path);
  if (!checkpoint) return std::unexpected(checkpoint.error());
  return Tokenizer::open(*checkpoint);
}

std::string listed(const std::vector<TokenId>& ids) {
  return json(ids).dump();
}

std::string digest(const Tokenizer& tokenizer, std::span<const std::string> texts) {
  QCryptographicHash hash(QCryptographicHash::Sha1);
  for (const std::string& text : texts) {
    std::vector<TokenId> ids = tokenizer.encode(text);
    ids.push_back(-1);
    hash.addData(QByteArrayView(reinterpret_cast<const char*>(ids.data()),
                                static_cast<qsizetype>(ids.size() * sizeof(TokenId))));
  }
  return hash.result().toHex().left(16).toStdString();
}

// "" or the first group of texts whose ids differ.
std::string difference(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
                       const json& expected, std::size_t group) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t begin = i * group;
    const std::size_t count = std::min(group, texts.size() - std::min(begin, texts.size()));
    if (digest(tokenizer, std::span(texts).subspan(std::min(begin, texts.size()), count)) !=
        expected[i].get<std::string>())
      return "texts from " + std::to_string(begin) + " on have other ids";
  }
  return texts.size() > expected.size() * group ? "there are more texts than expected" : "";
}

}  // namespace

class TokenizerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void small_data() {
    QTest::addColumn<QString>("name");
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(
             fovea::tests::golden("tokenizers/hashes.json").parent_path() / "cases"))
      names.insert(file.path().stem().string());
    for (const std::string& name : names) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void small() {
    QFETCH(QString, name);
    const json cases =
        json::parse(content(fovea::tests::golden("tokenizers/cases/" + name.toStdString() + ".json")));
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/" + name.toStdString()));
    FOVEA_VERIFY(tokenizer);
    QVERIFY(cases.size() > 20);
    for (const json& item : cases) {
      const auto text = item["text"].get<std::string>();
      const auto expected = item["plain"].get<std::vector<TokenId>>();
      const std::vector<TokenId> plain = tokenizer->encode(text);
      // Where Hugging Face's model spells a control token out of text, ours does not.
      const bool spelled = std::ranges::any_of(expected, [&](TokenId id) {
        return id != 0 && tokenizer->is_control(id) && !tokenizer->name(id).starts_with("<0x");
      });
      if (!spelled)
        QVERIFY2(plain == expected, (text + ": " + listed(plain) + " is not " + listed(expected)).c_str());
      for (const TokenId id : plain)  // the trainer marks byte tokens as control tokens, too
        QVERIFY(id == 0 || !tokenizer->is_control(id) || tokenizer->name(id).starts_with("<0x"));
      if (!item.contains("special")) continue;
      const auto with_special = item["special"].get<std::vector<TokenId>>();
      const std::vector<TokenId> special =
          tokenizer->encode(text, {.add_special = true, .parse_special = true});
      QVERIFY2(special == with_special,
               (text + ": " + listed(special) + " is not " + listed(with_special)).c_str());
      QCOMPARE(QString::fromStdString(tokenizer->decode(special)),
               QString::fromStdString(item["decoded"].get<std::string>()));
    }
  }

  // Every stream is the decoded text, cut only between characters, with no finished character held back.
  void streams_data() { small_data(); }
  void streams() {
    QFETCH(QString, name);
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/" + name.toStdString()));
    FOVEA_VERIFY(tokenizer);
    const bool by_bytes = name.startsWith("sentencepiece") || name.startsWith("llama2");
    RandomTexts random(fovea::tests::seed());
    for (int i = 0; i < fovea::tests::rounds(300); ++i) {
      const std::vector<TokenId> ids = tokenizer->encode(random.next());
      StreamDecoder decoder(*tokenizer);
      std::string all;
      for (std::size_t n = 0; n < ids.size(); ++n) {
        const std::string piece = decoder.push(ids[n]);
        QVERIFY(QString::fromStdString(piece).toStdString() == piece);  // whole characters
        all += piece;
        // What is decoded so far differs from it by an unfinished character at most.
        std::string now = tokenizer->decode(std::span(ids).first(n + 1));
        const bool unfinished =
            now.ends_with("\xEF\xBF\xBD");  // decode() gives up a whole run of byte tokens
        if (now.size() > all.size()) {
          QVERIFY(now.ends_with("\xEF\xBF\xBD"));
          while (now.size() > all.size() && now.ends_with("\xEF\xBF\xBD")) now.resize(now.size() - 3);
        }
        if (name != "words.json" && !(by_bytes && unfinished))
          QVERIFY2(now == all,
                   ("seed " + std::to_string(fovea::tests::seed()) + ", text " + std::to_string(i)).c_str());
      }
      all += decoder.finish();
      if (name != "words.json") QCOMPARE(all, tokenizer->decode(ids));
    }
  }

  void invalidBytesInTokens() {
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/llama3.json"));
    FOVEA_VERIFY(tokenizer);
    const std::vector<TokenId> euro = tokenizer->encode("\xE2\x82\xAC");
    QVERIFY(euro.size() >= 2);
    std::vector<TokenId> broken(euro.begin(), euro.end() - 1);
    const TokenId letter = tokenizer->encode("x").front();
    broken.push_back(letter);
    QCOMPARE(tokenizer->decode(broken), std::string("\xEF\xBF\xBDx"));
    StreamDecoder decoder(*tokenizer);
    std::string all;
    for (const TokenId id : broken) all += decoder.push(id);
    QCOMPARE(all, std::string("\xEF\xBF\xBDx"));
    QCOMPARE(decoder.push(euro.front()), std::string());
    QCOMPARE(decoder.finish(), std::string("\xEF\xBF\xBD"));
  }

  void invalidTextBecomesReplacements() {
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/gpt4o.json"));
    FOVEA_VERIFY(tokenizer);
    const std::string replacement = "\xEF\xBF\xBD";
    QCOMPARE(tokenizer->encode("a\xFF\xC3(\xE2\x82"
                               "b\xF0\x9F\x98"),
             tokenizer->encode("a" + replacement + replacement + "(" + replacement + "b" + replacement));
    QCOMPARE(tokenizer->encode("\xED\xA0\x80"), tokenizer->encode(replacement + replacement + replacement));
  }

  void corpora_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("qwen3") << "qwen3";
    QTest::newRow("smollm2") << "smollm2";
  }
  void corpora() {
    QFETCH(QString, model);
    const json expected =
        json::parse(content(fovea::tests::golden("tokenizers/hashes.json")))[model.toStdString()];
    Result<Tokenizer> tokenizer =
        fovea::tests::demo_dense_model().empty() ? open("") : open(fovea::tests::demo_dense_model());
    if (model == "qwen3") {
      const auto packed = fovea::tests::shared("data/qwen3-tokenizer/tokenizer.json.xz");
      if (packed.empty()) QSKIP("../shared/data/qwen3-tokenizer is not there");
      tokenizer = Tokenizer::from_json(unpacked(packed), json::object(), packed.string());
    } else if (fovea::tests::demo_dense_model().empty()) {
      QSKIP("the demo model was not built yet");
    }
    FOVEA_VERIFY(tokenizer);

    RandomTexts random(2026);
    std::vector<std::string> texts;
    for (int i = 0; i < 100000; ++i) texts.push_back(random.next());
    QCOMPARE(difference(*tokenizer, texts, expected["random"], 1000), std::string());
    std::swap(texts[0], texts[2]);  // the check can fail
    QVERIFY(!difference(*tokenizer, texts, expected["random"], 1000).empty());

    int checked = 0;
    for (const auto& [name, hashes] : expected.items()) {
      if (name == "random") continue;
      const std::vector<std::string> lines = corpus(name);
      if (lines.empty()) {
        qWarning("%s is not there: not compared", name.c_str());
        continue;
      }
      QVERIFY2(difference(*tokenizer, lines, hashes, 250).empty(), name.c_str());
      ++checked;
    }
    if (checked == 0) QSKIP("../shared/data is not there: only random texts were compared");
  }

  void longWordsAreNotQuadratic() {
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/llama3.json"));
    FOVEA_VERIFY(tokenizer);
    const std::string text(1 << 20, 'a');
    const std::vector<TokenId> ids =
        tokenizer->encode(text);  // the test's time limit would end a quadratic one
    QCOMPARE(tokenizer->decode(ids), text);
    const auto pieces = open(fovea::tests::golden("tokenizers/tiny/sentencepiece-bpe.gguf"));
    FOVEA_VERIFY(pieces);
    QCOMPARE(pieces->decode(pieces->encode(text)), text);
    const auto cased = open(fovea::tests::golden("tokenizers/tiny/gpt4o.json"));
    FOVEA_VERIFY(cased);
    for (const char c : {' ', 'A', '!', '\n', '1'})
      QCOMPARE(cased->decode(cased->encode(std::string(1 << 18, c))), std::string(1 << 18, c));
  }

  void endsOfGeneration() {
    const auto tokenizer = open(fovea::tests::golden("tokenizers/tiny/llama3.gguf"));
    FOVEA_VERIFY(tokenizer);
    QCOMPARE(tokenizer->bos(), 1);
    QCOMPARE(tokenizer->eos(), 2);
    QVERIFY(tokenizer->adds_bos());
    QCOMPARE(tokenizer->end_of_generation(), std::vector<TokenId>{2});
    QCOMPARE(tokenizer->piece(2), std::string("</s>"));
    QCOMPARE(tokenizer->decode(std::vector<TokenId>{1, 2}), std::string());
    QCOMPARE(tokenizer->decode(std::vector<TokenId>{1, 2}, true), std::string("<s></s>"));
    QCOMPARE(tokenizer->decode(std::vector<TokenId>{-1, 1 << 30}), std::string());
  }

  void hostileFiles_data() {
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* edit, const char* says) {
      QTest::newRow(name) << QString(edit) << QString(says);
    };
    row("no model", "[{'op':'remove','path':'/model'}]", "\"model\" is missing");
    row("id out of range", "[{'op':'add','path':'/model/vocab/zzz','value':4000000000}]",
        "not a number below");
    row("negative id", "[{'op':'add','path':'/model/vocab/zzz','value':-1}]", "not a number below");
    row("shared id", "[{'op':'add','path':'/model/vocab/zzz','value':5}]", "which another token has");
    row("merge of strangers", "[{'op':'add','path':'/model/merges/0','value':['qqqq','a']}]",
        "not in the vocabulary");
    row("merge of three", "[{'op':'add','path':'/model/merges/0','value':'a b c'}]", "is not a pair");
    row("dropout", "[{'op':'replace','path':'/model/dropout','value':0.1}]", "dropout");
    row("unknown model", "[{'op':'replace','path':'/model/type','value':'Neural'}]", "Neural");
    row("unknown word",
        "[{'op':'replace','path':'/pre_tokenizer','value':null},"
        "{'op':'replace','path':'/model','value':{'type':'WordLevel','vocab':{'a':0}}}]",
        "\"<unk>\" is not in the vocabulary");
    row("map is no base 64",
        "[{'op':'replace','path':'/normalizer','value':{'type':'Precompiled','precompiled_charsmap':'a b'}}]",
        "is not base 64");
    row("map is cut off",
        "[{'op':'replace','path':'/"
        "normalizer','value':{'type':'Precompiled','precompiled_charsmap':'ALQCAACEAAA='}}]",
        "the trie of the character map has 177152 bytes, the map 8");
    row("unknown step", "[{'op':'replace','path':'/normalizer','value':{'type':'Nmt'}}]", "Nmt");
    row("unknown decoder", "[{'op':'replace','path':'/decoder','value':{'type':'CTC'}}]", "CTC");
    row("bad expression",
        "[{'op':'replace','path':'/"
        "pre_tokenizer','value':{'type':'Split','pattern':{'Regex':'(a'},'behavior':'Isolated'}}]",
        "not understood");
    row("class in a class",
        "[{'op':'replace','path':'/"
        "pre_tokenizer','value':{'type':'Split','pattern':{'Regex':'[a-z&&[^b]]'},'behavior':'Isolated'}}]",
        "a class inside a class");
    row("added id", "[{'op':'add','path':'/added_tokens/0','value':{'id':16000000,'content':'qqqq'}}]",
        "is not below");
    row("template id", "[{'op':'replace','path':'/post_processor/special_tokens/<s>/ids','value':[99999]}]",
        "outside the vocabulary");
  }
  void hostileFiles() {
    QFETCH(QString, edit);
    QFETCH(QString, says);
    const json document = json::parse(content(fovea::tests::golden("tokenizers/tiny/llama3.json")));
    const std::string text = document.patch(json::parse(edit.replace('\'', '"').toStdString())).dump();
    const auto tokenizer = Tokenizer::from_json(text, json::object(), "tokenizer.json");
    QVERIFY(!tokenizer);
    QVERIFY2(tokenizer.error().message().find(says.toStdString()) != std::string::npos,
             tokenizer.error().message().c_str());
  }

  void brokenTextIsAnError() {
    for (const std::string& text :
         {std::string("{"), std::string(), std::string("[]"), std::string(1 << 16, '[')}) {
      const auto tokenizer = Tokenizer::from_json(text, json::object(), "tokenizer.json");
      QVERIFY(!tokenizer && tokenizer.error().is(fovea::errors::tokenizer_not_json.code));
    }
  }

  void unknownPreTokeniserIsNamed() {
    auto checkpoint =
        fovea::checkpoint::Checkpoint::open(fovea::tests::golden("tokenizers/tiny/llama3.gguf"));
    FOVEA_VERIFY(checkpoint);
    fovea::checkpoint::Metadata metadata = checkpoint->metadata();
    metadata.set("tokenizer.ggml.pre", std::string_view("newest"));
    const auto tokenizer = Tokenizer::from_metadata(metadata, "model.gguf");
    QVERIFY(!tokenizer);
    QVERIFY(tokenizer.error().is(fovea::errors::tokenizer_pre.code));
    QCOMPARE(tokenizer.error().kind, ErrorKind::unsupported);
    QCOMPARE(tokenizer.error().where_words(), std::string("model.gguf, tokenizer.ggml.pre"));
    QCOMPARE(tokenizer.error().file(), std::optional<std::filesystem::path>("model.gguf"));
    QVERIFY(tokenizer.error().message().find("\"newest\"") != std::string::npos);
    metadata.set("tokenizer.ggml.model", std::string_view("rwkv"));
    const auto rwkv = Tokenizer::from_metadata(metadata, "model.gguf");
    QVERIFY(!rwkv && rwkv.error().is(fovea::errors::tokenizer_unknown.code));
    QVERIFY(rwkv.error().message().find("\"rwkv\"") != std::string::npos);
  }

  // GGUF files call the marks of channels and calls words (4), among real ones; nobody's text may become one.
  void gemmasMarksAreControlTokens() {
    fovea::checkpoint::Metadata metadata;
    const std::vector<std::string_view> tokens{
        "<unk>", "<bos>", "<eos>", "<|channel>", "<channel|>", "<|\"|>", "<|tool_response>",
        "word>", "a",     "<",     "|",          ">"};
    metadata.set("tokenizer.ggml.model", std::string_view("gemma4"));
    metadata.set("tokenizer.ggml.tokens", tokens);
    metadata.set("tokenizer.ggml.token_type", std::vector<std::int64_t>{2, 3, 3, 4, 4, 4, 4, 4, 1, 1, 1, 1});
    metadata.set("tokenizer.ggml.merges", std::vector<std::string_view>{});
    metadata.set("tokenizer.ggml.bos_token_id", std::uint64_t{1});
    metadata.set("tokenizer.ggml.eos_token_id", std::uint64_t{2});
    metadata.set("tokenizer.ggml.add_bos_token", false);
    const auto tokenizer = Tokenizer::from_metadata(metadata, "model.gguf");
    FOVEA_VERIFY(tokenizer);
    QVERIFY(tokenizer->adds_bos());
    for (fovea::TokenId id = 0; id < std::ssize(tokens); ++id) QCOMPARE(tokenizer->is_control(id), id < 7);
    QCOMPARE(std::ranges::count(tokenizer->end_of_generation(), tokenizer->find("<|tool_response>")), 1);
  }

  // An expression that backtracks without end leaves the text whole instead of hanging.
  void catastrophicExpression() {
    json document = json::parse(content(fovea::tests::golden("tokenizers/tiny/llama3.json")));
    document["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", "(a+)+$"}}}, {"behavior", "Isolated"}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    const auto tokenizer = Tokenizer::from_json(document.dump(), json::object(), "tokenizer.json");
    FOVEA_VERIFY(tokenizer);
    const std::string text = std::string(5000, 'a') + "b";
    QCOMPARE(tokenizer->decode(tokenizer->encode(text)), text);
  }
};
FOVEA_TEST(TokenizerTest)

#include "tokenizer_test.moc"
