// bench_grammar [MODEL]: what it takes to hold a sampler to a schema, on one core: the time to compile a
// schema of 5 KB, and of a mask with the token's acceptance, over answers that are drawn at random. The
// vocabulary is MODEL's, or one of 150,000 made-up tokens.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/api/errors.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/grammar/matcher.h"
#include "engine/text/tokenizer.h"

namespace {

using namespace fovea;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// All bytes, then words with and without a space, numbers, signs of JSON, and characters of several bytes.
std::vector<std::string> made_up_vocabulary() {
  std::mt19937 random(1);
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (int i = 0; i < 1000; ++i) tokens.push_back(std::to_string(i));
  static constexpr const char* signs[] = {"{\"", "\"}",  "\",", "\":",  "\", \"", "\": \"", "\": ", "},",
                                          "]}",  "[{\"", "}}",  "\n  ", ", \"",   "\\n",    "\\\""};
  for (const char* sign : signs) tokens.emplace_back(sign);
  static constexpr const char* syllables[] = {"re", "in", "con", "ta",  "ment", "er", "ing",
                                              "ly", "un", "ous", "pro", "al",   "ed", "st",
                                              "ch", "o",  "a",   "ü",   "是",   "не"};
  while (tokens.size() < 150'000) {
    std::string token = random() % 2 ? " " : "";
    for (std::size_t parts = 1 + random() % 5; parts > 0; --parts)
      token += syllables[random() % std::size(syllables)];
    if (random() % 40 == 0) token += "\",";
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::vector<std::string> vocabulary_of(const text::Tokenizer& tokenizer) {
  std::vector<std::string> tokens(static_cast<std::size_t>(tokenizer.vocabulary()));
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (!tokenizer.is_control(token)) tokens[id] = tokenizer.piece(token);
  }
  return tokens;
}

// Orders of a shop: objects in lists in objects, with all types.
std::string schema_of_5_kb() {
  std::string schema =
      R"({"type": "object", "$defs": {"money": {"type": "object", "properties": {"amount": {"type": "number", "minimum": 0, "maximum": 99999.99}, "currency": {"enum": ["EUR", "USD", "JPY"]}}, "required": ["amount", "currency"]}}, "properties": {)";
  for (int i = 0; schema.size() < 4800; ++i) {
    const std::string n = std::to_string(i);
    schema +=
        R"("name_)" + n +
        R"(": {"type": "string", "description": "what it is called", "minLength": 1, "maxLength": 120}, )";
    schema += R"("ordered_)" + n + R"(": {"type": "string", "format": "date"}, )";
    schema +=
        R"("lines_)" + n +
        R"(": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"sku": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}, "count": {"type": "integer", "minimum": 1, "maximum": 500}, "price": {"$ref": "#/$defs/money"}, "gift": {"type": ["boolean", "null"]}}, "required": ["sku", "count"]}}, )";
  }
  return schema + R"("note": {"type": "string"}}, "required": ["name_0", "lines_0", "note"]})";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> tokens;
  if (argc > 1) {
    const auto checkpoint = checkpoint::Checkpoint::open(argv[1]);
    if (!checkpoint) return std::fprintf(stderr, "%s\n", checkpoint.error().message().c_str()), 1;
    const auto tokenizer = text::Tokenizer::open(*checkpoint);
    if (!tokenizer) return std::fprintf(stderr, "%s\n", tokenizer.error().message().c_str()), 1;
    tokens = vocabulary_of(*tokenizer);
  } else {
    tokens = made_up_vocabulary();
  }
  auto begin = Clock::now();
  const auto vocabulary = std::make_shared<const grammar::VocabularyTrie>(tokens);
  std::printf("%zu tokens: prefix tree in %.0f ms\n", tokens.size(), ms_since(begin));

  const std::string schema = schema_of_5_kb();
  std::vector<double> compiling;
  std::shared_ptr<grammar::TokenMasks> masks;
  for (int i = 0; i < 5; ++i) {
    begin = Clock::now();
    const auto compiled = grammar::Grammar::from_json_schema(schema, phrases::name_place("schema"));
    if (!compiled) return std::fprintf(stderr, "%s\n", compiled.error().message().c_str()), 1;
    auto made = grammar::TokenMasks::make(*compiled, vocabulary);
    if (!made) return std::fprintf(stderr, "%s\n", made.error().message().c_str()), 1;
    masks = *made;
    compiling.push_back(ms_since(begin));
  }
  std::ranges::sort(compiling);
  std::printf("schema of %zu bytes compiled in %.0f ms (median of 5); shortest answer %lld tokens\n",
              schema.size(), compiling[2], static_cast<long long>(masks->shortest_answer()));

  std::mt19937 random(1);
  std::vector<double> times;
  std::vector<std::uint32_t> bits(vocabulary->mask_words());
  for (int answer = 0; answer < 20; ++answer) {
    grammar::Matcher matcher = masks->start();
    for (std::int64_t left = 600; left > 0 && !matcher.must_end(); --left) {
      const auto from = Clock::now();
      if (!matcher.mask_within(left, bits)) return 1;
      double took = ms_since(from);
      std::vector<TokenId> allowed;
      for (std::size_t id = 0; id < tokens.size(); ++id) {
        if (bits[id / 32] >> (id % 32) & 1) allowed.push_back(static_cast<TokenId>(id));
      }
      if (allowed.empty()) break;
      const TokenId token = allowed[random() % allowed.size()];
      const auto again = Clock::now();
      if (!matcher.accept(token).value_or(false)) return 1;
      times.push_back(took + ms_since(again));
    }
    if (!matcher.is_complete()) return std::fputs("an answer is not complete\n", stderr), 1;
  }
  std::ranges::sort(times);
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf(
      "%zu tokens in 20 answers: mask and acceptance %.1f us median, %.1f us in 99 of 100, %.2f ms at most\n",
      times.size(), at(0.5) * 1e3, at(0.99) * 1e3, times.back());
  return 0;
}
