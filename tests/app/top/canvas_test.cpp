// Characters on a screen, and what a terminal is told of them.
#include "app/top/canvas.h"

#include "tests/support/test.h"

#include "screen_reader.h"

using namespace fovea::app;
using fovea::tests::ScreenReader;
using fovea::ui::Rgb;

class CanvasTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void textsHaveTheirPlace() {
    Canvas canvas(2, 10);
    QCOMPARE(canvas.put(0, 2, "abc"), 5);
    QCOMPARE(canvas.put(0, 8, "long"), 10);  // as far as there is room
    canvas.put_right(1, 10, "end");
    canvas.put(5, 0, "nowhere");
    QCOMPARE(canvas.text(0), std::string("  abc   lo"));
    QCOMPARE(canvas.text(1), std::string("       end"));
  }

  // A name of a model is anybody's: it must not command the terminal, and takes the columns that it takes.
  void anybodysTextIsHarmless() {
    Canvas canvas(1, 12);
    canvas.put(0, 0,
               "a\033[2Jb\xFF\xC2\x9B"
               "c");
    QCOMPARE(canvas.text(0), std::string("a?[2Jb??c"));
    Canvas wide(1, 4);
    QCOMPARE(wide.put(0, 0, "日本語"), 4);  // the third has no room
    QCOMPARE(wide.text(0), std::string("日本"));
    Canvas combined(1, 4);
    QCOMPARE(combined.put(0, 0, "e\u0301x"), 2);
    QCOMPARE(columns_of("日本語ab"), 8);
    QCOMPARE(elided("日本語ab", 6), std::string("日本…"));
    QCOMPARE(elided("short", 5), std::string("short"));
    QCOMPARE(elided("short", 0), std::string());
  }

  void onlyWhatChangedIsDrawn() {
    Canvas before(3, 20), now(3, 20);
    before.put(0, 0, "the same line");
    before.put(1, 4, "24.1 tok/s");
    now.put(0, 0, "the same line");
    now.put(1, 4, "24.3 tok/s");
    ScreenReader screen(3, 20);
    screen.read(before.difference(nullptr, Colours::all));
    QCOMPARE(screen.row(1), std::string("    24.1 tok/s"));
    const int painted = screen.painted();
    screen.read(now.difference(&before, Colours::all));
    QCOMPARE(screen.painted(), painted + 1);
    QCOMPARE(screen.row(1), std::string("    24.3 tok/s"));
    QCOMPARE(screen.row(0), std::string("the same line"));
    QVERIFY(now.difference(&now, Colours::all).empty());
    QVERIFY(screen.unknown().empty());
    // Of another size: all of it.
    const Canvas larger(4, 20);
    QVERIFY(larger.difference(&now, Colours::all).find("\033[2J") != std::string::npos);
  }

  void coloursAreWhatTheTerminalHas_data() {
    QTest::addColumn<int>("colours");
    QTest::addColumn<QByteArray>("sequence");
    const auto row = [](const char* name, Colours colours, const char* sequence) {
      QTest::newRow(name) << static_cast<int>(colours) << QByteArray(sequence);
    };
    row("all", Colours::all, "\033[0;1;38;2;233;201;63mx");
    row("palette", Colours::palette, "\033[0;1;38;5;221mx");
    row("sixteen", Colours::sixteen, "\033[0;1;93mx");
    row("none", Colours::none, "\033[0;1mx");
  }
  void coloursAreWhatTheTerminalHas() {
    QFETCH(int, colours);
    QFETCH(QByteArray, sequence);
    Canvas canvas(1, 4);
    canvas.put(0, 0, "x", {.text = Rgb{233, 201, 63}, .bold = true});
    const std::string told = canvas.difference(nullptr, static_cast<Colours>(colours));
    QVERIFY2(told.find(sequence.toStdString()) != std::string::npos, told.c_str() + 1);
  }

  void whatTheEnvironmentSays() {
    QCOMPARE(colours_of("xterm-256color", "truecolor", nullptr), Colours::all);
    QCOMPARE(colours_of("xterm-256color", nullptr, nullptr), Colours::palette);
    QCOMPARE(colours_of("xterm-256color", "truecolor", ""), Colours::all);
    QCOMPARE(colours_of("xterm-256color", "truecolor", "1"), Colours::none);
    QCOMPARE(colours_of("linux", nullptr, nullptr), Colours::sixteen);
    QCOMPARE(colours_of("vt220", nullptr, nullptr), Colours::none);
    QCOMPARE(colours_of(nullptr, nullptr, nullptr), Colours::none);
  }
};

FOVEA_TEST(CanvasTest)
#include "canvas_test.moc"
