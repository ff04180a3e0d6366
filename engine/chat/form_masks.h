// The grammars that a model's answers are held to: its vocabulary's prefix tree, made once, and the masks of
// the grammars that were asked for last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/grammar/composer.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/matcher.h"
#include "engine/grammar/vocabulary_trie.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

// A form as part of a grammar; errors as FormMasks::of() has them.
Result<grammar::Expression> part_of(const AnswerForm& form, grammar::Composer& composer);

// May be used by several threads. Control tokens are spelled as grammar::control_spelling() says.
class FormMasks {
 public:
  explicit FormMasks(const text::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // ErrorKind::invalid or unsupported with the form's own place: a line, a byte or a JSON pointer.
  // ErrorKind::unsupported where the vocabulary cannot write it.
  Result<std::shared_ptr<grammar::TokenMasks>> of(const AnswerForm& form);
  // The masks of a grammar that `key` names, made by make() where it is not known.
  template <class Make>
  Result<std::shared_ptr<grammar::TokenMasks>> of(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (auto known = find(key)) return known;
    Result<grammar::Grammar> made = make();
    if (!made) return std::unexpected(std::move(made).error());
    return add(key, *std::move(made));
  }

  // Tokens with a > that is not their last byte: they may end a tag and go on with something else.
  std::span<const TokenId> overrunning();
  // Which tokens are control tokens, a bit for each id as Matcher::mask() has them.
  std::span<const std::uint32_t> controls();

 private:
  // A grammar's masks take up to 160 MiB, but hardly ever more than a few.
  static constexpr std::size_t most_grammars = 6;
  struct Known {
    std::string key;
    std::shared_ptr<grammar::TokenMasks> masks;
  };

  std::shared_ptr<grammar::TokenMasks> find(const std::string& key);
  Result<std::shared_ptr<grammar::TokenMasks>> add(const std::string& key, grammar::Grammar grammar);
  void read_vocabulary();

  const text::Tokenizer& tokenizer_;
  std::mutex mutex_;  // for all below
  std::shared_ptr<const grammar::VocabularyTrie> vocabulary_;
  std::vector<std::uint32_t> controls_;
  std::vector<TokenId> overrunning_;
  std::list<Known> known_;  // the last used first
};

}  // namespace fovea::chat
