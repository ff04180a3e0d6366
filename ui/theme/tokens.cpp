#include "ui/theme/tokens.h"

#include <QPalette>

#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

Tones dark_tones() {
  return {.window = "#111316",
          .sidebar = "#0C0E10",
          .card = "#1A1D21",
          .hover = "#24282D",
          .line = "#2A2E34",
          .text = "#ECEEF0",
          .second = "#A6ACB4",
          .third = "#757C85",
          .brand = "#F2B632",
          .on_brand = "#1A1300",
          .accent = "#F2B632",
          .on_accent = "#1A1300",
          .bubble = "#23272D",
          .code = "#0E1013",
          .good = "#6CC49A",
          .warning = "#E8BD6A",
          .error = "#F29B94",
          .error_ground = "#3A2021"};
}

Tones light_tones() {
  return {.window = "#FFFFFF",
          .sidebar = "#F6F6F3",
          .card = "#FBFBF9",
          .hover = "#EFEFEB",
          .line = "#E3E3DE",
          .text = "#16181B",
          .second = "#565C64",
          .third = "#7A8088",
          .brand = "#F0B02B",
          .on_brand = "#1A1300",
          .accent = "#8F5F00",
          .on_accent = "#FFFFFF",
          .bubble = "#F1F1ED",
          .code = "#F7F7F4",
          .good = "#1F7A4D",
          .warning = "#805506",
          .error = "#A32A22",
          .error_ground = "#FBE9E6"};
}

}  // namespace

const Tones& tones(const QPalette& palette) {
  static const Tones dark = dark_tones(), light = light_tones();
  return is_dark(palette) ? dark : light;
}

QFont type_of(const QFont& control, Type type, bool is_strong) {
  constexpr double sizes[] = {11, 12, 13, 15, 22, 38};
  QFont font = control;
  font.setPointSizeF(control.pointSizeF() * sizes[static_cast<int>(type)] /
                     sizes[static_cast<int>(Type::control)]);
  font.setWeight(is_strong ? QFont::DemiBold : QFont::Normal);
  return font;
}

}  // namespace fovea::ui
