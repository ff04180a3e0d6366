// Embeddings: what transformers says the mean of the last hidden states is; the same beside answers, however
// a text is divided, on other devices; and nothing of it stays in the cache.
#include <QTemporaryDir>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "tests/engine/chat/chat_model.h"
#include "expert_model.h"
#include "family_models.h"

using fovea::Engine;
using fovea::ErrorKind;
using fovea::GenerateRequest;
using fovea::LoadOptions;
using fovea::TokenId;
using fovea::tests::chat_request;
using fovea::tests::generate;
using fovea::tests::golden;
using fovea::tests::expert_model::some_tokens;

namespace {

using Texts = std::vector<std::vector<TokenId>>;
using Means = std::vector<std::vector<float>>;

// Of make_embeddings.py.
struct Known {
  std::string model;
  std::string text;  // of which the tokens are; empty: there is none
  std::vector<TokenId> tokens;
  std::vector<double> mean;
};
const std::vector<Known>& known() {
  static const std::vector<Known> all = [] {
    std::vector<Known> read;
    std::ifstream file(golden("embeddings.json"));
    for (const auto& entry : nlohmann::json::parse(file))
      read.push_back({entry["model"], entry.value("text", ""), entry["tokens"], entry["mean"]});
    return read;
  }();
  return all;
}

std::unique_ptr<Engine> load(const LoadOptions& options, const fovea::kernels::Device* device = nullptr) {
  auto engine = fovea::runtime::load(options, {}, {}, {}, device);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

LoadOptions of_model(const Known& one, std::int64_t chunk = 512) {
  return {.model = golden(one.model),
          .context = std::ssize(one.tokens),
          .kv = fovea::KvType::f32,
          .threads = 2,
          .chunk = chunk,
          .need_tokenizer = false};
}

Means embed(Engine& engine, const Texts& texts) {
  auto means = engine.embed(texts);
  if (!means) qFatal("%s", means.error().message().c_str());
  return *std::move(means);
}

double cosine(const std::vector<float>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    ab += a[i] * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += b[i] * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

double largest_difference(const std::vector<float>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Some longer than a chunk of chat_request(), none like another.
Texts some_texts(std::size_t count) {
  Texts texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<TokenId> tokens = some_tokens(static_cast<std::int64_t>(3 + i * i * 7 % 120));
    for (TokenId& token : tokens) token = (token + static_cast<TokenId>(i)) % 37;
    texts.push_back(tokens);
  }
  return texts;
}

GenerateRequest raw(std::string prompt, std::int32_t tokens) {
  GenerateRequest request;
  request.raw_prompt = std::move(prompt);
  request.max_tokens = tokens;
  request.sampling.seed = 7;
  return request;
}

LoadOptions for_sequences(LoadOptions options, std::int64_t sequences) {
  options.sequences = sequences;
  options.cache_tokens = sequences * options.context;
  return options;
}

const std::string long_prompt = [] {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "the eye sees " + std::to_string(i) + " experts, ";
  return text;
}();

}  // namespace

class EmbedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void meansAreTransformers_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < known().size(); ++i)
      QTest::addRow("%s %d", known()[i].model.c_str(), static_cast<int>(i)) << static_cast<int>(i);
  }
  void meansAreTransformers() {
    QFETCH(int, index);
    const Known& one = known()[static_cast<std::size_t>(index)];
    const bool recurrent = one.model.contains("qwen3_");
    const Means whole = embed(*load(of_model(one)), {one.tokens});
    QCOMPARE(whole[0].size(), one.mean.size());
    const double most = largest_difference(whole[0], one.mean);
    QVERIFY2(most < 1e-4, qPrintable(QString::number(most)));
    QVERIFY(cosine(whole[0], one.mean) > 1 - 1e-9);
    if (!one.text.empty()) {
      const auto text = fovea::TextModel::open(golden(one.model));
      FOVEA_VERIFY(text);
      QCOMPARE((*text)->encode(one.text, {.add_special = true}), one.tokens);
    }
    // A text without its last token is another one.
    std::vector<TokenId> shorter = one.tokens;
    shorter.pop_back();
    QVERIFY(largest_difference(embed(*load(of_model(one)), {shorter})[0], one.mean) > 1e-3);
    // In whatever slices: bit for bit.
    for (const std::int64_t chunk : recurrent ? std::vector{64} : std::vector{64, 37, 5})
      QVERIFY2(embed(*load(of_model(one, chunk)), {one.tokens}) == whole, qPrintable(QString::number(chunk)));
  }

  // Where experts or layers are computed in blocks, or by a GPU: the GPU's kernels round what they multiply
  // to 8 bits.
  void devicesAgree() {
    const fovea::kernels::Device& cpu = **fovea::runtime::chosen_device({});
    FOVEA_NEEDS_PTX;
    const auto gpu = fovea::tests::ptx::device();
    for (const Known& one : known()) {
      if (one.tokens.size() > 19) continue;
      const fovea::tests::ApartDevice apart(cpu);
      const Means here = embed(*load(of_model(one)), {one.tokens});
      QVERIFY2(embed(*load(of_model(one, 5), &apart), {one.tokens}) == here, one.model.c_str());
      const double there = cosine(embed(*load(of_model(one, 5), gpu.get()), {one.tokens})[0], one.mean);
      QVERIFY2(there > 0.9999, qPrintable(QString::number(there)));
    }
  }

  // The processor computes a part beside the device, and experts come from disk.
  void partsElsewhereAgree() {
    const fovea::kernels::Device& cpu = **fovea::runtime::chosen_device({});
    const fovea::tests::ApartDevice apart(cpu);
    LoadOptions options = fovea::tests::expert_model::plain_request();
    const Texts texts{some_tokens(17), some_tokens(2), some_tokens(40)};
    const Means whole = embed(*load(options), texts);
    options.precision.offload = {.cpu_moe_layers = 1, .override_tensors = {}};
    QVERIFY(embed(*load(options, &apart), texts) == whole);
    const QTemporaryDir folder;
    const auto from_disk = load(fovea::tests::expert_model::with_policy(
        folder.path().toStdString(), fovea::PolicyKind::offload, {"file"}));
    QVERIFY(embed(*from_disk, texts) == whole);
  }

  // As many at once as there are places, beside answers: each is what it is alone, and so are the answers.
  void besideAnswersAsAlone() {
    const auto alone = load(chat_request());
    const auto together = load(for_sequences(chat_request(), 3));
    const Texts texts = some_texts(20);
    Means one_by_one;
    for (const auto& text : texts) one_by_one.push_back(embed(*alone, {text})[0]);
    std::vector<fovea::GenerateResult> answers(3);
    for (int round = 0; round < 2; ++round) {
      Means means, others;
      {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < answers.size(); ++i)
          threads.emplace_back(
              [&, i] { answers[i] = generate(*together, raw(long_prompt + std::to_string(i), 40)); });
        threads.emplace_back([&] { others = embed(*together, texts); });
        means = embed(*together, texts);
      }
      QVERIFY(means == one_by_one);
      QVERIFY(others == one_by_one);
      for (std::size_t i = 0; i < answers.size(); ++i)
        QCOMPARE(answers[i].tokens, generate(*alone, raw(long_prompt + std::to_string(i), 40)).tokens);
    }
    QCOMPARE(together->load().answering + together->load().waiting, 0);
  }

  // What prompts left in the cache is found again behind an embedding, and nothing of that.
  void theCacheStaysAsItWas_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("chat") << QString();
    QTest::newRow("recurrent") << "qwen3_next-1.gguf";
    QTest::newRow("windows") << "gemma3-1.gguf";
  }
  void theCacheStaysAsItWas() {
    QFETCH(QString, file);
    const QTemporaryDir folder;
    LoadOptions options = chat_request();
    if (!file.isEmpty()) {
      options = {.model = std::filesystem::path(folder.path().toStdString()) / "model.gguf",
                 .context = 1024,
                 .threads = 2,
                 .chunk = 128};
      fovea::tests::family_models::Copy(file.toUtf8().constData(), options.model);
    }
    const auto engine = load(for_sequences(options, 2));
    // Recurrent layers keep a state every few hundred tokens.
    const std::string prompt = file.isEmpty() ? long_prompt.substr(0, 200) : long_prompt + long_prompt;
    generate(*engine, raw(prompt, 8));
    const auto before = generate(*engine, raw(prompt, 8));
    QVERIFY(before.timings.reused_tokens > 0);
    const std::string other = "unlike that, " + long_prompt.substr(0, 150);
    const auto tokens = engine->text()->encode(other);
    embed(*engine, {tokens, engine->text()->encode(prompt + " and more"), tokens});
    const auto after = generate(*engine, raw(prompt, 8));
    QCOMPARE(after.timings.reused_tokens, before.timings.reused_tokens);
    QCOMPARE(after.tokens, before.tokens);
    QVERIFY(generate(*engine, raw(other, 1)).timings.reused_tokens <= 1);  // of what all texts begin with
  }

  // An answer that outgrows its pages takes those of a text that began later; it is read again from its
  // beginning.
  void whoGivesWayBeginsAnew() {
    const QTemporaryDir folder;
    LoadOptions options{.model = std::filesystem::path(folder.path().toStdString()) / "model.gguf",
                        .context = 1400,
                        .threads = 2,
                        .chunk = 1};
    fovea::tests::family_models::Copy("gpt_oss-0.gguf", options.model);
    const std::vector<TokenId> text = some_tokens(800);
    const Means alone = embed(*load(options), {text});
    options.sequences = 2;  // with the pages of one
    const auto engine = load(options);
    GenerateRequest endless = raw("abc", -1);
    endless.sampling.temperature = 0;
    Means means;
    bool both = false, gave_way = false;
    std::jthread reads;
    const auto answer = engine->generate(endless, [&](std::string_view, const fovea::Timings&) {
      if (!reads.joinable()) reads = std::jthread([&] { means = embed(*engine, {text}); });
      const fovea::EngineLoad now = engine->load();
      both |= now.answering == 2;
      gave_way |= both && now.answering == 1 && now.waiting == 1;
    });
    FOVEA_VERIFY(answer);
    reads.join();
    QVERIFY2(answer->tokens.size() > 700, qPrintable(QString::number(answer->tokens.size())));
    QVERIFY(gave_way);
    QVERIFY(means == alone);
  }

  void cancelledOnesEnd() {
    const auto engine = load(for_sequences(chat_request(), 2));
    std::stop_source before;
    before.request_stop();
    const auto none = engine->embed(some_texts(3), before.get_token());
    QVERIFY(!none);
    QCOMPARE(none.error().kind, ErrorKind::cancelled);

    std::stop_source source;
    fovea::Result<Means> stopped;
    const Texts many(5000, some_tokens(200));
    {
      const std::jthread asks([&] { stopped = engine->embed(many, source.get_token()); });
      while (engine->load().answering == 0) std::this_thread::yield();
      source.request_stop();
    }
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
    QCOMPARE(embed(*engine, some_texts(3)), embed(*load(chat_request()), some_texts(3)));
  }

  void aFailedDeviceIsAnError() {
    const fovea::kernels::Device& cpu = **fovea::runtime::chosen_device({});
    const fovea::tests::ApartDevice lost(cpu);
    const auto engine = load(chat_request(), &lost);
    lost.fail("the device is lost");
    const auto means = engine->embed(some_texts(3));
    QVERIFY(!means);
    QCOMPARE(means.error().kind, ErrorKind::device);
  }

  void whatCannotBeReadIsRefused() {
    const auto engine = load(chat_request());
    QVERIFY(embed(*engine, {}).empty());
    const std::int64_t context = chat_request().context, vocabulary = engine->text()->vocabulary();
    QCOMPARE(embed(*engine, {std::vector<TokenId>(static_cast<std::size_t>(context), 5)}).size(), 1U);

    const auto refused = [&](const Texts& texts) {
      auto means = engine->embed(texts);
      if (means) qFatal("it was not refused");
      return std::move(means).error();
    };
    const fovea::Error empty = refused({{1}, {}});
    QCOMPARE(empty.kind, ErrorKind::invalid);
    QVERIFY(empty.message().starts_with("text 2: "));
    const fovea::Error too_long =
        refused({{1}, {1}, std::vector<TokenId>(static_cast<std::size_t>(context + 1), 5)});
    QCOMPARE(too_long.kind, ErrorKind::context_full);
    QVERIFY(too_long.message().starts_with("text 3: "));
    QCOMPARE(too_long.number("tokens"), context + 1);
    QCOMPARE(too_long.number("context"), context);
    for (const std::int64_t id : {std::int64_t{-1}, vocabulary})
      QCOMPARE(refused({{static_cast<TokenId>(id)}}).kind, ErrorKind::invalid);
  }
};

FOVEA_TEST(EmbedTest)
#include "embed_test.moc"
