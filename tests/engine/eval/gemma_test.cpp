// A real model with windows: Gemma 3 270M, which scripts/test downloads. What is expected is llama.cpp's (see
// tests/golden/README.md).
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/engine.h"
#include "engine/api/evaluate.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::tests::gemma_model;

class GemmaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    if (gemma_model().empty()) QSKIP("Gemma 3 270M is not there; ./scripts/test downloads it");
    engine_ = load();
  }

  // Over 1,024 tokens, of which layers with windows see 512.
  void perplexityEqualsThePeers() {
    const nlohmann::json wanted =
        nlohmann::json::parse(fovea::tests::content(fovea::tests::golden("gemma/expected.json")));
    const auto result =
        fovea::perplexity(*engine_, fovea::tests::content(fovea::tests::golden("gemma/wikitext.txt")),
                          {.context = wanted["context"]});
    FOVEA_VERIFY(result);
    const double expected = wanted["perplexity"];
    QVERIFY2(std::abs(result->perplexity / expected - 1) < 0.005,
             qPrintable(QStringLiteral("%1 instead of %2").arg(result->perplexity).arg(expected)));
  }

  // It was not trained for conversations: it goes on with a text.
  void goesOn() {
    const GenerateResult result = go_on(*engine_, "Monday, Tuesday, Wednesday,");
    QVERIFY2(result.text.starts_with(" Thursday, Friday, Saturday"), result.text.c_str());
  }

 private:
  static std::unique_ptr<Engine> load() {
    auto engine = Engine::load({.model = gemma_model(), .context = 2048});
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }
  static GenerateResult go_on(Engine& engine, std::string text) {
    GenerateRequest request;
    request.raw_prompt = std::move(text);
    request.sampling.temperature = 0;
    request.max_tokens = 24;
    auto result = engine.generate(request);
    if (!result) qFatal("%s", result.error().message().c_str());
    return *std::move(result);
  }

  std::unique_ptr<Engine> engine_;
};
FOVEA_TEST(GemmaTest)

#include "gemma_test.moc"
