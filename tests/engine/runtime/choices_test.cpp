// Several answers to one request: what each seed says by itself, with the prompt read once, and what was
// thought of the tokens told with the text.
#include <QTemporaryDir>
#include <thread>

#include "tests/support/test.h"

#include "tests/engine/chat/chat_model.h"
#include "family_models.h"

using fovea::Engine;
using fovea::ErrorKind;
using fovea::FinishReason;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::LoadOptions;
using fovea::TokenChoice;
using fovea::tests::chat_request;
using fovea::tests::generate;

namespace {

std::unique_ptr<Engine> load(LoadOptions options, std::int64_t sequences = 1) {
  options.sequences = sequences;
  options.cache_tokens = sequences * options.context;
  auto engine = Engine::load(options);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

GenerateRequest request(std::int32_t tokens) {
  GenerateRequest made;
  made.raw_prompt =
      "The eye sees sharply only where it looks. A router chooses the experts that a token needs";
  made.max_tokens = tokens;
  made.sampling = {.temperature = 1.2F, .top_k = 0, .top_p = 1, .min_p = 0};
  return made;
}

constexpr std::uint64_t seeds[] = {11, 12, 11, 13, 14};

}  // namespace

class ChoicesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachIsWhatItsSeedSays_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("sequences");
    QTest::newRow("all at once") << QString() << 5;
    QTest::newRow("two places") << QString() << 2;
    QTest::newRow("one place") << QString() << 1;
    QTest::newRow("recurrent") << "qwen3_next-1.gguf" << 5;
    QTest::newRow("windows") << "gemma3-1.gguf" << 3;
  }
  void eachIsWhatItsSeedSays() {
    QFETCH(QString, file);
    QFETCH(int, sequences);
    const QTemporaryDir folder;
    LoadOptions options = chat_request();
    if (!file.isEmpty()) {
      options = {.model = std::filesystem::path(folder.path().toStdString()) / "model.gguf",
                 .context = 512,
                 .threads = 2,
                 .chunk = 128};
      fovea::tests::family_models::Copy(file.toUtf8().constData(), options.model);
    }
    const auto together = load(options, sequences);
    const auto alone = load(options);
    std::vector<std::string> heard(std::size(seeds));
    std::int64_t most = 0;
    const auto results =
        together->generate_choices(request(30), seeds, [&](std::size_t choice, const auto& piece) {
          heard[choice] += piece.text;
          most = std::max(most, together->load().answering);
        });
    FOVEA_VERIFY(results);
    QCOMPARE(results->size(), std::size(seeds));
    for (std::size_t i = 0; i < std::size(seeds); ++i) {
      GenerateRequest one = request(30);
      one.sampling.seed = seeds[i];
      one.reuse_cache = false;
      const GenerateResult expected = generate(*alone, one);
      const GenerateResult& result = (*results)[i];
      QCOMPARE(result.tokens, expected.tokens);
      QCOMPARE(result.text, expected.text);
      QCOMPARE(heard[i], expected.text);
      QCOMPARE(result.finish, expected.finish);
      QCOMPARE(result.seed, seeds[i]);
      // The last of the prompt's tokens is computed for its logits; recurrent layers go on where a state is.
      const std::int64_t prompt = expected.timings.prompt_tokens;
      QCOMPARE(result.timings.prompt_tokens, prompt);
      if (i == 0) QCOMPARE(result.timings.reused_tokens, 0);
      if (i > 0 && file.isEmpty()) QCOMPARE(result.timings.reused_tokens, prompt - 1);
    }
    QVERIFY((*results)[0].tokens != (*results)[1].tokens);
    QCOMPARE(most, sequences);
    QCOMPARE(together->load().answering + together->load().waiting, 0);
  }

  // Without the cache each reads the prompt itself.
  void aPromptMayBeReadByAll() {
    const auto engine = load(chat_request(), 3);
    GenerateRequest asked = request(5);
    asked.reuse_cache = false;
    const auto results = engine->generate_choices(asked, std::span(seeds).first(3));
    FOVEA_VERIFY(results);
    for (const GenerateResult& result : *results) QCOMPARE(result.timings.reused_tokens, 0);
  }

  // Tokens' entries come in order, with the piece in which their text ends or, where that was held back, a
  // later one.
  void whatWasThoughtComesWithTheText() {
    const auto engine = load(chat_request(), 2);
    GenerateRequest asked = request(60);
    asked.top_logprobs = 2;
    asked.stop = {"zzzz", "e the same thing never said"};
    std::vector<std::vector<TokenChoice>> told(2);
    std::vector<std::string> text(2);
    bool sound = true;
    const auto results = engine->generate_choices(
        asked, std::span(seeds).first(2), [&](std::size_t choice, const fovea::ChoicePiece& piece) {
          text[choice] += piece.text;
          told[choice].insert(told[choice].end(), piece.choices.begin(), piece.choices.end());
          // The last one's text is all that is told so far, but for what may go on: a stop string or a
          // character.
          const auto behind = told[choice].back().text_end - std::ssize(text[choice]);
          sound = sound && behind >= 0 && behind < 40;
        });
    FOVEA_VERIFY(results);
    QVERIFY(sound);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& all = (*results)[i].choices;
      const std::vector<fovea::TokenId>& tokens = (*results)[i].tokens;
      QCOMPARE(all.size(), tokens.size());
      // What the tokens up to each one say, where that is no half character.
      int whole = 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const std::string said = engine->text()->decode(std::span(tokens).first(k + 1));
        if (said.ends_with("\uFFFD")) continue;
        QCOMPARE(all[k].text_end, std::ssize(said));
        ++whole;
      }
      QVERIFY(whole > 10);
      QVERIFY(told[i].size() > 40 && told[i].size() <= all.size());
      QVERIFY(std::equal(told[i].begin(), told[i].end(), all.begin()));
    }
  }

  void aCancelledRequestEndsAll() {
    const auto engine = load(chat_request(), 2);
    std::stop_source source;
    const auto results = engine->generate_choices(
        request(200), seeds,
        [&](std::size_t, const fovea::ChoicePiece& piece) {
          if (piece.so_far.generated_tokens >= 3) source.request_stop();
        },
        source.get_token());
    FOVEA_VERIFY(results);
    for (const GenerateResult& result : *results) {
      QCOMPARE(result.finish, FinishReason::cancelled);
      QVERIFY(result.tokens.size() < 10);
    }
    QVERIFY((*results)[4].tokens.empty());
  }

  // Others go on.
  void aSinkThatThrowsEndsItsOwnCall() {
    const auto engine = load(chat_request(), 4);
    fovea::Result<std::vector<GenerateResult>> thrown;
    GenerateResult other;
    {
      const std::jthread throws([&] {
        thrown = engine->generate_choices(request(60), seeds, [](std::size_t choice, const auto&) {
          if (choice == 1) throw std::bad_alloc();
        });
      });
      const std::jthread goes_on([&] { other = generate(*engine, request(60)); });
    }
    QVERIFY(!thrown);
    QCOMPARE(thrown.error().kind, ErrorKind::memory);
    QVERIFY(!other.tokens.empty());
    QCOMPARE(engine->load().answering + engine->load().waiting, 0);
  }

  void aWrongRequestIsRefused() {
    const auto engine = load(chat_request());
    GenerateRequest wrong = request(5);
    wrong.sampling.top_p = 2;
    QVERIFY(!engine->generate_choices(wrong, seeds));
    QVERIFY(engine->generate_choices(request(5), {})->empty());
  }
};

FOVEA_TEST(ChoicesTest)
#include "choices_test.moc"
