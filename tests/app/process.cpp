#include "process.h"

#include <QtGlobal>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace fovea::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int ran_too_long = -1;
constexpr int signal_base = 1000;

// Made before fork(): afterwards only calls that are safe in a signal handler are allowed.
struct Image {
  std::vector<std::string> arguments, environment;
  std::vector<char*> argv, envp;

  Image(const std::vector<std::string>& given, std::map<std::string, std::string> added) {
    arguments.emplace_back(FOVEA_BINARY_DIR "/fovea");
    arguments.insert(arguments.end(), given.begin(), given.end());
    added.emplace("FOVEA_DATA", "/nonexistent/fovea-test");
    added.emplace("DISPLAY", "");
    added.emplace("WAYLAND_DISPLAY", "");
    added.emplace("QT_QPA_PLATFORM", "");
    for (char** variable = environ; *variable; ++variable) {
      const std::string text(*variable);
      if (!added.contains(text.substr(0, text.find('=')))) environment.push_back(text);
    }
    for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    for (std::string& variable : environment) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }
  [[noreturn]] void execute() const {
    ::execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
};

// The exit code when the child has ended by `deadline`; else it is killed.
int wait_until(pid_t child, Clock::time_point deadline) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return ran_too_long;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFSIGNALED(status) ? signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

struct Pipe {
  int reader = -1, writer = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      reader = ends[0];
      writer = ends[1];
    }
  }
  ~Pipe() {
    close(reader);
    close(writer);
  }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

bool read_some(int& fd, std::string& text) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got <= 0) {
    Pipe::close(fd);
    return false;
  }
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

}  // namespace

Outcome run(const std::vector<std::string>& arguments, const RunOptions& options) {
  const Image image(arguments, options.environment);
  Pipe in, out, err;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in.reader, 0);
    ::dup2(out.writer, 1);
    ::dup2(err.writer, 2);
    if (!options.output_file.empty()) ::dup2(::open(options.output_file.c_str(), O_WRONLY), 1);
    for (const int fd : options.closed) ::close(fd);
    image.execute();
  }
  Pipe::close(in.reader);
  Pipe::close(out.writer);
  Pipe::close(err.writer);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  ::fcntl(in.writer, F_SETFL, O_NONBLOCK);

  Outcome outcome;
  std::string_view input(options.input);
  bool interrupted = options.interrupt_after == 0;
  const auto deadline = Clock::now() + std::chrono::seconds(options.timeout_s);
  while ((out.reader >= 0 || err.reader >= 0) && Clock::now() < deadline) {
    if (input.empty()) Pipe::close(in.writer);
    std::array<pollfd, 3> waits{pollfd{out.reader, POLLIN, 0}, pollfd{err.reader, POLLIN, 0},
                                pollfd{in.writer, POLLOUT, 0}};
    ::poll(waits.data(), waits.size(), 100);
    if (waits[0].revents != 0) read_some(out.reader, outcome.out);
    if (waits[1].revents != 0) read_some(err.reader, outcome.err);
    if (waits[2].revents != 0) {
      const ssize_t written = ::write(in.writer, input.data(), input.size());
      if (written > 0)
        input.remove_prefix(static_cast<std::size_t>(written));
      else if (errno != EAGAIN)
        input = {};
    }
    if (outcome.out.size() > options.read_at_most) Pipe::close(out.reader);
    if (!interrupted && std::cmp_greater_equal(outcome.out.size(), options.interrupt_after)) {
      ::kill(child, SIGINT);
      interrupted = true;
    }
  }
  outcome.code = wait_until(child, deadline);
  std::signal(SIGPIPE, before);
  return outcome;
}

Terminal::Terminal(const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> added = environment;
  added.emplace("TERM", "xterm");
  const Image image(arguments, added);
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (child_ == 0) image.execute();
  if (child_ < 0) qWarning("there is no pseudo-terminal (is /dev/pts mounted?): %s", std::strerror(errno));
}

Terminal::~Terminal() {
  if (child_ > 0) end(0);
  if (terminal_ >= 0) ::close(terminal_);
}

void Terminal::type(const std::string& keys) {
  [[maybe_unused]] const ssize_t written = ::write(terminal_, keys.data(), keys.size());
}

bool Terminal::read_more(int timeout_ms) {
  if (terminal_ < 0) return false;
  pollfd wait{terminal_, POLLIN, 0};
  if (::poll(&wait, 1, timeout_ms) <= 0) return true;
  return read_some(terminal_, shown_);
}

bool Terminal::shows(const std::string& text, int timeout_s) {
  const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);
  for (;;) {
    if (const std::size_t at = shown_.find(text, seen_); at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (Clock::now() > deadline || !read_more(100)) return false;
  }
}

void Terminal::send(int signal) {
  if (child_ > 0) ::kill(child_, signal);
}

void Terminal::resize(int rows, int columns) {
  const winsize size{.ws_row = static_cast<unsigned short>(rows),
                     .ws_col = static_cast<unsigned short>(columns),
                     .ws_xpixel = 0,
                     .ws_ypixel = 0};
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

bool Terminal::is_as_shells_expect() const {
  termios mode{};
  constexpr tcflag_t wanted = ICANON | ECHO | ISIG;
  return ::tcgetattr(terminal_, &mode) == 0 && (mode.c_lflag & wanted) == wanted &&
         (mode.c_iflag & ICRNL) != 0;
}

int Terminal::end(int timeout_s) {
  if (child_ <= 0) return ran_too_long;
  const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);
  while (Clock::now() < deadline && read_more(100)) {
  }
  const int code = wait_until(child_, deadline);
  child_ = -1;
  return code;
}

}  // namespace fovea::tests
