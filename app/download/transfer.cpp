#include "app/download/transfer.h"

#include <QNetworkReply>
#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/download/errors.h"
#include "app/network/http_fields.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace {

constexpr int max_refusals = 3;
constexpr int max_beginnings = 2;
constexpr int max_lies = 3;
constexpr int max_tag_changes = 3;
constexpr std::int64_t longest_wait_s = 3600;
// Less than this between two failures is no progress: a server that gives one byte each time is not waited
// for.
constexpr std::int64_t real_progress_bytes = 64 << 10;
constexpr qint64 read_bytes = 256 << 10;
constexpr qint64 max_refused_bytes = 64 << 10;

}  // namespace

struct Transfer::Connection {
  QPointer<QNetworkReply> reply;
  ByteRange range;      // asked for
  std::int64_t at = 0;  // the next byte's place
  bool whole = false;   // asked for without a range
  int redirects = 0;
  Verdict verdict = Verdict::unknown;
  std::int64_t window_bytes = 0;  // since the last check of its speed
  qint64 refused_bytes = 0;       // of an answer that is not the file
  bool is_old = false;            // it was there at the last check
  bool has_new_tag = false;       // the storage calls the content differently now
};

Transfer::Transfer(HubClient& client, HubFileId id, PartialPlace place, TransferSettings settings,
                   QObject* parent)
    : QObject(parent), client_(client), id_(std::move(id)), place_(std::move(place)), settings_(settings) {
  retry_.setSingleShot(true);
  connect(&retry_, &QTimer::timeout, this, [this] { is_located_ ? fill() : locate(); });
  speed_check_.setInterval(settings_.slow_window_ms);
  connect(&speed_check_, &QTimer::timeout, this, &Transfer::check_speed);
  lock_poll_.setInterval(settings_.lock_poll_ms);
  connect(&lock_poll_, &QTimer::timeout, this, &Transfer::open);
}

Transfer::~Transfer() {
  stop();
}

void Transfer::start() {
  if (state_ != TransferState::idle && state_ != TransferState::ended) return;
  failures_ = refusals_ = beginnings_ = lies_ = tag_changes_ = wholes_ = 0;
  is_located_ = is_locating_ = needs_whole_ = is_existing_checked_ = false;
  ++attempt_;
  set_state(TransferState::idle);
  // Later, so that ended() never comes from within start().
  QTimer::singleShot(0, this, [this, attempt = attempt_] {
    if (attempt == attempt_) open();
  });
}

void Transfer::stop() {
  ++attempt_;
  retry_.stop();
  lock_poll_.stop();
  speed_check_.stop();
  checker_ = {};
  close_all();
  bytes_there_ = bytes_there();
  partial_.reset();
  set_state(TransferState::idle);
}

void Transfer::set_state(TransferState state) {
  if (state_ == state) return;
  state_ = state;
  Q_EMIT changed();
}

void Transfer::end(TransferEnd end) {
  stop();
  set_state(TransferState::ended);
  Q_EMIT ended(end);
}

void Transfer::open() {
  std::error_code ignored;
  const auto there = std::filesystem::file_size(place_.target, ignored);
  if (!ignored && std::cmp_equal(there, id_.file.bytes)) {
    bytes_there_ = id_.file.bytes;
    if (place_.is_named_by_hash) {
      PartialFile::clean_after_commit(place_);
      return end({});
    }
    if (!is_existing_checked_) return check_existing();
  }
  auto partial = PartialFile::open(place_, content(), settings_.partial);
  if (!partial) return end({.error = partial.error()});
  if (!*partial) {
    lock_poll_.start();
    return set_state(TransferState::waiting_for_other);
  }
  lock_poll_.stop();
  partial_ = *std::move(partial);
  if (const auto room = partial_->make_room(); !room)
    return end({.error = room.error(), .is_disk_full = true});
  if (partial_->is_whole()) return verify();
  locate();
}

// A file of that name and length: perhaps it is the one, perhaps an older one.
void Transfer::check_existing() {
  lock_poll_.stop();
  set_state(TransferState::verifying);
  checker_ = std::jthread(
      [this, attempt = attempt_, content = content(), file = place_.target](const std::stop_token& stop) {
        const Result<bool> same = has_content(file, content, stop);
        QMetaObject::invokeMethod(
            this,
            [this, attempt, same] {
              if (attempt != attempt_) return;
              is_existing_checked_ = true;
              if (same && *same) {
                PartialFile::clean_after_commit(place_);
                return end({});
              }
              bytes_there_ = 0;
              open();
            },
            Qt::QueuedConnection);
      });
}

