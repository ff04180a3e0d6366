// Which conversation used which experts.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "app/live/measures/snapshot_ring.h"
#include "ui/live/live_data.h"

namespace fovea::app {

class ConversationUses {
 public:
  static constexpr std::size_t max_kept = 8;  // the longest unused one gives way

  // That in view, with which the others are compared. An empty key: none.
  void set_current(const QString& key, const QString& title);
  // What is used from now on belongs to it. An empty key: to the one in view.
  void set_answering(const QString& key, const QString& title);
  // Uses between two moments.
  void add(const MapFrame& before, const MapFrame& after);
  void clear() { conversations_.clear(); }

  std::vector<ui::ConversationUse> rows() const;  // most uses first
  // [units] 1 for the conversation's busiest experts; empty when it is not known.
  std::vector<std::uint8_t> busiest(const QString& key) const;

 private:
  struct Conversation {
    QString key, title;
    std::vector<std::uint32_t> uses;  // [units]
    std::uint64_t last = 0;           // when it was current
  };
  Conversation* find(const QString& key);
  const Conversation* find(const QString& key) const;

  QString current_, current_title_, answering_, answering_title_;
  std::uint64_t clock_ = 0;
  std::int64_t units_per_layer_ = 0;
  std::vector<Conversation> conversations_;
};

}  // namespace fovea::app
