// Folders in the sidebar: rows that open and close, what is moved by menu, keys and pointer.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSignalSpy>
#include <QTimer>

#include "tests/support/test.h"
#include "ui/chat/conversation_list.h"
#include "ui/chat/conversation_list_view.h"
#include "ui/chat/folder_row.h"
#include "ui/chat/sidebar.h"

using namespace fovea::ui;

namespace {

ConversationItem item(qint64 id, const char* title, qint64 folder = 0) {
  return {id, QString::fromUtf8(title), QDateTime::currentDateTime(), false, folder};
}

FolderItem folder(qint64 id, const char* name, bool collapsed = false) {
  return {id, QString::fromUtf8(name), collapsed};
}

}  // namespace

class SidebarFoldersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    sidebar_ = std::make_unique<Sidebar>();
    sidebar_->resize(260, 600);
    sidebar_->show();
    sidebar_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(sidebar_.get()));
    list_ = sidebar_->findChild<ConversationListView*>(QStringLiteral("conversations"));
    QVERIFY(list_);
    new QAbstractItemModelTester(list_->model(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                 list_);
    sidebar_->set_conversations({item(1, "Loose"), item(2, "Report", 7), item(3, "Plan", 7)}, false,
                                {folder(7, "Work"), folder(8, "Home", true)});
  }

  void whatIsInAFolderStandsUnderIt() {
    QCOMPARE(rows(), QStringList({QStringLiteral("Folders"), QStringLiteral("Work"), QStringLiteral("Report"),
                                  QStringLiteral("Plan"), QStringLiteral("Home"), QStringLiteral("Today"),
                                  QStringLiteral("Loose")}));
    QVERIFY(said(1).startsWith(QStringLiteral("Folder Work, 2 conversation")));
    QVERIFY(said(1).endsWith(QStringLiteral(", open")));
    QCOMPARE(said(2).trimmed(), QStringLiteral("Report, in the folder Work"));
    QVERIFY(said(4).startsWith(QStringLiteral("Folder Home, 0 conversation")));
    QVERIFY(said(4).endsWith(QStringLiteral(", closed")));
  }

  // A conversation of a folder that another window has made is not lost.
  void anUnknownFolderHidesNothing() {
    sidebar_->set_conversations({item(1, "Loose"), item(2, "Elsewhere", 99)}, false, {folder(7, "Work")});
    QVERIFY(rows().contains(QStringLiteral("Elsewhere")));
  }

  void aPressOpensAndCloses() {
    QSignalSpy told(sidebar_.get(), &Sidebar::folderCollapsed);
    QSignalSpy opened(sidebar_.get(), &Sidebar::conversationRequested);
    QTest::mouseClick(list_->viewport(), Qt::LeftButton, {}, middle(1));
    QCOMPARE(rows().size(), 5);
    QCOMPARE(told.count(), 1);
    QCOMPARE(told[0], QVariantList({qint64{7}, true}));
    QTest::mouseClick(list_->viewport(), Qt::LeftButton, {}, middle(1));
    QCOMPARE(rows().size(), 7);
    QCOMPARE(told[1], QVariantList({qint64{7}, false}));
    QCOMPARE(opened.count(), 0);
  }

  void theKeyboardOpensMovesAndLeaves() {
    QSignalSpy collapsed(sidebar_.get(), &Sidebar::folderCollapsed);
    QSignalSpy placed(sidebar_.get(), &Sidebar::folderPlaceRequested);
    QSignalSpy deleted(sidebar_.get(), &Sidebar::folderDeleteRequested);
    QSignalSpy conversations(sidebar_.get(), &Sidebar::deleteRequested);
    go_to(2);
    QTest::keyClick(list_, Qt::Key_Left);  // from a conversation to its folder
    QCOMPARE(list_->currentIndex().row(), 1);
    QTest::keyClick(list_, Qt::Key_Left);
    QCOMPARE(rows().size(), 5);
    QCOMPARE(list_->currentIndex().data().toString(), QStringLiteral("Work"));
    QTest::keyClick(list_, Qt::Key_Right);
    QTest::keyClick(list_, Qt::Key_Space);
    QTest::keyClick(list_, Qt::Key_Return);
    QCOMPARE(rows().size(), 7);
    QCOMPARE(collapsed.count(), 4);
    QTest::keyClick(list_, Qt::Key_Up, Qt::ControlModifier);  // it is the first
    QCOMPARE(placed.count(), 0);
    QTest::keyClick(list_, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(placed.count(), 1);
    QCOMPARE(placed[0], QVariantList({qint64{7}, 1}));
    go_to(4);
    QTest::keyClick(list_, Qt::Key_Delete);  // an empty one goes at once
    QCOMPARE(deleted.count(), 1);
    QCOMPARE(deleted[0][0].toLongLong(), 8);
    QCOMPARE(conversations.count(), 0);
  }

  void deletingSaysThatConversationsStay() {
    QSignalSpy deleted(sidebar_.get(), &Sidebar::folderDeleteRequested);
    go_to(1);
    QTest::keyClick(list_, Qt::Key_Delete);
    auto* question = sidebar_->findChild<QMessageBox*>(QStringLiteral("deleteFolder"));
    QVERIFY(question);
    QVERIFY(question->text().contains(QStringLiteral("Work")));
    QVERIFY(question->informativeText().startsWith(QStringLiteral("2 conversation")));
    QVERIFY(question->informativeText().endsWith(QStringLiteral("are kept, in no folder.")));
    QTest::keyClick(question, Qt::Key_Escape);
    QCOMPARE(deleted.count(), 0);
    QTRY_VERIFY(!sidebar_->findChild<QMessageBox*>(QStringLiteral("deleteFolder")));
    QTest::keyClick(list_, Qt::Key_Delete);
    sidebar_->findChild<QMessageBox*>(QStringLiteral("deleteFolder"))->accept();
    QTRY_COMPARE(deleted.count(), 1);
    QCOMPARE(deleted[0][0].toLongLong(), 7);
  }

  void aNameIsTypedInPlace() {
    QSignalSpy renamed(sidebar_.get(), &Sidebar::folderRenameRequested);
    QSignalSpy conversations(sidebar_.get(), &Sidebar::renameRequested);
    QSignalSpy collapsed(sidebar_.get(), &Sidebar::folderCollapsed);
    sidebar_->rename_folder(8);
    auto* editor = list_->findChild<QLineEdit*>();
    QVERIFY(editor);
    QCOMPARE(editor->accessibleName(), QStringLiteral("Name of the folder"));
    editor->setText(QStringLiteral(" House "));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(renamed.count(), 1);
    QCOMPARE(renamed[0], QVariantList({qint64{8}, QStringLiteral("House")}));
    QCOMPARE(collapsed.count(), 0);  // the key was the editor's alone
    QCOMPARE(conversations.count(), 0);
  }

  // Its row is not there until its folder is open.
  void aHiddenConversationCanBeRenamed() {
    go_to(1);
    QTest::keyClick(list_, Qt::Key_Left);
    sidebar_->rename(3);
    const auto* editor = list_->findChild<QLineEdit*>();
    QVERIFY(editor);
    QCOMPARE(editor->text(), QStringLiteral("Plan"));
  }

  void theMenuMovesAConversation() {
    QSignalSpy moved(sidebar_.get(), &Sidebar::moveRequested);
    QSignalSpy made(sidebar_.get(), &Sidebar::newFolderRequested);
    QMenu menu;
    sidebar_->fill_move_menu(menu, 2);
    QStringList texts;
    for (const QAction* action : menu.actions()) texts += action->text();
    QCOMPARE(texts, QStringList({QStringLiteral("Work"), QStringLiteral("Home"), QString(),
                                 QStringLiteral("No folder"), QStringLiteral("New folder")}));
    QVERIFY(menu.actions()[0]->isChecked() && !menu.actions()[1]->isChecked());
    menu.actions()[1]->trigger();
    menu.actions()[3]->trigger();
    menu.actions()[4]->trigger();
    QCOMPARE(moved.count(), 2);
    QCOMPARE(moved[0], QVariantList({qint64{2}, qint64{8}}));
    QCOMPARE(moved[1], QVariantList({qint64{2}, qint64{0}}));
    QCOMPARE(made[0][0].toLongLong(), 2);
  }

  void theMenuOfAFolder() {
    QSignalSpy chats(sidebar_.get(), &Sidebar::newChatInRequested);
    QSignalSpy placed(sidebar_.get(), &Sidebar::folderPlaceRequested);
    QSignalSpy settings(sidebar_.get(), &Sidebar::folderSettingsRequested);
    choose(4, QStringLiteral("New chat in this folder"));
    choose(4, QStringLiteral("Move up"));
    choose(4, QStringLiteral("Move down"));  // it is the last: cannot be chosen
    choose(1, QStringLiteral("What new chats start with…"));
    QCOMPARE(chats.value(0), QVariantList({qint64{8}}));
    QCOMPARE(placed.count(), 1);
    QCOMPARE(placed[0], QVariantList({qint64{8}, 0}));
    QCOMPARE(settings.value(0), QVariantList({qint64{7}}));
  }

  void thePlusBeginsAChatInIt() {
    QSignalSpy chats(sidebar_.get(), &Sidebar::newChatInRequested);
    QSignalSpy collapsed(sidebar_.get(), &Sidebar::folderCollapsed);
    const QPoint plus = folder_plus(list_->visualRect(index(1))).center();
    QTest::mouseClick(list_->viewport(), Qt::LeftButton, {}, plus);
    QCOMPARE(chats.value(0), QVariantList({qint64{7}}));
    QCOMPARE(collapsed.count(), 0);
    sidebar_->set_current(0, 7);
    QCOMPARE(list_->currentIndex().row(), 1);
  }

  // Where it is seen that the conversation that is open lies in a closed folder.
  void aClosedFolderStandsForWhatIsOpenInIt() {
    sidebar_->set_current(3);
    QCOMPARE(list_->currentIndex().data().toString(), QStringLiteral("Plan"));
    QTest::mouseClick(list_->viewport(), Qt::LeftButton, {}, middle(1));
    sidebar_->setFocus();
    sidebar_->set_current(3);
    QCOMPARE(list_->currentIndex().data().toString(), QStringLiteral("Work"));
  }

  void draggedRowsSayWhatTheyAre() {
    const std::unique_ptr<QMimeData> conversation(list_->model()->mimeData({index(2)}));
    const std::unique_ptr<QMimeData> whole(list_->model()->mimeData({index(1)}));
    QCOMPARE(conversation->data(ConversationListModel::conversation_type()), QByteArray("2"));
    QVERIFY(!conversation->hasText());  // nothing for the composer
    QCOMPARE(whole->data(ConversationListModel::folder_type()), QByteArray("7"));
    QVERIFY(index(2).flags() & Qt::ItemIsDragEnabled);
    QVERIFY(!(index(0).flags() & Qt::ItemIsDragEnabled));
  }

  void whatIsDroppedGoesThere_data() {
    QTest::addColumn<int>("row");
    QTest::addColumn<int>("onto");
    QTest::addColumn<QVariantList>("moved");
    QTest::addColumn<QVariantList>("placed");
    const QVariantList nothing;
    QTest::newRow("into a folder") << 6 << 1 << QVariantList{qint64{1}, qint64{7}} << nothing;
    QTest::newRow("beside another one in it") << 6 << 3 << QVariantList{qint64{1}, qint64{7}} << nothing;
    QTest::newRow("into another folder") << 2 << 4 << QVariantList{qint64{2}, qint64{8}} << nothing;
    QTest::newRow("out of it") << 2 << 6 << QVariantList{qint64{2}, qint64{0}} << nothing;
    QTest::newRow("where it is") << 2 << 1 << nothing << nothing;
    QTest::newRow("out of none") << 6 << 5 << nothing << nothing;
    QTest::newRow("a folder in another's place") << 4 << 1 << nothing << QVariantList{qint64{8}, 0};
    QTest::newRow("a folder where it is") << 1 << 3 << nothing << nothing;
  }
  void whatIsDroppedGoesThere() {
    QFETCH(int, row);
    QFETCH(int, onto);
    QSignalSpy moved(sidebar_.get(), &Sidebar::moveRequested);
    QSignalSpy placed(sidebar_.get(), &Sidebar::folderPlaceRequested);
    const std::unique_ptr<QMimeData> data(list_->model()->mimeData({index(row)}));
    list_->drop(*data, middle(onto));
    QTEST(QVariantList(moved.value(0)), "moved");
    QTEST(QVariantList(placed.value(0)), "placed");
  }

 private:
  QModelIndex index(int row) const { return list_->model()->index(row, 0); }
  QPoint middle(int row) const { return list_->visualRect(index(row)).center(); }
  QString said(int row) const { return index(row).data(Qt::AccessibleTextRole).toString(); }
  QStringList rows() const {
    QStringList all;
    for (int row = 0; row < list_->model()->rowCount(); ++row) all += index(row).data().toString();
    return all;
  }
  void go_to(int row) {
    list_->setFocus();
    list_->setCurrentIndex(index(row));
  }
  void choose(int row, const QString& command) {
    go_to(row);
    QTimer::singleShot(0, list_, [command] {
      const auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* action : menu->actions())
        if (action->text() == command && action->isEnabled()) action->trigger();
      QApplication::activePopupWidget()->close();
    });
    QTest::keyClick(list_, Qt::Key_F10, Qt::ShiftModifier);
  }

  std::unique_ptr<Sidebar> sidebar_;
  ConversationListView* list_ = nullptr;
};
FOVEA_TEST(SidebarFoldersTest)

#include "sidebar_folders_test.moc"
