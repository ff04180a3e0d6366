// Conversations from elsewhere into the file.
#include <unordered_map>
#include <utility>

#include "app/history/history.h"
#include "app/history/parts.h"
#include "app/history/rows.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

Result<bool> is_there(Database& db, const std::string& uid) {
  FOVEA_TRY(const auto there,
            db.number("SELECT EXISTS(SELECT 1 FROM conversations WHERE uid=? AND deleted_at=0)",
                      std::string_view(uid)));
  return there != 0;
}

// A deleted one with the same uid gives way to what is imported; it is still there to be restored.
Result<void> free_uid(Database& db, const std::string& uid) {
  return db.run("UPDATE conversations SET uid=uid || '-deleted-' || id WHERE uid=? AND deleted_at>0",
                std::string_view(uid));
}

// The same folder, else one that is called alike, else a new one.
Result<Id> folder_for(Database& db, const Archive& archive) {
  if (archive.folder_name.empty()) return Id{0};
  FOVEA_TRY(const Id there,
            db.number("SELECT id FROM folders WHERE uid=?1 OR name=?2 ORDER BY uid=?1 DESC, place LIMIT 1",
                      std::string_view(archive.folder_uid), std::string_view(archive.folder_name)));
  if (there != 0) return there;
  Folder folder;
  folder.uid = archive.folder_uid;
  folder.name = shortened(archive.folder_name, kMaxNameBytes);
  return write_folder(db, folder);
}

Result<Id> write_archive(Database& db, const Archive& archive) {
  Conversation conversation = archive.conversation;
  FOVEA_TRY(conversation.folder, folder_for(db, archive));
  if (conversation.uid.empty()) conversation.uid = random_uid();
  for (const Message& message : archive.messages) {
    if (!conversation.title.empty()) break;
    if (message.role == Role::user) conversation.title = title_from(message.text);
  }
  FOVEA_TRY(const Id id, write_conversation(db, conversation));
  std::unordered_map<Id, Id> ids;  // in the archive → in the file
  Id last = 0;
  for (Message message : archive.messages) {
    const Id given = message.id;
    message.conversation = id;
    const auto parent = ids.find(message.parent);
    message.parent = parent == ids.end() ? 0 : parent->second;
    FOVEA_TRY(last, write_message(db, message));
    ids.insert_or_assign(given, last);
  }
  const auto leaf = ids.find(conversation.leaf);
  FOVEA_CHECK(db.run("UPDATE conversations SET leaf_id=? WHERE id=?",
                     OrNull{leaf == ids.end() ? last : leaf->second}, id));
  return id;
}

}  // namespace

Result<ImportReport> History::import(std::span<const Archive> archives) {
  Database& db = parts_->database;
  ImportReport report;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  for (const Archive& archive : archives) {
    FOVEA_TRY(const bool there, is_there(db, archive.conversation.uid));
    if (there) {
      ++report.already_there;
      continue;
    }
    FOVEA_CHECK(free_uid(db, archive.conversation.uid));
    FOVEA_TRY(const Id id, write_archive(db, archive));
    report.conversations.push_back(id);
    ++report.imported;
  }
  FOVEA_CHECK(transaction.commit());
  return report;
}

}  // namespace fovea::app::history
