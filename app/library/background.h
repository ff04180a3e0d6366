// Work on another thread whose value comes back to an object's own, if that is still there.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace fovea::app {

// `done` runs on the application's thread, which must be the owner's. Nobody waits when the owner goes.
template <class Work, class Done>
void in_background(QObject* owner, Work work, Done done) {
  QThreadPool::globalInstance()->start(
      [guard = QPointer<QObject>(owner), work = std::move(work), done = std::move(done)]() mutable {
        auto value = work();
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [guard, value = std::move(value), done = std::move(done)]() mutable {
              if (guard) done(std::move(value));
            },
            Qt::QueuedConnection);
      });
}

}  // namespace fovea::app
