// Thoughts, content and calls in an answer's text, however it is cut into pieces.
#include "app/server/answer_reader.h"

#include <QRandomGenerator>

#include "tests/support/test.h"

using fovea::app::AnswerEvent;
using fovea::app::AnswerReader;

namespace {

// "r:" thoughts, "c:" content, "b:" a call's name, "a:" its arguments, "e" its end; pieces that belong
// together as one.
QStringList read(const std::string& text, bool calls, const std::vector<std::size_t>& cuts) {
  QStringList events;
  AnswerReader reader(calls, [&](const AnswerEvent& event) {
    static constexpr const char* kinds[] = {"r:", "c:", "b:", "a:", "e"};
    const QString kind = kinds[static_cast<int>(event.kind)];
    const QString piece = QString::fromStdString(event.text);
    const bool goes_on = !events.isEmpty() && events.back().startsWith(kind) && kind != "b:" && kind != "e";
    if (goes_on) {
      events.back() += piece;
    } else {
      events << kind + piece;
    }
  });
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    reader.read(std::string_view(text).substr(from, cut - from));
    from = cut;
  }
  reader.read(std::string_view(text).substr(from));
  reader.finish();
  return events;
}

}  // namespace

class AnswerReaderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reads_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("calls");
    QTest::addColumn<QStringList>("events");
    const QString call = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    QTest::newRow("empty") << "" << true << QStringList{};
    QTest::newRow("content") << "Hello\n\nyou\n" << false << QStringList{"c:Hello\n\nyou\n"};
    QTest::newRow("thoughts") << "<think>\nHm.\n</think>\n\nYes." << false << QStringList{"r:Hm.", "c:Yes."};
    QTest::newRow("thoughts inside keep their breaks")
        << "<think>\na\n\nb\n</think>\nc" << false << QStringList{"r:a\n\nb", "c:c"};
    QTest::newRow("thoughts cut off") << "<think>\nHm" << false << QStringList{"r:Hm"};
    QTest::newRow("no thoughts") << "<think>\n\n</think>\n\nYes." << false << QStringList{"c:Yes."};
    QTest::newRow("a blank line before thoughts")
        << "\n<think>a</think>b" << false << QStringList{"r:a", "c:b"};
    QTest::newRow("a tag later is text")
        << "a <think>b</think>" << false << QStringList{"c:a <think>b</think>"};
    QTest::newRow("half a tag") << "<thi" << true << QStringList{"c:<thi"};
    QTest::newRow("half an end") << "<think>a</thin" << true << QStringList{"r:a</thin"};
    QTest::newRow("call") << call << true << QStringList{"b:f", "a:{\"a\": 1}", "e"};
    QTest::newRow("call without functions") << call << false << QStringList{"c:" + call};
    QTest::newRow("call with line breaks")
        << "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n"
        << true << QStringList{"b:f", "a:{}", "e"};
    QTest::newRow("content and call")
        << "I look.\n" + call << true << QStringList{"c:I look.", "b:f", "a:{\"a\": 1}", "e"};
    QTest::newRow("two calls") << call + "\n" + call << true
                               << QStringList{"b:f", "a:{\"a\": 1}", "e", "b:f", "a:{\"a\": 1}", "e"};
    QTest::newRow("thoughts and call")
        << "<think>a</think>\n" + call << true << QStringList{"r:a", "b:f", "a:{\"a\": 1}", "e"};
    QTest::newRow("a call in thoughts is thought")
        << "<think>" + call + "</think>b" << true << QStringList{"r:" + call, "c:b"};
    QTest::newRow("braces and tags in a string")
        << "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"}\\\"</tool_call>{\",\"b\":[{}]}}</tool_call>"
        << true << QStringList{"b:f", "a:{\"a\":\"}\\\"</tool_call>{\",\"b\":[{}]}", "e"};
    QTest::newRow("name with escapes")
        << "<tool_call>{\"name\":\"g\\u00fc\\\"\",\"arguments\":{}}</tool_call>" << true
        << QStringList{"b:gü\"", "a:{}", "e"};
    QTest::newRow("name with a tag") << "<tool_call>{\"name\":\"f</tool_call>\",\"arguments\":{}}</tool_call>"
                                     << true << QStringList{"b:f</tool_call>", "a:{}", "e"};
    QTest::newRow("name without an end") << "<tool_call>{\"name\":\"f</tool_call> b" << true
                                         << QStringList{"c:<tool_call>{\"name\":\"f</tool_call> b"};
    QTest::newRow("the other order")
        << "<tool_call>{\"arguments\":{\"b\":2,\"a\":1},\"name\":\"f\"}</tool_call>" << true
        << QStringList{"b:f", "a:{\"b\":2,\"a\":1}", "e"};
    QTest::newRow("arguments cut off") << "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\": \"x" << true
                                       << QStringList{"b:f", "a:{\"a\": \"x", "e"};
    QTest::newRow("head cut off") << "<tool_call>{\"name\":\"f" << true
                                  << QStringList{"c:<tool_call>{\"name\":\"f"};
    QTest::newRow("no call by its JSON")
        << "<tool_call>f(1)</tool_call> b" << true << QStringList{"c:<tool_call>f(1)</tool_call> b"};
    QTest::newRow("arguments that are no object")
        << "<tool_call>{\"name\":\"f\",\"arguments\":\"x\"}</tool_call>" << true
        << QStringList{"c:<tool_call>{\"name\":\"f\",\"arguments\":\"x\"}</tool_call>"};
    QTest::newRow("half a call's tag") << "a <tool_ca" << true << QStringList{"c:a <tool_ca"};
    QTest::newRow("spaces at the end") << "a  " << true << QStringList{"c:a  "};
  }
  void reads() {
    QFETCH(QString, text);
    QFETCH(bool, calls);
    QFETCH(QStringList, events);
    const std::string bytes = text.toStdString();
    QCOMPARE(read(bytes, calls, {}), events);
    std::vector<std::size_t> every;
    for (std::size_t i = 1; i < bytes.size(); ++i) every.push_back(i);
    QCOMPARE(read(bytes, calls, every), events);
  }

  void readsTheSameHoweverItIsCut() {
    QRandomGenerator random(fovea::tests::seed());
    static constexpr const char* parts[] = {"<think>",
                                            "</think>",
                                            "<tool_call>",
                                            "</tool_call>",
                                            "{\"name\": \"f\"",
                                            ", \"arguments\": ",
                                            "{\"a\": [1, \"x\"]}",
                                            "}",
                                            "\n",
                                            " ",
                                            "word",
                                            "\"",
                                            "\\",
                                            "<",
                                            "{"};
    for (int round = 0; round < fovea::tests::rounds(2000); ++round) {
      std::string text;
      for (int n = static_cast<int>(random.bounded(12)); n > 0; --n)
        text += parts[random.bounded(static_cast<quint32>(std::size(parts)))];
      std::vector<std::size_t> cuts;
      for (std::size_t i = 1; i < text.size(); ++i)
        if (random.bounded(3) == 0) cuts.push_back(i);
      const QStringList whole = read(text, true, {}), cut = read(text, true, cuts);
      QVERIFY2(whole == cut, qPrintable(QStringLiteral("FOVEA_TEST_SEED=%1 round %2: %3")
                                            .arg(fovea::tests::seed())
                                            .arg(round)
                                            .arg(QString::fromStdString(text))));
    }
  }

  // What is passed on before the call is complete.
  void passesArgumentsOnAsTheyCome() {
    QStringList pieces;
    AnswerReader reader(true,
                        [&](const AnswerEvent& event) { pieces << QString::fromStdString(event.text); });
    reader.read("<tool_call>{\"name\": \"f\", \"arguments\": {\"a");
    QCOMPARE(pieces, (QStringList{"f", "{\"a"}));
    reader.read("\": 1");
    QCOMPARE(pieces, (QStringList{"f", "{\"a", "\": 1"}));
  }
};

FOVEA_TEST(AnswerReaderTest)
#include "answer_reader_test.moc"
