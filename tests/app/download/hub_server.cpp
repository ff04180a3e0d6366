#include "hub_server.h"

#include <QCryptographicHash>
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace fovea::tests {
namespace {

using Json = nlohmann::ordered_json;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Up to the empty line; nothing when the other side has gone.
std::optional<HttpQuestion> read_question(int fd, std::string& left) {
  while (!left.contains("\r\n\r\n")) {
    char buffer[4096];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return std::nullopt;
    left.append(buffer, static_cast<std::size_t>(got));
  }
  const auto end = left.find("\r\n\r\n");
  const std::string head = left.substr(0, end + 2);
  left.erase(0, end + 4);
  HttpQuestion question;
  std::size_t at = head.find("\r\n");
  const std::string line = head.substr(0, at);
  question.method = line.substr(0, line.find(' '));
  question.target = line.substr(question.method.size() + 1);
  question.target.resize(question.target.find(' '));
  for (at += 2; at < head.size();) {
    const auto stop = head.find("\r\n", at);
    const std::string field = head.substr(at, stop - at);
    const auto colon = field.find(':');
    question.fields[lower(field.substr(0, colon))] = field.substr(field.find_first_not_of(' ', colon + 1));
    at = stop + 2;
  }
  long long begin = 0, last = 0;
  if (std::sscanf(question.field("range").c_str(), "bytes=%lld-%lld", &begin, &last) == 2) {
    question.begin = begin;
    question.end = last + 1;
  }
  return question;
}

}  // namespace

std::string HttpQuestion::field(const std::string& name) const {
  const auto it = fields.find(name);
  return it == fields.end() ? std::string() : it->second;
}

bool Wire::send(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t sent = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

bool Wire::answer(int status, const std::vector<std::string>& fields, const std::string& body,
                  bool head_only) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " x\r\n";
  bool has_length = false;
  for (const std::string& field : fields) {
    head += field + "\r\n";
    has_length = has_length || field.starts_with("Content-Length") || field.starts_with("Transfer-Encoding");
  }
  if (!has_length) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return send(head + "\r\n" + (head_only ? std::string() : body));
}

void Wire::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::shutdown(fd_, SHUT_RDWR);
}

void Wire::sleep_ms(int ms) const {
  // Until the other side is gone at the latest.
  pollfd wait{fd_, POLLRDHUP, 0};
  ::poll(&wait, 1, ms);
}

QByteArray random_bytes(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  QByteArray bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

HubServer::HubServer(std::vector<ServedFile> files, std::string repository)
    : files_(std::move(files)),
      repository_(std::move(repository)),
      hub_(listen_here()),
      storage_(listen_here()) {
  threads_.emplace_back([this] { accept_loop(hub_.fd, false); });
  threads_.emplace_back([this] { accept_loop(storage_.fd, true); });
}

HubServer::~HubServer() {
  ends_ = true;
  ::shutdown(hub_.fd, SHUT_RDWR);
  ::shutdown(storage_.fd, SHUT_RDWR);
  for (std::thread& thread : threads_) thread.join();
  {
    const std::scoped_lock lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : connections_threads_) thread.join();
  ::close(hub_.fd);
  ::close(storage_.fd);
}

HubServer::Listener HubServer::listen_here() {
  Listener listener;
  listener.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener.fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener.fd, 64) != 0 ||
      ::getsockname(listener.fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no port for the test's server");
  listener.port = ntohs(address.sin_port);
  return listener;
}

std::string HubServer::endpoint() const {
  return "http://127.0.0.1:" + std::to_string(hub_.port);
}

std::string HubServer::storage() const {
  return "http://127.0.0.1:" + std::to_string(storage_.port);
}

void HubServer::set_fault(Fault fault) {
  const std::scoped_lock lock(mutex_);
  fault_ = std::move(fault);
}

void HubServer::set_bytes(const std::string& path, QByteArray bytes) {
  const std::scoped_lock lock(mutex_);
  changed_[path] = std::move(bytes);
}

void HubServer::set_pace(int latency_ms, std::int64_t bytes_per_s) {
  latency_ms_ = latency_ms;
  bytes_per_s_ = bytes_per_s;
}

std::vector<HttpQuestion> HubServer::questions() const {
  const std::scoped_lock lock(mutex_);
  return questions_;
}

std::string HubServer::sha256(const QByteArray& bytes) {
  return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
}

std::string HubServer::git_oid(const QByteArray& bytes) {
  const QByteArray blob = "blob " + QByteArray::number(bytes.size()) + QByteArray(1, '\0') + bytes;
  return QCryptographicHash::hash(blob, QCryptographicHash::Sha1).toHex().toStdString();
}

void HubServer::accept_loop(int listener, bool at_storage) {
  while (!ends_) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    const int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const std::scoped_lock lock(mutex_);
    open_.insert(fd);
    connections_threads_.emplace_back([this, fd, at_storage] { serve(fd, at_storage); });
  }
}

