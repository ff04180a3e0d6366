// The window's model among those of the library: served first, exchanged, and unloaded for nobody.
#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "app/server/engine_models.h"
#include "app/server/errors.h"
#include "app/server/protocol_errors.h"
#include "app/server/served_engine.h"
#include "engine/api/errors.h"
#include "tests/support/test.h"
#include "tests/support/wait.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::tests;
using namespace std::chrono_literals;

namespace {

LoadOptions options_of(const std::filesystem::path& model) {
  return {.model = model, .context = 256, .threads = 1, .sequences = 2};
}

GenerateRequest question(std::int32_t tokens) {
  GenerateRequest request;
  request.messages = {{.role = "user", .content = "Hello"}};
  request.sampling.temperature = 0;
  request.max_tokens = tokens;
  return request;
}

// Two models in a library, and two of a window elsewhere.
struct Shelf {
  TemporaryFolder folder;
  std::unique_ptr<EngineModels> models;

  explicit Shelf(std::int64_t device_bytes = 0, std::chrono::seconds idle = 600s) {
    for (const char* name : {"library/a", "library/b", "window/one", "window/two"}) {
      std::filesystem::create_directories((folder.path() / name).parent_path());
      std::filesystem::copy(golden("chat"), folder.path() / name, std::filesystem::copy_options::recursive);
    }
    auto opened = EngineModels::open(
        {.folder = folder.path() / "library",
         .others = [this] { return std::vector{std::pair(std::string("elsewhere"), of("window/two"))}; },
         .idle_unload = idle,
         .device_bytes = device_bytes,
         .options = [](const std::string& model) { return Result<LoadOptions>(options_of(model)); }});
    if (!opened) qFatal("%s", opened.error().message().c_str());
    models = *std::move(opened);
  }

  std::filesystem::path of(const char* name) const { return folder.path() / name; }
  std::shared_ptr<ServedEngine> engine(const char* name) const {
    auto loaded = Engine::load(options_of(of(name)));
    if (!loaded) qFatal("%s", loaded.error().message().c_str());
    return std::make_shared<ServedEngine>(of(name).filename().string(), *std::move(loaded));
  }
  // As the window does it.
  std::shared_ptr<ServedEngine> open(const char* name) const {
    models->begin_exchange();
    models->make_room(options_of(of(name)));
    auto opened = engine(name);
    models->end_exchange(of(name), opened);
    return opened;
  }
  std::vector<std::string> loaded() const {
    std::vector<std::string> names;
    for (const ServedEntry& entry : models->list())
      if (entry.is_loaded) names.push_back(entry.name);
    return names;
  }
};

std::int64_t bytes_of_one() {
  const Shelf shelf;
  return shelf.models->plan("a")->plan.total_bytes;
}

using Names = std::vector<std::string>;

}  // namespace

constexpr std::array<std::uint64_t, 1> one_seed{1};

class WindowModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theWindowsModelIsServedFirst() {
    const Shelf shelf;
    QCOMPARE((*shelf.models->acquire("", {}))->name(), "a");
    const auto open = shelf.open("window/one");
    QVERIFY(*shelf.models->acquire("", {}) == open);
    QVERIFY(*shelf.models->acquire("one", {}) == open);
    QCOMPARE(shelf.models->list().front().name, "one");
    QVERIFY(shelf.models->loaded() == open);
    QCOMPARE((*shelf.models->acquire("elsewhere", {}))->name(), "elsewhere");
    // The same file by another name is the same model.
    const auto two = shelf.open("window/two");
    QVERIFY(*shelf.models->acquire("two", {}) == two);
    QCOMPARE(shelf.loaded(), (Names{"two", "a"}));
    QCOMPARE(shelf.models->acquire("elsewhere", {}).error().kind, ErrorKind::not_found);
  }

  // Not for being idle, and not when a client says so.
  void itStaysLoaded() {
    const Shelf shelf(0, 1s);
    const auto open = shelf.open("window/one");
    FOVEA_VERIFY(shelf.models->acquire("a", {}));
    shelf.models->keep("one", 0s);
    QTRY_COMPARE(shelf.loaded(), (Names{"one"}));
    FOVEA_VERIFY(open->generate(question(3), one_seed, {}, {}));
  }

  // With room for one and a half.
  void itIsUnloadedForNoClient() {
    const std::int64_t one = bytes_of_one();
    const Shelf shelf(one + one / 2);
    const auto open = shelf.open("window/one");
    const auto refused = shelf.models->acquire("a", {});
    QVERIFY(!refused.has_value());
    QVERIFY(refused.error().is(errors::server_no_memory_beside_window.code));
    QCOMPARE(status_of(refused.error()), 503);
    const std::string says = refused.error().message();
    QVERIFY2(says.find(size_text(one / 2) + " is available beside one,") != std::string::npos, says.c_str());
    QVERIFY2(says.find("Ask for one") != std::string::npos, says.c_str());
    QCOMPARE(shelf.loaded(), (Names{"one"}));
    QVERIFY(*shelf.models->acquire("one", {}) == open);
  }

  void clientsModelsGiveItTheirMemory() {
    const std::int64_t one = bytes_of_one();
    const Shelf shelf(one + one / 2);
    FOVEA_VERIFY(shelf.models->acquire("a", {}));
    const auto open = shelf.open("window/one");
    QCOMPARE(shelf.loaded(), (Names{"one"}));
  }

  // What a client waits for ends, with its reason; what comes later is the next one's.
  void anExchangeEndsAnswers() {
    const Shelf shelf;
    const auto open = shelf.open("window/one");
    std::atomic<bool> writes = false;
    Result<std::vector<GenerateResult>> ended = std::unexpected(errors::stopped_on_request());
    std::jthread client([&] {
      const auto model = shelf.models->acquire("", {});
      ended = (*model)->generate(question(200), one_seed,
                                 [&](std::size_t, const ChoicePiece&) {
                                   writes = true;
                                   std::this_thread::sleep_for(20ms);  // the whole answer would take seconds
                                 },
                                 {});
    });
    QTRY_VERIFY(writes);
    shelf.models->begin_exchange();
    open->close();
    client.join();
    // From then on nothing begins.
    QVERIFY(open->generate(question(1), one_seed, {}, {}).error().is(errors::server_model_closed.code));
    QVERIFY(!ended.has_value());
    QVERIFY(ended.error().is(errors::server_model_closed.code));
    QCOMPARE(status_of(ended.error()), 503);
    QVERIFY(!open->text().encode("Hello").empty());  // what is known of it stays
    const auto next = shelf.engine("window/two");
    shelf.models->end_exchange(shelf.of("window/two"), next);
    QVERIFY(*shelf.models->acquire("", {}) == next);
  }

  // Who asks while there is none waits for it, and a name of the library too; who leaves does not.
  void clientsWaitForTheNextOne() {
    const Shelf shelf;
    shelf.models->begin_exchange();
    std::shared_ptr<ServedModel> first, named;
    std::stop_source leaves;
    ErrorKind left = ErrorKind::internal;
    std::jthread one([&] { first = *shelf.models->acquire("", {}); });
    std::jthread other([&] { named = *shelf.models->acquire("a", {}); });
    std::jthread gone([&] { left = shelf.models->acquire("b", leaves.get_token()).error().kind; });
    leaves.request_stop();
    gone.join();
    QCOMPARE(left, ErrorKind::cancelled);
    const auto open = shelf.engine("window/one");
    QCOMPARE(shelf.loaded(), Names{});  // nothing was loaded for them meanwhile
    shelf.models->end_exchange(shelf.of("window/one"), open);
    one.join();
    other.join();
    QVERIFY(first == open);
    QCOMPARE(named->name(), "a");
  }

  // One that could not be opened leaves the library's.
  void withoutOneTheLibraryIsServed() {
    const Shelf shelf;
    shelf.open("window/one");
    shelf.models->begin_exchange();
    shelf.models->end_exchange({}, nullptr);
    QCOMPARE((*shelf.models->acquire("", {}))->name(), "a");
    QCOMPARE(shelf.models->acquire("one", {}).error().kind, ErrorKind::not_found);
  }
};

FOVEA_TEST(WindowModelTest)
#include "window_model_test.moc"
