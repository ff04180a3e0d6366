// Saved prompts where a message is typed: "/" offers them.
#include "ui/chat/prompt_picker.h"

#include <QAccessible>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QVBoxLayout>

#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/screen_reader.h"

using namespace fovea::ui;

namespace {

int heard = 0;

}  // namespace

class PromptPickerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    window_ = std::make_unique<QWidget>();
    auto* layout = new QVBoxLayout(window_.get());
    composer_ = new Composer(window_.get());
    layout->addStretch(1);
    layout->addWidget(composer_);
    composer_->set_ready(true);
    composer_->set_prompts(
        {{QStringLiteral("1"), QStringLiteral("Summarize"), QStringLiteral("Sum up:\n"), false},
         {QStringLiteral("2"), QStringLiteral("Explain it"), QStringLiteral("/explain"), false},
         {QStringLiteral("3"), QStringLiteral("It again"), QStringLiteral("Again: "), true}});
    window_->resize(600, 400);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    input_ = composer_->findChild<QPlainTextEdit*>(QStringLiteral("input"));
    composer_->focus_input();
    picker_ = window_->findChild<PromptPicker*>();
    QVERIFY(picker_ && !picker_->isVisible());
  }

  void aSlashOffersThem() {
    QTest::keyClicks(input_, QStringLiteral("/"));
    QVERIFY(picker_->isVisible());
    QCOMPARE(offered().size(), 3);
    QVERIFY(window_->rect().contains(picker_->geometry()));
    QVERIFY(picker_->geometry().bottom() < input_->mapTo(window_.get(), QPoint()).y());
    QTest::keyClicks(input_, QStringLiteral("it"));
    QCOMPARE(offered(), QStringList({QStringLiteral("It again"), QStringLiteral("Explain it")}));
    QTest::keyClick(input_, Qt::Key_Down);
    QTest::keyClick(input_, Qt::Key_Down);  // around
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(composer_->text(), QStringLiteral("Again: "));
    QVERIFY(!picker_->isVisible());
  }

  // Its own text may begin like that; Enter then sends it.
  void whatWasTakenIsNoQuestion() {
    QSignalSpy sent(composer_, &Composer::sendRequested);
    QTest::keyClicks(input_, QStringLiteral("/expl"));
    QTest::keyClick(input_, Qt::Key_Tab);
    QCOMPARE(composer_->text(), QStringLiteral("/explain"));
    QVERIFY(!picker_->isVisible());
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(sent.count(), 1);
  }

  void otherTextIsLeftAlone_data() {
    QTest::addColumn<QString>("typed");
    QTest::newRow("a path") << QStringLiteral("/usr/bin is what?");
    QTest::newRow("later in a message") << QStringLiteral("and/or");
    QTest::newRow("words") << QStringLiteral("Summarize");
  }
  void otherTextIsLeftAlone() {
    QFETCH(QString, typed);
    QSignalSpy sent(composer_, &Composer::sendRequested);
    QTest::keyClicks(input_, typed);
    QVERIFY(!picker_->isVisible());
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(sent.value(0), QVariantList({typed}));
  }

  void escapeLeavesWhatIsTyped() {
    QTest::keyClicks(input_, QStringLiteral("/su"));
    QVERIFY(picker_->isVisible());
    QTest::keyClick(input_, Qt::Key_Escape);
    QVERIFY(!picker_->isVisible());
    QCOMPARE(composer_->text(), QStringLiteral("/su"));
  }

  // A draft that comes back is nobody's typing, nor is an earlier message that is changed.
  void onlyTypingOffersThem() {
    composer_->set_text(QStringLiteral("/su"));
    QVERIFY(!picker_->isVisible());
    composer_->set_editing(true);
    composer_->set_text({});
    QTest::keyClicks(input_, QStringLiteral("/"));
    QVERIFY(!picker_->isVisible());
  }

  void anInsertedPromptComesWhereTheCaretIs() {
    composer_->set_text(QStringLiteral("before after"));
    QTextCursor caret = input_->textCursor();
    caret.setPosition(7);
    input_->setTextCursor(caret);
    composer_->insert(QStringLiteral("between "));
    QCOMPARE(composer_->text(), QStringLiteral("before between after"));
  }

  void aScreenReaderHearsTheChoice() {
    heard = 0;
    set_screen_reader_listener([](QAccessibleEvent& event) {
      if (event.type() == QAccessible::Focus) ++heard;
    });
    QTest::keyClicks(input_, QStringLiteral("/"));
    const int first = heard;
    QTest::keyClick(input_, Qt::Key_Down);
    const int second = heard;
    set_screen_reader_listener(nullptr);
    QCOMPARE(first, 1);
    QCOMPARE(second, 2);
  }

 private:
  QStringList offered() const {
    QStringList names;
    const auto* list = picker_->findChild<QListWidget*>();
    for (int row = 0; row < list->count(); ++row) names += list->item(row)->text();
    return names;
  }

  std::unique_ptr<QWidget> window_;
  Composer* composer_ = nullptr;
  QPlainTextEdit* input_ = nullptr;
  PromptPicker* picker_ = nullptr;
};
FOVEA_TEST(PromptPickerTest)

#include "prompt_picker_test.moc"
