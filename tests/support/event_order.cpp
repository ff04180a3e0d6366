// Stands between the tests and the functions of Qt that carry work to another thread (the linker's --wrap).
#include <QDeadlineTimer>
#include <QMetaObject>
#include <QThread>
#include <sanitizer/tsan_interface.h>

#include "tests/support/application.h"

namespace {

char order;

}  // namespace

namespace fovea::tests {

void event_posted() {
  __tsan_release(&order);
}
void event_delivered() {
  __tsan_acquire(&order);
}

}  // namespace fovea::tests

#define FOVEA_REAL(symbol) __asm__("__real_" symbol)
#define FOVEA_WRAP(symbol) __asm__("__wrap_" symbol)
#define FOVEA_ACTIVATE "_ZN11QMetaObject8activateEP7QObjectPKS_iPPv"
#define FOVEA_INVOKE \
  "_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseEN2Qt14ConnectionTypeEPv"
#define FOVEA_WAIT "_ZN7QThread4waitE14QDeadlineTimer"

void real_activate(QObject*, const QMetaObject*, int, void**) FOVEA_REAL(FOVEA_ACTIVATE);
void wrap_activate(QObject*, const QMetaObject*, int, void**) FOVEA_WRAP(FOVEA_ACTIVATE);
bool real_invoke(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType, void*) FOVEA_REAL(FOVEA_INVOKE);
bool wrap_invoke(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType, void*) FOVEA_WRAP(FOVEA_INVOKE);
bool real_wait(QThread*, QDeadlineTimer) FOVEA_REAL(FOVEA_WAIT);
bool wrap_wait(QThread*, QDeadlineTimer) FOVEA_WRAP(FOVEA_WAIT);

void wrap_activate(QObject* sender, const QMetaObject* meta, int signal, void** arguments) {
  fovea::tests::event_posted();
  real_activate(sender, meta, signal, arguments);
}

bool wrap_invoke(QObject* receiver, QtPrivate::QSlotObjectBase* slot, Qt::ConnectionType type, void* result) {
  fovea::tests::event_posted();
  return real_invoke(receiver, slot, type, result);
}

bool wrap_wait(QThread* thread, QDeadlineTimer deadline) {
  const bool ended = real_wait(thread, deadline);
  if (ended) fovea::tests::event_delivered();
  return ended;
}
