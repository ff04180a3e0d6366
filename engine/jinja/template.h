// A Jinja interpreter for chat templates: what they use of the language, equal byte for byte to jinja2 with
// Hugging Face's settings (trim_blocks, lstrip_blocks, loop controls, generation blocks, an immutable
// sandbox, no escaping).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/error.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

struct Limits {
  std::int64_t steps = 5'000'000;
  int depth = 200;
  std::int64_t output_bytes = 64 << 20;  // of the output, and of any value made on the way
};

constexpr int max_value_height = 200;  // levels of lists and dicts in each other

struct Clock {
  std::int64_t unix_seconds = -1;  // what strftime_now shows, in local time; the present if negative
};

struct Tree;

class Template {
 public:
  static Result<Template> parse(std::string_view source, std::string where);

  using Variables = std::vector<std::pair<std::string, Value>>;
  // Any number of threads may render one template.
  Result<std::string> render(const Variables&, const Limits& = {}, const Clock& = {}) const;

 private:
  Template(std::shared_ptr<const Tree> tree, std::string where)
      : tree_(std::move(tree)), where_(std::move(where)) {}

  std::shared_ptr<const Tree> tree_;
  std::string where_;
};

}  // namespace fovea::jinja
