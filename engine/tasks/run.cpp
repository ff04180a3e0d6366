// Tasks on an engine, document by document.
#include <algorithm>
#include <chrono>
#include <optional>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/api/evaluate.h"
#include "engine/api/tasks.h"
#include "engine/core/result.h"
#include "engine/tasks/catalogue.h"
#include "engine/tasks/errors.h"
#include "engine/tasks/prompts.h"
#include "engine/tasks/results_file.h"
#include "engine/tasks/sandbox.h"

namespace fovea {
namespace {

using tasks::DataSet;
using tasks::Document;
using tasks::Kind;
using tasks::Observed;
using tasks::Prompt;
using tasks::Task;

using Conditions = std::vector<std::pair<std::string, std::string>>;

// Numbers, texts and lists of either, each behind a space.
class Words {
 public:
  template <class... T>
  static std::string of(const T&... values) {
    Words words;
    (words.add(values), ...);
    return words.text_.str();
  }

 private:
  template <class T>
  void add(const T& value) {
    text_ << (text_.view().empty() ? "" : " ") << value;
  }
  template <class T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) add(value);
    add(";");
  }
  std::ostringstream text_;
};

// Of the policy that is at work, all that may be set.
std::string settings_of(const PrecisionRequest& request) {
  if (request.policy == PolicyKind::dynaexq) {
    const DynaExqSettings& s = request.dynaexq;
    return Words::of(s.smoothing, s.smoothing_tokens, s.interval_tokens, s.threshold, s.hysteresis,
                     s.transitions, s.in_flight, s.warm_up_tokens, s.threshold_of_warm_up,
                     s.hysteresis_is_absolute, s.transitions_of_model, request.first_token_layers);
  }
  if (request.policy == PolicyKind::fovea) {
    const FoveaSettings& s = request.fovea;
    return Words::of(s.half_lives, s.weights, s.weights_half_life, s.interval_tokens,
                     s.numbers_interval_tokens, s.margin, s.in_flight, s.prompt_wait_share, s.cut_share,
                     request.first_token_layers);
  }
  if (request.policy == PolicyKind::flexquant) {
    const FlexQuantSettings& s = request.flexquant;
    return Words::of(s.threshold, s.window_tokens, s.wait_tokens, s.layers);
  }
  return Words::of(request.pmpd.schedule);
}

// Everything that an outcome may depend on but the machine.
Conditions conditions_of(const Engine& engine, const TaskSettings& settings) {
  const LoadOptions& options = engine.settings();
  const PrecisionRequest& precision = options.precision;
  Conditions conditions = {{"model", engine.info().path.filename().string()},
                           {"model_bytes", std::to_string(engine.info().bytes)},
                           {"device", options.device.empty() ? "automatic" : options.device},
                           {"context", std::to_string(options.context)},
                           {"kv", name_in(kv_names, options.kv)},
                           {"policy", name_in(policy_names, precision.policy)}};
  if (precision.policy != PolicyKind::none) {
    std::string tiers;
    for (const std::string& tier : precision.tiers) tiers += (tiers.empty() ? "" : ",") + tier;
    conditions.emplace_back("tiers", tiers);
    conditions.emplace_back("budget_bytes", std::to_string(precision.budget_bytes));
    if (!precision.tier_map.empty()) conditions.emplace_back("tier_map", precision.tier_map.string());
    if (precision.nats_per_ms > 0) conditions.emplace_back("nats_per_ms", Words::of(precision.nats_per_ms));
    if (moves_experts(precision.policy) || lowers_layers(precision.policy)) {
      conditions.emplace_back("policy_settings", settings_of(precision));
      conditions.emplace_back("swaps", Words::of(precision.publish_after_passes, precision.traffic_gb_per_s));
    }
    conditions.emplace_back("store", engine.plan().basis.store_fingerprint);
  }
  if (const OffloadSettings& offload = precision.offload; offload.any())
    conditions.emplace_back("offload",
                            Words::of(offload.cpu_moe_layers, offload.gpu_layers, offload.override_tensors));
  conditions.emplace_back("examples", settings.examples ? std::to_string(*settings.examples) : "usual");
  conditions.emplace_back("max_tokens", settings.max_tokens ? std::to_string(*settings.max_tokens) : "usual");
  return conditions;
}

// Which of a task's documents were asked for.
struct Selection {
  const Task* task = nullptr;
  std::set<std::string> parts = {};  // empty: all
};

