#include "ui/chat/transcript_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QScrollBar>
#include <QSignalSpy>

#include "tests/support/test.h"

using namespace fovea::ui;

class TranscriptViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    view_ = std::make_unique<TranscriptView>();
    view_->resize(600, 400);
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
  }

  void streamedTextArrivesWhole() {
    view_->add_message(Author::user, QStringLiteral("hi"));
    view_->add_message(Author::assistant, {});
    for (int i = 0; i < 100; ++i) view_->append_to_last(QStringLiteral("word%1 ").arg(i));
    QTRY_VERIFY(!view_->grab().toImage().isNull());
    QCOMPARE(view_->message_count(), 2);
    QVERIFY(view_->message_text(1).startsWith(QStringLiteral("word0 word1 ")));
    QVERIFY(view_->message_text(1).endsWith(QStringLiteral("word99 ")));
  }

  void finishedBlocksAreNotLaidOutAgain() {
    QString long_answer;
    for (int i = 0; i < 200; ++i) long_answer += QStringLiteral("paragraph %1\n\n").arg(i);
    view_->add_message(Author::assistant, long_answer);
    QTRY_VERIFY(view_->verticalScrollBar()->isVisible());  // it takes some width, so all was laid out again
    QTest::qWait(0);
    const long before = view_->layouts_made();
    view_->append_to_last(QStringLiteral("one more"));
    QTRY_VERIFY(view_->layouts_made() > before);
    QVERIFY2(view_->layouts_made() - before <= 2,
             qPrintable(QString::number(view_->layouts_made() - before)));
  }

  void followsTheEndUnlessTheReaderScrolledUp() {
    view_->add_message(Author::assistant, QStringLiteral("line\n\n").repeated(100));
    QScrollBar* bar = view_->verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());
    const int old_maximum = bar->maximum();
    view_->append_to_last(QStringLiteral("more\n\n").repeated(20));
    QTRY_VERIFY(bar->maximum() > old_maximum);
    QCOMPARE(bar->value(), bar->maximum());
    bar->setValue(10);
    const int maximum = bar->maximum();
    view_->append_to_last(QStringLiteral("and more\n\n").repeated(20));
    QTRY_VERIFY(bar->maximum() > maximum);
    QCOMPARE(bar->value(), 10);
  }

  void selectAllCopiesEverything() {
    view_->add_message(Author::user, QStringLiteral("question"));
    view_->add_message(Author::assistant, QStringLiteral("first **bold**\n\n- item"));
    view_->select_all();
    QCOMPARE(view_->selected_text(), QStringLiteral("question\n\nfirst bold\n\nitem"));
    view_->copy_selection();
    QCOMPARE(QGuiApplication::clipboard()->text(), view_->selected_text());
  }

  void draggingSelects() {
    view_->add_message(Author::assistant, QStringLiteral("alpha beta"));
    QWidget* area = view_->viewport();
    QTest::mousePress(area, Qt::LeftButton, {}, {1, 30});
    QTest::mouseMove(area, {595, 30});
    QTest::mouseRelease(area, Qt::LeftButton, {}, {595, 30});
    QCOMPARE(view_->selected_text(), QStringLiteral("alpha beta"));
  }

  void clickingALinkAsks() {
    QSignalSpy asked(view_.get(), &TranscriptView::linkActivated);
    view_->add_message(Author::assistant, QStringLiteral("[linklinklink](https://a.example/)"));
    QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, {40, 32});
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked[0][0].toString(), QStringLiteral("https://a.example/"));
  }

  void clearingForgetsTheSelection() {
    view_->add_message(Author::user, QStringLiteral("x"));
    view_->select_all();
    view_->clear();
    QCOMPARE(view_->selected_text(), QString());
    QCOMPARE(view_->message_count(), 0);
  }

  void narrowAndWideWindowsBothWork() {
    view_->add_message(Author::assistant, QStringLiteral("| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n") +
                                              QStringLiteral("wide ").repeated(200) +
                                              QStringLiteral("\n```"));
    for (const int width : {60, 200, 2000}) {
      view_->resize(width, 300);
      QVERIFY(!view_->grab().isNull());
    }
  }

 private:
  std::unique_ptr<TranscriptView> view_;
};
FOVEA_TEST(TranscriptViewTest)

#include "transcript_view_test.moc"
