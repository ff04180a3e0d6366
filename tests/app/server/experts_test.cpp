// What the experts do, told and read again: events, the answer that carries them, and the door beside a chat.
#include <QRandomGenerator>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

#include "app/server/errors.h"
#include "app/server/event_stream.h"
#include "app/server/experts.h"
#include "app/server/experts_client.h"
#include "app/server/experts_door.h"
#include "tests/support/test.h"

#include "watched.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::tests;

namespace {

constexpr std::string_view events_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";

std::string chunk(std::string_view text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx", text.size());
  return std::string(size) + "\r\n" + std::string(text) + "\r\n";
}

// Until something is told; nothing: it has failed.
std::optional<std::string> first_event(ExpertsClient& client) {
  for (int i = 0; i < 600; ++i) {
    const auto events = client.go_on();
    if (!events) return std::nullopt;
    if (!events->empty()) return events->front();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

}  // namespace

class ExpertsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsToldIsRead() {
    Snapshot told = snapshot_sample(400);
    told.units[3].target = 0;
    told.units[5].target = host_tier;
    told.units[6].tier = host_tier;
    told.units[7].recent_tokens = 65'535;
    told.units[8].uses = 0xFFFF'FFFF;
    told.host_units = 1;
    told.host_hits = 9;
    told.misses = 7;
    told.queued = 2;
    told.swaps.stalls = 3;
    told.swaps.stall_seconds = 0.5;
    told.quality.tokens_since = 100;
    told.quality.start_since = 1.5;
    told.quality.all_high = -1e-6;
    told.quality.hindsight = {.tokens = 96, .loss = 1.25, .low = 40, .high = 0.5};
    const WatchedModel model = watched_sample();
    const auto event = read_experts(dump(experts_json(model, told, 5)));
    FOVEA_VERIFY(event);
    QVERIFY(event->model == model);
    QCOMPARE(event->questions, 5);
    const Snapshot& read = event->snapshot;
    QCOMPARE(read.layers, told.layers);
    QCOMPARE(read.units_per_layer, told.units_per_layer);
    for (std::size_t unit = 0; unit < told.units.size(); ++unit) {
      const UnitState &a = told.units[unit], &b = read.units[unit];
      QCOMPARE(b.tier, a.tier);
      QCOMPARE(b.target, a.target);
      QCOMPARE(b.uses, a.uses);
      QCOMPARE(b.recent_tokens, a.recent_tokens);
      QVERIFY(std::abs(b.hotness - a.hotness) <= 0.04F * a.hotness);  // in steps of 6.8 %
    }
    QCOMPARE(read.tiers.size(), told.tiers.size());
    QCOMPARE(read.tiers[1].bytes, told.tiers[1].bytes);
    QCOMPARE(read.tiers[1].hits, told.tiers[1].hits);
    QCOMPARE(read.tiers[0].bits_per_weight, 8.5);
    QCOMPARE(read.tokens_per_second, 24.25);
    QCOMPARE(read.budget_bytes, told.budget_bytes);
    QCOMPARE(read.arena_used_bytes, told.arena_used_bytes);
    QCOMPARE(read.host_units, 1);
    QCOMPARE(read.host_hits, 9);
    QCOMPARE(read.misses, 7);
    QCOMPARE(read.queued, 2);
    QCOMPARE(read.swaps.promotions, 1061);
    QCOMPARE(read.swaps.stall_seconds, 0.5);
    QVERIFY(read.quality.in_nats && read.quality.has_calibration);
    QCOMPARE(read.quality.loss, told.quality.loss);
    QCOMPARE(read.quality.calibrated, told.quality.calibrated);
    QCOMPARE(read.quality.all_low, told.quality.all_low);
    QCOMPARE(read.quality.all_high, -1e-6);
    QCOMPARE(read.quality.tokens_since, 100);
    QCOMPARE(read.quality.start_since, 1.5);
    QCOMPARE(read.quality.hindsight.tokens, 96);
    QCOMPARE(read.quality.hindsight.loss, 1.25);
    QCOMPARE(read.quality.hindsight.low, 40.0);
    QCOMPARE(read.quality.hindsight.high, 0.5);
  }

  void twoCardsAreTold() {
    WatchedModel model = watched_sample();
    model.cards = {{.name = "cuda:0", .layers = model.layer_numbers[1] + 1, .budget_bytes = 1000},
                   {.name = "cuda:1", .budget_bytes = 2000}};
    model.cards[0].memory.dense = 7;
    model.cards[1].memory.kv = 8;
    QCOMPARE(model.rows_of_first(), 2);
    QCOMPARE(watched_sample().rows_of_first(), 0);
    const auto event = read_experts(dump(experts_json(model, snapshot_sample(400), 0)));
    FOVEA_VERIFY(event);
    QVERIFY(event->model == model);
  }

  // An earlier version tells less.
  void whatIsLeftOutIsNothing() {
    const auto event =
        read_experts(R"({"tokens": 5, "tiers": [{"name": "q4", "bits_per_weight": 4.5, "units": 2}],
                                        "layers": [{"tiers": [0, -1]}, {"tiers": [-2, 0]}]})");
    FOVEA_VERIFY(event);
    QCOMPARE(event->snapshot.units.size(), 4U);
    QCOMPARE(event->snapshot.units[1].tier, no_tier);
    QCOMPARE(event->snapshot.units[2].tier, host_tier);
    QCOMPARE(event->model.policy, PolicyKind::none);
    QCOMPARE(event->model.layer_numbers, (std::vector<std::int64_t>{0, 1}));
    QCOMPARE(event->model.experts_per_layer, (std::vector<std::int64_t>{2, 2}));
  }

