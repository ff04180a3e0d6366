// What the sidebar lists. Plain data.
#pragma once

#include <QDateTime>
#include <QString>
#include <vector>

namespace fovea::ui {

struct ConversationItem {
  qint64 id = 0;
  QString title;
  QDateTime updated;
  bool pinned = false;
  qint64 folder = 0;  // 0: in none

  bool operator==(const ConversationItem&) const = default;
};

struct FolderItem {
  qint64 id = 0;
  QString name;
  bool collapsed = false;

  bool operator==(const FolderItem&) const = default;
};

struct MatchRange {  // characters
  int start = 0;
  int length = 0;

  bool operator==(const MatchRange&) const = default;
};

// A conversation, or a message in it, that was found.
struct SearchItem {
  qint64 conversation = 0;
  qint64 message = 0;  // 0: the title was found
  QString title;
  std::vector<MatchRange> title_matches;
  QString snippet;
  std::vector<MatchRange> snippet_matches;
  bool pinned = false;
  QString folder = {};  // its name; empty: in none
};

}  // namespace fovea::ui
