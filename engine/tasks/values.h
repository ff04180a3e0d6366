// How outcomes are valued: what goes into each metric's sums, and what the sums come to.
#pragma once

#include "engine/tasks/catalogue.h"

namespace fovea::tasks {

Values value_choices(const Json& fields, const Observed& observed);       // acc, acc_norm
Values value_minimal_pair(const Json& fields, const Observed& observed);  // acc
Values value_text(const Json& fields, const Observed& observed);   // word_perplexity, byte_…, bits_per_byte
Values value_gsm8k(const Json& fields, const Observed& observed);  // exact_match by two filters
Values value_mgsm(const Json& fields, const Observed& observed);   // likewise
Values value_aime(const Json& fields, const Observed& observed);   // exact_match
Values value_highlights(const Json& fields, const Observed& observed);  // rougeL, rouge1, rouge2
Values value_summaries(const Json& fields, const Observed& observed);   // the best of several references each
Values value_english(const Json& fields, const Observed& observed);     // bleu
Values value_nothing(const Json& fields, const Observed& observed);

// The part of an answer that the harness' filters take for the number; "[invalid]": there is none.
std::string strict_number(std::string_view answer);    // behind "#### "
std::string flexible_number(std::string_view answer);  // the last one

// Whether an answer to a problem of the AIME is the number `target`: what stands in the last \boxed{}, else
// between the first and the last dollar sign, else all of it, without what the harness leaves out there.
bool is_aime_answer(std::string_view answer, std::string_view target);

}  // namespace fovea::tasks
