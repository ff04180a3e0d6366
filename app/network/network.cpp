#include "app/network/network.h"

#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslError>
#include <algorithm>

#include "app/network/errors.h"
#include "app/network/http_fields.h"
#include "app/network/proxy.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

QString environment(const char* name) {
  return qEnvironmentVariable(name);
}

// Why the certificate was refused; kept with the reply, since Qt tells it in a signal only.
constexpr const char* tls_reason = "fovea_tls_reason";

QSslConfiguration tls_configuration(const NetworkSettings& settings) {
  QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
  tls.setProtocol(QSsl::TlsV1_2OrLater);
  tls.setPeerVerifyMode(QSslSocket::VerifyPeer);
  if (!settings.certificates.isEmpty()) tls.addCaCertificates(settings.certificates);
  return tls;
}

QNetworkRequest prepared(const WebRequest& request, const NetworkSettings& settings) {
  QNetworkRequest prepared(request.url);
  prepared.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
  // One TCP connection for each range: with HTTP/2 all of them would share one, and its window.
  prepared.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
  prepared.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
  prepared.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
  prepared.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
  prepared.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
  prepared.setSslConfiguration(tls_configuration(settings));
  prepared.setTransferTimeout(request.idle_timeout_ms);
  prepared.setRawHeader("User-Agent", "fovea");
  if (!request.compressed) prepared.setRawHeader("Accept-Encoding", "identity");
  for (const auto& [name, value] : request.headers) prepared.setRawHeader(name, value);
  return prepared;
}

}  // namespace

NetworkSettings NetworkSettings::from_environment() {
  NetworkSettings settings;
  const QString offline = environment("HF_HUB_OFFLINE").toUpper();
  settings.offline =
      QStringList{QStringLiteral("1"), QStringLiteral("ON"), QStringLiteral("YES"), QStringLiteral("TRUE")}
          .contains(offline);
  settings.certificates = environment("SSL_CERT_FILE");
  return settings;
}

Network::Network(NetworkSettings settings, QObject* parent)
    : QObject(parent), settings_(std::move(settings)) {}

Network::~Network() = default;

void Network::set_offline(bool offline) {
  if (settings_.offline == offline) return;
  settings_.offline = offline;
  log::info("network", offline ? "offline: no connections" : "online");
  if (offline) {
    for (QNetworkReply* reply : QSet(open_)) reply->abort();  // a copy: whoever hears of it may delete it
    if (manager_) manager_->clearConnectionCache();
  }
}

Result<QNetworkReply*> Network::send(const WebRequest& request) {
  if (settings_.offline) return std::unexpected(offline_error());
  const QString scheme = request.url.scheme();
  if (!request.url.isValid() || request.url.host().isEmpty() ||
      (scheme != QLatin1String("https") && scheme != QLatin1String("http")))
    return fail(phrases::name_place(shown(request.url)), errors::network_no_address());
  if (!manager_) {
    manager_ = new QNetworkAccessManager(this);
    manager_->setProxyFactory(new EnvironmentProxies(environment));
    manager_->setAutoDeleteReplies(false);
  }
  const QNetworkRequest out = prepared(request, settings_);
  QNetworkReply* reply = request.head ? manager_->head(out) : manager_->get(out);
  reply->setReadBufferSize(4 << 20);  // a slow disk slows the sender down and fills no memory
  open_.insert(reply);
  connect(reply, &QObject::destroyed, this, [this, reply] { open_.remove(reply); });
  connect(reply, &QNetworkReply::sslErrors, reply, [reply](const QList<QSslError>& errors) {
    if (!errors.isEmpty()) reply->setProperty(tls_reason, errors.front().errorString());
  });
  log::debug("network", request.head ? "HEAD " : "GET ", shown(request.url));
  return reply;
}

Error offline_error() {
  return errors::network_offline().at(phrases::network());
}

ConnectionTrouble connection_trouble(const QNetworkReply& reply) {
  const auto trouble = [&](Error error, bool may_pass = true) {
    return ConnectionTrouble{std::move(error).at(phrases::name_place(reply.url().host().toStdString())),
                             may_pass};
  };
  switch (reply.error()) {
    case QNetworkReply::SslHandshakeFailedError: {
      const std::string reason = reply.property(tls_reason).toString().toStdString();
      return trouble(
          reason.empty() ? errors::network_untrusted() : errors::network_untrusted_because(Said{reason}),
          false);
    }
    case QNetworkReply::ConnectionRefusedError:
      return trouble(errors::network_refused());
    case QNetworkReply::RemoteHostClosedError:
      return trouble(errors::network_ended());
    case QNetworkReply::HostNotFoundError:
      return trouble(errors::network_unknown_host());
    case QNetworkReply::TimeoutError:
    case QNetworkReply::OperationCanceledError:
      return trouble(errors::network_silent());
    case QNetworkReply::ProxyConnectionRefusedError:
    case QNetworkReply::ProxyConnectionClosedError:
    case QNetworkReply::ProxyNotFoundError:
    case QNetworkReply::ProxyTimeoutError:
    case QNetworkReply::ProxyAuthenticationRequiredError:
    case QNetworkReply::UnknownProxyError:
      return trouble(errors::network_proxy());
    case QNetworkReply::ProtocolFailure:
    case QNetworkReply::ProtocolInvalidOperationError:
    case QNetworkReply::ProtocolUnknownError:
      return trouble(errors::network_not_http());
    default:
      return trouble(errors::network_failed());
  }
}

}  // namespace fovea::app
