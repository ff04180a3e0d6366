// What is found about a machine, from files that look like the system's.
#include "app/advisor/machine.h"

#include "tests/support/test.h"

using namespace fovea;

namespace {

void put(const std::filesystem::path& path, const QByteArray& text) {
  std::filesystem::create_directories(path.parent_path());
  QFile file(QString::fromStdString(path.string()));
  QVERIFY(file.open(QFile::WriteOnly));
  file.write(text);
}

}  // namespace

class MachineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cardsAreFound() {
    const tests::TemporaryFolder folder;
    put(folder.path() / "nvidia/0000:01:00.0/information",
        "Model: \t\t NVIDIA GeForce RTX 5090\nIRQ:   \t\t 178\n");
    put(folder.path() / "nvidia/0000:02:00.0/other", "");
    put(folder.path() / "drm/card0/device/vendor", "0x1002\n");
    put(folder.path() / "drm/card0/device/mem_info_vram_total", "17163091968\n");
    put(folder.path() / "drm/card0-DP-1/device/vendor", "0x1002\n");
    put(folder.path() / "drm/card1/device/vendor", "0x8086\n");  // shares the processor's memory
    const auto cards = app::find_cards(folder.path() / "nvidia", folder.path() / "drm");
    QCOMPARE(cards.size(), std::size_t{2});
    QCOMPARE(cards[0].name, std::string("NVIDIA GeForce RTX 5090"));
    QCOMPARE(cards[1].memory_bytes, std::int64_t{17163091968});
    QVERIFY(app::find_cards(folder.path() / "nothing", folder.path() / "nothing").empty());
  }

  void theDiskIsReadAndNothingStays() {
    const tests::TemporaryFolder folder;
    const auto speed = app::measure_disk_read_gb_per_s(folder.path() / "not" / "made yet", {});
    QVERIFY(speed && *speed > 0);
    QVERIFY(std::filesystem::is_empty(folder.path()));
  }

  void aFileThatIsThereIsRead() {
    const tests::TemporaryFolder folder;
    QVERIFY(!app::measure_file_read_gb_per_s(folder.path() / "none", {}));
    put(folder.path() / "small", QByteArray(100, 'x'));
    QVERIFY(!app::measure_file_read_gb_per_s(folder.path() / "small", {}));  // too small to tell
    put(folder.path() / "store", QByteArray(9 << 20, 'x'));
    const auto speed = app::measure_file_read_gb_per_s(folder.path() / "store", {});
    QVERIFY(speed && *speed > 0);
    QCOMPARE(std::filesystem::file_size(folder.path() / "store"), std::uintmax_t{9 << 20});
  }

  void measuringCanBeStopped() {
    const tests::TemporaryFolder folder;
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!app::measure_disk_read_gb_per_s(folder.path(), stop.get_token()));
    QVERIFY(std::filesystem::is_empty(folder.path()));
  }

  void thisMachineIsFound() {
    const tests::TemporaryFolder folder;
    const auto machine = app::find_machine(folder.path() / "models");
    FOVEA_VERIFY(machine);
    QVERIFY(machine->device.cores >= 1);
    QVERIFY(machine->disk_free_bytes > 0);
    QVERIFY(machine->room.precision.budget_bytes > 0 &&
            machine->room.precision.budget_bytes <= machine->device.memory_bytes);
  }
};
FOVEA_TEST(MachineTest)

#include "machine_test.moc"
