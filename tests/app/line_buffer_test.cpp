#include "app/terminal/line_buffer.h"

#include <climits>
#include <fstream>

#include "app/terminal/history.h"
#include "engine/core/log.h"
#include "tests/support/test.h"

using fovea::app::advance;
using fovea::app::History;
using fovea::app::LineBuffer;

class LineBufferTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void charactersAreWhole_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("without_last");
    QTest::newRow("letter") << QByteArray("ab") << QByteArray("a");
    QTest::newRow("two bytes") << QByteArray("aé") << QByteArray("a");
    QTest::newRow("combining accent") << QByteArray("ae\xCC\x81") << QByteArray("a");
    QTest::newRow("emoji with skin tone") << QByteArray("a👍🏽") << QByteArray("a");
    QTest::newRow("family joined by zero-width joiners")
        << QByteArray("a👨‍👩‍👧") << QByteArray("a");
    QTest::newRow("empty") << QByteArray() << QByteArray();
  }
  void charactersAreWhole() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, without_last);
    LineBuffer line;
    line.insert(text.toStdString());
    line.backspace();
    QCOMPARE(QByteArray::fromStdString(line.text()), without_last);
    line.set(text.toStdString());
    line.left();
    line.remove();
    QCOMPARE(QByteArray::fromStdString(line.text()), without_last);
  }

  void whatIsNoTextStaysOut() {
    LineBuffer line;
    line.insert("a\x01\x1B\tb\xFF\nc\xC2\x9B");
    QCOMPARE(line.text(), std::string("a b\nc"));
  }

  void wordsAndLines() {
    LineBuffer line;
    line.set("one two  three");
    line.word_left();
    QCOMPARE(line.cursor(), 9U);
    line.cut_word_left();
    QCOMPARE(line.text(), std::string("one three"));
    line.word_right();
    QCOMPARE(line.cursor(), 9U);
    line.home();
    line.word_right();
    line.cut_to_end();
    QCOMPARE(line.text(), std::string("one"));
    line.left();
    line.cut_to_begin();
    QCOMPARE(line.text(), std::string("e"));
    line.left();
    line.left();
    QCOMPARE(line.cursor(), 0U);
  }

  void screenPositions_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("row");
    QTest::addColumn<int>("column");
    QTest::newRow("short") << QByteArray("abc") << 0 << 3;
    QTest::newRow("fills the row") << QByteArray("abcdefghij") << 1 << 0;
    QTest::newRow("one more") << QByteArray("abcdefghijk") << 1 << 1;
    QTest::newRow("a wide character does not split") << QByteArray("abcdefghi字") << 1 << 2;
    QTest::newRow("line break") << QByteArray("abc\nde") << 1 << 2;
    QTest::newRow("an accent takes no place") << QByteArray("e\xCC\x81") << 0 << 1;
  }
  void screenPositions() {
    QFETCH(QByteArray, text);
    const auto position = advance(text.toStdString(), {}, 10);
    QTEST(position.row, "row");
    QTEST(position.column, "column");
  }

  void historyOutlivesTheSession() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / "history";
    const std::vector<std::string> lines{"one", "two\nlines", "back\\slash \\n", "ü"};
    {
      History history(file);
      for (const std::string& line : lines) FOVEA_VERIFY(history.add(line));
      FOVEA_VERIFY(history.add(lines.back()));  // a repetition
    }
    QCOMPARE(History(file).entries(), lines);
  }

  // As a full disk leaves it.
  void aLineThatWasCutOffEndsThere() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / "history";
    std::ofstream(file) << "whole\ncut o";
    History history(file);
    for (const char* line : {"next", "last"}) FOVEA_VERIFY(history.add(line));
    QCOMPARE(History(file).entries(), (std::vector<std::string>{"whole", "cut o", "next", "last"}));
  }

  void historyStaysShort() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / "history";
    {
      History history(file);
      for (std::size_t i = 0; i < History::max_entries + 5; ++i) FOVEA_VERIFY(history.add(std::to_string(i)));
    }
    QCOMPARE(History(file).entries().size(), History::max_entries);
    QCOMPARE(History(file).entries().front(), std::string("5"));
  }

  // The name is so long that the file cannot be replaced by way of a longer one.
  void aHistoryThatStaysLongIsSaid() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / std::string(NAME_MAX, 'h'), log = folder.path() / "log";
    std::string lines;
    for (std::size_t i = 0; i <= History::max_entries; ++i) lines += std::to_string(i) + "\n";
    std::ofstream(file) << lines;
    FOVEA_VERIFY(fovea::log::start({.file = log}));
    const History history(file);
    fovea::log::stop();
    QCOMPARE(history.entries().size(), History::max_entries);
    QCOMPARE(fovea::tests::content(file), lines);
    const std::string said = fovea::tests::content(log);
    QVERIFY2(said.contains(file.string()) && said.contains("the history stays long"), said.c_str());
  }
};
FOVEA_TEST(LineBufferTest)

#include "line_buffer_test.moc"
