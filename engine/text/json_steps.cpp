#include "engine/text/json_steps.h"

#include <utility>

#include "engine/text/character_class.h"
#include "engine/text/json_fields.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

using nlohmann::json;

bool is_number(char32_t c) {
  return (character_classes()[c] & class_number) != 0;
}

bool from_base64(std::string_view text, std::string& bytes) {
  while (text.ends_with('=')) text.remove_suffix(1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == alphabet.npos) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return true;
}

// The members of a "Sequence".
Result<const json*> members(const json& step, const char* key, const Phrase& where) {
  const auto it = step.find(key);
  if (it == step.end() || !it->is_array()) return fail(where, errors::tokenizer_no_members(key));
  return &*it;
}

struct Pattern {
  std::string text;
  bool regex;
};

Result<Pattern> read_pattern(const json& step, const Phrase& where) {
  const auto it = step.find("pattern");
  if (it != step.end() && it->is_object()) {
    for (const char* const key : {"String", "Regex"}) {
      if (!it->contains(key)) continue;
      FOVEA_TRY(std::string text, string_field(*it, key, where));
      return Pattern{std::move(text), key[0] == 'R'};
    }
  }
  return fail(where, errors::tokenizer_pattern());
}

Result<SplitBehavior> read_behavior(const json& step, const Phrase& where) {
  FOVEA_TRY(const std::string name, string_field_or(step, "behavior", "Isolated", where));
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  return fail(where, errors::tokenizer_behavior(name));
}

Result<SplitStep> read_split(const json& step, const Phrase& where) {
  FOVEA_TRY(Pattern pattern, read_pattern(step, where));
  SplitStep split{.pattern = Literal{pattern.text}};
  if (pattern.regex) {
    FOVEA_TRY(split, split_by(pattern.text, where));
  }
  FOVEA_TRY(split.behavior, read_behavior(step, where));
  FOVEA_TRY(split.invert, flag_field(step, "invert", false, where));
  return split;
}

// "prepend_scheme", or in older files "add_prefix_space".
Result<MetaspaceStep> read_metaspace(const json& step, const Phrase& where) {
  MetaspaceStep metaspace;
  FOVEA_TRY(metaspace.replacement, string_field_or(step, "replacement", metaspace.replacement, where));
  if (metaspace.replacement.empty()) return fail(where, errors::tokenizer_empty_field("replacement"));
  FOVEA_TRY(metaspace.split, flag_field(step, "split", true, where));
  FOVEA_TRY(const bool prefix, flag_field(step, "add_prefix_space", true, where));
  FOVEA_TRY(const std::string scheme,
            string_field_or(step, "prepend_scheme", prefix ? "always" : "never", where));
  if (scheme == "always") {
    metaspace.prepend = MetaspaceStep::Prepend::always;
  } else if (scheme == "first") {
    metaspace.prepend = MetaspaceStep::Prepend::first;
  } else if (scheme == "never") {
    metaspace.prepend = MetaspaceStep::Prepend::never;
  } else {
    return fail(where, errors::tokenizer_scheme(scheme));
  }
  return metaspace;
}

void split_characters(Tokenizer::Parts& parts, bool (*test)(char32_t), SplitBehavior behavior) {
  parts.pretokenize.emplace_back(SplitStep{.pattern = CharacterTest{test, false}, .behavior = behavior});
}

Result<void> read_byte_level(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const bool prefix, flag_field(step, "add_prefix_space", true, where));
  FOVEA_TRY(const bool regex, flag_field(step, "use_regex", true, where));
  if (prefix) parts.pretokenize.emplace_back(PrefixSpaceStep{});
  if (regex) {
    FOVEA_TRY(SplitStep split, split_by(gpt2_pattern, where));
    parts.pretokenize.emplace_back(std::move(split));
  }
  return {};
}

