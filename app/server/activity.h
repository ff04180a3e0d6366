// What the server does and has done, for /slots and /metrics.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "app/server/json_fields.h"
#include "engine/api/request.h"

namespace fovea::app {

class Activity {
 public:
  explicit Activity(int slots) : slots_(static_cast<std::size_t>(slots)) {}

  // One request that is being answered, for as long as it lives.
  class Seat {
   public:
    Seat(Activity& activity, const std::string& model, std::int64_t context);
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    void add(const GenerateResult& result);                    // a finished answer
    void add_embeddings(std::int64_t tokens, double seconds);  // and texts that were only read

   private:
    Activity& activity_;
    std::size_t slot_ = 0;
  };

  Json slots() const;
  // In Prometheus' text format, by llama.cpp's names. waiting: requests without a slot.
  std::string metrics(std::size_t waiting, std::size_t connections) const;
  std::size_t busy() const;

 private:
  struct Slot {
    bool is_busy = false;
    std::string model;
    std::int64_t context = 0;
    std::int64_t tasks = 0;  // that it had
  };

  mutable std::mutex mutex_;  // guards all below
  std::vector<Slot> slots_;
  std::int64_t prompt_tokens_ = 0, answer_tokens_ = 0, answers_ = 0;
  double prompt_seconds_ = 0, answer_seconds_ = 0;
  double answer_bits_ = 0;         // Σ over these of their tokens' mean bits per use, …
  std::int64_t moved_tokens_ = 0;  // … where a policy moves what they use
};

}  // namespace fovea::app
