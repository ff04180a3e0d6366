// Folders over a real history: made, named, filled, closed and removed in the window, and there again after
// it.
#include "app/window/folder_controller.h"

#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>

#include "app/history/worker/history_thread.h"
#include "app/window/conversation_controller.h"
#include "app/window/sidebar_controller.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/conversation_list.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"

using namespace fovea;
namespace history = fovea::app::history;

namespace {

struct FolderDesk {
  explicit FolderDesk(const std::filesystem::path& folder)
      : thread(folder / "history.db"), sidebar(window, thread), folders(window, thread, sidebar) {
    window.show();
    list = window.findChild<QListView*>(QStringLiteral("conversations"));
    sidebar.refresh();
  }
  // What the history says, asked as the window asks.
  template <class Question>
  auto ask(Question question) {
    using Value = std::invoke_result_t<Question&, history::History&>;
    std::optional<Value> answer;
    thread.ask(&window, question, [&answer](const Value& value) { answer = value; });
    (void)QTest::qWaitFor([&answer] { return answer.has_value(); }, tests::kLong);
    return **answer;
  }
  qint64 conversation(const char* title) {
    return ask([=](history::History& h) { return h.create({title, {}, {}}); }).id;
  }
  QStringList rows() const {
    QStringList titles;
    for (int row = 0; row < list->model()->rowCount(); ++row)
      titles += list->model()->index(row, 0).data().toString();
    return titles;
  }
  // In the row's own editor.
  void type_name(const QString& name) {
    auto* editor = list->findChild<QLineEdit*>();
    if (!editor) return;
    editor->setText(name);
    QTest::keyClick(editor, Qt::Key_Return);
  }

  ui::ChatWindow window;
  history::HistoryThread thread;
  app::SidebarController sidebar;
  app::FolderController folders;
  QListView* list = nullptr;
};

}  // namespace

class FolderControllerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsDoneInTheWindowIsThereAgain() {
    tests::TemporaryFolder folder;
    {
      FolderDesk desk(folder.path());
      const qint64 lions = desk.conversation("Lions"), zebras = desk.conversation("Zebras");
      ui::Sidebar& sidebar = desk.window.sidebar();
      Q_EMIT sidebar.newFolderRequested(lions);
      QTRY_VERIFY(desk.list->findChild<QLineEdit*>());  // its name is asked for in place
      desk.type_name(QStringLiteral("Animals"));
      QTRY_COMPARE(desk.rows(),
                   QStringList({QStringLiteral("Folders"), QStringLiteral("Animals"), QStringLiteral("Lions"),
                                QStringLiteral("Today"), QStringLiteral("Zebras")}));
      const qint64 animals = sidebar.folders().front().id;
      Q_EMIT sidebar.moveRequested(zebras, animals);
      QTRY_COMPARE(desk.rows().size(), 4);
      Q_EMIT sidebar.newFolderRequested(0);
      QTRY_VERIFY(desk.list->findChild<QLineEdit*>());
      desk.type_name(QStringLiteral("Plants"));
      QTRY_VERIFY(desk.rows().contains(QStringLiteral("Plants")));
      Q_EMIT sidebar.folderPlaceRequested(sidebar.folders().back().id, 0);
      QTRY_COMPARE(desk.rows().value(1), QStringLiteral("Plants"));
      QTest::mouseClick(desk.list->viewport(), Qt::LeftButton, {},
                        desk.list->visualRect(desk.list->model()->index(2, 0)).center());
      QCOMPARE(desk.rows().size(), 3);
      QCOMPARE(desk.window.error_bar().message(), QString());
    }
    FolderDesk again(folder.path());
    QTRY_COMPARE(again.rows(), QStringList({QStringLiteral("Folders"), QStringLiteral("Plants"),
                                            QStringLiteral("Animals")}));  // closed, as it was left
  }

  void aRemovedFolderLeavesItsConversations() {
    tests::TemporaryFolder folder;
    FolderDesk desk(folder.path());
    const qint64 lions = desk.conversation("Lions");
    Q_EMIT desk.window.sidebar().newFolderRequested(lions);
    QTRY_VERIFY(desk.list->findChild<QLineEdit*>());
    desk.type_name(QStringLiteral("Animals"));
    QTRY_COMPARE(desk.rows().value(1), QStringLiteral("Animals"));
    Q_EMIT desk.window.sidebar().folderDeleteRequested(desk.window.sidebar().folders().front().id);
    QTRY_COMPARE(desk.rows(), QStringList({QStringLiteral("Today"), QStringLiteral("Lions")}));
  }

  // Also in a folder that is closed.
  void searchFindsInFolders() {
    tests::TemporaryFolder folder;
    FolderDesk desk(folder.path());
    const qint64 lions = desk.conversation("Lions");
    Q_EMIT desk.window.sidebar().newFolderRequested(lions);
    QTRY_VERIFY(desk.list->findChild<QLineEdit*>());
    desk.type_name(QStringLiteral("Animals"));
    QTRY_COMPARE(desk.rows().value(1), QStringLiteral("Animals"));
    const qint64 animals = desk.window.sidebar().folders().front().id;
    desk.thread.tell([=](history::History& h) { return h.set_collapsed(animals, true); });
    desk.sidebar.refresh();
    QTRY_COMPARE(desk.rows().size(), 2);
    desk.window.findChild<QLineEdit*>(QStringLiteral("search"))->setText(QStringLiteral("lio"));
    QTRY_COMPARE(desk.rows(), QStringList(QStringLiteral("Lions")));
    QCOMPARE(desk.list->model()->index(0, 0).data(Qt::AccessibleTextRole).toString().trimmed(),
             QStringLiteral("Lions, in the folder Animals"));
  }

  // What another window has done meanwhile is an answer, and no accident.
  void whatIsGoneIsSaid() {
    tests::TemporaryFolder folder;
    FolderDesk desk(folder.path());
    const qint64 lions = desk.conversation("Lions");
    Q_EMIT desk.window.sidebar().moveRequested(lions, 12345);
    QTRY_VERIFY2(desk.window.error_bar().message().contains(QStringLiteral("folder 12345 does not exist")),
                 qPrintable(desk.window.error_bar().message()));
    desk.window.clear_error();
    QSignalSpy wanted(&desk.folders, &app::FolderController::newChatWanted);
    Q_EMIT desk.window.sidebar().newChatInRequested(12345);
    QTRY_VERIFY(!desk.window.error_bar().message().isEmpty());
    QCOMPARE(wanted.count(), 0);
  }

  // The first message of a new chat takes it into the folder, with the settings that it began with.
  void aNewChatIsStoredInItsFolder() {
    tests::TemporaryFolder folder;
    FolderDesk desk(folder.path());
    app::ConversationController controller(desk.window, desk.thread,
                                           [](const ui::ChatSettingsView&) { return history::Origin{}; });
    controller.set_ready(true);
    const auto made = desk.ask([](history::History& h) { return h.create_folder("Animals"); });
    ui::ChatSettingsView start;
    start.instructions = QStringLiteral("Roar.");
    start.top_k = 7;
    controller.new_chat(made.id, start);
    QCOMPARE(controller.chat_settings(), start);
    controller.send(QStringLiteral("Lions?"));
    QTRY_VERIFY(controller.conversation().id != 0);
    const qint64 id = controller.conversation().id;
    const auto stored = desk.ask([id](history::History& h) { return h.conversation(id); });
    QCOMPARE(stored.folder, made.id);
    QCOMPARE(stored.system_prompt, std::string("Roar."));
    controller.new_chat();  // a plain one is in none, and has nothing of it
    QCOMPARE(controller.chat_settings(), ui::ChatSettingsView{});
    QCOMPARE(controller.conversation().folder, history::Id{0});
  }
};
FOVEA_TEST(FolderControllerTest)

#include "folder_controller_test.moc"
