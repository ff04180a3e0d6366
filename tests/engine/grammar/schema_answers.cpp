// schema_answers: what judge_schemas.py asks. Each line of the input is {"schema": …, "answers": n, "texts":
// […]}, each of the output {"refused": "…"}, or {"answers": […], "accepted": […]}: n random answers of a tiny
// model that is held to the schema (null: none came to its end), and whether each text is one that it could
// give.
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "answers.h"

int main() {
  using namespace fovea;
  std::mt19937 random(1);
  std::vector<std::string> tokens =
      tests::bytes_and({"{\"", "\":",  "\": ", "\", \"",   "\",",      "\"}",   "},",  "]}",    "}}",
                        "[[",  "[\"",  "true", "false",    "null",     "12",    "007", "-1",    ".5",
                        "abc", "ab\"", "\n  ", "\xC3\xBC", "\xE6\x98", "\\u00", "\\n", "2024-", ", \""});
  tokens.push_back("");  // a control token
  const auto vocabulary = std::make_shared<const grammar::VocabularyTrie>(tokens);
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = nlohmann::ordered_json::parse(line);
    const auto compiled =
        grammar::Grammar::from_json_schema(asked["schema"].dump(), phrases::name_place("schema"));
    nlohmann::json told;
    if (!compiled) {
      told["refused"] = compiled.error().message();
    } else {
      const auto masks = grammar::TokenMasks::make(*compiled, vocabulary).value();
      told["answers"] = told["accepted"] = nlohmann::json::array();
      for (int i = 0; i < asked["answers"].get<int>(); ++i) {
        const std::int64_t limit = masks->shortest_answer() + static_cast<std::int64_t>(random() % 120);
        const auto answer = tests::random_answer(*masks, tokens, limit, random);
        told["answers"].push_back(answer ? nlohmann::json(*answer) : nlohmann::json());
      }
      for (const auto& text : asked["texts"]) {
        told["accepted"].push_back(tests::accepts(masks, text.get<std::string>()));
      }
    }
    std::cout << told.dump() << '\n';
  }
}
