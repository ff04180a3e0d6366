#include "engine/tasks/prompts.h"

#include <charconv>

#include "engine/core/result.h"
#include "engine/tasks/errors.h"

namespace fovea::tasks {
namespace {

constexpr const char* between_examples = "\n\n";

Phrase place_of(const Task& task) {
  return phrases::task_prompt_place(task.info.name);
}

Result<std::vector<text::ChatTemplate>> parse_all(const Task& task, const std::vector<std::string>& sources) {
  std::vector<text::ChatTemplate> parsed;
  for (const std::string& source : sources) {
    FOVEA_TRY(text::ChatTemplate each, text::ChatTemplate::parse(source, place_of(task)));
    parsed.push_back(std::move(each));
  }
  return parsed;
}

}  // namespace

Result<PromptWriter> PromptWriter::create(const Task& task, const DataSet& data, std::int64_t examples) {
  const auto parse = [&](const std::string& source) { return Template::parse(source, place_of(task)); };
  FOVEA_TRY(Template description, parse(task.description));
  FOVEA_TRY(Template question, parse(task.question));
  FOVEA_TRY(Template target, parse(task.target));
  FOVEA_TRY(std::vector<Template> choices, parse_all(task, task.choices));
  FOVEA_TRY(std::vector<Template> until, parse_all(task, task.until));
  for (const Document& document : data.documents) {
    const auto found = data.examples.find(document.part);
    const std::int64_t there = found == data.examples.end() ? 0 : std::ssize(found->second);
    if (there < examples)
      return fail(phrases::name_place(task.info.name), errors::task_too_few_examples(there, examples));
  }
  return PromptWriter(
      task, data, examples,
      {std::move(description), std::move(question), std::move(target), std::move(choices), std::move(until)});
}

Result<std::vector<std::string>> PromptWriter::choices_of(const Json& fields) const {
  std::vector<std::string> choices;
  for (const Template& each : templates_.choices) {
    FOVEA_TRY(std::string choice, each.render(fields));
    choices.push_back(std::move(choice));
  }
  return choices;
}

Result<std::int64_t> PromptWriter::gold_of(const Json& fields) const {
  FOVEA_TRY(const std::string text, templates_.target.render(fields));
  std::int64_t gold = -1;
  std::from_chars(text.data(), text.data() + text.size(), gold);
  if (gold >= 0 && gold < std::ssize(templates_.choices)) return gold;
  return fail(place_of(*task_), errors::task_no_such_choice(text));
}

Result<std::string> PromptWriter::example(const Json& fields) const {
  FOVEA_TRY(std::string question, templates_.question.render(fields));
  std::string answer;
  if (task_->kind == Kind::choices) {
    FOVEA_TRY(const std::vector<std::string> choices, choices_of(fields));
    FOVEA_TRY(const std::int64_t gold, gold_of(fields));
    answer = choices[static_cast<std::size_t>(gold)];
  } else {
    FOVEA_TRY(answer, templates_.target.render(fields));
  }
  return question + task_->delimiter + answer + between_examples;
}

Result<std::vector<const Json*>> PromptWriter::examples_for(const Document& document) {
  std::vector<const Json*> chosen;
  if (examples_ == 0) return chosen;
  const std::vector<Json>& all = data_->examples.at(document.part);
  const auto count = static_cast<std::size_t>(examples_);
  if (task_->first_examples) {
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(&all[i]);
    return chosen;
  }
  Draws& draws = draws_[document.part];
  while (std::ssize(draws.drawn) <= document.number)
    draws.drawn.push_back(draws.random.sample(all.size(), count));
  for (const std::size_t i : draws.drawn[static_cast<std::size_t>(document.number)])
    chosen.push_back(&all[i]);
  return chosen;
}

Result<Prompt> PromptWriter::write(const Document& document) {
  Prompt prompt;
  FOVEA_TRY(prompt.context, templates_.description.render(document.fields));
  FOVEA_TRY(const std::vector<const Json*> examples, examples_for(document));
  for (const Json* const each : examples) {
    FOVEA_TRY(const std::string shown, example(*each));
    prompt.context += shown;
  }
  FOVEA_TRY(const std::string question, templates_.question.render(document.fields));
  prompt.context += question;
  if (task_->kind == Kind::choices) {
    FOVEA_TRY(prompt.choices, choices_of(document.fields));
    FOVEA_TRY(prompt.gold, gold_of(document.fields));
  } else {
    FOVEA_TRY(prompt.target, templates_.target.render(document.fields));
  }
  for (const Template& each : templates_.until) {
    FOVEA_TRY(std::string stop, each.render(document.fields));
    prompt.until.push_back(std::move(stop));
  }
  return prompt;
}

}  // namespace fovea::tasks