PartialContent Transfer::content() const {
  return {id_.text(), id_.file.bytes, id_.file.sha256, id_.file.git_oid};
}

void Transfer::locate() {
  if (is_locating_) return;
  is_locating_ = true;
  if (connections_.empty()) set_state(TransferState::locating);
  client_.locate(id_, this, [this, attempt = attempt_](const HubResult<HubLocation>& location) {
    if (attempt == attempt_) on_located(location);
  });
}

void Transfer::on_located(const HubResult<HubLocation>& location) {
  is_locating_ = false;
  if (!location) {
    const HubFailure& failure = location.error();
    if (failure.may_pass) return retry_later(failure.error, failure.retry_after_s);
    return end({.error = failure.error, .wants_token = failure.wants_token()});
  }
  const bool other_size = location->bytes >= 0 && location->bytes != id_.file.bytes;
  const bool other_content =
      !id_.file.sha256.empty() && location->content.size() == 64 && location->content != id_.file.sha256;
  if (other_size || other_content)
    return end({.error = errors::hub_other_file().at(phrases::name_place(id_.text()))});
  url_ = location->url;
  is_located_ = true;
  speed_check_.start();
  fill();
}

void Transfer::fill() {
  if (!partial_ || retry_.isActive() || !is_located_) return;
  if (partial_->is_whole()) return verify();
  set_state(TransferState::receiving);
  const int limit = needs_whole_ ? 1 : settings_.connections;
  while (static_cast<int>(connections_.size()) < limit) {
    std::vector<ByteRange> taken;
    for (const auto& connection : connections_) taken.push_back({connection->at, connection->range.end});
    ByteRange gap = partial_->first_gap(taken);
    if (gap.bytes() == 0) return;
    gap.end = std::min(gap.end, gap.begin + settings_.piece_bytes);
    if (needs_whole_) gap = {0, id_.file.bytes};
    if (!request_piece(gap, needs_whole_, url_, 0)) return;
  }
}

bool Transfer::request_piece(ByteRange range, bool whole, const QUrl& url, int redirects) {
  std::vector<std::pair<QByteArray, QByteArray>> headers;
  if (!whole) {
    headers.emplace_back(
        "Range", "bytes=" + QByteArray::number(range.begin) + "-" + QByteArray::number(range.end - 1));
    if (const std::string etag = partial_->etag(); !etag.empty() && tag_changes_ <= max_tag_changes)
      headers.emplace_back("If-Range", "\"" + QByteArray::fromStdString(etag) + "\"");
  }
  if (whole && ++wholes_ > settings_.retries) {
    end({.error = errors::server_never_whole().at(phrases::name_place(shown(url)))});
    return false;
  }
  const auto reply = client_.get(url, std::move(headers), settings_.idle_timeout_ms);
  if (!reply) {
    end({.error = reply.error()});
    return false;
  }
  auto connection = std::make_unique<Connection>();
  Connection* raw = connection.get();
  raw->reply = *reply;
  raw->range = range;
  raw->at = range.begin;
  raw->whole = whole;
  raw->redirects = redirects;
  connections_.push_back(std::move(connection));
  connect(*reply, &QNetworkReply::readyRead, this, [this, raw] { on_data(*raw); });
  connect(*reply, &QNetworkReply::finished, this, [this, raw] { on_reply_end(*raw); });
  return true;
}

void Transfer::close(Connection& connection) {
  if (QNetworkReply* reply = connection.reply) {
    reply->disconnect(this);
    if (connection.verdict == Verdict::good) reply->abort();  // at once: more bytes are under way
    reply->deleteLater();                                     // which aborts the others
  }
  std::erase_if(connections_, [&](const auto& other) { return other.get() == &connection; });
}

void Transfer::close_all() {
  while (!connections_.empty()) close(*connections_.back());
}

void Transfer::on_data(Connection& connection) {
  if (connection.verdict == Verdict::unknown) connection.verdict = check_answer(connection);
  if (connection.verdict == Verdict::good) return receive(connection);
  // Its end is told, and decides what to do. The page of an error is read to it: aborted, Qt would tell the
  // same error again and warn of that.
  QNetworkReply* reply = connection.reply;
  const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  connection.refused_bytes += reply->skip(reply->bytesAvailable());
  if (status < 400 || connection.refused_bytes > max_refused_bytes) reply->abort();
}

// Whether what comes now may be written.
Transfer::Verdict Transfer::check_answer(Connection& connection) {
  const int status = connection.reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  const QByteArray encoding = connection.reply->rawHeader("Content-Encoding").toLower();
  if (!encoding.isEmpty() && encoding != "identity") return Verdict::bad;
  if (status == 206 && !connection.whole) return check_range(connection);
  if (status == 200) return check_whole(connection);
  return Verdict::bad;
}

