// Any bytes as a formula: what is no formula is refused, and what is one has a box of a size that is a
// number.
#include "ui/mathematics/layout.h"
#include "ui/mathematics/tree.h"

#include <algorithm>
#include <cmath>

#include "fuzz.h"

using namespace fovea;

namespace {

class MadeMetrics final : public ui::MathMetrics {
 public:
  ui::MathExtents measure(const QString& text, ui::MathFace, qreal size) const override {
    return {0.5 * size * static_cast<qreal>(text.size()), 0.7 * size, 0.2 * size, 0.05 * size};
  }
};

bool is_length(qreal value) {
  return std::isfinite(value) && std::abs(value) < 1e7;
}

int depth_of(const ui::MathNode& node) {
  int deepest = 0;
  for (const ui::MathNode& child : node.children) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

void check(const ui::MathBox& box) {
  fuzz_check(is_length(box.width) && box.width >= 0);
  fuzz_check(is_length(box.ascent) && is_length(box.descent));
  for (const ui::MathInk& ink : box.inks) {
    fuzz_check(is_length(ink.area.left()) && is_length(ink.area.top()));
    fuzz_check(is_length(ink.area.width()) && is_length(ink.area.height()));
  }
  std::size_t inks = 0;
  for (const ui::MathBreak& each : box.breaks) {
    fuzz_check(each.inks >= inks && each.inks <= box.inks.size());
    inks = each.inks;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const QString tex = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
  const std::optional<ui::MathNode> tree = ui::parse_math(tex);
  if (!tree) return 0;
  fuzz_check(depth_of(*tree) < 8 * ui::kDeepestMath);
  const MadeMetrics metrics;
  check(ui::lay_out_math(*tree, metrics, 16, true));
  check(ui::lay_out_math(*tree, metrics, 16, false));
  return 0;
}
