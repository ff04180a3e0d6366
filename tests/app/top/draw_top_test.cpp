// The screen of fovea top, of a model that is made up: what it says, in what room.
#include "app/top/draw_top.h"

#include <QRandomGenerator>
#include <nlohmann/json.hpp>

#include "app/top/top_keys.h"
#include "app/top/top_report.h"
#include "tests/app/server/watched.h"
#include "tests/support/test.h"

#include "screen_reader.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::tests;

namespace {

// 40 moments of 10 tokens each, a question in the middle, behind which experts change places.
TopModel watched() {
  TopModel model;
  for (int i = 1; i <= 40; ++i)
    model.add(
        {.model = watched_sample(), .snapshot = snapshot_sample(10 * i, i > 20), .questions = i > 20 ? 2 : 1},
        0.1 * i);
  return model;
}

std::string text_of(const Canvas& canvas) {
  std::string text;
  for (int row = 0; row < canvas.rows(); ++row) text += canvas.text(row) + "\n";
  return text;
}

TopView view_of(const TopModel& model, Colours colours) {
  TopView view{.state = TopView::State::live, .source = "127.0.0.1:11435", .now = 100, .colours = colours};
  view.places.by_hotness(model.frame());
  return view;
}

}  // namespace

class DrawTopTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhatThePanelSays_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("colours");
    for (const auto& [rows, columns] : {std::pair(24, 80), std::pair(60, 200)})
      for (const Colours colours : {Colours::none, Colours::sixteen, Colours::palette, Colours::all})
        QTest::addRow("%d x %d, colours %d", columns, rows, static_cast<int>(colours))
            << rows << columns << static_cast<int>(colours);
  }
  void saysWhatThePanelSays() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, colours);
    const TopModel model = watched();
    const Canvas canvas = draw_top(model, view_of(model, static_cast<Colours>(colours)), rows, columns);
    const std::string text = text_of(canvas);
    for (const char* const part :
         {"Fovea demo", "live · 127.0.0.1:11435", "97 % of the model's quality kept",
          "experts in use average 6.9 bits", "adaptive 97 %", "fixed    94 %", "all low  88 %",
          "Since the last question, 8 experts rose to more bits, 8 fell to fewer",
          "no token of the answer waited.", "4 layers, 6 experts in each, hottest first", "8 bits", "2 bits",
          "Memory", "250 MiB of 300 MiB", "24.2 tok/s", "1,061 up, 1,060 down", "3.00 GiB read"})
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " is not in\n" + text).c_str());
    // The same in a terminal, which is told nothing else.
    ScreenReader screen(rows, columns);
    screen.read(canvas.difference(nullptr, static_cast<Colours>(colours)));
    QCOMPARE(QString::fromStdString(screen.text()), QString::fromStdString(text));
    QCOMPARE(screen.has_colours(), static_cast<Colours>(colours) != Colours::none);
    QVERIFY2(screen.unknown().empty(), screen.unknown().c_str());
  }

  // A row of memory for each of two cards, and both together where there are few rows.
  void eachOfTwoCardsHasARow() {
    WatchedModel watched = watched_sample();
    watched.cards = {{.name = "cuda:0", .layers = watched.layer_numbers[0] + 1, .budget_bytes = 100 << 20},
                     {.name = "cuda:1", .budget_bytes = 300 << 20}};
    TopModel model;
    model.add({.model = watched, .snapshot = snapshot_sample(10), .questions = 0}, 1);
    const std::string text = text_of(draw_top(model, view_of(model, Colours::none), 24, 100));
    for (const char* const part :
         {"cuda:0 ", " of 100 MiB", "cuda:1 ", " of 300 MiB", ", the first 1 on cuda:0"})
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " is not in\n" + text).c_str());
    QVERIFY2(text.find("Memory") == std::string::npos, text.c_str());
    const std::string small = text_of(draw_top(model, view_of(model, Colours::none), 10, 80));
    QVERIFY2(small.find("Memory") != std::string::npos && small.find(" of 400 MiB") != std::string::npos,
             small.c_str());
    const auto json = top_json(model, "");
    QCOMPARE(json["cards"].size(), std::size_t{2});
    QVERIFY(json["cards"][0]["layers"] == watched.layer_numbers[0] + 1 &&
            json["cards"][1]["name"] == "cuda:1");
    QVERIFY(json["used_bytes"].get<std::int64_t>() - json["cards"][0]["used_bytes"].get<std::int64_t>() -
                json["cards"][1]["used_bytes"].get<std::int64_t>() <=
            1);
  }

  void lettersWhereThereIsNoColour() {
    const TopModel model = watched();
    TopView view = view_of(model, Colours::none);
    const std::string text = text_of(draw_top(model, view, 24, 80));
    QVERIFY2(text.find("\n  0 88888888888 22222222222 22222222222 8") != std::string::npos, text.c_str());
    QVERIFY(text.find("▀") == std::string::npos);
    QVERIFY2(text.find("Memory wwww") != std::string::npos && text.find("8888822") != std::string::npos,
             text.c_str());
    // Of the last layer two places are nobody's.
    const std::size_t last = text.find("\n  5 ");
    QVERIFY(last != std::string::npos);
    const std::string row = text.substr(last + 1, text.find('\n', last + 1) - last - 1);
    const std::size_t first = text.find("\n  0 ");
    const std::string whole = text.substr(first + 1, text.find('\n', first + 1) - first - 1);
    QVERIFY2(row.size() < whole.size(), text.c_str());
  }

  void oneLayerByItself() {
    const TopModel model = watched();
    TopView view = view_of(model, Colours::all);
    view.layer = 3;
    const std::string text = text_of(draw_top(model, view, 24, 80));
    QVERIFY2(text.find("layer 5, 4 experts, hottest first") != std::string::npos, text.c_str());
    const std::size_t hottest = text.find("   3 8b   ██████"), next = text.find("   2 8b   ███");
    QVERIFY2(hottest != std::string::npos && next != std::string::npos && hottest < next, text.c_str());
    view.places.by_index(4, 6);
    view.by_number = true;
    const std::string numbered = text_of(draw_top(model, view, 24, 80));
    QVERIFY2(numbered.find("   0 2b") < numbered.find("   3 8b"), numbered.c_str());
  }

  void detailsAndHelp() {
    const TopModel model = watched();
    TopView view = view_of(model, Colours::all);
    view.below = TopView::Below::details;
    const std::string text = text_of(draw_top(model, view, 24, 80));
    for (const char* const part :
         {"8 bits", "8 experts", "80.0 MiB", "75 % of the uses", "No token of an answer waited for the disk.",
          "busiest tenth", "400 tokens since the model was opened"})
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " is not in\n" + text).c_str());
    view.below = TopView::Below::help;
    const std::string help = text_of(draw_top(model, view, 24, 80));
    for (const char* const part : {"space", "hottest first", "one layer", "leave"})
      QVERIFY2(help.find(part) != std::string::npos, help.c_str());
  }

  // However small, and whatever is looked at.
  void everySizeWillDo() {
    const TopModel model = watched(), nothing;
    for (const TopModel* const each : {&model, &nothing})
      for (const Colours colours : {Colours::none, Colours::all})
        for (const TopView::Below below :
             {TopView::Below::map, TopView::Below::details, TopView::Below::help})
          for (const bool one : {false, true})
            for (const int rows : {1, 2, 3, 5, 9, 10, 14, 17, 18, 22, 24, 40, 100})
              for (const int columns : {1, 2, 5, 11, 20, 30, 39, 80, 81, 300}) {
                TopView view{.state = TopView::State::live,
                             .below = below,
                             .note = "Nothing is there.",
                             .colours = colours};
                if (!each->is_empty()) view.places.by_hotness(each->frame());
                if (one) view.layer = 3;
                const Canvas canvas = draw_top(*each, view, rows, columns);
                QCOMPARE(canvas.rows(), rows);
                for (int row = 0; row < rows; ++row) QVERIFY(columns_of(canvas.text(row)) <= columns);
              }
    // The one number stays.
    QVERIFY(text_of(draw_top(model, view_of(model, Colours::all), 3, 20)).find("97 %") != std::string::npos);
  }

  void whatIsMissingIsSaid() {
    TopModel model;
    Snapshot early = snapshot_sample(0);
    early.quality = {};
    model.add({.model = watched_sample(), .snapshot = early}, 1);
    const std::string text = text_of(draw_top(model, view_of(model, Colours::all), 24, 80));
    QVERIFY2(text.find("– of the model's quality kept") != std::string::npos, text.c_str());
    QVERIFY(text.find("adaptive") == std::string::npos);
    QVERIFY(text.find("Since you began to watch, no expert had to change") != std::string::npos);
    TopModel dense;
    WatchedModel plain{.name = "plain"};
    dense.add({.model = plain, .snapshot = {}}, 1);
    const std::string said = text_of(draw_top(dense, view_of(dense, Colours::all), 24, 80));
    QVERIFY2(said.find("This model has no experts") != std::string::npos, said.c_str());
    QVERIFY(said.find("100 %") != std::string::npos);
  }

  // Another model is not the one before.
  void anotherModelBeginsAnew() {
    TopModel model = watched();
    QCOMPARE(model.story().size(), 2U);
    WatchedModel other = watched_sample();
    other.name = "another";
    model.add({.model = other, .snapshot = snapshot_sample(10)}, 9);
    QCOMPARE(model.moments(), 1);
    QCOMPARE(model.story().size(), 1U);
    // The same one, opened again.
    model.add({.model = other, .snapshot = snapshot_sample(5)}, 10);
    QCOMPARE(model.moments(), 1);
    QCOMPARE(model.story().size(), 1U);
  }

  void oneMomentAsText() {
    const std::string text = top_text(watched(), "127.0.0.1:11435", 100);
    for (const char* const part :
         {"97 % of the model's quality kept", "Since the last question", "\n  5 ", "Memory"})
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " is not in\n" + text).c_str());
    QVERIFY2(text.find('\033') == std::string::npos && text.find("h help") == std::string::npos,
             text.c_str());
    QVERIFY(text.ends_with("read\n"));
  }

  void oneMomentAsJson() {
    const auto json = top_json(watched(), "here");
    QCOMPARE(json["model"], "Fovea demo");
    QCOMPARE(json["policy"], "fovea");
    QVERIFY(std::abs(json["quality_kept"].get<double>() - std::exp(-0.0305)) < 1e-9);
    QVERIFY(std::abs(json["fixed_kept"].get<double>() - std::exp(-0.0619)) < 1e-9);
    QVERIFY(std::abs(json["low_kept"].get<double>() - std::exp(-0.1278)) < 1e-9);
    QCOMPARE(json["tiers"][0]["share_of_uses"], 0.75);
    QCOMPARE(json["used_bytes"], 250 << 20);
    QCOMPARE(json["promotions"], 1061);
    TopModel early;
    Snapshot nothing = snapshot_sample(0);
    nothing.quality = {};
    early.add({.model = watched_sample(), .snapshot = nothing}, 1);
    QVERIFY(top_json(early, "here")["quality_kept"].is_null());
  }

  void keys() {
    TopKeys keys;
    using Keys = std::vector<TopKey>;
    QCOMPARE(keys.read("q ?"), (Keys{TopKey::leave, TopKey::hold, TopKey::help}));
    QCOMPARE(keys.read("\033[A\033OBx"), (Keys{TopKey::up, TopKey::down}));
    QCOMPARE(keys.read("\033"), Keys{});  // in pieces
    QVERIFY(keys.is_within_sequence());
    QCOMPARE(keys.read("["), Keys{});
    QCOMPARE(keys.read("B"), Keys{TopKey::down});
    QCOMPARE(keys.read("\033"), Keys{});
    QCOMPARE(keys.pause(), Keys{TopKey::back});
    QCOMPARE(keys.read("\033\033"), Keys{TopKey::back});
    QCOMPARE(keys.read("s"), (Keys{TopKey::back, TopKey::sort}));
    QCOMPARE(keys.read("\033[1;5A\033[200~\033[Zl"),
             Keys{TopKey::layer});  // others' sequences are passed over
    QVERIFY(!keys.is_within_sequence());
  }
};

FOVEA_TEST(DrawTopTest)
#include "draw_top_test.moc"
