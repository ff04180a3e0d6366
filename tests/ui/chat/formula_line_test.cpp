#include "ui/chat/formula_line.h"

#include <QImage>
#include <QPainter>
#include <algorithm>

#include "tests/support/test.h"
#include "ui/chat/block_layout.h"
#include "ui/chat/block_text.h"
#include "ui/chat/transcript_view.h"

using namespace fovea::ui;

namespace {

std::unique_ptr<BlockLayout> lay_out_formula(const QString& markdown, qreal width = 400) {
  return std::make_unique<BlockLayout>(parse_markdown(markdown).at(0), width,
                                       LayoutStyle{QFont(), QFont(), QPalette()});
}
std::unique_ptr<BlockLayout> lay_out_formula(const char* markdown, qreal width = 400) {
  return lay_out_formula(QString::fromUtf8(markdown), width);
}

QImage image_of(const BlockLayout& block, const BlockMarks& marks = {}) {
  QImage image(600, 200, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  block.paint(painter, {0, 0}, marks);
  return image;
}

bool is_dark(const QImage& image, int x, int y) {
  return image.pixelColor(x, y).lightness() < 128;
}

// Of the ink in the columns [begin, end); -1: there is none.
int lowest_ink(const QImage& image, int begin, int end) {
  for (int y = image.height() - 1; y >= 0; --y) {
    for (int x = begin; x < end; ++x) {
      if (is_dark(image, x, y)) return y;
    }
  }
  return -1;
}
int rightmost_ink(const QImage& image) {
  for (int x = image.width() - 1; x >= 0; --x) {
    for (int y = 0; y < image.height(); ++y) {
      if (is_dark(image, x, y)) return x;
    }
  }
  return -1;
}

const char* const kQuadratic = "$\\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$";

}  // namespace

class FormulaLineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aFormulaMakesItsLineHigher() {
    const qreal plain = lay_out_formula("words")->height();
    QVERIFY(lay_out_formula("words $\\frac{a}{b}$ words")->height() > plain);
    QVERIFY(lay_out_formula("$$\\frac{a}{b}$$")->height() > 1.5 * plain);
    QVERIFY(lay_out_formula("words $x$ words")->height() <= plain + 2);
  }

  void itStandsOnTheBaselineOfTheText() {
    const auto block = lay_out_formula("HHHH $\\mathrm{HHHH}$");
    const QImage image = image_of(*block);
    const int middle = static_cast<int>(block->cursor_at(5).left());
    const int text = lowest_ink(image, 0, middle - 2), formula = lowest_ink(image, middle, image.width());
    QVERIFY(text > 0 && formula > 0);
    QVERIFY2(qAbs(text - formula) <= 1, qPrintable(QStringLiteral("%1 and %2").arg(text).arg(formula)));
  }

  void itTakesItsRoom() {
    const auto block = lay_out_formula("a $x+y$ b");
    const QString text = block_text(block->block());
    QCOMPARE(text, QStringLiteral("a x + y b"));
    const qreal begin = block->cursor_at(2).left(), end = block->cursor_at(7).left();
    const LineFormula formula = line_formulas(block->block().content, QFont(), 400).at(0);
    QVERIFY(qAbs(end - begin - formula.box.width) < 1);
    QCOMPARE(formula.scale, 1.0);
  }

  void aPlaceIsNeverWithinIt() {
    for (const char* markdown :
         {"a $x+y=z$ b", "$$\\sum_{i=1}^n i = 7$$", "| $x+y=z$ | b |\n|---|---|\n| 1 | 2 |"}) {
      const auto block = lay_out_formula(markdown);
      const QString text = block_text(block->block());
      for (qreal y = 2; y < block->height(); y += 4) {
        for (qreal x = 0; x < 400; x += 3) {
          const int position = block->position_at({x, y});
          const FormulaRange range = formula_around(block->block(), position);
          QVERIFY2(range.begin == range.end, markdown);
        }
      }
    }
    QCOMPARE(formula_around(parse_markdown(QStringLiteral("a $x+y$ b")).at(0), 4).end, 7);
    QCOMPARE(formula_around(parse_markdown(QStringLiteral("- $x+y$ b")).at(0), 4).begin, 2);
  }

