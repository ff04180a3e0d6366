#include "app/top/draw_top.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <spdlog/fmt/fmt.h>
#include <vector>

#include "app/terminal/screen.h"
#include "app/top/draw_map.h"
#include "engine/api/sentence.h"
#include "ui/theme/scale/precision_scale.h"

namespace fovea::app {
namespace {

using ui::Rgb;
using Kind = ui::BudgetPart::Kind;

constexpr Rgb accent_on_dark{0xF2, 0xB6, 0x32}, accent_on_light{0x8F, 0x5F, 0x00};
constexpr Rgb good_on_dark{0x6C, 0xC4, 0x9A}, good_on_light{0x1F, 0x7A, 0x4D};
constexpr Rgb warning_colour{0xC8, 0x4B, 0x3C};
// Of the memory that no expert takes: weights, context, computing.
constexpr std::array<Rgb, 3> other_memory{{{0x75, 0x7C, 0x85}, {0x8D, 0x94, 0x9C}, {0xA6, 0xAC, 0xB4}}};
constexpr const char* point = " · ";

// What the lines of the screen share.
class Screen {
 public:
  Screen(const TopModel& model, const TopView& view, int rows, int columns)
      : model_(model), view_(view), canvas_(rows, columns) {}

  Canvas draw() {
    head();
    if (model_.is_empty()) {
      canvas_.put(std::min(2, canvas_.rows() - 1), 0, elided(view_.note, canvas_.columns()));
      return std::move(canvas_);
    }
    int row = gauge(1);
    const int room = canvas_.rows();
    if (room >= 14) row = lines(row, room < 18 ? 1 : 3);
    if (room >= 10) row = story(row, room < 18 ? 1 : room < 40 ? 2 : 5);
    if (room >= 22) ++row;
    const int last = room - foot();
    below(row, last);
    return std::move(canvas_);
  }

 private:
  Ink coloured(Rgb colour, bool bold = false) const {
    if (view_.colours == Colours::none) return {.bold = bold};
    return {.text = colour, .bold = bold};
  }
  Ink accent(bool bold = false) const {
    return coloured(view_.is_light ? accent_on_light : accent_on_dark, bold);
  }
  Ink second() const { return {.faint = true}; }

  // Who it is, and whether it is now.
  void head() {
    const bool is_live = view_.state == TopView::State::live;
    std::string state = view_.state == TopView::State::frozen ? "frozen"
                        : view_.state == TopView::State::idle ? "idle"
                        : is_live                             ? "live"
                                                              : "waiting";
    if (view_.state == TopView::State::waiting && !model_.is_empty()) state = view_.note;
    if (!view_.source.empty()) state += point + view_.source;
    const int room = canvas_.columns();
    state = elided(state, room - 12);
    const std::string name = model_.is_empty() || model_.model().name.empty() ? "Fovea" : model_.model().name;
    canvas_.put(0, 0, "●", is_live ? accent() : second());
    canvas_.put(0, 2, elided(name, room - 4 - columns_of(state)), {.bold = true});
    canvas_.put_right(0, room, state, second());
  }

  // One number.
  int gauge(int row) {
    using ui::GainVerdict;
    const ui::PolicyGain gain = model_.gain();
    const bool is_known = gain.tokens > 0 && gain.verdict != GainVerdict::not_compared;
    const bool is_whole = gain.verdict == GainVerdict::no_policy;
    const std::string number = is_whole ? percent(1) : is_known ? percent(gain.kept) : "–";
    const SnapshotNumbers& n = model_.numbers();
    const std::string what = gain.verdict == GainVerdict::not_compared
                                 ? "the cost of lowering layers was not measured"
                             : gain.in_nats || !is_known || n.tiers.empty()
                                 ? "of the model's quality kept"
                                 : fmt::format("of the quality that {} bits add to {}",
                                               ui::whole_bits(n.tiers.front().bits_per_weight),
                                               ui::whole_bits(n.tiers.back().bits_per_weight));
    const int at = canvas_.put(row, 2, number, accent(true));
    const int end = canvas_.put(row, at + 1, what);
    if (gain.bits_per_use <= 0) return row + 1;
    const std::string with = fmt::format("experts in use average {:.1f} bits", gain.bits_per_use);
    if (end + columns_of(point) + columns_of(with) <= canvas_.columns()) {
      canvas_.put(row, end, point + with, second());
      return row + 1;
    }
    if (canvas_.rows() < 14) return row + 1;
    canvas_.put(row + 1, 2, elided(with, canvas_.columns() - 2), second());
    return row + 2;
  }

