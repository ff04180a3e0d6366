#include <utility>

#include "engine/text/tokenizer_parts.h"
#include "engine/text/utf8.h"

namespace fovea::text {

// The whole characters of the pending bytes; an unfinished one stays unless nothing can finish it.
std::string StreamDecoder::take_pending(bool at_end) {
  const bool byte_by_byte = !tokenizer_->parts_->decode.byte_level;
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Prefix prefix = utf8_prefix(rest);
    if (prefix.kind == Utf8Prefix::Kind::unfinished && !at_end) break;
    std::size_t bytes = prefix.bytes;
    if (prefix.kind == Utf8Prefix::Kind::valid) {
      out += rest.substr(0, bytes);
    } else {
      if (byte_by_byte) bytes = 1;
      out += "\xEF\xBF\xBD";
    }
    rest.remove_prefix(bytes);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return out;
}

std::string StreamDecoder::push(TokenId token) {
  const Tokenizer::Parts& parts = *tokenizer_->parts_;
  if (!parts.vocabulary.has(token) || tokenizer_->is_control(token)) return {};
  const DecodedToken decoded = decode_token(parts.decode, tokenizer_->name(token), first_, false);
  first_ = false;
  std::string out;
  if (decoded.bytes) {
    pending_ += decoded.text;
    out = take_pending(false);
  } else {
    out = take_pending(true);
    out += decoded.text;
  }
  while (stripping_ && !out.empty()) {
    stripping_ = stripped_ < parts.decode.strip_left && out.starts_with(parts.decode.strip_character);
    if (!stripping_) break;
    out.erase(0, parts.decode.strip_character.size());
    ++stripped_;
  }
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = take_pending(true);
  *this = StreamDecoder(*tokenizer_);
  return out;
}

}  // namespace fovea::text
