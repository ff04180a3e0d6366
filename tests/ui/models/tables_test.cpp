// The tables as models of Qt: their rules, their words, and what stays when rows change.
#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/models/fit_style.h"
#include "ui/models/hub_tables.h"
#include "ui/models/library_table.h"

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
  void libraryKeepsTheRulesWhileRowsComeAndGo() {
    LibraryTable table;
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    auto rows = sample_models();
    table.set_rows(rows);
    QCOMPARE(table.rowCount(), 6);
    const QPersistentModelIndex third = table.index(2, 0);
    rows.erase(rows.begin());
    std::swap(rows[0], rows[3]);
    rows.push_back(sample_models().front());
    rows.back().path = QStringLiteral("/another");
    table.set_rows(rows);
    QCOMPARE(table.rowCount(), 6);
    QVERIFY(third.isValid());  // what stays keeps its selection
    QCOMPARE(third.data().toString(), QStringLiteral("Qwen3-Next-80B-A3B-Instruct"));
    table.set_rows({});
    QCOMPARE(table.rowCount(), 0);
    QVERIFY(!third.isValid());
  }

  void oneRowChanges() {
    LibraryTable table;
    table.set_rows(sample_models());
    QSignalSpy changed(&table, &QAbstractItemModel::dataChanged);
    LibraryRow row = table.row(5);
    table.set_row(row);
    QCOMPARE(changed.count(), 0);  // nothing new
    row.is_read = true;
    row.fit = FitView::fits;
    row.fit_text = QStringLiteral("Fits");
    table.set_row(row);
    QCOMPARE(changed.count(), 1);
    QVERIFY(text(table, 5, LibraryTable::fit).endsWith(QStringLiteral("Fits")));
    row.path = QStringLiteral("/unknown");
    table.set_row(row);
    QCOMPARE(table.rowCount(), 6);
  }

  void libraryWords() {
    LibraryTable table;
    table.set_rows(sample_models());
    QCOMPARE(text(table, 0, LibraryTable::name), QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M (open)"));
    QCOMPARE(text(table, 0, LibraryTable::size), QStringLiteral("18.6\u00A0GB"));
    QCOMPARE(text(table, 0, LibraryTable::experts), QStringLiteral("8 of 128"));
    QCOMPARE(text(table, 3, LibraryTable::experts), QStringLiteral("none"));
    QCOMPARE(text(table, 0, LibraryTable::context), QStringLiteral("262,144"));
    QCOMPARE(text(table, 4, LibraryTable::fit), QStringLiteral("Cannot be opened"));
    QVERIFY(
        text(table, 4, LibraryTable::name, Qt::ToolTipRole).contains(QStringLiteral("download it again")));
    QCOMPARE(text(table, 5, LibraryTable::fit), QStringLiteral("Looking…"));
    QCOMPARE(text(table, 5, LibraryTable::quantization), QString());
    // A screen reader hears the words without the mark.
    QCOMPARE(text(table, 0, LibraryTable::fit, Qt::AccessibleTextRole), QStringLiteral("Fit: Fits"));
    // Sorted by numbers and not by their words; what cannot be opened is last.
    QVERIFY(table.index(0, LibraryTable::size).data(LibraryTable::sort_role).toLongLong() >
            table.index(5, LibraryTable::size).data(LibraryTable::sort_role).toLongLong());
    QVERIFY(table.index(4, LibraryTable::fit).data(LibraryTable::sort_role).toInt() >
            table.index(3, LibraryTable::fit).data(LibraryTable::sort_role).toInt());
  }

  // Each answer differs without its colour.
  void fitsDifferByTheirMarks() {
    QStringList marks;
    for (const FitView fit :
         {FitView::fits, FitView::lower_precision, FitView::experts_elsewhere, FitView::does_not_fit})
      marks += fit_mark(fit);
    QCOMPARE(marks.removeDuplicates(), 0);
    QVERIFY(!marks.contains(QString()));
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
    versions.set_rows({});
    repositories.set_rows({});
    QCOMPARE(versions.rowCount(), 0);
  }
};
FOVEA_TEST(ModelTablesTest)

#include "tables_test.moc"
