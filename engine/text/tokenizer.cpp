#include "engine/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/result.h"
#include "engine/text/errors.h"
#include "engine/text/tokenizer_parts.h"
#include "engine/text/utf8.h"

namespace fovea::text {
Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::open(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.format() == checkpoint::Format::gguf)
    return from_metadata(checkpoint.metadata(), checkpoint.path());
  const std::filesystem::path file = checkpoint.path() / "tokenizer.json";
  if (checkpoint.tokenizer_json().empty())
    return fail(phrases::file_place(file), errors::tokenizer_missing());
  FOVEA_TRY(Tokenizer tokenizer, from_json(checkpoint.tokenizer_json(), checkpoint.tokenizer_config(), file));
  add_ends_of(checkpoint.generation_config(), *tokenizer.parts_);
  return tokenizer;
}

void Tokenizer::Parts::encode_words(std::string_view text, bool at_start, std::vector<TokenId>& out,
                                    BpeScratch& scratch, Words& words) const {
  if (text.empty()) return;  // the normaliser left nothing: no prefix either
  words.list.assign(1, Word{text, at_start});
  for (const PretokenizeStep& step : pretokenize) apply(step, words);
  for (const Word& word : words.list) {
    if (word.text.empty()) continue;
    if (const auto* const bpe = std::get_if<Bpe>(&model)) {
      bpe->encode(vocabulary, word.text, out, scratch);
    } else if (const auto* const unigram = std::get_if<Unigram>(&model)) {
      unigram->encode(word.text, out);
    } else if (const auto* const pieces = std::get_if<WordPiece>(&model)) {
      pieces->encode(vocabulary, word.text, out);
    } else if (const auto* const words_only = std::get_if<WordLevel>(&model)) {
      words_only->encode(vocabulary, word.text, out);
    }
  }
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const Parts& p = *parts_;
  std::string repaired;
  if (valid_utf8_prefix(text) != text.size()) {
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  std::vector<TokenId> out;
  out.reserve(text.size() / 4 + p.before.size() + p.after.size());
  if (options.add_special) out = p.before;
  BpeScratch scratch(text.size());
  Words words;                         // keeps changed text alive for the scratch's memory of words
  std::deque<std::string> normalized;  // likewise
  std::vector<AddedTokens::Part> parts;
  std::vector<AddedTokens::Part> inner;
  p.added.split(text, options.parse_special, parts);
  for (const AddedTokens::Part& part : parts) {
    if (part.id >= 0) {
      out.push_back(part.id);
      continue;
    }
    const bool at_start = part.text.data() == text.data();
    std::string_view plain = part.text;
    if (std::string changed; normalize(p.normalize, plain, changed))
      plain = normalized.emplace_back(std::move(changed));
    if (p.added_normalized.empty()) {
      p.encode_words(plain, at_start, out, scratch, words);
      continue;
    }
    inner.clear();
    p.added_normalized.split(plain, options.parse_special, inner);
    for (const AddedTokens::Part& piece : inner) {
      if (piece.id >= 0) {
        out.push_back(piece.id);
      } else {
        p.encode_words(piece.text, at_start && piece.text.data() == plain.data(), out, scratch, words);
      }
    }
  }
  if (options.add_special) out.insert(out.end(), p.after.begin(), p.after.end());
  return out;
}

std::string Tokenizer::decode(std::span<const TokenId> tokens, bool show_special) const {
  const Parts& p = *parts_;
  std::string out;
  std::string bytes;  // of byte tokens, until something else follows
  const auto flush = [&] {
    if (valid_utf8_prefix(bytes) == bytes.size()) {
      out += bytes;
    } else if (p.decode.byte_level) {
      out += replace_invalid_utf8(bytes);
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) out += "\xEF\xBF\xBD";
    }
    bytes.clear();
  };
  std::vector<TokenId> shown;
  for (const TokenId token : tokens) {
    if (p.vocabulary.has(token) && (show_special || !is_control(token))) shown.push_back(token);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const DecodedToken decoded = decode_token(p.decode, name(shown[i]), i == 0, i + 1 == shown.size());
    if (decoded.bytes) {
      bytes += decoded.text;
    } else {
      flush();
      out += decoded.text;
    }
  }
  flush();
  for (std::size_t i = 0; i < p.decode.strip_left && out.starts_with(p.decode.strip_character); ++i)
    out.erase(0, p.decode.strip_character.size());
  return out;
}

std::int64_t Tokenizer::vocabulary() const {
  return parts_->vocabulary.size();
}

std::string_view Tokenizer::name(TokenId token) const {
  return parts_->vocabulary.has(token) ? parts_->vocabulary.text(token) : std::string_view();
}

std::string Tokenizer::piece(TokenId token) const {
  if (is_control(token)) return std::string(name(token));
  return decode_token(parts_->decode, name(token), false, false).text;
}

bool Tokenizer::is_control(TokenId token) const {
  return parts_->vocabulary.has(token) && parts_->control[static_cast<std::size_t>(token)];
}

TokenId Tokenizer::find(std::string_view name) const {
  // Not Vocabulary::find: added tokens are not in its index.
  TokenId found = -1;
  for (TokenId id = 0; id < parts_->vocabulary.size(); ++id) {
    if (this->name(id) == name && (found < 0 || is_control(id))) found = id;
  }
  return found;
}

TokenId Tokenizer::bos() const {
  return parts_->bos;
}
TokenId Tokenizer::eos() const {
  return parts_->eos;
}
std::optional<TokenId> Tokenizer::begin() const {
  if (parts_->before.empty()) return {};
  return parts_->before.front();
}
bool Tokenizer::adds_bos() const {
  return parts_->bos >= 0 && begin() == parts_->bos;
}
const std::vector<TokenId>& Tokenizer::end_of_generation() const {
  return parts_->end_of_generation;
}

}  // namespace fovea::text
