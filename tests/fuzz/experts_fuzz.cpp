// Any bytes as what a server tells of its experts, and as the answer that carries it: what is accepted can be
// shown, what is not is refused by a place and a name.
#include "app/server/event_stream.h"
#include "app/server/experts.h"
#include "app/server/json_fields.h"
#include "app/top/draw_top.h"
#include "app/top/top_report.h"

#include <nlohmann/json.hpp>

#include "fuzz.h"

using namespace fovea;
using namespace fovea::app;

namespace {

void check_refusal(const Error& error) {
  fuzz_check(error.kind != ErrorKind::internal && error.kind != ErrorKind::memory);
  fuzz_check(!error.what.empty() && error.message().size() < 4096);
}

// Two events of one text, as a model that does not change tells them.
void check_event(std::string_view text) {
  const auto event = read_experts(text);
  if (!event) return check_refusal(event.error());
  const Snapshot& snapshot = event->snapshot;
  fuzz_check(std::ssize(snapshot.units) == snapshot.layers * snapshot.units_per_layer);
  for (const UnitState& unit : snapshot.units)
    fuzz_check(unit.tier < snapshot.tiers.size() || unit.tier == no_tier || unit.tier == host_tier);
  TopModel model;
  model.add(*event, 1);
  ExpertsEvent later = *event;
  ++later.questions;
  later.snapshot.tokens += 10;
  later.snapshot.quality.tokens += 10;
  model.add(later, 2);
  TopView view{.state = TopView::State::live, .now = 2, .colours = Colours::all};
  view.places.by_hotness(model.frame());
  fuzz_check(draw_top(model, view, 24, 80).rows() == 24);
  view.layer = 0;
  fuzz_check(draw_top(model, view, 24, 80).rows() == 24);
  fuzz_check(top_json(model, "here").is_object());
  const auto again = read_experts(dump(experts_json(event->model, snapshot, event->questions)));
  fuzz_check(again && again->model == event->model && again->snapshot.units.size() == snapshot.units.size());
}

// The same events whether they come whole or byte by byte.
void check_stream(std::string_view text) {
  EventStream whole, pieces;
  const auto all = whole.read(text);
  std::vector<std::string> one_by_one;
  bool is_good = true;
  for (const char& byte : text) {
    if (pieces.has_ended()) break;
    const auto more = pieces.read({&byte, 1});
    is_good = more.has_value();
    if (!is_good) break;
    one_by_one.insert(one_by_one.end(), more->begin(), more->end());
  }
  if (!all) return check_refusal(all.error());
  fuzz_check(is_good && *all == one_by_one);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  text.starts_with("HTTP") ? check_stream(text) : check_event(text);
  return 0;
}
