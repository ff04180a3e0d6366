// The list of conversations over a real history: renaming, pinning, and what goes out to files and comes in.
#include "app/window/sidebar_controller.h"

#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTimer>

#include "app/history/worker/history_thread.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"

using namespace fovea;
namespace history = fovea::app::history;

namespace {

struct Desk {
  Desk() : thread(folder.path() / "history.db"), controller(window, thread) {
    window.show();
    list = window.findChild<QListView*>(QStringLiteral("conversations"));
  }
  // A question with its answer, stored.
  qint64 talk(const char* question, const char* answer) {
    qint64 conversation = 0;
    thread.ask(
        &window,
        [=](history::History& h) -> Result<history::Turn> {
          history::NewTurn turn;
          turn.text = question;
          turn.created.title = question;
          auto stored = h.add_turn(turn);
          if (!stored) return stored;
          if (auto done = h.append_answer(stored->answer.id, answer); !done)
            return std::unexpected(done.error());
          if (auto done = h.finish_answer(stored->answer.id, {}); !done) return std::unexpected(done.error());
          return stored;
        },
        [&conversation](const Result<history::Turn>& turn) {
          conversation = turn ? turn->conversation.id : -1;
        });
    (void)QTest::qWaitFor([&] { return conversation != 0; }, tests::kLong);
    controller.refresh();
    return conversation;
  }
  QStringList rows() const {
    QStringList titles;
    for (int row = 0; row < list->model()->rowCount(); ++row)
      titles += list->model()->index(row, 0).data().toString();
    return titles;
  }
  // The next file dialog gets this path; no other dialog is expected.
  void answer_dialog(const QString& path) {
    auto* timer = new QTimer(&window);
    connect_dialog(timer, path);
    timer->start(20);
  }
  static void connect_dialog(QTimer* timer, const QString& path) {
    QObject::connect(timer, &QTimer::timeout, timer, [timer, path] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (!dialog) return;
      timer->deleteLater();
      dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
      QMetaObject::invokeMethod(dialog, "accept");
    });
  }
  // From the menu of its row, by keys.
  void choose(int row, const QString& command) {
    list->setFocus();
    list->setCurrentIndex(list->model()->index(row, 0));
    QTimer::singleShot(0, list, [command] {
      const auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* action : menu->actions())
        if (action->text() == command) action->trigger();
      QApplication::activePopupWidget()->close();
    });
    QTest::keyClick(list, Qt::Key_F10, Qt::ShiftModifier);
  }
  QString said() const { return window.error_bar().message(); }

  tests::TemporaryFolder folder;
  ui::ChatWindow window;
  history::HistoryThread thread;
  app::SidebarController controller;
  QListView* list = nullptr;
};

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class SidebarControllerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void renamingAndPinningAreStored() {
    Desk desk;
    const qint64 first = desk.talk("About zebras", "Stripes."), second = desk.talk("About lions", "Manes.");
    QVERIFY(first > 0 && second > 0);
    QTRY_COMPARE(desk.rows(), QStringList({QStringLiteral("Today"), QStringLiteral("About lions"),
                                           QStringLiteral("About zebras")}));
    Q_EMIT desk.window.sidebar().renameRequested(first, QStringLiteral("Zebras at night"));
    QTRY_COMPARE(desk.rows().value(2), QStringLiteral("Zebras at night"));
    desk.choose(2, QStringLiteral("Pin"));
    QTRY_COMPARE(desk.rows(), QStringList({QStringLiteral("Pinned"), QStringLiteral("Zebras at night"),
                                           QStringLiteral("Today"), QStringLiteral("About lions")}));
    Q_EMIT desk.window.sidebar().pinRequested(first, false);
    QTRY_COMPARE(desk.rows().value(0), QStringLiteral("Today"));
    QCOMPARE(desk.said(), QString());
  }

  // What a search found is known to be pinned, too.
  void aSearchResultIsUnpinned() {
    Desk desk;
    const qint64 id = desk.talk("About zebras", "Stripes.");
    Q_EMIT desk.window.sidebar().pinRequested(id, true);
    QTRY_COMPARE(desk.rows().value(0), QStringLiteral("Pinned"));
    auto* field = desk.window.findChild<QLineEdit*>(QStringLiteral("search"));
    field->setText(QStringLiteral("stripes"));
    QTRY_COMPARE(desk.rows(), QStringList(QStringLiteral("About zebras")));
    const QModelIndex found = desk.list->model()->index(0, 0);
    QCOMPARE(found.data(Qt::AccessibleTextRole).toString(), QStringLiteral("About zebras, pinned Stripes."));
    desk.choose(0, QStringLiteral("Unpin"));
    field->clear();
    QTRY_COMPARE(desk.rows(), QStringList({QStringLiteral("Today"), QStringLiteral("About zebras")}));
  }

  // Also when the offer to undo it has gone.
  void whatWasDeletedIsBroughtBack() {
    Desk desk;
    auto* menu = desk.window.findChild<QMenu*>(QStringLiteral("deletedMenu"));
    QVERIFY(menu && !menu->actions().constFirst()->isEnabled());
    const qint64 first = desk.talk("first & foremost", "a");
    desk.talk("second", "b");
    QTRY_COMPARE(desk.rows().size(), 3);
    Q_EMIT desk.window.sidebar().deleteRequested(first);
    QTRY_COMPARE(desk.rows().size(), 2);
    Q_EMIT menu->aboutToShow();
    QTRY_VERIFY(menu->actions().constFirst()->isEnabled());
    QCOMPARE(menu->actions().size(), 1);
    QCOMPARE(menu->actions().constFirst()->text(), QStringLiteral("first && foremost"));
    QSignalSpy opened(&desk.controller, &app::SidebarController::openRequested);
    menu->actions().constFirst()->trigger();
    QTRY_COMPARE(desk.rows().size(), 3);
    QCOMPARE(opened[0][0].toLongLong(), first);
    Q_EMIT menu->aboutToShow();
    QTRY_VERIFY(!menu->actions().constFirst()->isEnabled());
  }

  // While further ones are asked for, the list is read again, and one of those that stood there is deleted.
  void eachIsListedOnce_data() {
    QTest::addColumn<bool>("again_first");
    QTest::newRow("read again, then further") << true;
    QTest::newRow("further, then read again") << false;
  }
  void eachIsListedOnce() {
    QFETCH(bool, again_first);
    Desk desk;
    constexpr int count = 150;
    for (int i = 0; i < count; ++i)
      desk.thread.tell([i](history::History& h) -> Result<void> {
        const auto made = h.create({"c" + std::to_string(i), {}, {}});
        return made ? Result<void>() : std::unexpected(made.error());
      });
    desk.controller.refresh();
    const auto listed = [&desk] { return desk.rows().filter(QRegularExpression(QStringLiteral("^c[0-9]"))); };
    QTRY_COMPARE(listed().size(), 100);
    desk.thread.tell([](history::History& h) { return h.remove(count - 10); });
    if (again_first) desk.controller.refresh();
    Q_EMIT desk.window.sidebar().moreRequested();
    if (!again_first) desk.controller.refresh();
    Q_EMIT desk.window.sidebar().moreRequested();
    bool is_answered = false;
    desk.thread.ask(
        &desk.window, [](history::History& h) { return h.new_draft(); },
        [&](const auto&) { is_answered = true; });
    QTRY_VERIFY(is_answered);
    QStringList rows = listed();
    QCOMPARE(rows.size(), count - 1);
    QCOMPARE(rows.removeDuplicates(), 0);
  }

  // What was exported is a file with both sides, and comes back after the conversation was deleted.
  void exportsComeBack() {
    Desk desk;
    const qint64 id = desk.talk("About / zebras", "They have **stripes**.");
    const QString folder = QString::fromStdString(desk.folder.path().string());
    const QString markdown = folder + QStringLiteral("/a.md"), json = folder + QStringLiteral("/a.json");
    desk.answer_dialog(markdown);
    Q_EMIT desk.window.sidebar().exportRequested(id, ui::ExportFormat::markdown);
    QTRY_VERIFY(read(markdown).contains("They have **stripes**."));
    QVERIFY(read(markdown).contains("About / zebras"));
    QTRY_VERIFY(desk.said().contains(markdown));
    desk.answer_dialog(json);
    Q_EMIT desk.window.sidebar().exportRequested(id, ui::ExportFormat::json);
    QTRY_VERIFY(read(json).contains("stripes"));

    Q_EMIT desk.window.importRequested(json);
    QTRY_VERIFY2(desk.said().contains(QStringLiteral("already")), qPrintable(desk.said()));
    Desk other;
    Q_EMIT other.window.importRequested(json);
    QTRY_COMPARE(other.rows().value(1), QStringLiteral("About / zebras"));
    QTRY_VERIFY2(other.said().contains(QStringLiteral("imported")), qPrintable(other.said()));
  }

  void whatCannotBeImportedIsNamed() {
    Desk desk;
    const QString path = QString::fromStdString((desk.folder.path() / "wrong.json").string());
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("no conversations");
    file.close();
    Q_EMIT desk.window.importRequested(path);
    QTRY_VERIFY2(desk.said().contains(QStringLiteral("Choose a file that Fovea has exported")),
                 qPrintable(desk.said()));
    const auto* details = desk.window.error_bar().findChild<QLabel*>(QStringLiteral("details"));
    QVERIFY2(details->text().contains(QStringLiteral("wrong.json:")), qPrintable(details->text()));
    QVERIFY(desk.rows().isEmpty());
  }
};
FOVEA_TEST(SidebarControllerTest)

#include "sidebar_controller_test.moc"
