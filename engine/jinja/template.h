// A Jinja interpreter for chat templates: what they use of the language, equal byte for byte to jinja2 with
// Hugging Face's settings (trim_blocks, lstrip_blocks, loop controls, generation blocks, an immutable
// sandbox, no escaping).
//
// What templates have. A number says how many of 269 public chat templates use it (of Qwen, gpt-oss,
// DeepSeek, Llama, Mistral, Gemma, GLM, Granite, Command R, Phi, Nemotron and others, as the repositories of
// trl, unsloth, huggingface.js and others keep them); the rest is there because a template may well need it.
//
// tags       for 265 (with `if` 15, with `else` 1, recursive), if 264, set 190 (as a block 17), macro 58,
//            break 6, continue 3, call 1, filter 1, generation, raw, with
// operators  all: comparisons and `in` 252, + 234, slices 112, inline if 71, % 48 (a string takes %s, %d and
//            %% only), ~ 35, - * / // ** and so on
// literals   strings with escapes, decimal numbers, lists, tuples, dicts
// loop       index0 121, last 115, first 74, previtem 27, nextitem 26, index 11, length 2, changed, cycle,
//            depth, depth0, revindex, revindex0, loop() itself
// functions  raise_exception 101, namespace 90, range 15, strftime_now 14, caller 1, dict, joiner
// filters    trim 93, tojson 88 (ensure_ascii, indent, separators, sort_keys), length 72, string 47,
//            items 30, safe 24, list 23, default 21, upper 17, join 16, selectattr 13, dictsort 12, map 12,
//            lower 11, capitalize 4, last 4, replace 4, reject 3, int 2, rejectattr 2, first 1, indent 1,
//            title 1, abs, count, escape, float, format (as %), max, min, reverse, round, select, sort, sum,
//            unique
// tests      defined 113, string 92, none 65, iterable 58, mapping 56, sequence 31, false 22, undefined 22,
//            equalto 18, boolean 12, true 9, in 1, divisibleby, even, float, integer, number, odd, sameas and
//            the other comparisons
// strings    split 64, lstrip 33, strip 31, endswith 29, rstrip 29, startswith 27, replace 8, find 4,
//            rfind 4, capitalize 2, title 2, count, format ({}, {0} and {name} only, as Tencent's Hy3 has
//            it), join, lower, removeprefix, removesuffix, rsplit, splitlines, upper
// dicts      items 16, get 15, keys 1, values
// lists      count, index; tuples and ranges too
//
// What else jinja2 and Python have is left out, for no chat template uses it: filters such as groupby, pprint
// and wordwrap, tests such as callable, the classes of characters (isdigit and so on), padding, widths and
// precisions in formats, other bases of numbers, `varargs` and `kwargs` of macros. Each is an error that
// names it, never other text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/error.h"
#include "engine/jinja/value.h"

namespace fovea::jinja {

struct Limits {
  std::int64_t steps = 5'000'000;
  int depth = 200;
  std::int64_t output_bytes = 64 << 20;  // of the output, and of any value made on the way
};

constexpr int max_value_height = 200;  // levels of lists and dicts in each other

struct Clock {
  std::int64_t unix_seconds = -1;  // what strftime_now shows, in local time; the present if negative
};

struct Tree;

class Template {
 public:
  // where: the template's place; errors add the line.
  static Result<Template> parse(std::string_view source, Phrase where);

  using Variables = std::vector<std::pair<std::string, Value>>;
  // Any number of threads may render one template.
  Result<std::string> render(const Variables&, const Limits& = {}, const Clock& = {}) const;

  // What the source reads, whether or not a rendering gets there: a variable that it is given; a field of
  // anything but its own namespaces (x.name, x["name"], x.get("name"), "name" in x); a text that it looks for
  // in another ("text" in x, x.split("text") and the like).
  bool reads_variable(std::string_view name) const;
  bool reads_field(std::string_view name) const;
  bool looks_for(std::string_view text) const;

 private:
  Template(std::shared_ptr<const Tree> tree, Phrase where)
      : tree_(std::move(tree)), where_(std::move(where)) {}

  std::shared_ptr<const Tree> tree_;
  Phrase where_;
};

}  // namespace fovea::jinja
