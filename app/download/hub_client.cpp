#include "app/download/hub_client.h"

#include <QDateTime>
#include <QNetworkReply>
#include <QPointer>
#include <QRandomGenerator>
#include <QTimer>
#include <QUrlQuery>
#include <algorithm>

#include "app/download/errors.h"
#include "app/download/hub_json.h"
#include "app/download/hub_names.h"
#include "app/download/hub_request.h"
#include "app/network/http_fields.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::size_t max_files = 100000;
constexpr int max_pages = 200;

QString encoded(std::string_view text, const char* kept = "") {
  return QString::fromLatin1(
      QUrl::toPercentEncoding(QString::fromUtf8(text.data(), static_cast<int>(text.size())), kept));
}

template <class T>
void later(QObject* context, HubCallback<T> done, Error error) {
  QTimer::singleShot(0, context,
                     [done = std::move(done), error] { done(std::unexpected(HubFailure{.error = error})); });
}

}  // namespace

// What a listing gathers page by page.
struct HubClient::Listing {
  HubRepository repository;
  QPointer<QObject> context;
  HubCallback<HubRepository> done;
  int pages = 0;
};

HubSettings HubSettings::from_environment() {
  HubSettings settings;
  QString endpoint = qEnvironmentVariable("HF_ENDPOINT").trimmed();
  while (endpoint.endsWith(QLatin1Char('/'))) endpoint.chop(1);
  settings.endpoint =
      QUrl(endpoint.isEmpty() ? QStringLiteral("https://huggingface.co") : endpoint, QUrl::StrictMode);
  settings.token = TokenStore::from_environment().text;
  return settings;
}

HubClient::HubClient(Network& network, HubSettings settings, TokenStore* tokens, QObject* parent)
    : QObject(parent), network_(network), settings_(std::move(settings)), tokens_(tokens) {}

QUrl HubClient::address(const QString& path) const {
  return QUrl(QString::fromLatin1(settings_.endpoint.toEncoded()) + path, QUrl::StrictMode);
}

void HubClient::authorize(WebRequest& request) const {
  if (settings_.token.isEmpty() || !same_origin(request.url, settings_.endpoint)) return;
  if (!may_carry_token(request.url)) {
    log::warning("download", "the token is not sent to ", shown(request.url),
                 ", since the connection is not encrypted");
    return;
  }
  request.headers.emplace_back("Authorization", "Bearer " + settings_.token.toLatin1());
}

void HubClient::find_token(std::function<void(const std::optional<Error>& trouble)> then) {
  has_asked_for_token_ = true;
  if (!tokens_) return then({});
  tokens_->find([self = QPointer(this), then = std::move(then)](const Token& token) {
    if (!self) return;
    self->settings_.token = token.text;
    then(token.trouble);
  });
}

Result<QNetworkReply*> HubClient::get(const QUrl& url, std::vector<std::pair<QByteArray, QByteArray>> headers,
                                      int idle_timeout_ms) {
  WebRequest request{
      .url = url, .head = false, .headers = std::move(headers), .idle_timeout_ms = idle_timeout_ms};
  authorize(request);
  return network_.send(request);
}

void HubClient::ask(const QUrl& url, bool head, int retries, QObject* context, HubCallback<HubAnswer> done) {
  auto* request = new HubRequest(*this, url, head, retries, context, std::move(done));
  request->start();
}

void HubClient::search(const QString& text, int most, QObject* context,
                       HubCallback<std::vector<HubModel>> done) {
  const QString words = encoded(text.left(200).toStdString());
  const QUrl url =
      address(QStringLiteral("/api/models?search=%1&limit=%2&sort=downloads&direction=-1&full=true")
                  .arg(words)
                  .arg(std::clamp(most, 1, 1000)));
  ask(url, false, settings_.retries, context, [done = std::move(done)](HubResult<HubAnswer> answer) {
    if (!answer) return done(std::unexpected(answer.error()));
    auto models = parse_search({answer->body.constData(), static_cast<std::size_t>(answer->body.size())},
                               shown(answer->url));
    if (!models) return done(std::unexpected(HubFailure{.error = models.error(), .status = answer->status}));
    done(*std::move(models));
  });
}

