#include "app/live/conversation_uses.h"

#include <algorithm>
#include <numeric>

namespace fovea::app {
namespace {

constexpr std::size_t kBusiestShare = 8;  // an eighth of each layer's experts

std::vector<std::uint8_t> busiest_of(const std::vector<std::uint32_t>& uses, std::size_t width) {
  std::vector<std::uint8_t> busy(uses.size());
  if (width == 0) return busy;
  const std::size_t count = std::max<std::size_t>(1, width / kBusiestShare);
  std::vector<std::uint32_t> order(width);
  for (std::size_t base = 0; base + width <= uses.size(); base += width) {
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::partial_sort(
        order, order.begin() + static_cast<std::ptrdiff_t>(count),
        [&](std::uint32_t a, std::uint32_t b) { return uses[base + a] > uses[base + b]; });
    for (std::size_t rank = 0; rank < count; ++rank)
      if (uses[base + order[rank]] > 0) busy[base + order[rank]] = 1;
  }
  return busy;
}

}  // namespace

ConversationUses::Conversation* ConversationUses::find(const QString& key) {
  const auto found = std::ranges::find(conversations_, key, &Conversation::key);
  return found == conversations_.end() ? nullptr : &*found;
}

const ConversationUses::Conversation* ConversationUses::find(const QString& key) const {
  return const_cast<ConversationUses*>(this)->find(key);
}

void ConversationUses::set_current(const QString& key, const QString& title) {
  current_ = key;
  current_title_ = title;
  if (Conversation* known = find(key)) known->title = title;
}

void ConversationUses::set_answering(const QString& key, const QString& title) {
  answering_ = key;
  answering_title_ = title;
}

void ConversationUses::add(const MapFrame& before, const MapFrame& after) {
  const bool in_view = answering_.isEmpty();
  const QString& key = in_view ? current_ : answering_;
  if (key.isEmpty() || before.size() != after.size()) return;
  units_per_layer_ = after.units_per_layer;
  Conversation* conversation = find(key);
  if (!conversation) {
    if (conversations_.size() >= max_kept)
      conversations_.erase(std::ranges::min_element(conversations_, {}, &Conversation::last));
    conversations_.push_back({.key = key, .title = in_view ? current_title_ : answering_title_, .uses = {}});
    conversation = &conversations_.back();
  }
  conversation->last = ++clock_;
  conversation->uses.resize(after.size());
  for (std::size_t unit = 0; unit < after.size(); ++unit)
    conversation->uses[unit] += after.uses[unit] - before.uses[unit];
}

std::vector<ui::ConversationUse> ConversationUses::rows() const {
  const std::vector<std::uint8_t> mine = busiest(current_);
  std::vector<ui::ConversationUse> rows;
  for (const Conversation& each : conversations_) {
    ui::ConversationUse row{.key = each.key, .title = each.title, .current = each.key == current_};
    row.uses = std::accumulate(each.uses.begin(), each.uses.end(), std::int64_t{0});
    row.experts = std::ranges::count_if(each.uses, [](std::uint32_t uses) { return uses > 0; });
    const std::vector<std::uint8_t> theirs =
        busiest_of(each.uses, static_cast<std::size_t>(units_per_layer_));
    std::int64_t both = 0, all = 0;
    for (std::size_t unit = 0; unit < theirs.size() && unit < mine.size(); ++unit) {
      all += theirs[unit];
      both += theirs[unit] & mine[unit];
    }
    if (!mine.empty() && all > 0) row.overlap = static_cast<double>(both) / static_cast<double>(all);
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::greater<>(), &ui::ConversationUse::uses);
  return rows;
}

std::vector<std::uint8_t> ConversationUses::busiest(const QString& key) const {
  const Conversation* conversation = find(key);
  if (!conversation) return {};
  return busiest_of(conversation->uses, static_cast<std::size_t>(units_per_layer_));
}

}  // namespace fovea::app
