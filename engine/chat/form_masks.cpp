#include "engine/chat/form_masks.h"

#include <algorithm>
#include <utility>

#include "engine/api/form.h"
#include "engine/chat/errors.h"
#include "engine/core/result.h"

namespace fovea::chat {
namespace {

// Tokens with bytes that no text has could spell a control token.
bool may_be_text(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xC0 || byte == 0xC1 || byte > 0xF4;
  });
}

Phrase place_of(AnswerForm::Kind kind) {
  switch (kind) {
    case AnswerForm::Kind::json:
    case AnswerForm::Kind::json_schema:
      return phrases::form_of_schema();
    case AnswerForm::Kind::regex:
      return phrases::form_of_regex();
    case AnswerForm::Kind::free:
    case AnswerForm::Kind::gbnf:
      break;
  }
  return phrases::form_of_grammar();
}

// The notation of a form, and its text in it.
std::pair<grammar::Notation, std::string_view> notation_of(const AnswerForm& form) {
  using grammar::Notation;
  switch (form.kind) {
    case AnswerForm::Kind::json:
      return {Notation::json_schema, R"({"type": "object"})"};
    case AnswerForm::Kind::json_schema:
      return {Notation::json_schema, form.text};
    case AnswerForm::Kind::regex:
      return {Notation::regex, form.text};
    case AnswerForm::Kind::free:
    case AnswerForm::Kind::gbnf:
      break;
  }
  return {Notation::gbnf, form.text};
}

Result<grammar::Grammar> grammar_of(const AnswerForm& form, const Phrase& where) {
  const auto [notation, text] = notation_of(form);
  return grammar::Grammar::from(notation, text, where);
}

}  // namespace

Result<grammar::Expression> part_of(const AnswerForm& form, grammar::Composer& composer) {
  const auto [notation, text] = notation_of(form);
  return composer.part(notation, text, place_of(form.kind));
}

Result<std::shared_ptr<grammar::TokenMasks>> FormMasks::of(const AnswerForm& form) {
  // A kind's key begins with a digit of its own.
  return of(std::to_string(static_cast<int>(form.kind)) + form.text,
            [&form] { return grammar_of(form, place_of(form.kind)); });
}

std::span<const TokenId> FormMasks::overrunning() {
  const std::lock_guard lock(mutex_);
  read_vocabulary();
  return overrunning_;
}

std::span<const std::uint32_t> FormMasks::controls() {
  const std::lock_guard lock(mutex_);
  read_vocabulary();
  return controls_;
}

std::shared_ptr<grammar::TokenMasks> FormMasks::find(const std::string& key) {
  const auto found = std::ranges::find(known_, key, &Known::key);
  if (found == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return known_.front().masks;
}

Result<std::shared_ptr<grammar::TokenMasks>> FormMasks::add(const std::string& key,
                                                            grammar::Grammar grammar) {
  read_vocabulary();
  auto masks = grammar::TokenMasks::make(std::move(grammar), vocabulary_);
  if (!masks) return masks;
  known_.push_front({key, *masks});
  if (known_.size() > most_grammars) known_.pop_back();
  return masks;
}

void FormMasks::read_vocabulary() {
  if (vocabulary_) return;
  std::vector<std::string> tokens(static_cast<std::size_t>(tokenizer_.vocabulary()));
  controls_.assign((tokens.size() + 31) / 32, 0);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (tokenizer_.is_control(token)) {
      tokens[id] = grammar::control_spelling(tokenizer_.name(token));
      controls_[id / 32] |= std::uint32_t{1} << (id % 32);
    } else if (std::string bytes = tokenizer_.piece(token); !bytes.empty() && may_be_text(bytes)) {
      if (bytes.substr(0, bytes.size() - 1).contains('>')) overrunning_.push_back(token);
      tokens[id] = std::move(bytes);
    }
  }
  vocabulary_ = std::make_shared<const grammar::VocabularyTrie>(tokens);
}

}  // namespace fovea::chat

namespace fovea {

Result<void> check_form(const AnswerForm& form, Phrase where) {
  if (form.kind == AnswerForm::Kind::free) return {};
  if (where.empty()) where = chat::place_of(form.kind);
  FOVEA_CHECK(chat::grammar_of(form, where));
  return {};
}

}  // namespace fovea
