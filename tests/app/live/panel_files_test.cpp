#include "app/live/panel_files.h"

#include <QFile>
#include <QTemporaryDir>
#include <fstream>

#include "engine/api/replay.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

std::filesystem::path write_trace(const QTemporaryDir& folder) {
  const std::filesystem::path file = folder.filePath(QStringLiteral("work.trace")).toStdString();
  std::ofstream out(file, std::ios::binary);
  SyntheticRouting routing;
  routing.layers = 2;
  routing.experts = 16;
  routing.used = 2;
  routing.tokens = 800;
  const auto written = write_synthetic_trace(routing, [&](std::string_view bytes) -> Result<void> {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return {};
  });
  if (!written) qFatal("%s", written.error().message().c_str());
  return file;
}

}  // namespace

class PanelFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A trace becomes a recording; saved, it is one that opens again.
  void opensTracesAndRecordings() {
    const QTemporaryDir folder;
    const auto replayed = app::open_recording(write_trace(folder));
    FOVEA_VERIFY(replayed);
    const app::SnapshotRing& ring = *replayed->ring;
    QCOMPARE(ring.last_frame().layers, 2);
    QCOMPARE(ring.last_frame().units_per_layer, 16);
    QCOMPARE(replayed->model.experts_used, 2);
    QVERIFY(ring.last().numbers.swaps.promotions > 0);
    const QString saved = folder.filePath(QStringLiteral("saved.jsonl"));
    app::LiveExport data;
    data.ring = replayed->ring;
    data.model = replayed->model;
    FOVEA_VERIFY(app::save_export(saved, data));
    const auto again = app::open_recording(saved.toStdString());
    FOVEA_VERIFY(again);
    QCOMPARE(again->ring->end(), ring.end());
    QCOMPARE(again->ring->last_frame().tier, ring.last_frame().tier);
  }

  void saysWhatIsWrong() {
    const QTemporaryDir folder;
    QCOMPARE(app::open_recording(folder.filePath(QStringLiteral("none")).toStdString()).error().kind,
             ErrorKind::io);
    const auto trace = write_trace(folder);
    std::filesystem::resize_file(trace, std::filesystem::file_size(trace) / 2);
    QCOMPARE(app::open_recording(trace).error().kind, ErrorKind::format);
    std::ofstream(folder.filePath(QStringLiteral("text")).toStdString()) << "just text\n";
    QCOMPARE(app::open_recording(folder.filePath(QStringLiteral("text")).toStdString()).error().kind,
             ErrorKind::format);
    const QString nowhere = folder.filePath(QStringLiteral("no/such/folder.csv"));
    QCOMPARE(app::save_export(nowhere, {}).error().kind, ErrorKind::io);
    QVERIFY(!QFile::exists(nowhere));
  }

  void stopsOnRequest() {
    const QTemporaryDir folder;
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(app::open_recording(write_trace(folder), stop.get_token()).error().kind, ErrorKind::cancelled);
  }
};

FOVEA_TEST(PanelFilesTest)
#include "panel_files_test.moc"
