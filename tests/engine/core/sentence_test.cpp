#include "engine/api/sentence.h"

#include "engine/api/errors.h"
#include "engine/core/result.h"
#include "tests/support/test.h"

using namespace fovea;

namespace planted {

using fovea::Code;
using fovea::Error;
using fovea::ErrorKind;
using fovea::Phrase;

enum class Fruit : std::uint8_t { apple, pear };
FOVEA_PHRASE(an_apple, "an apple");
FOVEA_PHRASE(a_pear, "a pear");
Phrase phrase_of(Fruit fruit) {
  return fruit == Fruit::apple ? an_apple() : a_pear();
}

FOVEA_ERROR(format, wrong_fruit, "{count} {count:seed lies|seeds lie} in {fruit}, expected {{{other}}",
            "Give {size} ({size:exact} bytes) to {list}, not to {other}");
FOVEA_ERROR(io, refused, "was refused: {said}", "");
FOVEA_PHRASE(ratio, "{part} of [{shape}]");

// A language that says everything backwards.
class Backwards : public Wording {
  std::string text(const Code& code) const override {
    return code.id == "an_apple" ? "elppa na" : "{other} {fruit} {count:eno|ynam} {nobody}";
  }
  std::string size(std::int64_t) const override { return "big"; }
};

}  // namespace planted

class SentenceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void argumentsStandWhereTheirNamesAre() {
    const std::vector<std::string> names{"x", "y"};
    const Error error = planted::wrong_fruit(3, planted::Fruit::pear, "a {name}", Bytes{3 << 20}, names)
                            .at(phrases::offset_place(std::filesystem::path("a/b.gguf"), 12U));
    QCOMPARE(
        error.message(),
        std::string("a/b.gguf, offset 12: 3 seeds lie in a pear, expected {a {name}}. Give 3.00 MiB (3145728 "
                    "bytes) to x, y, not to a {name}"));
    QCOMPARE(error.kind, ErrorKind::format);
    QCOMPARE(planted::wrong_fruit(1, planted::Fruit::apple, "b", Bytes{0}, names).what_words(),
             std::string("1 seed lies in an apple, expected {b}"));
    QCOMPARE(english(planted::ratio(0.25, std::vector<std::int64_t>{3, 4})), std::string("0.25 of [3, 4]"));
    QCOMPARE(english(planted::ratio(UINT64_MAX, std::vector{planted::an_apple(), planted::a_pear()})),
             std::string("18446744073709551615 of [an apple, a pear]"));
  }

  void theirWordsStayTheirs() {
    const Error error = planted::refused(Said{"no {count:a|b} way"});
    QCOMPARE(error.message(), std::string("was refused: no {count:a|b} way"));
    QVERIFY(!error.has_advice());
  }

  void whatCallersMustKnowIsAField() {
    const Error error =
        planted::wrong_fruit(7, planted::Fruit::pear, "b", Bytes{9}, std::vector<std::string>{})
            .at(phrases::file_place(std::filesystem::path("c.gguf")));
    QVERIFY(error.is(planted::wrong_fruit.code));
    QVERIFY(!error.is(planted::refused.code));
    QCOMPARE(error.number("count").value(), 7);
    QCOMPARE(error.number("size").value(), 9);
    QVERIFY(!error.number("fruit"));
    QVERIFY(!error.number("nobody"));
    QVERIFY(error.file() == "c.gguf");
    QVERIFY(error == Error(error));
    QVERIFY(!(error == planted::refused(Said{"x"})));
  }

  void adviceOfTheSiteReplacesTheCodes() {
    Error error = planted::wrong_fruit(1, planted::Fruit::apple, "b", Bytes{0}, std::vector<std::string>{})
                      .advise(phrases::check_the_disk());
    QCOMPARE(error.advice_words(), std::string("Check the disk"));
    const Result<int> result = fail(phrases::option_place("--fruit"), std::move(error));
    QVERIFY(result.error().message().starts_with("--fruit: 1 seed lies"));
  }

  // What a translation has not, or invents, harms nothing.
  void anotherLanguage() {
    const Error error =
        planted::wrong_fruit(2, planted::Fruit::apple, "b", Bytes{1}, std::vector<std::string>{"x"});
    QCOMPARE(error.message(planted::Backwards()),
             std::string("b elppa na ynam . Give big (1 bytes) to x, not to b"));
  }

  void nothingIsSaidByNothing() {
    QCOMPARE(Error{}.message(), std::string());
    QCOMPARE(english(Phrase()), std::string());
    QVERIFY(Phrase() == Phrase());
  }

  void sizesHaveThreeDigits() {
    QCOMPARE(size_text(0), std::string("0 bytes"));
    QCOMPARE(size_text(999), std::string("999 bytes"));
    QCOMPARE(size_text(1000), std::string("0.98 KiB"));
    QCOMPARE(size_text(std::int64_t{7} << 29), std::string("3.50 GiB"));
    QCOMPARE(size_text(std::int64_t{25} << 40), std::string("25.0 TiB"));
  }

  // The compiler refuses what these say is wrong (error.h).
  void bracesAreCounted() {
    const auto names = [](std::string_view text) {
      return ArgumentNames(Code{"x", text, "", ErrorKind::io});
    };
    QCOMPARE(names("{a} {b} {a:exact} {{c}").count, std::size_t{2});
    QVERIFY(!names("{a").is_sound);
    QVERIFY(!names("{}").is_sound);
    QVERIFY(names("no } harm").is_sound);
  }
};
FOVEA_TEST(SentenceTest)

#include "sentence_test.moc"
