#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/api/evaluate.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::ErrorKind;
using fovea::KvType;
using fovea::LoadOptions;
using fovea::PerplexityResult;

namespace {

// tests/golden/make_chat.py says what the model and the text are.
nlohmann::json expected() {
  std::ifstream file(fovea::tests::golden("chat/expected.json"));
  return nlohmann::json::parse(file, nullptr, false)["perplexity"];
}

std::unique_ptr<Engine> load(std::int64_t chunk, bool need_tokenizer = true) {
  const LoadOptions request{.model = fovea::tests::golden("chat"),
                            .context = 64,
                            .kv = KvType::f32,
                            .threads = 2,
                            .chunk = chunk,
                            .need_tokenizer = need_tokenizer};
  auto engine = Engine::load(request);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

bool close(double found, double wanted) {
  return std::abs(found - wanted) <= 1e-3 * wanted;
}

}  // namespace

class PerplexityTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsTransformers_data() {
    QTest::addColumn<int>("chunk");
    for (const int chunk : {5, 12, 64}) QTest::addRow("chunk %d", chunk) << chunk;
  }
  void equalsTransformers() {
    QFETCH(int, chunk);
    const nlohmann::json wanted = expected();
    const auto engine = load(chunk);
    std::int64_t last_done = -1;
    const auto result =
        fovea::perplexity(*engine, wanted["text"].get<std::string>(),
                          {.context = wanted["window"], .chunks = wanted["windows"]},
                          [&](const fovea::Progress& progress) { last_done = progress.done; });
    FOVEA_VERIFY(result);
    QCOMPARE(result->tokens, wanted["tokens"].get<std::int64_t>());
    QCOMPARE(result->chunks, wanted["windows"].get<std::int64_t>());
    QVERIFY2(close(result->perplexity, wanted["perplexity"]), std::to_string(result->perplexity).c_str());
    QVERIFY2(close(result->standard_error, wanted["standard_error"]),
             std::to_string(result->standard_error).c_str());
    QVERIFY(result->tokens_per_second > 0);
    QCOMPARE(last_done, 4 * 24);
    double nll = 0;  // every window scores the same number of positions
    for (const fovea::WindowScore& window : result->windows) nll += window.nll / double(result->chunks);
    QCOMPARE(std::ssize(result->windows), result->chunks);
    QVERIFY(std::abs(std::exp(nll) - result->perplexity) < 1e-9 * result->perplexity);
    QVERIFY(result->windows[0].nll != result->windows[1].nll);
    QVERIFY(!close(result->perplexity * 1.01, wanted["perplexity"]));  // the check can fail
  }

  // Against itself nothing diverges; against the same model with a coarser cache a little does.
  void comparesWithAReference() {
    const nlohmann::json wanted = expected();
    const auto text = wanted["text"].get<std::string>();
    const auto engine = load(12);
    const auto same = load(64);
    LoadOptions request = same->settings();
    request.kv = KvType::q8;
    auto coarse = Engine::load(request);
    FOVEA_VERIFY(coarse);
    fovea::PerplexitySettings settings{.context = wanted["window"], .chunks = 2, .reference = same.get()};
    const auto equal = fovea::perplexity(*engine, text, settings);
    FOVEA_VERIFY(equal);
    QVERIFY2(equal->divergence->mean_kl < 1e-6, std::to_string(equal->divergence->mean_kl).c_str());
    QCOMPARE(equal->divergence->top1_agreement, 1.0);
    QVERIFY(close(equal->divergence->reference_perplexity, equal->perplexity));
    const auto other = fovea::perplexity(**coarse, text, settings);
    FOVEA_VERIFY(other);
    QVERIFY(other->divergence->mean_kl > 1e-6);
    const auto& [first, second] = std::tie(other->windows[0], other->windows[1]);
    QVERIFY(std::abs((first.kl + second.kl) / 2 - other->divergence->mean_kl) < 1e-12);
    QVERIFY(close(other->divergence->reference_perplexity, equal->perplexity));
    QVERIFY(!fovea::perplexity(*engine, text, {.context = wanted["window"]})->divergence);
  }

  // What a reference said once serves every later comparison; another text's is refused.
  void aReferencesOutputIsKept() {
    const fovea::tests::TemporaryFolder folder;
    const nlohmann::json wanted = expected();
    const auto text = wanted["text"].get<std::string>();
    const auto engine = load(64);
    LoadOptions request = engine->settings();
    request.kv = KvType::q8;
    auto coarse = Engine::load(request);
    FOVEA_VERIFY(coarse);
    fovea::PerplexitySettings settings{.context = wanted["window"], .chunks = 2, .reference = engine.get()};
    const auto direct = fovea::perplexity(**coarse, text, settings);
    settings.reference_logits = folder.path() / "kept";
    FOVEA_VERIFY(fovea::perplexity(**coarse, text, settings));
    settings.reference = nullptr;
    const auto kept = fovea::perplexity(**coarse, text, settings);
    FOVEA_VERIFY(kept);
    QCOMPARE(kept->divergence->mean_kl, direct->divergence->mean_kl);
    QCOMPARE(kept->divergence->top1_agreement, direct->divergence->top1_agreement);
    QCOMPARE(kept->divergence->reference_perplexity, direct->divergence->reference_perplexity);
    const auto refused = [&](const std::string& other, fovea::ErrorKind kind) {
      const auto result = fovea::perplexity(**coarse, other, settings);
      return !result && result.error().kind == kind;
    };
    QVERIFY(refused("other words, " + text, ErrorKind::invalid));
    settings.chunks = 3;
    QVERIFY(refused(text, ErrorKind::invalid));
    settings.chunks = 2;
    settings.context = 16;
    QVERIFY(refused(text, ErrorKind::invalid));
    settings.context = wanted["window"];
    std::filesystem::resize_file(settings.reference_logits, 1000);
    QVERIFY(refused(text, ErrorKind::format));
    std::ofstream(settings.reference_logits) << "something else, and longer than a header";
    QVERIFY(refused(text, ErrorKind::format));
    settings.reference_logits = folder.path() / "none";
    QVERIFY(refused(text, ErrorKind::not_found));
  }

  void aReferenceThatIsTooShortIsRefused() {
    const auto engine = load(12);
    LoadOptions request = engine->settings();
    request.context = 16;
    auto shorter = Engine::load(request);
    FOVEA_VERIFY(shorter);
    const auto result =
        fovea::perplexity(*engine, std::string(1000, 'a'), {.context = 32, .reference = shorter->get()});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::invalid);
  }

  void wrongSettingsAreTypedErrors() {
    const auto engine = load(16);
    const std::string text(1000, 'a');
    QCOMPARE(fovea::perplexity(*engine, text, {.context = 65}).error().kind, ErrorKind::invalid);
    QCOMPARE(fovea::perplexity(*engine, text, {.context = 3}).error().kind, ErrorKind::invalid);
    QCOMPARE(fovea::perplexity(*engine, text, {.context = 16, .chunks = -1}).error().kind,
             ErrorKind::invalid);
    QCOMPARE(fovea::perplexity(*engine, "short", {.context = 64}).error().kind, ErrorKind::invalid);
    std::stop_source stopped;
    stopped.request_stop();
    QCOMPARE(fovea::perplexity(*engine, text, {.context = 16}, {}, stopped.get_token()).error().kind,
             ErrorKind::cancelled);
    QCOMPARE(fovea::perplexity(*load(16, false), text, {.context = 16}).error().kind, ErrorKind::unsupported);
  }
};
FOVEA_TEST(PerplexityTest)

#include "perplexity_test.moc"
