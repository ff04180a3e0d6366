#include "app/window/token_counter.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/library/background.h"

namespace fovea::app {

std::int64_t prompt_tokens(const TextModel& model, const std::vector<Message>& messages) {
  constexpr std::int64_t template_tokens = 8;  // around each message, about
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Message& message : messages)
    json.push_back({{"role", message.role}, {"content", message.content}});
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  if (const auto rendered = model.render(json.dump(-1, ' ', false, replace), true))
    return std::ssize(model.encode(*rendered, {.add_special = false, .parse_special = true}));
  std::int64_t tokens = 0;
  for (const Message& message : messages)
    tokens += std::ssize(model.encode(message.content)) + template_tokens;
  return tokens;
}

void TokenCounter::count(const std::shared_ptr<const TextModel>& model, std::vector<Message> messages,
                         Done done) {
  const quint64 ticket = ++last_;
  if (!model || messages.empty()) return done(0);
  in_background(
      this, [model, messages = std::move(messages)] { return prompt_tokens(*model, messages); },
      [this, ticket, done = std::move(done)](std::int64_t tokens) {
        if (ticket == last_) done(tokens);
      });
}

}  // namespace fovea::app
