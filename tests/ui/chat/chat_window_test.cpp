#include "ui/chat/chat_window.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScopeGuard>
#include <QScreen>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTimer>
#include <QToolButton>
#include <QUrl>

#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/transcript_view.h"
#include "ui/chat/welcome_view.h"
#include "ui/theme/page.h"
#include "ui/theme/theme.h"
#include "ui/theme/widgets.h"

using namespace fovea::ui;

class ChatWindowTest : public QObject {
  Q_OBJECT

 public:
  Q_INVOKABLE void opened_outside(const QUrl& url) { opened_.push_back(url); }

 private Q_SLOTS:
  void init() {
    window_ = std::make_unique<ChatWindow>();
    window_->show();
    picker_ = window_->findChild<QToolButton*>(QStringLiteral("modelPicker"));
    QVERIFY(picker_);
  }

  void statesSayWhatCanBeDone() {
    QCOMPARE(picker_->text(), QStringLiteral("Open a model"));
    window_->set_state(ChatWindow::State::loading);
    QVERIFY(!picker_->isEnabled());
    window_->set_model(QStringLiteral("Demo"), QStringLiteral("16 experts"));
    window_->set_state(ChatWindow::State::ready);
    QVERIFY(picker_->toolTip().contains(QStringLiteral("16 experts")));
    QCOMPARE(picker_->text(), QStringLiteral("Demo"));
    QVERIFY(picker_->isEnabled());
    QCOMPARE(window_->windowTitle(), QStringLiteral("Fovea"));  // the name stands in one place
    window_->set_state(ChatWindow::State::loading);             // another one
    QVERIFY(!picker_->toolTip().contains(QStringLiteral("16 experts")));
    window_->set_model(QStringLiteral("R&D"), {});
    window_->set_state(ChatWindow::State::ready);
    QCOMPARE(picker_->text(), QStringLiteral("R&&D"));
    window_->set_state(ChatWindow::State::no_model);
    QCOMPARE(picker_->toolTip(), QStringLiteral("Choose the model"));
  }

  void theEmptyWindowLeadsToAModel() {
    auto* welcome = window_->findChild<QWidget*>(QStringLiteral("welcome"));
    QVERIFY(welcome->isVisible());
    QSignalSpy wizard(window_.get(), &ChatWindow::wizardRequested);
    QSignalSpy models(window_.get(), &ChatWindow::modelsRequested);
    for (const char* name : {"welcomeFind", "welcomeModels"})
      QTest::mouseClick(welcome->findChild<QAbstractButton*>(QLatin1String(name)), Qt::LeftButton);
    QCOMPARE(wizard.count(), 1);
    QCOMPARE(models.count(), 1);
    QVERIFY(welcome->findChild<QAbstractButton*>(QStringLiteral("welcomeFile")));
    // It makes room for a conversation that is read, and for a model.
    MessageView question;
    question.id = 1;
    question.text = QStringLiteral("Why?");
    window_->transcript().set_messages({question});
    QVERIFY(!welcome->isVisible());
    window_->transcript().clear();
    QVERIFY(welcome->isVisible());
    window_->set_state(ChatWindow::State::loading);
    QVERIFY(!welcome->isVisible());
    window_->set_state(ChatWindow::State::no_model);
    QVERIFY(welcome->isVisible());
  }