void HubServer::serve(int fd, bool at_storage) {
  std::string left;
  while (auto question = read_question(fd, left)) {
    question->at_storage = at_storage;
    Fault fault;
    {
      const std::scoped_lock lock(mutex_);
      questions_.push_back(*question);
      fault = fault_;
    }
    Wire wire(fd);
    if (latency_ms_ > 0) wire.sleep_ms(latency_ms_);
    const int n = at_storage ? storage_questions_++ : 0;
    if (!fault || !fault(*question, wire, n)) answer(*question, wire);
    if (question->field("connection") == "close") break;
  }
  const std::scoped_lock lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

const ServedFile* HubServer::find(const std::string& path) const {
  const auto it = std::ranges::find(files_, path, &ServedFile::path);
  return it == files_.end() ? nullptr : &*it;
}

void HubServer::answer(const HttpQuestion& question, Wire& wire) {
  const std::string resolve = "/" + repository_ + "/resolve/" + commit() + "/";
  if (question.at_storage) {
    const auto mark = question.target.find("?signature=");
    const ServedFile* file = find(question.target.substr(1, mark - 1));
    QByteArray bytes;
    {
      const std::scoped_lock lock(mutex_);
      const auto signature =
          mark == std::string::npos ? signatures_.end() : signatures_.find(question.target.substr(mark + 11));
      if (!file || signature == signatures_.end() || signature->second-- <= 0) {
        wire.answer(403, {}, "<Error>Request has expired</Error>");
        return;
      }
      bytes = changed_.contains(file->path) ? changed_[file->path] : file->bytes;
    }
    return answer_bytes(question, wire, bytes, sha256(bytes).substr(0, 32));
  }
  if (!token_.empty() && question.field("authorization") != "Bearer " + token_) {
    wire.answer(question.field("authorization").empty() ? 401 : 403, {}, "{}", question.method == "HEAD");
    return;
  }
  if (question.target.starts_with("/api/")) return answer_api(question, wire);
  const ServedFile* file =
      question.target.starts_with(resolve) ? find(question.target.substr(resolve.size())) : nullptr;
  if (file) return answer_resolve(question, wire, *file);
  wire.answer(404, {"X-Error-Code: RepoNotFound"}, "{}", question.method == "HEAD");
}

void HubServer::answer_api(const HttpQuestion& question, Wire& wire) {
  const std::string model = "/api/models/" + repository_;
  if (question.target.starts_with("/api/models?search=")) {
    const Json list =
        Json::array({Json{{"id", repository_}, {"downloads", 7}, {"likes", 3}, {"gated", false}}});
    wire.answer(200, {"Content-Type: application/json"}, list.dump());
  } else if (question.target.starts_with(model + "/revision/")) {
    wire.answer(200, {}, Json{{"id", repository_}, {"sha", commit()}, {"gated", false}}.dump());
  } else if (question.target.starts_with(model + "/tree/" + commit())) {
    Json list = Json::array(
        {Json{{"type", "directory"}, {"path", "folder"}, {"oid", std::string(40, 'a')}, {"size", 0}}});
    for (const ServedFile& file : files_) {
      Json entry = {
          {"type", "file"}, {"path", file.path}, {"size", file.bytes.size()}, {"oid", git_oid(file.bytes)}};
      if (file.is_lfs)
        entry["lfs"] = {{"oid", sha256(file.bytes)}, {"size", file.bytes.size()}, {"pointerSize", 130}};
      list.push_back(entry);
    }
    wire.answer(200, {}, list.dump());
  } else {
    wire.answer(404, {"X-Error-Code: RepoNotFound"}, "{\"error\":\"Repository not found\"}");
  }
}

void HubServer::answer_resolve(const HttpQuestion& question, Wire& wire, const ServedFile& file) {
  if (!file.is_lfs) return answer_bytes(question, wire, file.bytes, git_oid(file.bytes));
  const std::string signature = std::to_string(++next_signature_);
  {
    const std::scoped_lock lock(mutex_);
    signatures_[signature] = expiry_;
  }
  wire.answer(302,
              {"Location: " + storage() + "/" + file.path + "?signature=" + signature,
               "X-Repo-Commit: " + commit(), "X-Linked-Etag: \"" + sha256(file.bytes) + "\"",
               "X-Linked-Size: " + std::to_string(file.bytes.size())},
              "", question.method == "HEAD");
}

void HubServer::answer_bytes(const HttpQuestion& question, Wire& wire, const QByteArray& bytes,
                             const std::string& etag) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::string condition = question.field("if-range");
  const bool ranged = question.begin >= 0 && (condition.empty() || condition == "\"" + etag + "\"");
  const std::int64_t begin = ranged ? question.begin : 0, end = ranged ? std::min(question.end, size) : size;
  std::string head = ranged ? "HTTP/1.1 206 x\r\n" : "HTTP/1.1 200 x\r\n";
  if (ranged)
    head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" +
            std::to_string(size) + "\r\n";
  head += "ETag: \"" + etag + "\"\r\nContent-Length: " + std::to_string(end - begin) + "\r\n\r\n";
  if (!wire.send(head) || question.method == "HEAD") return;
  constexpr std::int64_t piece = 32 << 10;
  for (std::int64_t at = begin; at < end && !ends_; at += piece) {
    const std::int64_t count = std::min(piece, end - at);
    if (!wire.send(std::string(bytes.constData() + at, static_cast<std::size_t>(count)))) return;
    bytes_sent_ += count;
    if (bytes_per_s_ > 0) wire.sleep_ms(static_cast<int>(count * 1000 / bytes_per_s_));
  }
}

}  // namespace fovea::tests
