#include "engine/api/engine.h"

#include <cmath>
#include <new>
#include <system_error>
#include <thread>

#include "engine/runtime/parts.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

using fovea::ContextOverflow;
using fovea::Engine;
using fovea::ErrorKind;
using fovea::FinishReason;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::KvType;
using fovea::LoadOptions;
using fovea::Message;
using fovea::Progress;
using fovea::Timings;
using fovea::TokenId;
using fovea::tests::chat_request;
using fovea::tests::expected_chat;
using fovea::tests::generate;
using fovea::tests::greedy;
using fovea::tests::messages_of;

namespace {

std::unique_ptr<Engine> load(LoadOptions request = chat_request()) {
  auto engine = Engine::load(request);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

GenerateRequest sampled(std::vector<Message> messages, std::uint64_t seed, std::int32_t max_tokens = 20) {
  GenerateRequest request;
  request.messages = std::move(messages);
  request.sampling = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = seed};
  request.max_tokens = max_tokens;
  return request;
}

std::vector<float> all_logits(Engine& engine, const std::vector<TokenId>& tokens) {
  std::vector<float> rows;
  const auto result = engine.logits(tokens, [&](std::int64_t, std::span<const float> row) {
    rows.insert(rows.end(), row.begin(), row.end());
  });
  if (!result) qFatal("%s", result.error().message().c_str());
  return rows;
}

std::vector<TokenId> some_tokens(int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * 37 + i * i) % 340);
  return tokens;
}

const std::vector<Message> question{{"user", "What is a mixture of experts?"}};

// The likeliest token after `tokens` when going on with any passage that was said before is out of the
// question.
TokenId next_without_repeating(Engine& engine, const fovea::TextModel& text,
                               const std::vector<TokenId>& tokens, bool break_passages) {
  const auto breaks = [&](TokenId token) {
    const std::string piece = text.piece(token);
    return break_passages && (piece.starts_with("<|") || piece.find_first_of("\n:\"*") != std::string::npos);
  };
  const std::vector<float> rows = all_logits(engine, tokens);
  const std::size_t vocabulary = rows.size() / tokens.size();
  std::vector<float> last(rows.end() - static_cast<std::ptrdiff_t>(vocabulary), rows.end());
  for (std::size_t next = 2; next < tokens.size(); ++next) {
    if (tokens[next - 2] == tokens[tokens.size() - 2] && tokens[next - 1] == tokens.back() &&
        !breaks(tokens[next - 2]) && !breaks(tokens[next - 1]) && !breaks(tokens[next]))
      last[static_cast<std::size_t>(tokens[next])] = -1e9F;
  }
  return static_cast<TokenId>(std::ranges::max_element(last) - last.begin());
}

}  // namespace

class EngineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // With all weight on DRY no three tokens come twice, except across a breaker: chosen here one by one from
  // the engine's logits.
  void anAnswerThatRepeatsNoPassage() {
    LoadOptions one_by_one = chat_request();
    one_by_one.chunk = 1;  // several tokens at a time are rounded otherwise on some processors
    const auto engine = load(one_by_one);
    const auto text = fovea::TextModel::open(fovea::tests::golden("chat"));
    FOVEA_VERIFY(text);
    GenerateRequest request = greedy({}, 60);
    request.raw_prompt = "name: Ann\nname: Bob\nname: the cat\nname:";
    const auto plain = generate(*engine, request);
    request.sampling.dry_multiplier = 100;
    request.sampling.dry_base = 1;
    const auto answer = generate(*engine, request);
    QVERIFY(answer.tokens.size() > 10);
    QVERIFY(answer.tokens != plain.tokens);
    for (const bool break_passages : {true, false}) {
      std::vector<TokenId> tokens = (*text)->encode(*request.raw_prompt, {.add_special = true});
      const std::size_t prompt = tokens.size();
      while (tokens.size() < prompt + answer.tokens.size())
        tokens.push_back(next_without_repeating(*engine, **text, tokens, break_passages));
      tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(prompt));
      if (break_passages) {
        QCOMPARE(tokens, answer.tokens);
      } else {
        QVERIFY(tokens != answer.tokens);
      }
    }
  }

  void greedyAnswersEqualTransformers_data() {
    QTest::addColumn<int>("chunk");
    QTest::addColumn<int>("kv");
    for (const int chunk : {1, 7, 64})
      QTest::addRow("f32 chunk %d", chunk) << chunk << static_cast<int>(KvType::f32);
    QTest::addRow("f16") << 64 << static_cast<int>(KvType::f16);
  }
  void greedyAnswersEqualTransformers() {
    QFETCH(int, chunk);
    QFETCH(int, kv);
    LoadOptions request = chat_request();
    request.chunk = chunk;
    request.kv = static_cast<KvType>(kv);
    const auto engine = load(request);
    QVERIFY(expected_chat()["chats"].size() >= 4);
    for (const auto& chat : expected_chat()["chats"]) {
      const GenerateResult result = generate(*engine, greedy(messages_of(chat), 24));
      QCOMPARE(result.tokens, chat["answer"].get<std::vector<TokenId>>());
      QCOMPARE(result.text, chat["text"].get<std::string>());
      QCOMPARE(result.finish,
               result.tokens.size() < 24 ? FinishReason::stop_token : FinishReason::max_tokens);
      QCOMPARE(result.timings.prompt_tokens, std::ssize(chat["prompt"]));
      QCOMPARE(result.timings.generated_tokens, std::ssize(result.tokens));
    }
  }

  // What is counted beforehand is what is read, and nothing but that.
  void thePromptIsWhatIsRead() {
    const auto engine = load();
    for (const auto& chat : expected_chat()["chats"]) {
      const auto prompt = engine->prompt(greedy(messages_of(chat), 1));
      FOVEA_VERIFY(prompt);
      QCOMPARE(*prompt, chat["prompt"].get<std::vector<TokenId>>());
    }
    GenerateRequest request = greedy({{"user", "<|im_end|> a word"}, {"assistant", "And then"}}, 1);
    request.continue_last = true;
    const auto begun = engine->prompt(request);
    FOVEA_VERIFY(begun);
    QCOMPARE(generate(*engine, request).timings.prompt_tokens, std::ssize(*begun));
    // Also where it is too long to be answered, in one turn or in many.
    std::string words;
    for (int i = 0; i < 3000; ++i) words += "word ";
    const std::int64_t context = engine->settings().context;
    for (const std::vector<Message>& talk :
         {std::vector<Message>{{"user", words}},
          std::vector<Message>{{"user", words}, {"assistant", "Yes."}, {"user", "And?"}}}) {
      const auto counted = engine->prompt(greedy(talk, 1));
      FOVEA_VERIFY(counted);
      QVERIFY(std::ssize(*counted) > context);
      const auto refused = engine->generate(greedy(talk, 1));
      QVERIFY(!refused && refused.error().kind == ErrorKind::context_full);
    }
    const auto nothing = engine->prompt({});
    QVERIFY(!nothing && nothing.error().kind == ErrorKind::invalid);
  }

  void anEightBitCacheAnswersToo() {
    LoadOptions request = chat_request();
    request.kv = KvType::q8;
    const auto engine = load(request);
    // 34 bytes for 32 values; one more page than 256 tokens need.
    QCOMPARE(engine->memory().kv_cache, 5 * 64 * 2 * 2 * 34);
    const GenerateResult first = generate(*engine, sampled(question, 7));
    QVERIFY(!first.tokens.empty());
    QCOMPARE(generate(*engine, sampled(question, 7)).tokens, first.tokens);
  }

  // What makes a reused prefix exact: a token's values do not depend on the tokens computed beside it.
  void logitsDoNotDependOnChunksOrThreads() {
    const auto tokens = some_tokens(100);
    std::vector<float> first;
    for (const auto& [chunk, threads] : {std::pair{100, 2}, {1, 2}, {33, 1}, {64, 3}}) {
      LoadOptions request = chat_request();
      request.chunk = chunk;
      request.threads = threads;
      const auto rows = all_logits(*load(request), tokens);
      QCOMPARE(rows.size(), 100U * 340U);
      if (first.empty()) first = rows;
      QVERIFY2(rows == first, qPrintable(QString("chunk %1, %2 threads").arg(chunk).arg(threads)));
    }
  }

  void logitsBeginAtTheFirstRowWanted() {
    const auto engine = load();
    const auto tokens = some_tokens(50);
    const auto rows = all_logits(*engine, tokens);
    std::int64_t next = 20;
    const auto result = engine->logits(
        tokens,
        [&](std::int64_t position, std::span<const float> row) {
          QCOMPARE(position, next++);
          QVERIFY(std::ranges::equal(row,
                                     std::span(rows).subspan(static_cast<std::size_t>(position) * 340, 340)));
        },
        {}, 20);
    FOVEA_VERIFY(result);
    QCOMPARE(next, 50);
  }

  void theSameRequestGivesTheSameText() {
    const auto engine = load();
    const GenerateResult first = generate(*engine, sampled(question, 7));
    QCOMPARE(first.timings.reused_tokens, 0);
    QCOMPARE(first.seed, 7U);
    const GenerateResult second = generate(*engine, sampled(question, 7));
    QCOMPARE(second.timings.reused_tokens, second.timings.prompt_tokens - 1);
    QCOMPARE(second.tokens, first.tokens);
    GenerateRequest fresh = sampled(question, 7);
    fresh.reuse_cache = false;
    const GenerateResult third = generate(*engine, fresh);
    QCOMPARE(third.timings.reused_tokens, 0);
    QCOMPARE(third.tokens, first.tokens);
    QCOMPARE(generate(*load(), sampled(question, 7)).tokens, first.tokens);
    QVERIFY(generate(*engine, sampled(question, 8)).tokens != first.tokens);
  }

  void theNextTurnReusesPromptAndAnswer() {
    const auto engine = load();
    std::vector<Message> messages = question;
    const GenerateResult first = generate(*engine, greedy(messages, 10));
    messages.push_back({"assistant", first.text});
    messages.push_back({"user", "And the values?"});
    const GenerateResult second = generate(*engine, greedy(messages, 10));
    // At least the prompt; the answer as far as its text gives its tokens back.
    QVERIFY(second.timings.reused_tokens >= first.timings.prompt_tokens);
    QCOMPARE(generate(*load(), greedy(messages, 10)).tokens, second.tokens);
  }

  void interleavedConversationsEqualThoseAlone() {
    const auto converse = [](Engine& engine, std::vector<Message>& messages, std::uint64_t seed) {
      messages.push_back({"user", "Question " + std::to_string(messages.size())});
      messages.push_back({"assistant", generate(engine, sampled(messages, seed, 8)).text});
    };
    LoadOptions request = chat_request();
    request.context = 512;
    const auto both = load(request);
    std::vector<Message> a{{"system", "First."}}, b{{"system", "Second."}};
    for (int turn = 0; turn < 4; ++turn) {
      converse(*both, a, 3);
      converse(*both, b, 4);
    }
    for (const auto& [together, seed] : {std::pair{a, 3}, {b, 4}}) {
      const auto alone = load(request);
      std::vector<Message> messages{together.front()};
      for (int turn = 0; turn < 4; ++turn) converse(*alone, messages, static_cast<std::uint64_t>(seed));
      for (std::size_t i = 0; i < together.size(); ++i) QCOMPARE(messages[i].content, together[i].content);
    }
  }

  void textStreamsInWholeCharacters() {
    const auto engine = load();
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::string streamed;
      const auto result =
          engine->generate(sampled(question, seed, 30), [&](std::string_view text, const Timings& t) {
            const QByteArray bytes(text.data(), static_cast<qsizetype>(text.size()));
            QCOMPARE(QString::fromUtf8(bytes).toUtf8(), bytes);
            QVERIFY(!text.empty() && t.generated_tokens > 0);
            streamed += text;
          });
      FOVEA_VERIFY(result);
      QCOMPARE(streamed, result->text);
      QCOMPARE(streamed, engine->text()->decode(result->tokens));  // also where it ends within a character
    }
  }

  void stopStringsEndTheAnswer() {
    const auto engine = load();
    const std::string whole = generate(*engine, sampled(question, 5, 30)).text;
    QVERIFY(whole.size() > 20);
    // Every part of the text, so across any token border.
    for (std::size_t at = 0; at + 5 < whole.size(); ++at) {
      if ((whole[at] & 0xC0) == 0x80 || (whole[at + 5] & 0xC0) == 0x80) continue;  // within a character
      GenerateRequest request = sampled(question, 5, 30);
      request.stop = {whole.substr(at, 5)};
      const GenerateResult result = generate(*engine, request);
      QCOMPARE(result.text, whole.substr(0, whole.find(request.stop.front())));
      QCOMPARE(result.finish, FinishReason::stop_string);
    }
    // The beginning of a stop string that never ends is text.
    GenerateRequest request = sampled(question, 5, 30);
    request.stop = {whole.substr(whole.size() - 3) + "\x01"};
    QCOMPARE(generate(*engine, request).text, whole);
  }

  void penaltiesCountThePrompt() {
    const auto engine = load();
    const auto& chat = expected_chat()["chats"][0];
    GenerateRequest request = greedy(messages_of(chat), 24);
    request.sampling.presence_penalty = 100;
    std::vector<TokenId> seen = chat["prompt"].get<std::vector<TokenId>>();
    for (const TokenId token : generate(*engine, request).tokens) {
      QVERIFY2(std::ranges::find(seen, token) == seen.end(), std::to_string(token).c_str());
      seen.push_back(token);
    }
  }

  void cancellingAnywhereLeavesAServableEngine() {
    const auto engine = load();
    const auto& chat = expected_chat()["chats"][2];
    const auto answer = chat["answer"].get<std::vector<TokenId>>();
    for (int calls = 0; calls < 20; ++calls) {
      std::stop_source source;
      int left = calls;
      const auto count = [&] {
        if (left-- == 0) source.request_stop();
      };
      GenerateRequest request = sampled(messages_of(chat), 9, 24);
      request.reuse_cache = false;
      const auto cut = engine->generate(
          request, [&](std::string_view, const Timings&) { count(); }, [&](const Progress&) { count(); },
          source.get_token());
      FOVEA_VERIFY(cut);
      if (source.stop_requested()) QCOMPARE(cut->finish, FinishReason::cancelled);
      QCOMPARE(generate(*engine, greedy(messages_of(chat), 24)).tokens, answer);
    }
  }

  void anotherThreadMayCancel() {
    const auto engine = load();
    for (int round = 0; round < 10; ++round) {
      std::stop_source source;
      GenerateRequest request = sampled(question, 11, 200);
      const std::jthread canceller([&source, round] {
        std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
        source.request_stop();
      });
      const auto result = engine->generate(request, {}, {}, source.get_token());
      FOVEA_VERIFY(result);
    }
    QVERIFY(!generate(*engine, sampled(question, 11)).tokens.empty());
  }

  void aFullContextEndsTheAnswerAndSaysSo() {
    LoadOptions load_request = chat_request();
    load_request.context = 40;
    const auto engine = load(load_request);
    int full = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      GenerateRequest request = sampled(question, seed, -1);
      request.sampling.temperature = 100;
      const GenerateResult result = generate(*engine, request);
      if (result.finish == FinishReason::stop_token) continue;
      ++full;
      QCOMPARE(result.finish, FinishReason::context_full);
      // The last token is sampled but not stored.
      QCOMPARE(result.timings.prompt_tokens + result.timings.generated_tokens, 41);
    }
    QVERIFY(full > 0);
    std::vector<Message> messages;
    for (int turn = 0; turn < 5; ++turn) {
      messages.push_back({"user", "one two"});
      messages.push_back({"assistant", "three"});
    }
    messages.push_back({"user", "four"});
    const auto refused = engine->generate(greedy(messages, 3));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
    GenerateRequest dropping = greedy(messages, 3);
    dropping.overflow = ContextOverflow::drop_oldest_turns;
    const auto dropped = engine->generate(dropping);
    FOVEA_VERIFY(dropped);
    QVERIFY(dropped->dropped_messages >= 2);
  }

  void nothingIsGeneratedForNoTokens() {
    const GenerateResult result = generate(*load(), greedy(question, 0));
    QVERIFY(result.tokens.empty() && result.text.empty());
    QCOMPARE(result.finish, FinishReason::max_tokens);
  }

  void memoryIsWhatTheSettingsNeed() {
    const auto engine = load();
    // 256 tokens in pages of 64 and a spare page; 2 layers, keys and values, 1 head of 32 floats.
    QCOMPARE(engine->memory().kv_cache, 5 * 64 * 2 * 2 * 32 * 4);
    QVERIFY(engine->memory().weights >= engine->info().bytes);
    QVERIFY(engine->memory().activations > 0);
    QCOMPARE(engine->cost().kv_bytes_per_token, 2 * 2 * 32 * 4);
  }

  // As the model has them, whatever is drawn from.
  void logProbabilitiesAreTheModels() {
    const auto engine = load();
    GenerateRequest request = sampled({}, 3, 12);
    request.raw_prompt = "name: Ann\nname:";
    request.sampling.repetition_penalty = 1.5F;
    request.sampling.temperature = 2;
    QVERIFY(generate(*engine, request).choices.empty());
    request.top_logprobs = 5;
    const GenerateResult answer = generate(*engine, request);
    QVERIFY(answer.tokens.size() > 3);
    QCOMPARE(answer.choices.size(), answer.tokens.size());
    std::vector<TokenId> tokens = engine->text()->encode(*request.raw_prompt, {.add_special = true});
    const std::size_t prompt = tokens.size();
    tokens.insert(tokens.end(), answer.tokens.begin(), answer.tokens.end());
    const auto rows = all_logits(*engine, tokens);
    for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
      const std::span row = std::span(rows).subspan((prompt + i - 1) * 340, 340);
      double sum = 0;
      for (const float logit : row) sum += std::exp(double(logit));
      const auto logprob = [&](TokenId id) {
        return double(row[static_cast<std::size_t>(id)]) - std::log(sum);
      };
      const fovea::TokenChoice& choice = answer.choices[i];
      QCOMPARE(choice.token, answer.tokens[i]);
      QVERIFY(std::abs(double(choice.logprob) - logprob(choice.token)) < 1e-5);
      QCOMPARE(choice.likeliest.size(), 5U);
      for (std::size_t k = 0; k < 5; ++k) {
        QVERIFY(std::abs(double(choice.likeliest[k].logprob) - logprob(choice.likeliest[k].token)) < 1e-5);
        std::size_t better = 0;
        for (const float logit : row)
          better += logit > row[static_cast<std::size_t>(choice.likeliest[k].token)];
        QCOMPARE(better, k);
      }
    }
    request.top_logprobs = 21;
    const auto refused = engine->generate(request);
    QVERIFY(!refused);
    QVERIFY(refused.error().message().contains("top_logprobs"));
  }

  void prefillReportsProgress() {
    const auto engine = load();
    std::vector<std::int64_t> done;
    std::int64_t total = 0;
    for (const bool again : {false, true}) {  // then most of it is known
      done.clear();
      const auto result = engine->generate(greedy(question, 1), {}, [&](const Progress& progress) {
        done.push_back(progress.done);
        total = progress.total;
      });
      FOVEA_VERIFY(result);
      QCOMPARE(total, result->timings.prompt_tokens);
      QCOMPARE(result->timings.reused_tokens, again ? total - 1 : 0);
      QCOMPARE(done.front(), result->timings.reused_tokens);
      QCOMPARE(done.back(), total);
      QVERIFY(std::ranges::is_sorted(done));
      QVERIFY(result->timings.prefill_seconds > 0 && result->timings.decode_seconds > 0);
    }
  }

  void timingsLeaveNothingBehind() {
    const auto engine = load();
    const auto prefill = engine->time_prefill(70);
    FOVEA_VERIFY(prefill);
    QVERIFY(*prefill > 0);
    const auto decode = engine->time_decode(10, 30);
    FOVEA_VERIFY(decode);
    QCOMPARE(decode->size(), 30U);
    const auto too_long = engine->time_prefill(257);
    QVERIFY(!too_long);
    QCOMPARE(too_long.error().kind, ErrorKind::context_full);
    QCOMPARE(generate(*engine, sampled(question, 7)).timings.reused_tokens, 0);
  }

  void wrongRequestsAreTypedErrors() {
    const auto engine = load();
    GenerateRequest request = greedy(question, -2);
    QCOMPARE(engine->generate(request).error().kind, ErrorKind::invalid);
    request = greedy(question, 1);
    request.stop = {""};
    QCOMPARE(engine->generate(request).error().kind, ErrorKind::invalid);
    request = greedy(question, 1);
    request.sampling.top_p = 7;
    QCOMPARE(engine->generate(request).error().kind, ErrorKind::invalid);
    const std::vector<TokenId> unknown{1, 340};
    QCOMPARE(engine->logits(unknown, [](auto, auto) {}).error().kind, ErrorKind::invalid);
    QCOMPARE(engine->logits({}, [](auto, auto) {}).error().kind, ErrorKind::invalid);
    QCOMPARE(engine->logits(some_tokens(257), [](auto, auto) {}).error().kind, ErrorKind::context_full);
  }

  // Thrown by the standard library, and told as any error.
  void whatTheSystemRefusesIsAnError() {
    const auto threads = fovea::exhaustion_as_error([]() -> fovea::Result<void> {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    });
    QCOMPARE(threads.error().kind, ErrorKind::memory);
    QVERIFY2(threads.error().message().contains("any more threads"), threads.error().message().c_str());
    const auto memory = fovea::exhaustion_as_error([]() -> fovea::Result<void> { throw std::bad_alloc(); });
    QCOMPARE(memory.error().kind, ErrorKind::memory);
  }

  void loadingRefusesWhatItCannotDo() {
    LoadOptions request = chat_request();
    request.model = "/no/such/model";
    QCOMPARE(Engine::load(request).error().kind, ErrorKind::not_found);
    request = chat_request();
    request.chunk = -1;
    QCOMPARE(Engine::load(request).error().kind, ErrorKind::invalid);
    request = chat_request();
    request.context = -1;
    QCOMPARE(Engine::load(request).error().kind, ErrorKind::invalid);
    {
      const fovea::tests::Environment unknown{{"FOVEA_CPU", "abacus"}};
      QCOMPARE(Engine::load(chat_request()).error().kind, ErrorKind::not_found);
    }
    std::stop_source stopped;
    stopped.request_stop();
    QCOMPARE(Engine::load(chat_request(), {}, stopped.get_token()).error().kind, ErrorKind::cancelled);
  }

  // The chat model is made for 512 tokens.
  void contextsBeyondTheModelShrinkOrAreSaid() {
    LoadOptions request = chat_request();
    request.context = 513;
    const auto beyond = load(request);
    QCOMPARE(beyond->settings().context, 513);
    QCOMPARE(beyond->plan().plan.notes.size(), std::size_t{1});
    const std::string note = english(beyond->plan().plan.notes.front());
    QVERIFY2(note.contains("513 tokens is longer than the 512 that the model is made for"), note.c_str());
    request.context_may_shrink = true;
    const auto engine = load(request);
    QCOMPARE(engine->settings().context, 512);
    QVERIFY(engine->plan().plan.notes.empty());
  }

  // YaRN by 4 of 16 tokens, with 32 said to be trained.
  void contextsThatAreStretchedAreSaid() {
    const fovea::tests::TemporaryFolder folder;
    const auto model = fovea::tests::golden("models/rope-yarn");
    for (const auto& file : std::filesystem::directory_iterator(model))
      if (file.path().filename() != "config.json")
        std::filesystem::create_symlink(file.path(), folder.path() / file.path().filename());
    std::ifstream original(model / "config.json");
    nlohmann::json config = nlohmann::json::parse(original);
    config["max_position_embeddings"] = 32;
    std::ofstream(folder.path() / "config.json") << config;
    LoadOptions request{.model = folder.path(), .context = 64, .need_tokenizer = false};
    const auto stretched = load(request);
    QCOMPARE(stretched->plan().plan.notes.size(), std::size_t{1});
    const std::string note = english(stretched->plan().plan.notes.front());
    QVERIFY2(note.contains("64 tokens is longer than the 32") && note.contains("up to 64"), note.c_str());
    request.context = 32;
    QVERIFY(load(request)->plan().plan.notes.empty());
    request.context = 80;
    request.context_may_shrink = true;
    QCOMPARE(load(request)->settings().context, 64);
  }

  void withoutATokeniserThereAreOnlyLogits() {
    LoadOptions request = chat_request();
    request.need_tokenizer = false;
    const auto engine = load(request);
    QVERIFY(engine->text() == nullptr);
    QCOMPARE(engine->generate(greedy(question, 1)).error().kind, ErrorKind::unsupported);
    QCOMPARE(all_logits(*engine, some_tokens(3)).size(), 3U * 340U);
  }

  void defaultsAreResolved() {
    LoadOptions request = chat_request();
    request.context = 0;
    request.threads = 0;
    request.chunk = 4096;
    const auto engine = load(request);
    QCOMPARE(engine->settings().context, 512);  // the model's own
    QCOMPARE(engine->settings().chunk, 512);
    QVERIFY(engine->settings().threads >= 1);
  }
};
FOVEA_TEST(EngineTest)

#include "engine_test.moc"
