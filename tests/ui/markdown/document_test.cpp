#include "ui/markdown/document.h"

#include <random>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

// A block as one line, so that expectations read like the page: "item1 •: text [bold 0+4]".
QString describe(const Block& block) {
  static const char* const kKinds[] = {"paragraph", "heading", "code",     "rule",
                                       "table",     "formula", "reasoning"};
  QString line = QLatin1String(kKinds[static_cast<int>(block.kind)]);
  if (block.level) line += QString::number(block.level);
  if (block.quote_depth) line += QStringLiteral(" quote%1").arg(block.quote_depth);
  if (block.list_depth) line += QStringLiteral(" list%1").arg(block.list_depth);
  if (!block.marker.isEmpty()) line += QLatin1Char(' ') + block.marker;
  if (!block.language.isEmpty()) line += QLatin1Char(' ') + block.language;
  line += QStringLiteral(": ") + block.content.text;
  for (const Run& run : block.content.runs) {
    line += QStringLiteral(" [%1 %2+%3%4]")
                .arg(run.style)
                .arg(run.start)
                .arg(run.length)
                .arg(run.link.isEmpty() ? QString() : QLatin1Char(' ') + run.link);
  }
  for (const TableRow& row : block.rows) {
    line += QLatin1String(row.header ? " #" : " |");
    for (const StyledText& cell : row.cells) line += cell.text + QLatin1Char('|');
  }
  return line;
}

QStringList describe(const std::vector<Block>& blocks) {
  QStringList lines;
  for (const Block& block : blocks) lines += describe(block);
  return lines;
}

}  // namespace

class MarkdownTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parses_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QStringList>("blocks");
    const auto row = [](const char* name, const char* source, QStringList blocks) {
      QTest::newRow(name) << QString::fromUtf8(source) << blocks;
    };
    row("empty", "", {});
    row("paragraphs", "one\n\ntwo", {"paragraph: one", "paragraph: two"});
    row("a line stays a line", "one\ntwo", {"paragraph: one\u2028two"});
    row("emphasis", "a **b** *c* ~~d~~ `e`", {"paragraph: a b c d e [1 2+1] [2 4+1] [4 6+1] [8 8+1]"});
    row("an item begins with emphasis", "- **a** b\n- `c`",
        {"paragraph list1 •: a b [1 0+1]", "paragraph list1 •: c [8 0+1]"});
    row("nested emphasis", "***x***", {"paragraph: x [3 0+1]"});
    row("link", "see [docs](https://a.example/b)", {"paragraph: see docs [0 4+4 https://a.example/b]"});
    row("image is its description", "![a cat](http://a.example/cat.png)",
        {"paragraph: a cat [0 0+5 http://a.example/cat.png]"});
    row("raw HTML is text", "<b>x</b> <script>alert(1)</script>",
        {"paragraph: <b>x</b> <script>alert(1)</script>"});
    row("entities", "a &amp; b &lt; c", {"paragraph: a & b < c"});
    row("headings", "# A\n### B", {"heading1: A", "heading3: B"});
    row("bullets", "- a\n- b\n  - c",
        {"paragraph list1 •: a", "paragraph list1 •: b", "paragraph list2 ◦: c"});
    row("numbers start where they say", "3. a\n4. b", {"paragraph list1 3.: a", "paragraph list1 4.: b"});
    row("tasks", "- [ ] a\n- [x] b", {"paragraph list1 ☐: a", "paragraph list1 ☑: b"});
    row("loose item has several paragraphs", "- a\n\n  b", {"paragraph list1 •: a", "paragraph list1: b"});
    row("empty item", "- a\n-\n- c", {"paragraph list1 •: a", "paragraph list1 •: ", "paragraph list1 •: c"});
    row("quote", "> a\n> > b", {"paragraph quote1: a", "paragraph quote2: b"});
    row("code", "```cpp\nint x;\n\n  y\n```", {"code cpp: int x;\n\n  y"});
    row("open fence", "text\n```py\nprint(1)\n", {"paragraph: text", "code py: print(1)"});
    row("code keeps marks", "```\n**a** <b>\n```", {"code: **a** <b>"});
    row("rule", "a\n\n---\n\nb", {"paragraph: a", "rule: ", "paragraph: b"});
    row("table", "| a | b |\n|---|--:|\n| 1 | **2** |", {"table:  #a|b| |1|2|"});
    row("code in a list", "1. a\n   ```\n   x\n   ```", {"paragraph list1 1.: a", "code list1: x"});
    row("formula", "so $x^2$ grows", {"paragraph: so x² grows [16 3+2] [18 3+1]"});
    row("money is not a formula", "from $5 to $6, or $7-$8", {"paragraph: from $5 to $6, or $7-$8"});
    row("money in prose", "$5 for one and 6$ for two", {"paragraph: $5 for one and 6$ for two"});
    row("shell variables", "$HOME/bin:$PATH", {"paragraph: $HOME/bin:$PATH"});
    row("formula in round brackets", R"(\(a_i\))", {"paragraph: aᵢ [16 0+2] [18 0+1]"});
    row("formula on its own", "a\n\n\\[\nE = mc^2\n\\]\n\nb",
        {"paragraph: a", "formula: E = mc² [16 0+7] [18 0+1] [18 4+2]", "paragraph: b"});
    row("formula keeps Markdown out", "$a_1*b_2*c$",
        {"paragraph: a₁ ∗ b₂ ∗ c [16 0+11] [18 0+1] [18 5+1] [18 10+1]"});
    row("no formula in code", "`$x$` and\n\n```\n$y$\n```", {"paragraph: $x$ and [8 0+3]", "code: $y$"});
    row("formula with a bar in a table", "| a |\n|---|\n| $|x|$ |", {"table:  #a| ||x||"});
    row("open formula stays source", "see $\\frac{a", {"paragraph: see $\\frac{a"});
    row("numeric entities", "&#65;&#x42;&#0;", {"paragraph: AB\ufffd"});
    row("right to left and wide text", "שלום **你好**", {"paragraph: שלום 你好 [1 5+2]"});
  }
  void parses() {
    QFETCH(QString, source);
    QFETCH(QStringList, blocks);
    QCOMPARE(describe(parse_markdown(source)), blocks);
  }

  // Runs always lie inside their text, whatever a model writes; half-written documents parse too.
  void anythingParses() {
    static const char* const kPieces[] = {"*",   "**", "`",     "```\n", "[",  "](",      ")",          "- ",
                                          "1. ", "> ", "\n",    "\n\n",  "| ", "|-|-|\n", "# ",         "a",
                                          "é",   "🙂", "&amp;", "<x>",   "\\", "~~",      "http://a.b "};
    const unsigned start = fovea::tests::seed();
    for (int round = 0; round < fovea::tests::rounds(2000); ++round) {
      std::mt19937 random(start + static_cast<unsigned>(round));
      QString source;
      for (unsigned i = random() % 60; i > 0; --i)
        source += QString::fromUtf8(kPieces[random() % std::size(kPieces)]);
      for (const Block& block : parse_markdown(source)) {
        for (const Run& run : block.content.runs) {
          QVERIFY2(run.start >= 0 && run.start + run.length <= block.content.text.size(),
                   qPrintable(QStringLiteral("FOVEA_TEST_SEED=%1: %2")
                                  .arg(start + static_cast<unsigned>(round))
                                  .arg(source)));
        }
      }
    }
  }

  void longBlocksComeInParts() {
    const std::vector<Block> code = parse_markdown(
        QStringLiteral("```py\n") + QStringLiteral("x = 1\n").repeated(100) + QStringLiteral("```"));
    QCOMPARE(code.size(), 3U);
    int lines = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      QCOMPARE(code[i].part, static_cast<int>(i));
      QCOMPARE(code[i].more, i + 1 < code.size());
      QCOMPARE(code[i].language, QStringLiteral("py"));
      lines += static_cast<int>(code[i].content.text.count(QLatin1Char('\n'))) + 1;
    }
    QCOMPARE(lines, 100);
    const QString words = QStringLiteral("word ").repeated(5000).trimmed();
    QString joined;
    for (const Block& block : plain_blocks(words)) joined += block.content.text + QLatin1Char(' ');
    QCOMPARE(joined.trimmed(), words);
  }

  // A short row is filled up to the header's width, and an address is repeated at each use: a small text must
  // not become gigabytes.
  void boundsHold() {
    const QString wide = QStringLiteral("|a").repeated(3000) + QStringLiteral("|\n") +
                         QStringLiteral("|-").repeated(3000) + QStringLiteral("|\n") +
                         QStringLiteral("|x|\n").repeated(3000);
    QVERIFY(!parse_markdown(wide).empty());
    const QString links = QStringLiteral("[a]: http://") + QString(100'000, QLatin1Char('x')) +
                          QStringLiteral("\n\n") + QStringLiteral("[a] ").repeated(20'000);
    QVERIFY(!parse_markdown(links).empty());
  }

  // In answers and in questions alike.
  void environmentsAreFormulas() {
    const QString tex = QStringLiteral("\\begin{align}\na &= b + c \\\\\n&= d_1 * e_2\n\\end{align}");
    const QString source = QStringLiteral("So:\n\n") + tex + QStringLiteral("\n\nand on");
    for (const bool typed : {false, true}) {
      const std::vector<Block> blocks = typed ? parse_typed(source) : parse_markdown(source);
      QCOMPARE(blocks.size(), 3U);
      QCOMPARE(blocks[1].kind, BlockKind::formula);
      QCOMPARE(blocks[1].content.text, QStringLiteral("a = b + c\u2028 = d₁ ∗ e₂"));
      QCOMPARE(blocks[1].content.runs[0].source, tex);
      QCOMPARE(blocks[0].content.text + blocks[2].content.text, QStringLiteral("So:and on"));
    }
    for (const char* raw : {"\\begin{document} x \\end{document}", "\\begin{align} x", "\\beginning"}) {
      const QString text = QString::fromLatin1(raw);
      QCOMPARE(parse_typed(text)[0].content.text, text);
    }
  }

  void typedCodeIsCode() {
    const std::vector<Block> blocks = parse_typed(QStringLiteral(
        "Why *this*?\n# no heading\n\n```c++ x\nint $a = 1;\n\n  b();\n```\nThanks\n~~~\nrest"));
    QCOMPARE(blocks.size(), 4U);
    QCOMPARE(blocks[0].content.text, QStringLiteral("Why *this*?\u2028# no heading"));
    QCOMPARE(blocks[1].kind, BlockKind::code);
    QCOMPARE(blocks[1].language, QStringLiteral("c++"));
    QCOMPARE(blocks[1].content.text, QStringLiteral("int $a = 1;\n\n  b();"));
    QCOMPARE(blocks[2].content.text, QStringLiteral("Thanks"));
    QCOMPARE(blocks[3].kind, BlockKind::code);
    QCOMPARE(blocks[3].content.text, QStringLiteral("rest"));
    for (const char* text : {"", "one line", "  two\n    lines, `code` and 5$ for 6$"}) {
      const QString typed = QString::fromLatin1(text);
      QCOMPARE(parse_typed(typed), plain_blocks(typed));
    }
  }

  void plainTextIsNotMarkdown() {
    const std::vector<Block> blocks = plain_blocks(QStringLiteral("# a\n*b*"));
    QCOMPARE(blocks.size(), 1U);
    QCOMPARE(blocks[0].content.text, QStringLiteral("# a\u2028*b*"));
  }
};
FOVEA_TEST(MarkdownTest)

#include "document_test.moc"
