// From a protocol's request to its answer: the model is loaded where it is not, the answer is written whole
// or as it comes, errors have the protocol's form.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/server/activity.h"
#include "app/server/chat.h"
#include "app/server/http.h"
#include "app/server/protocol_errors.h"

namespace fovea::app {

// What goes to a client that has its answer streamed. The head goes with the first piece, so that an error
// before it still has a status.
class AnswerStream {
 public:
  AnswerStream(Exchange& exchange, HttpResponse head) : exchange_(exchange), head_(std::move(head)) {}
  // False: the client is gone.
  bool send(std::string_view piece);
  void end();

 private:
  Exchange& exchange_;
  const HttpResponse head_;
};

// "data: …" with an event's name where the protocol has one.
std::string server_sent(std::string_view data, std::string_view event = {});

// What one protocol says of an answer. `stream` is null where the answer is written whole.
class AnswerWriter : public AnswerListener {
 public:
  virtual Json whole(const std::vector<Answer>& answers) = 0;
  virtual void end(const std::vector<Answer>& answers) = 0;  // of a streamed one
  virtual void failed(const Error& error) = 0;               // behind what was streamed
};

struct AnswerStyle {
  Dialect dialect = Dialect::openai;
  std::string content_type = "text/event-stream";  // of streamed answers
  std::function<std::unique_ptr<AnswerWriter>(const ChatRequest&, ServedModel&, AnswerStream* stream)> writer;
};

void answer_chat(Exchange& exchange, ServedModels& models, Activity& activity, Result<ChatRequest> request,
                 const AnswerStyle& style);

// Of all answers together, for `usage`.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t reused_tokens = 0;  // of them
  std::int64_t answer_tokens = 0;
  std::int64_t reasoning_tokens = 0;  // of them: as the tokeniser divides the thoughts' text
};
Usage usage_of(const std::vector<Answer>& answers, const TextModel& text);

// The field that names the tools that were skipped; nothing where none was.
std::vector<HttpField> skipped_field(const ChatRequest& request);

std::int64_t unix_seconds();

}  // namespace fovea::app
