// A request of HTTP, its answer, and what the server allows. Plain data: nobody but http_connection.cpp and
// http_server.cpp knows the library that speaks it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::app {

struct HttpField {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // as it was sent, without what follows "?"
  std::string query;   // that
  std::vector<HttpField> fields;
  std::string body;

  // The first of this name, whatever its case; empty: there is none, or it is.
  std::string_view field(std::string_view name) const;
  bool has_field(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<HttpField> fields = {};
};

// A request that waits for its answer. Any thread may call it, one at a time. Nothing of it blocks: what the
// client has not taken yet is queued up to HttpLimits::queued_bytes, and a client with more than that is
// dropped.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  // The whole answer, once; or …
  virtual void respond(HttpResponse response) = 0;
  // … its head, pieces of its body, and its end. False: the client is gone.
  virtual bool begin(HttpResponse head) = 0;
  virtual bool write(std::string_view piece) = 0;
  virtual void end() = 0;
  // The client is gone, or the server ends.
  virtual std::stop_token stop() const = 0;
  virtual bool is_answered() const = 0;  // respond() or begin() was called
  // Behind the handler: without an answer the client is told so, and one without its end is cut off.
  virtual void finish() = 0;
};

// What a client may ask of the server before it is told no. Each has a test that reaches it.
struct HttpLimits {
  std::uint32_t head_bytes = 16 << 10;  // request line and fields: 431
  std::size_t fields = 64;              // 431
  std::size_t target_bytes = 2048;      // path and query: 414
  std::uint64_t body_bytes = 16 << 20;  // 413
  // Of all requests together, that are being received or answered: 503. One whose length is not known counts
  // as body_bytes.
  std::uint64_t bodies_bytes = 128 << 20;
  std::size_t connections = 256;                 // 503
  std::size_t queued_bytes = 1 << 20;            // of a streamed answer: dropped
  std::chrono::milliseconds head_time{10'000};   // from its first byte: 408
  std::chrono::milliseconds body_time{120'000};  // 408
  std::chrono::milliseconds idle_time{75'000};   // without a request: closed
  std::chrono::milliseconds write_time{30'000};  // in which a client takes nothing: dropped
  std::chrono::milliseconds linger_time{2'000};  // for a refused request's rest to be read and thrown away
};

// Threads of their own for one kind of request, and how many may wait for them: 503.
struct LaneSettings {
  std::string name;  // of the threads
  int threads = 1;
  std::size_t waiting = 64;
};

struct HttpSettings {
  std::string host = "127.0.0.1";  // an address
  std::uint16_t port = 0;          // 0: a free one
  HttpLimits limits = {};
  std::vector<LaneSettings> lanes;
};

// What answers. head_check and lane are called on the server's own thread and must be quick.
struct HttpHandler {
  // Before the body is read: an answer refuses the request.
  std::function<std::optional<HttpResponse>(const HttpRequest& head)> head_check;
  std::function<std::size_t(const HttpRequest& head)> lane;
  std::function<void(Exchange&)> answer;  // on one of the lane's threads; may block
  // What the server itself refuses, as the protocol of this path has errors.
  std::function<HttpResponse(int status, std::string_view what, std::string_view path)> refusal;
};

// Lower-case ASCII letters.
std::string lower(std::string_view text);
const char* reason_of(int status);
// "text", percent-decoded and split: the value of a query's key; nothing: it has none.
std::optional<std::string> query_value(std::string_view query, std::string_view key);

}  // namespace fovea::app
