// The way to screen readers: Qt's, or in its place a listener. Qt lets nobody listen on a platform without a
// bridge to them, such as offscreen.
#pragma once

class QAccessibleEvent;

namespace fovea::ui {

bool screen_reader_listens();
void tell_screen_reader(QAccessibleEvent& event);

// Hears instead of the platform; null: the platform again. On the GUI thread.
using ScreenReaderListener = void (*)(QAccessibleEvent& event);
void set_screen_reader_listener(ScreenReaderListener listener);

}  // namespace fovea::ui
