// OpenAI's responses: /v1/responses. A request may go on from an earlier response by its id, which can be
// fetched and deleted by it, too.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/server/answering.h"
#include "app/server/json_fields.h"

namespace fovea::app {

using CallNames = std::map<std::string, std::string>;  // functions of calls, by the calls' ids

// What the next response goes on from.
struct KeptResponse {
  std::vector<Message> conversation;  // without the instructions, which the next one does not inherit
  CallNames call_names = {};
  Json response = {};  // as it was told
  Json input = {};     // items, each with an id
};

// Conversations by the id of their last response, in memory for an hour; the oldest give way where they are
// many or large. Any thread may call it.
class ResponseStore {
 public:
  static constexpr std::size_t max_responses = 256;
  static constexpr std::size_t max_bytes = 64 << 20;
  static constexpr std::chrono::hours kept_for{1};
  using Clock = std::chrono::steady_clock;

  explicit ResponseStore(std::function<Clock::time_point()> now = &Clock::now) : now_(std::move(now)) {}
  void put(const std::string& id, KeptResponse response);
  std::optional<KeptResponse> find(const std::string& id);
  bool erase(const std::string& id);  // false: there is none

 private:
  struct Kept {
    std::string id;
    KeptResponse response;
    std::size_t bytes = 0;
    Clock::time_point since;
  };
  void drop_old();

  std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::deque<Kept> kept_;  // guarded by mutex_; the oldest first
  std::size_t bytes_ = 0;  // guarded by mutex_
};

struct ResponsesRequest {
  ChatRequest chat;
  KeptResponse kept;  // with this request's input
  bool is_kept = true;
  Json told;  // what the response repeats of the request
};

// A request's input as the list of its items, each with an id.
Json input_items(const Json& input);
// Of a response, without those of earlier ones; as the query's limit, order and after want them.
Result<Json> list_input_items(const KeptResponse& response, std::string_view query);

const ParameterKinds& responses_parameters();
Result<ResponsesRequest> read_responses(const Json& body, ResponseStore& store);
// The request's own, to answer it.
AnswerStyle responses_style(std::shared_ptr<const ResponsesRequest> request, ResponseStore& store);

}  // namespace fovea::app