  void theEmptyWindowProposesAModel() {
    auto& welcome = window_->welcome();
    auto* accept = welcome.findChild<QPushButton*>(QStringLiteral("welcomeMain"));
    auto* find = welcome.findChild<QPushButton*>(QStringLiteral("welcomeFind"));
    auto* why = welcome.findChild<QToolButton*>(QStringLiteral("welcomeWhy"));
    auto* reason = welcome.findChild<QLabel*>(QStringLiteral("welcomeWhyText"));
    QVERIFY(find->isVisible() && !accept->isVisible());  // one main button
    ProposalView proposal{.state = ProposalView::State::looking};
    welcome.set_proposal(proposal);
    QVERIFY(!find->isVisible() && !accept->isVisible());
    proposal = {.state = ProposalView::State::ready,
                .name = QStringLiteral("A model"),
                .facts = {{QStringLiteral("19 GB"), QStringLiteral("of 24 GB memory")}},
                .accept = QStringLiteral("Download 21 GB"),
                .why = QStringLiteral("It is good.")};
    welcome.set_proposal(proposal);
    QVERIFY(!find->isVisible() && accept->isVisible() && !reason->isVisible());
    why->click();
    QVERIFY(reason->isVisible());
    QCOMPARE(reason->text(), proposal.why);
    QSignalSpy accepted(&welcome, &WelcomeView::acceptRequested),
        stopped(&welcome, &WelcomeView::stopRequested);
    QTest::mouseClick(accept, Qt::LeftButton);
    QCOMPARE(accepted.count(), 1);
    proposal.state = ProposalView::State::busy;
    welcome.set_proposal(proposal);
    QVERIFY(!accept->isVisible());
    welcome.findChild<QAbstractButton*>(QStringLiteral("welcomeStop"))->click();
    QCOMPARE(stopped.count(), 1);
    proposal.state = ProposalView::State::ready;
    proposal.error = QStringLiteral("There is no network.");
    welcome.set_proposal(proposal);
    QVERIFY(accept->isVisible());  // once more
    QVERIFY(welcome.findChild<QLabel*>(QStringLiteral("welcomeError"))->isVisible());
  }

  // The models and the settings take the conversation's place, and its keys are theirs.
  void aPageTakesTheConversationsPlace() {
    window_->set_model(QStringLiteral("Demo"), {});
    window_->set_state(ChatWindow::State::generating);
    auto* models = window_->findChild<QToolButton*>(QStringLiteral("sidebarModels"));
    const auto composer = [this] { return window_->composer().isVisible(); };
    QSignalSpy stopped(window_.get(), &ChatWindow::stopRequested);
    Page page(QStringLiteral("A page"));
    window_->show_page(page, SidebarPlace::models);
    QVERIFY(page.isVisible() && models->isChecked() && !composer());
    QCOMPARE(window_->page(), &page);
    QTRY_VERIFY(page.hasFocus());
    QTest::keyClick(&page, Qt::Key_Escape);  // leads back, and stops no answer
    QCOMPARE(stopped.count(), 0);
    QVERIFY(!window_->page() && !page.isVisible() && !models->isChecked() && composer());
    window_->show_page(page, SidebarPlace::models);
    QTest::mouseClick(page.findChild<QToolButton*>(QStringLiteral("pageBack")), Qt::LeftButton);
    QVERIFY(!window_->page());
    window_->show_page(page, SidebarPlace::models);
    Q_EMIT window_->sidebar().conversationRequested(1, 0, {});
    QVERIFY(!window_->page());
    // One page gives way to another, and is deleted where it asks for that.
    window_->show_page(page, SidebarPlace::models);
    auto* other = new Page(QStringLiteral("Another"));
    other->setAttribute(Qt::WA_DeleteOnClose);
    const QPointer<Page> watched(other);
    window_->show_page(*other, SidebarPlace::settings);
    QVERIFY(!page.isVisible() && other->isVisible() && !models->isChecked());
    window_->leave_page();
    QTRY_VERIFY(!watched);
  }

  void thePickerOffersLibraryRecentAndOpening() {
    window_->set_library({{QStringLiteral("demo"), QStringLiteral("/models/demo.gguf")}});
    window_->set_recent({{QStringLiteral("R&D"), QStringLiteral("/other/r.gguf")}});
    QSignalSpy asked(window_.get(), &ChatWindow::modelRequested);
    Q_EMIT picker_->menu()->aboutToShow();
    for (QAction* action : picker_->menu()->actions()) {
      if (action->toolTip().startsWith(QLatin1Char('/'))) action->trigger();
    }
    QCOMPARE(asked.count(), 2);
    QCOMPARE(asked[0][0].toString(), QStringLiteral("/models/demo.gguf"));
    QCOMPARE(asked[1][0].toString(), QStringLiteral("/other/r.gguf"));
  }

