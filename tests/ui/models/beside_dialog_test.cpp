// Two answers side by side: which of their tokens differ, and where these are seen.
#include "ui/models/beside_dialog.h"

#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "tests/support/test.h"
#include "ui/models/token_difference.h"

using namespace fovea::ui;

namespace {

using Tokens = std::vector<QByteArray>;
using Numbers = std::vector<std::size_t>;

TokenText text_of(const Tokens& tokens) {
  TokenText text;
  for (const QByteArray& token : tokens) {
    text.utf8 += token;
    text.ends.push_back(text.utf8.size());
  }
  return text;
}

QStringList marked(const Tokens& answer, const Tokens& other) {
  const TokenText text = text_of(answer);
  const QString utf16 = QString::fromUtf8(text.utf8);
  QStringList places;
  for (const TokenRange& place : places_of(text, differing_tokens(text, text_of(other))))
    places += utf16.mid(place.begin, place.length);
  return places;
}

}  // namespace

class BesideDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tokensThatDiffer() {
    const TokenText a = text_of({"The", " sea", " is", " blue", " and", " calm"}),
                    b = text_of({"The", " sea", " is", " grey", " and", " calm", " today"});
    QCOMPARE(differing_tokens(a, b), Numbers{3});
    QCOMPARE(differing_tokens(b, a), (Numbers{3, 6}));
    QCOMPARE(differing_tokens(a, a), Numbers{});
    QCOMPARE(differing_tokens(a, {}), (Numbers{0, 1, 2, 3, 4, 5}));
    QCOMPARE(differing_tokens({}, a), Numbers{});
    // The same words of other tokens are other tokens.
    QCOMPARE(differing_tokens(text_of({"un", "happy"}), text_of({"unhappy"})), (Numbers{0, 1}));
  }

  // Of a word alone the piece that is another.
  void aPieceOfAWord() {
    const Tokens a = {"It", " un", "happ", "ily", " ends"}, b = {"It", " un", "happ", "y", " ends"};
    QCOMPARE(marked(a, b), QStringList{QStringLiteral("ily")});
    QCOMPARE(marked(b, a), QStringList{QStringLiteral("y")});
  }

  void neighboursAreOneMark() {
    QCOMPARE(marked({"a", " deep", " blue", " sea"}, {"a", " sea"}),
             QStringList{QStringLiteral("deep blue")});
    QCOMPARE(marked({"a", " deep", " blue", " sea"}, {"a", " blue"}),
             (QStringList{QStringLiteral("deep"), QStringLiteral("sea")}));
    QCOMPARE(marked({"a", " ", "b"}, {"a", "b"}), QStringList{QStringLiteral(" ")});
  }

  // 😀 and 😁 are told apart by the last of their four bytes; é takes two, and 中 three.
  void charactersOfSeveralTokens() {
    const Tokens a = {"é", " \xf0\x9f", "\x98", "\x80", " 中", "x"},
                 b = {"é", " \xf0\x9f", "\x98", "\x81", " 中", "y"};
    QCOMPARE(marked(a, b), (QStringList{QStringLiteral("😀"), QStringLiteral("x")}));
    QCOMPARE(marked(b, a), (QStringList{QStringLiteral("😁"), QStringLiteral("y")}));
    // Two tokens of one character that differ, and one between them that does not: it is seen once.
    QCOMPARE(marked({"\xf0", "\x9f\x98", "\x80", "!"}, {"\x9f\x98", "!"}), QStringList{QStringLiteral("😀")});
  }

  // While the second answer is written the first is marked no farther than that has come.
  void marksGrowWithTheSecondAnswer() {
    BesideDialog dialog(QStringLiteral("Why?"), QStringLiteral("Nothing."), {}, true);
    start(dialog);
    write(dialog, BesideDialog::adaptive, {"The", " sea", " is", " blue", " and", " calm"});
    QCOMPARE(dialog.marked(BesideDialog::adaptive), QStringList());
    write(dialog, BesideDialog::fixed, {"The", " sea", " is", " grey"});
    QCOMPARE(dialog.marked(BesideDialog::adaptive), QStringList{QStringLiteral("blue")});
    QCOMPARE(dialog.marked(BesideDialog::fixed), QStringList{QStringLiteral("grey")});
    dialog.show_end(QStringLiteral("It was stopped."));
    QCOMPARE(dialog.marked(BesideDialog::adaptive), QStringList{QStringLiteral("blue and calm")});
    start(dialog);
    QCOMPARE(dialog.marked(BesideDialog::adaptive), QStringList());
    QCOMPARE(dialog.text(BesideDialog::adaptive), QString());
  }

  // What few can read of an error is not in view, and is not left from the one before.
  void detailsStandBehindAButton() {
    BesideDialog dialog(QStringLiteral("Why?"), QStringLiteral("It cannot be."),
                        QStringLiteral("blk.2 is missing"), false);
    dialog.show();
    const auto* details = dialog.findChild<QLabel*>(QStringLiteral("details"));
    auto* more = dialog.findChild<QToolButton*>(QStringLiteral("moreDetails"));
    QVERIFY(more->isVisible() && !details->isVisible());
    QVERIFY(!dialog.note().contains(QStringLiteral("blk.2")));
    more->click();
    QVERIFY(details->isVisible());
    QCOMPARE(details->text(), QStringLiteral("blk.2 is missing"));
    dialog.set_obstacle(QStringLiteral("It is answering."));
    QVERIFY(!more->isVisible() && !details->isVisible());
    dialog.set_obstacle({});
    QVERIFY(more->isVisible() && !details->isVisible());
    dialog.show_end(QStringLiteral("It failed."), QStringLiteral("offset 12"));
    QCOMPARE(dialog.note(), QStringLiteral("It failed."));
    QCOMPARE(dialog.details(), QStringLiteral("offset 12"));
  }

  // What a text field counts otherwise than the answer's bytes moves no mark: a carriage return, a space that
  // does not break, and what comes late, for it was a part of a character.
  void marksStandWhereTheTokensAre() {
    BesideDialog dialog(QStringLiteral("Why?"), QStringLiteral("Nothing."), {}, true);
    start(dialog);
    write(dialog, BesideDialog::adaptive, {"one\r\n", "two\xc2\xa0", "three", "\n\n", "four"});
    dialog.add_tokens(BesideDialog::fixed, {5, 10, 12});
    dialog.add_text(BesideDialog::fixed, QStringLiteral("one\r\ntwo\u00a0é"));
    dialog.add_tokens(BesideDialog::fixed, {14});
    dialog.add_text(BesideDialog::fixed, QStringLiteral("\n\n"));
    write(dialog, BesideDialog::fixed, "five", 18);
    QCOMPARE(dialog.marked(BesideDialog::adaptive),
             (QStringList{QStringLiteral("three"), QStringLiteral("four")}));
    QCOMPARE(dialog.marked(BesideDialog::fixed), (QStringList{QStringLiteral("é"), QStringLiteral("five")}));
  }

 private:
  static void start(BesideDialog& dialog) {
    dialog.findChild<QPushButton*>(QStringLiteral("startBeside"))->click();
    QVERIFY(dialog.is_running());
  }
  static void write(BesideDialog& dialog, int column, const Tokens& tokens) {
    qint64 end = 0;
    for (const QByteArray& token : tokens) write(dialog, column, token, end += token.size());
  }
  static void write(BesideDialog& dialog, int column, const QByteArray& token, qint64 end) {
    dialog.add_text(column, QString::fromUtf8(token));
    dialog.add_tokens(column, {end});
  }
};

FOVEA_TEST(BesideDialogTest)

#include "beside_dialog_test.moc"
