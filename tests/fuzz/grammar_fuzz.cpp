// Any bytes as a JSON schema, a regular expression or a grammar: it is refused by a place and a name, or
// answers that keep to its masks are complete within the tokens that they were promised.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/errors.h"
#include "engine/grammar/matcher.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::grammar;

namespace {

const std::vector<std::string>& tokens() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    for (int byte = 0; byte < 256; ++byte) made.emplace_back(1, static_cast<char>(byte));
    for (const char* more : {"\"}", "{\"", "true", "ab", "a\"", ", ", "12", "\xC3\xA4", "\": \"", "]]"})
      made.emplace_back(more);
    return made;
  }();
  return all;
}

void check_refusal(const Error& error) {
  fuzz_check(error.kind == ErrorKind::invalid || error.kind == ErrorKind::unsupported);
  fuzz_check(!error.where.empty() && !error.what.empty());
  fuzz_check(error.message().size() < 4096);
}

// The text of an answer that `choice` draws; empty: the grammar cannot be followed.
std::string drawn_answer(TokenMasks& masks, std::int64_t limit, std::size_t choice) {
  Matcher at = masks.start();
  std::vector<std::uint32_t> bits((tokens().size() + 31) / 32);
  std::string answer;
  for (std::int64_t left = limit;; --left) {
    fuzz_check(left > 0 || at.is_complete());
    if (at.is_complete() && (left == 0 || at.must_end() || choice % 5 == 0)) return answer;
    if (!at.mask_within(left, bits)) return {};
    std::vector<std::size_t> allowed;
    for (std::size_t id = 0; id < tokens().size(); ++id)
      if (bits[id / 32] >> (id % 32) & 1) allowed.push_back(id);
    if (allowed.empty()) {
      fuzz_check(at.is_complete());  // nothing more fits
      return answer;
    }
    const std::size_t id = allowed[choice % allowed.size()];
    const auto taken = at.accept(static_cast<TokenId>(id));
    if (!taken) return {};
    fuzz_check(*taken);
    answer += tokens()[id];
    choice = choice * 6364136223846793005U + 1442695040888963407U;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Notation notation = data[0] == 'g'   ? Notation::gbnf
                            : data[0] == 'r' ? Notation::regex
                                             : Notation::json_schema;
  const auto grammar = Grammar::from(notation, fuzz::text_of(data + 1, size - 1), phrases::name_place("g"));
  if (!grammar) {
    check_refusal(grammar.error());
    return 0;
  }
  static const auto vocabulary = std::make_shared<const VocabularyTrie>(tokens());
  const auto masks = TokenMasks::make(*grammar, vocabulary);
  if (!masks) {
    check_refusal(masks.error());
    return 0;
  }
  constexpr std::int64_t most = 300;  // tokens
  const std::int64_t shortest = (*masks)->shortest_answer();
  if (shortest > most) return 0;
  for (std::size_t choice = 1; choice <= 3; ++choice) {
    const std::string answer = drawn_answer(**masks, shortest + 16, choice * size);
    if (answer.empty()) continue;
    Matcher again = (*masks)->start();
    const auto read = again.accept_bytes(answer);
    fuzz_check(!read || (*read && again.is_complete()));
    fuzz_check(notation != Notation::json_schema || nlohmann::json::accept(answer));
  }
  return 0;
}
