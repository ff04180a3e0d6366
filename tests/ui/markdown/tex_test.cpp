#include "ui/markdown/tex.h"

#include <random>

#include "tests/support/test.h"
#include "ui/mathematics/tex_symbols.h"

using namespace fovea::ui;

class TexTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void renders_data() {
    QTest::addColumn<QString>("tex");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* tex, const char* text) {
      QTest::newRow(tex) << QString::fromUtf8(tex) << QString::fromUtf8(text);
    };
    row("x", "x");
    row("a+b=c", "a + b = c");
    row("a - b", "a − b");
    row("-x", "−x");
    row("x = -1", "x = −1");
    row("x^2", "x²");
    row("x^{n+1}", "xⁿ⁺¹");
    row("x_{ij}", "xᵢⱼ");
    row("a_1^2", "a₁²");
    row("e^{i\\pi}", "e^(iπ)");
    row("e^\\pi", "e^π");
    row("W_Q", "W_Q");
    row("\\alpha + \\beta", "α + β");
    row("\\frac{1}{2}", "1/2");
    row("\\frac{a+b}{c}", "(a + b)/c");
    row("\\frac{1}{2a}", "1/(2a)");
    row("\\frac{x^2}{y_1}", "x²/y₁");
    row("\\frac12", "1/2");
    row("\\sqrt{x}", "√x");
    row("\\sqrt{x+1}", "√(x + 1)");
    row("\\sqrt[3]{x}", "∛x");
    row("\\sum_{i=1}^{n} i", "∑ᵢ₌₁ⁿ i");
    row("\\int_0^1 f(x) \\, dx", "∫₀¹ f(x)\u2009dx");
    row("\\lim_{x \\to 0} \\frac{\\sin x}{x}", "lim_(x → 0) (sin x)/x");
    row("\\sin(x)", "sin(x)");
    row("O(n \\log n)", "O(n log n)");
    row("\\mathbb{R}^n", "ℝⁿ");
    row("\\mathcal{L}", "ℒ");
    row("x \\in \\mathbb{Z}", "x ∈ ℤ");
    row("a \\le b \\ne c", "a ≤ b ≠ c");
    row("\\text{if } x > 0", "if x > 0");
    row("\\left( \\frac{a}{b} \\right)", "(a/b)");
    row("\\hat{y}", "y\u0302");
    row("\\vec{v}", "v\u20d7");
    row("90^\\circ", "90°");
    row("f'(x)", "f′(x)");
    row("\\binom{n}{k}", "C(n, k)");
    row("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}", "(a, b; c, d)");
    row("\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "a = b\u2028c = d");
    row("\\{1, 2\\}", "{1, 2}");
    row("\\operatorname{softmax}(x)", "softmax(x)");
    row("50\\%", "50%");
    row("A \\cdot B \\times C", "A · B × C");
    row("\\sum\\limits_{i} a_i", "∑ᵢ aᵢ");
    row("x \\mapsto x^2", "x ↦ x²");
    row("", "");
  }
  void renders() {
    QFETCH(QString, tex);
    QFETCH(QString, text);
    QCOMPARE(render_tex(tex).text, text);
  }

  void unknownMacrosStaySource() {
    QCOMPARE(render_tex(QStringLiteral("\\foo{a} + 1")).text, QStringLiteral("\\foo{a} + 1"));
    QCOMPARE(render_tex(QStringLiteral("\\unknown")).text, QStringLiteral("\\unknown"));
  }

  void variablesAreItalicAndNamesAreNot() {
    const StyledText text = render_tex(QStringLiteral("\\sin ab"));
    QCOMPARE(text.text, QStringLiteral("sin ab"));
    QCOMPARE(text.runs, (std::vector<Run>{{4, 2, italic, {}, {}}}));
  }

  void scriptsNeedEveryCharacter() {
    QCOMPARE(superscript(u"n+1"), QStringLiteral("ⁿ⁺¹"));
    QCOMPARE(superscript(u"q"), QString());
    QCOMPARE(subscript(u"ij"), QStringLiteral("ᵢⱼ"));
    QCOMPARE(subscript(u"b"), QString());
  }

  // Any soup ends, gives runs inside the text, and nested input does not overflow the stack.
  void anythingRenders() {
    static const char* const kPieces[] = {"\\frac",
                                          "{",
                                          "}",
                                          "^",
                                          "_",
                                          "\\sqrt",
                                          "[",
                                          "]",
                                          "x",
                                          "\\left",
                                          "\\right",
                                          "(",
                                          "\\begin{aligned}",
                                          "&",
                                          "\\\\",
                                          "\\end{aligned}",
                                          "\\hat",
                                          "\\text",
                                          "\\",
                                          " ",
                                          "1",
                                          "\\alpha",
                                          "\\not",
                                          "'"};
    const unsigned start = fovea::tests::seed();
    for (int round = 0; round < fovea::tests::rounds(3000); ++round) {
      std::mt19937 random(start + static_cast<unsigned>(round));
      QString tex;
      for (unsigned i = random() % 40; i > 0; --i)
        tex += QLatin1String(kPieces[random() % std::size(kPieces)]);
      const StyledText text = render_tex(tex);
      for (const Run& run : text.runs) {
        QVERIFY2(
            run.start >= 0 && run.start + run.length <= text.text.size(),
            qPrintable(
                QStringLiteral("FOVEA_TEST_SEED=%1: %2").arg(start + static_cast<unsigned>(round)).arg(tex)));
      }
    }
    for (const char* piece :
         {"{", "\\frac{", "\\left(", "^{", "\\sqrt", "\\begin{aligned}", "\\hat", "\\foo{"}) {
      render_tex(QString::fromLatin1(piece).repeated(4000));
    }
  }
};
FOVEA_TEST(TexTest)

#include "tex_test.moc"
