// The one way out of the program. Whoever wants something from the network asks this object; while the
// offline switch is on it opens no connection, and those that are open end.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QSet>
#include <QString>
#include <QUrl>
#include <utility>
#include <vector>

#include "engine/api/error.h"

class QNetworkAccessManager;
class QNetworkReply;

namespace fovea::app {

struct NetworkSettings {
  bool offline = false;
  QString certificates;  // a PEM file whose certificates are trusted beside the system's

  // HF_HUB_OFFLINE=1 switches the network off; SSL_CERT_FILE names additional certificates.
  static NetworkSettings from_environment();
};

struct WebRequest {
  QUrl url;
  bool head = false;  // HEAD in place of GET
  std::vector<std::pair<QByteArray, QByteArray>> headers;
  int idle_timeout_ms = 30000;  // without a byte
  bool compressed = false;      // whether the answer may come compressed; it is unpacked on the way
};

class Network : public QObject {
  Q_OBJECT

 public:
  explicit Network(NetworkSettings settings = NetworkSettings::from_environment(), QObject* parent = nullptr);
  ~Network() override;

  bool is_offline() const { return settings_.offline; }
  void set_offline(bool offline);

  // The answer as it comes in; redirects are not followed; the certificate is always checked. The
  // caller deletes it; it does not outlive this object.
  Result<QNetworkReply*> send(const WebRequest& request);

 private:
  NetworkSettings settings_;
  QNetworkAccessManager* manager_ = nullptr;  // made by the first request
  QSet<QNetworkReply*> open_;
};

Error offline_error();

// Why a request got no answer, in words of our own: Qt's contain the address with its signatures.
struct ConnectionTrouble {
  Error error;
  bool may_pass = false;  // trying again can help
};
ConnectionTrouble connection_trouble(const QNetworkReply& reply);

}  // namespace fovea::app
