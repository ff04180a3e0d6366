// Holds a sampler to a grammar: after each token, a bit for each token that may come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/api/error.h"
#include "engine/api/text.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/vocabulary_trie.h"

namespace fovea::grammar {

class TokenMasks;

// Where an answer stands. Copies are cheap and go their own ways. One thread at a time uses a matcher; those
// of one TokenMasks may be used by several threads, which then wait for each other.
class Matcher {
 public:
  // Sets bits[id / 32] >> (id % 32) & 1 for the tokens that may come next, and clears the others; bits has
  // VocabularyTrie::mask_words(). Whatever is allowed, the answer can be completed after it. The tokens that
  // end an answer are never among them: they are allowed where is_complete(). Fails only where the grammar is
  // too ambiguous to be followed; so do the others.
  Result<void> mask(std::span<std::uint32_t> bits);
  // Likewise the tokens after which the answer can be completed with tokens_left - 1 more. Never none, as
  // long as tokens_left is at least tokens_to_complete() and the answer need not end here.
  Result<void> mask_within(std::int64_t tokens_left, std::span<std::uint32_t> bits);

  // False: the grammar does not allow it here, and nothing has changed.
  Result<bool> accept(TokenId token);
  Result<bool> accept_bytes(std::string_view bytes);

  bool is_complete() const;  // the answer may end here
  bool must_end() const;     // and can only end here
  // So many tokens suffice to complete the answer; a few may be enough where tokens span several rules.
  std::int64_t tokens_to_complete() const;

 private:
  friend class TokenMasks;
  struct Followed;  // sets of stacks, and the masks that were made for them
  Matcher(std::shared_ptr<TokenMasks> masks, std::shared_ptr<Followed> followed, std::uint32_t at)
      : masks_(std::move(masks)), followed_(std::move(followed)), at_(at) {}

  std::shared_ptr<TokenMasks> masks_;
  std::shared_ptr<Followed> followed_;
  std::uint32_t at_;
};

// A grammar and a vocabulary, with the masks that were needed so far; in bounded memory.
class TokenMasks : public std::enable_shared_from_this<TokenMasks> {
 public:
  // Refuses a vocabulary in which single bytes are missing without which no answer can be written.
  static Result<std::shared_ptr<TokenMasks>> make(Grammar grammar,
                                                  std::shared_ptr<const VocabularyTrie> vocabulary);
  ~TokenMasks();

  Matcher start();
  // With a limit of so many tokens (or more) an answer can be completed: Matcher::mask_within().
  std::int64_t shortest_answer();  // tokens

 private:
  friend class Matcher;
  struct Parts;
  explicit TokenMasks(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::grammar
