// What the models window is told of a model before it shows it.
#include "app/window/model_rows.h"

#include <QApplication>
#include <QLabel>
#include <QLocale>

#include "app/advisor/candidates.h"
#include "app/advisor/catalogue.h"
#include "tests/support/test.h"
#include "ui/language/language.h"
#include "ui/models/download_page.h"
#include "ui/models/models_view.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

using namespace fovea;
using namespace fovea::app;

class ModelRowsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // As exact as there is room for; the smallest where there is room for none.
  void proposesTheLargestVersionThatFits() {
    constexpr std::int64_t gigabyte = 1'000'000'000;
    std::vector<ModelChoice> choices(4);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      choices[i].name = "a-" + std::to_string(i);
      choices[i].bytes = std::vector{3, 5, 6, 40}[i] * gigabyte;
    }
    choices[2].is_complete = false;
    const auto proposed = [&](std::int64_t gigabytes) {
      app::ModelRoom machine;
      machine.options.precision.budget_bytes = gigabytes * gigabyte;
      const auto rows = rows_of(choices, "somebody/a", machine);
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].is_proposed) found.push_back(i);
      return found;
    };
    QCOMPARE(proposed(16), std::vector<std::size_t>{1});
    QCOMPARE(proposed(1), std::vector<std::size_t>{0});
    QVERIFY(rows_of({}, "somebody/a", {}).empty());
  }

  // What is not open, can be read and is not known to be too large.
  void saysWhatCanBeOpened() {
    LibraryModel model;
    model.path = model.real = "/models/a.gguf";
    const auto can_open = [&] { return row_of(model, "/models/b.gguf").can_open; };
    QVERIFY(!can_open());
    model.is_read = true;
    QVERIFY(can_open());
    QVERIFY(!row_of(model, "/models/a.gguf").can_open);
    model.fit.emplace().kind = FitKind::lower_precision;
    QVERIFY(can_open());
    model.fit->kind = FitKind::does_not_fit;
    QVERIFY(!can_open());
    model.fit.reset();
    model.error.emplace();
    QVERIFY(!can_open());
  }

  // Nothing that a card of the catalogue says is cut at 1280 pixels beside the sidebar, however it fits.
  void theCatalogueIsWholeOnASmallWindow_data() {
    QTest::addColumn<QString>("language");
    QTest::addColumn<int>("fit");
    for (const char* language : {"en", "de"})
      for (const FitKind fit :
           {FitKind::fits, FitKind::lower_precision, FitKind::experts_elsewhere, FitKind::does_not_fit})
        QTest::addRow("%s, %d", language, static_cast<int>(fit))
            << QString::fromLatin1(language) << static_cast<int>(fit);
  }
  void theCatalogueIsWholeOnASmallWindow() {
    QFETCH(QString, language);
    QFETCH(int, fit);
    const auto restore = qScopeGuard([was = QLocale(), font = QApplication::font()] {
      QLocale::setDefault(was);
      QApplication::setFont(font);
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(QPalette());
      ui::use_language(QStringLiteral("en"));
    });
    ui::use_language(language);
    QLocale::setDefault(QLocale(language));
    QFont font = QApplication::font();
    font.setPointSizeF(9.75);  // 13 pixels, as a desktop has it
    QApplication::setFont(font);
    ui::apply_theme(*qApp, ui::Scheme::light);
    std::vector<ui::CatalogueRow> rows;
    for (const CatalogueEntry& entry : catalogue()) {
      Candidate candidate;
      candidate.name = entry.name;
      candidate.entry = entry;
      candidate.file_bytes = entry.bytes > 0 ? entry.bytes : 88'800'000'000;
      candidate.fit = {.kind = static_cast<FitKind>(fit),
                       .is_estimate = true,
                       .budget_bytes = 88'800'000'000,
                       .needed_bytes = 88'800'000'000,
                       .min_bytes = 88'800'000'000};
      rows.push_back(row_of(candidate, {}));
      candidate.fit.is_estimate = false;
      candidate.fit.report.options.precision.policy = PolicyKind::fovea;  // the longest words
      rows.push_back(row_of(candidate, {}));
      candidate.fit.on_card = true;
      rows.push_back(row_of(candidate, {}));
      candidate.fit.is_estimate = true;
      rows.push_back(row_of(candidate, {}));
    }
    ui::ModelsView view;
    view.resize(1280 - ui::sidebar_width - 8, 720);  // what grasps the sidebar
    view.show();
    view.download().set_catalogue(rows);
    view.show_download();
    QCoreApplication::processEvents();
    int labels = 0;
    QStringList cut;
    for (const char* name : {"cardName", "cardAbout", "cardSize", "cardFit", "cardNeeds"})
      for (const QLabel* label : view.findChildren<QLabel*>(QLatin1String(name))) {
        if (!label->isVisible()) continue;
        ++labels;
        const int lacks = label->fontMetrics().horizontalAdvance(label->text()) - label->width();
        if (lacks > 0)
          cut += QStringLiteral("%1: %2 lacks %3").arg(QLatin1String(name), label->text()).arg(lacks);
      }
    QVERIFY(labels >= static_cast<int>(4 * rows.size()));
    QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
  }
};

FOVEA_TEST(ModelRowsTest)
#include "model_rows_test.moc"
