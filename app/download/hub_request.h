// One request to the hub's API with its redirects, retries and time limit. Deletes itself.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include "app/download/hub_client.h"

class QNetworkReply;

namespace fovea::app {

class HubRequest : public QObject {
  Q_OBJECT

 public:
  HubRequest(HubClient& client, QUrl url, bool head, int retries, QObject* context,
             HubCallback<HubAnswer> done);
  ~HubRequest() override;
  void start();

 private:
  void on_data();
  void on_end();
  void follow(const HubAnswer& answer);
  void fail_with(HubFailure failure);
  void end(HubResult<HubAnswer> result);

  HubClient& client_;
  const QUrl first_url_;
  QUrl url_;
  const bool head_;
  const int retries_;
  QPointer<QObject> context_;
  HubCallback<HubAnswer> done_;
  QPointer<QNetworkReply> reply_;
  QTimer deadline_;
  QByteArray body_;
  int failures_ = 0;
  int redirects_ = 0;
  bool is_too_long_ = false;
  bool is_too_late_ = false;
};

}  // namespace fovea::app
