// The settings file: nothing of what others have written into it is lost.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "app/library/data_folder.h"
#include "app/settings/settings_file.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using fovea::tests::content;
using Json = nlohmann::ordered_json;

namespace {

void put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

struct World {
  tests::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "settings.json";
  SettingsFile file{path};
};

// Sets an environment variable, and puts the old state back when it goes.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

class SettingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_missing_file_is_the_defaults();
  void everything_comes_back();
  void unknown_keys_and_their_order_stay();
  void only_what_changed_is_written();
  void a_value_that_does_not_fit_is_named_and_kept_data();
  void a_value_that_does_not_fit_is_named_and_kept();
  void a_broken_file_is_set_aside_data();
  void a_broken_file_is_set_aside();
  void many_processes_lose_nothing();
  void a_kill_leaves_a_whole_file();
  void folders_follow_the_environment();
};

void SettingsTest::a_missing_file_is_the_defaults() {
  World w;
  const auto settings = w.file.load();
  FOVEA_VERIFY(settings);
  QVERIFY(*settings == Settings{});
  QVERIFY(!std::filesystem::exists(w.path));
  FOVEA_VERIFY(w.file.update([](Settings&) {}));
  QVERIFY(!std::filesystem::exists(w.path));  // nothing to say
  QVERIFY(w.file.take_notices().empty());
}

void SettingsTest::everything_comes_back() {
  World w;
  Settings all;
  all.language = "de";
  all.theme = ThemeChoice::dark;
  all.text_percent = 150;
  all.less_motion = true;
  all.send_key = SendKey::control_enter;
  all.show_live_panel = false;
  all.hottest_first = true;
  all.offline = true;
  all.server = {.on = true, .port = 8080, .slots = 5, .for_other_computers = true};
  all.model_folders = {"/a b/ü", "/c"};
  all.recent_models = {"/m.gguf"};
  LoadOptions dynamic{.model = "/m.gguf", .context = 4096, .kv = KvType::q8};
  dynamic.precision.policy = PolicyKind::dynaexq;
  dynamic.precision.tiers = {"q4", "q2"};
  dynamic.precision.budget_bytes = 8'000'000'000;
  LoadOptions offloaded{.model = "/n.gguf", .device = "cuda:0"};
  offloaded.precision.policy = PolicyKind::offload;
  offloaded.precision.offload.cpu_moe_layers = -1;
  offloaded.precision.nats_per_ms = 0.004;
  all.model_setups = {dynamic, offloaded};
  all.device = "cuda:1";
  all.device_description = "A card";
  all.budget_gb = 12.5;
  all.context_tokens = 32768;
  all.temperature = 0.25;
  all.top_p = 0.5;
  all.min_p = 0;
  all.top_k = 17;
  all.repetition_penalty = 1.125;
  all.max_tokens = 4096;
  all.system_prompts = {{"short", "Be short."},
                        {"long", "Be \"long\"\n."},
                        {"exact", "Be exact.", "e1", R"({"temperature":0.2,"top_k":40})"}};
  all.prompts = {{"sum", "Sum it up:", "p1"}};
  all.window_geometry = "AdnQyw==";
  all.window_state = "AAAA";
  FOVEA_VERIFY(w.file.update([&](Settings& s) { s = all; }));
  const auto back = SettingsFile(w.path).load();
  FOVEA_VERIFY(back);
  QVERIFY(*back == all);
  // As people expect to find it.
  const Json document = Json::parse(content(w.path));
  QCOMPARE(document["appearance"]["theme"].get<std::string>(), std::string("dark"));
  QCOMPARE(document["generation"]["system_prompts"][1]["name"].get<std::string>(), std::string("long"));
  QVERIFY(content(w.path).find("\n  \"appearance\": {\n    \"language\": \"de\",\n    \"theme\": \"dark\"") !=
          std::string::npos);
  FOVEA_VERIFY(w.file.update([](Settings& s) { s.temperature.reset(); }));
  QVERIFY(!Json::parse(content(w.path))["generation"].contains("temperature"));
}

