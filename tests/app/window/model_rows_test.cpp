// What the models window is told of a model before it shows it.
#include "app/window/model_rows.h"

#include "tests/support/test.h"

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
      LoadOptions machine;
      machine.precision.budget_bytes = gigabytes * gigabyte;
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
};

FOVEA_TEST(ModelRowsTest)
#include "model_rows_test.moc"
