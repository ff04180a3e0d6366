#include "app/console/interrupts.h"

#include <array>
#include <csignal>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace fovea::app {

constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells have it

namespace {

bool is_ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

struct Interrupts::Parts {
  std::function<void()> at_exit;
  int signals = -1;
  int quit = -1;
  std::mutex mutex;
  std::optional<std::stop_source> operation;  // guarded by mutex
  std::thread thread;

  void on_signal(int signal) {
    if (signal != SIGINT) end_by(signal);
    std::unique_lock lock(mutex);
    if (operation && operation->request_stop()) return;
    if (at_exit) at_exit();
    _exit(exit_interrupted);
  }

  // As if nobody had listened, so that a parent sees which signal it was.
  void end_by(int signal) {
    if (at_exit) at_exit();
    std::signal(signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
  }

  void loop() {
    pthread_setname_np(pthread_self(), "interrupts");
    std::array<pollfd, 2> waits{pollfd{signals, POLLIN, 0}, pollfd{quit, POLLIN, 0}};
    for (;;) {
      if (::poll(waits.data(), waits.size(), -1) < 0) continue;
      if (waits[1].revents != 0) return;
      signalfd_siginfo info;
      if (::read(signals, &info, sizeof info) == sizeof info) on_signal(static_cast<int>(info.ssi_signo));
    }
  }
};

Interrupts::Interrupts(std::function<void()> at_exit) : parts_(std::make_unique<Parts>()) {
  parts_->at_exit = std::move(at_exit);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  for (const int signal : {SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&set, signal);  // nohup asks for that
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  parts_->signals = ::signalfd(-1, &set, SFD_CLOEXEC);
  parts_->quit = ::eventfd(0, EFD_CLOEXEC);
  parts_->thread = std::thread([parts = parts_.get()] { parts->loop(); });
}

Interrupts::~Interrupts() {
  const std::uint64_t one = 1;
  if (::write(parts_->quit, &one, sizeof one) == sizeof one) parts_->thread.join();
  ::close(parts_->signals);
  ::close(parts_->quit);
}

Interrupts::Operation::Operation(Interrupts& interrupts) : interrupts_(interrupts) {
  const std::scoped_lock lock(interrupts_.parts_->mutex);
  interrupts_.parts_->operation = source_;
}

Interrupts::Operation::~Operation() {
  const std::scoped_lock lock(interrupts_.parts_->mutex);
  interrupts_.parts_->operation.reset();
}

}  // namespace fovea::app
