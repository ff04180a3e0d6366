#include "ui/chat/transcript_view.h"

#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolButton>
#include <cstdlib>
#include <random>

#include "tests/support/test.h"
#include "ui/chat/find_bar.h"

using namespace fovea::ui;

namespace {

MessageView message(MessageId id, Author author, const QString& text) {
  MessageView view;
  view.id = id;
  view.author = author;
  view.text = text;
  return view;
}

MessageView answer(MessageId id, const char* text) {
  return message(id, Author::assistant, QString::fromUtf8(text));
}

std::vector<MessageView> many(int count) {
  std::vector<MessageView> messages;
  for (int i = 0; i < count; ++i) {
    const bool user = i % 2 == 0;
    messages.push_back(
        message(i + 1, user ? Author::user : Author::assistant,
                user ? QStringLiteral("question %1").arg(i)
                     : QStringLiteral("Answer %1 has **words**.\n\n").arg(i).repeated(1 + i % 7)));
  }
  return messages;
}

}  // namespace

class TranscriptViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    view_ = std::make_unique<TranscriptView>();
    view_->resize(600, 400);
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
  }

  void streamedTextArrivesWhole() {
    append(message(1, Author::user, QStringLiteral("hi")));
    append(answer(2, ""));
    for (int i = 0; i < 100; ++i) view_->append_to(2, QStringLiteral("word%1 ").arg(i));
    QTRY_VERIFY(!view_->grab().toImage().isNull());
    QCOMPARE(view_->message_count(), 2);
    QVERIFY(view_->message_text(1).startsWith(QStringLiteral("word0 word1 ")));
    QVERIFY(view_->message_text(1).endsWith(QStringLiteral("word99 ")));
  }

  // A bar that appears beside the text moves nothing: the column stays in the middle, in either direction.
  void theColumnStaysWhereABarAppears() {
    for (const Qt::LayoutDirection direction : {Qt::LeftToRight, Qt::RightToLeft}) {
      view_->setLayoutDirection(direction);
      view_->set_messages({message(1, Author::assistant, QStringLiteral("short"))});
      QTRY_VERIFY(!view_->verticalScrollBar()->isVisible());
      const QRect before = view_->rect_of_message(0).translated(view_->viewport()->pos());
      QVERIFY(std::abs(before.left() + before.right() + 1 - view_->width()) <= 1);
      view_->set_messages({message(1, Author::assistant, QStringLiteral("line\n\n").repeated(100))});
      QTRY_VERIFY(view_->verticalScrollBar()->isVisible());
      const QRect after = view_->rect_of_message(0).translated(view_->viewport()->pos());
      QCOMPARE(after.left(), before.left());
      QCOMPARE(after.right(), before.right());
    }
  }

  void finishedBlocksAreNotLaidOutAgain() {
    append(message(2, Author::assistant, QStringLiteral("paragraph\n\n").repeated(200)));
    view_->append_to(2, QStringLiteral("first"));
    QTRY_VERIFY(view_->plain_text(0).endsWith(QStringLiteral("first")));
    QTest::qWait(100);
    const long before = view_->layouts_made();
    view_->append_to(2, QStringLiteral(" and one more"));
    QTRY_VERIFY(view_->layouts_made() > before);
    QCOMPARE(view_->layouts_made() - before, 1L);
  }

  // However fast tokens come, layouts are made at most 20 times a second.
  void tokensAreGathered() {
    append(answer(2, "x"));
    const long before = view_->layouts_made();
    for (int i = 0; i < 1000; ++i) view_->append_to(2, QStringLiteral("token "));
    QCOMPARE(view_->layouts_made(), before);
    QTRY_VERIFY(view_->layouts_made() > before);
    QVERIFY(view_->layouts_made() - before <= 3);
  }

  void onlyWhatIsNearIsLaidOut() {
    view_->set_messages(many(2000));
    const std::size_t held = view_->conversation().layouts_held();
    QVERIFY2(held > 0 && held < 200, qPrintable(QString::number(held)));
    for (int i = 0; i < 300; ++i) QTest::keyClick(view_.get(), Qt::Key_PageUp);
    QVERIFY(view_->conversation().layouts_held() < 400);
  }

  void followsTheEndUnlessTheReaderScrolledUp() {
    append(message(2, Author::assistant, QStringLiteral("line\n\n").repeated(100)));
    QScrollBar* bar = view_->verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());
    const int old_maximum = bar->maximum();
    view_->append_to(2, QStringLiteral("more\n\n").repeated(20));
    QTRY_VERIFY(bar->maximum() > old_maximum);
    QCOMPARE(bar->value(), bar->maximum());
    bar->setValue(bar->maximum() / 2);
    const QRect seen = view_->rect_of_text({0, 200});
    const int maximum = bar->maximum();
    view_->append_to(2, QStringLiteral("and more\n\n").repeated(20));
    QTRY_VERIFY(bar->maximum() > maximum);
    QCOMPARE(view_->rect_of_text({0, 200}), seen);
  }

  void aButtonLeadsBackToTheNewestText() {
    auto* jump = view_->findChild<QToolButton*>(QStringLiteral("jumpToLatest"));
    append(message(2, Author::assistant, QStringLiteral("line\n\n").repeated(100)));
    QScrollBar* bar = view_->verticalScrollBar();
    QVERIFY(!jump->isVisible());
    QTest::keyClick(view_.get(), Qt::Key_PageUp);
    QVERIFY(jump->isVisible());
    QVERIFY(view_->rect().contains(jump->geometry()));
    view_->append_to(2, QStringLiteral("more\n\n").repeated(20));
    const int maximum = bar->maximum();
    QTRY_VERIFY(bar->maximum() > maximum);
    QVERIFY(bar->value() < bar->maximum());
    QTest::mouseClick(jump, Qt::LeftButton);
    QCOMPARE(bar->value(), bar->maximum());
    QVERIFY(!jump->isVisible());
    view_->append_to(2, QStringLiteral("and more\n\n").repeated(20));  // and it follows again
    const int later = bar->maximum();
    QTRY_VERIFY(bar->maximum() > later);
    QCOMPARE(bar->value(), bar->maximum());
    QTest::keyClick(view_.get(), Qt::Key_Home);
    QVERIFY(jump->isVisible());
    view_->clear();
    QVERIFY(!jump->isVisible());
  }

  // Scrolling up brings messages into sight whose heights were only estimated: what is being read moves by
  // exactly what was scrolled.
  void correctedHeightsDoNotMoveWhatIsRead() {
    view_->set_messages(many(400));
    QScrollBar* bar = view_->verticalScrollBar();
    const unsigned start = fovea::tests::seed();
    std::mt19937 random(start);
    for (int i = 0; i < 200; ++i) {
      const int index = view_->conversation().message_at(bar->value() + view_->viewport()->height() / 2);
      const int y = view_->rect_of_message(index).top();
      const int step = 1 + static_cast<int>(random() % 90);
      const int before = bar->value();
      if (before - step <= 0) break;
      bar->setValue(before - step);
      QCOMPARE(view_->rect_of_message(index).top(), y + step);
    }
  }

  void theEndsAreReached() {
    view_->set_messages(many(300));
    QScrollBar* bar = view_->verticalScrollBar();
    QTest::keyClick(view_.get(), Qt::Key_Home);
    QCOMPARE(bar->value(), 0);
    QVERIFY(view_->rect_of_message(0).top() >= 0);
    QTest::keyClick(view_.get(), Qt::Key_End);
    QCOMPARE(bar->value(), bar->maximum());
    QVERIFY(view_->rect_of_message(299).bottom() <= view_->viewport()->height());
  }

  void anotherBranchKeepsTheReadersPlace() {
    std::vector<MessageView> messages = many(60);
    view_->set_messages(messages);
    view_->scroll_to_message(20);
    QTest::qWait(0);
    const int top = view_->rect_of_message(view_->conversation().index_of(20)).top();
    const long made = view_->layouts_made();
    messages.resize(40);
    messages.push_back(answer(1000, "another answer"));
    messages.push_back(answer(1001, "and another"));
    view_->set_messages(messages);
    QCOMPARE(view_->rect_of_message(view_->conversation().index_of(20)).top(), top);
    QCOMPARE(view_->layouts_made(), made);  // what is in sight was not laid out again
  }

  void selectAllCopiesEverything() {
    append(message(1, Author::user, QStringLiteral("question")));
    append(answer(2, "first **bold**\n\n- item\n- other"));
    view_->select_all();
    QCOMPARE(view_->selected_text(), QStringLiteral("question\n\nfirst bold\n\n• item\n• other"));
    QTest::keyClick(view_.get(), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), view_->selected_text());
    QTest::keyClick(view_.get(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QStringLiteral("question\n\nfirst **bold**\n\n- item\n- other"));
  }

  void aPartIsCopiedAsMarkdownToo() {
    append(answer(2, "one **two three** four\n\nfive `six`"));
    view_->select({0, 4}, {0, static_cast<int>(view_->plain_text(0).size())});
    QCOMPARE(view_->selected_text(), QStringLiteral("two three four\n\nfive six"));
    QCOMPARE(view_->selected_markdown(), QStringLiteral("**two three** four\n\nfive `six`"));
  }

  void draggingSelects() {
    append(answer(2, "alpha beta"));
    QWidget* area = view_->viewport();
    const QPoint from = view_->rect_of_text({0, 0}).center();
    const QPoint to = view_->rect_of_text({0, 10}).center();
    QTest::mousePress(area, Qt::LeftButton, {}, from);
    QTest::mouseMove(area, to + QPoint(40, 0));
    QTest::mouseRelease(area, Qt::LeftButton, {}, to + QPoint(40, 0));
    QCOMPARE(view_->selected_text(), QStringLiteral("alpha beta"));
    QTest::mouseDClick(area, Qt::LeftButton, {}, view_->rect_of_text({0, 7}).center());
    QCOMPARE(view_->selected_text(), QStringLiteral("beta"));
  }

  void theKeyboardSelects() {
    append(answer(1, "alpha beta"));
    append(answer(2, "gamma"));
    view_->select({0, 6}, {0, 6});
    QTest::keyClick(view_.get(), Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(view_.get(), Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(view_->selected_text(), QStringLiteral("be"));
    QTest::keyClick(view_.get(), Qt::Key_Left, Qt::ShiftModifier | Qt::ControlModifier);
    QTest::keyClick(view_.get(), Qt::Key_Left, Qt::ShiftModifier | Qt::ControlModifier);
    QCOMPARE(view_->selected_text(), QStringLiteral("alpha "));
    QTest::keyClick(view_.get(), Qt::Key_Down, Qt::ShiftModifier);
    QCOMPARE(view_->selection_end().message, 1);
    QTest::keyClick(view_.get(), Qt::Key_End, Qt::ShiftModifier);
    QCOMPARE(view_->selected_text(), QStringLiteral("beta\n\ngamma"));
  }

  void clickingALinkAsks() {
    QSignalSpy asked(view_.get(), &TranscriptView::linkActivated);
    append(answer(2, "[linklinklink](https://a.example/)"));
    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, view_->rect_of_text({0, 4}).center());
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked[0][0].toString(), QStringLiteral("https://a.example/"));
  }

  void codeIsCopiedByItsButton() {
    append(message(2, Author::assistant,
                   QStringLiteral("```\n") + QStringLiteral("line\n").repeated(100) + QStringLiteral("```")));
    QTest::keyClick(view_.get(), Qt::Key_Home);
    const std::vector<Control> controls = view_->controls_of(0);
    QVERIFY(!controls.empty());
    QVERIFY(controls[0].kind == Control::Kind::copy_code);
    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {},
                      controls[0].area.center().toPoint() + view_->rect_of_message(0).topLeft());
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("line\n").repeated(100).trimmed());
  }

  void factsAreShownOnDemand() {
    MessageView view = answer(7, "text");
    view.actions = MessageAction::copy | MessageAction::facts;
    view.facts = {{QStringLiteral("Seed"), QStringLiteral("42")},
                  {QStringLiteral("Energy"), QStringLiteral("8 J")}};
    append(view);
    append(answer(8, "another"));
    QSignalSpy actions(view_.get(), &TranscriptView::messageActionRequested);
    const auto press = [this] {
      for (const Control& control : view_->controls_of(0))
        if (control.kind == Control::Kind::action && control.action == MessageAction::facts)
          view_->activate(0, control);
    };
    const auto description = [this] {
      return QAccessible::queryAccessibleInterface(view_.get())->child(0)->text(QAccessible::Description);
    };
    const int height = view_->rect_of_message(0).height(), next = view_->rect_of_message(1).top();
    QVERIFY(!description().contains(QStringLiteral("42")));
    press();
    QVERIFY(view_->rect_of_message(0).height() > height);
    QVERIFY(view_->rect_of_message(1).top() > next);
    QVERIFY(description().contains(QStringLiteral("Seed: 42. Energy: 8 J")));
    press();
    QCOMPARE(view_->rect_of_message(0).height(), height);
    QCOMPARE(actions.count(), 0);
  }

  void actionsAndBranchesAreAsked() {
    MessageView view = answer(7, "text");
    view.actions = MessageAction::copy | MessageAction::regenerate | MessageAction::remove;
    view.sibling_index = 1;
    view.sibling_count = 3;
    append(view);
    QSignalSpy actions(view_.get(), &TranscriptView::messageActionRequested);
    QSignalSpy siblings(view_.get(), &TranscriptView::siblingRequested);
    for (const Control& control : view_->controls_of(0)) view_->activate(0, control);
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("text"));
    QCOMPARE(actions.count(), 2);
    QCOMPARE(actions[0][0].value<MessageId>(), 7);
    QCOMPARE(actions[0][1].value<MessageAction>(), MessageAction::regenerate);
    QCOMPARE(actions[1][1].value<MessageAction>(), MessageAction::remove);
    QCOMPARE(siblings.count(), 2);
    QCOMPARE(siblings[0][1].toInt(), -1);
    QCOMPARE(siblings[1][1].toInt(), 1);
    view.sibling_index = 2;  // the last one: there is no next
    view_->set_messages({view});
    for (const Control& control : view_->controls_of(0)) {
      if (control.kind == Control::Kind::next) view_->activate(0, control);
    }
    QCOMPARE(siblings.count(), 2);
  }

  void reasoningUnfoldsByMouseAndKeyboard() {
    MessageView view = answer(2, "<think>\nsecret thoughts\n</think>\n\nAnswer");
    view.reasoning_seconds = 12.3;
    append(view);
    QCOMPARE(view_->conversation().at(0).fold_label(0), QStringLiteral("Thought for 12 s"));
    QCOMPARE(view_->plain_text(0), QStringLiteral("Answer"));
    const int folded = view_->rect_of_message(0).height();
    const Control fold = view_->controls_of(0).at(0);
    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {},
                      fold.area.center().toPoint() + view_->rect_of_message(0).topLeft());
    QCOMPARE(view_->plain_text(0), QStringLiteral("secret thoughts\n\nAnswer"));
    QVERIFY(view_->rect_of_message(0).height() > folded);
    view_->setFocus();
    QTest::keyClick(view_.get(), Qt::Key_Up, Qt::ControlModifier);
    QTest::keyClick(view_.get(), Qt::Key_Tab);
    QTest::keyClick(view_.get(), Qt::Key_Space);
    QCOMPARE(view_->plain_text(0), QStringLiteral("Answer"));
    QCOMPARE(view_->rect_of_message(0).height(), folded);
  }

  void unfinishedReasoningSaysSo() {
    MessageView view = answer(2, "<think>\nhm");
    view.streaming = true;
    append(view);
    QCOMPARE(view_->conversation().at(0).fold_label(0), QStringLiteral("Thinking…"));
    view_->append_to(2, QStringLiteral("\n</think>\n\nDone"));
    QTRY_COMPARE(view_->plain_text(0), QStringLiteral("Done"));
    QCOMPARE(view_->conversation().at(0).fold_label(0), QStringLiteral("Thoughts"));
  }

  void aCallIsShownAsOne() {
    MessageView view = answer(2,
                              "I look.\n\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": "
                              "\"Rome\", \"days\": [1, 2]");
    view.streaming = true;
    append(view);
    QCOMPARE(view_->conversation().at(0).fold_label(1), QStringLiteral("Calling weather…"));
    QCOMPARE(view_->plain_text(0), QStringLiteral("I look."));
    view_->append_to(2, QStringLiteral("}}\n</tool_call>\nDone"));
    QTRY_COMPARE(view_->plain_text(0), QStringLiteral("I look.\n\nDone"));
    QCOMPARE(view_->conversation().at(0).fold_label(1), QStringLiteral("Call to weather"));
    const Control fold = view_->controls_of(0).at(0);
    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {},
                      fold.area.center().toPoint() + view_->rect_of_message(0).topLeft());
    QVERIFY2(view_->plain_text(0).contains(
                 QStringLiteral("{\n  \"city\": \"Rome\",\n  \"days\": [\n    1,\n    2\n  ]\n}")),
             qPrintable(view_->plain_text(0)));
  }

  // Another answer is read from its beginning: where that of the one before was, or at the top where that was
  // out of sight.
  void anotherBranchIsReadFromItsBeginning_data() {
    QTest::addColumn<int>("before");  // words of it
    QTest::addColumn<int>("after");
    QTest::newRow("short, long") << 20 << 3000;
    QTest::newRow("long, longer") << 3000 << 6000;
    QTest::newRow("long, short") << 3000 << 20;
  }
  void anotherBranchIsReadFromItsBeginning() {
    QFETCH(int, before);
    QFETCH(int, after);
    std::vector<MessageView> messages = many(9);
    MessageView first = message(100, Author::assistant, QStringLiteral("first ").repeated(before));
    first.sibling_count = 2;
    MessageView second = message(101, Author::assistant, QStringLiteral("second ").repeated(after));
    second.sibling_count = 2;
    second.sibling_index = 1;
    messages.push_back(first);
    view_->set_messages(messages);
    QScrollBar* bar = view_->verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());
    view_->setFocus();
    view_->focus_message(9);
    bar->setValue(bar->maximum());
    const int top = std::max(0, view_->rect_of_message(9).top());
    QSignalSpy asked(view_.get(), &TranscriptView::siblingRequested);
    QTest::keyClick(view_.get(), Qt::Key_Right);
    QCOMPARE(asked.count(), 1);
    messages.back() = second;
    view_->set_messages(messages);
    const QRect read = view_->rect_of_message(9);
    // At the end there may be less to read than was there.
    QVERIFY(std::abs(read.top() - top) <= 2 || (bar->value() == bar->maximum() && read.top() > top));
    QVERIFY(read.top() < view_->viewport()->height());
    QCOMPARE(view_->focused_message(), 9);  // the keys go on from here
    // The same place in another conversation is no branch of this one: that is shown from its end.
    for (MessageView& each : messages) each.id += 1000;
    messages.back().sibling_index = 0;
    view_->set_messages(messages);
    QCOMPARE(bar->value(), bar->maximum());
  }

  void theKeyboardGoesThroughMessagesAndTheirButtons() {
    MessageView view = answer(2, "[a](https://a.example) ```x```");
    view.sibling_count = 2;
    append(message(1, Author::user, QStringLiteral("q")));
    append(view);
    QSignalSpy asked(view_.get(), &TranscriptView::linkActivated);
    QSignalSpy siblings(view_.get(), &TranscriptView::siblingRequested);
    view_->setFocus();
    QTest::keyClick(view_.get(), Qt::Key_Down, Qt::ControlModifier);
    QTest::keyClick(view_.get(), Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(view_->focused_message(), 1);
    QTest::keyClick(view_.get(), Qt::Key_Right);
    QCOMPARE(siblings.count(), 1);
    QTest::keyClick(view_.get(), Qt::Key_Tab);
    QTest::keyClick(view_.get(), Qt::Key_Return);
    QCOMPARE(asked.count(), 1);
    QTest::keyClick(view_.get(), Qt::Key_Escape);
    QTest::keyClick(view_.get(), Qt::Key_Escape);
    QCOMPARE(view_->focused_message(), -1);
  }

  void tabLeavesInTheEnd() {
    QWidget window;
    auto* view = new TranscriptView(&window);
    auto* after = new QLineEdit(&window);
    view->resize(500, 300);
    window.resize(500, 340);
    QWidget::setTabOrder(view, after);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    view->set_messages({answer(1, "[a](https://a.example)")});
    after->setFocus();
    view->setFocus(Qt::TabFocusReason);
    int presses = 0;
    while (!after->hasFocus() && presses < 10) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
      ++presses;
    }
    QVERIFY(after->hasFocus());
    QVERIFY2(presses >= 3, qPrintable(QString::number(presses)));  // link, copy, out
  }

  void searchFindsAndShows() {
    std::vector<MessageView> messages = many(300);
    messages[10].text = QStringLiteral("the Needle is here");
    messages[250].text = QStringLiteral("and a **nee**dle there");
    messages[250].author = Author::assistant;
    messages[251].text = QStringLiteral("no needle for the user: needle");
    messages[251].author = Author::user;
    view_->set_messages(messages);
    QTest::keyClick(view_.get(), Qt::Key_Home);
    view_->setFocus();
    QTest::keyClick(view_.get(), Qt::Key_F, Qt::ControlModifier);
    auto* bar = view_->findChild<FindBar*>();
    QVERIFY(bar && bar->isVisible());
    auto* input = bar->findChild<QLineEdit*>();
    QTest::keyClicks(input, QStringLiteral("needle"));
    QTest::keyClick(input, Qt::Key_Return);
    const auto visible = [this](int index) {
      return view_->viewport()->rect().intersects(view_->rect_of_message(index));
    };
    QVERIFY(visible(10));
    QTest::keyClick(input, Qt::Key_Return);
    QVERIFY(visible(250));
    QTest::keyClick(input, Qt::Key_Return);
    QTest::keyClick(input, Qt::Key_Return);
    QVERIFY(visible(251));
    QTest::keyClick(input, Qt::Key_Return);
    QVERIFY(visible(10));
    QTest::keyClick(input, Qt::Key_Return, Qt::ShiftModifier);
    QVERIFY(visible(251));
    const QImage with = view_->grab().toImage();
    QTest::keyClick(input, Qt::Key_Escape);
    QVERIFY(!bar->isVisible());
    QVERIFY(view_->hasFocus() || !view_->isActiveWindow());
    QVERIFY(view_->grab().toImage() != with);
  }

  void notesAndChangesAreShown() {
    MessageView view = answer(2, "text");
    append(view);
    const int before = view_->rect_of_message(0).height();
    view.note = QStringLiteral("Stopped");
    view_->set_messages({view});
    QVERIFY(view_->rect_of_message(0).height() > before);
    view.text = QStringLiteral("another text");
    view_->set_messages({view});
    QCOMPARE(view_->plain_text(0), QStringLiteral("another text"));
  }

  // While it is written and when it ends.
  void anAnswerThatGoesOnKeepsTheSelection() {
    append(message(1, Author::user, QStringLiteral("question")));
    MessageView view = answer(2, "One two");
    view.streaming = true;
    append(view);
    view_->select({0, 2}, {1, 3});
    view_->append_to(2, QStringLiteral(" three"));
    view.text += QStringLiteral(" three four");
    view.streaming = false;
    view.note = QStringLiteral("Stopped");
    view_->set_messages({message(1, Author::user, QStringLiteral("question")), view});
    QCOMPARE(view_->plain_text(1), QStringLiteral("One two three four"));
    QCOMPARE(view_->selected_text(), QStringLiteral("estion\n\nOne"));
    view.text = QStringLiteral("Another");
    view_->set_messages({message(1, Author::user, QStringLiteral("question")), view});
    QVERIFY(!view_->has_selection());
  }

  void clearingForgetsTheSelection() {
    append(message(1, Author::user, QStringLiteral("x")));
    view_->select_all();
    view_->clear();
    QCOMPARE(view_->selected_text(), QString());
    QCOMPARE(view_->message_count(), 0);
  }

  void palettesAndFontsAreFollowed() {
    append(answer(2, "some text\n\n```cpp\nint x;\n```"));
    const QImage light = view_->grab().toImage();
    QPalette dark;
    dark.setColor(QPalette::Base, QColor(0x21, 0x24, 0x27));
    dark.setColor(QPalette::Text, Qt::white);
    view_->setPalette(dark);
    QVERIFY(view_->grab().toImage() != light);
    const int before = view_->rect_of_message(0).height();
    QFont font = view_->font();
    font.setPointSizeF(font.pointSizeF() * 2);
    view_->setFont(font);
    QVERIFY(view_->rect_of_message(0).height() > 3 * before / 2);
  }

  void narrowAndWideWindowsBothWork() {
    append(message(2, Author::assistant,
                   QStringLiteral("| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n") +
                       QStringLiteral("wide ").repeated(200) + QStringLiteral("\n```")));
    append(message(3, Author::user, QStringLiteral("short")));
    for (const int width : {60, 200, 2000}) {
      view_->resize(width, 300);
      QVERIFY(!view_->grab().isNull());
    }
  }

 private:
  // Below what is shown.
  void append(const MessageView& added) {
    std::vector<MessageView> messages;
    for (int i = 0; i < view_->message_count(); ++i) messages.push_back(view_->conversation().at(i).view());
    messages.push_back(added);
    view_->set_messages(std::move(messages));
  }

  std::unique_ptr<TranscriptView> view_;
};
FOVEA_TEST(TranscriptViewTest)

#include "transcript_view_test.moc"
