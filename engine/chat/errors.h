// What is said of questions, and of the answers that are asked for.
#pragma once

#include "engine/text/errors.h"

namespace fovea::phrases {

// Where.
FOVEA_PHRASE(prompt_place, "prompt");
FOVEA_PHRASE(parameters_of, "parameters of {tool}");
FOVEA_PHRASE(tool_place, "tools, number {number}");
FOVEA_PHRASE(form_of_schema, "schema");
FOVEA_PHRASE(form_of_regex, "regular expression");
FOVEA_PHRASE(form_of_grammar, "grammar");

// What to do.
FOVEA_PHRASE(longer_context_or_shorter_conversation,
             "Load the model with a longer context, or shorten the conversation");
FOVEA_PHRASE(last_message_too_long,
             "Even the last message alone is too long: shorten it, or load the model with a longer context");
FOVEA_PHRASE(choose_effort, "Choose its effort instead: low, medium or high");
FOVEA_PHRASE(switch_thinking, "Switch its thinking on or off instead");

}  // namespace fovea::phrases

namespace fovea::errors {

// prompt.cpp
FOVEA_ERROR(invalid, message_not_utf8, "a message is not valid UTF-8", "Convert it to UTF-8");
FOVEA_ERROR(invalid, nothing_asked, "the request has no message and no raw prompt", "Give a question");
FOVEA_ERROR(invalid, empty_prompt, "the prompt is empty", "Give a question");
FOVEA_ERROR(invalid, last_is_not_assistants,
            "only an assistant's message can be continued, and the last is the {role}'s", "");
FOVEA_ERROR(unsupported, begun_answer_has_calls, "an answer with calls cannot be continued",
            "Answer the calls, or ask for a new answer");
FOVEA_ERROR(
    context_full, prompt_too_long,
    "{tokens} {tokens:token does|tokens do} not fit in a context of {context} with room for an answer", "");
FOVEA_ERROR(unsupported, thinking_not_switched,
            "the model's chat template has no switch for it: the model thinks as it was trained to",
            "Leave it to the model");
FOVEA_ERROR(unsupported, no_effort, "the model's chat template has no effort setting",
            "Leave it to the model");
FOVEA_ERROR(invalid, raw_prompt_has_no_template,
            "it is meant for the chat template, and a raw prompt does not use one",
            "Leave it out, or give messages");
FOVEA_ERROR(unsupported, model_is_no_chat_model, "this model has none: it was not made for conversations",
            "Choose an instruct or chat model, or give a raw prompt");

// answer_hold.cpp
FOVEA_ERROR(invalid, limit_too_short_for_form,
            "{limit} {limit:token is|tokens are} too few for an answer in the requested format",
            "Allow {needed} or more");
FOVEA_ERROR(context_full, context_too_short_for_form,
            "the context has room for {room} {room:token|tokens} of an answer, but the requested format "
            "needs {needed}",
            "Load the model with a longer context, or shorten the conversation");
FOVEA_ERROR(invalid, begun_answer_not_of_form,
            "the answer to be continued does not begin like one in the requested format",
            "Ask for a new answer, or leave out the format");

// tool_requests.cpp
FOVEA_ERROR(invalid, tool_is_no_function, "this is not an object with a \"function\"",
            "Give {{\"type\": \"function\", \"function\": {{\"name\": …, \"parameters\": …}}}}");
FOVEA_ERROR(invalid, tool_name_not_plain,
            "its function's name is not 1 to 128 letters, digits, underscores, hyphens and dots",
            "Give it such a name");
FOVEA_ERROR(invalid, tool_parameters_no_schema, "the \"parameters\" of its function are not an object",
            "Give a JSON schema, or leave them out");
FOVEA_ERROR(invalid, tool_named_twice, "two functions have the name \"{name}\"", "Rename one of them");
FOVEA_ERROR(invalid, no_tools_to_choose, "a call is required, and there are no tools",
            "Give tools, or leave the choice to the model");
FOVEA_ERROR(invalid, required_tool_unknown, "\"{name}\" must be called, and is not among them",
            "Give that function, or require another");
FOVEA_ERROR(unsupported, template_knows_no_tools,
            "the model's chat template has no place for tools: it was not made to call any",
            "Choose a model that was, or leave out the tools");
FOVEA_ERROR(unsupported, call_syntax_unknown,
            "it is not known how this model writes calls: its chat template matches none of the known ways",
            "Choose another model, or leave out the tools");

}  // namespace fovea::errors
