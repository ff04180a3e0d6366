// Jinja chat templates, equal byte for byte to jinja2 with Hugging Face's settings
// (trim_blocks, lstrip_blocks, loop controls, tojson, raise_exception, strftime_now, generation blocks).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::text {

struct RenderLimits {
  std::int64_t steps = 5'000'000;  // evaluated nodes
  int depth = 200;                 // nested expressions, blocks and macro calls
  std::int64_t output_bytes = 64 << 20;
};

// A variable of this name (seconds since 1970) stands for the present in strftime_now; templates do not see
// it.
inline constexpr const char* clock_variable = "fovea_clock";

// What a template reads of what concerns thoughts.
struct ThoughtReads {
  std::vector<std::string> switches;  // variables that say whether the model thinks: true or false
  bool effort = false;                // "reasoning_effort": low, medium, high
  std::string field;                  // of an answer's message, that holds its thoughts; empty: none
  bool in_content = false;            // takes <think>…</think> in an answer's content apart itself
};

class ChatTemplate {
 public:
  // `where` is the source's place in errors; they add the line.
  static Result<ChatTemplate> parse(std::string_view source, Phrase where);

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // variables: an object (messages, tools, add_generation_prompt, bos_token …), in insertion order.
  Result<std::string> render(const nlohmann::ordered_json& variables, const RenderLimits& = {}) const;

  const ThoughtReads& thoughts() const { return thoughts_; }
  // Whether it takes the calls of an answer's message.
  bool reads_calls() const { return reads_calls_; }

  struct Tree;

 private:
  explicit ChatTemplate(std::shared_ptr<const Tree>);
  std::shared_ptr<const Tree> tree_;
  ThoughtReads thoughts_;
  bool reads_calls_ = false;
};

}  // namespace fovea::text
