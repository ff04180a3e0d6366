// The line of what was kept: questions are marked on it.
#include "tests/support/test.h"
#include "ui/live/gauge_view.h"

using namespace fovea;
using namespace fovea::ui;

class GaugeViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void questionsAreMarked() {
    QualityLine line;
    line.points.assign(11, {.kept = 0.9, .low = 0.5});
    QualityLineView view;
    view.resize(300, 90);
    view.set_line(line, {});
    const QImage without = view.grab().toImage();
    QCOMPARE(view.question_at(150), QString());
    line.questions = {{.point = 5, .words = "a tale"}, {.point = 10, .words = "now code"}};
    view.set_line(line, {});
    QVERIFY(view.grab().toImage() != without);
    QStringList met;  // from left to right
    for (int x = 0; x < view.width(); ++x)
      if (const QString words = view.question_at(x); met.isEmpty() || met.back() != words) met += words;
    const QString none;
    QCOMPARE(met, QStringList({none, QStringLiteral("a tale"), none, QStringLiteral("now code"), none}));
    QCOMPARE(view.accessibleDescription(), QStringLiteral("Asked: a tale; now code"));
  }
};

FOVEA_TEST(GaugeViewTest)
#include "gauge_view_test.moc"
