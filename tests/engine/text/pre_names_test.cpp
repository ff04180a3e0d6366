#include "engine/text/pre_names.h"

#include <QCryptographicHash>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/text/errors.h"
#include "engine/text/normalize.h"
#include "engine/text/pretokenize.h"
#include "tests/support/test.h"

#include "corpora.h"

using namespace fovea::text;
using nlohmann::json;

namespace {

const json& golden() {
  static const json content =
      json::parse(fovea::tests::content(fovea::tests::golden("tokenizers/pretokenizers.json")));
  return content;
}

std::vector<PretokenizeStep> steps_of(const PreTokenizer& pre) {
  std::vector<PretokenizeStep> steps;
  for (const std::string_view pattern : pre.patterns) {
    auto step = split_by(pattern, fovea::phrases::name_place("test"));
    if (!step) qFatal("%s", step.error().message().c_str());
    steps.emplace_back(*std::move(step));
  }
  return steps;
}

// As make_pretokenizers.py: each word with 0xFF behind it, each text with 0xFE.
std::string digest(const PreTokenizer& pre, std::span<const std::string> texts) {
  const std::vector<PretokenizeStep> steps = steps_of(pre);
  const std::vector<NormalizeStep> nfc{UnicodeForm{UnicodeForm::Form::nfc}};
  QCryptographicHash hash(QCryptographicHash::Sha1);
  for (const std::string& text : texts) {
    std::string normalized;
    const bool changed = pre.nfc && normalize(nfc, text, normalized);
    Words words;
    if (!text.empty()) words.list.push_back({changed ? normalized : text, true});
    for (const PretokenizeStep& step : steps) apply(step, words);
    for (const Word& word : words.list) {
      hash.addData(QByteArrayView(word.text.data(), static_cast<qsizetype>(word.text.size())));
      hash.addData(QByteArrayView("\xFF"));
    }
    hash.addData(QByteArrayView("\xFE"));
  }
  return hash.result().toHex().left(16).toStdString();
}

}  // namespace

class PreNamesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cutAsPublished_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, hashes] : golden()["hashes"].items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void cutAsPublished() {
    QFETCH(QString, name);
    const json expected = golden()["hashes"][name.toStdString()];
    const PreTokenizer* const pre = find_pre_tokenizer(name.toStdString());
    QVERIFY(pre);

    const std::vector<std::string>& mixed = texts_of("mixed");
    const PreTokenizer* const other = find_pre_tokenizer(name == "gpt-2" ? "llama-bpe" : "gpt-2");
    QVERIFY(name == "mpt" || digest(*other, mixed) != digest(*pre, mixed));  // the check can fail

    int missing = 0;
    for (const auto& [sample, hashes] : expected.items()) {
      const std::vector<std::string>& texts = texts_of(sample);
      if (texts.empty()) {
        ++missing;
        continue;
      }
      QVERIFY(hashes.size() == (texts.size() + 249) / 250);
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        const auto group =
            std::span(texts).subspan(i * 250, std::min<std::size_t>(250, texts.size() - i * 250));
        QVERIFY2(digest(*pre, group) == hashes[i].get<std::string>(),
                 (sample + " from " + std::to_string(i * 250) + " on").c_str());
      }
    }
    if (missing > 0) qWarning("%d texts of ../shared/data are not there: not compared", missing);
  }

  // What expressions mean that no name has, but a tokenizer.json may.
  void expressions() {
    for (const auto& [expression, hash] : golden()["expressions"].items()) {
      const std::string_view patterns[] = {expression};
      QVERIFY2(
          digest({.patterns = patterns}, std::span(texts_of("random")).first(250)) == hash.get<std::string>(),
          expression.c_str());
    }
  }

  void namesThatAreAlike() {
    for (const auto& [name, others] : golden()["alike"].items()) {
      const PreTokenizer* const pre = find_pre_tokenizer(name);
      QVERIFY(pre);
      for (const auto& other : others) {
        const PreTokenizer* const same = find_pre_tokenizer(other.get<std::string>());
        QVERIFY2(same && std::ranges::equal(same->patterns, pre->patterns) && same->nfc == pre->nfc,
                 other.get<std::string>().c_str());
      }
    }
    QVERIFY(!find_pre_tokenizer("newest"));
  }

 private:
  // The texts of a sample, read once for all names.
  const std::vector<std::string>& texts_of(const std::string& sample) {
    const auto [at, is_new] = samples_.try_emplace(sample);
    std::vector<std::string>& texts = at->second;
    if (!is_new) return texts;
    if (sample == "mixed") {
      texts = golden()["mixed"].get<std::vector<std::string>>();
    } else if (sample == "random") {
      fovea::tests::RandomTexts random(29);
      texts.resize(2000);
      std::ranges::generate(texts, [&] { return random.next(); });
    } else {
      texts = fovea::tests::corpus(sample);
      texts.resize(std::min(texts.size(), golden()["lines"].get<std::size_t>()));
    }
    return texts;
  }
  std::map<std::string, std::vector<std::string>> samples_;
};
FOVEA_TEST(PreNamesTest)

#include "pre_names_test.moc"
