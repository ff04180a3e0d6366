// Tokeniser and chat template of a model, without its weights. Immutable and safe to share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea {

using TokenId = std::int32_t;

struct EncodeOptions {
  bool add_special = false;    // the tokeniser's own BOS / EOS or template
  bool parse_special = false;  // "<|im_end|>" in the text becomes the control token; else it is text
};

struct Message {
  std::string role;               // "system", "user", "assistant", "tool"
  std::string content;            // of an assistant with its thoughts and calls, as GenerateResult::text
  std::string tool_call_id = {};  // of a "tool" message: the call that it answers, where calls have ids, …
  std::string tool_name = {};     // … and the function's name
};

class TextModel {
 public:
  // A GGUF (a vocabulary-only file will do) or a Hugging Face folder.
  static Result<std::shared_ptr<const TextModel>> open(const std::filesystem::path& model);

  ~TextModel();
  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  // The first token that encode() with add_special puts before every text; none: it puts none there.
  std::optional<TokenId> begin() const;
  // What stands where nothing is before a text: the begin of text, where the vocabulary has none its end;
  // none: it has neither.
  std::optional<TokenId> before_text() const;
  std::string decode(std::span<const TokenId> tokens, bool show_special = false) const;
  std::string piece(TokenId token) const;  // the token's bytes; control tokens by name
  std::int64_t vocabulary() const;

  bool has_chat_template() const;
  // messages, tools: JSON texts. variables: a JSON object that adds to or overrides what the template sees.
  Result<std::string> render(std::string_view messages_json, bool add_generation_prompt,
                             std::string_view tools_json = {}, std::string_view variables_json = {}) const;
  // The same with another template's source. where: its place in errors; empty: "chat template".
  Result<std::string> render_with(std::string_view template_source, std::string_view messages_json,
                                  bool add_generation_prompt, std::string_view tools_json = {},
                                  std::string_view variables_json = {}, Phrase where = {}) const;

  struct Parts;
  explicit TextModel(std::unique_ptr<Parts> parts);
  const Parts& parts() const { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

// A template alone, with no model: bos and eos are empty unless `variables_json` gives them. where: as above.
Result<std::string> render_template(std::string_view template_source, std::string_view messages_json,
                                    bool add_generation_prompt, std::string_view tools_json = {},
                                    std::string_view variables_json = {}, Phrase where = {});

}  // namespace fovea
