#include "ui/chat/block_layout.h"

#include <QImage>
#include <QPainter>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

LayoutStyle style() {
  return {QFont(), QFont(), QPalette()};
}

BlockLayout lay_out(const char* markdown, qreal width = 400) {
  return {parse_markdown(QString::fromUtf8(markdown)).at(0), width, style()};
}

}  // namespace

class BlockLayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void narrowTextIsTaller() {
    const char* text = "a sentence that is long enough to need more than one line when the room is narrow";
    QVERIFY(lay_out(text, 120).height() > 1.5 * lay_out(text, 4000).height());
  }

  void plainTextIsWhatIsCopied() {
    QCOMPARE(lay_out("a **b** `c`").plain_text(), QStringLiteral("a b c"));
    QCOMPARE(lay_out("```\nx\n  y\n```").plain_text(), QStringLiteral("x\n  y"));
    QCOMPARE(lay_out("| a | b |\n|---|---|\n| 1 | 2 |").plain_text(), QStringLiteral("a\tb\n1\t2"));
  }

  void pointsMapToCharacters() {
    const BlockLayout block = lay_out("hello world");
    QCOMPARE(block.position_at({0, 5}), 0);
    QCOMPARE(block.position_at({4000, 5}), 11);
    const BlockLayout table = lay_out("| a | b |\n|---|---|\n| 1 | 2 |");
    QCOMPARE(table.position_at({0, 0}), 0);
    QVERIFY(table.position_at({4000, 4000}) >= 6);
  }

  void linksAreFoundUnderThePoint() {
    const BlockLayout block = lay_out("[link](https://a.example/)");
    QCOMPARE(block.link_at({3, 5}), QStringLiteral("https://a.example/"));
    QCOMPARE(block.link_at({390, 5}), QString());
  }

  void movedLayoutKeepsItsLinks() {
    std::vector<BlockLayout> blocks;
    for (int i = 0; i < 20; ++i) blocks.push_back(lay_out("[link](https://a.example/)"));
    for (const BlockLayout& block : blocks)
      QCOMPARE(block.link_at({3, 5}), QStringLiteral("https://a.example/"));
  }

  void selectionIsPainted() {
    const BlockLayout block = lay_out("hello");
    const auto painted = [&block](TextRange range) {
      QImage image(200, 40, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      block.paint(painter, {0, 0}, range);
      return image;
    };
    QVERIFY(painted({0, 0}) == painted({0, 0}));
    QVERIFY(painted({0, 0}) != painted({1, 3}));
  }

  void onlyCodeHasACopyButton() {
    QVERIFY(lay_out("```\nx\n```").is_copy_button({395, 5}));
    QVERIFY(!lay_out("x").is_copy_button({395, 5}));
  }

  void deepNestingStaysInside() {
    QString source;
    for (int i = 0; i < 60; ++i) source += QStringLiteral("> ");
    const BlockLayout block(parse_markdown(source + QStringLiteral("deep")).at(0), 300, style());
    QVERIFY(block.height() > 0 && block.height() < 400);
  }
};
FOVEA_TEST(BlockLayoutTest)

#include "block_layout_test.moc"