// "precompiled_charsmap" in base 64.
Result<void> read_character_map(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const std::string encoded, string_field(step, "precompiled_charsmap", where));
  if (encoded.empty()) return {};
  std::string bytes;
  if (!from_base64(encoded, bytes)) return fail(where, errors::tokenizer_charsmap());
  FOVEA_TRY(CharacterMap map, CharacterMap::parse(bytes, where));
  parts.normalize.emplace_back(CharacterMapStep{.map = std::move(map), .by_grapheme = true});
  return {};
}

Result<void> read_bert_normalizer(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const bool clean, flag_field(step, "clean_text", true, where));
  FOVEA_TRY(const bool han, flag_field(step, "handle_chinese_chars", true, where));
  FOVEA_TRY(const bool lowercase, flag_field(step, "lowercase", true, where));
  FOVEA_TRY(const bool strip, flag_field(step, "strip_accents", lowercase, where));
  add_bert_normalizer({.clean = clean, .han = han, .strip_accents = strip, .lowercase = lowercase},
                      parts.normalize);
  return {};
}

}  // namespace

Result<void> read_normalizer(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  using enum UnicodeForm::Form;
  FOVEA_TRY(const std::string type, type_field(step, where));
  std::vector<NormalizeStep>& steps = parts.normalize;
  if (type.empty()) return {};
  if (type == "NFC") {
    steps.emplace_back(UnicodeForm{nfc});
  } else if (type == "NFD") {
    steps.emplace_back(UnicodeForm{nfd});
  } else if (type == "NFKC") {
    steps.emplace_back(UnicodeForm{nfkc});
  } else if (type == "NFKD") {
    steps.emplace_back(UnicodeForm{nfkd});
  } else if (type == "Lowercase") {
    steps.emplace_back(LowercaseStep{});
  } else if (type == "StripAccents") {
    steps.emplace_back(StripAccentsStep{});
  } else if (type == "Strip") {
    FOVEA_TRY(const bool left, flag_field(step, "strip_left", true, where));
    FOVEA_TRY(const bool right, flag_field(step, "strip_right", true, where));
    steps.emplace_back(StripStep{left, right});
  } else if (type == "Prepend") {
    FOVEA_TRY(std::string text, string_field(step, "prepend", where));
    steps.emplace_back(PrependStep{std::move(text)});
  } else if (type == "Replace") {
    FOVEA_TRY(Pattern pattern, read_pattern(step, where));
    FOVEA_TRY(std::string content, string_field(step, "content", where));
    if (pattern.regex) {
      FOVEA_TRY(Regex regex, Regex::compile(pattern.text, where));
      steps.emplace_back(ReplaceRegexStep{std::move(regex), std::move(content)});
    } else {
      steps.emplace_back(ReplaceTextStep{std::move(pattern.text), std::move(content)});
    }
  } else if (type == "Precompiled") {
    return read_character_map(step, where, parts);
  } else if (type == "BertNormalizer") {
    return read_bert_normalizer(step, where, parts);
  } else if (type == "Sequence") {
    FOVEA_TRY(const json* const list, members(step, "normalizers", where));
    for (const json& member : *list) {
      if (member.is_object() && member.contains("normalizers"))
        return fail(where, errors::tokenizer_nested_sequence());
      FOVEA_CHECK(read_normalizer(member, where, parts));
    }
  } else {
    return fail(where, errors::tokenizer_unknown_step(type));
  }
  return {};
}