  // Compared with what: each line by itself, on one scale.
  int lines(int row, int most) {
    const ui::QualityLine line = model_.quality_line();
    if (line.points.size() < 2) return row;
    const ui::PolicyGain gain = model_.gain();
    double lowest = 1;
    for (const ui::QualityPoint& each : line.points)
      lowest = std::min({lowest, each.kept, each.low, each.fixed.value_or(1)});
    lowest = std::min(lowest, 0.98);
    const auto draw = [&](const std::string& label, const Ink& ink, auto share) {
      // Not the whole row: the lines would touch.
      static constexpr std::array<const char*, 7> levels{"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
      constexpr int label_columns = 16;
      canvas_.put(row, 2, label, second());
      const int columns = std::max(0, canvas_.columns() - label_columns - 2);
      for (int x = 0; x < columns; ++x) {
        const auto at = static_cast<std::size_t>(x) * line.points.size() / static_cast<std::size_t>(columns);
        const std::optional<double> value = share(line.points[at]);
        if (!value) continue;
        const double height = std::clamp((*value - lowest) / (1 - lowest), 0.0, 1.0);
        canvas_.put(row, label_columns + x, levels[static_cast<std::size_t>(std::lround(6 * height))], ink);
      }
      ++row;
    };
    using Point = ui::QualityPoint;
    draw("adaptive " + percent(gain.kept), accent(), [](const Point& p) { return std::optional(p.kept); });
    if (most < 3) return row;
    if (gain.chosen_by != ui::FixedMix::none)
      draw("fixed    " + percent(gain.fixed_kept), {}, [](const Point& p) { return p.fixed; });
    draw("all low  " + percent(gain.low_kept), second(), [](const Point& p) { return std::optional(p.low); });
    return row;
  }

  // What happened.
  int story(int row, int most) {
    int used = 0;
    for (const ui::Chapter& chapter : model_.story()) {
      const bool is_newest = used == 0;
      std::string text = wrapped(chapter_sentence(chapter), canvas_.columns() - 2);
      const Rgb good = view_.is_light ? good_on_light : good_on_dark;
      if (used < most) canvas_.put(row, 0, "●", coloured(chapter.waits == 0 ? good : warning_colour));
      while (!text.empty() && used < most) {
        const std::size_t end = text.find('\n');
        std::string part = text.substr(0, end);
        text.erase(0, end == std::string::npos ? end : end + 1);
        if (!text.empty() && used + 1 == most) part = elided(part + " …", canvas_.columns() - 2);
        canvas_.put(row++, 2, part, is_newest ? Ink() : second());
        ++used;
      }
      if (used >= most || most <= 2) break;
    }
    return row;
  }

  // Where: the map, one layer, or in words.
  void below(int row, int last) {
    if (last - row < 2) return;
    const CanvasArea area{.row = row + 1, .rows = last - row - 1, .column = 0, .columns = canvas_.columns()};
    if (view_.below == TopView::Below::help) return help(row, last);
    if (view_.below == TopView::Below::details) return details(row, last);
    if (model_.frame().layers == 0) {
      canvas_.put(row, 2,
                  elided("This model has no experts: every token uses all of it.", canvas_.columns() - 2));
      return;
    }
    const int legend = put_legend(row);
    const char* const order = view_.by_number ? "by their numbers" : "hottest first";
    const std::int64_t layers = model_.frame().layers;
    const std::string title =
        view_.layer ? fmt::format("layer {}, {} experts, {}", model_.layer_number(*view_.layer),
                                  model_.experts_of(*view_.layer), order)
                    : fmt::format("{} {}, {} experts in each, {}", layers, layers == 1 ? "layer" : "layers",
                                  model_.frame().units_per_layer, order) +
                          cut_words();
    canvas_.put(row, 2, elided(title, legend - 3), second());
    view_.layer ? draw_layer(canvas_, area, model_, view_) : draw_map(canvas_, area, model_, view_);
  }

  std::string cut_words() const {
    const auto& cards = model_.model().cards;
    if (cards.empty()) return {};
    return fmt::format(", the first {} on {}", model_.model().rows_of_first(), cards.front().name);
  }

  // From the right; where it begins.
  int put_legend(int row) {
    const SnapshotNumbers& n = model_.numbers();
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < n.tiers.size(); ++place)
      if (n.tiers[place].units > 0) places.push_back(place);
    if (std::ranges::find(model_.frame().tier, host_tier) != model_.frame().tier.end())
      places.push_back(n.tiers.size() + 1);
    int width = 0;
    std::vector<std::string> words;
    for (const std::size_t place : places) {
      words.push_back(place_name(place, n));
      width += columns_of(words.back()) + 4;
    }
    int column = std::max(0, canvas_.columns() - width + 2);
    const int begin = column;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string letter(1, place_letter(places[i], n));
      const bool has_colours = view_.colours != Colours::none;
      column = canvas_.put(row, column, has_colours ? "■" : letter,
                           coloured(place_colour(places[i], n, view_.is_light), !has_colours));
      column = canvas_.put(row, column + 1, words[i], second()) + 2;
    }
    return begin;
  }

