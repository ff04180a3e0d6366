// The screen of `fovea top`: what the window's panel shows, in its order, in characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/top/canvas.h"
#include "app/top/top_model.h"
#include "ui/live/data/heat_places.h"

namespace fovea::app {

// What is looked at, and how.
struct TopView {
  enum class State : std::uint8_t { live, idle, frozen, waiting };
  enum class Below : std::uint8_t { map, details, help };  // the numbers

  State state = State::waiting;
  Below below = Below::map;
  std::string source = {};                 // where it comes from
  std::string note = {};                   // what is waited for, where there is nothing to see
  double now = 0;                          // of the model's clock
  bool by_number = false;                  // else hottest first
  std::optional<std::int64_t> layer = {};  // it alone
  ui::HeatPlaces places = {};              // of the model's experts; kept for longer than one moment
  Colours colours = Colours::none;
  bool is_light = false;  // the terminal's ground
};

Canvas draw_top(const TopModel& model, const TopView& view, int rows, int columns);

// Rows of a screen that shows each layer in one of its own, with so many characters.
int rows_for_all(const TopModel& model);

// What happened since a question, or since watching began.
std::string chapter_sentence(const ui::Chapter& chapter);

// "97 %", "12,345".
std::string percent(double share);
std::string grouped(std::int64_t count);

}  // namespace fovea::app
