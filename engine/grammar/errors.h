// What is said of grammars that hold an answer to a form.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(grammar_line, "{grammar}, line {line}");
FOVEA_PHRASE(pattern_byte, "{pattern}, byte {offset}");
FOVEA_PHRASE(schema_pointer, "{schema}, {pointer}");
FOVEA_PHRASE(given_grammar, "the grammar");

// What is missing, gbnf.cpp
FOVEA_PHRASE(gbnf_rule_name, "the name of a rule");
FOVEA_PHRASE(gbnf_end_of_line, "the end of the line");
FOVEA_PHRASE(gbnf_closing, "the closing quote or bracket on the same line");
FOVEA_PHRASE(gbnf_escape, "one of \\n \\r \\t \\\" \\\\ \\[ \\] \\x41 \\u0041 \\U00000041");

// Likewise, gbnf.cpp and pattern.cpp
FOVEA_PHRASE(repetition_counts, "{{n}, {{n,} or {{n,m} with numbers below {limit}");
FOVEA_PHRASE(code_point, "a code point that is not a surrogate");

// Likewise, pattern.cpp
FOVEA_PHRASE(pattern_closing_group, "the closing bracket of a group");
FOVEA_PHRASE(pattern_closing_class, "the closing bracket of a class");
FOVEA_PHRASE(pattern_what_is_repeated, "something to repeat before {repetition}");
FOVEA_PHRASE(pattern_escape, "something that \\ escapes");
FOVEA_PHRASE(pattern_end, "the end of the expression");

// What is not supported, pattern.cpp
FOVEA_PHRASE(pattern_look_around, "looking ahead or behind ({construct})");
FOVEA_PHRASE(pattern_back_reference, "a reference to a group ({construct})");
FOVEA_PHRASE(pattern_word_boundary, "a word boundary ({construct})");
FOVEA_PHRASE(pattern_property, "a property of characters ({construct})");
FOVEA_PHRASE(pattern_modifiers, "a change of flags ({construct})");

// What a keyword must be, schema_reader.cpp and json_schema.cpp
FOVEA_PHRASE(schema_type_name, "the name of a type, or a list of such names");
FOVEA_PHRASE(schema_filled_list, "a list that is not empty");
FOVEA_PHRASE(schema_list, "a list");
FOVEA_PHRASE(schema_count, "a whole number of 0 or more");
FOVEA_PHRASE(schema_object, "an object");
FOVEA_PHRASE(schema_names, "a list of names");

}  // namespace fovea::phrases

namespace fovea::errors {

// All three kinds
FOVEA_ERROR(invalid, grammar_text_too_long, "the text has more than {limit:exact} bytes",
            "Give a shorter one");
FOVEA_ERROR(invalid, grammar_not_utf8, "the text is not UTF-8", "Convert it to UTF-8");
FOVEA_ERROR(invalid, grammar_nested, "nested more than {limit} levels deep", "Give a flatter one");

// rules.cpp
FOVEA_ERROR(invalid, grammar_too_large,
            "this takes more than {rules} rules, {states} states or {edges} transitions",
            "Give a smaller one: long repetitions of long parts take the most");
FOVEA_ERROR(invalid, grammar_without_answer, "no answer satisfies it", "Correct what contradicts itself");
FOVEA_ERROR(unsupported, grammar_left_recursion, "the rule \"{rule}\" may begin with itself",
            "Write repetitions with * or +, or put the recursion after other text");

// gbnf.cpp
FOVEA_ERROR(invalid, gbnf_expected, "expected {expected}", "Correct the grammar");
FOVEA_ERROR(invalid, gbnf_unknown_rule, "the rule \"{rule}\" is used and not defined", "Define it");
FOVEA_ERROR(invalid, gbnf_defined_twice, "the rule \"{rule}\" is defined twice", "Rename one of them");
FOVEA_ERROR(invalid, gbnf_no_root, "there is no rule \"root\"", "Name the rule of the whole answer \"root\"");
FOVEA_ERROR(unsupported, gbnf_token, "tokens between < and > are not supported",
            "Write the text that the token stands for");

// pattern.cpp
FOVEA_ERROR(invalid, pattern_expected, "expected {expected}", "Correct the regular expression");
FOVEA_ERROR(unsupported, pattern_unsupported, "{construct} is not supported",
            "Write the expression without it");

// Both
FOVEA_ERROR(invalid, grammar_repetition, "a repetition from {least} to {most} times",
            "Put the smaller number first");
FOVEA_ERROR(invalid, grammar_range, "a range that ends before it begins", "Turn it around");

// schema_reader.cpp and json_schema.cpp
FOVEA_ERROR(invalid, schema_not_json, "this is not valid JSON", "Check it with a JSON tool");
FOVEA_ERROR(invalid, schema_value, "\"{keyword}\" must be {expected}", "Correct the schema");
FOVEA_ERROR(invalid, schema_not_schema, "this is neither an object nor true or false", "Correct the schema");
FOVEA_ERROR(unsupported, schema_keyword, "\"{keyword}\" is not supported", "Leave it out");
FOVEA_ERROR(unsupported, schema_keyword_beside, "\"{keyword}\" is not supported beside \"{other}\"",
            "Leave one of them out");
FOVEA_ERROR(unsupported, schema_format, "the format \"{format}\" is not supported",
            "Leave it out, or write it as a pattern");
FOVEA_ERROR(unsupported, schema_one_of,
            "alternatives {left} and {right} of \"oneOf\" are not known to exclude each other",
            "Use \"anyOf\", or give them different types or a required property with different constants");
FOVEA_ERROR(invalid, schema_reference, "\"{reference}\" leads nowhere in this schema",
            "Use \"#\" or a path such as \"#/$defs/name\"");
FOVEA_ERROR(unsupported, schema_digits, "the bound {bound} has more than {limit} digits",
            "Give one with fewer digits");

FOVEA_ERROR(unsupported, schema_not_of_spelling,
            "\"{text}\" cannot be written the way this model writes calls",
            "Give it another name, or choose another model");

// matcher.cpp
FOVEA_ERROR(unsupported, grammar_vocabulary,
            "the model's vocabulary lacks single bytes that every answer needs",
            "Choose another model, or a grammar with other characters");
FOVEA_ERROR(unsupported, grammar_too_ambiguous,
            "the text so far can be read in more ways, or is nested deeper, than can be followed",
            "Make the grammar less ambiguous");

}  // namespace fovea::errors