  void itIsMarkedAsAWhole() {
    const auto block = lay_out_formula("a $x+y$ b");
    const auto selected = [&block](int begin, int end) {
      BlockMarks marks;
      marks.selected = {begin, end};
      return image_of(*block, marks);
    };
    QVERIFY(selected(3, 4) == selected(2, 7));
    QVERIFY(selected(2, 7) != image_of(*block));
    QVERIFY(selected(0, 2) != selected(0, 3));
    BlockMarks found;
    found.found = {{2, 3}};
    QVERIFY(image_of(*block, found) != image_of(*block));
  }

  // Whatever its width, it stays within the column.
  void longFormulasAreBrokenOrMadeSmaller() {
    QString sum = QStringLiteral("x");
    for (int i = 1; i < 30; ++i) sum += QStringLiteral(" + a_{%1}").arg(i);
    for (const QString& tex :
         {sum, QStringLiteral("\\frac{") + sum + QStringLiteral("}{2}"),
          QStringLiteral("\\begin{matrix}") + QString(sum).replace(QLatin1String("+"), QLatin1String("&")) +
              QStringLiteral("\\end{matrix}")}) {
      for (const QString& form : {QStringLiteral("so $%1$ is"), QStringLiteral("$$%1$$")}) {
        const auto block = lay_out_formula(form.arg(tex), 250);
        QVERIFY2(block->used_width() <= 251, qPrintable(form + tex));
        QVERIFY2(rightmost_ink(image_of(*block)) <= 253, qPrintable(form + tex));
        QVERIFY2(block->used_width() > 150, qPrintable(form + tex));
      }
    }
    const StyledText text = parse_markdown(QStringLiteral("$%1$").arg(sum)).at(0).content;
    const LineFormula broken = line_formulas(text, QFont(), 250).at(0);
    QVERIFY(broken.parts.size() > 10);
    QCOMPARE(broken.scale, 1.0);
    int at = broken.start;
    for (const FormulaPart& part : broken.parts) {
      QCOMPARE(part.start, at);
      QVERIFY(part.room >= 1 && part.room <= part.length);
      at += part.length;
    }
    QCOMPARE(at, broken.start + broken.length);
    QVERIFY(lay_out_formula(QStringLiteral("$%1$").arg(sum), 250)->height() >
            2 * lay_out_formula("$x$")->height());
  }

  void whatIsNoFormulaStaysText() {
    const StyledText text = parse_markdown(QStringLiteral("$\\frac{1}{$")).at(0).content;
    QVERIFY(line_formulas(text, QFont(), 400).empty());
    QCOMPARE(text.text, QStringLiteral("$\\frac{1}{$"));
    // While it streams, one that is not closed is text, too.
    QVERIFY(line_formulas(parse_markdown(QStringLiteral("so $x + ")).at(0).content, QFont(), 400).empty());
    QVERIFY(line_formulas(parse_markdown(QStringLiteral("$$x + ")).at(0).content, QFont(), 400).empty());
  }

  void typedFormulasAreLaidOut() {
    const std::vector<Block> blocks = parse_typed(QStringLiteral("What is $\\frac{1}{2}$?"));
    QCOMPARE(line_formulas(blocks.at(0).content, QFont(), 400).size(), std::size_t(1));
  }

  void formulasInRightToLeftText() {
    const auto block = lay_out_formula("שלום $x+y$ עולם");
    const QImage image = image_of(*block);
    const qreal begin = block->cursor_at(5).left(), end = block->cursor_at(10).left();
    QVERIFY(qAbs(end - begin) > 4);
    BlockMarks marks;
    marks.selected = {5, 10};
    QVERIFY(image != image_of(*block, marks));
  }

  void theKeyboardStepsOverIt() {
    TranscriptView view;
    view.resize(600, 400);
    view.show();
    MessageView answer;
    answer.id = 1;
    answer.author = Author::assistant;
    answer.text = QStringLiteral("a $x+y$ b");
    view.set_messages({answer});
    view.select({0, 0}, {0, 2});
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(view.selected_text(), QStringLiteral("a x + y"));
    QCOMPARE(view.selected_markdown(), QStringLiteral("a $x+y$"));
    QTest::keyClick(&view, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(view.selected_text(), QStringLiteral("a "));
    const QPoint left = view.rect_of_text({0, 2}).center(), right = view.rect_of_text({0, 7}).center();
    for (const QPoint& place : {left + QPoint(4, 0), right - QPoint(4, 0)}) {
      QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, place);
      QCOMPARE(view.selected_text(), QStringLiteral("x + y"));
    }
  }
};
FOVEA_TEST(FormulaLineTest)

#include "formula_line_test.moc"
