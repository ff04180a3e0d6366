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
    void add(const Timings& times);  // of a finished answer

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
};

}  // namespace fovea::app
