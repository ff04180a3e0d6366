// C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004), as rouge-score computes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tasks {

// Words of letters and digits in lower case; `stemmed`: those of more than three letters by their stems.
std::vector<std::string> rouge_tokens(std::string_view text, bool stemmed);

// F-measures of a text against a reference, 0 to 1.
double rouge_n(const std::vector<std::string>& reference, const std::vector<std::string>& text,
               std::size_t n);
double rouge_l(const std::vector<std::string>& reference, const std::vector<std::string>& text);

}  // namespace fovea::tasks
