// Reader of GGUF's tokenizer.ggml.* keys.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "engine/core/advice.h"
#include "engine/core/result.h"
#include "engine/text/errors.h"
#include "engine/text/pre_names.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_parts.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

using checkpoint::Metadata;

constexpr std::string_view underline = "\xE2\x96\x81";  // U+2581, SentencePiece's blank

enum TokenType : std::int64_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

struct MetadataReader {
  const Metadata& metadata;
  const std::filesystem::path& file;
  Tokenizer::Parts& parts;
  Phrase where = phrases::file_place(file);
  const std::vector<std::string_view>* tokens = nullptr;
  std::vector<std::int64_t> types = {};

  std::unexpected<Error> wrong(const char* key, Error error) const {
    return fail(phrases::tokenizer_key(file, key), std::move(error));
  }

  Result<void> read() {
    const auto model = metadata.string("tokenizer.ggml.model");
    if (!model) return wrong("tokenizer.ggml.model", errors::tokenizer_key_no_string());
    FOVEA_CHECK(read_tokens(*model == "gemma4"));
    bool adds_bos = false;
    // "gemma4" says both the model and how its words are cut.
    if (*model == "gpt2" || *model == "gemma4") {
      const std::string_view usual = *model == "gemma4" ? *model : "default";
      FOVEA_CHECK(read_byte_pairs(metadata.string("tokenizer.ggml.pre").value_or(usual), adds_bos));
    } else if (*model == "llama") {
      FOVEA_CHECK(read_sentence_piece(adds_bos));
    } else if (*model == "t5") {
      FOVEA_CHECK(read_unigram());
    } else if (*model == "bert") {
      FOVEA_CHECK(read_word_pieces());
    } else {
      return fail(where, errors::tokenizer_unknown(*model));
    }
    add_tokens(*model == "llama" || *model == "t5");
    read_special(*model, adds_bos);
    find_end_of_generation(parts);
    for (const char* const key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
      add_end_of_generation(parts, special_id(key, -1));
    return {};
  }

  Result<void> read_tokens(bool is_gemma4) {
    tokens = metadata.strings("tokenizer.ggml.tokens");
    if (!tokens || tokens->empty()) return wrong("tokenizer.ggml.tokens", errors::tokenizer_key_no_texts());
    if (tokens->size() > static_cast<std::size_t>(largest_vocabulary))
      return wrong("tokenizer.ggml.tokens", errors::tokenizer_many_tokens(largest_vocabulary));
    types = metadata.integers("tokenizer.ggml.token_type");
    if (!types.empty() && types.size() != tokens->size())
      return wrong("tokenizer.ggml.token_type", errors::tokenizer_types(types.size(), tokens->size()));
    types.resize(tokens->size(), normal);
    parts.vocabulary.reserve(tokens->size(), std::accumulate(tokens->begin(), tokens->end(), std::size_t{0},
                                                             [](std::size_t sum, std::string_view text) {
                                                               return sum + text.size() + 1;
                                                             }));
    parts.control.resize(tokens->size());
    for (std::size_t id = 0; id < tokens->size(); ++id) {
      const std::string_view text = (*tokens)[id];
      if (valid_utf8_prefix(text) != text.size()) {
        parts.vocabulary.add(replace_invalid_utf8(text));
      } else {
        parts.vocabulary.add(text);
      }
      // The converter takes Gemma 4's marks of channels and calls for words.
      const bool is_mark =
          is_gemma4 && types[id] == user_defined && (text.starts_with("<|") || text.ends_with("|>"));
      parts.control[id] = types[id] == control || types[id] == unknown || is_mark;
    }
    parts.vocabulary.index();
    return {};
  }

  Result<std::vector<Bpe::Merge>> read_merges() const {
    const auto* const list = metadata.strings("tokenizer.ggml.merges");
    if (!list) return wrong("tokenizer.ggml.merges", errors::tokenizer_key_no_texts());
    std::vector<Bpe::Merge> merges;
    merges.reserve(list->size());
    std::string joined;
    for (std::size_t rank = 0; rank < list->size(); ++rank) {
      const std::string_view text = (*list)[rank];
      const std::size_t space = text.find(' ', 1);
      if (space == text.npos) return wrong("tokenizer.ggml.merges", errors::tokenizer_merge(rank));
      const std::string_view left = text.substr(0, space);
      const std::string_view right = text.substr(space + 1);
      joined.assign(left).append(right);
      const Bpe::Merge merge{.left = parts.vocabulary.find(left),
                             .right = parts.vocabulary.find(right),
                             .joined = parts.vocabulary.find(joined),
                             .rank = static_cast<std::uint32_t>(rank)};
      if (merge.left < 0 || merge.right < 0 || merge.joined < 0)
        return wrong("tokenizer.ggml.merges", errors::tokenizer_merge_of_strangers(rank, left, right));
      merges.push_back(merge);
    }
    return merges;
  }

  Result<void> read_byte_pairs(std::string_view name, bool& adds_bos) {
    const PreTokenizer* const pre = find_pre_tokenizer(name);
    if (!pre) return wrong("tokenizer.ggml.pre", errors::tokenizer_pre(std::string(name)));
    adds_bos = pre->adds_bos;
    if (pre->nfc) parts.normalize.emplace_back(UnicodeForm{UnicodeForm::Form::nfc});
    if (pre->characters) parts.normalize.emplace_back(ReplaceTextStep{" ", std::string(underline)});
    for (const std::string_view pattern : pre->patterns) {
      FOVEA_TRY(SplitStep split, split_by(pattern, where));
      parts.pretokenize.emplace_back(std::move(split));
    }
    FOVEA_TRY(const auto merges, read_merges());
    BpeOptions options;
    options.byte_level = !pre->characters;
    options.ignore_merges = pre->ignore_merges;
    options.byte_fallback = pre->characters;
    parts.model.emplace<Bpe>(parts.vocabulary, std::move(options), merges);
    parts.decode.byte_level = !pre->characters;
    if (pre->characters) decode_underlines(false);
    return {};
  }

  void decode_underlines(bool strip_first) {
    parts.decode.byte_fallback = true;
    parts.decode.steps.emplace_back(DecodeReplace{std::string(underline), " "});
    parts.decode.strip_character = " ";
    parts.decode.strip_left = strip_first ? 1 : 0;
  }

  // SentencePiece knows no list of merges: two neighbours join when their text is a piece, the piece with the
  // highest score first. Every way to cut a piece in two is a merge with the rank of its score.
  Result<std::vector<Bpe::Merge>> merges_from_scores() const {
    const std::vector<double> scores = metadata.numbers("tokenizer.ggml.scores");
    if (scores.size() != tokens->size())
      return wrong("tokenizer.ggml.scores", errors::tokenizer_scores(scores.size(), tokens->size()));
    std::vector<TokenId> order;
    for (TokenId id = 0; id < parts.vocabulary.size(); ++id) {
      const auto at = static_cast<std::size_t>(id);
      if (std::isnan(scores[at])) return wrong("tokenizer.ggml.scores", errors::tokenizer_score(id));
      if ((types[at] == normal || types[at] == user_defined) &&
          parts.vocabulary.text(id).size() <= longest_piece)
        order.push_back(id);
    }
    std::ranges::stable_sort(order, [&](TokenId a, TokenId b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    std::vector<Bpe::Merge> merges;
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 &&
          scores[static_cast<std::size_t>(order[i])] != scores[static_cast<std::size_t>(order[i - 1])])
        ++rank;
      const std::string_view text = parts.vocabulary.text(order[i]);
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        if ((static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) continue;
        const TokenId left = parts.vocabulary.find(text.substr(0, cut));
        const TokenId right = left < 0 ? -1 : parts.vocabulary.find(text.substr(cut));
        if (right < 0 || !mergeable(left) || !mergeable(right)) continue;
        merges.push_back({.left = left, .right = right, .joined = order[i], .rank = rank});
      }
    }
    return merges;
  }
  static constexpr std::size_t longest_piece = 512;  // bytes
  bool mergeable(TokenId id) const {
    const std::int64_t type = types[static_cast<std::size_t>(id)];
    return type == normal || type == user_defined;
  }

  // Blanks become underlines, with one more in front of the text.
  void spell_with_underlines() {
    using enum MetaspaceStep::Prepend;
    const bool prefix = metadata.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
    parts.pretokenize.emplace_back(
        MetaspaceStep{.prepend = prefix ? first : never, .before_blanks = true, .split = false});
    decode_underlines(prefix);
  }

  Result<void> read_sentence_piece(bool& adds_bos) {
    adds_bos = true;
    spell_with_underlines();
    FOVEA_TRY(const auto merges, merges_from_scores());
    BpeOptions options;
    options.byte_fallback = true;
    options.fuse_unknown = true;
    options.unknown = special_id("tokenizer.ggml.unknown_token_id", 0);
    parts.model.emplace<Bpe>(parts.vocabulary, std::move(options), merges);
    return {};
  }

  // Bytes as a list of numbers, signed or not.
  Result<void> read_character_map() {
    constexpr auto key = "tokenizer.ggml.precompiled_charsmap";
    if (!metadata.contains(key)) return {};
    const std::vector<std::int64_t> numbers = metadata.integers(key);
    std::string bytes;
    for (const std::int64_t number : numbers) {
      if (number < -128 || number > 255) return wrong(key, errors::tokenizer_key_no_bytes());
      bytes += static_cast<char>(static_cast<unsigned char>(number & 0xFF));
    }
    if (bytes.empty()) return {};
    FOVEA_TRY(CharacterMap map, CharacterMap::parse(bytes, phrases::tokenizer_key(file, key)));
    parts.normalize.emplace_back(CharacterMapStep{.map = std::move(map), .by_grapheme = false});
    return {};
  }

  // BERT: a piece that begins a word has an underline before it, others nothing. The file does not say what
  // the normaliser is; it is taken as that of an uncased model, as llama.cpp does.
  Result<void> read_word_pieces() {
    add_bert_normalizer({}, parts.normalize);
    add_bert_words(parts.pretokenize);
    WordPieceOptions options;
    options.unknown = special_id("tokenizer.ggml.unknown_token_id", 100);
    options.start = underline;
    if (options.unknown < 0)
      return wrong("tokenizer.ggml.unknown_token_id", errors::tokenizer_key_no_token());
    parts.model.emplace<WordPiece>(parts.vocabulary, std::move(options));
    parts.decode.steps.emplace_back(DecodeReplace{std::string(underline), " "});
    parts.decode.strip_character = " ";
    parts.decode.strip_left = 1;
    return {};
  }

  Result<void> read_unigram() {
    FOVEA_CHECK(read_character_map());
    if (metadata.boolean("tokenizer.ggml.remove_extra_whitespaces").value_or(false)) {
      FOVEA_TRY(Regex edges, Regex::compile("\\A +|[ \xE2\x96\x81]+\\z", where));
      FOVEA_TRY(Regex blanks, Regex::compile(" {2,}", where));
      parts.normalize.emplace_back(ReplaceRegexStep{std::move(edges), ""});
      parts.normalize.emplace_back(ReplaceRegexStep{std::move(blanks), " "});
    }
    spell_with_underlines();
    const std::vector<double> scores = metadata.numbers("tokenizer.ggml.scores");
    if (scores.size() != tokens->size())
      return wrong("tokenizer.ggml.scores", errors::tokenizer_scores(scores.size(), tokens->size()));
    std::vector<UnigramPiece> usable;
    for (TokenId id = 0; id < parts.vocabulary.size(); ++id) {
      const double score = scores[static_cast<std::size_t>(id)];
      if (std::isnan(score)) return wrong("tokenizer.ggml.scores", errors::tokenizer_score(id));
      if (mergeable(id)) usable.push_back({id, score});
    }
    parts.model.emplace<Unigram>(parts.vocabulary, usable, special_id("tokenizer.ggml.unknown_token_id", 2),
                                 true);
    return {};
  }

  void add_tokens(bool sentence_piece) {
    for (TokenId id = 0; id < parts.vocabulary.size(); ++id) {
      const std::int64_t type = types[static_cast<std::size_t>(id)];
      if (type != control && type != user_defined && type != unknown) continue;
      std::string text(parts.vocabulary.text(id));
      // A user-defined piece of SentencePiece is spelled with underlines, the text with blanks.
      if (sentence_piece && type == user_defined) text = replace_all(text, underline, " ");
      if (text.empty() || text.size() > AddedTokens::longest_bytes) continue;
      parts.added.add({.text = std::move(text), .id = id, .special = type != user_defined});
    }
  }

  TokenId special_id(const char* key, TokenId otherwise) const {
    const auto id = metadata.integer(key);
    if (!id) return parts.vocabulary.has(otherwise) ? otherwise : -1;
    return *id >= 0 && *id < parts.vocabulary.size() ? static_cast<TokenId>(*id) : -1;
  }

  void read_special(std::string_view model, bool adds_bos) {
    if (model == "bert") return read_bert_special();
    parts.bos = special_id("tokenizer.ggml.bos_token_id", model == "llama" ? 1 : -1);
    parts.eos = special_id("tokenizer.ggml.eos_token_id", model == "llama" ? 2 : model == "t5" ? 1 : -1);
    // Gemma 4 needs it, whatever its files say.
    const bool wants_bos = metadata.boolean("tokenizer.ggml.add_bos_token").value_or(adds_bos);
    if ((wants_bos || model == "gemma4") && parts.bos >= 0) parts.before.push_back(parts.bos);
    if (metadata.boolean("tokenizer.ggml.add_eos_token").value_or(model == "t5") && parts.eos >= 0)
      parts.after.push_back(parts.eos);
  }

  // [CLS] before the text, [SEP] behind it.
  void read_bert_special() {
    parts.bos = special_id("tokenizer.ggml.bos_token_id", special_id("tokenizer.ggml.cls_token_id", 101));
    const TokenId separator = special_id("tokenizer.ggml.seperator_token_id", 102);  // the format's spelling
    parts.eos = special_id("tokenizer.ggml.eos_token_id", -1);
    if (metadata.boolean("tokenizer.ggml.add_bos_token").value_or(true) && parts.bos >= 0)
      parts.before.push_back(parts.bos);
    if (metadata.boolean("tokenizer.ggml.add_sep_token").value_or(true) && separator >= 0)
      parts.after.push_back(separator);
  }
};

}  // namespace

Result<Tokenizer> Tokenizer::from_metadata(const Metadata& metadata, const std::filesystem::path& file) {
  auto parts = std::make_unique<Parts>();
  MetadataReader reader{metadata, file, *parts};
  if (auto read = reader.read(); !read) return std::unexpected(with_file_advice(std::move(read).error()));
  return Tokenizer(std::move(parts));
}

}  // namespace fovea::text
