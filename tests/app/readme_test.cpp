// What the documents promise is there: commands, their flags, files, and what a card holds.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <vector>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::content;
using fovea::tests::run;

namespace {

const std::filesystem::path root(FOVEA_SOURCE_DIR);

// README.md, CONTRIBUTING.md and all pages of docs.
std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> found{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

std::string text_of_all_pages() {
  std::string text;
  for (const auto& page : pages()) text += content(page) + "\n";
  return text;
}

}  // namespace

class ReadmeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // `fovea COMMAND …` in code: the command has help, and that names each flag written there.
  void commands_data() {
    QTest::addColumn<QByteArray>("command");
    QTest::addColumn<QByteArray>("flags");
    static const std::regex code("`(?:build/release/)?fovea ([a-z-]+)([^`]*)`");
    const std::string text = text_of_all_pages();
    int number = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) {
      QTest::addRow("%d: %s", ++number, (*it)[0].str().c_str())
          << QByteArray::fromStdString((*it)[1]) << QByteArray::fromStdString((*it)[2]);
    }
    QVERIFY(number >= 8);
  }
  void commands() {
    QFETCH(QByteArray, command);
    QFETCH(QByteArray, flags);
    if (command == "demo") return;  // a model, not a command
    static std::map<QByteArray, fovea::tests::Outcome> told;
    if (!told.contains(command)) told[command] = run({command.toStdString(), "--help"});
    const auto& help = told[command];
    QCOMPARE(help.code, 0);
    static const std::regex flag("(^|[ \\[])(--?[a-z][a-z-]*)");
    const std::string text = flags.toStdString();
    for (std::sregex_iterator it(text.begin(), text.end(), flag), end; it != end; ++it) {
      QVERIFY2(help.out.contains((*it)[2].str()), (*it)[2].str().c_str());
    }
  }

  // And the other way round: no command is left out.
  void everyCommandIsTold() {
    const std::string help = run({"--help"}).out;
    const std::string page = content(root / "docs/commands.md");
    static const std::regex line("\n  ([a-z][a-z-]+) {3,}");
    const std::string list = help.substr(help.find("Subcommands:"));
    int number = 0;
    for (std::sregex_iterator it(list.begin(), list.end(), line), end; it != end; ++it, ++number) {
      QVERIFY2(page.contains("`fovea " + (*it)[1].str()), (*it)[1].str().c_str());
    }
    QVERIFY(number >= 9);
  }

  // Every path of the source that is written as code exists.
  void paths_data() {
    QTest::addColumn<QByteArray>("path");
    static const std::regex written(
        "`\\.?/?((?:kernels|engine|ui|app|resources|scripts|tests|docs|installer|\\.ci)/[A-Za-z0-9_./"
        "-]*)");
    std::set<std::string> paths;
    const std::string text = text_of_all_pages();
    for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it)
      paths.insert((*it)[1]);
    for (const std::string& path : paths) QTest::newRow(path.c_str()) << QByteArray::fromStdString(path);
    QVERIFY(paths.size() > 40);
  }
  void paths() {
    QFETCH(QByteArray, path);
    QVERIFY(std::filesystem::exists(root / path.toStdString()));
  }

  // And the other way round: no folder is left out of the map.
  void everyFolderIsTold() {
    const std::string map = content(root / "docs/source.md");
    int number = 0;
    for (const char* const top : {"kernels", "engine", "ui", "app"}) {
      for (const auto& entry : std::filesystem::directory_iterator(root / top)) {
        if (!entry.is_directory()) continue;
        const std::string name = std::string(top) + "/" + entry.path().filename().string();
        QVERIFY2(map.contains("`" + name + "`"), name.c_str());
        ++number;
      }
    }
    QVERIFY(number > 30);
  }

  // Links within the documents lead to files that are there.
  void links_data() {
    QTest::addColumn<QString>("target");
    static const std::regex written("\\]\\(([^)#]+)[^)]*\\)");
    int number = 0;
    for (const auto& page : pages()) {
      const std::string text = content(page);
      for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it) {
        const std::string link = (*it)[1];
        if (link.starts_with("https://")) continue;
        QTest::addRow("%d: %s of %s", ++number, link.c_str(), page.filename().c_str())
            << QString::fromStdString((page.parent_path() / link).string());
      }
    }
    QVERIFY(number > 30);
  }
  void links() {
    QFETCH(QString, target);
    QVERIFY(std::filesystem::exists(target.toStdString()));
  }

  // The index names every page, and the README stays short enough to be read.
  void theIndexIsWhole() {
    const std::string index = content(root / "docs/README.md");
    int number = 0;
    for (const auto& page : pages()) {
      const std::string name = page.filename().string();
      if (name == "README.md") continue;
      QVERIFY2(index.contains("[" + name + "]("), name.c_str());
      ++number;
    }
    QVERIFY(number > 10);
  }
  void theReadmeIsShort() {
    const std::string readme = content(root / "README.md");
    QVERIFY(readme.contains("docs/README.md"));
    QVERIFY(std::ranges::count(readme, '\n') <= 150);
  }

  // The demo model's budgets leave some of its experts at each tier: else there is nothing to see.
  void budgets_data() {
    QTest::addColumn<QByteArray>("budget");
    QTest::addColumn<QByteArray>("context");
    static const std::regex written("demo --budget ([0-9A-Za-z]+) --context ([0-9]+)");
    const std::string text = text_of_all_pages();
    int number = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it) {
      QTest::addRow("%d: %s", ++number, (*it)[1].str().c_str())
          << QByteArray::fromStdString((*it)[1]) << QByteArray::fromStdString((*it)[2]);
    }
    QVERIFY(number >= 3);
  }
  void budgets() {
    const auto demo = fovea::tests::whole_demo_model();
    if (demo.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    QFETCH(QByteArray, budget);
    QFETCH(QByteArray, context);
    const auto plan = nlohmann::json::parse(
        run({"plan", demo, "--budget", budget.toStdString(), "--context", context.toStdString(), "--json"})
            .out,
        nullptr, false);
    QVERIFY(plan.is_object() && plan["fits"] == true);
    QCOMPARE(plan["bits_per_weight"].size(), 2U);
    for (const auto& [tier, bits] : plan["bits_per_weight"].items())
      QVERIFY2(plan["units"][tier] > 0, tier.c_str());
  }

  // What a published model takes is what the planner says today.
  void shapes_data() {
    QTest::addColumn<QByteArray>("arguments");
    QTest::addColumn<QByteArray>("gib");
    static const std::regex written("`fovea (plan --shape [^`]+)` \\(([0-9.]+) GiB\\)");
    const std::string text = text_of_all_pages();
    int number = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it) {
      QTest::addRow("%d", ++number) << QByteArray::fromStdString((*it)[1])
                                    << QByteArray::fromStdString((*it)[2]);
    }
    QCOMPARE(number, 2);
  }
  void shapes() {
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, gib);
    std::vector<std::string> command;
    for (const QByteArray& argument : arguments.split(' ')) command.push_back(argument.toStdString());
    command.emplace_back("--json");
    const auto plan = nlohmann::json::parse(run(command).out, nullptr, false);
    QVERIFY(plan.is_object() && plan["fits"] == true);
    QCOMPARE(QByteArray::number(plan["total_bytes"].get<double>() / (1 << 30), 'f', 1), gib);
  }

  // The rows of docs/swaps.md are what the planner says today; scripts/plan_tables makes them.
  void cards_data() {
    QTest::addColumn<QStringList>("cells");
    const QString text = QString::fromStdString(content(root / "docs/swaps.md"));
    const QString from = text.mid(text.indexOf("| model | card |"));
    int rows = 0;
    for (const QString& line : from.left(from.indexOf("\n\n")).split('\n').mid(2)) {
      const QStringList cells = line.split('|');
      QTest::addRow("%s on %s GiB", qPrintable(cells[1].trimmed()), qPrintable(cells[2].trimmed())) << cells;
      ++rows;
    }
    QCOMPARE(rows, 18);
  }
  void cards() {
    QFETCH(QStringList, cells);
    QCOMPARE(cells.size(), 12);
    const auto cell = [&](int number) { return cells[number].trimmed(); };
    const std::string tiers = cell(3).remove(' ').toStdString();
    std::vector<std::string> command = {"plan",
                                        "--shape",
                                        cell(1).toStdString(),
                                        "--device-memory",
                                        cell(2).toStdString() + "GiB",
                                        "--json",
                                        "--context",
                                        "8192",
                                        "--policy"};
    if (cell(4).isEmpty()) {
      command.insert(command.end(), {"offload", "--tiers", tiers, "--n-cpu-moe", "auto"});
    } else {
      command.insert(command.end(), {"dynaexq"});
    }
    const auto plan = nlohmann::ordered_json::parse(run(command).out, nullptr, false);
    QVERIFY(plan.is_object() && plan["fits"] == true);
    std::string found;
    for (const auto& [tier, bytes] : plan["parts"]["experts"].items())
      found += (found.empty() ? "" : ",") + tier;
    QCOMPARE(found, tiers);
    if (cell(4).isEmpty()) {
      QVERIFY(cell(10).endsWith(QString("`--n-cpu-moe %1`").arg(plan["cpu_moe_layers"].get<int>())));
    } else {
      QCOMPARE(
          QString("%1 of %2").arg(plan["high_per_layer"].get<int>()).arg(plan["units_per_layer"].get<int>()),
          cell(4));
    }
    QCOMPARE(QString::number(plan["mean_bits_per_weight"].get<double>(), 'f', 2), cell(5));
    QCOMPARE(QString::number(plan["total_bytes"].get<double>() / (1 << 30), 'f', 1), cell(9));
  }
};
FOVEA_TEST(ReadmeTest)

#include "readme_test.moc"
