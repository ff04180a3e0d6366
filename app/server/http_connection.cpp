#include "app/server/http_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <mutex>
#include <utility>

namespace fovea::app {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

std::string head_bytes(const HttpResponse& response, bool keep, std::optional<std::size_t> length,
                       bool chunked) {
  std::string bytes = "HTTP/1.1 " + std::to_string(response.status) + " " + reason_of(response.status) +
                      "\r\nServer: fovea\r\nContent-Type: " + response.content_type +
                      "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  for (const HttpField& field : response.fields) bytes += field.name + ": " + field.value + "\r\n";
  if (length) bytes += "Content-Length: " + std::to_string(*length) + "\r\n";
  if (chunked) bytes += "Transfer-Encoding: chunked\r\n";
  bytes += keep ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return bytes;
}

std::string chunk(std::string_view piece) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string size;
  for (std::size_t rest = piece.size(); rest > 0; rest /= 16) size.insert(size.begin(), digits[rest % 16]);
  return size + "\r\n" + std::string(piece) + "\r\n";
}

}  // namespace

// What a handler's thread holds. The connection may be gone before it.
class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(std::weak_ptr<HttpConnection> connection,
                     const HttpConnection::Socket::executor_type& executor, HttpRequest request,
                     std::size_t queued_limit, bool is_old, bool keep)
      : connection_(std::move(connection)),
        executor_(executor),
        request_(std::move(request)),
        queued_limit_(queued_limit),
        is_old_(is_old),
        keep_(keep) {}

  const HttpRequest& request() const override { return request_; }
  std::stop_token stop() const override { return stop_.get_token(); }
  bool is_answered() const override { return is_answered_; }

  void respond(HttpResponse response) override {
    if (is_answered_.exchange(true)) return;
    is_ended_ = true;
    std::string bytes = head_bytes(response, keep_, response.body.size(), false);
    if (request_.method != "HEAD") bytes += response.body;
    post(std::move(bytes), true);
  }

  bool begin(HttpResponse head) override {
    if (is_answered_.exchange(true)) return false;
    if (is_old_) keep_ = false;  // an end of the body that HTTP/1.0 knows
    is_ended_ = request_.method == "HEAD";
    return post(head_bytes(head, keep_, std::nullopt, !is_old_), is_ended_) && !is_ended_;
  }

  bool write(std::string_view piece) override {
    if (is_ended_ || piece.empty()) return !gone();
    return post(is_old_ ? std::string(piece) : chunk(piece), false);
  }

  void end() override {
    if (std::exchange(is_ended_, true)) return;
    post(is_old_ ? "" : "0\r\n\r\n", true);
  }

  void finish() override {
    if (!is_answered())
      return respond(
          {.status = 500, .body = R"({"error":{"message":"no answer was made","type":"server_error"}})"});
    if (!is_ended_) drop();
  }

  void request_stop() { stop_.request_stop(); }
  void was_sent(std::size_t bytes) { queued_bytes_ -= bytes; }

 private:
  bool gone() const { return stop_.stop_requested(); }

  bool post(std::string bytes, bool is_last) {
    if (gone()) return false;
    const std::size_t queued = queued_bytes_ += bytes.size();
    if (queued > queued_limit_ && !is_last) {
      drop();
      return false;
    }
    boost::asio::post(executor_,
                      [connection = connection_, keep = keep_, is_last, bytes = std::move(bytes)]() mutable {
                        const auto there = connection.lock();
                        if (!there) return;
                        if (!bytes.empty()) there->send(std::move(bytes));
                        if (is_last) there->answered(keep);
                      });
    return true;
  }

  void drop() {
    stop_.request_stop();
    boost::asio::post(executor_, [connection = connection_] {
      if (const auto there = connection.lock()) there->abort();
    });
  }

  const std::weak_ptr<HttpConnection> connection_;
  HttpConnection::Socket::executor_type executor_;
  const HttpRequest request_;
  const std::size_t queued_limit_;
  const bool is_old_;  // HTTP/1.0
  bool keep_;
  std::atomic<bool> is_answered_ = false;
  bool is_ended_ = false;
  std::atomic<std::size_t> queued_bytes_ = 0;
  std::stop_source stop_;
};

