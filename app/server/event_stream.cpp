#include "app/server/event_stream.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <utility>
#include <vector>

#include "app/server/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

namespace http = boost::beast::http;

// The lines of a stream of events, however they are cut.
class EventLines {
 public:
  // False: an event is too large.
  bool read(std::string_view bytes, std::vector<std::string>& events) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (line_.size() + data_.size() > max_event_bytes) return false;
      if (end == std::string_view::npos) return true;
      bytes.remove_prefix(end + 1);
      if (line_.ends_with('\r')) line_.pop_back();
      take_line(events);
      line_.clear();
    }
    return true;
  }

 private:
  // A line without a name begins a comment; other fields than data say nothing here.
  void take_line(std::vector<std::string>& events) {
    constexpr std::string_view name = "data:";
    if (line_.starts_with(name)) {
      std::string_view value = std::string_view(line_).substr(name.size());
      if (value.starts_with(' ')) value.remove_prefix(1);
      if (has_data_) data_ += '\n';
      data_ += value;
      has_data_ = true;
    } else if (line_.empty() && has_data_) {
      events.push_back(std::exchange(data_, {}));
      has_data_ = false;
    }
  }

  std::string line_, data_;
  bool has_data_ = false;
};

Error refusal_of(int status) {
  switch (status) {
    case 401:
      return errors::server_wants_key();
    case 404:
      return errors::server_not_watched();
    case 503:
      return errors::server_watched_by_others();
    default:
      return errors::server_answers_status(status);
  }
}

}  // namespace

struct EventStream::Parts {
  http::response_parser<http::buffer_body> parser;
  std::string unread;
  EventLines lines;
  bool has_begun = false, is_open = false;

  Parts() {
    parser.eager(true);
    parser.header_limit(16 << 10);
    parser.body_limit(boost::none);
  }

  Result<void> check_head() {
    if (is_open || !parser.is_header_done()) return {};
    const auto& head = parser.get();
    if (head.result_int() != 200) return fail(refusal_of(static_cast<int>(head.result_int())));
    if (!std::string_view(head[http::field::content_type]).starts_with("text/event-stream"))
      return fail(errors::server_no_events());
    is_open = true;
    return {};
  }

  Result<std::vector<std::string>> read(std::string_view bytes) {
    std::vector<std::string> events;
    std::vector<char> piece(std::size_t{64} << 10);
    unread += bytes;
    has_begun |= !bytes.empty();
    std::size_t done = 0;  // of `unread`
    while (!parser.is_done()) {
      auto& body = parser.get().body();
      body.data = piece.data();
      body.size = piece.size();
      boost::system::error_code error;
      const std::size_t taken =
          done == unread.size()
              ? 0
              : parser.put(boost::asio::buffer(unread.data() + done, unread.size() - done), error);
      done += taken;
      FOVEA_CHECK(check_head());
      const std::size_t written = piece.size() - body.size;
      if (!lines.read({piece.data(), written}, events)) return fail(errors::server_no_events());
      if (error && error != http::error::need_buffer && error != http::error::need_more)
        return fail(errors::server_no_events());
      if (taken == 0 && written == 0) break;
    }
    unread.erase(0, done);
    return events;
  }
};

EventStream::EventStream() : parts_(std::make_unique<Parts>()) {}
EventStream::~EventStream() = default;
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream& EventStream::operator=(EventStream&&) noexcept = default;

Result<std::vector<std::string>> EventStream::read(std::string_view bytes) {
  return parts_->read(bytes);
}

bool EventStream::is_open() const {
  return parts_->is_open;
}

bool EventStream::has_begun() const {
  return parts_->has_begun;
}

bool EventStream::has_ended() const {
  return parts_->parser.is_done();
}

}  // namespace fovea::app