Transfer::Verdict Transfer::check_range(Connection& connection) {
  const auto range = parse_content_range(connection.reply->rawHeader("Content-Range").toStdString());
  if (!range || range->first != connection.range.begin || range->last >= connection.range.end)
    return Verdict::bad;
  if (range->total >= 0 && range->total != id_.file.bytes) return Verdict::bad;
  if (!check_etag(connection)) return Verdict::bad;
  connection.range.end = range->last + 1;
  return Verdict::good;
}

// The whole file although a part was asked for: the server does not do ranges, or the file there is another
// one now.
Transfer::Verdict Transfer::check_whole(Connection& connection) {
  const QByteArray length = connection.reply->rawHeader("Content-Length");
  if (!length.isEmpty() && length.toLongLong() != id_.file.bytes) return Verdict::bad;
  if (!check_etag(connection)) return Verdict::bad;
  if (!connection.whole) {
    log::info("download", id_.text(), ": the server sends no ranges");
    needs_whole_ = true;
    connection.whole = true;
    // The others would bring the same bytes again.
    for (auto it = connections_.size(); it-- > 0;)
      if (connections_[it].get() != &connection) close(*connections_[it]);
  }
  connection.range = {0, id_.file.bytes};
  connection.at = 0;
  return Verdict::good;
}

// The storage's name of the content. A new one may be another file, or another machine that has the same: the
// hub is asked again before anything is mixed. Where the names keep changing they mean nothing, and the hash
// decides.
bool Transfer::check_etag(Connection& connection) {
  const std::string now = strong_etag(connection.reply->rawHeader("ETag").toStdString());
  const std::string before = partial_->etag();
  if (now == before || now.empty() || tag_changes_ > max_tag_changes) return true;
  partial_->set_etag(now);
  if (before.empty() || partial_->bytes_there() == 0) return true;
  connection.has_new_tag = true;
  return false;
}

void Transfer::receive(Connection& connection) {
  QNetworkReply* reply = connection.reply;
  std::vector<char> buffer(static_cast<std::size_t>(read_bytes));
  while (reply->bytesAvailable() > 0) {
    const std::int64_t room = connection.range.end - connection.at;
    if (room == 0) {  // more than it promised
      connection.verdict = Verdict::bad;
      return reply->abort();
    }
    const qint64 got = reply->read(buffer.data(), std::min<qint64>(read_bytes, room));
    if (got <= 0) return;
    const int failed = partial_->write(connection.at, {buffer.data(), static_cast<std::size_t>(got)});
    if (failed != 0)
      return end({.error = errors::cannot_write(Said{system_message(failed)})
                               .at(phrases::file_place(place_.incomplete))
                               .advise(is_disk_full(failed) ? phrases::download_free_space()
                                                            : phrases::check_the_disk()),
                  .is_disk_full = is_disk_full(failed)});
    connection.at += got;
    connection.window_bytes += got;
    progress_bytes_ += got;
    refusals_ = 0;
    if (progress_bytes_ >= real_progress_bytes) failures_ = 0;
  }
}

void Transfer::on_reply_end(Connection& connection) {
  QNetworkReply* reply = connection.reply;
  const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  const bool is_answered = status != 0;
  if (connection.verdict == Verdict::unknown && is_answered) connection.verdict = check_answer(connection);
  if (connection.verdict == Verdict::good) {
    receive(connection);
    if (state_ == TransferState::ended) return;  // the disk is full
  }
  const bool complete = connection.verdict == Verdict::good && connection.at == connection.range.end;
  if (complete) {
    failures_ = 0;
    close(connection);
    Q_EMIT changed();
    return fill();
  }
  if (connection.verdict == Verdict::bad) return on_refusal(connection, status);
  // Cut off, or no answer at all: what has come is kept, and the rest is asked for again.
  const ConnectionTrouble trouble = connection_trouble(*reply);
  const bool is_offline = client_.network().is_offline();
  close(connection);
  if (is_offline) return end({.error = offline_error()});
  if (!trouble.may_pass) return end({.error = trouble.error});
  retry_later(trouble.error);
}

