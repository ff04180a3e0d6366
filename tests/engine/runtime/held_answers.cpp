// held_answers MODEL: answers to what tests/engine/grammar/judge_schemas.py asks, of a model that is held to
// each schema. Each line of the input is {"schema": …, "answers": n}, each of the output {"refused": "…"} or
// {"answers": […]} (null: an error).
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "engine/api/engine.h"
#include "engine/chat/errors.h"

int main(int argc, char** argv) {
  using namespace fovea;
  if (argc != 2) return std::cerr << "held_answers MODEL\n", 2;
  auto engine = Engine::load({.model = argv[1], .context = 512, .threads = 2, .need_tokenizer = true});
  if (!engine) return std::cerr << engine.error().message() << '\n', 1;
  std::mt19937 random(1);
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = nlohmann::ordered_json::parse(line);
    GenerateRequest request;
    request.messages = {{"user", "Answer"}};
    request.form = {AnswerForm::Kind::json_schema, asked["schema"].dump()};
    request.sampling.temperature = 2;
    request.sampling.top_p = 1;
    request.sampling.min_p = 0;
    request.max_tokens = 0;
    nlohmann::json told;
    const auto refused = (*engine)->generate(request);
    if (refused || !refused.error().is(errors::limit_too_short_for_form.code)) {
      told["refused"] = refused ? "nothing needs no token" : refused.error().message();
    } else {
      const auto needed = static_cast<std::int32_t>(refused.error().number("needed").value_or(0));
      for (int i = 0; i < asked["answers"].get<int>(); ++i) {
        request.sampling.seed = random();
        request.max_tokens = needed + static_cast<std::int32_t>(random() % 60);
        const auto answer = (*engine)->generate(request);
        if (!answer) std::cerr << answer.error().message() << '\n';
        told["answers"].push_back(answer ? nlohmann::json(answer->text) : nlohmann::json());
      }
    }
    std::cout << told.dump() << '\n';
  }
}
