#include "app/server/activity.h"

#include <algorithm>
#include <spdlog/fmt/fmt.h>

namespace fovea::app {
namespace {

double rate(std::int64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

}  // namespace

Activity::Seat::Seat(Activity& activity, const std::string& model, std::int64_t context)
    : activity_(activity) {
  const std::scoped_lock lock(activity_.mutex_);
  auto& slots = activity_.slots_;
  const auto free = std::ranges::find(slots, false, &Slot::is_busy);
  slot_ = static_cast<std::size_t>(free - slots.begin());
  if (free == slots.end()) slots.emplace_back();
  Slot& slot = slots[slot_];
  slot = {.is_busy = true, .model = model, .context = context, .tasks = slot.tasks + 1};
}

Activity::Seat::~Seat() {
  const std::scoped_lock lock(activity_.mutex_);
  activity_.slots_[slot_].is_busy = false;
}

void Activity::Seat::add(const GenerateResult& result) {
  const Timings& times = result.timings;
  const std::scoped_lock lock(activity_.mutex_);
  if (result.bits_per_use > 0) {
    activity_.answer_bits_ += result.bits_per_use * static_cast<double>(times.generated_tokens);
    activity_.moved_tokens_ += times.generated_tokens;
  }
  ++activity_.answers_;
  activity_.prompt_tokens_ += times.prompt_tokens - times.reused_tokens;
  activity_.prompt_seconds_ += times.prefill_seconds;
  activity_.answer_tokens_ += times.generated_tokens;
  activity_.answer_seconds_ += times.decode_seconds;
}

void Activity::Seat::add_embeddings(std::int64_t tokens, double seconds) {
  const std::scoped_lock lock(activity_.mutex_);
  activity_.prompt_tokens_ += tokens;
  activity_.prompt_seconds_ += seconds;
}

Json Activity::slots() const {
  const std::scoped_lock lock(mutex_);
  Json list = Json::array();
  for (const Slot& slot : slots_)
    list.push_back({{"id", list.size()},
                    {"id_task", slot.tasks - 1},
                    {"n_ctx", slot.context},
                    {"is_processing", slot.is_busy},
                    {"model", slot.model}});
  return list;
}

std::size_t Activity::busy() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count(slots_, true, &Slot::is_busy));
}

std::string Activity::metrics(std::size_t waiting, std::size_t connections) const {
  const std::size_t processing = busy();
  const std::scoped_lock lock(mutex_);
  std::string text;
  const auto add = [&](const char* name, const char* type, const char* help, double value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  add("llamacpp:prompt_tokens_total", "counter", "Tokens of prompts that were read.",
      static_cast<double>(prompt_tokens_));
  add("llamacpp:prompt_seconds_total", "counter", "Seconds that this took.", prompt_seconds_);
  add("llamacpp:tokens_predicted_total", "counter", "Tokens of answers.",
      static_cast<double>(answer_tokens_));
  add("llamacpp:tokens_predicted_seconds_total", "counter", "Seconds that these took.", answer_seconds_);
  add("llamacpp:prompt_tokens_seconds", "gauge", "Tokens of prompts a second.",
      rate(prompt_tokens_, prompt_seconds_));
  add("llamacpp:predicted_tokens_seconds", "gauge", "Tokens of answers a second.",
      rate(answer_tokens_, answer_seconds_));
  add("llamacpp:requests_processing", "gauge", "Requests that are being answered.",
      static_cast<double>(processing));
  add("llamacpp:requests_deferred", "gauge", "Requests that wait.", static_cast<double>(waiting));
  add("fovea:connections", "gauge", "Connections that are open.", static_cast<double>(connections));
  add("fovea:answers_total", "counter", "Answers that were finished.", static_cast<double>(answers_));
  if (moved_tokens_ > 0)
    add("fovea:bits_per_use", "gauge", "Mean bits per weight of what wrote the answers' tokens.",
        answer_bits_ / static_cast<double>(moved_tokens_));
  return text;
}

}  // namespace fovea::app