  void whatIsWrongIsNamed_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("said");
    const auto row = [](const char* name, const char* text, const char* said) {
      QTest::newRow(name) << QByteArray(text) << QByteArray(said);
    };
    row("not an object", "[]", "not an object");
    row("no layers", R"({"tokens": 1})", "layers");
    row("an unknown tier", R"({"tiers": [], "layers": [{"tiers": [0]}]})", "tiers");
    row("a broken tier", R"({"tiers": [4], "layers": []})", "tiers");
    row("layers of two sizes", R"({"layers": [{"tiers": [-1]}, {"tiers": [-1, -1]}]})", "layers");
    row("no experts in it", R"({"layers": [{"tiers": []}]})", "layers");
    row("more than there are", R"({"layers": [{"tiers": [-1], "experts": 2}]})", "layers");
    row("uses of another layer", R"({"layers": [{"tiers": [-1], "uses": [1, 2]}]})", "uses");
    row("too hot", R"({"layers": [{"tiers": [-1], "hotness": [256]}]})", "hotness");
    row("half a use", R"({"layers": [{"tiers": [-1], "uses": [0.5]}]})", "uses");
    row("one of two cards", R"({"layers": [], "cards": [{"name": "cuda:0"}]})", "cards");
    row("three cards", R"({"layers": [], "cards": [{}, {}, {}]})", "cards");
    row("no card", R"({"layers": [], "cards": [1, 2]})", "cards");
    row("a card's layers", R"({"layers": [], "cards": [{"layers": -1}, {}]})", "layers");
    row("a huge number", R"({"layers": [], "tokens": 18446744073709551615})", "tokens");
    row("a negative number", R"({"layers": [], "tokens": -1})", "tokens");
    row("not a number", R"({"layers": [], "tokens_per_second": "fast"})", "tokens_per_second");
    row("beyond all bounds", R"({"layers": [], "tokens_per_second": 1e300})", "tokens_per_second");
    row("nobody moves", R"({"layers": [{"tiers": [-1]}], "moving": [[1, 0]]})", "moving");
    row("nowhere", R"({"layers": [{"tiers": [-1]}], "moving": [[0, 3]]})", "moving");
    row("no policy of ours", R"({"layers": [], "policy": "clever"})", "policy");
    row("loss in words", R"({"layers": [], "quality": {"loss": "much"}})", "loss");
    row("quality of a list", R"({"layers": [], "quality": [1]})", "quality");
  }
  void whatIsWrongIsNamed() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, said);
    const auto event = read_experts(text.toStdString());
    QVERIFY(!event);
    QVERIFY2(event.error().message().find(said.toStdString()) != std::string::npos,
             event.error().message().c_str());
    QVERIFY(event.error().has_advice() && !event.error().where.empty());
  }

  void anAnswerIsReadHoweverItIsCut() {
    const std::string body =
        ": hello\n\ndata: {\"a\": 1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\ndata: unfinished";
    const std::string plain = std::string(events_head) + body;
    const std::string chunked =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
        chunk(body.substr(0, 13)) + chunk(body.substr(13)) + "0\r\n\r\n";
    for (const std::string& answer : {plain, chunked})
      for (const std::size_t step : {answer.size(), std::size_t{1}, std::size_t{7}}) {
        EventStream stream;
        std::vector<std::string> events;
        for (std::size_t at = 0; at < answer.size(); at += step) {
          const auto more = stream.read(std::string_view(answer).substr(at, step));
          FOVEA_VERIFY(more);
          events.insert(events.end(), more->begin(), more->end());
        }
        QCOMPARE(events, (std::vector<std::string>{"{\"a\": 1}", "two\nlines"}));
        QVERIFY(stream.is_open());
        QCOMPARE(stream.has_ended(), answer == chunked);
      }
  }

  void anAnswerWithoutAnEndIsRefused() {
    EventStream stream;
    FOVEA_VERIFY(stream.read(events_head));
    const std::string line(1 << 20, 'x');
    FOVEA_VERIFY(stream.read("data: "));
    Result<std::vector<std::string>> read;
    for (int i = 0; i < 20 && read; ++i) read = stream.read(line);
    QVERIFY(!read && read.error().is(errors::server_no_events.code));
    EventStream head;
    Result<std::vector<std::string>> headed = head.read("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 40 && headed; ++i) headed = head.read("X-Field: " + std::string(1000, 'x') + "\r\n");
    QVERIFY(!headed);
  }

  void refusalsSayWhatToDo() {
    const auto refusal = [](const char* status) {
      EventStream stream;
      return stream.read("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n\r\n").error();
    };
    QVERIFY(refusal("401 Unauthorized").is(errors::server_wants_key.code));
    QVERIFY(refusal("404 Not Found").is(errors::server_not_watched.code));
    QVERIFY(refusal("503 Busy").is(errors::server_watched_by_others.code));
    QCOMPARE(refusal("421 Misdirected").number("status"), std::optional<std::int64_t>(421));
  }

  void addresses_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");  // empty: refused
    const auto row = [](const char* text, const char* shown) { QTest::newRow(text) << text << shown; };
    row("11436", "127.0.0.1:11436");
    row("http://127.0.0.1:11435/", "127.0.0.1:11435");
    row("box.lan", "box.lan:11435");
    row("box.lan:80", "box.lan:80");
    row("[::1]:81", "[::1]:81");
    row("http://[fe80::1%eth0]", "[fe80::1%eth0]:11435");
    row("", "");
    row("http://", "");
    row("::1", "");
    row("[::1", "");
    row("[::1]x", "");
    row("box:0", "");
    row("box:65536", "");
    row("box:80x", "");
    row("https://box", "");
    row("a b", "");
    row("box\r\nX-Evil: 1", "");
  }
  void addresses() {
    QFETCH(QString, text);
    QFETCH(QString, shown);
    const auto address = read_address(text.toStdString());
    QCOMPARE(address.has_value(), !shown.isEmpty());
    if (address) QCOMPARE(QString::fromStdString(address->shown), shown);
  }

  // Nothing is asked of the engine while nobody watches.
  void aDoorCostsNothingUntilSomebodyComes() {
    const TemporaryFolder folder;
    std::atomic<int> asked = 0;
    const auto door = ExpertsDoor::open(folder.path() / "doors", watched_sample(),
                                        [&](Snapshot& snapshot, std::int64_t& questions) {
                                          ++asked;
                                          questions = 3;
                                          snapshot = snapshot_sample(10 * asked);
                                          return true;
                                        });
    FOVEA_VERIFY(door);
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    QCOMPARE(asked.load(), 0);
    struct stat state{};
    QCOMPARE(::stat((*door)->path().c_str(), &state), 0);
    QCOMPARE(state.st_mode & 0777, mode_t{0600});
    QCOMPARE(::stat((folder.path() / "doors").c_str(), &state), 0);
    QCOMPARE(state.st_mode & 0777, mode_t{0700});

    const std::vector<ExpertsAddress> found = open_doors(folder.path() / "doors");
    QCOMPARE(found.size(), 1U);
    QCOMPARE(found[0].process, std::int64_t{::getpid()});
    {
      auto client = ExpertsClient::start(found[0]);
      FOVEA_VERIFY(client);
      const auto told = first_event(*client);
      QVERIFY(told);
      const auto event = read_experts(*told);
      FOVEA_VERIFY(event);
      QCOMPARE(event->questions, 3);
      QCOMPARE(event->model.name, std::string("Fovea demo"));
    }
    // … nor once all have left.
    const auto is_left = [&] {
      const int before = asked;
      std::this_thread::sleep_for(std::chrono::milliseconds(350));
      return asked == before;
    };
    QTRY_VERIFY(is_left());
  }

  void manyWatchAtOnce() {
    const TemporaryFolder folder;
    auto door = ExpertsDoor::open(folder.path(), watched_sample(), [](Snapshot& snapshot, std::int64_t&) {
      snapshot = snapshot_sample(10);
      return true;
    });
    FOVEA_VERIFY(door);
    const std::vector<ExpertsAddress> found = open_doors(folder.path());
    QCOMPARE(found.size(), 1U);
    std::vector<ExpertsClient> clients;
    for (int i = 0; i < 8; ++i) {
      auto client = ExpertsClient::start(found[0]);
      FOVEA_VERIFY(client);
      clients.push_back(*std::move(client));
    }
    for (ExpertsClient& each : clients) QVERIFY(first_event(each));
    auto ninth = ExpertsClient::start(found[0]);
    QVERIFY(!ninth || !first_event(*ninth));
    door->reset();
    Result<std::vector<std::string>> last;
    for (int i = 0; i < 100 && last; ++i) last = clients[0].go_on();
    QVERIFY(!last && last.error().is(errors::server_ended.code));
    QVERIFY(open_doors(folder.path()).empty());
  }

  // What a program left that was killed goes with the next one; what is somebody else's stays.
  void leftDoorsGo() {
    const TemporaryFolder folder;
    const std::filesystem::path left = folder.path() / "chat-999999999.sock",
                                other = folder.path() / "chat-x.sock";
    std::ofstream(left) << "";
    std::ofstream(other) << "";
    QVERIFY(open_doors(folder.path()).empty());
    const auto door = ExpertsDoor::open(folder.path(), {}, [](Snapshot&, std::int64_t&) { return false; });
    FOVEA_VERIFY(door);
    QVERIFY(!std::filesystem::exists(left));
    QVERIFY(std::filesystem::exists(other));
    // Of a folder that is a link to somewhere else.
    const std::filesystem::path link = folder.path() / "link";
    std::filesystem::create_directory_symlink("/tmp", link);
    const auto refused = ExpertsDoor::open(link, {}, [](Snapshot&, std::int64_t&) { return false; });
    QVERIFY(!refused && refused.error().is(errors::server_no_own_folder.code));
    const std::filesystem::path deep = folder.path() / std::string(120, 'x');
    QVERIFY(!ExpertsDoor::open(deep, {}, [](Snapshot&, std::int64_t&) { return false; }));
  }

  // Any change of a character is read or refused by name.
  void anyBytesAreReadOrRefused() {
    const std::string good = dump(experts_json(watched_sample(), snapshot_sample(400), 1));
    QRandomGenerator random(seed());
    for (int round = 0; round < rounds(2000); ++round) {
      std::string text = good;
      for (int i = random.bounded(1, 4); i > 0; --i)
        text[static_cast<std::size_t>(random.bounded(static_cast<int>(text.size())))] =
            "0123456789-.e\"[]{},:nt\xFF"[random.bounded(23)];
      const auto event = read_experts(text);
      if (!event) QVERIFY2(!event.error().what.empty(), qPrintable(QString::number(seed())));
    }
  }
};

FOVEA_TEST(ExpertsTest)
#include "experts_test.moc"