  // What it takes, how fast it is; returns the rows.
  int foot() {
    const int rows = canvas_.rows();
    if (rows < 5) return 0;
    const std::vector<ui::CardMemory> cards = model_.cards();
    // Where there is hardly room, both together.
    const bool is_each_shown = cards.size() == 2 && rows >= 12;
    int row = rows - 2 - (is_each_shown ? 1 : 0);
    const int lines = rows - row;
    if (is_each_shown) {
      for (const ui::CardMemory& card : cards) memory(row++, card.name, card.budget, card.budget_bytes > 0);
    } else {
      const bool is_limited = cards.empty() ? model_.numbers().budget_bytes > 0 : cards[0].budget_bytes > 0;
      memory(row, "Memory", model_.memory(), is_limited);
    }
    const SnapshotNumbers& n = model_.numbers();
    std::string text = fmt::format("{:.1f} tok/s", n.tokens_per_second);
    if (n.swaps.promotions + n.swaps.demotions > 0)
      text += fmt::format("{}{} up, {} down", point, grouped(n.swaps.promotions), grouped(n.swaps.demotions));
    if (n.swaps.bytes_read > 0) text += point + size_text(n.swaps.bytes_read) + " read";
    if (n.swaps.stalls > 0) text += fmt::format("{}{} waits", point, grouped(n.swaps.stalls));
    const std::string keys = "h help  q quit";
    const int room = canvas_.columns() - 2;
    const bool both = columns_of(text) + columns_of(keys) + 2 <= room;
    canvas_.put(rows - 1, 2, elided(text, room));
    if (both) canvas_.put_right(rows - 1, canvas_.columns(), keys, second());
    return lines + (rows >= 22 ? 1 : 0);
  }

  Rgb part_colour(const ui::BudgetPart& part) const {
    switch (part.kind) {
      case Kind::dense:
        return other_memory[0];
      case Kind::kv:
        return other_memory[1];
      case Kind::activations:
        return other_memory[2];
      case Kind::tier:
        return place_colour(static_cast<std::size_t>(part.tier), model_.numbers(), view_.is_light);
      case Kind::in_flight:
        return {0xFF, 0xFF, 0xFF};
      default:
        return place_colour(model_.numbers().tiers.size(), model_.numbers(), view_.is_light);
    }
  }
  std::string part_letter(const ui::BudgetPart& part) const {
    switch (part.kind) {
      case Kind::dense:
        return "w";
      case Kind::kv:
        return "k";
      case Kind::activations:
        return "a";
      case Kind::tier:
        return std::string(1, place_letter(static_cast<std::size_t>(part.tier), model_.numbers()));
      case Kind::in_flight:
        return "+";
      default:
        return ".";
    }
  }

  void memory(int row, const std::string& name, const std::vector<ui::BudgetPart>& parts, bool is_limited) {
    double all = 0, free = 0;
    for (const ui::BudgetPart& part : parts) {
      all += part.bytes;
      if (part.kind == Kind::free || part.kind == Kind::unplanned) free += part.bytes;
    }
    if (all <= 0) return;
    const std::string used = size_text(static_cast<std::int64_t>(all - free));
    const std::string numbers = is_limited ? used + " of " + size_text(static_cast<std::int64_t>(all)) : used;
    constexpr int begin = 9;
    const int end = canvas_.columns() - columns_of(numbers) - 1;
    canvas_.put(row, 2, elided(name, begin - 3), second());
    canvas_.put_right(row, canvas_.columns(), numbers);
    double so_far = 0;
    int column = begin;
    for (const ui::BudgetPart& part : parts) {
      so_far += part.bytes;
      const int until = begin + static_cast<int>(std::lround((end - begin) * so_far / all));
      const bool has_colours = view_.colours != Colours::none;
      for (; column < until; ++column)
        canvas_.put(row, column, has_colours ? "▆" : part_letter(part), coloured(part_colour(part)));
    }
  }