void Transfer::on_refusal(Connection& connection, int status) {
  QNetworkReply* reply = connection.reply;
  const QUrl asked = reply->url();
  if (status >= 301 && status <= 308 && status != 304) {
    const QUrl target = asked.resolved(QUrl::fromEncoded(reply->rawHeader("Location"), QUrl::StrictMode));
    const bool weaker = asked.scheme() == QLatin1String("https") && target.scheme() != QLatin1String("https");
    const ByteRange range = connection.range;
    const bool whole = connection.whole;
    const int redirects = connection.redirects + 1;
    close(connection);
    if (weaker || !target.isValid() || redirects > max_redirects)
      return end({.error = errors::server_redirects_nowhere().at(phrases::name_place(shown(asked)))});
    request_piece(range, whole, target, redirects);
    return;
  }
  if (status == 408 || status == 429 || status >= 500) {
    HubFailure failure = status_failure(status, {}, asked, false);
    failure.retry_after_s = retry_after(*reply);
    close(connection);
    return retry_later(failure.error, failure.retry_after_s);
  }
  const bool stored_elsewhere = !same_origin(asked, client_.settings().endpoint);
  if (status == 400 || status == 401 || status == 403 || status == 404 || status == 410) {
    const HubFailure failure = status_failure(status, reply->rawHeader("X-Error-Code"), asked, true);
    close(connection);
    if (!stored_elsewhere) return end({.error = failure.error, .wants_token = failure.wants_token()});
    if (!is_located_) return;  // another range has asked already
    // A signed address has expired: the hub gives a new one.
    if (++refusals_ > max_refusals)
      return end({.error = errors::storage_refuses(status).at(phrases::name_place(shown(asked)))});
    log::info("download", id_.text(), ": asks for a new address, status ", status);
    is_located_ = false;
    return locate();
  }
  const bool is_compressed = !reply->rawHeader("Content-Encoding").isEmpty();
  const bool has_new_tag = connection.has_new_tag;
  close(connection);
  if (has_new_tag) {
    ++tag_changes_;
    is_located_ = false;
    return locate();
  }
  const Error lie = (is_compressed   ? errors::server_compresses()
                     : status == 416 ? errors::server_file_shorter()
                                     : errors::server_other_answer(status))
                        .at(phrases::name_place(shown(asked)));
  // A server whose ranges are wrong may still send the whole file right.
  if (++lies_ > max_lies) return end({.error = lie});
  needs_whole_ = needs_whole_ || status == 206 || status == 416;
  if (needs_whole_) close_all();
  retry_later(lie);
}

void Transfer::check_speed() {
  // From the back: close() removes.
  for (auto it = connections_.size(); it-- > 0;) {
    Connection& connection = *connections_[it];
    if (connection.is_old && connection.window_bytes < settings_.slow_bytes) {
      close(connection);
      return retry_later(errors::server_too_slow().at(phrases::name_place(url_.host().toStdString())));
    }
    connection.window_bytes = 0;
    connection.is_old = true;
  }
  if (partial_) Q_EMIT changed();
}

void Transfer::retry_later(Error error, std::int64_t wait_s) {
  progress_bytes_ = 0;
  // Connections that fail together, as they do where one cable is pulled, are one failure.
  if (!retry_.isActive() && failures_++ >= settings_.retries) return end({.error = std::move(error)});
  int wait_ms = backoff_ms(std::max(failures_ - 1, 0), settings_.retry_base_ms, settings_.retry_most_ms);
  if (wait_s >= 0) wait_ms = std::max(wait_ms, static_cast<int>(std::min(wait_s, longest_wait_s)) * 1000);
  if (retry_.isActive() && retry_.remainingTime() >= wait_ms) return;
  log::info("download", error.message(), "; again in ", wait_ms, " ms");
  trouble_ = std::move(error);
  retry_.start(wait_ms);
  if (connections_.empty()) set_state(TransferState::waiting_to_retry);
}

void Transfer::begin_again(Error why) {
  if (++beginnings_ >= max_beginnings) return end({.error = std::move(why)});
  log::warning("download", why.message(), "; begins again");
  close_all();
  partial_->discard();
  is_located_ = false;
  set_state(TransferState::idle);
  locate();
}

void Transfer::verify() {
  if (state_ == TransferState::verifying) return;
  close_all();
  speed_check_.stop();
  set_state(TransferState::verifying);
  partial_->verify([self = QPointer(this), attempt = attempt_](const Result<bool>& verified) {
    // From the file's own thread, which ends before this object does.
    QMetaObject::invokeMethod(
        self.data(),
        [self, attempt, verified] {
          if (self && attempt == self->attempt_) self->on_verified(verified);
        },
        Qt::QueuedConnection);
  });
}

void Transfer::on_verified(const Result<bool>& verified) {
  if (!verified) return end({.error = verified.error()});
  if (!*verified) return begin_again(errors::download_wrong_hash().at(phrases::name_place(id_.text())));
  if (const auto done = partial_->commit(); !done) return end({.error = done.error()});
  end({});
}

}  // namespace fovea::app
