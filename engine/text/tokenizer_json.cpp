// Reader of Hugging Face's tokenizer.json.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/core/advice.h"
#include "engine/text/json_fields.h"
#include "engine/text/json_steps.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_parts.h"

namespace fovea::text {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json null;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

// Old files leave the type out.
const char* model_without_type(const json& model) {
  if (model.contains("merges")) return "BPE";
  if (model.contains("continuing_subword_prefix")) return "WordPiece";
  return model.contains("unk_id") ? "Unigram" : "WordLevel";
}

struct JsonReader {
  const json& document;
  const json& config;
  const std::filesystem::path& file;
  Tokenizer::Parts& parts;
  Phrase where = phrases::file_place(file);
  std::unordered_map<std::string, TokenId> added = {};  // by text

  Phrase at(const char* part) const { return phrases::tokenizer_part(file, part); }

  Result<void> read() {
    const json& model = member(document, "model");
    if (!model.is_object()) return fail(where, errors::tokenizer_no_model());
    bool byte_level = false;
    FOVEA_CHECK(read_normalizer(member(document, "normalizer"), at("normalizer"), parts));
    FOVEA_CHECK(read_pretokenizer(member(document, "pre_tokenizer"), at("pre_tokenizer"), parts, byte_level));
    FOVEA_CHECK(read_decoder(member(document, "decoder"), at("decoder"), parts));
    FOVEA_TRY(const std::string type, string_field_or(model, "type", model_without_type(model), where));
    if (type == "BPE") {
      FOVEA_CHECK(read_bpe(model, byte_level));
    } else if (type == "Unigram") {
      if (byte_level) return fail(at("model"), errors::tokenizer_behind_bytes(type));
      FOVEA_CHECK(read_unigram(model));
    } else if (type == "WordPiece" || type == "WordLevel") {
      if (byte_level) return fail(at("model"), errors::tokenizer_behind_bytes(type));
      FOVEA_CHECK(read_words(model, type == "WordPiece"));
    } else {
      return fail(at("model"), errors::tokenizer_unknown_model(type));
    }
    parts.control.resize(static_cast<std::size_t>(parts.vocabulary.size()), false);
    FOVEA_CHECK(read_added_tokens());
    FOVEA_CHECK(read_postprocessor(member(document, "post_processor"), at("post_processor"), parts));
    parts.bos = named_token("bos_token");
    parts.eos = named_token("eos_token");
    find_end_of_generation(parts);
    return {};
  }

  // Ids may leave holes, but not so many that a small file asks for much memory.
  std::int64_t highest_id(std::size_t tokens) const {
    return std::min<std::int64_t>(largest_vocabulary, 65536 + 4 * static_cast<std::int64_t>(tokens));
  }

  Result<void> read_vocabulary(const json& vocab) {
    if (!vocab.is_object()) return fail(at("vocab"), errors::tokenizer_not_object());
    for (const auto& [text, id] : vocab.items()) {
      if (!id.is_number_unsigned() ||
          id.get<std::uint64_t>() >= static_cast<std::uint64_t>(highest_id(vocab.size())))
        return fail(at("vocab"), errors::tokenizer_id(text, highest_id(vocab.size())));
      const auto token = id.get<TokenId>();
      if (parts.vocabulary.has(token) && !parts.vocabulary.is_hole(token))
        return fail(at("vocab"), errors::tokenizer_shared_id(text, token));
      parts.vocabulary.set(token, text);
    }
    parts.vocabulary.index();
    return {};
  }

