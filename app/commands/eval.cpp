// fovea eval MODEL --tasks …: tasks as lm-evaluation-harness has them, and what two settings differ in.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/eval_report.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "engine/api/tasks.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct EvalFlags {
  std::string model;
  LoadOptions load;
  TaskSettings tasks{.tasks = {}};
  std::int64_t examples = -1, max_tokens = 0;  // not given
  std::vector<std::string> compared;           // two files
  bool list = false, parts = false, markdown = false, json = false;

  TableForm form() const { return markdown ? TableForm::markdown : TableForm::plain; }
};

Result<void> list_tasks(const EvalFlags& flags, Console& console) {
  return flags.json ? write_json(console, task_json()) : console.write(task_table());
}

nlohmann::ordered_json conditions_json(const TaskResults& results) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : results.conditions) object[name] = value;
  return object;
}

// Of whole texts the files hold the likelihood of what stands there, and no distributions.
void note_whole_vocabulary(const std::vector<TaskComparison>& found, Console& console) {
  if (std::ranges::find(found, "wikitext", &TaskComparison::name) == found.end()) return;
  console.note(
      "fovea eval: how far a setting's distributions over the whole vocabulary are from the model's as its "
      "file "
      "has it, fovea perplexity MODEL DATA/wikitext-2/wiki.test.raw --against MODEL tells");
}

Result<void> compare(const EvalFlags& flags, Console& console) {
  FOVEA_TRY(const TaskResults first, read_task_results(flags.compared[0]));
  FOVEA_TRY(const TaskResults second, read_task_results(flags.compared[1]));
  FOVEA_TRY(const std::vector<TaskComparison> found, compare_tasks(first, second));
  if (flags.json) {
    return write_json(console, {{"first", conditions_json(first)},
                                {"second", conditions_json(second)},
                                {"tasks", comparison_json(found)},
                                {"sentence", comparison_sentence(found)}});
  }
  note_whole_vocabulary(found, console);
  return console.write(comparison_table(found, flags.form()) + "\n" + comparison_sentence(found) + "\n");
}

void note_dropped(const TaskResults& results, Console& console) {
  const auto cut = std::ranges::count_if(results.outcomes,
                                         [](const TaskOutcome& each) { return each.dropped_tokens > 0; });
  if (cut == 0) return;
  console.note(
      fmt::format("fovea eval: the beginning of {} of {} prompts did not fit the context and was left out. A "
                  "longer --context keeps it",
                  cut, results.outcomes.size()));
}

Result<void> evaluate(const EvalFlags& flags, Console& console, Interrupts& interrupts) {
  if (flags.model.empty() || flags.tasks.tasks.empty() || flags.tasks.data.empty())
    return fail(errors::eval_of_nothing());
  FOVEA_TRY(const LoadOptions request, load_options(flags.model, flags.load));
  const Interrupts::Operation operation(interrupts);
  FOVEA_TRY(const LoadedEngine loaded, load_engine(request, console, operation.token()));
  TaskSettings settings = flags.tasks;
  if (flags.examples >= 0) settings.examples = flags.examples;
  if (flags.max_tokens > 0) settings.max_tokens = flags.max_tokens;
  FOVEA_TRY(const TaskResults results,
            run_tasks(*loaded.engine, settings, console.progress(), operation.token()));
  console.clear_progress();
  if (const std::string warning = precision_warning(*loaded.engine); !warning.empty()) console.note(warning);
  note_dropped(results, console);
  const std::vector<TaskScore> scores = task_scores(results.outcomes);
  if (flags.json) {
    nlohmann::ordered_json object = {{"conditions", conditions_json(results)}, {"tasks", score_json(scores)}};
    add_precision_use(object, *loaded.engine);
    return write_json(console, object);
  }
  FOVEA_CHECK(console.write(score_table(scores, flags.form(), flags.parts)));
  return console.write(flags.markdown ? std::string() : precision_line(*loaded.engine));
}

void add_task_flags(CLI::App& command, EvalFlags& flags) {
  command.add_option("--tasks", flags.tasks.tasks, "Tasks or parts of them, as in mmlu,blimp,mgsm_direct_fr")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--data", flags.tasks.data,
                     "The folder of the data sets: --list names its files with --json");
  command.add_option("--limit", flags.tasks.limit, "Documents of each part at most (default: all)")
      ->check(number_between(1, 1 << 30));
  command
      .add_option("--num-fewshot", flags.examples,
                  "Examples that a prompt begins with (default: the task's own)")
      ->check(number_between(0, 1000));
  command.add_option("--max-tokens", flags.max_tokens, "Of an answer at most (default: the task's own)")
      ->check(number_between(1, 1 << 30));
  command.add_flag("--allow-code", flags.tasks.run_code,
                   "Run what the model writes, in bubblewrap: humaneval and mbpp_plus need it");
  command.add_option("--results", flags.tasks.results,
                     "Keep what comes of each document in this file, and go on with what stands there");
  command.add_option("--compare", flags.compared, "Two such files: what the second run loses and gains")
      ->expected(2)
      ->excludes("--tasks")
      ->excludes("MODEL");
  command.add_flag("--list", flags.list, "List the tasks")->excludes("--tasks")->excludes("--compare");
  command.add_flag("--parts", flags.parts, "Show the parts of tasks, too");
  command.add_flag("--markdown", flags.markdown, "Tables in Markdown")->excludes("--json");
}

}  // namespace

void add_eval(Registry& registry) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = add_command(
      registry, "eval", "Tasks as lm-evaluation-harness has them, and what two settings differ in",
      flags->json,
      "  conditions      what was run how\n"
      "  tasks           by name, those of parts too: documents, and of each of its metrics value, "
      "standard_error\n"
      "                  and chance; gold_log_likelihood: of the right answers, mean nats\n"
      "  first, second   with --compare: the conditions of both runs; sentence: what the second loses and "
      "gains;\n"
      "                  tasks: by name the documents that both have, the differences of second and first "
      "in\n"
      "                  gold_log_likelihood and metrics, kl: divergence of the choices in nats, same: share "
      "of\n"
      "                  equal choices or answers, answers_rougeL: of the second's answers to the first's,\n"
      "                  costs: of both runs mean seconds of a document, and bytes; log_ratio: ln of their "
      "ratio\n"
      "  with --list by name: description, files, metrics, chance, examples\n" +
          std::string(precision_keys));
  add_model(*command, flags->model);
  add_task_flags(*command, *flags);
  add_context(*command, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_chunk(*command, flags->load);
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_precision(*command, flags->load.precision);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      if (flags->list) return list_tasks(*flags, console);
      if (!flags->compared.empty()) return compare(*flags, console);
      return evaluate(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
