#include "ui/theme/motion.h"

#include <QStyle>
#include <QWidget>

namespace fovea::ui::motion {
namespace {

bool wants_less = false;

}  // namespace

void set_less(bool less) {
  wants_less = less;
}

bool less() {
  return wants_less;
}

int move(const QWidget& widget) {
  if (wants_less) return 0;
  return widget.style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, &widget) > 0 ? move_ms : 0;
}

}  // namespace fovea::ui::motion