void SettingsTest::unknown_keys_and_their_order_stay() {
  World w;
  put(w.path,
      R"({"zebra": [1, {"a": null}], "appearance": {"later": 1.5, "theme": "light"}, "network": {"x": "y"}})");
  FOVEA_VERIFY(w.file.update([](Settings& s) { s.theme = ThemeChoice::dark; }));
  QCOMPARE(Json::parse(content(w.path)).dump(),
           std::string(
               R"({"zebra":[1,{"a":null}],"appearance":{"later":1.5,"theme":"dark"},"network":{"x":"y"}})"));
}

void SettingsTest::only_what_changed_is_written() {
  World w;
  SettingsFile other(w.path);
  FOVEA_VERIFY(w.file.update([](Settings& s) { s.window_geometry = "de"; }));
  FOVEA_VERIFY(other.update([](Settings& s) { s.offline = true; }));
  const auto both = w.file.update([](Settings& s) { s.text_percent = 200; });
  FOVEA_VERIFY(both);
  QCOMPARE(both->window_geometry, std::string("de"));
  QVERIFY(both->offline);
  QCOMPARE(other.load()->text_percent, std::int64_t{200});
}

void SettingsTest::a_value_that_does_not_fit_is_named_and_kept_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("name");
  const auto row = [](const char* text, const char* name) {
    QTest::newRow(text) << QByteArray(text) << QString(name);
  };
  row(R"({"appearance":{"theme":"pink"}})", "appearance.theme");
  row(R"({"appearance":{"text_percent":10000}})", "appearance.text_percent");
  row(R"({"network":{"offline":"yes"}})", "network.offline");
  row(R"({"network":"offline"})", "network");
  row(R"({"server":{"port":65536}})", "server.port");
  row(R"({"server":{"slots":0}})", "server.slots");
  row(R"({"server":{"slots":8}})", "server.slots");
  row(R"({"server":{"on":"yes"}})", "server.on");
  row(R"({"models":{"folders":["a",3]}})", "models.folders");
  row(R"({"models":{"budget_gb":-1}})", "models.budget_gb");
  row(R"({"models":{"context_tokens":1.5}})", "models.context_tokens");
  row(R"({"generation":{"top_p":1.5}})", "generation.top_p");
  row(R"({"generation":{"system_prompts":[{"name":"x"}]}})", "generation.system_prompts");
  row(R"({"generation":{"system_prompts":[{"name":"x","text":"y","id":5}]}})", "generation.system_prompts");
  row(R"({"generation":{"system_prompts":[{"name":"x","text":"y","settings":"z"}]}})",
      "generation.system_prompts");
  row(R"({"generation":{"prompts":[{"text":"y"}]}})", "generation.prompts");
  row(R"({"models":{"setups":[{"kv":"q8"}]}})", "models.setups");
  row(R"({"models":{"setups":[{"model":"/m","kv":"q9"}]}})", "models.setups");
  row(R"({"models":{"setups":[{"model":"/m","policy":"best"}]}})", "models.setups");
  row(R"({"models":{"setups":[{"model":"/m","budget_bytes":-1}]}})", "models.setups");
}

void SettingsTest::a_value_that_does_not_fit_is_named_and_kept() {
  QFETCH(QByteArray, text);
  QFETCH(QString, name);
  World w;
  put(w.path, text.toStdString());
  const auto settings = w.file.load();
  FOVEA_VERIFY(settings);
  QVERIFY(*settings == Settings{});
  const auto notices = w.file.take_notices();
  QCOMPARE(notices.size(), std::size_t{1});
  const std::string notice = english(notices[0]);
  QVERIFY2(QString::fromStdString(notice).contains(name), notice.c_str());
  FOVEA_VERIFY(w.file.update([](Settings& s) { s.window_geometry = "fr"; }));
  Json expected = Json::parse(text.toStdString());
  expected["window"]["geometry"] = "fr";
  QVERIFY(Json::parse(content(w.path)) == expected);
}

