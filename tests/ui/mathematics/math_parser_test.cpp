#include <random>

#include "tests/support/test.h"
#include "tests/ui/mathematics/formulas.h"
#include "ui/mathematics/tree.h"

using namespace fovea::ui;

namespace {

// A tree in one line: what a reader can check by eye.
QString shape(const MathNode& node) {
  const auto all = [&node](const QString& name) {
    QStringList parts;
    for (const MathNode& child : node.children) parts += shape(child);
    return name + QLatin1Char('(') + parts.join(QLatin1Char(' ')) + QLatin1Char(')');
  };
  switch (node.kind) {
    case MathKind::symbol:
      return node.text.isEmpty() ? QStringLiteral("·") : node.text;
    case MathKind::source:
      return QStringLiteral("source:") + node.text;
    case MathKind::row:
      return node.children.size() == 1 ? shape(node.children[0]) : all({});
    case MathKind::scripts:
      return all(QStringLiteral("scripts"));
    case MathKind::fraction:
      return all(node.ruled ? QStringLiteral("frac") : QStringLiteral("over"));
    case MathKind::radical:
      return all(QStringLiteral("root"));
    case MathKind::fenced:
      return all(QStringLiteral("fence"));
    case MathKind::sized:
      return all(QStringLiteral("big"));
    case MathKind::accent:
      return all(QStringLiteral("accent"));
    case MathKind::stack:
      return all(QStringLiteral("stack"));
    case MathKind::arrow:
      return all(QStringLiteral("arrow"));
    case MathKind::table:
      return all(QStringLiteral("table%1").arg(node.columns));
    case MathKind::space:
      return QStringLiteral("_");
    case MathKind::phantom:
      return all(QStringLiteral("phantom"));
    case MathKind::framed:
      return all(QStringLiteral("frame"));
    case MathKind::struck:
      return all(QStringLiteral("strike"));
    case MathKind::style:
      return QStringLiteral("style");
  }
  return {};
}

int unknown_in(const MathNode& node) {
  int count = node.kind == MathKind::source ? 1 : 0;
  for (const MathNode& child : node.children) count += unknown_in(child);
  return count;
}

const MathNode& first(const std::optional<MathNode>& tree) {
  return tree->kind == MathKind::row ? tree->children.at(0) : *tree;
}

}  // namespace

class MathParserTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void trees_data() {
    QTest::addColumn<QString>("tex");
    QTest::addColumn<QString>("tree");
    const auto row = [](const char* tex, const char* tree) {
      QTest::newRow(tex) << QString::fromUtf8(tex) << QString::fromUtf8(tree);
    };
    row("x", "x");
    row("a+b", "(a + b)");
    row("a-b", "(a − b)");
    row("12.5x", "(12.5 x)");
    row("x^2", "scripts(x () 2)");
    row("x_i^2", "scripts(x i 2)");
    row("x^2_i", "scripts(x i 2)");
    row("x^10", "(scripts(x () 1) 0)");
    row("f'", "scripts(f () ′)");
    row("f''^2", "scripts(f () (′′ 2))");
    row("{}_2F", "(scripts(() 2 ()) F)");
    row("\\frac{1}{2}", "frac(1 2)");
    row("\\frac12", "frac(1 2)");
    row("\\frac ab", "frac(a b)");
    row("a \\over b", "frac(a b)");
    row("{n \\choose k}", "fence(( over(n k) ))");
    row("\\binom{n}{k}", "fence(( over(n k) ))");
    row("\\sqrt{x}", "root(x ())");
    row("\\sqrt[3]{x}", "root(x 3)");
    row("\\left( x \\right)", "fence(( x ))");
    row("\\left. x \\right|_0", "scripts(fence(· x |) 0 ())");
    row("\\left\\{ a \\middle| b \\right\\}", "fence({ a | b })");
    row("\\left< x \\right>", "fence(⟨ x ⟩)");
    row("\\bigl( x \\bigr)", "(big(() x big()))");
    row("\\hat{x}", "accent(x)");
    row("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}", "fence(( table2(a b c d) ))");
    row("\\begin{matrix} a & b \\\\ c \\end{matrix}", "table2(a b c ())");
    row("\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "table2(a (() = b) c (() = d))");
    row("\\begin{cases} 1 & x \\\\ 2 & y \\end{cases}", "fence({ table2(1 x 2 y) ·)");
    row("\\begin{equation} x \\end{equation}", "x");
    row("\\begin{array}{c|c} a & b \\\\ \\hline c & d \\end{array}", "table2(a b c d)");
    row("a \\\\ b", "table1(a b)");
    row("\\sum_{i=1}^n i", "(scripts(∑ (i = 1) n) i)");
    row("\\text{if } x", "(if  x)");
    row("\\text{a $x$ b}", "(a  x  b)");
    row("\\operatorname{rank}(A)", "((r a n k) ( A ))");
    row("\\not= b", "(strike(=) b)");
    row("\\overset{a}{b}", "stack(b a)");
    row("\\xrightarrow{f}", "arrow(f ())");
    row("\\underbrace{x}_{n}", "scripts(accent(x) n ())");
    row("\\color{red} x", "x");
    row("\\boxed{x}", "frame(x)");
    row("x % comment", "x");
    row("\\foo", "source:\\foo");
    row("\\foo{a}{b} c", "(source:\\foo{a}{b} c)");
    row("a & b", "(a b)");
    row("\\mathbb{R}^n", "scripts(R () n)");
    row("x^", "x");
  }
  void trees() {
    QFETCH(QString, tex);
    QFETCH(QString, tree);
    const std::optional<MathNode> parsed = parse_math(tex);
    QVERIFY(parsed);
    QCOMPARE(shape(*parsed), tree);
  }

