#include "engine/text/word_scanner.h"

#include <random>

#include "engine/text/errors.h"
#include "engine/text/regex.h"
#include "engine/text/utf8.h"
#include "tests/support/test.h"

using namespace fovea::text;

class WordScannerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsItsExpression_data() {
    QTest::addColumn<QString>("expression");
    const QString contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
    const QString spaces = "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    const QString letters = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
    const QString marked = "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|";
    QTest::newRow("gpt-2") << QString::fromUtf8(gpt2_pattern.data(),
                                                static_cast<qsizetype>(gpt2_pattern.size()));
    QTest::newRow("qwen2") << contraction + letters + "\\p{N}| ?[^\\s\\p{L}\\p{N}]+" + spaces;
    QTest::newRow("llama-3") << contraction + letters + "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+" + spaces;
    QTest::newRow("qwen3.5") << contraction + marked + "\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+" + spaces;
  }
  void equalsItsExpression() {
    QFETCH(QString, expression);
    const auto pattern = known_pattern(expression.toStdString());
    QVERIFY(pattern.has_value());
    const auto regex = Regex::compile(expression.toStdString(), fovea::phrases::name_place("test"));
    FOVEA_VERIFY(regex);
    std::mt19937 random(fovea::tests::seed());
    static const char32_t likely[] = {' ',  ' ',   '\n',   '\r',  '\t', '\'',   's',   'S',
                                      'l',  'e',   'V',    'r',   '1',  '2',    '.',   '_',
                                      0xA0, 0x17F, 0x180E, 0x301, 0xE9, 0x4E2D, 0x661, 0x1F600};
    for (int i = 0; i < fovea::tests::rounds(20000); ++i) {
      std::string text;
      for (unsigned n = random() % 20; n > 0; --n) {
        const char32_t any = random() % 0x30000;
        const char32_t c = random() % 4 != 0 ? likely[random() % std::size(likely)] : any;
        append_utf8(text, c >= 0xD800 && c < 0xE000 ? U'x' : c);
      }
      std::vector<Match> matches;
      regex->find_all(text, matches);
      const char* at = text.data();
      const char* const end = at + text.size();
      for (const Match& match : matches) {
        QCOMPARE(static_cast<std::size_t>(at - text.data()), match.begin);
        at = next_word(*pattern, at, end);
        QVERIFY2(static_cast<std::size_t>(at - text.data()) == match.end,
                 ("seed " + std::to_string(fovea::tests::seed()) + ", text " + std::to_string(i)).c_str());
      }
      QVERIFY(at == end);
    }
  }
};
FOVEA_TEST(WordScannerTest)

#include "word_scanner_test.moc"