void HubClient::list(const std::string& repository, const std::string& revision, QObject* context,
                     HubCallback<HubRepository> done) {
  const Phrase where = phrases::name_place(repository.substr(0, 200));
  if (!is_repository_id(repository))
    return later(context, std::move(done), errors::hub_repository_name().at(where));
  if (!is_revision(revision)) return later(context, std::move(done), errors::hub_revision_name().at(where));
  auto listing = std::make_shared<Listing>();
  listing->repository.revision = revision;
  listing->context = context;
  listing->done = std::move(done);
  const QUrl url =
      address(QStringLiteral("/api/models/%1/revision/%2").arg(encoded(repository, "/"), encoded(revision)));
  ask(url, false, settings_.retries, context, [this, listing](HubResult<HubAnswer> answer) {
    if (!answer) return listing->done(std::unexpected(answer.error()));
    const auto found = parse_revision(
        {answer->body.constData(), static_cast<std::size_t>(answer->body.size())}, shown(answer->url));
    if (!found)
      return listing->done(std::unexpected(HubFailure{.error = found.error(), .status = answer->status}));
    listing->repository.id = found->id;
    listing->repository.commit = found->commit;
    listing->repository.gated = found->gated;
    next_page(listing, address(QStringLiteral("/api/models/%1/tree/%2?recursive=1")
                                   .arg(encoded(found->id, "/"), encoded(found->commit))));
  });
}

void HubClient::next_page(const std::shared_ptr<Listing>& listing, const QUrl& url) {
  ask(url, false, settings_.retries, listing->context, [this, listing](HubResult<HubAnswer> answer) {
    if (!answer) return listing->done(std::unexpected(answer.error()));
    const std::string where = shown(answer->url);
    auto files = parse_tree({answer->body.constData(), static_cast<std::size_t>(answer->body.size())}, where);
    if (!files)
      return listing->done(std::unexpected(HubFailure{.error = files.error(), .status = answer->status}));
    auto& all = listing->repository.files;
    all.insert(all.end(), std::make_move_iterator(files->begin()), std::make_move_iterator(files->end()));
    const std::string next = next_link(answer->link.toStdString());
    if (next.empty()) return listing->done(std::move(listing->repository));
    const QUrl url =
        answer->url.resolved(QUrl::fromEncoded(QByteArray::fromStdString(next), QUrl::StrictMode));
    if (!same_origin(url, answer->url) || ++listing->pages == max_pages || all.size() > max_files)
      return listing->done(
          std::unexpected(HubFailure{.error = errors::hub_list_endless().at(phrases::name_place(where))}));
    next_page(listing, url);
  });
}

void HubClient::locate(const HubFileId& id, QObject* context, HubCallback<HubLocation> done) {
  const QUrl url =
      address(QStringLiteral("/%1/resolve/%2/%3")
                  .arg(encoded(id.repository, "/"), encoded(id.commit), encoded(id.file.path, "/")));
  ask(url, true, 0, context, [done = std::move(done)](HubResult<HubAnswer> answer) {
    if (!answer) return done(std::unexpected(answer.error()));
    const bool elsewhere = !answer->location.isEmpty();
    HubLocation location;
    location.url = elsewhere ? QUrl::fromEncoded(answer->location) : answer->url;
    const QByteArray& tag = answer->linked_etag.isEmpty() && !elsewhere ? answer->etag : answer->linked_etag;
    location.content = plain_etag(tag.toStdString());
    bool is_number = false;
    const QByteArray& length =
        answer->linked_size.isEmpty() && !elsewhere ? answer->length : answer->linked_size;
    location.bytes = length.toLongLong(&is_number);
    if (!is_number) location.bytes = -1;
    done(location);
  });
}

int backoff_ms(int failures, int base_ms, int max_ms) {
  const double doubled = static_cast<double>(base_ms) * static_cast<double>(1 << std::min(failures, 16));
  const double limit = std::min(doubled, static_cast<double>(max_ms));
  return static_cast<int>(limit * (0.5 + 0.5 * QRandomGenerator::global()->generateDouble()));
}

std::int64_t retry_after(const QNetworkReply& reply) {
  const QByteArray field = reply.rawHeader("Retry-After");
  if (field.isEmpty()) return -1;
  return parse_retry_after(field.toStdString(), QDateTime::currentSecsSinceEpoch()).value_or(-1);
}

HubFailure status_failure(int status, const QByteArray& code, const QUrl& url, bool had_token) {
  const auto failure = [&](Error error, bool may_pass = false) {
    return HubFailure{.error = std::move(error).at(phrases::name_place(shown(url))),
                      .status = status,
                      .may_pass = may_pass};
  };
  if (code == "GatedRepo") {
    Error error = errors::hub_gated();
    if (had_token) error.advice = phrases::hub_accept_terms_with_token();
    return failure(std::move(error));
  }
  if (code == "EntryNotFound") return failure(errors::hub_no_file());
  if (code == "RevisionNotFound") return failure(errors::hub_no_revision());
  if (code == "RepoNotFound" || status == 404) {
    Error error = errors::hub_no_repository();
    if (had_token) error.advice = phrases::hub_check_name();
    return failure(std::move(error));
  }
  if (status == 401 || status == 403)
    return failure(had_token ? errors::hub_refuses_token(status) : errors::hub_wants_token(status));
  if (status == 429) return failure(errors::hub_too_many_requests(status), true);
  if (status == 408 || status >= 500) return failure(errors::server_trouble(status), true);
  return failure(errors::server_refuses(status));
}

}  // namespace fovea::app
