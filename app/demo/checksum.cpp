#include "app/demo/checksum.h"

#include <QCryptographicHash>
#include <QFile>

#include "app/demo/errors.h"
#include "app/files/errors.h"
#include "engine/core/result.h"

namespace fovea::app {

constexpr qint64 piece_bytes = 4 << 20;

Result<std::string> sha256(const std::filesystem::path& file, const ProgressSink& progress,
                           std::stop_token stop) {
  QFile input(QString::fromStdString(file.string()));
  const auto failed = [&] {
    return fail(
        phrases::file_place(file),
        errors::cannot_read(Said{input.errorString().toStdString()}).advise(phrases::files_check_path()));
  };
  if (!input.open(QIODevice::ReadOnly)) return failed();
  QCryptographicHash hash(QCryptographicHash::Sha256);
  QByteArray piece(piece_bytes, Qt::Uninitialized);
  for (std::int64_t done = 0;;) {
    if (stop.stop_requested()) return fail(phrases::file_place(file), errors::demo_check_stopped());
    const qint64 got = input.read(piece.data(), piece.size());
    if (got < 0) return failed();
    if (got == 0) return hash.result().toHex().toStdString();
    hash.addData(QByteArrayView(piece.constData(), got));
    done += got;
    if (progress)
      progress(
          {Progress::Stage::checking, done, input.size(), Progress::Unit::bytes, file.filename().string()});
  }
}

}  // namespace fovea::app
