#include "engine/text/bpe.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

constexpr std::size_t longest_short_word = 40;  // symbols; beyond it the heap wins over searching anew
constexpr std::size_t longest_remembered = 64;  // bytes
constexpr std::uint32_t no_rank = ~std::uint32_t{0};

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

std::size_t pair_slot(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(key ^ (key >> 32));
}

// The bytes that a token of GPT-2's alphabet begins and ends with; -1 for anything else.
std::pair<int, int> outer_bytes(std::string_view text) {
  std::string bytes;
  if (text.empty() || !from_byte_alphabet(text, bytes)) return {-1, -1};
  return {static_cast<unsigned char>(bytes.front()), static_cast<unsigned char>(bytes.back())};
}

bool comes_later(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

}  // namespace

BpeScratch::BpeScratch(std::size_t text_bytes)
    : words(std::bit_ceil(std::clamp<std::size_t>(text_bytes / 16, 1, 1 << 14))) {}

Bpe::Bpe(const Vocabulary& vocabulary, BpeOptions options, const std::vector<Merge>& merges)
    : options_(std::move(options)), pairs_(std::bit_ceil(merges.size() + merges.size() / 2 + 2)) {
  for (const Merge& merge : merges) {
    const std::uint64_t key = pair_key(merge.left, merge.right);
    std::size_t slot = pair_slot(key) & (pairs_.size() - 1);
    while (pairs_[slot].joined >= 0 && pairs_[slot].key != key) slot = (slot + 1) & (pairs_.size() - 1);
    // The last of equal merges counts, as in a map that is filled in order.
    pairs_[slot] = {key, merge.rank, merge.joined};
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto at = static_cast<std::size_t>(byte);
    byte_tokens_[at] = vocabulary.find(to_utf8(byte_to_character(static_cast<unsigned char>(byte))));
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
    fallback_tokens_[at] = vocabulary.find(name);
  }
  find_junctions(vocabulary, merges);
}

// A byte without a token joins what is around it: it vanishes, or its unknown token may be fused with
// another.
void Bpe::find_junctions(const Vocabulary& vocabulary, const std::vector<Merge>& merges) {
  if (!options_.byte_level || !options_.prefix.empty() || !options_.suffix.empty()) return;
  std::vector<bool> junctions(256 * 256);
  for (std::size_t pair = 0; pair < junctions.size(); ++pair)
    junctions[pair] = byte_tokens_[pair / 256] < 0 || byte_tokens_[pair % 256] < 0;
  for (const Merge& merge : merges) {
    const int last = outer_bytes(vocabulary.text(merge.left)).second;
    const int first = outer_bytes(vocabulary.text(merge.right)).first;
    if (last < 0 || first < 0) return;
    junctions[static_cast<std::size_t>(256 * last + first)] = true;
  }
  junctions_ = std::move(junctions);
}

const Bpe::Pair* Bpe::find(TokenId left, TokenId right) const {
  const std::uint64_t key = pair_key(left, right);
  std::size_t slot = pair_slot(key) & (pairs_.size() - 1);
  while (pairs_[slot].joined >= 0) {
    if (pairs_[slot].key == key) return &pairs_[slot];
    slot = (slot + 1) & (pairs_.size() - 1);
  }
  return nullptr;
}

void Bpe::encode(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out,
                 BpeScratch& scratch) const {
  if (word.size() > longest_remembered) return encode_word(vocabulary, word, out, scratch);
  BpeScratch::Remembered& seen = scratch.words[hash_bytes(word) & (scratch.words.size() - 1)];
  if (seen.word.data() != nullptr && seen.word == word) {
    const std::size_t begin = out.size();
    out.resize(begin + seen.count);
    std::copy_n(out.data() + seen.at, seen.count, out.data() + begin);
    return;
  }
  const std::size_t begin = out.size();
  encode_word(vocabulary, word, out, scratch);
  seen = {word, begin, out.size() - begin};
}

void Bpe::encode_word(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out,
                      BpeScratch& scratch) const {
  if (options_.ignore_merges) {
    const TokenId whole = vocabulary.find(options_.byte_level ? to_byte_alphabet(word) : std::string(word));
    if (whole >= 0) {
      out.push_back(whole);
      return;
    }
  }
  if (word.size() > longest_short_word && !junctions_.empty()) {
    encode_pieces(vocabulary, word, out, scratch);
  } else {
    merge(vocabulary, word, out, scratch);
  }
}

// Some pre-tokenisers leave whole sentences in one word. Its pieces, mostly its words, come again and again.
void Bpe::encode_pieces(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out,
                        BpeScratch& scratch) const {
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= word.size(); ++at) {
    if (at < word.size() && junctions_[std::size_t{256} * static_cast<unsigned char>(word[at - 1]) +
                                       static_cast<unsigned char>(word[at])])
      continue;
    const std::string_view piece = word.substr(begin, at - begin);
    begin = at;
    if (options_.ignore_merges || piece.size() > longest_short_word) {
      merge(vocabulary, piece, out, scratch);
    } else {
      encode(vocabulary, piece, out, scratch);
    }
  }
}

void Bpe::merge(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out,
                BpeScratch& scratch) const {
  scratch.ids.clear();
  if (options_.byte_level) {
    byte_symbols(vocabulary, piece, scratch.ids);
  } else {
    character_symbols(vocabulary, piece, scratch.ids);
  }
  if (scratch.ids.size() > longest_short_word) {
    merge_long(scratch);
  } else {
    merge_short(scratch);
  }
  out.insert(out.end(), scratch.ids.begin(), scratch.ids.end());
}

