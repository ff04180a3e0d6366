#include "ui/chat/screen_reader.h"

#include <QAccessible>

namespace fovea::ui {
namespace {

ScreenReaderListener listener_instead = nullptr;

}  // namespace

bool screen_reader_listens() {
  return listener_instead != nullptr || QAccessible::isActive();
}

void tell_screen_reader(QAccessibleEvent& event) {
  if (listener_instead) return listener_instead(event);
  QAccessible::updateAccessibility(&event);
}

void set_screen_reader_listener(ScreenReaderListener listener) {
  listener_instead = listener;
}

}  // namespace fovea::ui
