// The server as its clients see it: which path is answered by what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/server/access.h"
#include "app/server/http_server.h"
#include "app/server/json_fields.h"
#include "app/server/served_models.h"

namespace fovea::app {

struct ServiceSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  int slots = 8;             // requests that are answered at once
  std::size_t waiting = 64;  // … and that wait for a slot
  AccessRules access = {};
  HttpLimits limits = {};
  std::string version;
  std::function<std::string(const LoadPlan&)> plan_json;  // of /fovea/plan
};

class Service {
 public:
  // Errors as HttpServer::start. `models` must outlive it.
  static Result<std::unique_ptr<Service>> start(ServiceSettings settings, ServedModels& models);
  ~Service();

  std::uint16_t port() const;
  std::string url() const;       // "http://127.0.0.1:11435"
  std::size_t requests() const;  // for answers: those in progress, and those that wait

  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

// For docs/server.md: every path with its method, "POST /v1/chat/completions"; and what is known of their
// parameters, by the path, or by "`options` of both" for Ollama's.
std::vector<std::string> service_endpoints();
std::vector<std::pair<std::string, const ParameterKinds*>> service_parameters();

}  // namespace fovea::app
