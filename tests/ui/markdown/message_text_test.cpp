#include "ui/markdown/message_text.h"

#include <QElapsedTimer>
#include <algorithm>
#include <random>

#include "tests/support/test.h"
#include "ui/markdown/fence.h"

using namespace fovea::ui;

namespace {

QStringList kinds(const std::vector<Block>& blocks) {
  static const char* const kKinds[] = {"paragraph", "heading", "code",     "rule",
                                       "table",     "formula", "reasoning"};
  QStringList out;
  for (const Block& block : blocks) {
    QString line = QLatin1String(kKinds[static_cast<int>(block.kind)]);
    if (block.open) line += QStringLiteral(" open");
    if (block.reasoning) line += QStringLiteral(" in");
    out += line + QStringLiteral(": ") + block.content.text;
  }
  return out;
}

// What models write, and what they get wrong; the fuzz test cuts and mixes it.
const char* const kCorpus[] = {
    "# Title\n\nSome *text* with `code`, **bold** and a [link](https://a.example).\n\n- one\n- two\n  - "
    "nested\n\n"
    "1. first\n2. second\n\n   second's paragraph\n\nend\n",
    "Intro\n\n```python\ndef f(x):\n    return x\n\nprint(f(1))\n```\n\nafter\n\n> quote\n> more\n\nlast",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n| `x|y` | $|z|$ |\n\ntext\n\n---\n\nEnd.",
    "<think>\nLet me see.\n\n- a\n- b\n\n```\nx\n```\n\nSo.\n</think>\n\nThe answer is **4**.\n\nDone.",
    "thoughts without a beginning\n\nmore\n</think>\n\nAnswer.\n\nMore answer.",
    "<think></think>\n\nNo thoughts.\n\nText",
    "Formula $x^2$ and \\(y_1\\):\n\n\\[\n\\frac{a}{b}\n\\]\n\n$$E = mc^2$$\n\nIt costs $5 and $6.\n\nEnd",
    "1. Do:\n   ```bash\n   ls\n   ```\n2. Then:\n\n   ```\n   x\n\n   y\n   ```\n\nAfter the "
    "list\n\n~~~\ncode\n\nmore\n~~~\n\nend",
    "see [a] and [b][a]\n\ntext\n\n[a]: https://a.example \"t\"\n\nmore [a]\n",
    "- a\n\n      indented code\n\n- ```\n  in item\n  ```\n\ntext\n\n```\nopen\n\nfence",
    "שלום עולם\n\nمرحبا `code`\n\n你好，世界。**粗体**\n\n🙂👩‍👩‍👧 "
    "emoji\n\n*a\n\nb*",
    "<b>html</b>\n\n<div>\n\ntext\n\n</div>\n\n&amp; &#65; \\* \\_ \\$ \\(\n\nSetext\n===\n\nb\n---\n",
};

QString mutated(std::mt19937& random) {
  const auto pick = [&random] { return QString::fromUtf8(kCorpus[random() % std::size(kCorpus)]); };
  static const char* const kScraps[] = {"\n",   "\n\n",    "```",      "~~~", "- ", "  ",   "    ", "> ",
                                        "1. ",  "<think>", "</think>", "$",   "$$", "\\[",  "\\]",  "[",
                                        "]: x", "|",       "*",        "`",   "\t", "\r\n", "# ",   "x"};
  QString text = pick();
  if (random() % 3 == 0) text += QStringLiteral("\n\n") + pick();
  for (unsigned i = random() % 8; i > 0; --i) {
    const auto at = static_cast<qsizetype>(random() % static_cast<unsigned>(text.size() + 1));
    switch (random() % 3) {
      case 0:
        text.insert(at, QLatin1String(kScraps[random() % std::size(kScraps)]));
        break;
      case 1:
        text.remove(at, static_cast<qsizetype>(random() % 12));
        break;
      default: {
        const QString other = pick();
        const auto from = static_cast<qsizetype>(random() % static_cast<unsigned>(other.size()));
        text.insert(at, other.mid(from, static_cast<qsizetype>(random() % 30)));
      }
    }
  }
  return text;
}

}  // namespace

class MessageTextTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reasoningIsApart_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("blocks");
    const auto row = [](const char* name, const char* text, QStringList blocks) {
      QTest::newRow(name) << QString::fromUtf8(text) << blocks;
    };
    row("finished", "<think>\na\n\n# b\n</think>\n\nc",
        {"reasoning: ", "paragraph in: a", "heading in: b", "paragraph: c"});
    row("unfinished", "<think>\na", {"reasoning open: ", "paragraph in: a"});
    row("begun by the prompt", "a\n</think>\nb", {"reasoning: ", "paragraph in: a", "paragraph: b"});
    row("empty", "<think>\n\n</think>\n\na", {"paragraph: a"});
    row("answer on the same line", "<think>a</think>b", {"reasoning: ", "paragraph in: a", "paragraph: b"});
    row("twice", "<think>a</think>\nb\n<think>c</think>\nd",
        {"reasoning: ", "paragraph in: a", "paragraph: b", "reasoning: ", "paragraph in: c", "paragraph: d"});
    row("a tag in a sentence is text", "use <think> here", {"paragraph: use <think> here"});
    row("a tag in code is code", "```\n<think>\n```", {"code: <think>"});
    row("code left open in thoughts", "<think>\n```\nx</think>\n\na",
        {"reasoning: ", "code in: x", "paragraph: a"});
    row("carriage returns", "a\r\n\r\nb", {"paragraph: a", "paragraph: b"});
  }
  void reasoningIsApart() {
    QFETCH(QString, text);
    QFETCH(QStringList, blocks);
    QCOMPARE(kinds(parse_message(text)), blocks);
  }

  void callsAreApart() {
    const QString call = QStringLiteral(
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\"], \"b\": {}}}\n</tool_call>");
    const QString arguments =
        QStringLiteral("code in: {\n  \"a\": [\n    1,\n    \"}\"\n  ],\n  \"b\": {}\n}");
    const std::vector<Block> two = parse_message(QStringLiteral("Look.") + call + QStringLiteral("\n") +
                                                 call + QStringLiteral("\n\nDone."));
    QCOMPARE(kinds(two), (QStringList{"paragraph: Look.", "reasoning: ", arguments, "reasoning: ", arguments,
                                      "paragraph: Done."}));
    QCOMPARE(two[1].call, QStringLiteral("f"));
    // What is none stays as it is written, and so does one in code.
    for (const char* const text : {"<tool_call>\n{\"name\": 1}\n</tool_call>", "<tool_call> is a tag",
                                   "<tool_call>\n{\"name\": \"f\", \"arguments\": {a}}\n</tool_call>"})
      QVERIFY2(parse_message(QString::fromUtf8(text))[0].kind == BlockKind::paragraph, text);
    QCOMPARE(kinds(parse_message(QStringLiteral("```\n") + call + QStringLiteral("\n```"))).size(), 1);
    const QString open = call.left(call.indexOf(QLatin1Char('}')));
    QCOMPARE(kinds(parse_message(open)).at(0), QStringLiteral("reasoning open: "));
  }

  void callsAppearAsTheyArrive() {
    const QString call =
        QStringLiteral("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\"]}}\n</tool_call>");
    for (const QString& text :
         {QStringLiteral("One.\n\nTwo.\n\n") + call + QStringLiteral("\n\nThree.\n\nFour."),
          QStringLiteral("<think>\nhm\n</think>\n\n") + call + call +
              QStringLiteral("\n<tool_call>\n{}\n</tool_call>\nx\n\ny"),
          QStringLiteral("<tool_call>\n{\"name\": \"f\", \"arguments\": {wrong}}\n</tool_call>\n\nx\n\ny")}) {
      MessageParser parser;
      for (qsizetype i = 0; i < text.size(); ++i) {
        parser.append(QString(text[i]));
        QVERIFY2(parser.blocks() == parse_message(text.left(i + 1)), qPrintable(text.left(i + 1)));
      }
    }
  }

  // Character by character, in pieces, or at once: the same blocks.
  void streamingEqualsTheWhole() {
    const unsigned start = fovea::tests::seed();
    for (int round = 0; round < fovea::tests::rounds(200); ++round) {
      std::mt19937 random(start + static_cast<unsigned>(round));
      const QString text = mutated(random);
      MessageParser parser;
      std::vector<Block> before;
      for (qsizetype i = 0; i < text.size(); ++i) {
        parser.append(QString(text[i]));
        const std::vector<Block> whole = parse_message(text.left(i + 1));
        const std::size_t kept = std::min({parser.first_changed(), before.size(), whole.size()});
        const bool same =
            parser.blocks() == whole &&
            std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(kept), whole.begin());
        if (same) {
          before = whole;
          continue;
        }
        QFAIL(qPrintable(
            QStringLiteral("FOVEA_TEST_SEED=%1, after %2 characters of:\n%3\nstreamed %4\nwhole %5")
                .arg(start + static_cast<unsigned>(round))
                .arg(i + 1)
                .arg(text, kinds(parser.blocks()).join(QLatin1Char('\n')),
                     kinds(whole).join(QLatin1Char('\n')))));
      }
    }
  }

  // The same with the corpus as it is, so that each construct is surely met.
  void theCorpusStreams() {
    for (const char* text : kCorpus) {
      MessageParser parser;
      const QString whole = QString::fromUtf8(text);
      for (const QChar c : whole) parser.append(QString(c));
      QCOMPARE(kinds(parser.blocks()), kinds(parse_message(whole)));
    }
  }

  void aLongMessageIsNotParsedAgainAndAgain() {
    const QString paragraph = QStringLiteral("Some words in a paragraph, with **bold** ones.\n\n");
    MessageParser parser;
    for (int i = 0; i < 400; ++i) {
      for (qsizetype at = 0; at < paragraph.size(); at += 6) parser.append(paragraph.mid(at, 6));
    }
    const qint64 size = parser.text().size();
    QVERIFY2(
        parser.parsed_characters() < 20 * size,
        qPrintable(QStringLiteral("%1 characters parsed for %2").arg(parser.parsed_characters()).arg(size)));
  }

  // Nothing that is cheap to write may be dear to read. The bound is two orders above what is needed.
  void hostileNestingEnds_data() {
    QTest::addColumn<QString>("text");
    for (const char* piece :
         {"> ", "- ", "* ",      "1. ",      "[",       "![",    "](",   "*",      "**",          "_",
          "`",  "~~", "<think>", "</think>", "$",       "$$",    "\\[",  "\\(",    "|",           "|-",
          "<",  "&",  "&#",      "[a](",     "*a **a ", "```\n", "> - ", "a\n=\n", "http://a.b ", "#"}) {
      QTest::newRow(piece) << QString::fromLatin1(piece).repeated(20'000);
      QTest::newRow((QByteArray(piece) + " then text").constData())
          << QString::fromLatin1(piece).repeated(3000) + QStringLiteral("x\n\ntext");
    }
  }
  void hostileNestingEnds() {
    QFETCH(QString, text);
    QElapsedTimer timer;
    timer.start();
    parse_message(text);
    QVERIFY2(timer.elapsed() < 60'000, qPrintable(QString::number(timer.elapsed())));
    qInfo("%lld ms", timer.elapsed());
  }

  void boundariesAreOutsideOfCode() {
    FenceTracker fences;
    const auto feed = [&fences](const char* line) {
      fences.feed(QString::fromUtf8(line));
      return fences.at_boundary();
    };
    QVERIFY(feed("text"));
    QVERIFY(!feed("goes on"));
    feed("");
    QVERIFY(feed("```"));
    feed("");
    QVERIFY(!feed("code"));
    feed("```");
    feed("");
    QVERIFY(!feed("- item"));
    feed("");
    QVERIFY(!feed("  of the item"));
    feed("");
    QVERIFY(feed("text"));
    feed("");
    QVERIFY(!feed("  ```"));  // not at the margin
    feed("");
    QVERIFY(!feed("code"));
  }
};
FOVEA_TEST(MessageTextTest)

#include "message_text_test.moc"
