#include "ui/markdown/to_markdown.h"

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

QString again(const QString& source) {
  const std::vector<Block> blocks = parse_markdown(source);
  std::vector<BlockCut> cuts;
  for (const Block& block : blocks) cuts.push_back({&block, 0, static_cast<int>(block.content.text.size())});
  return to_markdown(cuts);
}

}  // namespace

class ToMarkdownTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sourceComesBack_data() {
    QTest::addColumn<QString>("source");
    for (const char* source :
         {"plain text", "a **b** *c* ~~d~~ `e`", "# Title\n\ntext", "[a](https://a.example)", "- a\n- b",
          "1. a\n2. b", "- [ ] a\n- [x] b", "```cpp\nint x;\n```", "| a | b |\n|---|--:|\n| 1 | **2** |",
          "> quote", "$x^2$ and $y$", "a\n\n---\n\nb", "snake_case", "a \\* b"}) {
      QTest::newRow(source) << QString::fromUtf8(source);
    }
  }
  void sourceComesBack() {
    QFETCH(QString, source);
    QCOMPARE(again(source), source);
  }

  // Whatever it looks like, it means the same.
  void meaningIsKept() {
    const QString source =
        QStringLiteral("1. a\n   - b **c**\n\n   d\n\n> - e\n\n```\nf\n```\n\nx < y & *z* $5");
    QVERIFY(parse_markdown(again(source)) == parse_markdown(source));
  }

  void aCutKeepsItsStyle() {
    const std::vector<Block> blocks = parse_markdown(QStringLiteral("one **two three** four"));
    QCOMPARE(to_markdown({{&blocks[0], 4, 7}}), QStringLiteral("**two**"));
    QCOMPARE(to_markdown({{&blocks[0], 2, 5}}), QStringLiteral("e **t**"));
  }
};
FOVEA_TEST(ToMarkdownTest)

#include "to_markdown_test.moc"
