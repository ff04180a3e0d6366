// K. Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation" (2002), as sacrebleu
// computes it by default: tokens of mteval-v13a, up to four of them, a corpus as a whole, exponential
// smoothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::tasks {

std::vector<std::string> bleu_tokens(std::string_view text);

inline constexpr std::size_t bleu_sums = 10;

// What a translation adds to a corpus' sums: its n-grams that the reference has too, for n of 1 to 4, its
// n-grams, its tokens, the reference's tokens. [bleu_sums]
std::vector<double> bleu_counts(std::string_view reference, std::string_view translation);

// From such sums, 0 to 100.
double bleu(std::span<const double> sums);

}  // namespace fovea::tasks
