// What is said of tasks, their data sets and their results.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(task_prompt_place, "the prompts of {task}");

}  // namespace fovea::phrases

namespace fovea::errors {

// packed_file.cpp
FOVEA_ERROR(not_found, task_file_missing, "there is no such file, nor one ending in .xz, .gz or .bz2",
            "Give the folder that holds the data sets with --data");
FOVEA_ERROR(format, task_file_damaged, "it cannot be unpacked: {said}", "Get the file again");
FOVEA_ERROR(format, task_file_too_large, "unpacked it is larger than {limit}",
            "Give a data set that the task is made for");

// text_formats.cpp, data_sets.cpp, prompts.cpp
FOVEA_ERROR(format, task_line_no_object, "it is not a JSON object", "Get the file again");
FOVEA_ERROR(format, task_line_without_key, "the object has no {key}",
            "Give a data set that the task is made for");
FOVEA_ERROR(format, task_value_no_text, "its {key} is not a string",
            "Give a data set that the task is made for");
FOVEA_ERROR(format, task_row_no_question, "it is not what the task is made for", "Get the file again");
FOVEA_ERROR(format, task_files_not_parallel, "one language has {lines} lines, the other {others}",
            "Get both files again");
FOVEA_ERROR(format, task_no_such_choice, "\"{given}\" is not the number of a choice",
            "Give a data set that the task is made for");
FOVEA_ERROR(invalid, task_too_few_examples,
            "the data set has {examples} {examples:example|examples} for prompts, {wanted} were asked for",
            "Give fewer with --num-fewshot");

// run.cpp
FOVEA_ERROR(not_found, no_such_task, "there is no task {task}", "Choose one of: {tasks}");
FOVEA_ERROR(not_found, no_such_task_part, "it has no part {part}", "Leave the part out to run all");
FOVEA_ERROR(invalid, task_without_documents, "its data set is empty", "Get the file again");
FOVEA_ERROR(invalid, task_answer_beyond_context,
            "an answer of {tokens} tokens does not fit in a context of {context}",
            "Load the model with a longer context, or give --max-tokens");

FOVEA_ERROR(invalid, task_runs_code, "it runs what the model writes, which is off by default",
            "Allow it with --allow-code: it runs in bubblewrap, without network and files");

// sandbox.cpp
FOVEA_ERROR(unsupported, sandbox_cannot_start, "it cannot run Python here: {said}",
            "Install bubblewrap, util-linux and python3, and allow user namespaces; or leave out tasks that "
            "run code");

// results_file.cpp
FOVEA_ERROR(not_found, task_results_missing, "there is no such file", "Make one with --results");
FOVEA_ERROR(format, task_results_not_ours, "it contains no task results", "Choose another file");
FOVEA_ERROR(format, task_results_damaged, "it is not the outcome of a document",
            "Remove the line, so that the document is run again");
FOVEA_ERROR(invalid, task_results_in_use, "another run is writing to it", "Give another file");
FOVEA_ERROR(invalid, task_results_of_another_run, "it was made with {setting} {found}, now it is {wanted}",
            "Give another file, or the settings that it was made with");

// compare.cpp
FOVEA_ERROR(invalid, task_nothing_in_common, "the two runs have no document in common",
            "Run the same tasks twice");

}  // namespace fovea::errors
