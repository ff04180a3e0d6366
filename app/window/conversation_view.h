// From what the history keeps to what the window shows.
#pragma once

#include <vector>

#include "app/history/types.h"
#include "ui/chat/conversation_item.h"
#include "ui/chat/message_view.h"

namespace fovea::app {

// `writing`: the answer that is being written now (0: none); then nothing else can be changed.
std::vector<ui::MessageView> views_of(const std::vector<history::Message>& messages, history::Id writing);
ui::MessageView view_of(const history::Message& message, history::Id writing);

std::vector<ui::ConversationItem> items_of(const std::vector<history::Conversation>& conversations);
std::vector<ui::SearchItem> items_of(const history::SearchResult& result);

// The first words of a question.
QString title_of(const QString& question);

}  // namespace fovea::app
