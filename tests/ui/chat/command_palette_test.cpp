#include "ui/chat/command_palette.h"

#include <QAction>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QSignalSpy>

#include "tests/support/test.h"
#include "ui/chat/chat_window.h"

using namespace fovea::ui;

class CommandPaletteTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    bar_ = std::make_unique<QMenuBar>();
    QMenu* chat = bar_->addMenu(QStringLiteral("&Chat"));
    another_ = chat->addAction(QStringLiteral("&Another answer"));
    another_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_R));
    chat->addSeparator();
    hidden_ = chat->addAction(QStringLiteral("&Rename…"));
    hidden_->setEnabled(false);
    settings_ = bar_->addMenu(QStringLiteral("&Edit"))
                    ->addMenu(QStringLiteral("&More"))
                    ->addAction(QStringLiteral("Se&ttings…"));
  }

  void showsWhatCanBeDone() {
    CommandPalette palette(*bar_);
    auto* list = palette.findChild<QListWidget*>();
    QCOMPARE(list->count(), 2);
    QCOMPARE(list->item(0)->text(), QStringLiteral("Chat › Another answer"));
    QCOMPARE(list->item(1)->text(), QStringLiteral("Edit › More › Settings…"));
  }

  // Of a menu that hangs on no bar, as the panel's.
  void showsMoreMenus() {
    QMenu panel(QStringLiteral("Experts"));
    QAction* freeze = panel.addAction(QStringLiteral("Freeze"));
    CommandPalette palette(*bar_, {&panel});
    palette.show();
    auto* list = palette.findChild<QListWidget*>();
    QCOMPARE(list->count(), 3);
    QCOMPARE(list->item(2)->text(), QStringLiteral("Experts › Freeze"));
    palette.findChild<QLineEdit*>()->setText(QStringLiteral("freeze"));
    QSignalSpy run(freeze, &QAction::triggered);
    QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
    QTRY_COMPARE(run.count(), 1);
  }

  void findsByWordsAndRuns() {
    CommandPalette palette(*bar_);
    palette.show();
    auto* field = palette.findChild<QLineEdit*>();
    auto* list = palette.findChild<QListWidget*>();
    field->setText(QStringLiteral("answ chat"));
    QCOMPARE(list->count(), 1);
    field->setText(QStringLiteral("nothing like it"));
    QCOMPARE(list->count(), 0);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(palette.isVisible());  // there is nothing to run
    field->clear();
    QCOMPARE(list->count(), 2);
    QTest::keyClick(field, Qt::Key_Down);
    QCOMPARE(list->currentRow(), 1);
    QSignalSpy run(settings_, &QAction::triggered);
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE(run.count(), 1);
    QVERIFY(!palette.isVisible());
  }

  // Also where no menu bar is seen: each has its keys, and the one button all menus.
  void theWindowHasAllCommandsWithoutABar() {
    ChatWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QVERIFY(!window.menuBar()->isVisible());
    const auto* more = window.findChild<QToolButton*>(QStringLiteral("more"));
    QCOMPARE(more->menu()->actions(), window.menuBar()->actions());
    QSignalSpy asked(&window, &ChatWindow::settingsRequested);
    QTest::keyClick(&window, Qt::Key_Comma, Qt::ControlModifier);
    QCOMPARE(asked.count(), 1);
  }

 private:
  std::unique_ptr<QMenuBar> bar_;
  QAction *another_ = nullptr, *hidden_ = nullptr, *settings_ = nullptr;
};

FOVEA_TEST(CommandPaletteTest)

#include "command_palette_test.moc"
