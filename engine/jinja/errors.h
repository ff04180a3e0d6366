// What is said of chat templates. A type is called as Python calls it (str, NoneType …).
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// template.cpp
FOVEA_PHRASE(jinja_line, "{template}, line {line}");
FOVEA_PHRASE(jinja_correct, "Correct the template there, or give another one");

// lexer.cpp, parsers: what was found and what was expected
FOVEA_PHRASE(jinja_token, "'{token}'");
FOVEA_PHRASE(jinja_text, "text");
FOVEA_PHRASE(jinja_name, "a name");
FOVEA_PHRASE(jinja_string, "a string");
FOVEA_PHRASE(jinja_symbol, "a symbol");
FOVEA_PHRASE(jinja_end, "the end of the template");
FOVEA_PHRASE(jinja_expression, "an expression");
FOVEA_PHRASE(jinja_tag_name, "the name of a tag");
FOVEA_PHRASE(jinja_name_or_number, "a name or a number after '.'");

// What is left out: see template.h
FOVEA_PHRASE(jinja_filter, "the filter '{name}'");
FOVEA_PHRASE(jinja_format_with_names, "the filter 'format' with names");
FOVEA_PHRASE(jinja_test, "the test '{name}'");
FOVEA_PHRASE(jinja_global, "the name '{name}'");
FOVEA_PHRASE(jinja_tag, "the tag '{name}'");
FOVEA_PHRASE(jinja_in_macro, "'{name}' in a macro");
FOVEA_PHRASE(jinja_attribute, "the attribute '{name}' of {type}");
FOVEA_PHRASE(jinja_field, "the format '{field}'");
FOVEA_PHRASE(jinja_literal, "the number '{number}'");
FOVEA_PHRASE(jinja_escape, "the escape '\\{letter}' in a string");

}  // namespace fovea::phrases

