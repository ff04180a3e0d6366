// Where parts of a message's source stand in it.
#include <algorithm>

#include "ui/chat/block_text.h"
#include "ui/chat/message_layout.h"
#include "ui/chat/source_map.h"

namespace fovea::ui {

// Folded blocks take part, so that what follows them is found; they have no place in text().
const std::vector<int>& MessageLayout::source_places() {
  text();
  if (source_places_known_) return source_places_;
  const std::vector<Block>& all = blocks();
  QString read;
  std::vector<int> begins;
  const Block* before = nullptr;
  for (const Block& block : all) {
    const bool has_text = block.kind != BlockKind::reasoning && block.kind != BlockKind::rule;
    if (has_text && before) read += text_between(*before, block);
    begins.push_back(static_cast<int>(read.size()));
    if (!has_text) continue;
    read += block_text(block);
    before = &block;
  }
  const std::vector<int> places = places_in_source(view_.text, read);
  source_places_.assign(static_cast<std::size_t>(text_.size()), -1);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (int k = 0; k < items_[i].text_length; ++k)
      source_places_[static_cast<std::size_t>(items_[i].text_begin + k)] =
          places[static_cast<std::size_t>(begins[i] + k)];
  }
  source_places_known_ = true;
  return source_places_;
}

TextRange MessageLayout::range_of_source(int begin, int end) {
  const std::vector<int>& places = source_places();
  TextRange range{-1, -1};
  // Places rise, but for those that are nowhere.
  for (auto at = static_cast<std::size_t>(first_from_source(begin)); at < places.size(); ++at) {
    if (places[at] >= end) break;
    if (places[at] < begin) continue;
    if (range.begin < 0) range.begin = static_cast<int>(at);
    range.end = static_cast<int>(at) + 1;
  }
  return range;
}

// The first character of text() that may be from there on.
int MessageLayout::first_from_source(int place) {
  const std::vector<int>& places = source_places();
  std::size_t low = 0, high = places.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    std::size_t known = middle;
    while (known < high && places[known] < 0) ++known;
    if (known < high && places[known] < place) {
      low = known + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<int>(low);
}

std::vector<QRectF> MessageLayout::areas_of(const Frame& frame, TextRange range) {
  text();
  place(frame);
  std::vector<QRectF> areas;
  const QPointF origin(left(frame), body_top(frame));
  for (const Item& item : items_) {
    if (item.hidden || !item.layout || item.text_length == 0) continue;
    if (item.text_begin >= range.end) break;
    const TextRange own{std::max(range.begin - item.text_begin, 0),
                        std::min(range.end - item.text_begin, item.text_length)};
    if (own.empty()) continue;
    for (const QRectF& area : item.layout->areas_of(own))
      areas.push_back(area.translated(origin + QPointF(0, item.top)));
  }
  return areas;
}

}  // namespace fovea::ui