Result<std::vector<Selection>> select(const std::vector<std::string>& names) {
  std::vector<Selection> selections;
  for (const std::string& name : names) {
    const auto task = std::ranges::find_if(tasks::catalogue(), [&](const Task& each) {
      return name == each.info.name || name.starts_with(each.info.name + "_");
    });
    if (task == tasks::catalogue().end()) {
      std::vector<std::string> known;
      for (const Task& each : tasks::catalogue()) known.push_back(each.info.name);
      return fail(phrases::option_place("tasks"), errors::no_such_task(name, known));
    }
    auto selection = std::ranges::find(selections, &*task, &Selection::task);
    if (selection == selections.end()) {
      selection = selections.insert(selections.end(), {.task = &*task});
    } else if (selection->parts.empty()) {
      continue;  // all of it
    }
    if (name == task->info.name) {
      selection->parts.clear();
    } else {
      selection->parts.insert(name.substr(task->info.name.size() + 1));
    }
  }
  return selections;
}

// The documents that are to be run, in the data set's order.
Result<DataSet> read(const Selection& selection, const TaskSettings& settings) {
  FOVEA_TRY(DataSet data, selection.task->read(settings.data));
  std::set<std::string> missing = selection.parts;
  std::erase_if(data.documents, [&](const Document& document) {
    missing.erase(document.part);
    return (!selection.parts.empty() && !selection.parts.contains(document.part)) ||
           (settings.limit > 0 && document.number >= settings.limit);
  });
  if (!missing.empty())
    return fail(phrases::name_place(selection.task->info.name), errors::no_such_task_part(*missing.begin()));
  if (data.documents.empty())
    return fail(phrases::name_place(selection.task->info.name), errors::task_without_documents());
  return data;
}

// The end of a text, of at most so many tokens.
std::string last_tokens(const TextModel& text, const std::string& prompt, std::int64_t most,
                        std::int64_t& dropped) {
  const std::vector<TokenId> tokens = text.encode(prompt, {.add_special = true, .parse_special = true});
  dropped = std::max<std::int64_t>(0, std::ssize(tokens) - most);
  return dropped == 0 ? prompt : text.decode(std::span(tokens).last(static_cast<std::size_t>(most)), true);
}

class Runner {
 public:
  Runner(Engine& engine, const TaskSettings& settings, std::stop_token stop)
      : engine_(engine), settings_(settings), stop_(std::move(stop)) {}

  // Whether an answer can be as long as the task lets it, and may be run where it must.
  Result<void> check(const Task& task) {
    if (task.program != nullptr) {
      if (!settings_.run_code) return fail(phrases::name_place(task.info.name), errors::task_runs_code());
      if (!sandbox_) {
        FOVEA_TRY(sandbox_, tasks::Sandbox::open());
      }
    }
    const std::int64_t context = engine_.settings().context;
    if (task.kind != Kind::answer || max_tokens(task) < context) return {};
    return fail(phrases::name_place(task.info.name),
                errors::task_answer_beyond_context(max_tokens(task), context));
  }

  Result<TaskOutcome> run(const Task& task, const Document& document, const Prompt& prompt) {
    TaskOutcome outcome{.task = task.info.name, .part = document.part, .document = document.number};
    Observed observed{.choices = prompt.choices, .gold = prompt.gold};
    if (task.kind == Kind::text) {
      FOVEA_TRY(const double likelihood, rolling_log_likelihood(engine_, prompt.context, stop_));
      outcome.log_likelihoods = {likelihood};
    } else if (task.kind == Kind::choices) {
      FOVEA_CHECK(score(task, prompt.context, prompt.choices, outcome));
      outcome.gold = prompt.gold;
    } else {
      FOVEA_TRY(outcome.answer, answer(task, prompt, outcome.dropped_tokens));
      if (!prompt.target.empty()) FOVEA_CHECK(score(task, prompt.context, {prompt.target}, outcome));
    }
    observed.log_likelihoods = outcome.log_likelihoods;
    observed.answer = outcome.answer;
    outcome.values = task.value(document.fields, observed);
    if (task.program != nullptr) {
      FOVEA_TRY(const bool passes, sandbox_->passes(task.program(document.fields, outcome.answer), stop_));
      outcome.values["pass@1"] = {passes ? 1.0 : 0.0};
    }
    return outcome;
  }

 private:
  std::int64_t max_tokens(const Task& task) const {
    return std::min(task.max_tokens, settings_.max_tokens.value_or(task.max_tokens));
  }

  Result<void> score(const Task& task, const std::string& context, std::vector<std::string> continuations,
                     TaskOutcome& outcome) {
    for (std::string& each : continuations) each = task.delimiter + each;
    FOVEA_TRY(const ContinuationScores found, score_continuations(engine_, context, continuations, stop_));
    for (const ContinuationScore& each : found.scores) outcome.log_likelihoods.push_back(each.log_likelihood);
    outcome.dropped_tokens = std::max(outcome.dropped_tokens, found.dropped_tokens);
    return {};
  }