void SettingsTest::a_broken_file_is_set_aside_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("why");
  QTest::newRow("a comma too many") << QByteArray("{\n\"a\": 1,\n}\n") << "line 3";
  QTest::newRow("cut off") << QByteArray("{\"appearance\": {\"the") << "line 1";
  QTest::newRow("a list") << QByteArray("[1]") << "not a JSON object";
  QTest::newRow("empty") << QByteArray("") << "line 1";
  QTest::newRow("binary") << QByteArray(1000, '\0') << "line 1";
  QTest::newRow("deep") << QByteArray(200'000, '[') << "line 1";
}

void SettingsTest::a_broken_file_is_set_aside() {
  QFETCH(QByteArray, text);
  QFETCH(QString, why);
  for (const bool writing : {false, true}) {
    World w;
    put(w.path, text.toStdString());
    const auto settings = writing ? w.file.update([](Settings& s) { s.offline = true; }) : w.file.load();
    FOVEA_VERIFY(settings);
    QCOMPARE(settings->offline, writing);
    const auto notices = w.file.take_notices();
    QCOMPARE(notices.size(), std::size_t{1});
    const QString notice = QString::fromStdString(english(notices[0]));
    QVERIFY2(notice.contains(why), qPrintable(notice));
    int kept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(w.folder.path())) {
      if (entry.path().filename().string().find("broken") == std::string::npos) continue;
      ++kept;
      QCOMPARE(content(entry.path()), text.toStdString());
      QVERIFY(notice.contains(QString::fromStdString(entry.path().string())));
    }
    QCOMPARE(kept, 1);
    QCOMPARE(std::filesystem::exists(w.path), writing);
  }
}

// Each process adds its own models: one that wrote what it had read before the lock would lose others'.
void SettingsTest::many_processes_lose_nothing() {
  World w;
  constexpr int processes = 4, each = 10;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      SettingsFile file(w.path);
      for (int i = 0; i < each; ++i) {
        const auto done = file.update(
            [&](Settings& s) { s.recent_models.push_back(std::to_string(p) + "/" + std::to_string(i)); });
        if (!done) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    QCOMPARE(status, 0);
  }
  auto models = w.file.load()->recent_models;
  std::ranges::sort(models);
  QCOMPARE(std::ranges::unique(models).begin() - models.begin(), std::ptrdiff_t{processes * each});
  QCOMPARE(models.size(), std::size_t{processes * each});
}

void SettingsTest::a_kill_leaves_a_whole_file() {
  World w;
  for (int kill = 0; kill < tests::rounds(20); ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      SettingsFile file(w.path);
      for (std::int64_t i = 0;; ++i) {
        (void)file.update([&](Settings& s) {
          s.context_tokens = i;
          s.window_state = std::string(static_cast<std::size_t>(i % 50) * 1000, 'x');
        });
      }
    }
    ::usleep(static_cast<useconds_t>(1000 + kill * 977 % 7000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    FOVEA_VERIFY(w.file.load());
    QVERIFY(w.file.take_notices().empty());
    FOVEA_VERIFY(w.file.update([](Settings& s) { s.window_geometry = "de"; }));  // the lock is free again
  }
}

void SettingsTest::folders_follow_the_environment() {
  const Variable home("HOME", "/home/x"), data("FOVEA_DATA", nullptr), config("FOVEA_CONFIG", nullptr),
      cache("FOVEA_CACHE", nullptr), xdg_data("XDG_DATA_HOME", nullptr),
      xdg_config("XDG_CONFIG_HOME", "relative"), xdg_cache("XDG_CACHE_HOME", nullptr);
  QCOMPARE(data_folder().string(), std::string("/home/x/.local/share/fovea"));
  QCOMPARE(config_folder().string(), std::string("/home/x/.config/fovea"));
  QCOMPARE(cache_folder().string(), std::string("/home/x/.cache/fovea"));
  {
    const Variable a("XDG_CONFIG_HOME", "/c"), b("XDG_CACHE_HOME", "/k");
    QCOMPARE(settings_path().string(), std::string("/c/fovea/settings.json"));
    QCOMPARE(cache_folder().string(), std::string("/k/fovea"));
    const Variable c("FOVEA_DATA", "/d");
    QCOMPARE(history_file().string(), std::string("/d/history.db"));
    QCOMPARE(config_folder().string(), std::string("/d/config"));
    QCOMPARE(cache_folder().string(), std::string("/d/cache"));
    const Variable e("FOVEA_CONFIG", "/e");
    QCOMPARE(config_folder().string(), std::string("/e"));
  }
}

FOVEA_TEST(SettingsTest)
#include "settings_test.moc"