  void details(int row, int last) {
    const SnapshotNumbers& n = model_.numbers();
    std::vector<std::string> text;
    std::int64_t uses = n.misses + n.host_hits;
    for (const TierState& tier : n.tiers) uses += tier.hits;
    const auto share = [&](std::int64_t hits) {
      return uses > 0 ? percent(static_cast<double>(hits) / static_cast<double>(uses)) : "–";
    };
    for (std::size_t place = 0; place < n.tiers.size(); ++place) {
      const TierState& tier = n.tiers[place];
      text.push_back(fmt::format("{:<19}{:>8} experts {:>11} {:>6} of the uses", place_name(place, n),
                                 grouped(tier.units), size_text(tier.bytes), share(tier.hits)));
    }
    if (n.host_units > 0)
      text.push_back(fmt::format("{:<19}{:>8} experts {:>11} {:>6} of the uses", "with the processor",
                                 grouped(n.host_units), "", share(n.host_hits)));
    if (n.misses > 0)
      text.push_back(
          fmt::format("{:<19}{:>8} {:>18} {:>6} of the uses", "on disk alone", "", "", share(n.misses)));
    text.emplace_back();
    for (const ui::CardMemory& card : model_.cards()) {
      double used = 0;
      for (const ui::BudgetPart& part : card.budget)
        if (part.kind != Kind::free && part.kind != Kind::unplanned) used += part.bytes;
      text.push_back(fmt::format("{:<19}{:>27} of {}", card.name, size_text(static_cast<std::int64_t>(used)),
                                 size_text(static_cast<std::int64_t>(card.budget_bytes))));
    }
    text.push_back(fmt::format("Swaps: {} to more bits, {} to fewer, {} read, {} under way",
                               grouped(n.swaps.promotions), grouped(n.swaps.demotions),
                               size_text(n.swaps.bytes_read), n.queued));
    text.push_back(n.swaps.stalls == 0
                       ? "No token of an answer waited for the disk."
                       : fmt::format("{} uses of experts waited for the disk, {:.1f} s in all.",
                                     grouped(n.swaps.stalls), n.swaps.stall_seconds));
    const ui::RouterHealth routers = model_.routers();
    text.push_back(fmt::format("In the last minute a layer's busiest tenth had {} of its uses.",
                               percent(routers.top_tenth)));
    if (routers.collapsed > 0)
      text.push_back(fmt::format("In {} layers the same few experts are chosen for nearly every token.",
                                 routers.collapsed));
    text.push_back(fmt::format("{} tokens since the model was opened; prompts are read at {:.1f} tok/s",
                               grouped(n.tokens), n.prefill_tokens_per_second));
    for (std::size_t i = 0; i < text.size() && row + static_cast<int>(i) < last; ++i)
      canvas_.put(row + static_cast<int>(i), 2, elided(text[i], canvas_.columns() - 2));
  }

  void help(int row, int last) {
    static constexpr std::array<std::pair<const char*, const char*>, 9> keys{
        {{"space", "hold this moment, or go on"},
         {"s", "experts hottest first, or by their numbers"},
         {"l, Enter", "one layer by itself, or all"},
         {"↑ ↓, k j", "another layer"},
         {"d", "details in words, or the map"},
         {"h, ?", "this list"},
         {"q, Esc", "leave"},
         {"", ""},
         {"", "Colour: how many bits a weight has. Strength: how much an expert is used."}}};
    int at = row;
    for (const auto& [key, words] : keys) {
      if (at >= last) break;
      canvas_.put(at, 2, key, {.bold = true});
      canvas_.put(at, *key == '\0' ? 2 : 14, elided(words, canvas_.columns() - (*key == '\0' ? 2 : 14)));
      ++at;
    }
  }

  const TopModel& model_;
  const TopView& view_;
  Canvas canvas_;
};

}  // namespace

Canvas draw_top(const TopModel& model, const TopView& view, int rows, int columns) {
  return Screen(model, view, rows, columns).draw();
}

int rows_for_all(const TopModel& model) {
  constexpr int around = 14;  // the lines above the map and below it
  return around + static_cast<int>(model.is_empty() ? 0 : std::min<std::int64_t>(model.frame().layers, 512));
}

std::string chapter_sentence(const ui::Chapter& chapter) {
  const std::string since =
      chapter.question.empty() ? "Since you began to watch" : "Since " + chapter.question;
  if (chapter.woke == 0 && chapter.rested == 0 && chapter.waits == 0)
    return since + ", no expert had to change; no token of the answer waited.";
  const auto experts = [](std::int64_t count) {
    return grouped(count) + (count == 1 ? " expert" : " experts");
  };
  return fmt::format("{}, {} rose to more bits, {} fell to fewer to make room; {}.", since,
                     experts(chapter.woke), grouped(chapter.rested),
                     chapter.waits == 0
                         ? "no token of the answer waited"
                         : fmt::format("{} {} of experts waited for the disk", grouped(chapter.waits),
                                       chapter.waits == 1 ? "use" : "uses"));
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string grouped(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (std::int64_t at = std::ssize(digits) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

}  // namespace fovea::app