namespace fovea::errors {

// template.cpp
FOVEA_ERROR(format, jinja_not_utf8, "the template is not UTF-8 text", "Convert it to UTF-8");
FOVEA_ERROR(memory, jinja_no_memory, "there is not enough memory for the template", "Give another one");
FOVEA_ERROR(memory, jinja_no_memory_to_render, "there is not enough memory to render the template",
            "Shorten the conversation, or give another template");

// lexer.cpp
FOVEA_ERROR(format, jinja_open_comment, "the comment does not end (expected '#}')", "");
FOVEA_ERROR(format, jinja_open_raw, "the raw block does not end (expected '{{% endraw %}')", "");
FOVEA_ERROR(format, jinja_open_expression, "the expression does not end (expected '}}')", "");
FOVEA_ERROR(format, jinja_open_tag, "the tag does not end (expected '%}')", "");
FOVEA_ERROR(format, jinja_open_string, "the string does not end (expected {quote})", "");
FOVEA_ERROR(format, jinja_character, "the character '{character}' is not allowed here", "");
FOVEA_ERROR(format, jinja_not_ascii,
            "the character '{character}' is not allowed here: names are ASCII letters, digits and '_'", "");
FOVEA_ERROR(format, jinja_closes_nothing, "'{bracket}' closes nothing", "");
FOVEA_ERROR(format, jinja_unexpected, "found {found}, expected {expected}", "");

// literals.cpp
FOVEA_ERROR(format, jinja_large_literal, "the number has more than 128 bits", "");
FOVEA_ERROR(format, jinja_backslash, "the string ends with a backslash", "");
FOVEA_ERROR(format, jinja_short_escape, "the string has an escape with too few hexadecimal digits", "");
FOVEA_ERROR(format, jinja_escape_beyond, "the string has an escape beyond Unicode", "");
FOVEA_ERROR(format, jinja_half_pair, "the string has an escape for half a surrogate pair", "");

// expression_parser.cpp
FOVEA_ERROR(format, jinja_nested, "nested more than {limit} levels deep", "");
FOVEA_ERROR(format, jinja_nested_expression, "the expression is nested more than {limit} levels deep", "");
FOVEA_ERROR(format, jinja_argument_order, "the arguments of a call are in the wrong order", "");
FOVEA_ERROR(format, jinja_argument_twice, "the argument '{argument}' is given twice", "");
FOVEA_ERROR(format, jinja_chained_tests, "tests cannot be chained with 'is'", "");
FOVEA_ERROR(format, jinja_not_assignable, "this cannot be assigned to", "");

// parser.cpp
FOVEA_ERROR(format, jinja_template_ends, "the template ends before the '{tag}' of line {line} does", "");
FOVEA_ERROR(unsupported, jinja_other_files, "the tag '{tag}' is not supported",
            "A chat template must stand alone: templates that use other files are not read");
FOVEA_ERROR(unsupported, jinja_unknown_tag, "the tag '{tag}' is not known here", "");
FOVEA_ERROR(format, jinja_loop_assigned, "'loop' cannot be assigned to in a for loop", "");
FOVEA_ERROR(format, jinja_parameter_twice, "the parameter '{parameter}' appears twice", "");
FOVEA_ERROR(format, jinja_parameter_order, "a parameter without a default follows one that has a default",
            "");
FOVEA_ERROR(format, jinja_caller_parameter, "the parameter 'caller' must be left out or have a default", "");
FOVEA_ERROR(format, jinja_call_block, "a call block must call something", "");
FOVEA_ERROR(format, jinja_outside_loop, "'{tag}' is outside a loop", "");

// library.cpp
FOVEA_ERROR(unsupported, jinja_left_out, "{what} is not supported in Fovea's templates", "");
FOVEA_ERROR(unsupported, jinja_unknown_filter, "the filter '{filter}' is not known", "");
FOVEA_ERROR(unsupported, jinja_unknown_test, "the test '{test}' is not known", "");
FOVEA_ERROR(invalid, jinja_many_arguments,
            "{function}() takes at most {limit} {limit:argument|arguments}, {count} {count:is|are} given",
            "");
FOVEA_ERROR(invalid, jinja_unknown_argument, "{function}() has no argument '{argument}'", "");
FOVEA_ERROR(invalid, jinja_argument_bound_twice, "{function}() is given the argument '{argument}' twice", "");
FOVEA_ERROR(invalid, jinja_missing_argument, "{function}() lacks its argument '{argument}'", "");
FOVEA_ERROR(invalid, jinja_whole_argument, "{function}() takes a whole number for '{argument}', not {type}",
            "");
FOVEA_ERROR(invalid, jinja_string_argument, "{function}() takes a string for '{argument}', not {type}", "");
FOVEA_ERROR(invalid, jinja_keyword_arguments, "{function}() takes no keyword arguments", "");
FOVEA_ERROR(invalid, jinja_test_arguments, "the test takes no arguments", "");
FOVEA_ERROR(invalid, jinja_method_arguments, "the method takes no arguments", "");

// run.cpp
FOVEA_ERROR(invalid, jinja_steps, "the template took more than {limit} steps",
            "It may loop without end; choose another template");
FOVEA_ERROR(invalid, jinja_output, "the template made more than {limit:exact} bytes of output",
            "Shorten the conversation or choose another template");
FOVEA_ERROR(invalid, jinja_depth, "the template is nested more than {limit} levels deep while it runs",
            "A macro or a loop may call itself without end; choose another template");
FOVEA_ERROR(invalid, jinja_value_depth, "a value is nested more than {limit} levels deep", "");

// What has no value: said when it is used
FOVEA_ERROR(invalid, jinja_undefined, "the value is undefined", "");
FOVEA_ERROR(invalid, jinja_undefined_name, "'{name}' is undefined", "");
FOVEA_ERROR(invalid, jinja_no_else,
            "the inline if-expression evaluated to false and no else section was defined", "");
FOVEA_ERROR(invalid, jinja_no_attribute, "'{type} object' has no attribute '{name}'", "");
FOVEA_ERROR(invalid, jinja_no_element, "'{type} object' has no such element", "");
FOVEA_ERROR(invalid, jinja_attribute_of_none, "'None' has no attribute '{name}'", "");
FOVEA_ERROR(invalid, jinja_element_of_none, "'None' has no such element", "");
FOVEA_ERROR(invalid, jinja_unsafe_attribute, "access to attribute '{name}' of '{type}' object is unsafe", "");
FOVEA_ERROR(invalid, jinja_missing_parameter, "parameter '{parameter}' was not provided", "");
FOVEA_ERROR(invalid, jinja_no_caller, "no caller is defined", "");
FOVEA_ERROR(invalid, jinja_no_previous_item, "there is no previous item", "");
FOVEA_ERROR(invalid, jinja_no_next_item, "there is no next item", "");
FOVEA_ERROR(invalid, jinja_no_first_item, "there is no first item: the sequence is empty", "");
FOVEA_ERROR(invalid, jinja_no_last_item, "there is no last item: the sequence is empty", "");
FOVEA_ERROR(invalid, jinja_no_extreme_item, "there is no smallest or largest item: the sequence is empty",
            "");

// expressions.cpp
FOVEA_ERROR(invalid, jinja_slice_outside, "a slice is not allowed here", "");
FOVEA_ERROR(invalid, jinja_star_type, "what follows '**' must be a dict, it is {type}", "");
FOVEA_ERROR(invalid, jinja_star_keys, "the keys of a dict after '**' must be strings", "");
FOVEA_ERROR(invalid, jinja_star_twice, "the argument '{argument}' is given twice", "");
FOVEA_ERROR(invalid, jinja_joiner_arguments, "a joiner takes no arguments", "");
FOVEA_ERROR(invalid, jinja_not_callable, "a {type} cannot be called", "");

// operators.cpp
FOVEA_ERROR(invalid, jinja_operand, "'{operator}' cannot be applied to {type}", "");
FOVEA_ERROR(invalid, jinja_operands, "'{operator}' cannot be applied to {left} and {right}", "");
FOVEA_ERROR(invalid, jinja_division_by_zero, "division by zero", "");
FOVEA_ERROR(invalid, jinja_large_result, "the result needs more than 128 bits", "");
FOVEA_ERROR(invalid, jinja_zero_power, "zero cannot be raised to a negative power", "");
FOVEA_ERROR(invalid, jinja_root, "a negative number cannot be raised to a fraction", "");
FOVEA_ERROR(invalid, jinja_large_power, "the result is too large for a float", "");
FOVEA_ERROR(invalid, jinja_key_type, "a {type} cannot be the key of a dict", "");
FOVEA_ERROR(invalid, jinja_in_string, "'in' a string takes a string, not {type}", "");
FOVEA_ERROR(invalid, jinja_not_iterable, "a {type} cannot be iterated over", "");
FOVEA_ERROR(invalid, jinja_not_sliceable, "a {type} cannot be sliced", "");
FOVEA_ERROR(invalid, jinja_slice_parts, "the parts of a slice must be whole numbers", "");
FOVEA_ERROR(invalid, jinja_slice_step, "the step of a slice cannot be zero", "");

// statements.cpp, loop.cpp
FOVEA_ERROR(invalid, jinja_not_namespace, "'{name}' is not a namespace: its attributes cannot be assigned",
            "");
FOVEA_ERROR(invalid, jinja_private_attribute,
            "a namespace cannot have the attribute '{name}': it begins with '_'", "");
FOVEA_ERROR(invalid, jinja_unpack,
            "cannot unpack {values} {values:value|values} into {names} {names:name|names}", "");
FOVEA_ERROR(invalid, jinja_filter_block, "a filter block must give a string, not {type}", "");
FOVEA_ERROR(invalid, jinja_call_block_result, "a call block must give a string, not {type}", "");
FOVEA_ERROR(invalid, jinja_macro_keyword, "the macro '{macro}' takes no keyword argument '{argument}'", "");
FOVEA_ERROR(invalid, jinja_macro_arguments,
            "the macro '{macro}' takes at most {limit} {limit:argument|arguments}", "");
FOVEA_ERROR(invalid, jinja_nothing_to_cycle, "loop.cycle() needs something to cycle through", "");
FOVEA_ERROR(invalid, jinja_not_recursive, "only a loop that is marked 'recursive' can be called", "");
FOVEA_ERROR(invalid, jinja_loop_argument, "loop() takes one argument", "");

// format.cpp
FOVEA_ERROR(invalid, jinja_format_number, "the format '%d' needs a number, not {type}", "");
FOVEA_ERROR(invalid, jinja_format_large, "the format '%d' needs a number of at most 128 bits", "");
FOVEA_ERROR(invalid, jinja_format_cut, "the format ends in the middle of a field", "");
FOVEA_ERROR(invalid, jinja_format_mixed, "the format mixes numbered and unnumbered fields", "");
FOVEA_ERROR(invalid, jinja_format_fields, "the format has more fields than values", "");
FOVEA_ERROR(invalid, jinja_format_values, "not all values are used by the format", "");
FOVEA_ERROR(invalid, jinja_format_name, "the format names '{name}', which is not given", "");
FOVEA_ERROR(invalid, jinja_format_brace, "the format has a lone '{brace}'", "");
FOVEA_ERROR(invalid, jinja_no_text, "a {type} has no text (make a list of it, or call it)", "");

// functions.cpp, methods.cpp
FOVEA_ERROR(invalid, jinja_raised, "the template says: {said}",
            "Change the messages so that it takes them, or give another template");
FOVEA_ERROR(invalid, jinja_range_step, "the step of range() cannot be zero", "");
FOVEA_ERROR(invalid, jinja_range_far, "the numbers of range() must be below 2**62", "");
FOVEA_ERROR(invalid, jinja_range_long, "range() has more than {limit} numbers", "");
FOVEA_ERROR(invalid, jinja_one_positional, "{function}() takes at most one positional argument", "");
FOVEA_ERROR(invalid, jinja_pairs, "{function}() takes pairs", "");
FOVEA_ERROR(invalid, jinja_not_in_list, "the value to find is not in the list", "");

// strings.cpp
FOVEA_ERROR(invalid, jinja_empty_separator, "split() needs a separator that is not empty", "");
FOVEA_ERROR(invalid, jinja_join_strings, "join() takes strings, one is {type}", "");
FOVEA_ERROR(invalid, jinja_affix, "{function}() takes a string or a tuple of strings, not {type}", "");
FOVEA_ERROR(invalid, jinja_indent, "the filter 'indent' needs a string, not {type}", "");

// sequence_filters.cpp
FOVEA_ERROR(invalid, jinja_no_length, "a {type} has no length", "");
FOVEA_ERROR(invalid, jinja_no_last_of_type, "a {type} has no last item (make a list of it)", "");
FOVEA_ERROR(invalid, jinja_map, "map needs a filter or an attribute", "");
FOVEA_ERROR(invalid, jinja_map_filter, "map needs the name of a filter", "");
FOVEA_ERROR(invalid, jinja_select_attribute, "selectattr and rejectattr need the name of an attribute", "");
FOVEA_ERROR(invalid, jinja_select_test, "a test must be given by its name", "");
FOVEA_ERROR(invalid, jinja_dictsort_by, "dictsort sorts by 'key' or 'value'", "");
FOVEA_ERROR(invalid, jinja_needs_dict, "{filter} needs a dict, not {type}", "");
FOVEA_ERROR(invalid, jinja_unique, "unique cannot tell apart values of type {type}", "");
FOVEA_ERROR(invalid, jinja_sum_strings, "sum cannot add strings (use join)", "");

// value_filters.cpp, json.cpp
FOVEA_ERROR(invalid, jinja_needs_number, "{filter} needs a number, not {type}", "");
FOVEA_ERROR(invalid, jinja_large_number, "the number has more than 128 bits", "");
FOVEA_ERROR(invalid, jinja_infinity, "infinity is not a whole number", "");
FOVEA_ERROR(invalid, jinja_large_rounded, "the rounded number is too large", "");
FOVEA_ERROR(invalid, jinja_not_rounded, "the number cannot be rounded", "");
FOVEA_ERROR(invalid, jinja_round_method, "the method must be common, ceil or floor", "");
FOVEA_ERROR(invalid, jinja_json_separators, "the separators of tojson are two strings", "");
FOVEA_ERROR(invalid, jinja_json_value, "tojson cannot write a value of type {type}", "");
FOVEA_ERROR(invalid, jinja_json_key, "tojson cannot write a key of type {type}", "");

// tests.cpp
FOVEA_ERROR(invalid, jinja_test_number, "the test needs a number, not a string", "");
FOVEA_ERROR(invalid, jinja_equal_strings,
            "whether two equal strings are the same object is not defined; compare them with '=='", "");

}  // namespace fovea::errors
