// One client's connection: reads a request, has it answered, writes the answer, and waits for the next one.
// Everything but the exchange's calls happens on the server's thread.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "app/server/http.h"

namespace fovea::app {

class HttpConnection;

// What the connections share.
struct HttpShared {
  HttpLimits limits;
  HttpHandler handler;
  std::uint64_t bodies_bytes = 0;  // the server's thread
  std::atomic<std::size_t> connections = 0;
  // Hands an exchange to its lane's threads; false: too many wait.
  std::function<bool(std::size_t lane, std::shared_ptr<Exchange>)> dispatch;
  std::function<void(const std::shared_ptr<HttpConnection>&)> forget;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  HttpConnection(Socket socket, HttpShared& shared);
  ~HttpConnection();

  void start() { wait_for_request(); }
  void refuse(int status, std::string_view what);  // answers with an error and closes
  void abort();

 private:
  friend class ConnectionExchange;
  enum class State : std::uint8_t { idle, head, body, answering, refusing, closed };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void wait_for_request();
  void watch();
  void read_head();
  void on_head(boost::system::error_code error);
  void read_body();
  void on_body(boost::system::error_code error);
  void answer();
  std::optional<HttpResponse> refusal_of_head();
  bool reserve_body();
  void release_body();

  // Bytes that go out in this order; close: then the connection ends.
  void send(std::string bytes);
  void write_next();
  void answered(bool keep);
  void finish_writing();
  void linger();
  void deadline(std::chrono::milliseconds time);
  void no_deadline();
  void on_deadline();
  void close();

  Socket socket_;
  HttpShared& shared_;
  boost::asio::steady_timer timer_;
  std::uint64_t deadline_number_ = 0;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest head_;
  State state_ = State::idle;
  bool watching_ = false;  // a read is under way that only tells whether the client is there
  std::uint64_t reserved_bytes_ = 0;
  std::shared_ptr<class ConnectionExchange> exchange_;

  std::deque<std::string> out_;
  std::size_t written_ = 0;  // of out_.front()
  bool is_writing_ = false;
  bool ends_ = false;  // nothing follows what out_ holds
  bool keep_ = false;
  std::string linger_bytes_;
};

}  // namespace fovea::app