  void whatIsNoFormulaIsRefused_data() {
    QTest::addColumn<QString>("tex");
    for (const char* tex :
         {"{x", "x}", "\\frac{1}", "\\frac{1}{2", "\\left( x", "\\right)", "\\left? x \\right)",
          "\\begin{matrix} a", "\\begin{matrix} a \\end{pmatrix}", "\\end{matrix}",
          "\\begin{nothing} a \\end{nothing}", "\\sqrt[3{x}", "\\text{a", "a_", "\\big"}) {
      if (QByteArray(tex) != "a_") QTest::newRow(tex) << QString::fromUtf8(tex);
    }
  }
  void whatIsNoFormulaIsRefused() {
    QFETCH(QString, tex);
    QVERIFY(!parse_math(tex));
  }

  void nestingHasAnEnd() {
    const auto nested = [](int depth) {
      return QStringLiteral("\\sqrt{").repeated(depth) + QLatin1Char('x') +
             QStringLiteral("}").repeated(depth);
    };
    QVERIFY(parse_math(nested(8)));
    QVERIFY(!parse_math(nested(1000)));
    QVERIFY(!parse_math(QStringLiteral("{").repeated(100'000)));
    QVERIFY(!parse_math(QStringLiteral("\\left(").repeated(10'000)));
    QVERIFY(!parse_math(QStringLiteral("x^").repeated(10'000) + QLatin1Char('{')));
  }

  void lettersHaveTheirFaces() {
    QCOMPARE(first(parse_math(u"x")).face, MathFace::italic);
    QCOMPARE(first(parse_math(u"1")).face, MathFace::upright);
    QCOMPARE(first(parse_math(u"\\alpha")).face, MathFace::italic);
    QCOMPARE(first(parse_math(u"\\Gamma")).face, MathFace::upright);
    QCOMPARE(first(parse_math(u"\\sin")).face, MathFace::upright);
    QCOMPARE(first(parse_math(u"\\mathbf{x}")).face, MathFace::bold);
    QCOMPARE(first(parse_math(u"\\boldsymbol{\\mu}")).face, MathFace::bold_italic);
    QCOMPARE(first(parse_math(u"{\\bf x}")).face, MathFace::bold);
    QCOMPARE(first(parse_math(u"\\mathbb{R}")).face, MathFace::blackboard);
    QCOMPARE(first(parse_math(u"\\text{x}")).children.size(), std::size_t(1));
  }

  void lettersHaveTheirClasses() {
    QCOMPARE(first(parse_math(u"+")).role, MathClass::binary);
    QCOMPARE(first(parse_math(u"=")).role, MathClass::relation);
    QCOMPARE(first(parse_math(u"\\le")).role, MathClass::relation);
    QCOMPARE(first(parse_math(u"{=}")).role, MathClass::ordinary);
    QCOMPARE(first(parse_math(u"\\mathrel{R}")).role, MathClass::relation);
    QCOMPARE(first(parse_math(u"\\sum")).role, MathClass::large);
    QVERIFY(first(parse_math(u"\\sum")).limits_in_display);
    QVERIFY(first(parse_math(u"\\lim")).limits_in_display);
    QVERIFY(!first(parse_math(u"\\int")).limits_in_display);
    QVERIFY(!first(parse_math(u"\\sin")).limits_in_display);
  }

  // Formulas as models write them: all are understood, but for the macros that nobody knows.
  void samplesAreUnderstood() {
    const QStringList samples = fovea::tests::sample_formulas();
    QVERIFY(samples.size() >= 150);
    for (const QString& tex : samples) {
      const std::optional<MathNode> tree = parse_math(tex);
      QVERIFY2(tree, qPrintable(tex));
      const int unknown = tex.contains(QLatin1String("unknownmacro")) ? 2 : 0;
      QVERIFY2(unknown_in(*tree) == unknown, qPrintable(tex));
    }
  }

  // Cut anywhere, they do no harm.
  void beginningsOfSamplesDoNoHarm() {
    int refused = 0;
    for (const QString& tex : fovea::tests::sample_formulas()) {
      for (qsizetype end = 0; end < tex.size(); ++end) {
        if (!parse_math(QStringView(tex).first(end))) ++refused;
      }
    }
    QVERIFY(refused > 100);
  }
};
FOVEA_TEST(MathParserTest)

#include "math_parser_test.moc"
