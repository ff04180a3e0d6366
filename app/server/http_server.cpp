#include "app/server/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <pthread.h>
#include <set>
#include <thread>
#include <utility>

#include "app/server/errors.h"
#include "app/server/http_connection.h"
#include "app/server/work_lane.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct HttpServer::Parts {
  // Destroyed in the other order: the lanes end first, whose handlers may still post answers; connections
  // that those keep alive end before `shared`.
  HttpShared shared;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::set<std::shared_ptr<HttpConnection>> connections;  // the server's thread
  std::vector<std::unique_ptr<WorkLane>> lanes;
  std::thread thread;

  Result<void> listen(const HttpSettings& settings) {
    error_code error;
    const auto address = asio::ip::make_address(settings.host, error);
    if (error) return fail(phrases::option_place("--host"), errors::server_no_address(settings.host));
    const tcp::endpoint endpoint(address, settings.port);
    const Phrase place = phrases::server_address_place(settings.host, std::int64_t{settings.port});
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(128, error);
    if (error == asio::error::address_in_use) return fail(place, errors::server_port_in_use());
    if (error) return fail(place, errors::server_cannot_listen(Said{error.message()}));
    return {};
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (error) {  // of this client; or the process has no file left, which takes a moment
        pause.expires_after(std::chrono::milliseconds(100));
        pause.async_wait([this](error_code stopped) {
          if (!stopped && acceptor.is_open()) accept();
        });
        return;
      }
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      const bool too_many = shared.connections >= shared.limits.connections;
      // Those that are told so are few, too: the others are closed without a word.
      if (shared.connections < shared.limits.connections + 16) {
        const auto connection = std::make_shared<HttpConnection>(std::move(socket), shared);
        connections.insert(connection);
        too_many ? connection->refuse(503, "too many connections; try again later") : connection->start();
      }
      accept();
    });
  }

  static void answer(const HttpHandler& handler, Exchange& exchange) {
    if (exchange.stop().stop_requested()) return;
    try {
      handler.answer(exchange);
    } catch (const std::exception& bug) {
      log::error("server", "a request failed: ", bug.what());
      if (!exchange.is_answered())
        exchange.respond(handler.refusal(500, "a bug ended the request", exchange.request().path));
    }
    exchange.finish();
  }

  void stop() {
    asio::post(context, [this] {
      error_code ignored;
      acceptor.close(ignored);
      pause.cancel();
      const auto all = std::exchange(connections, {});
      for (const auto& connection : all) connection->abort();
    });
    lanes.clear();
    context.stop();
    thread.join();
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpSettings settings, HttpHandler handler) {
  auto parts = std::make_unique<Parts>();
  FOVEA_CHECK(parts->listen(settings));
  HttpShared& shared = parts->shared;
  shared.limits = settings.limits;
  shared.handler = std::move(handler);
  for (const LaneSettings& lane : settings.lanes) parts->lanes.push_back(std::make_unique<WorkLane>(lane));
  shared.dispatch = [each = parts.get()](std::size_t lane, std::shared_ptr<Exchange> exchange) {
    return each->lanes[lane]->push(
        [each, exchange = std::move(exchange)] { Parts::answer(each->shared.handler, *exchange); });
  };
  shared.forget = [each = parts.get()](const std::shared_ptr<HttpConnection>& connection) {
    each->connections.erase(connection);
  };
  parts->accept();
  parts->thread = std::thread([each = parts.get()] {
    pthread_setname_np(pthread_self(), "server");
    each->context.run();
  });
  return std::make_unique<HttpServer>(std::move(parts));
}

HttpServer::~HttpServer() {
  parts_->stop();
}

std::uint16_t HttpServer::port() const {
  error_code ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

std::size_t HttpServer::connections() const {
  return parts_->shared.connections;
}
std::size_t HttpServer::waiting(std::size_t lane) const {
  return parts_->lanes[lane]->waiting();
}

}  // namespace fovea::app
