#include "ui/chat/sidebar.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/support/test.h"
#include "ui/chat/conversation_list.h"

using namespace fovea::ui;

namespace {

ConversationItem item(qint64 id, const char* title, int days_ago, bool pinned = false) {
  return {id, QString::fromUtf8(title), QDateTime::currentDateTime().addDays(-days_ago), pinned};
}

}  // namespace

class SidebarTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    sidebar_ = std::make_unique<Sidebar>();
    sidebar_->resize(260, 600);
    sidebar_->show();
    list_ = sidebar_->findChild<QListView*>(QStringLiteral("conversations"));
    field_ = sidebar_->findChild<QLineEdit*>(QStringLiteral("search"));
    QVERIFY(list_ && field_);
    new QAbstractItemModelTester(list_->model(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                 list_);
  }

  void conversationsStandUnderHeadings() {
    sidebar_->set_conversations(
        {item(1, "Kept", 40, true), item(2, "New", 0), item(3, "Old", 1), item(4, "Older", 3)}, false);
    QStringList rows;
    for (int row = 0; row < list_->model()->rowCount(); ++row)
      rows += list_->model()->index(row, 0).data().toString();
    QCOMPARE(rows, QStringList({QStringLiteral("Pinned"), QStringLiteral("Kept"), QStringLiteral("Today"),
                                QStringLiteral("New"), QStringLiteral("Yesterday"), QStringLiteral("Old"),
                                QStringLiteral("Last seven days"), QStringLiteral("Older")}));
    QVERIFY(!(list_->model()->index(0, 0).flags() & Qt::ItemIsSelectable));
  }

  void theKeyboardOpensAndDeletes() {
    sidebar_->set_conversations({item(1, "One", 0), item(2, "Two", 0)}, false);
    QSignalSpy opened(sidebar_.get(), &Sidebar::conversationRequested);
    QSignalSpy deleted(sidebar_.get(), &Sidebar::deleteRequested);
    list_->setFocus();
    list_->setCurrentIndex(list_->model()->index(1, 0));
    QTest::keyClick(list_, Qt::Key_Down);
    QTest::keyClick(list_, Qt::Key_Return);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toLongLong(), 2);
    QTest::keyClick(list_, Qt::Key_Delete);
    QCOMPARE(deleted[0][0].toLongLong(), 2);
  }

  void renamingTellsTheNewTitle() {
    sidebar_->set_conversations({item(7, "Before", 0)}, false);
    QSignalSpy renamed(sidebar_.get(), &Sidebar::renameRequested);
    sidebar_->rename(7);
    auto* editor = list_->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->setText(QStringLiteral("  After  it "));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(renamed.count(), 1);  // the editor is done with it a moment later
    QCOMPARE(renamed[0][0].toLongLong(), 7);
    QCOMPARE(renamed[0][1].toString(), QStringLiteral("After it"));
  }

  void searchingShowsWhatIsFoundAndGoesBack() {
    sidebar_->set_conversations({item(1, "One", 0)}, false);
    QSignalSpy searched(sidebar_.get(), &Sidebar::searchRequested);
    QSignalSpy opened(sidebar_.get(), &Sidebar::conversationRequested);
    QTest::keyClicks(field_, QStringLiteral("sea"));
    QCOMPARE(searched.count(), 3);
    sidebar_->set_results({{.conversation = 9,
                            .message = 12,
                            .title = QStringLiteral("Found"),
                            .title_matches = {},
                            .snippet = QStringLiteral("by the sea"),
                            .snippet_matches = {{7, 3}}}});
    QCOMPARE(list_->model()->rowCount(), 1);
    sidebar_->set_conversations({item(2, "Two", 0)}, false);  // one was deleted meanwhile
    QCOMPARE(searched.count(), 4);
    QCOMPARE(list_->model()->rowCount(), 1);
    QTest::keyClick(field_, Qt::Key_Return);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toLongLong(), 9);
    QCOMPARE(opened[0][1].toLongLong(), 12);
    QCOMPARE(opened[0][2].toStringList(), QStringList(QStringLiteral("sea")));
    QTest::keyClick(field_, Qt::Key_Escape);
    QCOMPARE(field_->text(), QString());
    QCOMPARE(list_->model()->rowCount(), 2);  // heading and conversation
  }

  // At every width that has room for it, in any font; and what is marked is still that word.
  void theWordThatWasFoundIsInSight() {
    const QString line = QStringLiteral("…there are many words before the hippopotamus and some behind it");
    const QString word = QStringLiteral("hippopotamus");
    const auto at = static_cast<int>(line.indexOf(word));
    const QFontMetrics metrics{QFont()};
    const QString dots = QStringLiteral("…");
    bool is_cut = false, is_whole = false;
    for (int width = metrics.horizontalAdvance(dots + word) + metrics.horizontalAdvance(dots) + 1;
         width < metrics.horizontalAdvance(line) + 20; width += 3) {
      QVariantList matches{QPoint(at, static_cast<int>(word.size()))};
      const QString text = begun_in_sight(line, matches, metrics, width);
      const QPoint match = matches[0].toPoint();
      QCOMPARE(text.mid(match.x(), match.y()), word);
      const QString seen = metrics.elidedText(text, Qt::ElideRight, width);
      QVERIFY2(seen.contains(word), qPrintable(seen));
      (text == line ? is_whole : is_cut) = true;
    }
    QVERIFY(is_cut && is_whole);
  }

  // Also when the conversation that is open was found.
  void enterOpensWhatWasFoundBest() {
    sidebar_->set_conversations({item(1, "One", 0), item(2, "Two", 0)}, false);
    sidebar_->set_current(2);
    field_->setText(QStringLiteral("o"));
    SearchItem best, open;
    best.conversation = 1;
    open.conversation = 2;
    sidebar_->set_results({best, open});
    QSignalSpy opened(sidebar_.get(), &Sidebar::conversationRequested);
    QTest::keyClick(field_, Qt::Key_Return);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toLongLong(), 1);
  }

  void whatWasNotFoundCanBeRenamed() {
    sidebar_->set_conversations({item(7, "Before", 0)}, false);
    field_->setText(QStringLiteral("xylophone"));
    sidebar_->set_results({});
    sidebar_->rename(7);
    QVERIFY(list_->findChild<QLineEdit*>());
  }

  // An answer that ends brings a new list: Delete must not meet another conversation.
  void theListStaysWhereTheKeysLed() {
    sidebar_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(sidebar_.get()));
    const auto list = [this](std::vector<ConversationItem> items) {
      sidebar_->set_conversations(items, false);
    };
    const auto at = [this] { return list_->currentIndex().data(ConversationListModel::IdRole).toLongLong(); };
    list({item(1, "One", 0), item(2, "Two", 0), item(3, "Three", 0), item(4, "Four", 0)});
    sidebar_->set_current(1);
    list_->setFocus();
    QTest::keyClick(list_, Qt::Key_Down);
    QCOMPARE(at(), 2);
    list({item(4, "Four", 0), item(1, "One", 0), item(2, "Two", 0), item(3, "Three", 0)});
    QCOMPARE(at(), 2);
    list({item(4, "Four", 0), item(1, "One", 0), item(3, "Three", 0)});  // it was deleted
    QCOMPARE(at(), 3);
    list({item(4, "Four", 0), item(1, "One", 0)});
    QCOMPARE(at(), 1);
  }

  void deletingOffersUndo() {
    QSignalSpy undone(sidebar_.get(), &Sidebar::undoDeleteRequested);
    sidebar_->show_deleted(5, QStringLiteral("A title"));
    auto* undo = sidebar_->findChild<QToolButton*>(QStringLiteral("undoDelete"));
    QVERIFY(undo->isVisible());
    undo->click();
    QCOMPARE(undone[0][0].toLongLong(), 5);
    QVERIFY(!undo->isVisible());
  }

  // One after the other, the last one first; by the keyboard, too.
  void severalDeletesAreUndone() {
    sidebar_->set_conversations({item(1, "One", 0)}, false);
    QSignalSpy undone(sidebar_.get(), &Sidebar::undoDeleteRequested);
    sidebar_->show_deleted(5, QStringLiteral("First"));
    sidebar_->show_deleted(6, QStringLiteral("Second"));
    auto* undo = sidebar_->findChild<QToolButton*>(QStringLiteral("undoDelete"));
    undo->click();
    QVERIFY(undo->isVisible());
    QTest::keyClick(list_, Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!undo->isVisible());
    QTest::keyClick(list_, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(undone.count(), 2);
    QCOMPARE(undone[0][0].toLongLong(), 6);
    QCOMPARE(undone[1][0].toLongLong(), 5);
  }

  // An answer that ends meanwhile brings a new list.
  void aTitleThatIsTypedIsNotThrownAway() {
    sidebar_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(sidebar_.get()));
    sidebar_->set_conversations({item(7, "Before", 0)}, false);
    QSignalSpy renamed(sidebar_.get(), &Sidebar::renameRequested);
    sidebar_->rename(7);
    auto* editor = list_->findChild<QLineEdit*>();
    QVERIFY(editor);
    editor->setText(QStringLiteral("After"));
    sidebar_->set_conversations({item(8, "Another", 0), item(7, "Before", 0)}, false);
    QCOMPARE(list_->findChild<QLineEdit*>(), editor);
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(renamed.count(), 1);
    QCOMPARE(renamed[0][1].toString(), QStringLiteral("After"));
    QTRY_COMPARE(list_->model()->rowCount(), 3);  // the new list, with its heading
  }

  void theEndAsksForMore() {
    std::vector<ConversationItem> items;
    for (int i = 1; i <= 100; ++i) items.push_back(item(i, "A conversation", 0));
    QSignalSpy more(sidebar_.get(), &Sidebar::moreRequested);
    sidebar_->set_conversations(items, true);
    QCOMPARE(more.count(), 0);
    list_->scrollToBottom();
    QVERIFY(more.count() >= 1);
  }

 private:
  std::unique_ptr<Sidebar> sidebar_;
  QListView* list_ = nullptr;
  QLineEdit* field_ = nullptr;
};
FOVEA_TEST(SidebarTest)

#include "sidebar_test.moc"