HttpConnection::HttpConnection(Socket socket, HttpShared& shared)
    : socket_(std::move(socket)), shared_(shared), timer_(socket_.get_executor()) {
  ++shared_.connections;
}

HttpConnection::~HttpConnection() {
  release_body();
  --shared_.connections;
}

void HttpConnection::wait_for_request() {
  if (buffer_.size() > 0) return read_head();
  state_ = State::idle;
  deadline(shared_.limits.idle_time);
  watch();
}

void HttpConnection::watch() {
  if (watching_) return;
  watching_ = true;
  socket_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](error_code error, std::size_t n) {
                            self->watching_ = false;
                            if (self->state_ == State::closed || self->state_ == State::refusing) return;
                            if (error) return self->close();
                            self->buffer_.commit(n);
                            // What comes while a request is answered is the next one, and waits for that.
                            if (self->state_ == State::idle) self->read_head();
                          });
}

void HttpConnection::read_head() {
  state_ = State::head;
  parser_.emplace();
  parser_->header_limit(shared_.limits.head_bytes);
  parser_->body_limit(shared_.limits.body_bytes);
  head_ = {};
  deadline(shared_.limits.head_time);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->state_ == State::head) self->on_head(error);
                          });
}

void HttpConnection::on_head(error_code error) {
  // As far as it was read: an error is told as its path's protocol has them.
  const auto& message = parser_->get();
  head_.method = std::string(message.method_string());
  const std::string target(message.target());
  const std::size_t question = target.find('?');
  head_.path = target.substr(0, question);
  if (question != std::string::npos) head_.query = target.substr(question + 1);
  for (const auto& field : message) {
    if (head_.fields.size() > shared_.limits.fields) break;
    head_.fields.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  if (error == http::error::header_limit) return refuse(431, "the request's head is too long");
  if (error == http::error::body_limit) return refuse(413, "the request's body is too long");
  if (error == http::error::end_of_stream || error == http::error::partial_message) return close();
  if (error && error.category() == error_code(http::error::bad_method).category())
    return refuse(400, "this is no request of HTTP/1.1");
  if (error) return close();
  if (auto refusal = refusal_of_head()) {
    keep_ = false;
    state_ = State::refusing;
    send(head_bytes(*refusal, false, refusal->body.size(), false) + refusal->body);
    return answered(false);
  }
  read_body();
}

std::optional<HttpResponse> HttpConnection::refusal_of_head() {
  const auto refusal = [&](int status, std::string_view what) {
    return shared_.handler.refusal(status, what, head_.path);
  };
  if (head_.fields.size() > shared_.limits.fields) return refusal(431, "the request has too many fields");
  if (head_.path.size() + head_.query.size() > shared_.limits.target_bytes)
    return refusal(414, "the request's path is too long");
  if (head_.has_field("Transfer-Encoding") && head_.has_field("Content-Length"))
    return refusal(400, "a body has either a length or chunks");
  if (auto refused = shared_.handler.head_check(head_)) return refused;
  if (!reserve_body()) return refusal(503, "the requests under way are too large together; try again later");
  return std::nullopt;
}

bool HttpConnection::reserve_body() {
  const auto length = parser_->content_length();
  const std::uint64_t bytes = length               ? std::uint64_t{*length}
                              : parser_->chunked() ? shared_.limits.body_bytes
                                                   : 0;
  if (shared_.bodies_bytes + bytes > shared_.limits.bodies_bytes) return false;
  shared_.bodies_bytes += bytes;
  reserved_bytes_ = bytes;
  return true;
}

void HttpConnection::release_body() {
  shared_.bodies_bytes -= std::exchange(reserved_bytes_, 0);
}

void HttpConnection::read_body() {
  state_ = State::body;
  deadline(shared_.limits.body_time);
  if (lower(head_.field("Expect")) == "100-continue") send("HTTP/1.1 100 Continue\r\n\r\n");
  http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
    if (self->state_ == State::body) self->on_body(error);
  });
}

