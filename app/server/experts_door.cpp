#include "app/server/experts_door.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "app/files/folders.h"
#include "app/library/data_folder.h"
#include "app/server/answering.h"
#include "app/server/errors.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

namespace fovea::app {
namespace {

constexpr int door_interval_ms = 100;
constexpr int quiet_intervals = 50;       // until a sign of life
constexpr std::size_t most_watchers = 8;  // at one door
constexpr std::string_view door_prefix = "chat-", door_suffix = ".sock";
constexpr std::string_view door_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

// The process that a door's name tells; 0: it is no door.
std::int64_t process_of(const std::filesystem::path& path) {
  const std::string name = path.filename();
  if (!name.starts_with(door_prefix) || !name.ends_with(door_suffix)) return 0;
  std::int64_t process = 0;
  const char* const end = name.data() + name.size() - door_suffix.size();
  const auto [rest, error] = std::from_chars(name.data() + door_prefix.size(), end, process);
  return error == std::errc() && rest == end && process > 0 ? process : 0;
}

bool runs(std::int64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

// The folder is the user's own, and nobody else looks into it.
Result<void> own_folder(const std::filesystem::path& folder) {
  FOVEA_CHECK(make_folder(folder));
  struct stat state{};
  if (::lstat(folder.c_str(), &state) != 0 || !S_ISDIR(state.st_mode) || state.st_uid != ::geteuid() ||
      ::chmod(folder.c_str(), S_IRWXU) != 0)
    return fail(phrases::file_place(folder), errors::server_no_own_folder());
  return {};
}

// What a program left that was killed.
void remove_left_doors(const std::filesystem::path& folder) {
  for (const std::filesystem::path& path : entries_of(folder))
    if (const std::int64_t process = process_of(path); process > 0 && !runs(process)) ::unlink(path.c_str());
}

bool is_own(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == ::geteuid();
}

}  // namespace

std::filesystem::path doors_folder() {
  const char* const data = std::getenv("FOVEA_DATA");
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if ((data != nullptr && *data != '\0') || runtime == nullptr || *runtime != '/')
    return cache_folder() / "run";
  return std::filesystem::path(runtime) / "fovea";
}

std::vector<ExpertsAddress> open_doors(const std::filesystem::path& folder) {
  std::vector<std::pair<timespec, ExpertsAddress>> found;
  for (const std::filesystem::path& path : entries_of(folder)) {
    const std::int64_t process = process_of(path);
    struct stat state{};
    if (process == 0 || !runs(process) || ::lstat(path.c_str(), &state) != 0 || !S_ISSOCK(state.st_mode))
      continue;
    found.push_back({state.st_mtim, ExpertsAddress{.door = path,
                                                   .shown = "chat, process " + std::to_string(process),
                                                   .process = process}});
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return std::pair(a.first.tv_sec, a.first.tv_nsec) > std::pair(b.first.tv_sec, b.first.tv_nsec);
  });
  std::vector<ExpertsAddress> doors;
  for (auto& [time, address] : found) doors.push_back(std::move(address));
  return doors;
}

struct ExpertsDoor::Parts {
  std::filesystem::path path;
  WatchedModel model;
  Reader reader;
  FileDescriptor listener, quit;
  std::thread thread;

  // All below is the thread's.
  struct Watcher {
    FileDescriptor socket;
    std::string unsent;
  };
  std::vector<Watcher> watchers;
  Snapshot snapshot;
  std::string last;  // event
  int quiet = 0;
  std::chrono::steady_clock::time_point due;

  void loop() {
    while (wait()) {
      if (watchers.empty() || std::chrono::steady_clock::now() < due) continue;
      due = std::chrono::steady_clock::now() + std::chrono::milliseconds(door_interval_ms);
      tell();
    }
  }

