// What the parts of the live panel draw. Plain data; what it says was judged by whoever made it.
#pragma once

#include <QString>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/api/snapshot.h"
#include "ui/live/data/measures.h"

namespace fovea::ui {

// Why there is nothing to see yet.
struct NothingToSee {
  enum class Why : std::uint8_t { no_model, opening, no_experts, no_answer_yet };
  Why why = Why::no_model;
  QString model = {};
  bool can_choose_precision = false;  // experts could be kept otherwise than the file has them
};

// Where a model is cut in two, of which two cards have one each.
struct CardCut {
  std::int64_t rows = 0;          // of the map, that the first card has
  QString first = {}, last = {};  // their names
};

// What is shown of the model beside what moves.
struct ShownModel {
  std::vector<std::int64_t> layer_numbers = {};  // in the model, of layers that have experts; empty: 0, 1, …
  std::vector<std::int64_t> experts_per_layer = {};  // empty: all the same
  std::int64_t experts_used = 0;                     // top-k
  bool moves_experts = false;                        // a policy is at work
  // What the experts that are open could be kept as instead.
  enum class Other : std::uint8_t { none, fixed, adaptive };
  Other other = Other::none;
  std::optional<CardCut> cut = {};
};

// The moment in view, and how it stands to the others that are held.
struct ShownMoment {
  enum class State : std::uint8_t { live, idle, frozen, replayed };
  State state = State::live;
  bool playing = false;
  QString recording = {};                       // of State::replayed
  std::int64_t first = 0, last = 0, index = 0;  // moments are numbered from the start of the recording
  double seconds_in = 0;                        // since the first moment
  double seconds_back = 0;                      // before the last one
  double seconds_behind_live = 0;               // before the newest that the engine gave
  // Of the uses: what the highest tier served, beside lower ones, and what the processor did.
  std::optional<double> high_share = {}, host_share = {};
};

struct FollowedExpert {
  struct Point {
    double seconds;
    std::uint8_t tier;
    float hotness;
  };
  std::int64_t unit = 0;
  int letter = 0;  // of its mark: 0 is A
  std::deque<Point> points = {};
};

inline constexpr double followed_seconds = 120;

struct FollowedExperts {
  std::vector<FollowedExpert> experts;
  double until = 0;  // time of the moment in view
};

// One expert by itself.
struct ExpertStory {
  FollowedExpert line;
  double until = 0;                      // time of the moment in view
  std::int64_t uses = 0;                 // tokens, since the start
  std::int64_t layer_uses = 0;           // of all experts of its layer
  std::int64_t rank = 0;                 // among them, by uses: 1 is the most used
  std::vector<UnitChange> changes = {};  // what is still known, the newest first
};

struct Traffic {
  TrafficSeries series;
  TokenPercentiles between_tokens;
  double link_bytes_per_s = 0;  // measured: what versions can be read with; 0: not known
};

// Which experts a conversation used.
struct ConversationUse {
  QString key, title;
  std::int64_t uses = 0;     // by tokens
  std::int64_t experts = 0;  // that it used at all
  // Share of its busiest experts that are the current one's busiest too; none before that one has any.
  std::optional<double> overlap = {};
  bool current = false;
};

struct Judgement {
  RouterHealth routers;
  std::vector<ConversationUse> conversations;  // most uses first
  PolicyGain gain;
};

struct Alarms {
  std::int64_t collapsed_layers = 0;
  std::optional<double> device_full;  // the share that is used
  bool experts_over_budget = false;
};

}  // namespace fovea::ui
