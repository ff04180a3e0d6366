// Proxies as the environment names them.
#pragma once

#include <QNetworkProxy>
#include <QString>
#include <functional>

namespace fovea::app {

// Empty where the variable is not set.
using Environment = std::function<QString(const char* name)>;

// https_proxy, http_proxy, all_proxy and no_proxy, in lower or upper case, as curl reads them: a host or a
// URL with a port and perhaps a user and a password; no_proxy is a list of hosts, domains (".example.org"),
// or "*". This machine itself needs no proxy.
class EnvironmentProxies : public QNetworkProxyFactory {
 public:
  explicit EnvironmentProxies(const Environment& environment);
  QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery& query) override;

 private:
  bool goes_direct(const QString& host, int port) const;

  QNetworkProxy https_{QNetworkProxy::NoProxy}, http_{QNetworkProxy::NoProxy};
  QStringList direct_;
};

}  // namespace fovea::app