  Result<std::string> answer(const Task& task, const Prompt& prompt, std::int64_t& dropped) {
    GenerateRequest request;
    request.sampling.temperature = 0;
    request.max_tokens = static_cast<std::int32_t>(max_tokens(task));
    request.stop = prompt.until;
    if (task.chat && engine_.info().has_chat_template) {
      request.messages = {{.role = "user", .content = prompt.context}};
    } else {
      const std::int64_t room = engine_.settings().context - max_tokens(task);
      request.raw_prompt = last_tokens(*engine_.text(), prompt.context, room, dropped);
    }
    FOVEA_TRY(GenerateResult result, engine_.generate(request, {}, {}, stop_));
    if (result.finish == FinishReason::cancelled)
      return fail(phrases::name_place(task.info.name), errors::stopped_on_request());
    return std::move(result.text);
  }

  Engine& engine_;
  const TaskSettings& settings_;
  std::stop_token stop_;
  std::optional<tasks::Sandbox> sandbox_;  // once a task needs it
};

// How far a run is, and how long it takes at the speed of the documents so far.
class RunProgress {
 public:
  RunProgress(const ProgressSink& sink, std::int64_t total) : sink_(sink), total_(total) {}

  void skip() { ++done_, ++skipped_; }
  void report(const std::string& name) const {
    if (!sink_) return;
    sink_({.stage = Progress::Stage::evaluating,
           .done = done_,
           .total = total_,
           .unit = Progress::Unit::documents,
           .item = time_left() + name});
  }
  void done() { ++done_; }

 private:
  std::string time_left() const {
    const std::int64_t run = done_ - skipped_;
    if (run == 0) return "";
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto left =
        static_cast<std::int64_t>(seconds / static_cast<double>(run) * static_cast<double>(total_ - done_));
    const std::string minutes = std::to_string(left / 60 % 60), rest = std::to_string(left % 60);
    return std::to_string(left / 3600) + (minutes.size() < 2 ? ":0" : ":") + minutes +
           (rest.size() < 2 ? ":0" : ":") + rest + "  ";
  }

  const ProgressSink& sink_;
  std::int64_t total_, done_ = 0, skipped_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// On the device and beside it, without what is kept free of a budget.
std::int64_t held_bytes(const Engine& engine) {
  const MemoryUse memory = engine.memory();
  const std::optional<PrecisionUse> use = engine.precision();
  const std::int64_t on_device =
      use ? use->accounted_bytes - engine.plan().plan.parts.safety : memory.on_device();
  return on_device + memory.host_weights + memory.host_buffers;
}

using Key = std::tuple<std::string, std::string, std::int64_t>;

}  // namespace

Result<TaskResults> run_tasks(Engine& engine, const TaskSettings& settings, const ProgressSink& progress,
                              std::stop_token stop) {
  if (!engine.text()) return fail(phrases::file_place(engine.info().path), errors::no_tokeniser());
  FOVEA_TRY(const std::vector<Selection> selections, select(settings.tasks));
  Runner runner(engine, settings, stop);
  std::vector<DataSet> data;
  std::int64_t total = 0;
  for (const Selection& each : selections) {
    FOVEA_CHECK(runner.check(*each.task));
    FOVEA_TRY(DataSet set, read(each, settings));
    total += std::ssize(set.documents);
    data.push_back(std::move(set));
  }
  TaskResults results{.conditions = conditions_of(engine, settings), .outcomes = {}};
  std::optional<tasks::ResultsFile> file;
  std::map<Key, const TaskOutcome*> kept;
  if (!settings.results.empty()) {
    FOVEA_TRY(file, tasks::ResultsFile::open(settings.results, results.conditions));
    for (const TaskOutcome& each : file->kept()) kept[{each.task, each.part, each.document}] = &each;
  }
  RunProgress run(progress, total);
  const std::int64_t bytes = held_bytes(engine);
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const Task& task = *selections[i].task;
    FOVEA_TRY(tasks::PromptWriter writer,
              tasks::PromptWriter::create(task, data[i], settings.examples.value_or(task.info.examples)));
    for (const Document& document : data[i].documents) {
      if (const auto found = kept.find({task.info.name, document.part, document.number});
          found != kept.end()) {
        results.outcomes.push_back(*found->second);
        run.skip();
        continue;
      }
      run.report(document.part.empty() ? task.info.name : task.info.name + "_" + document.part);
      FOVEA_TRY(const Prompt prompt, writer.write(document));
      const auto begin = std::chrono::steady_clock::now();
      FOVEA_TRY(TaskOutcome outcome, runner.run(task, document, prompt));
      outcome.cost = {
          .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          .bytes = bytes};
      if (file) FOVEA_CHECK(file->add(outcome));
      results.outcomes.push_back(std::move(outcome));
      run.done();
    }
  }
  return results;
}

}  // namespace fovea
