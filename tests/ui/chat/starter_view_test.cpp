#include "ui/chat/starter_view.h"

#include <QLayout>
#include <QSignalSpy>

#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"

using namespace fovea::ui;

class StarterViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    window_ = std::make_unique<ChatWindow>();
    window_->resize(1000, 700);
    window_->show();
    window_->set_model(QStringLiteral("Demo"), {});
    starters_ = window_->findChild<StarterView*>();
    QVERIFY(starters_);
  }

  void theyStandInAnEmptyConversationOfTheirModel() {
    window_->set_state(ChatWindow::State::ready);
    QVERIFY(!starters_->isVisible());  // this model suggests nothing
    window_->set_starters(QStringLiteral("A small model."), two());
    QVERIFY(starters_->isVisible());
    QCOMPARE(cards().size(), 2);
    window_->set_state(ChatWindow::State::generating);
    QVERIFY(!starters_->isVisible());
    window_->set_state(ChatWindow::State::ready);
    window_->set_starters({}, {});
    QVERIFY(!starters_->isVisible());
  }

  void aCardAsksItsQuestion() {
    window_->set_state(ChatWindow::State::ready);
    window_->set_starters({}, two());
    QSignalSpy sent(window_.get(), &ChatWindow::sendRequested);
    QTest::mouseClick(cards()[1], Qt::LeftButton);
    QCOMPARE(sent.count(), 1);
    QCOMPARE(sent[0][0].toString(), two()[1].text);
    cards()[0]->setFocus();
    QTest::keyClick(cards()[0], Qt::Key_Space);
    QCOMPARE(sent.count(), 2);
    QCOMPARE(sent[1][0].toString(), two()[0].text);
  }

  void whatWasTypedIsNotLost() {
    window_->set_state(ChatWindow::State::ready);
    window_->set_starters({}, two());
    window_->composer().set_text(QStringLiteral("half a thought"));
    QSignalSpy sent(window_.get(), &ChatWindow::sendRequested);
    QTest::mouseClick(cards()[0], Qt::LeftButton);
    QCOMPARE(sent.count(), 0);
    QCOMPARE(window_->composer().text(), QStringLiteral("half a thought\n") + two()[0].text);
  }

  // As high as what is in them: two lines of text only where one wraps.
  void cardsAreAsHighAsTheirTexts() {
    window_->resize(1000, 700);
    window_->show();
    window_->set_state(ChatWindow::State::ready);
    const auto show = [this](const std::vector<Starter>& starters) {
      window_->set_starters({}, starters);
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);  // those before
    };
    show(two());
    const int one_line = cards()[0]->sizeHint().height();
    std::vector<Starter> longer = two();
    longer[1].text =
        QStringLiteral("What is two and two, and why do people say that nothing is as sure as that?");
    show(longer);
    const int two_lines = cards()[0]->sizeHint().height();
    QCOMPARE(two_lines, one_line + cards()[0]->fontMetrics().lineSpacing());
    QCOMPARE(cards()[1]->sizeHint().height(), two_lines);
    show(two());
    QCOMPARE(cards()[0]->sizeHint().height(), one_line);
  }

  void theyMakeNoWindowLarger() {
    window_->set_state(ChatWindow::State::ready);
    const auto least = [this] {
      window_->centralWidget()->layout()->activate();
      return window_->centralWidget()->minimumSizeHint();
    };
    const QSize before = least();
    window_->set_starters(QStringLiteral("A small model."), two());
    QCOMPARE(least(), before);
  }

 private:
  static std::vector<Starter> two() {
    return {{QStringLiteral("A tale"), QStringLiteral("Tell me a tale.")},
            {QStringLiteral("A sum"), QStringLiteral("What is two and two?")}};
  }
  QList<StarterCard*> cards() const {
    QList<StarterCard*> shown;
    for (StarterCard* card : starters_->findChildren<StarterCard*>())
      if (card->isVisible()) shown += card;
    return shown;
  }

  std::unique_ptr<ChatWindow> window_;
  StarterView* starters_ = nullptr;
};
FOVEA_TEST(StarterViewTest)

#include "starter_view_test.moc"