  // Until somebody comes, somebody goes or takes something, or it is time for news. False: the door is shut.
  bool wait() {
    std::vector<pollfd> waits{{quit.number(), POLLIN, 0}, {listener.number(), POLLIN, 0}};
    for (const Watcher& each : watchers)
      waits.push_back(
          {each.socket.number(), static_cast<short>(POLLIN | (each.unsent.empty() ? 0 : POLLOUT)), 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
    const int timeout = watchers.empty() ? -1 : static_cast<int>(std::max<std::int64_t>(0, left.count()));
    if (::poll(waits.data(), waits.size(), timeout) < 0) return errno == EINTR;
    if (waits[0].revents != 0) return false;
    std::vector<Watcher> stay;
    for (std::size_t i = 0; i < watchers.size(); ++i)
      if (waits[i + 2].revents == 0 || serve(watchers[i], waits[i + 2].revents))
        stay.push_back(std::move(watchers[i]));
    watchers = std::move(stay);
    if (waits[1].revents != 0) let_in();
    return true;
  }

  // False: it has left.
  static bool serve(Watcher& watcher, short events) {
    if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
    std::array<char, 4096> request;  // whatever it asks
    if ((events & POLLIN) != 0) {
      const ssize_t got = ::recv(watcher.socket.number(), request.data(), request.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    }
    return send(watcher);
  }
  static bool send(Watcher& watcher) {
    if (watcher.unsent.empty()) return true;
    const ssize_t sent =
        ::send(watcher.socket.number(), watcher.unsent.data(), watcher.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    watcher.unsent.erase(0, static_cast<std::size_t>(sent));
    return true;
  }

  void let_in() {
    FileDescriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket || watchers.size() >= most_watchers || !is_own(socket.number())) return;
    if (watchers.empty()) due = std::chrono::steady_clock::now();  // what it sees first is new
    watchers.push_back({std::move(socket), std::string(door_head) + last});
    send(watchers.back());
  }

  // Who has not taken the one before misses this one.
  void tell() {
    std::int64_t questions = 0;
    const bool is_new = reader(snapshot, questions);
    if (is_new) last = server_sent(dump(experts_json(model, snapshot, questions)));
    const bool sign = !is_new && ++quiet >= quiet_intervals;
    if (is_new || sign) quiet = 0;
    if (!is_new && !sign) return;
    for (Watcher& each : watchers) {
      if (each.unsent.empty()) each.unsent = is_new ? last : std::string(": nothing new\n\n");
      send(each);  // who has left is noticed by the next wait
    }
  }
};

ExpertsDoor::ExpertsDoor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ExpertsDoor::~ExpertsDoor() {
  const std::uint64_t one = 1;
  if (::write(parts_->quit.number(), &one, sizeof one) == sizeof one) parts_->thread.join();
  ::unlink(parts_->path.c_str());
}

const std::filesystem::path& ExpertsDoor::path() const {
  return parts_->path;
}

Result<std::unique_ptr<ExpertsDoor>> ExpertsDoor::open(const std::filesystem::path& folder,
                                                       WatchedModel model, Reader reader) {
  FOVEA_CHECK(own_folder(folder));
  remove_left_doors(folder);
  auto parts = std::make_unique<Parts>();
  parts->path = folder / (std::string(door_prefix) + std::to_string(::getpid()) + std::string(door_suffix));
  parts->model = std::move(model);
  parts->reader = std::move(reader);
  const std::string& path = parts->path.native();
  const auto refused = [&](int code) {
    return fail(phrases::file_place(parts->path), errors::server_no_door(Said{system_message(code)}));
  };
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  if (path.size() >= sizeof here.sun_path) return refused(ENAMETOOLONG);
  std::memcpy(here.sun_path, path.data(), path.size());
  parts->listener = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  parts->quit = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!parts->listener || !parts->quit) return refused(errno);
  ::unlink(path.c_str());  // an earlier process of this number
  // The folder keeps others out until the mode does.
  if (::bind(parts->listener.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(parts->listener.number(), 8) != 0)
    return refused(errno);
  Parts* const its = parts.get();
  parts->thread = std::thread([its] {
    name_this_thread("experts door");
    yield_to_others();
    its->loop();
  });
  return std::make_unique<ExpertsDoor>(std::move(parts));
}

}  // namespace fovea::app
