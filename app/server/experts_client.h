// Watches the experts of another Fovea: a server over HTTP, or a chat beside it by its door
// (experts_door.h). Nothing of it blocks but looking up the name of another computer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/server/event_stream.h"
#include "engine/core/file_descriptor.h"

namespace fovea::app {

struct ExpertsAddress {
  std::string host = {};  // of a server …
  std::uint16_t port = 0;
  std::filesystem::path door = {};  // … or of a chat on this machine
  std::string shown = {};           // for people
  std::int64_t process = 0;         // of a chat; 0: not known
};

// "http://127.0.0.1:11435", "127.0.0.1:11435", "[::1]:11435", "11435", or the path of a door.
Result<ExpertsAddress> read_address(const std::string& text);

class ExpertsClient {
 public:
  // Asks for the events. ErrorKind::io: nobody is there (now).
  static Result<ExpertsClient> start(const ExpertsAddress& address, const std::string& key = {});

  int descriptor() const { return socket_.number(); }
  bool is_asking() const { return !unsent_.empty(); }  // wait until it can be written to, else read from
  bool is_open() const { return stream_.is_open(); }   // it shows what its experts do
  // What has come meanwhile. An error, too, is what has come: nobody listens there, a refusal, the end.
  Result<std::vector<std::string>> go_on();

 private:
  ExpertsClient(FileDescriptor socket, std::string request, std::string shown);

  FileDescriptor socket_;
  std::string unsent_;
  std::string shown_;
  EventStream stream_;
};

}  // namespace fovea::app
