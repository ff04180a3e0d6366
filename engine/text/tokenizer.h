// Text to token ids and back, equal to Hugging Face tokenizers id by id. Immutable after construction.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/text.h"
#include "engine/checkpoint/checkpoint.h"

namespace fovea::text {

class Tokenizer {
 public:
  // From tokenizer.json (and tokenizer_config.json) or from GGUF's tokenizer.ggml.* keys.
  static Result<Tokenizer> open(const checkpoint::Checkpoint&);
  // `file` names the source in errors. tokenizer_config may be an empty object.
  static Result<Tokenizer> from_json(std::string_view tokenizer_json, const nlohmann::json& tokenizer_config,
                                     const std::filesystem::path& file);
  static Result<Tokenizer> from_metadata(const checkpoint::Metadata&, const std::filesystem::path& file);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  std::string decode(std::span<const TokenId> tokens, bool show_special = false) const;

  std::int64_t vocabulary() const;
  std::string piece(TokenId) const;      // the token's bytes (may be part of a character)
  std::string_view name(TokenId) const;  // as the vocabulary spells it
  bool is_control(TokenId) const;
  TokenId find(std::string_view name) const;  // as the vocabulary spells it; -1: none. Slow
  TokenId bos() const;                        // -1: none
  TokenId eos() const;
  std::optional<TokenId> begin() const;                   // the first that add_special puts before every text
  bool adds_bos() const;                                  // encode with add_special begins with bos
  const std::vector<TokenId>& end_of_generation() const;  // eos, eot and what generation_config names

  struct Parts;

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

// Tokens to text as they stream: never half a character, never a finished one held back. Control tokens add
// nothing. An invalid byte sequence becomes U+FFFD, as in decode(); only where a vocabulary spells bytes as
// <0xXX> and a run of them is invalid does decode() turn the whole run into U+FFFD, which a stream cannot
// know.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  std::string push(TokenId token);
  std::string finish();  // what is left, with an unfinished character as U+FFFD; then a new text may begin
  std::size_t held() const { return pending_.size(); }  // bytes

 private:
  std::string take_pending(bool at_end);

  const Tokenizer* tokenizer_;
  std::string pending_;  // bytes of an unfinished character
  bool first_ = true;    // nothing was decoded yet
  std::size_t stripped_ = 0;
  bool stripping_ = true;
};

}  // namespace fovea::text
