#include "app/live/panel_files.h"

#include <QFile>
#include <QSaveFile>
#include <memory>

#include "app/live/errors.h"
#include "engine/api/replay.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr double kHighShare = 0.25;
const QByteArray kTraceMagic = QByteArrayLiteral("FOVTRACE");

std::unexpected<Error> no_file(const QString& path, const QString& reason) {
  return fail(phrases::file_place(std::filesystem::path(path.toStdString())),
              errors::recording_not_opened(Said{reason.toStdString()}));
}

Result<Recording> replay_trace(const std::filesystem::path& file, std::stop_token stop) {
  auto ring = std::make_shared<SnapshotRing>(recording_limits);
  ReplayRequest request;
  request.trace = file;
  request.policy = PolicyKind::fovea;
  request.high_share = kHighShare;
  request.snapshots = [&](const Snapshot& snapshot, double seconds) -> Result<void> {
    ring->add(snapshot, seconds);
    return {};
  };
  FOVEA_TRY(const ReplayReport report, replay(request, {}, stop));
  if (ring->empty()) return fail(phrases::file_place(file), errors::trace_without_pass());
  Recording recording;
  recording.model.name = QString::fromStdString(report.model);
  recording.model.policy = request.policy;
  recording.model.experts = ring->last_frame().units_per_layer;
  recording.model.experts_used = report.used;
  recording.ring = std::move(ring);
  return recording;
}

}  // namespace

Result<Recording> open_recording(const std::filesystem::path& file, std::stop_token stop) {
  QFile input(QString::fromStdString(file.string()));
  if (!input.open(QIODevice::ReadOnly)) return no_file(input.fileName(), input.errorString());
  if (input.peek(kTraceMagic.size()) == kTraceMagic) return replay_trace(file, std::move(stop));
  return read_json_lines(input);
}

Result<void> save_export(const QString& path, const LiveExport& data) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return no_file(path, file.errorString());
  FOVEA_CHECK(data.write(file));
  if (!file.commit()) return no_file(path, file.errorString());
  return {};
}

}  // namespace fovea::app
