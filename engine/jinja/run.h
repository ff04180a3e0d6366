// One rendering's bounds: steps, depth and sizes. Everything that makes a value pays for it here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/jinja/syntax.h"
#include "engine/jinja/template.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

class Run {
 public:
  explicit Run(const Limits& limits) : limits_(limits), depth_limit_(limits.depth * units_per_level) {}

  int line = 0;  // of what is being evaluated

  [[noreturn]] void fail(Error error) const;

  void step(std::int64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) steps_exhausted();
  }
  // Work on so many bytes or values counts as steps too, so that a step's time is bounded.
  void work(std::size_t bytes) { step(static_cast<std::int64_t>(bytes / 64)); }
  void check_size(std::size_t bytes) const {
    if (static_cast<std::int64_t>(bytes) > limits_.output_bytes) too_large();
  }
  // Before something is made that has `count` parts of `bytes` each.
  void check_size(Int count, std::size_t bytes) const {
    if (count > 0 && bytes > 0 && count > limits_.output_bytes / static_cast<Int>(bytes)) too_large();
  }
  void check_height(int height) const;  // of a value

  Value text(std::string bytes, bool markup = false);
  Value list(std::vector<Value> items, SequenceKind kind = SequenceKind::list);
  Value tuple(std::vector<Value> items) { return list(std::move(items), SequenceKind::tuple); }
  Value dict(Dict);

  // Guards one level of recursion.
  class Level {
   public:
    explicit Level(Run& run, int units = 1) : run_(run), units_(units) {
      run_.depth_ += units_;
      if (run_.depth_ > run_.depth_limit_) {
        run_.depth_ -= units_;
        run_.too_deep();
      }
    }
    ~Level() { run_.depth_ -= units_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Run& run_;
    int units_;
  };

 private:
  // A level of the template takes some calls here: an output, its expression, a macro's call, its body.
  static constexpr int units_per_level = 8;

  [[noreturn]] void steps_exhausted() const;
  [[noreturn]] void too_large() const;
  [[noreturn]] void too_deep() const;

  Limits limits_;
  int depth_limit_;
  int depth_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace fovea::jinja
