// One file of the hub on its way to the disk: several ranges at once, from where an earlier attempt stopped.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <QUrl>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "app/download/hub_client.h"
#include "app/download/partial_file.h"

class QNetworkReply;

namespace fovea::app {

struct TransferSettings {
  int connections = 4;
  std::int64_t piece_bytes = std::int64_t{32} << 20;  // of one request
  int idle_timeout_ms = 30000;
  int slow_window_ms = 30000;  // a connection that brings less than slow_bytes in this time is given up
  std::int64_t slow_bytes = 16 << 10;
  int retry_base_ms = 500;
  int retry_most_ms = 60000;
  int retries = 20;  // without progress between them: some ten minutes
  int lock_poll_ms = 1000;
  PartialSettings partial;
};

enum class TransferState : std::uint8_t {
  idle,
  waiting_for_other,  // another program downloads the same file
  locating,
  receiving,
  waiting_to_retry,
  verifying,
  ended,
};

// How it ended. Without an error the file is there.
struct TransferEnd {
  std::optional<Error> error;
  bool is_disk_full = false;  // goes on when there is room
  bool wants_token = false;   // the hub does not show it to everybody
};

class Transfer : public QObject {
  Q_OBJECT

 public:
  Transfer(HubClient& client, HubFileId id, PartialPlace place, TransferSettings settings,
           QObject* parent = nullptr);
  ~Transfer() override;

  void start();
  // Everything that has come is kept; ended() is not emitted. Delete it afterwards, or start() again.
  void stop();

  TransferState state() const { return state_; }
  std::int64_t bytes_there() const { return partial_ ? partial_->bytes_there() : bytes_there_; }
  int wait_ms() const { return state_ == TransferState::waiting_to_retry ? retry_.remainingTime() : 0; }
  const HubFileId& id() const { return id_; }
  // Why it waits to try again.
  const std::optional<Error>& trouble() const { return trouble_; }

 Q_SIGNALS:
  void changed();
  void ended(const fovea::app::TransferEnd& end);

 private:
  struct Connection;
  enum class Verdict : std::uint8_t { unknown, good, bad };

  void open();
  void check_existing();
  PartialContent content() const;
  void locate();
  void on_located(const HubResult<HubLocation>& location);
  void fill();
  bool request_piece(ByteRange range, bool whole, const QUrl& url, int redirects);
  void on_data(Connection& connection);
  void on_reply_end(Connection& connection);
  Verdict check_answer(Connection& connection);
  Verdict check_range(Connection& connection);
  Verdict check_whole(Connection& connection);
  bool check_etag(Connection& connection);
  void on_refusal(Connection& connection, int status);
  void receive(Connection& connection);
  void check_speed();
  void verify();
  void on_verified(const Result<bool>& verified);
  void retry_later(Error error, std::int64_t wait_s = -1);
  void begin_again(Error why);
  void close(Connection& connection);
  void close_all();
  void set_state(TransferState state);
  void end(TransferEnd end);

  HubClient& client_;
  const HubFileId id_;
  const PartialPlace place_;
  const TransferSettings settings_;

  TransferState state_ = TransferState::idle;
  bool is_existing_checked_ = false;
  std::unique_ptr<PartialFile> partial_;
  std::int64_t bytes_there_ = 0;  // after partial_ is gone
  std::vector<std::unique_ptr<Connection>> connections_;
  QUrl url_;
  bool is_located_ = false;
  bool is_locating_ = false;
  bool needs_whole_ = false;  // the server does not do ranges
  int failures_ = 0;          // since the last progress
  int refusals_ = 0;          // of fresh addresses, since the last good answer
  int beginnings_ = 0;        // how often it began again from nothing
  int lies_ = 0;              // answers that do not fit their request
  int tag_changes_ = 0;
  int wholes_ = 0;                   // how often the whole file was asked for
  std::int64_t progress_bytes_ = 0;  // since the last failure
  std::uint64_t attempt_ = 0;        // tells late answers from present ones
  std::optional<Error> trouble_;
  std::jthread checker_;  // of a target that exists already
  QTimer retry_, speed_check_, lock_poll_;
};

}  // namespace fovea::app
