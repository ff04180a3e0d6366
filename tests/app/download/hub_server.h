// A hub of the tests' own, on a port of this machine: the API, the files, and storage elsewhere (a second
// port), with every fault that a test plants. One thread for each connection; blocking, so that a fault is a
// few plain lines.
#pragma once

#include <QByteArray>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace fovea::tests {

struct HttpQuestion {
  std::string method, target;
  std::map<std::string, std::string> fields;  // names in lower case
  bool at_storage = false;
  std::int64_t begin = -1, end = -1;  // of a Range, end exclusive; -1: none
  std::string field(const std::string& name) const;
};

// What a handler answers with.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  bool send(const std::string& bytes);
  // Head and body; Content-Length is added unless the fields have a length or a transfer encoding.
  bool answer(int status, const std::vector<std::string>& fields, const std::string& body,
              bool head_only = false);
  // The connection ends without a word, as by a broken cable (RST).
  void reset();
  void sleep_ms(int ms) const;

 private:
  int fd_;
};

struct ServedFile {
  std::string path;
  QByteArray bytes;
  bool is_lfs = true;
};

// The same for the same seed.
QByteArray random_bytes(std::int64_t count, unsigned seed);

class HubServer {
 public:
  explicit HubServer(std::vector<ServedFile> files, std::string repository = "org/model");
  ~HubServer();
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;

  std::string endpoint() const;
  std::string storage() const;
  std::string commit() const { return std::string(40, 'c'); }

  // Asked first; true: it has answered. n counts the questions of the kind that reach the storage, from 0.
  using Fault = std::function<bool(const HttpQuestion&, Wire&, int n)>;
  void set_fault(Fault fault);
  void set_bytes(const std::string& path,
                 QByteArray bytes);  // what the storage sends; the API keeps its hashes
  void set_token(std::string token) { token_ = std::move(token); }  // then the hub wants it
  void set_expiry(int answers) { expiry_ = answers; }               // a signed address is good for so many
  void set_pace(int latency_ms, std::int64_t bytes_per_s);  // of each connection; 0: as fast as it goes

  int connections() const { return connections_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::vector<HttpQuestion> questions() const;
  static std::string sha256(const QByteArray& bytes);
  static std::string git_oid(const QByteArray& bytes);

 private:
  struct Listener {
    int fd = -1;
    int port = 0;
  };
  static Listener listen_here();
  void accept_loop(int listener, bool at_storage);
  void serve(int fd, bool at_storage);
  void answer(const HttpQuestion& question, Wire& wire);
  void answer_api(const HttpQuestion& question, Wire& wire);
  void answer_resolve(const HttpQuestion& question, Wire& wire, const ServedFile& file);
  void answer_bytes(const HttpQuestion& question, Wire& wire, const QByteArray& bytes,
                    const std::string& etag);
  const ServedFile* find(const std::string& path) const;

  const std::vector<ServedFile> files_;
  const std::string repository_;
  Listener hub_, storage_;
  std::vector<std::thread> threads_;
  std::set<int> open_;                            // guarded by mutex_
  std::vector<std::thread> connections_threads_;  // guarded by mutex_
  mutable std::mutex mutex_;
  Fault fault_;                                // guarded by mutex_
  std::map<std::string, QByteArray> changed_;  // guarded by mutex_
  std::vector<HttpQuestion> questions_;        // guarded by mutex_
  std::map<std::string, int> signatures_;      // guarded by mutex_: answers left
  std::string token_;
  int expiry_ = 1 << 30;
  std::atomic<int> latency_ms_ = 0, connections_ = 0, storage_questions_ = 0, next_signature_ = 0;
  std::atomic<std::int64_t> bytes_per_s_ = 0, bytes_sent_ = 0;
  std::atomic<bool> ends_ = false;
};

}  // namespace fovea::tests