void HttpConnection::on_body(error_code error) {
  if (error == http::error::body_limit) return refuse(413, "the request's body is too long");
  if (error == http::error::end_of_stream || error == http::error::partial_message) return close();
  if (error && error.category() == error_code(http::error::bad_method).category())
    return refuse(400, "the request's body is no body of HTTP/1.1");
  if (error) return close();
  answer();
}

void HttpConnection::answer() {
  state_ = State::answering;
  no_deadline();
  auto message = parser_->release();
  head_.body = std::move(message.body());
  const std::size_t lane = shared_.handler.lane(head_);
  const std::string path = head_.path;
  exchange_ = std::make_shared<ConnectionExchange>(weak_from_this(), socket_.get_executor(), std::move(head_),
                                                   shared_.limits.queued_bytes, message.version() < 11,
                                                   message.keep_alive());
  watch();
  if (!shared_.dispatch(lane, exchange_)) {
    HttpResponse busy = shared_.handler.refusal(503, "too many requests wait; try again later", path);
    exchange_->respond(std::move(busy));
  }
}

void HttpConnection::refuse(int status, std::string_view what) {
  if (state_ == State::closed || state_ == State::refusing) return;
  state_ = State::refusing;
  const HttpResponse response = shared_.handler.refusal(status, what, head_.path);
  send(head_bytes(response, false, response.body.size(), false) + response.body);
  answered(false);
}

void HttpConnection::send(std::string bytes) {
  if (state_ == State::closed) return;
  out_.push_back(std::move(bytes));
  if (!is_writing_) write_next();
}

void HttpConnection::write_next() {
  is_writing_ = true;
  if (state_ != State::body) deadline(shared_.limits.write_time);
  const auto rest = boost::asio::buffer(out_.front()) + written_;
  socket_.async_write_some(rest, [self = shared_from_this()](error_code error, std::size_t n) {
    self->is_writing_ = false;
    if (self->state_ == State::closed) return;
    if (error) return self->close();
    self->written_ += n;
    if (self->exchange_) self->exchange_->was_sent(n);
    if (self->written_ == self->out_.front().size()) {
      self->out_.pop_front();
      self->written_ = 0;
    }
    if (!self->out_.empty()) return self->write_next();
    if (self->ends_) return self->finish_writing();
    if (self->state_ == State::answering) self->no_deadline();
  });
}

void HttpConnection::answered(bool keep) {
  if (state_ == State::closed) return;
  ends_ = true;
  keep_ = keep;
  if (!is_writing_) finish_writing();
}

void HttpConnection::finish_writing() {
  ends_ = false;
  exchange_.reset();
  release_body();
  if (keep_) return wait_for_request();
  linger();
}

// A close with bytes unread would take the answer away from a client that is still sending.
void HttpConnection::linger() {
  const bool was_lingering = !linger_bytes_.empty();
  error_code ignored;
  if (!was_lingering) {
    state_ = State::refusing;
    socket_.shutdown(Socket::shutdown_send, ignored);
    deadline(shared_.limits.linger_time);
    linger_bytes_.resize(16384);
    if (watching_ || ignored) socket_.cancel(ignored);
  }
  socket_.async_read_some(boost::asio::buffer(linger_bytes_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->state_ == State::closed) return;
                            if (error) return self->close();
                            self->linger();
                          });
}

void HttpConnection::deadline(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  // One that has just passed may be on its way when the next one is set, or none.
  timer_.async_wait([self = shared_from_this(), number = ++deadline_number_](error_code error) {
    if (!error && number == self->deadline_number_) self->on_deadline();
  });
}

void HttpConnection::no_deadline() {
  ++deadline_number_;
  timer_.cancel();
}

void HttpConnection::on_deadline() {
  const bool is_waited_for = (state_ == State::head || state_ == State::body) && !is_writing_;
  if (!is_waited_for) return close();
  error_code ignored;
  socket_.cancel(ignored);
  refuse(408, "the request took too long to arrive");
}

void HttpConnection::abort() {
  close();
}

void HttpConnection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  if (exchange_) exchange_->request_stop();
  exchange_.reset();
  error_code ignored;
  no_deadline();
  socket_.close(ignored);
  shared_.forget(shared_from_this());
}

}  // namespace fovea::app
