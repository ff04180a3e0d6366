// How many tokens a prompt has, counted beside the engine, which may be busy with another one.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <vector>

#include "engine/api/text.h"

namespace fovea::app {

// As the model's template lays them out, with the beginning of an answer; without a template that takes them,
// about.
std::int64_t prompt_tokens(const TextModel& model, const std::vector<Message>& messages);

// One number that is shown: of several questions for it only the last one is answered.
class TokenCounter : public QObject {
  Q_OBJECT

 public:
  using Done = std::function<void(std::int64_t tokens)>;
  // Without a model or a message: 0, at once.
  void count(const std::shared_ptr<const TextModel>& model, std::vector<Message> messages, Done done);

 private:
  quint64 last_ = 0;
};

}  // namespace fovea::app
