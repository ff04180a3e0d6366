#include "app/network/proxy.h"

#include <QHostAddress>
#include <QUrl>

namespace fovea::app {
namespace {

QString variable(const Environment& environment, const QByteArray& name) {
  const QString lower = environment(name.constData());
  return lower.isEmpty() ? environment(name.toUpper().constData()) : lower;
}

QNetworkProxy proxy_of(const QString& text) {
  if (text.isEmpty()) return QNetworkProxy::NoProxy;
  const QUrl url(text.contains(QLatin1String("://")) ? text : QStringLiteral("http://") + text);
  if (url.host().isEmpty()) return QNetworkProxy::NoProxy;
  const bool socks = url.scheme().startsWith(QLatin1String("socks"));
  const auto port = static_cast<quint16>(url.port(socks ? 1080 : 8080));
  return QNetworkProxy(socks ? QNetworkProxy::Socks5Proxy : QNetworkProxy::HttpProxy, url.host(), port,
                       url.userName(), url.password());
}

bool is_this_machine(const QString& host) {
  return host == QLatin1String("localhost") || QHostAddress(host).isLoopback();
}

}  // namespace

EnvironmentProxies::EnvironmentProxies(const Environment& environment) {
  const QString all = variable(environment, "all_proxy");
  const auto either = [&](const QString& own) { return proxy_of(own.isEmpty() ? all : own); };
  https_ = either(variable(environment, "https_proxy"));
  http_ = either(variable(environment, "http_proxy"));
  for (const QString& entry : variable(environment, "no_proxy").split(QLatin1Char(','), Qt::SkipEmptyParts))
    direct_ << entry.trimmed().toLower();
}

bool EnvironmentProxies::goes_direct(const QString& host, int port) const {
  if (is_this_machine(host)) return true;
  for (QString entry : direct_) {
    if (entry == QLatin1String("*")) return true;
    const QString with_port = QLatin1Char(':') + QString::number(port);
    if (entry.endsWith(with_port)) entry.chop(with_port.size());
    if (entry.startsWith(QLatin1String("*."))) entry.remove(0, 1);
    const QString domain = entry.startsWith(QLatin1Char('.')) ? entry : QLatin1Char('.') + entry;
    if (host == domain.mid(1) || host.endsWith(domain)) return true;
  }
  return false;
}

QList<QNetworkProxy> EnvironmentProxies::queryProxy(const QNetworkProxyQuery& query) {
  const QString host = query.peerHostName().toLower();
  const bool tls = query.protocolTag() == QLatin1String("https");
  if (goes_direct(host, query.peerPort())) return {QNetworkProxy::NoProxy};
  return {tls ? https_ : http_};
}

}  // namespace fovea::app
