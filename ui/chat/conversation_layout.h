// All messages of the transcript, one below the other. Only those near the visible part hold layouts; the
// heights of the others are estimates, corrected when they come near without moving what is being read.
#pragma once

#include <memory>
#include <vector>

#include "ui/chat/message_layout.h"

namespace fovea::ui {

class ConversationLayout {
 public:
  // Which place stays where it is while heights are corrected.
  enum class Stick : std::uint8_t { reading, top, bottom };

  void set_frame(const LayoutStyle& style, qreal column);
  const Frame& frame() const { return frame_; }

  // Messages with the same id keep what was made for them.
  void set_messages(std::vector<MessageView> messages);
  void append_to(int index, const QString& text);
  void changed() { dirty_ = true; }  // a message was changed through at()

  int count() const { return static_cast<int>(messages_.size()); }
  int index_of(MessageId id) const;  // -1: none
  MessageLayout& at(int index) { return *messages_[static_cast<std::size_t>(index)]; }
  const MessageLayout& at(int index) const { return *messages_[static_cast<std::size_t>(index)]; }

  qreal height();           // of all, with margins
  qreal top_of(int index);  // of a message's row
  int message_at(qreal y);  // the one there, else the nearest; -1: none
  // Lays out what is visible from `scroll` on, forgets what is far, and returns where to scroll to.
  qreal settle(qreal scroll, qreal visible, Stick stick);

  // Blocks laid out so far: tests show with it that finished ones are not laid out again.
  long layouts_made() const { return layouts_made_; }
  std::size_t layouts_held() const;

 private:
  struct Place {
    int message = -1;
    std::size_t block = 0;
    bool in_block = false;
    qreal offset = 0;  // of its top from the visible part's
  };
  void update_tops();
  Place place_at(qreal scroll, qreal visible);
  bool lay_out(qreal top, qreal bottom);
  void forget(qreal scroll, qreal visible);

  Frame frame_;
  std::vector<std::unique_ptr<MessageLayout>> messages_;
  std::vector<qreal> tops_;
  qreal height_ = 0;
  bool dirty_ = true;
  long layouts_made_ = 0;
};

}  // namespace fovea::ui