Result<void> read_pretokenizer(const json& step, const Phrase& where, Tokenizer::Parts& parts,
                               bool& byte_level) {
  FOVEA_TRY(const std::string type, type_field(step, where));
  if (type.empty()) return {};
  if (byte_level) return fail(where, errors::tokenizer_behind_bytes(type));
  if (type == "ByteLevel") {
    byte_level = true;
    return read_byte_level(step, where, parts);
  }
  if (type == "Split") {
    FOVEA_TRY(SplitStep split, read_split(step, where));
    parts.pretokenize.emplace_back(std::move(split));
  } else if (type == "Digits") {
    FOVEA_TRY(const bool individual, flag_field(step, "individual_digits", false, where));
    split_characters(parts, is_number, individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
  } else if (type == "Metaspace") {
    FOVEA_TRY(MetaspaceStep metaspace, read_metaspace(step, where));
    parts.pretokenize.emplace_back(std::move(metaspace));
  } else if (type == "Whitespace") {
    split_characters(parts, is_space, SplitBehavior::removed);
    split_characters(parts, is_word_character, SplitBehavior::contiguous);
  } else if (type == "WhitespaceSplit") {
    split_characters(parts, is_space, SplitBehavior::removed);
  } else if (type == "BertPreTokenizer") {
    add_bert_words(parts.pretokenize);
  } else if (type == "Punctuation") {
    FOVEA_TRY(const SplitBehavior behavior, read_behavior(step, where));
    split_characters(parts, is_bert_punctuation, behavior);
  } else if (type == "CharDelimiterSplit") {
    FOVEA_TRY(std::string delimiter, string_field(step, "delimiter", where));
    parts.pretokenize.emplace_back(
        SplitStep{.pattern = Literal{std::move(delimiter)}, .behavior = SplitBehavior::removed});
  } else if (type == "FixedLength") {
    FOVEA_TRY(const std::int64_t length, count_field(step, "length", 5, 1 << 20, where));
    if (length == 0) return fail(where, errors::tokenizer_length());
    parts.pretokenize.emplace_back(FixedLengthStep{static_cast<std::size_t>(length)});
  } else if (type == "Sequence") {
    FOVEA_TRY(const json* const list, members(step, "pretokenizers", where));
    for (const json& member : *list) {
      if (member.is_object() && member.contains("pretokenizers"))
        return fail(where, errors::tokenizer_nested_sequence());
      FOVEA_CHECK(read_pretokenizer(member, where, parts, byte_level));
    }
  } else {
    return fail(where, errors::tokenizer_unknown_step(type));
  }
  return {};
}

namespace {

struct DecoderReader {
  DecodePlan& plan;
  const Phrase& where;
  bool fused = false;

  Result<void> strip(const json& step) {
    FOVEA_TRY(std::string character, string_field(step, "content", where));
    FOVEA_TRY(const std::int64_t left, count_field(step, "start", 0, 1 << 10, where));
    FOVEA_TRY(const std::int64_t right, count_field(step, "stop", 0, 1 << 10, where));
    if (character.empty()) return fail(where, errors::tokenizer_empty_field("content"));
    if (!fused) {
      plan.steps.emplace_back(
          DecodeStrip{std::move(character), static_cast<std::size_t>(left), static_cast<std::size_t>(right)});
      return {};
    }
    if (right != 0 || plan.strip_left != 0) return fail(where, errors::tokenizer_strip_at_end());
    plan.strip_character = std::move(character);
    plan.strip_left = static_cast<std::size_t>(left);
    return {};
  }

  Result<void> replace(const json& step) {
    FOVEA_TRY(Pattern pattern, read_pattern(step, where));
    FOVEA_TRY(std::string content, string_field(step, "content", where));
    if (pattern.regex) return fail(where, errors::tokenizer_replace_regex());
    if (fused) return fail(where, errors::tokenizer_replace_fused());
    plan.steps.emplace_back(DecodeReplace{std::move(pattern.text), std::move(content)});
    return {};
  }

  Result<void> read(const json& step) {
    FOVEA_TRY(const std::string type, type_field(step, where));
    if (plan.byte_level) return fail(where, errors::tokenizer_beside_bytes(type));
    if (type == "ByteLevel") {
      if (!plan.steps.empty() || fused || plan.byte_fallback)
        return fail(where, errors::tokenizer_bytes_beside());
      plan.byte_level = true;
    } else if (type == "ByteFallback") {
      plan.byte_fallback = true;
    } else if (type == "Fuse") {
      fused = true;
    } else if (type == "Strip") {
      return strip(step);
    } else if (type == "Replace") {
      return replace(step);
    } else if (type == "Metaspace") {
      FOVEA_TRY(const MetaspaceStep metaspace, read_metaspace(step, where));
      plan.steps.emplace_back(
          DecodeMetaspace{metaspace.replacement, metaspace.prepend != MetaspaceStep::Prepend::never});
    } else if (type == "WordPiece") {
      FOVEA_TRY(std::string prefix, string_field_or(step, "prefix", "##", where));
      FOVEA_TRY(const bool cleanup, flag_field(step, "cleanup", true, where));
      plan.steps.emplace_back(DecodeWordPiece{std::move(prefix), cleanup});
    } else if (type == "BPEDecoder") {
      FOVEA_TRY(std::string suffix, string_field_or(step, "suffix", "</w>", where));
      plan.steps.emplace_back(DecodeSuffix{std::move(suffix)});
    } else {
      return fail(where, errors::tokenizer_unknown_step(type));
    }
    return {};
  }
};

}  // namespace

Result<void> read_decoder(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const std::string type, type_field(step, where));
  if (type.empty()) {
    parts.decode.join_with_space = true;
    return {};
  }
  DecoderReader reader{parts.decode, where};
  if (type != "Sequence") return reader.read(step);
  FOVEA_TRY(const json* const list, members(step, "decoders", where));
  for (const json& member : *list) FOVEA_CHECK(reader.read(member));
  return {};
}

