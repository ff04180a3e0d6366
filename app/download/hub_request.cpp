#include "app/download/hub_request.h"

#include <QNetworkReply>

#include "app/download/errors.h"
#include "app/download/hub_json.h"
#include "app/network/http_fields.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace {

constexpr int max_wait_ms = 60000;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

HubAnswer answer_of(const QNetworkReply& reply, QByteArray body) {
  return {.url = reply.url(),
          .status = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(),
          .body = std::move(body),
          .link = reply.rawHeader("Link"),
          .location = reply.rawHeader("Location"),
          .etag = reply.rawHeader("ETag"),
          .linked_etag = reply.rawHeader("X-Linked-Etag"),
          .linked_size = reply.rawHeader("X-Linked-Size"),
          .length = reply.rawHeader("Content-Length")};
}

}  // namespace

HubRequest::HubRequest(HubClient& client, QUrl url, bool head, int retries, QObject* context,
                       HubCallback<HubAnswer> done)
    : QObject(&client),
      client_(client),
      first_url_(std::move(url)),
      url_(first_url_),
      head_(head),
      retries_(retries),
      context_(context),
      done_(std::move(done)) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this, [this] {
    is_too_late_ = true;
    if (reply_) reply_->abort();
  });
  connect(context, &QObject::destroyed, this, &QObject::deleteLater);
}

HubRequest::~HubRequest() {
  if (!reply_) return;
  reply_->disconnect(this);
  reply_->abort();
  reply_->deleteLater();
}

void HubRequest::start() {
  WebRequest request{.url = url_,
                     .head = head_,
                     .headers = {},
                     .idle_timeout_ms = client_.settings_.idle_timeout_ms,
                     .compressed = !head_};
  client_.authorize(request);
  const auto reply = client_.network_.send(request);
  if (!reply) return end(std::unexpected(HubFailure{.error = reply.error()}));
  reply_ = *reply;
  body_.clear();
  is_too_late_ = false;
  connect(*reply, &QNetworkReply::readyRead, this, &HubRequest::on_data);
  connect(*reply, &QNetworkReply::finished, this, &HubRequest::on_end);
  deadline_.start(client_.settings_.answer_timeout_ms);
}

void HubRequest::on_data() {
  body_ += reply_->read(api_limit_bytes + 1 - body_.size());
  if (body_.size() <= api_limit_bytes) return;
  is_too_long_ = true;
  reply_->abort();
}

void HubRequest::on_end() {
  deadline_.stop();
  QNetworkReply* reply = reply_;
  reply->disconnect(this);
  reply_ = nullptr;
  reply->deleteLater();
  if (is_too_long_)
    return fail_with({errors::hub_answer_too_long().at(phrases::name_place(shown(reply->url())))});
  if (client_.network_.is_offline()) return fail_with({.error = offline_error()});
  if (reply->bytesAvailable() > 0) body_ += reply->read(api_limit_bytes + 1 - body_.size());
  const HubAnswer answer = answer_of(*reply, std::exchange(body_, {}));
  if (answer.status >= 400) {
    HubFailure failure =
        status_failure(answer.status, reply->rawHeader("X-Error-Code"), reply->url(), client_.has_token());
    failure.retry_after_s = retry_after(*reply);
    const bool may_need_token = (answer.status == 401 || answer.status == 403) && !client_.has_token();
    if (!may_need_token || client_.has_asked_for_token_) return fail_with(std::move(failure));
    return client_.find_token([self = QPointer(this), failure](const std::optional<Error>& trouble) mutable {
      if (!self) return;
      if (self->client_.has_token()) return self->start();
      if (trouble && trouble->kind != ErrorKind::not_found) {
        failure.error = errors::hub_token_out_of_reach(failure.error.what, trouble->what)
                            .at(std::move(failure.error.where));
      }
      self->fail_with(std::move(failure));
    });
  }
  if (reply->error() != QNetworkReply::NoError || is_too_late_) {
    const ConnectionTrouble trouble = connection_trouble(*reply);
    return fail_with({.error = trouble.error, .status = 0, .may_pass = trouble.may_pass});
  }
  if (is_redirect(answer.status)) return follow(answer);
  if (answer.status < 200 || answer.status > 299)
    return fail_with({errors::hub_status(answer.status).at(phrases::name_place(shown(answer.url)))});
  end(answer);
}

void HubRequest::follow(const HubAnswer& answer) {
  const QUrl target = answer.url.resolved(QUrl::fromEncoded(answer.location, QUrl::StrictMode));
  const bool weaker =
      answer.url.scheme() == QLatin1String("https") && target.scheme() != QLatin1String("https");
  if (answer.location.isEmpty() || !target.isValid() || weaker || ++redirects_ > max_redirects)
    return fail_with({errors::server_redirects_nowhere()
                          .at(phrases::name_place(shown(answer.url)))
                          .advise(phrases::check_hf_endpoint())});
  // For a file's location the first address outside the hub is the answer.
  if (head_ && !same_origin(answer.url, target)) {
    HubAnswer located = answer;
    located.location = target.toEncoded();
    return end(located);
  }
  url_ = target;
  start();
}

void HubRequest::fail_with(HubFailure failure) {
  if (!failure.may_pass || failures_ >= retries_) return end(std::unexpected(std::move(failure)));
  int wait_ms = backoff_ms(failures_++, client_.settings_.retry_base_ms, max_wait_ms);
  if (failure.retry_after_s >= 0) {
    if (failure.retry_after_s * 1000 > max_wait_ms) return end(std::unexpected(std::move(failure)));
    wait_ms = std::max(wait_ms, static_cast<int>(failure.retry_after_s * 1000));
  }
  log::info("download", failure.error.message(), "; again in ", wait_ms, " ms");
  url_ = first_url_;
  redirects_ = 0;
  QTimer::singleShot(wait_ms, this, &HubRequest::start);
}

void HubRequest::end(HubResult<HubAnswer> result) {
  // Later: the caller of ask() does not expect its answer before ask() has returned.
  QMetaObject::invokeMethod(
      this,
      [this, result = std::move(result)] {
        deleteLater();
        if (const auto done = std::exchange(done_, nullptr); done && context_) done(result);
      },
      Qt::QueuedConnection);
}

}  // namespace fovea::app
