#include "ui/chat/composer.h"

#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/support/test.h"

using fovea::ui::Composer;

class ComposerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theKeysAreTold() {
    Composer composer;
    const auto* field = composer.findChild<QPlainTextEdit*>(QStringLiteral("input"));
    QVERIFY(field->toolTip().startsWith(QStringLiteral("Enter sends")));
    composer.set_send_with_control(true);
    QVERIFY(field->toolTip().startsWith(QStringLiteral("Ctrl+Enter sends")));
  }

  void rightToLeftTextBeginsAtTheRight() {
    Composer composer;
    auto* field = composer.findChild<QPlainTextEdit*>(QStringLiteral("input"));
    const auto side = [field] { return field->document()->defaultTextOption().alignment(); };
    composer.set_text(QStringLiteral("hello"));
    QCOMPARE(side(), Qt::AlignLeft);
    composer.set_text(QString::fromUtf8("\u05e9\u05dc\u05d5\u05dd hello"));
    QCOMPARE(side(), Qt::AlignRight);
    composer.set_text({});
    QCOMPARE(side(), Qt::AlignLeft);
  }

  void init() {
    composer_ = std::make_unique<Composer>();
    composer_->resize(500, 80);
    composer_->show();
    input_ = composer_->findChild<QPlainTextEdit*>(QStringLiteral("input"));
    button_ = composer_->findChild<QToolButton*>(QStringLiteral("send"));
    QVERIFY(input_ && button_);
  }

  void enterSendsAndEmpties() {
    QSignalSpy sent(composer_.get(), &Composer::sendRequested);
    composer_->set_ready(true);
    QTest::keyClicks(input_, QStringLiteral("hello"));
    QTest::keyClick(input_, Qt::Key_Return, Qt::ShiftModifier);
    QTest::keyClicks(input_, QStringLiteral("world"));
    QCOMPARE(sent.count(), 0);
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(sent.count(), 1);
    QCOMPARE(sent[0][0].toString(), QStringLiteral("hello\nworld"));
    QCOMPARE(composer_->text(), QString());
  }

  void nothingIsLostWhileNotReady() {
    QSignalSpy sent(composer_.get(), &Composer::sendRequested);
    QTest::keyClicks(input_, QStringLiteral("wait"));
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(sent.count(), 0);
    QCOMPARE(composer_->text(), QStringLiteral("wait"));
    QVERIFY(!button_->isEnabled());
  }

  void blankTextIsNotSent() {
    QSignalSpy sent(composer_.get(), &Composer::sendRequested);
    composer_->set_ready(true);
    QTest::keyClicks(input_, QStringLiteral("   "));
    QTest::keyClick(input_, Qt::Key_Return);
    QCOMPARE(sent.count(), 0);
    QVERIFY(!button_->isEnabled());
  }

  void theButtonStopsWhileGenerating() {
    QSignalSpy stopped(composer_.get(), &Composer::stopRequested);
    for (const Composer::Busy busy : {Composer::Busy::answering, Composer::Busy::waiting}) {
      composer_->set_busy(busy);
      QVERIFY(button_->isEnabled());
      QCOMPARE(button_->text(),
               busy == Composer::Busy::answering ? QStringLiteral("Stop") : QStringLiteral("Take back"));
      stopped.clear();
      button_->click();
      QCOMPARE(stopped.count(), 1);
    }
  }

  void manyFilesDoNotWidenIt() {
    std::vector<fovea::ui::AttachmentView> files;
    for (int i = 0; i < 12; ++i)
      files.push_back({QStringLiteral("R&D of a long name %1.txt").arg(i), QStringLiteral("12,000 tokens")});
    composer_->set_attachments(files);
    QCoreApplication::processEvents();
    QCOMPARE(composer_->width(), 500);
    QToolButton* last = nullptr;
    for (auto* chip : composer_->findChildren<QToolButton*>())
      if (chip->toolTip().contains(QStringLiteral("name 11"))) last = chip;
    QVERIFY(last && last->text().startsWith(QStringLiteral("R&&D")));
    QVERIFY(last->visibleRegion().isEmpty());
    composer_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(composer_.get()));
    button_->setFocus();
    for (int i = 0; i < 20 && !last->hasFocus(); ++i) QTest::keyClick(composer_->focusWidget(), Qt::Key_Tab);
    QVERIFY(last->hasFocus());
    QCOMPARE(last->visibleRegion().boundingRect().height(), last->height());
  }

  void growsWithItsTextUpToALimit() {
    const int one = input_->height();
    composer_->set_text(QStringLiteral("a\nb\nc"));
    const int three = input_->height();
    QVERIFY(three > one);
    composer_->set_text(QString(200, QLatin1Char('\n')));
    const int most = input_->height();
    QVERIFY(most > three && most < 20 * one);
    composer_->set_text({});
    QCOMPARE(input_->height(), one);
  }

 private:
  std::unique_ptr<Composer> composer_;
  QPlainTextEdit* input_ = nullptr;
  QToolButton* button_ = nullptr;
};
FOVEA_TEST(ComposerTest)

#include "composer_test.moc"