namespace {

Result<void> read_template(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const json* const single, members(step, "single", where));
  bool behind_text = false;
  for (const json& item : *single) {
    if (item.is_object() && item.contains("Sequence")) {
      if (behind_text) return fail(where, errors::tokenizer_text_twice());
      behind_text = true;
      continue;
    }
    if (!item.is_object() || !item.contains("SpecialToken") || !item["SpecialToken"].is_object())
      return fail(where, errors::tokenizer_template_item());
    FOVEA_TRY(const std::string name, string_field(item["SpecialToken"], "id", where));
    const json* const tokens = step.contains("special_tokens") ? &step["special_tokens"] : nullptr;
    const bool known = tokens && tokens->is_object() && tokens->contains(name) &&
                       (*tokens)[name].is_object() && (*tokens)[name].contains("ids") &&
                       (*tokens)[name]["ids"].is_array();
    if (!known) return fail(where, errors::tokenizer_template_token(name));
    for (const json& id : (*tokens)[name]["ids"]) {
      if (!id.is_number_unsigned() ||
          id.get<std::uint64_t>() >= static_cast<std::uint64_t>(parts.vocabulary.size()))
        return fail(where, errors::tokenizer_template_id(name));
      (behind_text ? parts.after : parts.before).push_back(id.get<TokenId>());
    }
  }
  if (!behind_text) return fail(where, errors::tokenizer_text_left_out());
  return {};
}

// BertProcessing and RobertaProcessing: "cls" before and "sep" behind, each [text, id].
Result<void> read_pair(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  for (const char* const key : {"cls", "sep"}) {
    const auto it = step.find(key);
    if (it == step.end() || !it->is_array() || it->size() != 2 || !(*it)[1].is_number_unsigned() ||
        (*it)[1].get<std::uint64_t>() >= static_cast<std::uint64_t>(parts.vocabulary.size()))
      return fail(where, errors::tokenizer_pair(key));
    (key[0] == 'c' ? parts.before : parts.after).push_back((*it)[1].get<TokenId>());
  }
  return {};
}

}  // namespace

Result<void> read_postprocessor(const json& step, const Phrase& where, Tokenizer::Parts& parts) {
  FOVEA_TRY(const std::string type, type_field(step, where));
  if (type.empty() || type == "ByteLevel") return {};  // ByteLevel only corrects offsets
  if (type == "TemplateProcessing") return read_template(step, where, parts);
  if (type == "BertProcessing" || type == "RobertaProcessing") return read_pair(step, where, parts);
  if (type != "Sequence") return fail(where, errors::tokenizer_unknown_step(type));
  FOVEA_TRY(const json* const list, members(step, "processors", where));
  for (const json& member : *list) {
    if (member.is_object() && member.contains("processors"))
      return fail(where, errors::tokenizer_nested_sequence());
    FOVEA_CHECK(read_postprocessor(member, where, parts));
  }
  return {};
}

}  // namespace fovea::text