  Result<std::pair<std::string, std::string>> read_merge(const json& merge, std::size_t rank) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const std::size_t space = text.find(' ');
      if (space != text.npos && text.find(' ', space + 1) == text.npos)
        return std::pair(text.substr(0, space), text.substr(space + 1));
    }
    return fail(at("merges"), errors::tokenizer_merge(rank));
  }

  Result<std::vector<Bpe::Merge>> read_merges(const json& list, const std::string& prefix) const {
    if (!list.is_array()) return fail(at("merges"), errors::tokenizer_not_list());
    std::vector<Bpe::Merge> merges;
    merges.reserve(list.size());
    for (const json& item : list) {
      const std::size_t rank = merges.size();
      FOVEA_TRY(const auto pair, read_merge(item, rank));
      const auto& [left, right] = pair;
      const std::size_t cut = right.starts_with(prefix) ? prefix.size() : 0;
      const Bpe::Merge merge{.left = parts.vocabulary.find(left),
                             .right = parts.vocabulary.find(right),
                             .joined = parts.vocabulary.find(left + right.substr(cut)),
                             .rank = static_cast<std::uint32_t>(rank)};
      if (merge.left < 0 || merge.right < 0 || merge.joined < 0)
        return fail(at("merges"), errors::tokenizer_merge_of_strangers(rank, left, right));
      merges.push_back(merge);
    }
    return merges;
  }

  Result<void> read_bpe(const json& model, bool byte_level) {
    FOVEA_CHECK(read_vocabulary(member(model, "vocab")));
    BpeOptions options;
    options.byte_level = byte_level;
    FOVEA_TRY(options.ignore_merges, flag_field(model, "ignore_merges", false, where));
    FOVEA_TRY(options.byte_fallback, flag_field(model, "byte_fallback", false, where));
    FOVEA_TRY(options.fuse_unknown, flag_field(model, "fuse_unk", false, where));
    FOVEA_TRY(options.prefix, string_field_or(model, "continuing_subword_prefix", "", where));
    FOVEA_TRY(options.suffix, string_field_or(model, "end_of_word_suffix", "", where));
    const json& dropout = member(model, "dropout");
    if (!dropout.is_null() && dropout != 0.0) return fail(at("model"), errors::tokenizer_dropout());
    FOVEA_TRY(const std::string unknown, string_field_or(model, "unk_token", "", where));
    if (!unknown.empty()) {
      options.unknown = parts.vocabulary.find(unknown);
      if (options.unknown < 0) return fail(at("model"), errors::tokenizer_unk_token(unknown));
    }
    FOVEA_TRY(const auto merges, read_merges(member(model, "merges"), options.prefix));
    parts.model.emplace<Bpe>(parts.vocabulary, std::move(options), merges);
    return {};
  }

  Result<void> read_words(const json& model, bool pieces) {
    FOVEA_CHECK(read_vocabulary(member(model, "vocab")));
    FOVEA_TRY(const std::string unknown,
              string_field_or(model, "unk_token", pieces ? "[UNK]" : "<unk>", where));
    const TokenId id = parts.vocabulary.find(unknown);
    if (id < 0) return fail(at("model"), errors::tokenizer_unk_token(unknown));
    if (!pieces) {
      parts.model.emplace<WordLevel>(id);
      return {};
    }
    WordPieceOptions options{.unknown = id, .start = "", .continuation = "", .longest = 0};
    FOVEA_TRY(options.continuation, string_field_or(model, "continuing_subword_prefix", "##", where));
    FOVEA_TRY(const std::int64_t longest,
              count_field(model, "max_input_chars_per_word", 100, largest_vocabulary, where));
    options.longest = static_cast<std::size_t>(longest);
    parts.model.emplace<WordPiece>(parts.vocabulary, std::move(options));
    return {};
  }

  // "vocab" is a list of [text, score]. A control token's text is no piece, so that text cannot become it.
  Result<void> read_unigram(const json& model) {
    const json& vocab = member(model, "vocab");
    if (!vocab.is_array() || vocab.empty()) return fail(at("vocab"), errors::tokenizer_no_pieces());
    std::unordered_set<std::string> specials;
    for (const json& item : member(document, "added_tokens")) {
      if (item.is_object() && item.value("special", json(false)) == true &&
          item.value("content", json()).is_string())
        specials.insert(item["content"].get<std::string>());
    }
    std::vector<UnigramPiece> usable;
    for (const json& item : vocab) {
      if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number())
        return fail(at("vocab"), errors::tokenizer_piece(parts.vocabulary.size()));
      const auto& text = item[0].get_ref<const std::string&>();
      const TokenId id = parts.vocabulary.add(text);
      if (!specials.contains(text)) usable.push_back({id, item[1].get<double>()});
    }
    parts.vocabulary.index();
    FOVEA_TRY(const std::int64_t unknown,
              count_field(model, "unk_id", -1, parts.vocabulary.size() - 1, at("model")));
    FOVEA_TRY(const bool byte_fallback, flag_field(model, "byte_fallback", false, where));
    parts.model.emplace<Unigram>(parts.vocabulary, usable, static_cast<TokenId>(unknown), byte_fallback);
    return {};
  }

  Result<AddedToken> read_added(const json& item, std::int64_t id) const {
    if (!item.is_object()) return fail(at("added_tokens"), errors::tokenizer_not_objects());
    AddedToken token;
    token.id = static_cast<TokenId>(id);
    FOVEA_TRY(token.text, string_field(item, "content", at("added_tokens")));
    FOVEA_TRY(token.special, flag_field(item, "special", false, where));
    FOVEA_TRY(token.normalized, flag_field(item, "normalized", !token.special, where));
    FOVEA_TRY(token.single_word, flag_field(item, "single_word", false, where));
    FOVEA_TRY(token.strip_left, flag_field(item, "lstrip", false, where));
    FOVEA_TRY(token.strip_right, flag_field(item, "rstrip", false, where));
    return token;
  }

  Result<void> add(AddedToken token, std::size_t tokens) {
    if (token.text.empty() || added.contains(token.text)) return {};
    if (token.text.size() > AddedTokens::longest_bytes)
      return fail(at("added_tokens"),
                  errors::tokenizer_long_token(token.id, Bytes{AddedTokens::longest_bytes}));
    if (const TokenId in_model = parts.vocabulary.find(token.text); in_model >= 0) token.id = in_model;
    const std::int64_t limit = highest_id(static_cast<std::size_t>(parts.vocabulary.size()) + tokens);
    if (token.id >= limit) return fail(at("added_tokens"), errors::tokenizer_added_id(token.text, limit));
    if (!parts.vocabulary.has(token.id) || parts.vocabulary.text(token.id) != token.text)
      parts.vocabulary.set(token.id, token.text);
    parts.control.resize(static_cast<std::size_t>(parts.vocabulary.size()), false);
    parts.control[static_cast<std::size_t>(token.id)] = token.special;
    added.emplace(token.text, token.id);
    if (!token.normalized) {
      parts.added.add(std::move(token));
      return {};
    }
    std::string changed;
    if (normalize(parts.normalize, token.text, changed)) {
      token.text = std::move(changed);
      if (parts.vocabulary.find(token.text) != token.id) parts.vocabulary.set(token.id, token.text);
    }
    if (!token.text.empty()) parts.added_normalized.add(std::move(token));
    return {};
  }

  Result<void> read_added_tokens() {
    const json& list = member(document, "added_tokens");
    if (!list.is_null() && !list.is_array()) return fail(at("added_tokens"), errors::tokenizer_not_list());
    for (const json& item : list) {
      if (!item.is_object()) return fail(at("added_tokens"), errors::tokenizer_not_objects());
      FOVEA_TRY(const std::int64_t id, count_field(item, "id", -1, largest_vocabulary, at("added_tokens")));
      if (id < 0) return fail(at("added_tokens"), errors::tokenizer_no_id());
      FOVEA_TRY(AddedToken token, read_added(item, id));
      FOVEA_CHECK(add(std::move(token), list.size()));
    }
    // tokenizer_config.json may name more, by id.
    const json& more = config.is_object() ? member(config, "added_tokens_decoder") : member(document, "");
    if (!more.is_object()) return {};
    for (const auto& [key, item] : more.items()) {
      if (key.empty() || key.size() > 8 ||
          !std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; }))
        return fail(at("added_tokens_decoder"), errors::tokenizer_id_key(key));
      FOVEA_TRY(AddedToken token, read_added(item, std::stol(key)));
      FOVEA_CHECK(add(std::move(token), more.size()));
    }
    return {};
  }

  // bos_token and eos_token of tokenizer_config.json: a text, or an object with the text.
  TokenId named_token(const char* key) const {
    if (!config.is_object()) return -1;
    const json* name = &member(config, key);
    if (name->is_object()) name = &member(*name, "content");
    if (!name->is_string()) return -1;
    const auto& text = name->get_ref<const std::string&>();
    if (const auto it = added.find(text); it != added.end()) return it->second;
    return parts.vocabulary.find(text);
  }
};

}  // namespace

void add_ends_of(const json& config, Tokenizer::Parts& parts) {
  if (!config.is_object() || !config.contains("eos_token_id")) return;
  const json& ids = config["eos_token_id"];
  const auto add = [&](const json& id) {
    if (id.is_number_unsigned() &&
        id.get<std::uint64_t>() < static_cast<std::uint64_t>(parts.vocabulary.size()))
      add_end_of_generation(parts, id.get<TokenId>());
  };
  if (ids.is_array()) {
    for (const json& id : ids) add(id);
  } else {
    add(ids);
  }
}

Result<Tokenizer> Tokenizer::from_json(std::string_view text, const json& config,
                                       const std::filesystem::path& file) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    return fail(phrases::file_place(file), errors::tokenizer_not_json());
  auto parts = std::make_unique<Parts>();
  JsonReader reader{document, config, file, *parts};
  if (auto read = reader.read(); !read) return std::unexpected(with_file_advice(std::move(read).error()));
  return Tokenizer(std::move(parts));
}

}  // namespace fovea::text
