#include "ui/chat/conversation_layout.h"

#include <QHash>
#include <algorithm>
#include <cmath>

namespace fovea::ui {
namespace {

constexpr int kMaxPasses = 16;       // each lays out what the one before brought into sight
constexpr qreal kReadyMargin = 8;    // em, laid out above and below the visible part
constexpr qreal kLayoutScreens = 2;  // further away layouts go …
constexpr qreal kBlockScreens = 8;   // … and here the parsed blocks

}  // namespace

void ConversationLayout::set_frame(const LayoutStyle& style, qreal column) {
  if (frame_.generation > 0 && frame_.style == style && frame_.column == column) return;
  frame_.style = style;
  frame_.column = column;
  frame_.sizes = sizes_of(style);
  frame_.em = frame_.sizes.em;
  ++frame_.generation;
  dirty_ = true;
}

void ConversationLayout::set_messages(std::vector<MessageView> messages) {
  QHash<MessageId, std::size_t> known;
  for (std::size_t i = 0; i < messages_.size(); ++i) known.insert(messages_[i]->view().id, i);
  std::vector<std::unique_ptr<MessageLayout>> before = std::move(messages_);
  messages_.clear();
  messages_.reserve(messages.size());
  for (MessageView& view : messages) {
    const auto found = known.constFind(view.id);
    if (found != known.cend() && before[*found]) {
      messages_.push_back(std::move(before[*found]));
      messages_.back()->set_view(view);
    } else {
      messages_.push_back(std::make_unique<MessageLayout>(std::move(view)));
    }
  }
  dirty_ = true;
}

void ConversationLayout::append_to(int index, const QString& text) {
  at(index).append(text);
  dirty_ = true;
}

// From the end: what is asked for is usually the answer that is being written.
int ConversationLayout::index_of(MessageId id) const {
  for (int i = count(); i-- > 0;) {
    if (at(i).view().id == id) return i;
  }
  return -1;
}

void ConversationLayout::update_tops() {
  if (!dirty_) return;
  dirty_ = false;
  tops_.resize(messages_.size());
  qreal y = std::round(1.2 * frame_.em);
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    tops_[i] = y;
    y += messages_[i]->height(frame_);
  }
  height_ = y;
}

qreal ConversationLayout::height() {
  update_tops();
  return height_;
}

qreal ConversationLayout::top_of(int index) {
  update_tops();
  return tops_[static_cast<std::size_t>(index)];
}

int ConversationLayout::message_at(qreal y) {
  update_tops();
  if (tops_.empty()) return -1;
  const auto after = std::ranges::upper_bound(tops_, y);
  return std::max(0, static_cast<int>(after - tops_.begin()) - 1);
}

ConversationLayout::Place ConversationLayout::place_at(qreal scroll, qreal visible) {
  Place first;
  for (int i = message_at(scroll); i >= 0 && i < count() && top_of(i) < scroll + visible; ++i) {
    const MessageLayout::Anchor anchor = at(i).anchor_at(frame_, scroll - top_of(i));
    const bool in_block = anchor.exact;
    const qreal y = top_of(i) + (in_block ? at(i).top_of(frame_, anchor.block) : 0);
    const Place place{i, anchor.block, in_block, y - scroll};
    if (in_block && y < scroll + visible) return place;
    if (first.message < 0) first = place;
  }
  return first;
}

bool ConversationLayout::lay_out(qreal top, qreal bottom) {
  int made = 0;
  bool changed = false;  // parsing alone may change a height
  for (int i = message_at(top); i >= 0 && i < count() && top_of(i) < bottom; ++i) {
    const qreal y = top_of(i);
    const qreal before = at(i).height(frame_);
    made += at(i).prepare(frame_, top - y, bottom - y);
    if (at(i).height(frame_) != before) changed = dirty_ = true;
  }
  layouts_made_ += made;
  return changed || made > 0;
}

qreal ConversationLayout::settle(qreal scroll, qreal visible, Stick stick) {
  if (messages_.empty()) {
    update_tops();
    return 0;
  }
  const Place place = place_at(scroll, visible);
  const qreal margin = kReadyMargin * frame_.em;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const qreal most = std::max(0.0, height() - visible);
    qreal wanted = scroll;
    if (stick == Stick::bottom) {
      wanted = most;
    } else if (stick == Stick::top) {
      wanted = 0;
    } else if (place.message >= 0) {
      wanted = top_of(place.message) - place.offset;
      if (place.in_block) wanted += at(place.message).top_of(frame_, place.block);
    }
    wanted = std::clamp(std::round(wanted), 0.0, most);
    const bool moved = wanted != scroll;
    scroll = wanted;
    const bool changed = lay_out(scroll - margin, scroll + visible + margin);
    if (!changed && !moved) break;
  }
  forget(scroll, visible);
  return std::clamp(scroll, 0.0, std::max(0.0, height() - visible));
}

void ConversationLayout::forget(qreal scroll, qreal visible) {
  for (int i = 0; i < count(); ++i) {
    MessageLayout& message = at(i);
    if (!message.has_blocks()) continue;
    const qreal top = tops_[static_cast<std::size_t>(i)] - scroll;
    const qreal bottom = top + message.height(frame_);
    if (bottom < -kBlockScreens * visible || top > (1 + kBlockScreens) * visible) {
      message.forget_all();
    } else if (top < -kLayoutScreens * visible || bottom > (1 + kLayoutScreens) * visible) {
      message.forget_layouts(-kLayoutScreens * visible - top, (1 + kLayoutScreens) * visible - top);
    }
  }
}

std::size_t ConversationLayout::layouts_held() const {
  std::size_t held = 0;
  for (const auto& message : messages_) held += message->layout_count();
  return held;
}

}  // namespace fovea::ui
