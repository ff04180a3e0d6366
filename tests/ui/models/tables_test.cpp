// The tables as models of Qt: their rules, their words, and what stays when rows change.
#include <QAbstractItemModelTester>
#include <QIcon>
#include <set>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/theme/fit.h"
#include "ui/models/hub_tables.h"

using namespace fovea::ui;
using namespace fovea::tests;

namespace {

QString text(const QAbstractItemModel& model, int row, int column, int role = Qt::DisplayRole) {
  return model.index(row, column).data(role).toString();
}

}  // namespace

class ModelTablesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Each answer differs without its colour.
  void fitsDifferByTheirMarks() {
    std::set<Glyph> marks;
    for (const FitView fit :
         {FitView::fits, FitView::lower_precision, FitView::experts_elsewhere, FitView::does_not_fit})
      marks.insert(fit_glyph(fit).value());
    QCOMPARE(marks.size(), 4U);
    QVERIFY(!fit_glyph(FitView::unknown));
  }

  void hubTablesKeepTheRules() {
    RepositoryTable repositories;
    VersionTable versions;
    const QAbstractItemModelTester first(&repositories,
                                         QAbstractItemModelTester::FailureReportingMode::Fatal);
    const QAbstractItemModelTester second(&versions, QAbstractItemModelTester::FailureReportingMode::Fatal);
    repositories.set_rows(sample_repositories());
    versions.set_rows(sample_versions());
    QCOMPARE(repositories.rowCount(), 4);
    QCOMPARE(text(repositories, 0, RepositoryTable::downloads), QStringLiteral("1.2 M"));
    QCOMPARE(text(repositories, 2, RepositoryTable::downloads), QStringLiteral("88 k"));
    QVERIFY(text(repositories, 3, RepositoryTable::name).endsWith(QStringLiteral("(terms)")));
    QCOMPARE(text(versions, 1, VersionTable::name), QStringLiteral("Q4_K_M"));
    QCOMPARE(text(versions, 1, VersionTable::size), QStringLiteral("18.6\u00A0GB"));
    QVERIFY(text(versions, 4, VersionTable::fit).contains(QStringLiteral("missing")));
    const auto mark = [&](int row, int column) {
      return !versions.index(row, column).data(Qt::DecorationRole).value<QIcon>().isNull();
    };
    QVERIFY(mark(1, VersionTable::fit) && !mark(1, VersionTable::name) && !mark(4, VersionTable::fit));
    versions.set_rows({});
    repositories.set_rows({});
    QCOMPARE(versions.rowCount(), 0);
  }
};
FOVEA_TEST(ModelTablesTest)

#include "tables_test.moc"
