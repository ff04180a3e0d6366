// Looking inside the answers: where tokens are in a text that is read, the card, the keys, the marks.
#include "ui/chat/token_lens.h"

#include <QAbstractButton>
#include <QSignalSpy>

#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/source_map.h"
#include "ui/chat/token_card.h"
#include "ui/chat/transcript_view.h"

using namespace fovea::ui;

namespace {

// Tokens of the answer with the id 2: its words with the space before them.
class MadeTokens : public TokenSource {
 public:
  explicit MadeTokens(const QString& text) : text_(text) {
    for (int at = 0; at < text.size();) {
      int end = at + 1;
      while (end < text.size() && text[end] != QLatin1Char(' ')) ++end;
      places.push_back({.number = static_cast<int>(places.size()), .begin = at, .end = end});
      at = end;
    }
  }
  std::vector<TokenPlace> places;

  std::vector<TokenPlace> tokens_of(MessageId message, const QString&) const override {
    return message == 2 ? places : std::vector<TokenPlace>();
  }
  std::optional<TokenView> token(MessageId message, int number) const override {
    if (message != 2 || number < 0 || number >= std::ssize(places)) return std::nullopt;
    const TokenPlace& place = places[static_cast<std::size_t>(number)];
    const QString text = text_.mid(place.begin, place.end - place.begin);
    TokenView view{.text = text, .probability = 0.5, .entropy_bits = 1.5, .uses = 8, .low_uses = 3};
    view.highest_bits = 8.5;
    view.choices = {{text, 0.5, true, true},
                    {QStringLiteral(" other"), 0.25, false, true},
                    {QStringLiteral("<end>"), 0.125, false, false}};
    return view;
  }
  int most_kept() const override { return 4096; }

 private:
  QString text_;
};

QString read_from(const QString& source, const QString& read) {
  const std::vector<int> places = places_in_source(source, read);
  QString all;
  for (std::size_t i = 0; i < places.size(); ++i) all += places[i] < 0 ? QChar(u'#') : source[places[i]];
  return all;
}

}  // namespace

class TokenLensTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    view_ = std::make_unique<TranscriptView>();
    view_->resize(700, 500);
    MessageView question, answer;
    question.id = 1;
    question.text = QStringLiteral("Why is it blue?");
    answer.id = 2;
    answer.author = Author::assistant;
    answer.text = QStringLiteral("The **sky** is blue, for short waves are scattered more than long ones.");
    view_->set_messages({question, answer});
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    tokens_ = std::make_unique<MadeTokens>(answer.text);
    lens().set_source(tokens_.get());
  }
  void cleanup() {
    view_.reset();
    tokens_.reset();
  }

  // Marks of Markdown are nowhere in what is read, dots of lists nowhere in the source.
  void whatIsReadIsFoundInItsSource_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("read");
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const char* source, const char* read, const char* found) {
      QTest::newRow(name) << QString::fromUtf8(source) << QString::fromUtf8(read) << QString::fromUtf8(found);
    };
    row("plain", "as it is", "as it is", "as it is");
    row("bold", "is **b**old *x*", "is bold x", "is bold x");
    row("code", "call `f(x)` now", "call f(x) now", "call f(x) now");
    row("link", "see [the page](https://a.b/the/page) now", "see the page now", "see the page now");
    row("list", "Two:\n\n- one\n- two", "Two:\n\n• one\n• two", "Two:\n\n# one\n# two");
    row("heading", "## A title\n\ntext", "A title\n\ntext", "A title\n\ntext");
    row("line breaks", "one\ntwo", "one two", "one\ntwo");
    row("fence", "```cpp\nint x;\n```\nend", "int x;\n\nend", "int x;\n#\nend");
    row("nothing of it", "abc", "xyz", "###");
  }
  void whatIsReadIsFoundInItsSource() {
    QFETCH(QString, source);
    QFETCH(QString, read);
    QFETCH(QString, found);
    const std::vector<int> places = places_in_source(source, read);
    int before = -1;
    for (const int place : places) {
      if (place < 0) continue;
      QVERIFY(place > before);
      before = place;
    }
    if (qstrcmp(QTest::currentDataTag(), "fence") != 0) QCOMPARE(read_from(source, read), found);
    // What it is for: each word of the text is found where it stands.
    if (qstrcmp(QTest::currentDataTag(), "fence") == 0) {
      QCOMPARE(places[static_cast<std::size_t>(read.indexOf(QStringLiteral("int x")))],
               static_cast<int>(source.indexOf(QStringLiteral("int x"))));
      QCOMPARE(places[static_cast<std::size_t>(read.indexOf(QStringLiteral("end")))],
               static_cast<int>(source.indexOf(QStringLiteral("end"))));
    }
  }

  void offByDefaultReadingIsNotDisturbed() {
    QVERIFY(!lens().is_on());
    hover(1);
    QVERIFY(!lens().current());
    QVERIFY(lens().card().isHidden());
    QTest::keyClick(view_.get(), Qt::Key_Right);
    QVERIFY(!lens().current());
  }

  void pointingShowsTheCard() {
    lens().set_on(true);
    QSignalSpy changed(&lens(), &TokenLens::currentChanged);
    hover(1);  // " **sky**": its text is bold, without the stars
    QCOMPARE(lens().current(), (TokenRef{2, 1}));
    QCOMPARE(changed.size(), 1);
    QVERIFY(lens().card().isVisible());
    const QString words = lens().card().words();
    for (const char* part : {"sky", "50", "other", "25", "1.50 bits", "3 of its 8 expert", "8 bits"})
      QVERIFY2(words.contains(QLatin1String(part)), qPrintable(words));
    QCOMPARE(lens().card().accessibleName(), words);
    // The card hides neither the token nor leaves the view.
    const QRect card = lens().card().geometry();
    QVERIFY(view_->viewport()->rect().contains(card));
    QVERIFY(!card.intersects(lens().areas_of({2, 1}).front().toRect()));
    hover(3);
    QCOMPARE(lens().current(), (TokenRef{2, 3}));
    lens().set_on(false);
    QVERIFY(!lens().current());
    QVERIFY(lens().card().isHidden());
  }

  void whatIsNotKeptSaysSo() {
    lens().set_on(true);
    const QPoint there = middle(2);
    tokens_->places.clear();
    QTest::mouseMove(view_->viewport(), there + QPoint(1, 0));
    QVERIFY(!lens().current());
    QVERIFY(lens().card().isVisible());
    QVERIFY2(lens().card().words().contains(QStringLiteral("4,096")), qPrintable(lens().card().words()));
    // A question has no tokens of an answer.
    QTest::mouseMove(view_->viewport(), view_->rect_of_text({0, 3}).center());
    QVERIFY(lens().card().isHidden());
  }

  void keysGoFromTokenToToken() {
    lens().set_on(true);
    const auto press = [&](int key) {
      QTest::keyClick(QApplication::focusWidget(), static_cast<Qt::Key>(key));
    };
    QVERIFY(view_->hasFocus());
    press(Qt::Key_Right);
    QCOMPARE(lens().current(), (TokenRef{2, 0}));
    press(Qt::Key_Right);
    press(Qt::Key_Right);
    QCOMPARE(lens().current(), (TokenRef{2, 2}));
    press(Qt::Key_Left);
    QCOMPARE(lens().current(), (TokenRef{2, 1}));
    press(Qt::Key_End);
    QCOMPARE(lens().current(), (TokenRef{2, static_cast<int>(tokens_->places.size()) - 1}));
    press(Qt::Key_Right);  // nothing follows
    QCOMPARE(lens().current(), (TokenRef{2, static_cast<int>(tokens_->places.size()) - 1}));
    press(Qt::Key_Home);
    QCOMPARE(lens().current(), (TokenRef{2, 0}));
    QVERIFY(lens().card().isVisible());
    press(Qt::Key_Escape);
    QVERIFY(!lens().is_on());
    QVERIFY(lens().card().isHidden());
  }

  void aChoiceIsAskedForByKeysAndByClick() {
    lens().set_on(true);
    QSignalSpy wanted(&lens(), &TokenLens::choiceWanted);
    QTest::keyClick(view_.get(), Qt::Key_Right);
    QTest::keyClick(view_.get(), Qt::Key_Return);
    QVERIFY(QApplication::focusWidget() != view_.get());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);  // back to the text, and it is still on
    QVERIFY(view_->hasFocus() && lens().is_on());
    QTest::keyClick(view_.get(), Qt::Key_Return);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].value<TokenRef>(), (TokenRef{2, 0}));
    QCOMPARE(wanted[0][1].toInt(), 1);  // what stands there cannot be chosen

    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, middle(3));
    QCOMPARE(lens().current(), (TokenRef{2, 3}));
    QTest::mouseMove(view_->viewport(), middle(5));  // pinned by the click
    QCOMPARE(lens().current(), (TokenRef{2, 3}));
    const auto rows = lens().card().findChildren<QAbstractButton*>();
    QCOMPARE(rows.size(), 3);
    QTest::mouseClick(rows[2], Qt::LeftButton);  // it is no text that an answer can go on with
    QTest::mouseClick(rows[0], Qt::LeftButton);
    QCOMPARE(wanted.size(), 1);
    QTest::mouseClick(rows[1], Qt::LeftButton);
    QCOMPARE(wanted.size(), 2);
    QCOMPARE(wanted[1][0].value<TokenRef>(), (TokenRef{2, 3}));
  }

  // Only what met low precision has a line under it, and only on demand.
  void lowPrecisionIsUnderlined() {
    tokens_->places[2].low_share = 1;
    tokens_->places[4].low_share = 0.1;
    const QImage before = picture();
    lens().set_marks_low(true);
    const QImage after = picture();
    QVERIFY(differs(before, after, 2));
    QVERIFY(!differs(before, after, 4));
    QVERIFY(!differs(before, after, 3));
    lens().set_marks_low(false);
    QVERIFY(!differs(picture(), before, 2));
  }

  void othersMarkTokens() {
    const QImage before = picture();
    lens().set_marked({{2, 5}, {2, 1}, {9, 0}});
    const QImage after = picture();
    QVERIFY(differs(before, after, 1));
    QVERIFY(differs(before, after, 5));
    QVERIFY(!differs(before, after, 3));
  }

  // A command of the window, and so of its list of commands.
  void itIsACommand() {
    ChatWindow window;
    auto* action = window.findChild<QAction*>(QStringLiteral("lookInsideAction"));
    QVERIFY(action && !action->isChecked());
    action->trigger();
    QVERIFY(window.transcript().lens().is_on());
    window.transcript().lens().set_on(false);
    QVERIFY(!action->isChecked());
    window.findChild<QAction*>(QStringLiteral("markLowAction"))->trigger();
    QVERIFY(window.transcript().lens().marks_low());
  }

 private:
  TokenLens& lens() { return view_->lens(); }
  QPoint middle(int number) { return lens().areas_of({2, number}).front().center().toPoint(); }
  // From elsewhere: where it rests already, the mouse would not move.
  void hover(int number) {
    QTest::mouseMove(view_->viewport(), {1, 1});
    QTest::mouseMove(view_->viewport(), middle(number));
  }
  QImage picture() { return view_->viewport()->grab().toImage(); }
  bool differs(const QImage& a, const QImage& b, int number) {
    const QRect area = lens().areas_of({2, number}).front().toRect().adjusted(4, 0, -4, 0);
    const auto cut = [&](const QImage& image) {
      const double ratio = image.devicePixelRatio();
      return image.copy(QRectF(area.topLeft() * ratio, area.size() * ratio).toRect());
    };
    return cut(a) != cut(b);
  }

  std::unique_ptr<TranscriptView> view_;
  std::unique_ptr<MadeTokens> tokens_;
};
FOVEA_TEST(TokenLensTest)

#include "token_lens_test.moc"
