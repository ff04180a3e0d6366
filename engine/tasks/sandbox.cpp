#include "engine/tasks/sandbox.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"
#include "engine/tasks/errors.h"

namespace fovea::tasks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto wall_limit = std::chrono::seconds(10);
// Of the end: what Python had buffered comes behind the mark.
constexpr std::size_t kept_output_bytes = 1 << 16;

// Processor seconds, memory, files, processes; nothing of the environment, nothing to write to but 16 MiB of
// memory that is gone afterwards.
constexpr const char* command[] = {"bwrap",
                                   "--unshare-all",
                                   "--die-with-parent",
                                   "--new-session",
                                   "--clearenv",
                                   "--ro-bind",
                                   "/usr",
                                   "/usr",
                                   "--symlink",
                                   "usr/lib",
                                   "/lib",
                                   "--symlink",
                                   "usr/lib64",
                                   "/lib64",
                                   "--symlink",
                                   "usr/bin",
                                   "/bin",
                                   "--proc",
                                   "/proc",
                                   "--dev",
                                   "/dev",
                                   "--size",
                                   "16777216",
                                   "--tmpfs",
                                   "/tmp",
                                   "--chdir",
                                   "/tmp",
                                   "--cap-drop",
                                   "ALL",
                                   "--",
                                   "/usr/bin/prlimit",
                                   "--cpu=3",
                                   "--as=1073741824",
                                   "--fsize=16777216",
                                   "--nofile=64",
                                   "--nproc=32",
                                   "--core=0",
                                   "/usr/bin/python3",
                                   "-I",
                                   "-",
                                   nullptr};

// What this side and the program hold of its input and output, one socket: a reader who has left is an error,
// not a signal.
struct Line {
  FileDescriptor ours, its;
};

std::unexpected<Error> cannot_start(std::string why) {
  return fail(phrases::name_place("bubblewrap"), errors::sandbox_cannot_start(Said{std::move(why)}));
}

Result<Line> make_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return cannot_start(system_message(errno));
  return Line{.ours = FileDescriptor(ends[0]), .its = FileDescriptor(ends[1])};
}

// A started program; ended and waited for when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);  // and with it all that it has started
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  pid_t pid_;
};

Result<pid_t> start(const Line& line) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, line.its.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, line.its.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C is for us alone
  pid_t pid = -1;
  const int failed =
      ::posix_spawnp(&pid, command[0], &actions, &attributes, const_cast<char* const*>(command),
                     environ);  // which changes none of the arguments
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return cannot_start(system_message(failed));
  return pid;
}

// Feeds the program and keeps the end of what comes back, until it closes its output or the time is over.
std::string talk(const FileDescriptor& line, std::string_view program, const std::stop_token& stop) {
  std::string said;
  const auto deadline = Clock::now() + wall_limit;
  while (Clock::now() < deadline && !stop.stop_requested()) {
    pollfd wait{line.number(), static_cast<short>(program.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (::poll(&wait, 1, 50) <= 0) continue;
    if ((wait.revents & POLLOUT) != 0 && !program.empty()) {
      const ssize_t sent = ::send(line.number(), program.data(), program.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      program = sent < 0 ? std::string_view() : program.substr(static_cast<std::size_t>(sent));
      if (program.empty()) ::shutdown(line.number(), SHUT_WR);
    }
    if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t got = ::recv(line.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
    if (got > 0) said.append(buffer.data(), static_cast<std::size_t>(got));
    if (said.size() > kept_output_bytes) said.erase(0, said.size() - kept_output_bytes);
  }
  return said;
}

// What the program says when it has come to its end: nobody leaves early and passes.
std::string new_mark() {
  std::random_device random;
  std::string mark = "ended";
  for (int i = 0; i < 4; ++i) mark += " " + std::to_string(random());
  return mark;
}

}  // namespace

Result<Sandbox> Sandbox::open() {
  Sandbox sandbox;
  FOVEA_TRY(const bool works, sandbox.passes("assert 2 + 2 == 4", {}));
  if (!works) return cannot_start("a program that does nothing did not end well");
  return sandbox;
}

Result<bool> Sandbox::passes(std::string_view program, const std::stop_token& stop) const {
  const std::string mark = new_mark();
  const std::string whole = std::string(program) + "\n__import__('os').write(1, b'" + mark + "')\n";
  FOVEA_TRY(Line line, make_line());
  FOVEA_TRY(const pid_t pid, start(line));
  const Child child(pid);
  line.its = FileDescriptor();
  const std::string said = talk(line.ours, whole, stop);
  if (stop.stop_requested()) return fail(phrases::name_place("bubblewrap"), errors::stopped_on_request());
  return said.contains(mark);
}

}  // namespace fovea::tasks
