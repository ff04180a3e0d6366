#include "engine/core/thread.h"

#if defined(__linux__)
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fovea {

#if defined(__linux__)

void name_this_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
}

void yield_to_others() {
  constexpr int niceness = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness);
}

#else

void name_this_thread(const char*) {}
void yield_to_others() {}

#endif

}  // namespace fovea
