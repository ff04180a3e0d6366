// The transcript as a screen reader finds it.
#include <QAccessible>
#include <algorithm>

#include "tests/support/test.h"
#include "ui/chat/screen_reader.h"
#include "ui/chat/transcript_view.h"

using namespace fovea::ui;

namespace {

// What a screen reader is told.
struct Told {
  QAccessible::Event type;
  QString text;
  int position = 0;
};
std::vector<Told> told;

void listen(QAccessibleEvent& event) {
  Told one{event.type(), {}, 0};
  if (event.type() == QAccessible::TextInserted) {
    const auto& insert = static_cast<QAccessibleTextInsertEvent&>(event);
    one.text = insert.textInserted();
    one.position = insert.changePosition();
  }
  told.push_back(one);
}

QStringList inserted() {
  QStringList texts;
  for (const Told& one : told) {
    if (one.type == QAccessible::TextInserted) texts += one.text;
  }
  return texts;
}

}  // namespace

class TranscriptAccessibleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    told.clear();
    set_screen_reader_listener(listen);
    view_ = std::make_unique<TranscriptView>();
    view_->resize(600, 400);
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    question_ = {};
    question_.id = 11;
    question_.text = QStringLiteral("Why?");
    MessageView answer;
    answer.id = 12;
    answer.author = Author::assistant;
    answer.author_name = QStringLiteral("Demo");
    answer.text = QStringLiteral("Because of [this](https://a.example).");
    answer.note = QStringLiteral("Stopped");
    answer.sibling_index = 1;
    answer.sibling_count = 3;
    answer.actions = MessageAction::copy | MessageAction::regenerate;
    view_->set_messages({question_, answer});
    root_ = QAccessible::queryAccessibleInterface(view_.get());
    QVERIFY(root_);
  }
  void cleanup() {
    set_screen_reader_listener(nullptr);
    view_.reset();
  }

  void theViewIsOneText() {
    QCOMPARE(root_->role(), QAccessible::Document);
    QCOMPARE(root_->text(QAccessible::Name), QStringLiteral("Conversation"));
    QAccessibleTextInterface* text = root_->textInterface();
    QVERIFY(text);
    const QString all = QStringLiteral("Why?\nBecause of this.\n");
    QCOMPARE(text->characterCount(), static_cast<int>(all.size()));
    QCOMPARE(text->text(0, text->characterCount()), all);
    for (int i = 0; i < all.size(); ++i) QCOMPARE(text->text(i, i + 1), QString(all[i]));
    QCOMPARE(text->text(2, 9), all.mid(2, 7));
    text->setSelection(0, 5, 12);
    QCOMPARE(view_->selected_text(), QStringLiteral("Because"));
    int start = 0;
    int end = 0;
    text->selection(0, &start, &end);
    QCOMPARE(start, 5);
    QCOMPARE(end, 12);
    QCOMPARE(text->offsetAtPoint(text->characterRect(6).center()), 6);
    int begin_of_word = 0;
    int end_of_word = 0;
    QCOMPARE(text->textAtOffset(6, QAccessible::WordBoundary, &begin_of_word, &end_of_word),
             QStringLiteral("Because"));
  }

  void eachMessageIsASection() {
    QCOMPARE(root_->childCount(), 2);
    QAccessibleInterface* question = root_->child(0);
    QAccessibleInterface* answer = root_->child(1);
    QVERIFY(question && answer && question->isValid());
    QCOMPARE(question->role(), QAccessible::Section);
    QCOMPARE(question->text(QAccessible::Name), QStringLiteral("You"));
    QCOMPARE(answer->text(QAccessible::Name), QStringLiteral("Demo, version 2 of 3"));
    QCOMPARE(answer->text(QAccessible::Description), QStringLiteral("Stopped"));
    QCOMPARE(answer->text(QAccessible::Value), QStringLiteral("Because of this."));
    QCOMPARE(answer->parent(), root_);
    QCOMPARE(root_->indexOfChild(answer), 1);
    QCOMPARE(root_->child(1), answer);  // the same object when asked again
    const QRect rect = answer->rect();
    QCOMPARE(root_->childAt(rect.center().x(), rect.center().y()), answer);
    QAccessibleTextInterface* text = answer->textInterface();
    QVERIFY(text);
    QCOMPARE(text->text(0, 7), QStringLiteral("Because"));
    QVERIFY(answer->rect().contains(text->characterRect(3)));
    QCOMPARE(text->offsetAtPoint(text->characterRect(3).center()), 3);
  }

  void controlsArePressedThroughTheirInterfaces() {
    QAccessibleInterface* answer = root_->child(1);
    QSignalSpy links(view_.get(), &TranscriptView::linkActivated);
    QSignalSpy actions(view_.get(), &TranscriptView::messageActionRequested);
    QSignalSpy siblings(view_.get(), &TranscriptView::siblingRequested);
    QStringList names;
    for (int i = 0; i < answer->childCount(); ++i) {
      QAccessibleInterface* control = answer->child(i);
      QCOMPARE(control->parent(), answer);
      QCOMPARE(answer->indexOfChild(control), i);
      names += control->text(QAccessible::Name);
      QVERIFY(control->role() == QAccessible::Link || control->role() == QAccessible::Button);
      QVERIFY(control->actionInterface());
      control->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
    }
    QCOMPARE(names, (QStringList{QStringLiteral("this"), QStringLiteral("Previous version (2 of 3)"),
                                 QStringLiteral("Next version (2 of 3)"), QStringLiteral("Copy message"),
                                 QStringLiteral("Answer again")}));
    QCOMPARE(answer->child(0)->text(QAccessible::Description), QStringLiteral("https://a.example"));
    QCOMPARE(links.count(), 1);
    QCOMPARE(siblings.count(), 2);
    QCOMPARE(actions.count(), 1);
  }

  void aMessageThatIsGoneIsInvalid() {
    QAccessibleInterface* answer = root_->child(1);
    view_->set_messages({question_});
    QVERIFY(!answer->isValid());
    QCOMPARE(root_->childCount(), 1);
    QCOMPARE(answer->childCount(), 0);
    QVERIFY(answer->rect().isNull());
  }

  // Sentence by sentence, not token by token, and the rest when it ends.
  void newTextIsToldPolitely() {
    MessageView stream;
    stream.id = 13;
    stream.author = Author::assistant;
    stream.streaming = true;
    view_->set_messages({question_, stream});
    told.clear();
    view_->append_to(13, QStringLiteral("One **sen"));
    QTRY_COMPARE(view_->plain_text(1), QStringLiteral("One **sen"));
    QTest::qWait(80);
    QCOMPARE(inserted(), QStringList());
    view_->append_to(13, QStringLiteral("tence**. And ano"));
    QTRY_COMPARE(inserted(), QStringList{QStringLiteral("One sentence.")});
    MessageView done = *view_->message(13);
    done.text += QStringLiteral("ther");
    done.streaming = false;
    view_->set_messages({question_, done});
    QCOMPARE(inserted(), (QStringList{QStringLiteral("One sentence."), QStringLiteral(" And another")}));
    // Positions are in the whole conversation's text.
    QAccessibleTextInterface* text = root_->textInterface();
    for (const Told& one : told) {
      if (one.type != QAccessible::TextInserted) continue;
      QCOMPARE(text->text(one.position, one.position + static_cast<int>(one.text.size())), one.text);
    }
  }

  // It came and ended before any of it was laid out.
  void aShortAnswerIsTold() {
    MessageView view;
    view.id = 13;
    view.author = Author::assistant;
    view.streaming = true;
    view_->set_messages({question_, view});
    told.clear();
    view_->append_to(13, QStringLiteral("Yes"));
    view.text = QStringLiteral("Yes");
    view.streaming = false;
    view_->set_messages({question_, view});
    QCOMPARE(inserted(), QStringList{QStringLiteral("Yes")});
    view_->set_messages({question_, view});
    QCOMPARE(inserted().size(), 1);
  }

  void focusIsTold() {
    view_->setFocus();
    told.clear();
    view_->focus_message(1);
    QVERIFY(std::ranges::any_of(told, [](const Told& one) { return one.type == QAccessible::Focus; }));
  }

  // Nobody listens: nothing is worked out for anybody.
  void withoutAListenerNothingIsTold() {
    set_screen_reader_listener(nullptr);
    told.clear();
    view_->setFocus();
    view_->focus_message(1);
    QVERIFY(told.empty());
  }

 private:
  std::unique_ptr<TranscriptView> view_;
  QAccessibleInterface* root_ = nullptr;
  MessageView question_;
};
FOVEA_TEST(TranscriptAccessibleTest)

#include "transcript_accessible_test.moc"
