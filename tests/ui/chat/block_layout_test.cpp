#include "ui/chat/block_layout.h"

#include <QImage>
#include <QPainter>

#include "tests/support/test.h"
#include "ui/chat/block_text.h"

using namespace fovea::ui;

namespace {

LayoutStyle style() {
  return {QFont(), QFont(), QPalette()};
}

std::unique_ptr<BlockLayout> lay_out(const QString& markdown, qreal width = 400) {
  return std::make_unique<BlockLayout>(parse_markdown(markdown).at(0), width, style());
}
std::unique_ptr<BlockLayout> lay_out(const char* markdown, qreal width = 400) {
  return lay_out(QString::fromUtf8(markdown), width);
}

QImage painted(const BlockLayout& block, const BlockMarks& marks = {}) {
  QImage image(420, 100, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  block.paint(painter, {0, 0}, marks);
  return image;
}

}  // namespace

class BlockLayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void narrowTextIsTaller() {
    const char* text = "a sentence that is long enough to need more than one line when the room is narrow";
    QVERIFY(lay_out(text, 120)->height() > 1.5 * lay_out(text, 4000)->height());
  }

  void plainTextIsWhatIsCopied_data() {
    QTest::addColumn<QString>("markdown");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* markdown, const char* text) {
      QTest::newRow(markdown) << QString::fromUtf8(markdown) << QString::fromUtf8(text);
    };
    row("a **b** `c`", "a b c");
    row("```\nx\n  y\n```", "x\n  y");
    row("| a | b |\n|---|---|\n| 1 | 2 |", "a\tb\n1\t2");
    row("- item", "• item");
    row("7. item", "7. item");
    row("$x^2$", "x²");
    row("a  \nb", "a\nb");
  }
  void plainTextIsWhatIsCopied() {
    QFETCH(QString, markdown);
    QFETCH(QString, text);
    QCOMPARE(block_text(parse_markdown(markdown).at(0)), text);
  }

  void pointsMapToCharacters() {
    const auto block = lay_out("hello world");
    QCOMPARE(block->position_at({0, 5}), 0);
    QCOMPARE(block->position_at({4000, 5}), 11);
    const auto item = lay_out("- hello");
    QCOMPARE(item->position_at({4000, 5}), 7);  // with the marker
    const auto table = lay_out("| a | b |\n|---|---|\n| 1 | 2 |");
    QCOMPARE(table->position_at({0, 0}), 0);
    QCOMPARE(table->position_at({4000, 4000}), 7);
  }

  // A point in the middle of each character's cursor leads back to it.
  void cursorsAndPointsAgree() {
    for (const char* markdown : {"some words that need two lines in this width, and then a few more of them",
                                 "```\nint x;\n  return y;\n```", "| a | bcd |\n|---|---|\n| 12 | 3 |"}) {
      const auto block = lay_out(markdown, 200);
      const QString text = block_text(block->block());
      for (int i = 0; i < text.size(); ++i) {
        if (text[i].isSpace()) continue;
        const QRectF cursor = block->cursor_at(i);
        QCOMPARE(block->position_at({cursor.left() + 1, cursor.center().y()}), i);
      }
    }
  }

  void linksKnowTheirPlace() {
    const auto block = lay_out("see [link](https://a.example/) there");
    const std::vector<LinkArea> links = block->links();
    QCOMPARE(links.size(), 1U);
    QCOMPARE(links[0].address, QStringLiteral("https://a.example/"));
    QCOMPARE(links[0].text.begin, 4);
    QCOMPARE(links[0].text.end, 8);
    const int hit = block->position_at(links[0].area.center());
    QVERIFY(hit >= 4 && hit <= 8);
    QVERIFY(lay_out("[a long link over two lines of text](https://a.example/)", 120)->links().size() > 1);
  }

  void selectionAndMatchesArePainted() {
    for (const char* markdown : {"hello", "שלום hello", "```\ncode\n```"}) {
      const auto block = lay_out(markdown);
      const QImage bare = painted(*block);
      BlockMarks selected;
      selected.selected = {1, 3};
      BlockMarks found;
      found.found = {{1, 3}};
      BlockMarks current = found;
      current.current = 0;
      QVERIFY(bare == painted(*block));
      QVERIFY(bare != painted(*block, selected));
      QVERIFY(bare != painted(*block, found));
      QVERIFY(painted(*block, found) != painted(*block, current));
    }
  }

  void onlyCodeHasACopyButton() {
    QVERIFY(lay_out("```\nx\n```")->copy_button().contains(QPointF(390, 5)));
    QVERIFY(lay_out("x")->copy_button().isNull());
  }

  void codeIsColoured() {
    QVERIFY(painted(*lay_out("```cpp\nreturn 1;\n```")).copy(0, 30, 420, 70) !=
            painted(*lay_out("```\nreturn 1;\n```")).copy(0, 30, 420, 70));
  }

  // A part's colours go on where the one before ended.
  void partsOfCodeCarryTheirState() {
    const QString code = QStringLiteral("```c\n/* begin\n") + QStringLiteral("int x;\n").repeated(60) +
                         QStringLiteral("*/\n```");
    const std::vector<Block> parts = parse_markdown(code);
    QCOMPARE(parts.size(), 2U);
    const BlockLayout first(parts[0], 400, style());
    QVERIFY(first.code_state_after().mode == LexerState::Mode::comment);
    BlockContext context;
    context.code_state = first.code_state_after();
    QVERIFY(painted(BlockLayout(parts[1], 400, style(), context)) !=
            painted(BlockLayout(parts[1], 400, style())));
  }

  void aRightToLeftParagraphStandsAtTheRight() {
    const auto hebrew = lay_out("שלום");
    QVERIFY(hebrew->cursor_at(0).left() > 300);
    QVERIFY(lay_out("hello")->cursor_at(0).left() < 10);
    QVERIFY(lay_out("```\nשלום\n```")->cursor_at(4).left() < 300);  // code stays at the left
  }

  void aRightToLeftListHasItsMarksAtTheRight() {
    const auto ink_right_of = [](const BlockLayout& layout, qreal x) {
      const QImage image = painted(layout);
      for (int column = static_cast<int>(x); column < image.width(); ++column)
        for (int row = 0; row < image.height(); ++row)
          if (image.pixel(column, row) != image.pixel(image.width() - 1, 0)) return true;
      return false;
    };
    const auto item = lay_out("- שלום"), text = lay_out("שלום");
    QVERIFY(item->cursor_at(2).left() < text->cursor_at(0).left() - 10);
    QVERIFY(ink_right_of(*item, item->cursor_at(2).left() + 4));
    QVERIFY(!ink_right_of(*text, text->cursor_at(0).left() + 4));
    QVERIFY(lay_out("- hello")->cursor_at(2).left() > 10);
  }

  void wideTextOfChinaBreaksAnywhere() {
    const auto narrow = lay_out(QStringLiteral("你好世界").repeated(60), 200);
    QVERIFY(narrow->used_width() <= 200);
    QVERIFY(narrow->height() > 3 * lay_out("你好")->height());
  }

  void aTableStaysInItsWidth() {
    const auto table = lay_out(QStringLiteral("| a | b |\n|---|---|\n| x | ") +
                                   QStringLiteral("long text ").repeated(50) + QStringLiteral("|"),
                               300);
    QVERIFY2(table->used_width() <= 301, qPrintable(QString::number(table->used_width())));
    QVERIFY(table->cursor_at(0).left() < table->cursor_at(2).left());
  }

  void deepNestingStaysInside() {
    QString source;
    for (int i = 0; i < 60; ++i) source += QStringLiteral("> ");
    const auto block = lay_out(source + QStringLiteral("deep"), 300);
    QVERIFY(block->height() > 0 && block->height() < 400);
  }

  void estimatesAreNearTheTruth() {
    for (const char* markdown :
         {"short",
          "a paragraph of some length that is broken into a few lines by the width of the column, "
          "as paragraphs in answers usually are, with nothing special in it at all",
          "```\nint x;\nint y;\nint z;\n```", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "# Title",
          "- item"}) {
      const auto block = lay_out(markdown);
      const qreal estimate = estimated_height(block->block(), 400, sizes_of(style()));
      QVERIFY2(estimate > 0.5 * block->height() && estimate < 2 * block->height(),
               qPrintable(QStringLiteral("%1: %2 for %3")
                              .arg(QString::fromUtf8(markdown))
                              .arg(estimate)
                              .arg(block->height())));
    }
  }
};
FOVEA_TEST(BlockLayoutTest)

#include "block_layout_test.moc"
