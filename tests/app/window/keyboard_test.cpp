// Everything in the window is reached with Tab, once, in the order in which it is read, and says what it is.
#include <QAbstractScrollArea>
#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QMenuBar>
#include <QScrollBar>
#include <QToolButton>
#include <QTreeWidget>
#include <set>

#include "app/live/live_session.h"
#include "app/window/desktop.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/folder_dialog.h"
#include "ui/chat/shortcuts_dialog.h"
#include "ui/live/live_panel.h"
#include "ui/models/beside_dialog.h"
#include "ui/theme/page.h"
#include "ui/theme/window_size.h"

using namespace fovea;

namespace {

QString words_of(const QWidget* widget) {
  const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
  const QString name = face ? face->text(QAccessible::Name) : QString();
  return QStringLiteral("%1 %2 \"%3\"")
      .arg(QLatin1String(widget->metaObject()->className()), widget->objectName(), name);
}

QString name_of(const QWidget* widget) {
  const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
  return face ? face->text(QAccessible::Name) : QString();
}

std::vector<QWidget*> walk(QWidget* first, Qt::Key key) {
  first->setFocus();
  std::vector<QWidget*> reached;
  for (int i = 0; i < 300; ++i) {
    QWidget* now = QApplication::focusWidget();
    if (!now || (i > 0 && now == first)) break;
    // The conversation takes Tab for a message's buttons first.
    if (reached.empty() || reached.back() != now) reached.push_back(now);
    QTest::keyClick(now, key, key == Qt::Key_Backtab ? Qt::ShiftModifier : Qt::NoModifier);
  }
  return reached;
}

Snapshot some_snapshot() {
  Snapshot s;
  s.layers = 2;
  s.units_per_layer = 8;
  s.units.resize(16);
  for (UnitState& unit : s.units) unit.tier = 0;
  s.tiers = {{.name = "q4", .bits_per_weight = 4.5, .units = 16, .bytes = 800, .hits = 800}};
  s.tokens = 100;
  return s;
}

// What Tab does not reach below `where`, or reaches twice, or what is reached and says nothing; empty: all is
// well.
QString fault_of_tab(const QWidget& where, QWidget* first, Qt::Key key) {
  const std::vector<QWidget*> reached = walk(first, key);
  const std::set<const QWidget*> once(reached.begin(), reached.end());
  if (once.size() != reached.size()) return QStringLiteral("something is reached twice");
  for (const QWidget* widget : reached)
    if (name_of(widget).isEmpty()) return QStringLiteral("without words: ") + words_of(widget);
  for (const QWidget* widget : where.findChildren<QWidget*>()) {
    const bool stop = (widget->focusPolicy() & Qt::TabFocus) && widget->isVisible() && widget->isEnabled() &&
                      widget->window() == where.window() && !widget->focusProxy() &&
                      !qobject_cast<const QMenuBar*>(widget);
    if (stop && !once.contains(widget)) return QStringLiteral("not reached: ") + words_of(widget);
  }
  return {};
}

}  // namespace

class KeyboardTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<tests::DataFolder>();
    FOVEA_VERIFY(app::SettingsFile(app::settings_path()).update([](app::Settings& s) {
      s.text_percent = 110;  // not the first start
    }));
    desktop_ = std::make_unique<app::Desktop>(app::WindowRequest{});
    desktop_->start();
    desktop_->window().resize(1400, 900);
    desktop_->window().show_live_panel(true);
    desktop_->live_session().set_model(
        {.name = QStringLiteral("m"), .policy = PolicyKind::dynaexq, .experts = 8});
    desktop_->live_session().add_snapshot(some_snapshot(), 1);
    desktop_->live_panel().refresh();
    QVERIFY(QTest::qWaitForWindowActive(&desktop_->window()));
  }
  void cleanup() {
    QSignalSpy closed(desktop_.get(), &app::Desktop::closed);
    desktop_->window().close();
    QVERIFY(closed.count() == 1 || closed.wait(60'000));
    desktop_.reset();
    folder_.reset();
  }

  void tabReachesEverythingOnce_data() {
    QTest::addColumn<Qt::Key>("key");
    QTest::newRow("forwards") << Qt::Key_Tab;
    QTest::newRow("backwards") << Qt::Key_Backtab;
  }
  void tabReachesEverythingOnce() {
    QFETCH(Qt::Key, key);
    ui::ChatWindow& window = desktop_->window();
    window.composer().set_text(QStringLiteral("a message"));
    auto* first = window.findChild<QToolButton*>(QStringLiteral("newChat"));
    QCOMPARE(fault_of_tab(window, first, key), QString());
    window.findChild<QAction*>(QStringLiteral("conceptsAction"))->trigger();
    QVERIFY(window.page());
    QCOMPARE(fault_of_tab(window, first, key), QString());
    window.page()->setFocus();
    auto* const text = window.page()->findChild<ui::PageArea*>();
    QCOMPARE(QApplication::focusWidget(), text);
    QTest::keyClick(text, Qt::Key_Down);
    QVERIFY(text->verticalScrollBar()->value() > 0);
    QTest::keyClick(text, Qt::Key_Escape);
    QVERIFY(!window.page());
  }

  void tabReachesEverythingInDialogs_data() { tabReachesEverythingOnce_data(); }
  void tabReachesEverythingInDialogs() {
    QFETCH(Qt::Key, key);
    const std::vector<ui::FolderChoice> some{{QStringLiteral("One"), QStringLiteral("1")}};
    ui::FolderDialog folder(QStringLiteral("Work"), some, {}, some, {}, &desktop_->window());
    ui::BesideDialog beside(QStringLiteral("Why?"), QStringLiteral("Nothing."), {}, true,
                            &desktop_->window());
    for (QDialog* dialog : {static_cast<QDialog*>(&folder), static_cast<QDialog*>(&beside)}) {
      dialog->show();
      QVERIFY(QTest::qWaitForWindowActive(dialog));
      QTRY_VERIFY(dialog->isAncestorOf(QApplication::focusWidget()));
      QCOMPARE(fault_of_tab(*dialog, QApplication::focusWidget(), key), QString());
      dialog->close();
    }
  }

  // As it is read: the conversations, the model, the conversation, what is typed, the panel.
  void theOrderIsThatOfReading() {
    ui::ChatWindow& window = desktop_->window();
    window.composer().set_text(QStringLiteral("a message"));
    std::vector<QString> names;
    for (const QWidget* widget : walk(window.findChild<QToolButton*>(QStringLiteral("newChat")), Qt::Key_Tab))
      names.push_back(widget->objectName());
    const std::vector<QString> wanted{
        QStringLiteral("newChat"),     QStringLiteral("search"),      QStringLiteral("sidebarModels"),
        QStringLiteral("modelPicker"), QStringLiteral("panelButton"), QStringLiteral("transcript"),
        QStringLiteral("input"),       QStringLiteral("attach"),      QStringLiteral("chatSettings"),
        QStringLiteral("panelMore"),   QStringLiteral("heatmap"),     QStringLiteral("details")};
    auto from = names.begin();
    for (const QString& name : wanted) {
      const auto found = std::find(from, names.end(), name);
      QVERIFY2(found != names.end(),
               qPrintable(name + QStringLiteral(" is not after those before it: ") +
                          QStringList(names.begin(), names.end()).join(QLatin1Char(' '))));
      from = found;
    }
  }

  // Each command of the menus is there by a key or by its menu's letter; no two have the same keys.
  void everyMenuHasItsLetterAndKeysAreUnique() {
    std::set<QString> letters, keys;
    for (const QAction* menu : desktop_->window().menuBar()->actions()) {
      const qsizetype at = menu->text().indexOf(QLatin1Char('&'));
      QVERIFY2(at >= 0, qPrintable(menu->text()));
      QVERIFY2(letters.insert(menu->text().mid(at + 1, 1).toLower()).second, qPrintable(menu->text()));
    }
    for (const QAction* action : desktop_->window().findChildren<QAction*>()) {
      const QString sequence = action->shortcut().toString();
      if (!sequence.isEmpty()) QVERIFY2(keys.insert(sequence).second, qPrintable(sequence));
    }
    QVERIFY(keys.size() >= 15);
  }

  void helpListsTheKeys() {
    desktop_->window().findChild<QAction*>(QStringLiteral("shortcutsAction"))->trigger();
    auto* dialog = desktop_->window().findChild<ui::ShortcutsDialog*>();
    QVERIFY(dialog);
    const auto* list = dialog->findChild<QTreeWidget*>(QStringLiteral("shortcuts"));
    for (const QAction* action : desktop_->window().findChildren<QAction*>()) {
      if (action->shortcut().isEmpty()) continue;
      const QString keys = action->shortcut().toString(QKeySequence::NativeText);
      const auto rows = list->findItems(keys, Qt::MatchExactly | Qt::MatchRecursive, 1);
      QVERIFY2(!rows.isEmpty(), qPrintable(action->text()));
    }
    dialog->close();
  }

  void thePanelIsDetachedByKeys() {
    auto* detach = desktop_->window().findChild<QAction*>(QStringLiteral("detachLiveAction"));
    detach->trigger();
    QVERIFY(desktop_->live_panel().window() != &desktop_->window());
    QVERIFY(detach->isChecked());
    detach->trigger();
    QVERIFY(desktop_->live_panel().window() == &desktop_->window());
  }

 private:
  std::unique_ptr<tests::DataFolder> folder_;
  std::unique_ptr<app::Desktop> desktop_;
};
FOVEA_TEST(KeyboardTest)

#include "keyboard_test.moc"
