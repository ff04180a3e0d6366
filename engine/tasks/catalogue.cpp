#include "engine/tasks/catalogue.h"

#include "engine/tasks/values.h"

namespace fovea::tasks {
namespace {

Task mmlu() {
  return {.info = {.name = "mmlu",
                   .description = "questions of 57 subjects, four choices each",
                   .files = {"mmlu/mmlu_csv.tar.xz"},
                   .metrics = {"acc"},
                   .chance = 0.25,
                   .examples = 5},
          .kind = Kind::choices,
          .read = read_mmlu,
          .value = value_minimal_pair,
          .description =
              "The following are multiple choice questions (with answers) about {{ subject }}.{{ '\\n\\n' }}",
          .question =
              "{{ question.strip() }}\nA. {{ choices[0] }}\nB. {{ choices[1] }}\nC. {{ choices[2] }}\nD. "
              "{{ choices[3] }}\nAnswer:",
          .choices = {"A", "B", "C", "D"},
          .target = "{{ answer }}",
          .first_examples = true};
}

Task hellaswag() {
  return {.info = {.name = "hellaswag",
                   .description = "which of four endings a story of everyday life has",
                   .files = {"hellaswag/hellaswag_val_full.txt.bz2"},
                   .metrics = {"acc_norm", "acc"},
                   .chance = 0.25},
          .kind = Kind::choices,
          .read = read_hellaswag,
          .value = value_choices,
          .question = "{{ query }}",
          .choices = {"{{ endings[0] }}", "{{ endings[1] }}", "{{ endings[2] }}", "{{ endings[3] }}"},
          .target = "{{ label }}"};
}

Task blimp() {
  return {.info = {.name = "blimp",
                   .description = "which of two sentences is grammatical, in 67 paradigms",
                   .files = {"blimp/blimp.tar.xz"},
                   .metrics = {"acc"},
                   .chance = 0.5},
          .kind = Kind::choices,
          .read = read_blimp,
          .value = value_minimal_pair,
          .choices = {"{{ sentence_good }}", "{{ sentence_bad }}"},
          .target = "0"};
}

Task wikitext() {
  return {.info = {.name = "wikitext",
                   .description = "articles of WikiText-2, whole",
                   .files = {"wikitext-2/wiki.test.raw"},
                   .metrics = {"word_perplexity", "byte_perplexity", "bits_per_byte"}},
          .kind = Kind::text,
          .read = read_wikitext,
          .value = value_text,
          .question = "{{ text }}"};
}

Task gsm8k() {
  return {.info = {.name = "gsm8k",
                   .description = "word problems, solved in steps",
                   .files = {"gsm8k/test.jsonl", "gsm8k/train.jsonl.xz"},
                   .metrics = {"exact_match,strict-match", "exact_match,flexible-extract"},
                   .examples = 5},
          .read = read_gsm8k,
          .value = value_gsm8k,
          .question = "Question: {{ question }}\nAnswer:",
          .target = "{{ answer }}",
          .until = {"Question:", "</s>", "<|im_end|>"}};
}

Task mgsm() {
  return {.info = {.name = "mgsm_direct",
                   .description = "word problems in eleven languages, answered by a number",
                   .files = {"mgsm/mgsm.tar.xz"},
                   .metrics = {"exact_match,flexible-extract", "exact_match,remove_whitespace"}},
          .read = read_mgsm,
          .value = value_mgsm,
          .question = "{{ question_word }} {{ question }}\n{{ answer_word }}",
          .target = "{{ answer_number }}",
          .delimiter = "",
          .until = {"{{ question_word }}", "</s>", "<|im_end|>"}};
}

Task aime25() {
  return {.info = {.name = "aime25",
                   .description = "problems of the American Invitational Mathematics Examination 2025",
                   .files = {"math/aime25_test.jsonl"},
                   .metrics = {"exact_match"}},
          .read = read_aime25,
          .value = value_aime,
          .question = "Question: {{ problem }}\nAnswer:",
          .target = "{{ answer }}",
          .until = {"Question:", "</s>", "<|im_end|>", "<|eot_id|>"},
          .max_tokens = 32768};
}

Task cnn_dailymail() {
  return {.info = {.name = "cnn_dailymail",
                   .description = "news summed up, against the newspaper's highlights",
                   .files = {"cnn-dailymail-sample/cnn_dailymail_3_0_0_news_summary.jsonl"},
                   .metrics = {"rougeL", "rouge1", "rouge2"}},
          .read = read_cnn_dailymail,
          .value = value_highlights,
          .question = "Summarize the following article:\n\n{{ article }}\n\nSummary:",
          .target = "{{ highlights }}",
          .max_tokens = 128};
}

Task dialogsum() {
  return {.info = {.name = "dialogsum",
                   .description = "conversations summed up, against the best of three summaries",
                   .files = {"dialogsum/dialogsum.test.jsonl"},
                   .metrics = {"rougeL", "rouge1", "rouge2"}},
          .read = read_dialogsum,
          .value = value_summaries,
          .question = "Summarize the following dialogue:\n\n{{ dialogue }}\n\nSummary:",
          .target = "{{ summary1 }}",
          .max_tokens = 128};
}

Task wmt14() {
  return {.info = {.name = "wmt14-fr-en",
                   .description = "French news translated into English (newstest2014)",
                   .files = {"fr-en/newstest2014.fr", "fr-en/newstest2014.en"},
                   .metrics = {"bleu"}},
          .read = read_newstest2014,
          .value = value_english,
          .question = "French phrase: {{ fr }}\nEnglish phrase:",
          .target = "{{ en }}",
          .until = {"{{ '\\n' }}"}};
}

// As the metric code_eval puts them together.
std::string humaneval_program(const Json& fields, const std::string& answer) {
  const auto text = [&](const char* key) { return fields[key].get<std::string>(); };
  return text("prompt") + answer + "\n" + text("test") + "\ncheck(" + text("entry_point") + ")";
}

std::string mbpp_program(const Json& fields, const std::string& answer) {
  return answer + "\n" + fields["tests"].get<std::string>();
}

Task humaneval() {
  return {
      .info = {.name = "humaneval",
               .description = "Python functions, completed and run",
               .files = {"humaneval/HumanEval.jsonl.gz"},
               .metrics = {"pass@1"},
               .runs_code = true},
      .read = read_humaneval,
      .value = value_nothing,
      .question = "{{ prompt }}",
      .target = "{{ canonical_solution }}",
      .delimiter = "",
      .until = {"{{ '\\nclass' }}", "{{ '\\ndef' }}", "{{ '\\n#' }}", "{{ '\\nif' }}", "{{ '\\nprint' }}"},
      .max_tokens = 1024,
      .program = humaneval_program};
}

Task mbpp_plus() {
  return {.info = {.name = "mbpp_plus",
                   .description = "Python functions, written and run with their basic tests",
                   .files = {"mbppplus/MbppPlus.jsonl.gz"},
                   .metrics = {"pass@1"},
                   .examples = 3,
                   .runs_code = true},
          .read = read_mbpp_plus,
          .value = value_nothing,
          .question =
              "You are an expert Python programmer, and here is your task: {{ text }} Your code should pass "
              "these tests:\n\n{{ shown_tests }}\n[BEGIN]{{ '\\n' }}",
          .target = "{{ canonical_solution.strip() }}\n[DONE]",
          .delimiter = "",
          .first_examples = true,
          .until = {"[DONE]"},
          .program = mbpp_program};
}

Task longwriter() {
  return {.info = {.name = "longwriter",
                   .description = "long texts; no score, compare with the answers of another run",
                   .files = {"longwriter/longbench_write_en.jsonl"},
                   .metrics = {}},
          .read = read_longwriter,
          .value = value_nothing,
          .question = "{{ prompt }}",
          .max_tokens = 4096,
          .chat = true};
}

}  // namespace

const std::vector<Task>& catalogue() {
  static const std::vector<Task> tasks = {mmlu(),      hellaswag(), blimp(),         wikitext(),  gsm8k(),
                                          mgsm(),      aime25(),    cnn_dailymail(), dialogsum(), wmt14(),
                                          humaneval(), mbpp_plus(), longwriter()};
  return tasks;
}

}  // namespace fovea::tasks

namespace fovea {

std::vector<TaskInfo> known_tasks() {
  std::vector<TaskInfo> infos;
  for (const tasks::Task& task : tasks::catalogue()) infos.push_back(task.info);
  return infos;
}

}  // namespace fovea