void Bpe::push_unknown(std::vector<TokenId>& ids, bool& fusing) const {
  if (options_.unknown < 0 || (fusing && options_.fuse_unknown)) return;
  ids.push_back(options_.unknown);
  fusing = true;
}

void Bpe::byte_symbols(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& ids) const {
  if (!options_.prefix.empty() || !options_.suffix.empty())
    return character_symbols(vocabulary, to_byte_alphabet(word), ids);
  bool fusing = false;
  for (const char byte : word) {
    const TokenId id = byte_tokens_[static_cast<unsigned char>(byte)];
    if (id >= 0) {
      ids.push_back(id);
      fusing = false;
    } else {
      push_unknown(ids, fusing);
    }
  }
}

void Bpe::character_symbols(const Vocabulary& vocabulary, std::string_view word,
                            std::vector<TokenId>& ids) const {
  const bool plain = options_.prefix.empty() && options_.suffix.empty();
  bool fusing = false;
  std::string decorated;
  const char* const end = word.data() + word.size();
  for (const char* at = word.data(); at < end;) {
    const char* const start = at;
    next_code_point(at);
    std::string_view symbol(start, at);
    if (!plain) {
      decorated = start == word.data() ? std::string() : options_.prefix;
      decorated += symbol;
      if (at == end) decorated += options_.suffix;
      symbol = decorated;
    }
    if (const TokenId id = vocabulary.find(symbol); id >= 0) {
      ids.push_back(id);
      fusing = false;
      continue;
    }
    if (options_.byte_fallback && std::ranges::all_of(symbol, [&](char c) {
          return fallback_tokens_[static_cast<unsigned char>(c)] >= 0;
        })) {
      for (const char c : symbol) ids.push_back(fallback_tokens_[static_cast<unsigned char>(c)]);
      fusing = false;
      continue;
    }
    push_unknown(ids, fusing);
  }
}

void Bpe::merge_short(BpeScratch& scratch) const {
  std::vector<TokenId>& ids = scratch.ids;
  if (ids.size() < 2) return;
  std::vector<std::uint32_t>& ranks = scratch.ranks;  // of the pair (i, i + 1)
  std::vector<TokenId>& joined = scratch.joined;
  ranks.resize(ids.size());
  joined.resize(ids.size());
  std::size_t pairs = ids.size() - 1;
  const auto look_up = [&](std::size_t i) {
    const Pair* const pair = find(ids[i], ids[i + 1]);
    ranks[i] = pair ? pair->rank : no_rank;
    joined[i] = pair ? pair->joined : -1;
  };
  for (std::size_t i = 0; i < pairs; ++i) look_up(i);
  while (pairs > 0) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < pairs; ++i)
      if (ranks[i] < ranks[best]) best = i;
    if (ranks[best] == no_rank) break;
    ids[best] = joined[best];
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    --pairs;
    for (std::size_t i = best + 1; i < pairs; ++i) {
      ranks[i] = ranks[i + 1];
      joined[i] = joined[i + 1];
    }
    if (best < pairs) look_up(best);
    if (best > 0) look_up(best - 1);
  }
}

void Bpe::merge_long(BpeScratch& scratch) const {
  std::vector<BpeScratch::Symbol>& symbols = scratch.symbols;
  std::vector<BpeScratch::Candidate>& heap = scratch.heap;
  symbols.clear();
  heap.clear();
  const auto count = static_cast<std::int32_t>(scratch.ids.size());
  for (std::int32_t i = 0; i < count; ++i)
    symbols.push_back({scratch.ids[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  const auto symbol = [&](std::int32_t i) -> BpeScratch::Symbol& {
    return symbols[static_cast<std::size_t>(i)];
  };
  const auto candidate = [&](std::int32_t left) {
    const TokenId a = symbol(left).id;
    const TokenId b = symbol(symbol(left).next).id;
    if (const Pair* const pair = find(a, b))
      heap.push_back({pair->rank, static_cast<std::uint32_t>(left), a, b, pair->joined});
  };
  for (std::int32_t i = 0; i + 1 < count; ++i) candidate(i);
  std::ranges::make_heap(heap, comes_later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, comes_later);
    const BpeScratch::Candidate top = heap.back();
    heap.pop_back();
    const auto left = static_cast<std::int32_t>(top.at);
    const std::int32_t right = symbol(left).next;
    // Either side may have been joined to something else since.
    if (symbol(left).id != top.left || right < 0 || symbol(right).id != top.right) continue;
    symbol(left).id = top.joined;
    symbol(left).next = symbol(right).next;
    if (symbol(right).next >= 0) symbol(symbol(right).next).previous = left;
    symbol(right).id = -1;
    for (const std::int32_t begin : {symbol(left).previous, left}) {
      if (begin < 0 || symbol(begin).next < 0) continue;
      const std::size_t before = heap.size();
      candidate(begin);
      if (heap.size() > before) std::ranges::push_heap(heap, comes_later);
    }
  }
  scratch.ids.clear();
  for (std::int32_t i = 0; i >= 0; i = symbol(i).next) scratch.ids.push_back(symbol(i).id);
}

}  // namespace fovea::text
