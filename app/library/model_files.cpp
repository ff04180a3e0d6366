#include "app/library/model_files.h"

#include <QCryptographicHash>
#include <QFile>
#include <algorithm>
#include <optional>
#include <regex>
#include <system_error>

#include "app/files/folders.h"
#include "app/library/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

// Part 2 of 3 beside part 1; empty where the name is not one of several.
std::vector<fs::path> parts_of(const fs::path& file) {
  static const std::regex pattern("(.*-)(\\d{5})-of-(\\d{5})\\.gguf$");
  std::smatch match;
  const std::string name = file.filename().string();
  if (!std::regex_match(name, match, pattern)) return {};
  const int count = std::stoi(match[3]);
  std::vector<fs::path> parts;
  for (int part = 1; part <= count; ++part) {
    char number[16];
    std::snprintf(number, sizeof number, "%05d", part);
    fs::path path = file.parent_path() / (match[1].str() + number + "-of-" + match[3].str() + ".gguf");
    std::error_code ignored;
    if (fs::exists(path, ignored)) parts.push_back(std::move(path));
  }
  return parts;
}

std::vector<fs::path> regular_files(const fs::path& folder) {
  std::vector<fs::path> files = entries_of(folder);
  std::error_code ignored;
  std::erase_if(files, [&](const fs::path& path) { return !fs::is_regular_file(path, ignored); });
  return files;
}

bool is_hex(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The content's checksum by the hub's cache: SHA-256, or that of a Git blob.
struct Expected {
  QCryptographicHash::Algorithm algorithm;
  QByteArray hex;
};
std::optional<Expected> expected_checksum(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  const std::string name = target.filename().string();
  if (error || target.parent_path().filename() != "blobs" || !is_hex(name)) return std::nullopt;
  if (name.size() == 64) return Expected{QCryptographicHash::Sha256, QByteArray::fromStdString(name)};
  if (name.size() == 40) return Expected{QCryptographicHash::Sha1, QByteArray::fromStdString(name)};
  return std::nullopt;
}

// Where a link leads, each link on the way noted.
fs::path follow(fs::path path, std::vector<fs::path>& links) {
  constexpr int max_links = 40;
  std::error_code error;
  for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    links.push_back(path);
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = (target.is_absolute() ? target : path.parent_path() / target).lexically_normal();
  }
  return path;
}

// The links to a blob of the hub's cache, of all snapshots of its repository.
std::vector<fs::path> links_to(const fs::path& blob) {
  std::vector<fs::path> found;
  if (blob.parent_path().filename() != "blobs") return found;
  std::error_code error;
  const fs::path snapshots = blob.parent_path().parent_path() / "snapshots";
  for (fs::recursive_directory_iterator it(snapshots, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_symlink(ignored) && fs::equivalent(it->path(), blob, ignored)) found.push_back(it->path());
  }
  return found;
}

void add_file(const fs::path& file, Removal& removal, std::vector<fs::path>& known_links) {
  const fs::path target = follow(file, known_links);
  const auto is_known = [](const std::vector<fs::path>& list, const fs::path& path) {
    return std::ranges::find(list, path) != list.end();
  };
  const bool is_shared = std::ranges::any_of(
      links_to(target), [&](const fs::path& link) { return !is_known(known_links, link); });
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(target, error));
  if (error || is_shared || is_known(removal.whole, target)) return;
  removal.whole.push_back(target);
  removal.bytes += bytes;
}

}  // namespace

ModelFiles files_of(const fs::path& model) {
  ModelFiles found;
  std::error_code error;
  if (fs::is_directory(model, error)) {
    found.files = regular_files(model);
  } else {
    found.files = parts_of(model);
    if (found.files.empty()) found.files = {model};
  }
  for (const fs::path& file : found.files) {
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    if (!ignored) found.bytes += static_cast<std::int64_t>(size);
    const auto time = fs::last_write_time(file, ignored);
    if (!ignored)
      found.modified = std::max(found.modified, static_cast<std::int64_t>(time.time_since_epoch().count()));
  }
  return found;
}

Result<FileCheck> check_files(const fs::path& model, const ProgressSink& progress, std::stop_token stop) {
  constexpr qint64 piece = 4 << 20;
  const ModelFiles files = files_of(model);
  FileCheck check;
  for (const fs::path& path : files.files) {
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QFile::ReadOnly))
      return fail(phrases::file_place(path), errors::cannot_read(Said{file.errorString().toStdString()}));
    const auto expected = expected_checksum(path);
    QCryptographicHash hash(expected ? expected->algorithm : QCryptographicHash::Sha256);
    if (expected && expected->algorithm == QCryptographicHash::Sha1)
      hash.addData("blob " + QByteArray::number(file.size()) + QByteArray(1, '\0'));
    QByteArray buffer(piece, Qt::Uninitialized);
    for (;;) {
      if (stop.stop_requested()) return fail(phrases::file_place(path), errors::check_was_stopped());
      const qint64 count = file.read(buffer.data(), piece);
      if (count < 0)
        return fail(phrases::file_place(path), errors::cannot_read(Said{file.errorString().toStdString()})
                                                   .advise(phrases::library_failing_disk()));
      if (count == 0) break;
      if (expected) hash.addData(QByteArrayView(buffer.constData(), count));
      check.bytes += count;
      if (progress)
        progress({Progress::Stage::checking, check.bytes, files.bytes, Progress::Unit::bytes,
                  path.filename().string()});
    }
    ++check.files;
    if (!expected) continue;
    if (hash.result().toHex() != expected->hex)
      return fail(phrases::file_place(path), errors::library_wrong_checksum());
    ++check.compared;
  }
  return check;
}

Removal removal_of(const fs::path& model) {
  Removal removal;
  std::vector<fs::path> links;
  std::error_code error;
  const fs::path place = follow(model, links);
  const bool is_folder = fs::is_directory(place, error);
  if (is_folder && place.parent_path().filename() != "snapshots")
    return {.whole = {place}, .bytes = files_of(place).bytes};
  const std::vector<fs::path> files = is_folder ? regular_files(place) : files_of(model).files;
  for (const fs::path& file : files) add_file(file, removal, links);
  return removal;
}

}  // namespace fovea::app
