// What the README promises is there: its commands, their flags, its files.
#include <fstream>
#include <regex>
#include <set>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::run;

namespace {

const std::filesystem::path root(FOVEA_SOURCE_DIR);

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
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
    const std::string text = content(root / "README.md");
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
    const auto help = run({command.toStdString(), "--help"});
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
    const std::string readme = content(root / "README.md");
    static const std::regex line("\n  ([a-z][a-z-]+) {3,}");
    const std::string list = help.substr(help.find("Subcommands:"));
    int number = 0;
    for (std::sregex_iterator it(list.begin(), list.end(), line), end; it != end; ++it, ++number) {
      QVERIFY2(readme.contains("`fovea " + (*it)[1].str()), (*it)[1].str().c_str());
    }
    QVERIFY(number >= 9);
  }

  // Every path written as code or as a link in the two documents exists.
  void paths_data() {
    QTest::addColumn<QByteArray>("path");
    static const std::regex written(
        "[`(]\\.?/?((?:kernels|engine|ui|app|resources|scripts|tests|docs|installer|\\.ci)/[A-Za-z0-9_./"
        "-]*)");
    std::set<std::string> paths;
    for (const char* document : {"README.md", "CONTRIBUTING.md", "docs/licenses.md"}) {
      const std::string text = content(root / document);
      QVERIFY2(!text.empty(), document);
      for (std::sregex_iterator it(text.begin(), text.end(), written), end; it != end; ++it)
        paths.insert((*it)[1]);
    }
    for (const std::string& path : paths) QTest::newRow(path.c_str()) << QByteArray::fromStdString(path);
    QVERIFY(paths.size() > 5);
  }
  void paths() {
    QFETCH(QByteArray, path);
    QVERIFY(std::filesystem::exists(root / path.toStdString()));
  }
};
FOVEA_TEST(ReadmeTest)

#include "readme_test.moc"
