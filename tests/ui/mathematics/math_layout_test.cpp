#include <algorithm>

#include "tests/support/test.h"
#include "tests/ui/mathematics/formulas.h"
#include "ui/mathematics/layout.h"

using namespace fovea::ui;

namespace {

constexpr qreal kSize = 100;

// Letters of a font that is nowhere: all as wide, with the usual heights.
class MadeMetrics final : public MathMetrics {
 public:
  MathExtents measure(const QString& text, MathFace, qreal size) const override {
    MathExtents out;
    out.width = 0.5 * size * static_cast<qreal>(text.size());
    for (const QChar c : text) {
      const bool low = QStringLiteral("acegmnopqrsuvwxyz").contains(c);
      const bool deep = QStringLiteral("gjpqy()[]{}|").contains(c);
      const bool sign = QStringLiteral("−+=").contains(c);
      out.ascent = std::max(out.ascent, (sign ? 0.3 : low ? 0.45 : 0.7) * size);
      out.descent = std::max(out.descent, deep ? 0.2 * size : 0);
      if (c == QChar(u'−')) out.descent = -0.2 * size;
    }
    return out;
  }
};

MathBox box(const char* tex, bool display = true) {
  static const MadeMetrics metrics;
  const std::optional<MathNode> tree = parse_math(QString::fromUtf8(tex));
  return tree ? lay_out_math(*tree, metrics, kSize, display) : MathBox{};
}

const MathInk& ink(const MathBox& box, const char* text) {
  static const MathInk none;
  const auto found = std::ranges::find(box.inks, QString::fromUtf8(text), &MathInk::text);
  return found == box.inks.end() ? none : *found;
}
const MathInk& ink(const MathBox& box, MathInk::Kind kind) {
  static const MathInk none;
  const auto found = std::ranges::find(box.inks, kind, &MathInk::kind);
  return found == box.inks.end() ? none : *found;
}
qreal left(const MathBox& box, const char* text) {
  return ink(box, text).area.left();
}
qreal baseline(const MathBox& box, const char* text) {
  return ink(box, text).area.top();
}

}  // namespace

class MathLayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lettersStandOnTheBaseline() {
    const MathBox row = box("abc");
    QCOMPARE(row.inks.size(), std::size_t(3));
    for (const MathInk& each : row.inks) {
      QCOMPARE(each.area.top(), 0.0);
      QCOMPARE(each.size, kSize);
    }
    QVERIFY(left(row, "a") < left(row, "b"));
    QCOMPARE(row.width, 1.5 * kSize);
  }

  void spacesFollowTheClasses() {
    const qreal bare = box("ab").width;
    const qreal plus = box("a+b").width - box("+").width, equal = box("a=b").width - box("=").width;
    QVERIFY(plus > bare);
    QVERIFY(equal > plus);
    QCOMPARE(box("-b").width, box("{-}b").width);  // a sign
    QVERIFY(box("a-b").width > box("a{-}b").width);
    QCOMPARE(box("a=-b").width, box("a={-}b").width);
    QVERIFY(box("\\sin x").width > box("\\mathrm{sin}x").width);
    QCOMPARE(box("\\sin(x)").width, box("\\mathrm{sin}(x)").width);
    QCOMPARE(box("(a").width, box("{(}a").width);
    QVERIFY(box("a,b").width > box("a{,}b").width);
    const MathBox script = box("x^{a+b}");  // none in scripts
    QCOMPARE(left(script, "+") - left(script, "a"), left(script, "b") - left(script, "+"));
    QCOMPARE(left(script, "+") - left(script, "a"), 0.5 * ink(script, "a").size);
  }

  void scriptsShrinkAndMove() {
    const MathBox both = box("x_i^k");
    QVERIFY(baseline(both, "k") < 0);
    QVERIFY(baseline(both, "i") > 0);
    QVERIFY(ink(both, "i").size < kSize);
    QVERIFY(left(both, "k") >= 0.5 * kSize);
    const MathBox deep = box("x^{y^{z^w}}");
    QVERIFY(ink(deep, "z").size < ink(deep, "y").size);
    QCOMPARE(ink(deep, "w").size, ink(deep, "z").size);  // no smaller than that
    QVERIFY(baseline(deep, "z") < baseline(deep, "y"));
    // They do not touch, however high they are.
    const MathBox high = box("x_{\\frac{A}{B}}^{\\frac{C}{D}}");
    QVERIFY(baseline(high, "D") < baseline(high, "A") - ink(high, "A").size * 0.7);
  }

  void scriptsOfWhatIsHighStandAtItsCorners() {
    QVERIFY(baseline(box("\\left(\\frac{A}{B}\\right)^k"), "k") < baseline(box("x^k"), "k"));
    QVERIFY(baseline(box("\\left(\\frac{A}{B}\\right)_k"), "k") > baseline(box("x_k"), "k"));
  }

  void fractionsStandOnTheAxis() {
    for (const bool display : {true, false}) {
      const MathBox fraction = box("\\frac{A}{BBB}", display);
      const QRectF rule = ink(fraction, MathInk::Kind::rule).area;
      QVERIFY(qAbs(rule.center().y() - -0.25 * kSize) < 1e-6);  // where the minus has its middle
      QVERIFY(baseline(fraction, "A") < rule.top());
      QVERIFY(baseline(fraction, "B") - 0.7 * ink(fraction, "B").size > rule.bottom());
      QVERIFY(rule.width() >= 1.5 * ink(fraction, "B").size);
      QCOMPARE(ink(fraction, "A").size < kSize, !display);
      const qreal middle = left(fraction, "A") + 0.25 * ink(fraction, "A").size;
      QVERIFY(qAbs(middle - rule.center().x()) < 1e-6);
    }
    QVERIFY(box("\\dfrac{A}{B}", false).height() > box("\\frac{A}{B}", false).height());
    QVERIFY(box("\\tfrac{A}{B}", true).height() < box("\\frac{A}{B}", true).height());
    QVERIFY(ink(box("\\binom{n}{k}"), MathInk::Kind::rule).area.isNull());
  }

  void limitsStandAboveAndBelowInDisplay() {
    const MathBox display = box("\\sum_{i}^{k}"), line = box("\\sum_{i}^{k}", false);
    const qreal top = baseline(display, "∑") - 0.7 * ink(display, "∑").size;
    QVERIFY(baseline(display, "k") <= top);
    QVERIFY(baseline(display, "i") - 0.7 * ink(display, "i").size >= baseline(display, "∑"));
    QVERIFY(left(display, "k") < 0.5 * ink(display, "∑").size);
    QVERIFY(ink(display, "∑").size > ink(line, "∑").size);
    QVERIFY(left(line, "k") >= 0.5 * ink(line, "∑").size);
    QVERIFY(left(box("\\int_{i}^{k}"), "k") >= 0.5 * ink(box("\\int_{i}^{k}"), "∫").size);
    QVERIFY(baseline(box("\\lim_{i}"), "i") > baseline(box("\\lim_{i}", false), "i"));
    QVERIFY(left(box("\\int\\limits_{i}^{k}"), "k") < left(box("\\int_{i}^{k}"), "k"));
    QCOMPARE(left(box("\\sum\\nolimits_{i}"), "i") > 0.5 * kSize, true);
  }

  void rootsCoverWhatIsInThem() {
    for (const char* tex : {"\\sqrt{x}", "\\sqrt{\\frac{A}{B}}", "\\sqrt{y_{y_y}}"}) {
      const MathBox root = box(tex);
      const QRectF sign = ink(root, MathInk::Kind::radical).area;
      for (const MathInk& each : root.inks) {
        if (each.kind != MathInk::Kind::text) continue;
        QVERIFY(each.area.left() >= sign.left() + ink(root, MathInk::Kind::radical).split);
        QVERIFY(each.area.top() - 0.4 * each.size > sign.top());
        QVERIFY(each.area.left() + 0.5 * each.size <= sign.right());
      }
      QVERIFY(root.ascent >= -sign.top());
    }
    const MathBox cube = box("\\sqrt[3]{x}");
    QVERIFY(ink(cube, "3").size < kSize);
    QVERIFY(baseline(cube, "3") < 0);
    QVERIFY(left(cube, "3") < left(cube, "x"));
  }

  void delimitersStretch() {
    const MathBox small = box("\\left(x\\right)"), high = box("\\left(\\frac{A}{B}\\right)");
    QCOMPARE(ink(small, "(").kind, MathInk::Kind::text);
    const MathInk& open = ink(high, "(");
    QCOMPARE(open.kind, MathInk::Kind::delimiter);
    QVERIFY(open.area.height() > 0.8 * box("\\frac{A}{B}").height());
    QVERIFY(qAbs(open.area.center().y() + 0.25 * kSize) < 1e-6);
    QVERIFY(ink(high, ")").area.left() > open.area.right());
    QVERIFY(ink(box("\\left.\\frac{A}{B}\\right)"), "(").text.isEmpty());
    qreal before = 0;
    for (const char* tex : {"\\big|", "\\Big|", "\\bigg|", "\\Bigg|"}) {
      const qreal height = box(tex).height();
      QVERIFY(height > before);
      before = height;
    }
  }

  void columnsAreInLine() {
    const MathBox matrix = box("\\begin{matrix} a & b \\\\ cccc & d \\end{matrix}");
    QVERIFY(baseline(matrix, "a") < baseline(matrix, "c"));
    QCOMPARE(baseline(matrix, "a"), baseline(matrix, "b"));
    QCOMPARE(left(matrix, "b"), left(matrix, "d"));
    QVERIFY(left(matrix, "a") > left(matrix, "c"));  // in the middle of its column
    QVERIFY(qAbs((matrix.descent - matrix.ascent) / 2 + 0.25 * kSize) < 1e-6);
    const MathBox aligned = box("\\begin{aligned} aaa &= b \\\\ c &= d \\end{aligned}");
    QCOMPARE(left(aligned, "b"), left(aligned, "d"));
    QVERIFY(left(aligned, "c") > left(aligned, "a"));  // at the right
    const MathBox cases = box("\\begin{cases} a & x \\\\ cccc & y \\end{cases}");
    QCOMPARE(left(cases, "a"), left(cases, "c"));
    QCOMPARE(left(cases, "x"), left(cases, "y"));
    QVERIFY(ink(cases, MathInk::Kind::delimiter).area.height() > 2 * kSize);
    const MathBox array = box("\\begin{array}{c|c} a & b \\\\ \\hline c & d \\end{array}");
    int across = 0, down = 0;
    for (const MathInk& each : array.inks) {
      if (each.kind != MathInk::Kind::rule) continue;
      each.area.width() > each.area.height() ? ++across : ++down;
    }
    QCOMPARE(across, 1);
    QCOMPARE(down, 1);
    QVERIFY(box("\\begin{smallmatrix} a \\\\ b \\end{smallmatrix}").height() <
            box("\\begin{matrix} a \\\\ b \\end{matrix}").height());
  }

  void marksStandOverTheirLetters() {
    for (const char* tex :
         {"\\hat{x}", "\\vec{v}", "\\bar{x}", "\\overline{AB}", "\\widehat{ABC}", "\\dot{x}"}) {
      QVERIFY2(box(tex).ascent > box("x").ascent, tex);
    }
    QVERIFY(box("\\hat{H}").ascent > box("\\hat{x}").ascent);
    QVERIFY(ink(box("\\widehat{ABC}"), MathInk::Kind::mark).area.width() >
            ink(box("\\hat{A}"), MathInk::Kind::mark).area.width());
    QVERIFY(box("\\underline{x}").descent > box("x").descent);
    const MathBox brace = box("\\underbrace{aaa}_{n}");
    QVERIFY(baseline(brace, "n") > ink(brace, MathInk::Kind::mark).area.bottom());
    const MathBox set = box("\\overset{a}{=}");
    QVERIFY(baseline(set, "a") < baseline(set, "="));
    QVERIFY(ink(set, "a").size < kSize);
  }

  void phantomsHaveNoInk() {
    QCOMPARE(box("\\phantom{xy}").width, box("xy").width);
    QVERIFY(box("\\phantom{xy}").inks.empty());
    QCOMPARE(box("\\vphantom{x}").width, 0.0);
    QCOMPARE(box("\\hphantom{x}").height(), 0.0);
  }

  void whatIsNotKnownIsMuted() {
    const MathBox unknown = box("x + \\foo{y}");
    QVERIFY(ink(unknown, "\\foo{y}").muted);
    QVERIFY(!ink(unknown, "x").muted);
  }

  void linesMayEndBehindRelations() {
    const MathBox sum = box("a = b + c", false);
    QCOMPARE(sum.breaks.size(), std::size_t(2));
    QCOMPARE(sum.breaks[0].inks, std::size_t(2));
    QVERIFY(sum.breaks[0].before < sum.breaks[0].after);
    QCOMPARE(sum.breaks[0].after, left(sum, "b"));
    QVERIFY(box("-a", false).breaks.empty());
    QVERIFY(box("\\frac{a=b}{c}", false).breaks.empty());
  }

  // Of all samples the ink is within the box, and the numbers are numbers.
  void boxesHoldTheirInk() {
    const MadeMetrics metrics;
    for (const QString& tex : fovea::tests::sample_formulas()) {
      for (const bool display : {true, false}) {
        const std::optional<MathNode> tree = parse_math(tex);
        QVERIFY2(tree, qPrintable(tex));
        const MathBox all = lay_out_math(*tree, metrics, kSize, display);
        QVERIFY2(all.width > 0 && all.width < 60 * kSize, qPrintable(tex));
        QVERIFY2(all.height() > 0 && all.height() < 12 * kSize, qPrintable(tex));
        for (const MathInk& each : all.inks) {
          QVERIFY2(each.area.left() > -0.3 * kSize && each.area.right() < all.width + 0.3 * kSize,
                   qPrintable(tex));
          QVERIFY2(each.area.top() >= -all.ascent - 1 && each.area.bottom() <= all.descent + 1,
                   qPrintable(tex));
        }
      }
    }
  }
};
FOVEA_TEST(MathLayoutTest)

#include "math_layout_test.moc"
