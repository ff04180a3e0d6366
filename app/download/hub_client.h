// The hub's API, asynchronously, on the thread that owns the object.
#pragma once

#include <QObject>
#include <QString>
#include <QUrl>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/download/hub_types.h"
#include "app/network/network.h"
#include "app/network/token_store.h"
#include "engine/api/error.h"

namespace fovea::app {

struct HubSettings {
  QUrl endpoint;  // "https://huggingface.co", without a slash at the end
  QString token;  // empty: asked of the token store when the hub wants one
  int idle_timeout_ms = 30000;
  int answer_timeout_ms = 60000;  // a whole answer of the API
  int retry_base_ms = 500;
  int retries = 3;

  // HF_ENDPOINT and HF_TOKEN.
  static HubSettings from_environment();
};

// Why a request failed, and what may be done about it.
struct HubFailure {
  Error error;
  int status = 0;  // of HTTP; 0: there was no answer
  bool may_pass = false;
  std::int64_t retry_after_s = -1;  // what the server asks for
  bool wants_token() const { return status == 401 || status == 403; }
};
template <class T>
using HubResult = std::expected<T, HubFailure>;
template <class T>
using HubCallback = std::function<void(HubResult<T>)>;

struct HubFileId {
  std::string repository;
  std::string commit;
  HubFile file;
  std::string text() const { return repository + "@" + commit + ":" + file.path; }
};

// Where a file's bytes are.
struct HubLocation {
  QUrl url;
  std::string content;      // X-Linked-Etag, else ETag, without quotes
  std::int64_t bytes = -1;  // X-Linked-Size, else Content-Length; -1: not told
};

struct HubAnswer {
  QUrl url;
  int status = 0;
  QByteArray body;
  QByteArray link, location, etag, linked_etag, linked_size, length;
};

class HubClient : public QObject {
  Q_OBJECT

 public:
  // tokens: asked once, when the hub refuses an anonymous request; may be null.
  HubClient(Network& network, HubSettings settings, TokenStore* tokens = nullptr, QObject* parent = nullptr);

  // Callbacks come later, never from within the call, and not after `context` is gone.
  void search(const QString& text, int most, QObject* context, HubCallback<std::vector<HubModel>> done);
  // Files with sizes and hashes, at the revision's present commit.
  void list(const std::string& repository, const std::string& revision, QObject* context,
            HubCallback<HubRepository> done);
  // Asked again whenever a signed address has expired.
  void locate(const HubFileId& id, QObject* context, HubCallback<HubLocation> done);
  // A GET of a file's bytes. The token goes along only where it belongs: to the hub's own origin.
  Result<QNetworkReply*> get(const QUrl& url, std::vector<std::pair<QByteArray, QByteArray>> headers,
                             int idle_timeout_ms);

  // From now on; empty: ask the token store again when the hub wants one.
  void set_token(const QString& token) {
    settings_.token = token;
    has_asked_for_token_ = false;
  }

  Network& network() { return network_; }
  const HubSettings& settings() const { return settings_; }

 private:
  friend class HubRequest;
  struct Listing;

  void authorize(WebRequest& request) const;
  bool has_token() const { return !settings_.token.isEmpty(); }
  // then: why the keyring could not be read, if so.
  void find_token(std::function<void(const std::optional<Error>& trouble)> then);
  void ask(const QUrl& url, bool head, int retries, QObject* context, HubCallback<HubAnswer> done);
  void next_page(const std::shared_ptr<Listing>& listing, const QUrl& url);
  QUrl address(const QString& path) const;

  Network& network_;
  HubSettings settings_;
  TokenStore* tokens_;
  bool has_asked_for_token_ = false;
};

// The error of an HTTP status. code: the hub's X-Error-Code.
HubFailure status_failure(int status, const QByteArray& code, const QUrl& url, bool had_token);
// What the reply says about waiting, -1: nothing.
std::int64_t retry_after(const QNetworkReply& reply);

// Exponential, with jitter: programs that failed together do not come back together.
int backoff_ms(int failures, int base_ms, int max_ms);

}  // namespace fovea::app
