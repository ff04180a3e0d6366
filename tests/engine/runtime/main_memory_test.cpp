// What is free in main memory, from synthetic /proc and /sys; and when a plan asks for too much of it.
#include "engine/runtime/main_memory.h"

#include <QTemporaryDir>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/api/errors.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

using Files = std::map<std::string, std::string>;
constexpr std::int64_t mib = 1 << 20;

}  // namespace
Q_DECLARE_METATYPE(Files)

class MainMemoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void limitsOfGroupsCount_data() {
    QTest::addColumn<Files>("files");
    QTest::addColumn<qint64>("total");
    QTest::addColumn<qint64>("free");
    const std::string facts = "MemTotal:       8388608 kB\nMemFree:  1000 kB\nMemAvailable:   4194304 kB\n";
    const auto row = [&](const char* name, Files files, qint64 total, qint64 free) {
      files["proc/meminfo"] = facts;
      QTest::newRow(name) << files << total * mib << free * mib;
    };
    const auto number = [](std::int64_t megabytes) { return std::to_string(megabytes * mib) + "\n"; };
    row("no groups", {}, 8192, 4096);
    row("no limit", {{"sys/fs/cgroup/memory.max", "max\n"}, {"sys/fs/cgroup/memory.current", number(100)}},
        8192, 4096);
    row("a container's limit",
        {{"sys/fs/cgroup/memory.max", number(2048)}, {"sys/fs/cgroup/memory.current", number(500)}}, 2048,
        1548);
    row("a container that has read files",
        {{"sys/fs/cgroup/memory.max", number(2048)},
         {"sys/fs/cgroup/memory.current", number(2000)},
         {"sys/fs/cgroup/memory.stat",
          "anon 1\ninactive_file " + number(1000) + "active_file " + number(400) + "file 5\n"}},
        2048, 1448);
    row("a limit above what there is",
        {{"sys/fs/cgroup/memory.max", number(9000)}, {"sys/fs/cgroup/memory.current", number(8900)}}, 8192,
        4096);
    row("the machine has less than the limit leaves",
        {{"sys/fs/cgroup/memory.max", number(8000)}, {"sys/fs/cgroup/memory.current", number(1000)}}, 8000,
        4096);
    row("a group's own limit, and that of the one above it",
        {{"proc/self/cgroup", "0::/user.slice/app.scope\n"},
         {"sys/fs/cgroup/user.slice/memory.max", number(3000)},
         {"sys/fs/cgroup/user.slice/memory.current", number(2900)},
         {"sys/fs/cgroup/user.slice/app.scope/memory.max", number(1000)},
         {"sys/fs/cgroup/user.slice/app.scope/memory.current", number(300)}},
        1000, 100);
    row("the first version's groups",
        {{"proc/self/cgroup", "7:cpu:/x\n3:memory:/docker/a\n0::/\n"},
         {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
         {"sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", number(1024)},
         {"sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", number(1000)},
         {"sys/fs/cgroup/memory/docker/a/memory.stat",
          "inactive_file 1\ntotal_inactive_file " + number(300) + "total_active_file " + number(200)}},
        1024, 524);
  }
  void limitsOfGroupsCount() {
    QFETCH(Files, files);
    QFETCH(qint64, total);
    QFETCH(qint64, free);
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((root / name).parent_path());
      std::ofstream(root / name) << text;
    }
    const runtime::Memory memory = runtime::memory(root);
    QCOMPARE(memory.total_bytes, total);
    QCOMPARE(memory.free_bytes, free);
  }

  // Where nothing is told nothing is known, and a group that is over its limit has something: not zero.
  void unknownIsZeroAndNothingLeftIsNot() {
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    QCOMPARE(runtime::memory(root).free_bytes, 0);
    std::filesystem::create_directories(root / "proc");
    std::filesystem::create_directories(root / "sys/fs/cgroup");
    std::ofstream(root / "proc/meminfo") << "MemTotal: 8000 kB\nMemAvailable: 7000 kB\n";
    std::ofstream(root / "sys/fs/cgroup/memory.max") << 1000;
    std::ofstream(root / "sys/fs/cgroup/memory.current") << 1200;
    QCOMPARE(runtime::memory(root).free_bytes, 1);
  }

  void thisMachineHasSome() {
    const runtime::Memory memory = runtime::memory();
    QVERIFY(memory.free_bytes > 0 && memory.free_bytes <= memory.total_bytes);
  }

  void tooMuchIsRefusedWithItsParts() {
    Plan plan;
    plan.units_on_host = 3;
    plan.host = {.weights = 700, .transfer = 200, .exchange = 100};
    plan.host_bytes = plan.host_available_bytes = 1000;
    const auto advice = [] { return phrases::check_the_disk(); };
    QVERIFY(runtime::check_main_memory(plan, advice));
    plan.host_available_bytes = 0;  // not known
    QVERIFY(runtime::check_main_memory(plan, advice));
    plan.host_available_bytes = 999;
    const auto refused = runtime::check_main_memory(plan, advice);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
    const std::string message = refused.error().message();
    for (const char* text :
         {"1000 bytes", "999 bytes", "3 units", "700 bytes", "300 bytes", "Check the disk"})
      QVERIFY2(message.contains(text), message.c_str());
  }
};
FOVEA_TEST(MainMemoryTest)

#include "main_memory_test.moc"
