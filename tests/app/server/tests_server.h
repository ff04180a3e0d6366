// A server of models that say what a test wrote.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "app/server/service.h"

#include "fake_models.h"
#include "raw_client.h"

namespace fovea::tests {

struct Server {
  mutable FakeModels models;
  std::unique_ptr<app::Service> service;

  explicit Server(app::HttpLimits limits = {}, int slots = 2, std::size_t waiting = 8,
                  app::AccessRules access = {}) {
    auto started = app::Service::start({.slots = slots,
                                        .waiting = waiting,
                                        .access = std::move(access),
                                        .limits = limits,
                                        .version = "0",
                                        .plan_json = [](const LoadPlan&) { return std::string("{}"); }},
                                       models);
    if (!started) qFatal("%s", started.error().message().c_str());
    service = *std::move(started);
  }
  std::uint16_t port() const { return service->port(); }
  std::string ask(const std::string& request) const { return tests::ask(port(), request); }
  bool is_well() const { return status_of(ask(get("/health"))) == 200; }
};

}  // namespace fovea::tests
