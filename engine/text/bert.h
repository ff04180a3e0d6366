// BERT's normaliser and its notion of punctuation, with the older Unicode that Hugging Face tokenizers has
// there.
#pragma once

#include <string>
#include <string_view>

namespace fovea::text {

bool is_bert_punctuation(char32_t c);  // of "BertPreTokenizer" and "Punctuation"

// BertNormalizer's steps of their own; it has Unicode forms and small letters from the common ones.
struct CleanTextStep {};       // drops control characters, white space becomes a blank
struct SeparateHanStep {};     // blanks around each Chinese character
struct DropNonspacingStep {};  // combining marks that take no room

bool run(const CleanTextStep&, std::string_view text, std::string& out);
bool run(const SeparateHanStep&, std::string_view text, std::string& out);
bool run(const DropNonspacingStep&, std::string_view text, std::string& out);

}  // namespace fovea::text