  // The model's name, what is said and what is written begin and end at the same places.
  void oneColumnFromTheTopToTheBottom() {
    window_->resize(1280, 720);
    QCoreApplication::processEvents();
    MessageView answer;
    answer.id = 1;
    answer.text = QStringLiteral("word ").repeated(2000);
    window_->transcript().set_messages({answer});
    const auto* card = window_->composer().findChild<Card*>();
    QVERIFY(card);
    TranscriptView& transcript = window_->transcript();
    const QRect said =
        transcript.rect_of_message(0).translated(transcript.viewport()->mapTo(window_.get(), QPoint()));
    const int left = card->mapTo(window_.get(), QPoint()).x();
    QCOMPARE(said.left(), left);
    QCOMPARE(said.width(), card->width());
  }

  void errorsStayUntilDismissed() {
    QCOMPARE(window_->error_bar().message(), QString());
    window_->show_error(QStringLiteral("model.gguf: cut off. Download it again"));
    QCOMPARE(window_->error_bar().message(), QStringLiteral("model.gguf: cut off. Download it again"));
    const auto* details = window_->error_bar().findChild<QLabel*>(QStringLiteral("details"));
    auto* more = window_->error_bar().findChild<QToolButton*>(QStringLiteral("moreDetails"));
    QVERIFY(more->isHidden() && details->isHidden());
    window_->show_error(QStringLiteral("No such device"), {}, {}, QStringLiteral("Choose --device cpu"));
    QVERIFY(!more->isHidden() && details->isHidden());
    more->click();
    QVERIFY(!details->isHidden());
    QCOMPARE(details->text(), QStringLiteral("Choose --device cpu"));
    window_->show_error(QStringLiteral("Another one"));
    QVERIFY(more->isHidden() && details->isHidden());
    window_->clear_error();
    QCOMPARE(window_->error_bar().message(), QString());
  }

