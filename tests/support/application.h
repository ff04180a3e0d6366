// The application object of the tests. Under the thread sanitizer it also says in which order Qt's events
// happen: Qt itself is not built with the sanitizer, which therefore cannot see that posting an event comes
// before its delivery.
#pragma once

#include <QEvent>
#include <QObject>

namespace fovea::tests {

#if defined(FOVEA_THREAD_SANITIZER)
// Everything before a call of event_posted() in one thread comes before what follows a call of
// event_delivered() in another. It is one order for all events, so that races between what two events do may
// stay hidden; races with what a thread does after posting do not.
void event_posted();
void event_delivered();
#endif

template <typename Application>
class TestApplication : public Application {
 public:
  using Application::Application;

#if defined(FOVEA_THREAD_SANITIZER)
  bool notify(QObject* receiver, QEvent* event) override {
    event_delivered();
    const bool handled = Application::notify(receiver, event);
    event_posted();  // who waits for the delivery or for the thread's end may use what it has done
    return handled;
  }
#endif
};

}  // namespace fovea::tests
