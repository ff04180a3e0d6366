// The server's door: listens at one address, hands each request to one of its lanes' threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/server/http.h"
#include "engine/api/error.h"

namespace fovea::app {

class HttpServer {
 public:
  // Listens and answers from then on. ErrorKind::io: the address cannot be had; server_port_in_use is the
  // code where somebody else has it.
  static Result<std::unique_ptr<HttpServer>> start(HttpSettings settings, HttpHandler handler);
  // Stops what is being answered and waits for it.
  ~HttpServer();

  std::uint16_t port() const;
  std::size_t connections() const;
  std::size_t waiting(std::size_t lane) const;  // requests for one of its threads

  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
