// Folders of conversations, and what is in them.
#include <algorithm>
#include <utility>

#include "app/history/errors.h"
#include "app/history/history.h"
#include "app/history/parts.h"
#include "app/history/rows.h"
#include "engine/core/result.h"

namespace fovea::app::history {

Result<std::vector<Conversation>> History::in_folders() {
  std::vector<Conversation> all;
  FOVEA_TRY(auto rows, parts_->database.query("SELECT " FOVEA_CONVERSATION_COLUMNS
                                              " FROM conversations AS c WHERE folder_id IS NOT NULL AND "
                                              "deleted_at=0 "
                                              "ORDER BY pinned_at DESC, updated_at DESC, id DESC"));
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return all;
    all.push_back(conversation_of(rows));
  }
}

Result<std::vector<Folder>> History::folders() {
  return read_folders(parts_->database);
}

Result<Folder> History::folder(Id id) {
  FOVEA_TRY(const std::vector<Folder> all, read_folders(parts_->database));
  const auto found = std::ranges::find(all, id, &Folder::id);
  if (found == all.end()) {
    return fail(phrases::file_place(parts_->database.file()), errors::history_no_folder(id));
  }
  return *found;
}

Result<Folder> History::create_folder(std::string_view name) {
  Folder made;
  made.uid = random_uid();
  made.name = shortened(name, kMaxNameBytes);
  FOVEA_TRY(made.id, write_folder(parts_->database, made));
  return made;
}

Result<void> History::rename_folder(Id id, std::string_view name) {
  FOVEA_CHECK(
      parts_->database.run("UPDATE folders SET name=? WHERE id=?", shortened(name, kMaxNameBytes), id));
  return must_have_changed(parts_->database, errors::history_no_folder(id));
}

// All of them are counted again, whatever another window has done to their places.
Result<void> History::place_folder(Id id, int place) {
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  FOVEA_TRY(std::vector<Folder> all, read_folders(db));
  const auto found = std::ranges::find(all, id, &Folder::id);
  if (found == all.end()) return fail(phrases::file_place(db.file()), errors::history_no_folder(id));
  Folder moved = std::move(*found);
  all.erase(found);
  const auto at = std::clamp<std::ptrdiff_t>(place, 0, std::ssize(all));
  all.insert(all.begin() + at, std::move(moved));
  for (std::size_t i = 0; i < all.size(); ++i)
    FOVEA_CHECK(db.run("UPDATE folders SET place=? WHERE id=?", static_cast<std::int64_t>(i), all[i].id));
  return transaction.commit();
}

// Also while nothing can be kept: it is no more than a look.
Result<void> History::set_collapsed(Id folder, bool collapsed) {
  if (parts_->opening.read_only) return {};
  return parts_->database.run("UPDATE folders SET collapsed=? WHERE id=?", std::int64_t{collapsed}, folder);
}

Result<void> History::set_folder_defaults(Id id, std::string_view preset, std::string_view model) {
  FOVEA_CHECK(parts_->database.run("UPDATE folders SET preset=?, model=? WHERE id=?", preset, model, id));
  return must_have_changed(parts_->database, errors::history_no_folder(id));
}

Result<void> History::forget_preset(std::string_view preset) {
  return parts_->database.run("UPDATE folders SET preset='' WHERE preset=?", preset);
}

Result<void> History::remove_folder(Id id) {
  return parts_->database.run("DELETE FROM folders WHERE id=?", id);
}

Result<void> History::move_to_folder(Id conversation, Id folder) {
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  if (folder != 0) {
    FOVEA_TRY(const auto there, db.number("SELECT count(*) FROM folders WHERE id=?", folder));
    if (there == 0) return fail(phrases::file_place(db.file()), errors::history_no_folder(folder));
  }
  FOVEA_CHECK(db.run("UPDATE conversations SET folder_id=? WHERE id=?", OrNull{folder}, conversation));
  FOVEA_CHECK(must_have_changed(db, errors::history_no_conversation(conversation)));
  return transaction.commit();
}

}  // namespace fovea::app::history