  void errorsAreReadAfterAChangeOfTheTheme() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    const auto apply = [](Scheme scheme) {
      apply_theme(*qApp, scheme);
      QCoreApplication::processEvents();
    };
    apply(Scheme::dark);
    window_->show_error(QStringLiteral("No room"));
    const auto contrast = [this] {
      const QPalette palette = window_->error_bar().palette();
      return std::abs(palette.color(QPalette::WindowText).lightness() -
                      palette.color(QPalette::Window).lightness());
    };
    QVERIFY(contrast() > 100);
    apply(Scheme::light);
    QVERIFY(contrast() > 100);
  }

  void aLinkThatIsNoWebAddressIsRefused() {
    Q_EMIT window_->transcript().linkActivated(QStringLiteral("file:///etc/passwd"));
    QVERIFY(window_->error_bar().message().contains(QStringLiteral("file:///etc/passwd")));
  }

  // Where it leads is shown before it is opened, and by whom it is opened is not this program.
  void aLinkIsOpenedAfterItsAddressWasShown() {
    QDesktopServices::setUrlHandler(QStringLiteral("https"), this, "opened_outside");
    const QString address = QStringLiteral("https://a.example/path?q=1");
    for (const auto answer : {QMessageBox::Cancel, QMessageBox::Open}) {
      QString shown;
      QTimer::singleShot(0, this, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        shown = box->text();
        box->button(answer)->click();
      });
      Q_EMIT window_->transcript().linkActivated(address);
      QVERIFY2(shown.contains(address), qPrintable(shown));
      QCOMPARE(opened_.size(), answer == QMessageBox::Open ? 1 : 0);
    }
    QCOMPARE(opened_.front().toString(), address);
    QDesktopServices::unsetUrlHandler(QStringLiteral("https"));
  }

  // What the line below says grows and shrinks while a model answers; the window's parts stay where they are.
  void theStatusPushesNothingAbout() {
    auto* panel = new QLabel;
    panel->setMinimumWidth(250);
    window_->set_live_panel(panel);
    window_->resize(1000, 700);
    StatusView status;
    status.model = QStringLiteral("A model");
    status.context = 8192;
    window_->set_status(status);
    QCoreApplication::processEvents();
    const int before = window_->centralWidget()->width();
    status.activity = QStringLiteral("Answering in “Another conversation”");
    status.device = QStringLiteral("NVIDIA RTX 6000 Ada Generation");
    status.policy = QStringLiteral("dynaexq file/q4");
    status.memory_bytes = status.budget_bytes = 20'000'000'000;
    status.context_used = 8000;
    status.tokens_per_second = 100;
    window_->set_status(status);
    QCoreApplication::processEvents();
    QCOMPARE(window_->centralWidget()->width(), before);
    QVERIFY(window_->status().text().contains(QStringLiteral("100 tokens a second")));
  }

  // In little room some parts of it are left out, and none that there is room for: in any width, and with
  // larger text.
  void theStatusShowsWholeParts() {
    StatusView status;
    status.model = QStringLiteral("A model");
    status.context = status.context_used = 8192;
    status.activity = QStringLiteral("Answering…");
    status.device = QStringLiteral("NVIDIA RTX 6000 Ada Generation");
    status.policy = QStringLiteral("dynaexq file/q4");
    status.memory_bytes = status.budget_bytes = 20'000'000'000;
    status.tokens_per_second = 100;
    StatusStrip strip;
    strip.set_status(status);
    strip.show();
    int left_out = 0;
    for (const double size : {1.0, 1.5}) {
      QFont font = strip.font();
      font.setPointSizeF(font.pointSizeF() * size);
      strip.setFont(font);
      for (int width = 700; width >= 100; width -= 3) {
        strip.resize(width, 30);
        QCoreApplication::processEvents();
        int taken = 20;  // of the ring
        for (const QLabel* part : strip.findChildren<QLabel*>())
          if (!part->isHidden()) taken += part->sizeHint().width() + strip.layout()->spacing();
        for (const QLabel* part : strip.findChildren<QLabel*>()) {
          const QString what = QStringLiteral("%1 at %2, %3").arg(part->text()).arg(width).arg(size);
          const int wanted = part->sizeHint().width();
          if (!part->isHidden()) {
            QVERIFY2(part->width() == wanted, qPrintable(what));
            QVERIFY2(part->geometry().left() >= 0, qPrintable(what));
            continue;
          }
          ++left_out;
          QVERIFY2(taken + wanted + strip.layout()->spacing() > width, qPrintable(what));
        }
      }
    }
    QVERIFY(left_out > 0);
    // What is not shown is told.
    for (const char* told : {"A model", "NVIDIA RTX 6000 Ada Generation", "dynaexq file/q4"})
      QVERIFY(strip.toolTip().contains(QLatin1String(told)));
  }

  void aLongWordDoesNotWidenTheWindow() {
    const int before = window_->width();
    window_->show_error(QString(600, QLatin1Char('x')));
    window_->set_state(ChatWindow::State::loading);
    window_->show_progress(QStringLiteral("Loading ") + QString(600, QLatin1Char('x')), 1, 2);
    QCoreApplication::processEvents();
    QCOMPARE(window_->width(), before);
    QVERIFY(window_->minimumSizeHint().width() <= before);
  }

  // There is nothing to rename in a conversation that is not begun.
  void actionsOnAConversationNeedOne() {
    const auto enabled = [this](const char* name) {
      return window_->findChild<QAction*>(QLatin1String(name))->isEnabled();
    };
    window_->set_state(ChatWindow::State::ready);
    QVERIFY(!enabled("renameAction") && !enabled("deleteAction") && !enabled("regenerateAction"));
    window_->sidebar().set_current(3);
    window_->set_conversation_title(QStringLiteral("One"));
    QVERIFY(enabled("renameAction") && enabled("deleteAction") && !enabled("regenerateAction"));
    MessageView question;
    question.id = 1;
    window_->transcript().set_messages({question});
    QVERIFY(enabled("regenerateAction"));
  }

  // Of the conversation that is shown: also from the keyboard, by the command palette.
  void pinsTheConversation() {
    auto* pin = window_->findChild<QAction*>(QStringLiteral("pinAction"));
    window_->set_state(ChatWindow::State::ready);
    window_->set_conversation_title(QString());
    QVERIFY(!pin->isEnabled());
    ConversationItem item;
    item.id = 3;
    const auto show = [&](bool pinned) {
      item.pinned = pinned;
      window_->sidebar().set_conversations({item}, false);
      window_->sidebar().set_current(3);
      window_->set_conversation_title(QStringLiteral("One"));
    };
    QSignalSpy asked(&window_->sidebar(), &Sidebar::pinRequested);
    show(false);
    QVERIFY(pin->isEnabled() && !pin->isChecked());
    pin->trigger();
    show(true);
    QVERIFY(pin->isChecked());
    pin->trigger();
    QCOMPARE(asked.count(), 2);
    QCOMPARE(asked[0], (QVariantList{qint64{3}, true}));
    QCOMPARE(asked[1], (QVariantList{qint64{3}, false}));
  }

  void escapeStopsTheAnswerFromEverywhere() {
    auto* panel_button = new QToolButton;
    window_->set_live_panel(panel_button);
    window_->sidebar().set_conversations({{.id = 1, .title = QStringLiteral("One"), .updated = {}}}, false);
    MessageView answer;
    answer.id = 1;
    answer.author = Author::assistant;
    answer.text = QStringLiteral("Because.");
    window_->transcript().set_messages({answer});
    panel_button->setFocusPolicy(Qt::StrongFocus);
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QSignalSpy stopped(window_.get(), &ChatWindow::stopRequested);
    const auto press_in = [this](const char* name) {
      auto* widget = window_->findChild<QWidget*>(QLatin1String(name));
      widget->setFocus();
      QTest::keyClick(widget, Qt::Key_Escape);
    };
    panel_button->setObjectName(QStringLiteral("panelButton"));
    const std::vector<const char*> places{"input",       "transcript",   "conversations", "search",
                                          "modelPicker", "chatSettings", "panelButton"};
    window_->set_state(ChatWindow::State::ready);
    for (const char* place : places) press_in(place);
    QCOMPARE(stopped.count(), 0);
    window_->set_state(ChatWindow::State::generating);
    int wanted = 0;
    for (const char* place : places) {
      window_->transcript().select_all();  // which Escape ends otherwise
      press_in(place);
      QVERIFY2(stopped.count() == ++wanted, place);
    }
    window_->findChild<QAction*>(QStringLiteral("detachLiveAction"))->trigger();
    panel_button->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(panel_button->window()));
    press_in("panelButton");
    QCOMPARE(stopped.count(), ++wanted);
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    // What is being searched for is given up first.
    auto* search = window_->findChild<QLineEdit*>(QStringLiteral("search"));
    search->setText(QStringLiteral("one"));
    press_in("search");
    QCOMPARE(search->text(), QString());
    auto* find_bar = window_->findChild<QWidget*>(QStringLiteral("findBar"));
    window_->transcript().open_find();
    QVERIFY(find_bar->isVisible());
    QTest::keyClick(find_bar->findChild<QLineEdit*>(), Qt::Key_Escape);
    QVERIFY(!find_bar->isVisible());
    QCOMPARE(stopped.count(), wanted);
  }

  void whatIsTypedIntoTheConversationBelongsToTheMessage() {
    MessageView answer;
    answer.id = 1;
    answer.text = QStringLiteral("word ").repeated(5000);
    window_->transcript().set_messages({answer});
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    auto* input = window_->findChild<QPlainTextEdit*>(QStringLiteral("input"));
    TranscriptView& transcript = window_->transcript();
    transcript.setFocus();
    // Keys of its own stay there.
    for (const Qt::Key key : {Qt::Key_Home, Qt::Key_Space, Qt::Key_PageDown, Qt::Key_Return})
      QTest::keyClick(&transcript, key);
    QTest::keyClick(&transcript, Qt::Key_X, Qt::AltModifier);
    QVERIFY(transcript.verticalScrollBar()->value() > 0);
    QVERIFY(transcript.hasFocus());
    QCOMPARE(window_->composer().text(), QString());
    window_->composer().set_text(QStringLiteral("Tell me: "));
    QTest::keyClicks(&transcript, QStringLiteral("W"));
    QVERIFY(input->hasFocus());
    QTest::keyClicks(input, QStringLiteral("hy?"));
    QCOMPARE(window_->composer().text(), QStringLiteral("Tell me: Why?"));
    QApplication::clipboard()->setText(QStringLiteral(" Or not?"));
    transcript.setFocus();
    QTest::keyClick(&transcript, Qt::Key_V, Qt::ControlModifier);
    QVERIFY(input->hasFocus());
    QCOMPARE(window_->composer().text(), QStringLiteral("Tell me: Why? Or not?"));
  }

  void theDetachedPanelStandsBesideTheConversation_data() {
    QTest::addColumn<int>("left");   // at both sides of the window
    QTest::addColumn<int>("right");  // -1: as much as there is
    QTest::newRow("as wide as the screen") << 4 << 4;
    QTest::newRow("in the middle") << 100 << 100;
    QTest::newRow("room at the right") << 10 << -1;
    QTest::newRow("room at the left") << -1 << 10;
    QTest::newRow("maximized") << -1 << -1;
  }
  void theDetachedPanelStandsBesideTheConversation() {
    QFETCH(int, left);
    QFETCH(int, right);
    auto* panel = new QLabel;
    panel->setMinimumWidth((left < 0) == (right < 0) ? 430 : 250);
    window_->set_live_panel(panel);
    auto* dock = window_->findChild<QDockWidget*>(QStringLiteral("liveDock"));
    const QRect screen = window_->screen()->availableGeometry();
    if (left < 0 && right < 0) {
      window_->showMaximized();
    } else if (left < 0 || right < 0) {
      window_->resize(window_->minimumSizeHint().width(), 500);
      QCoreApplication::processEvents();
      window_->move(left < 0 ? screen.width() - right - window_->frameGeometry().width() : left, 10);
    } else {
      window_->setGeometry(screen.adjusted(left, 10, -right, -10));
    }
    QCoreApplication::processEvents();
    const int before = window_->width(), panel_before = dock->width();
    const bool was_over = dock->isHidden();  // in a narrow window
    const auto* sidebar = window_->findChild<QDockWidget*>(QStringLiteral("sidebarDock"));
    const int sidebar_before = sidebar->width();
    auto* detach = window_->findChild<QAction*>(QStringLiteral("detachLiveAction"));
    detach->trigger();
    QCoreApplication::processEvents();
    QVERIFY(dock->isFloating() && dock->isVisible());
    QVERIFY(!dock->frameGeometry().intersects(window_->frameGeometry()));
    QVERIFY(screen.contains(dock->frameGeometry()));
    QVERIFY(screen.contains(window_->frameGeometry()));
    detach->trigger();
    QCoreApplication::processEvents();
    QVERIFY(!dock->isFloating());
    QCOMPARE(window_->width(), before);
    QCOMPARE(sidebar->width(), sidebar_before);
    const auto* over = window_->findChild<QWidget*>(QStringLiteral("panelOverlay"));
    QCOMPARE(over->isVisible(), was_over);
    QCOMPARE(dock->isVisible(), !was_over);
    if (!was_over) QCOMPARE(dock->width(), panel_before);
  }

  // First the panel lies over the conversation, then the sidebar becomes a button; with room both come back.
  void narrowWindowsKeepTheConversation() {
    auto* panel = new QLabel(QStringLiteral("experts"));
    panel->setFocusPolicy(Qt::StrongFocus);
    window_->set_live_panel(panel);
    const auto* dock = window_->findChild<QDockWidget*>(QStringLiteral("liveDock"));
    const auto* over = window_->findChild<QWidget*>(QStringLiteral("panelOverlay"));
    const auto* sidebar = window_->findChild<QDockWidget*>(QStringLiteral("sidebarDock"));
    auto* sidebar_button = window_->findChild<QToolButton*>(QStringLiteral("sidebarButton"));
    auto* button = window_->findChild<QToolButton*>(QStringLiteral("panelButton"));
    const auto resize = [&](int width) {
      window_->resize(width, 600);
      QCoreApplication::processEvents();
      return window_->width() == width;
    };
    QVERIFY(resize(1280));
    window_->show_live_panel(true);
    QVERIFY(dock->isVisible() && dock->isAncestorOf(panel) && over->isHidden() && sidebar_button->isHidden());

    QVERIFY(resize(900));
    QVERIFY(dock->isHidden() && over->isVisible() && over->isAncestorOf(panel) && panel->isVisible());
    QVERIFY(window_->transcript().width() > 600);
    const QPoint corner = over->mapTo(window_.get(), over->rect().topRight());
    QCOMPARE(corner.x(), window_->width() - 1);
    QVERIFY(corner.y() > button->mapTo(window_.get(), button->rect().bottomLeft()).y());
    QVERIFY(button->isChecked());
    QSignalSpy shown(window_.get(), &ChatWindow::livePanelShown);
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(over->isHidden() && !button->isChecked());
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(over->isVisible() && button->isChecked());
    QTest::keyClick(panel, Qt::Key_Escape);
    QVERIFY(over->isHidden());
    QCOMPARE(shown.count(), 2);  // it is no choice, and with room the panel is back
    QVERIFY(resize(1280));
    QVERIFY(dock->isVisible() && dock->isAncestorOf(panel));
    QVERIFY(resize(900));
    QTest::keyClick(panel, Qt::Key_Escape);
    window_->offer_live_panel(true);  // not unasked
    QVERIFY(over->isHidden() && !button->isChecked());
    window_->show_live_panel(true);
    Page page(QStringLiteral("A page"));
    window_->show_page(page, SidebarPlace::other);
    QVERIFY(over->isHidden() && !button->isChecked());
    QVERIFY(resize(880));
    window_->leave_page();
    QVERIFY(over->isVisible() && button->isChecked());
    QVERIFY(over->mapTo(window_.get(), QPoint()).y() > button->mapTo(window_.get(), QPoint()).y());

    QVERIFY(resize(600));
    QVERIFY(sidebar->isHidden() && sidebar_button->isVisible() && over->isVisible());
    QTest::mouseClick(sidebar_button, Qt::LeftButton);
    QVERIFY(sidebar->isVisible() && sidebar_button->isHidden());
    QVERIFY(resize(590));  // it was called
    QVERIFY(sidebar->isVisible());
    QVERIFY(resize(800));
    QVERIFY(resize(600));
    QVERIFY(sidebar->isHidden());

    QVERIFY(resize(1280));
    QVERIFY(sidebar->isVisible() && sidebar_button->isHidden());
    QVERIFY(dock->isVisible() && dock->isAncestorOf(panel) && panel->isVisible() && over->isHidden());
    window_->show_live_panel(false);
    QVERIFY(resize(800));
    window_->offer_live_panel(true);  // it waits for room
    QVERIFY(over->isHidden());
    QVERIFY(resize(1280));
    QVERIFY(dock->isVisible());
    QVERIFY(resize(900));  // first the panel gives way
    QVERIFY(resize(620));
    window_->close();
    QCOMPARE(window_->width(), 620);
  }

  void thePanelsOwnButtonIsTold() {
    window_->set_live_panel(new QLabel);
    QSignalSpy shown(window_.get(), &ChatWindow::livePanelShown);
    auto* dock = window_->findChild<QDockWidget*>(QStringLiteral("liveDock"));
    dock->findChild<QAbstractButton*>(QStringLiteral("qt_dockwidget_closebutton"))->click();
    QVERIFY(!dock->isVisible());
    QCOMPARE(shown.count(), 1);
    QCOMPARE(shown[0][0].toBool(), false);
  }

  // The program may have to wait for its threads.
  void itsOtherWindowsGoWithIt() {
    auto* dialog = new QDialog(window_.get());
    dialog->show();
    window_->set_live_panel(new QLabel);
    auto* dock = window_->findChild<QDockWidget*>(QStringLiteral("liveDock"));
    dock->setFloating(true);
    dock->show();
    QVERIFY(dialog->isVisible() && dock->isVisible());
    window_->close();
    QVERIFY(!dialog->isVisible() && !dock->isVisible());
  }

  void closingIsAnnounced() {
    QSignalSpy closing(window_.get(), &ChatWindow::closing);
    window_->close();
    QCOMPARE(closing.count(), 1);
  }

  void everyControlHasANameForScreenReaders() {
    for (const QWidget* widget : window_->findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || qobject_cast<const QMenu*>(widget)) continue;
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()) ||
                         !widget->parentWidget()->accessibleName().isEmpty() ||
                         widget->objectName().startsWith(QLatin1String("qt_"));
      QVERIFY2(named, qPrintable(QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') +
                                 widget->objectName()));
    }
  }

 private:
  std::unique_ptr<ChatWindow> window_;
  QToolButton* picker_ = nullptr;
  std::vector<QUrl> opened_;
};
FOVEA_TEST(ChatWindowTest)

#include "chat_window_test.moc"
