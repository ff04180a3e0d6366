// From what the history keeps to what the window shows.
#pragma once

#include <vector>

#include "app/history/types.h"
#include "ui/chat/conversation_item.h"
#include "ui/chat/message_view.h"

namespace fovea::app {

// The answer that a conversation waits for; until it is there nothing in it can be changed.
struct AwaitedAnswer {
  history::Id message = 0;  // 0: none
  QString waits_for;        // why it is not being written yet; empty: it is
};

std::vector<ui::MessageView> views_of(const std::vector<history::Message>& messages,
                                      const AwaitedAnswer& awaited);
ui::MessageView view_of(const history::Message& message, const AwaitedAnswer& awaited);

std::vector<ui::ConversationItem> items_of(const std::vector<history::Conversation>& conversations);
std::vector<ui::FolderItem> items_of(const std::vector<history::Folder>& folders);
std::vector<ui::SearchItem> items_of(const history::SearchResult& result);

// The first words of a question.
QString title_of(const QString& question, int max_characters = 60);

}  // namespace fovea::app
