#include "engine/jinja/pretty.h"

#include <algorithm>
#include <numeric>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/literals.h"
#include "engine/jinja/text_operations.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

constexpr std::int64_t page_width = 80;

// Groupby's tuples and a dict's views are types of their own, which pprint leaves as they are.
bool is_plain_sequence(const Value& v) {
  return v.is_list() || (v.is_tuple() && !v.sequence().grouped);
}

// Keys that cannot be compared are ordered by the names of their types.
int rank_of_type(Interpreter& in, const Value& key) {
  if (key.is_none()) return 0;
  if (key.is_number()) return 1;
  if (key.is_text()) return 2;
  if (key.is_tuple()) return 3;
  in.run.fail("pprint cannot order a " + type_name(key) + " among a dict's keys");
}

std::vector<const Dict::Entry*> sorted_entries(Interpreter& in, const Dict& dict) {
  std::vector<const Dict::Entry*> entries;
  for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
  if (entries.size() < 2) return entries;
  std::ranges::stable_sort(entries, [&](const Dict::Entry* x, const Dict::Entry* y) {
    const int rank_x = rank_of_type(in, x->first);
    const int rank_y = rank_of_type(in, y->first);
    return rank_x != rank_y ? rank_x < rank_y : in.less(x->first, y->first);
  });
  return entries;
}

class Page {
 public:
  explicit Page(Interpreter& in) : in_(in) {}

  // `room_behind`: characters that follow on the same line. Level 1 is the whole value.
  void value(const Value& v, std::int64_t column, std::int64_t room_behind, int level) {
    const Run::Level guard(in_.run);
    const std::string flat = on_one_line(v);
    if (count_points(flat) <= page_width - column - room_behind) {
      out_ += flat;
    } else if (v.is_dict()) {
      dict(v.dict(), column, room_behind, level);
    } else if (is_plain_sequence(v)) {
      sequence(v, column, room_behind, level);
    } else if (v.is_text() && !v.text().markup && !v.bytes().empty()) {
      text(v.bytes(), column, room_behind, level);
    } else {
      out_ += flat;
    }
    in_.run.check_size(out_.size());
  }

  std::string take() { return std::move(out_); }

 private:
  // As repr(), but dicts are sorted.
  std::string on_one_line(const Value& v) {
    if (!v.is_dict() && !is_plain_sequence(v)) return in_.repr(v);
    const Run::Level guard(in_.run);
    std::string line;
    const auto add = [&](const std::string& part) {
      if (!line.empty()) line += ", ";
      line += part;
      in_.run.step();
      in_.run.check_size(line.size());
    };
    if (v.is_dict()) {
      for (const Dict::Entry* entry : sorted_entries(in_, v.dict()))
        add(on_one_line(entry->first) + ": " + on_one_line(entry->second));
      return '{' + line + '}';
    }
    for (const Value& item : v.sequence().items) add(on_one_line(item));
    if (v.is_list()) return '[' + line + ']';
    return '(' + line + (v.sequence().items.size() == 1 ? ",)" : ")");
  }

  void new_line(std::int64_t column) {
    in_.run.check_size(Int{column}, 1);
    out_ += '\n';
    out_.append(static_cast<std::size_t>(column), ' ');
  }

  void dict(const Dict& dict, std::int64_t column, std::int64_t room_behind, int level) {
    const auto entries = sorted_entries(in_, dict);
    out_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) {
        out_ += ',';
        new_line(column + 1);
      }
      const std::string key = on_one_line(entries[i]->first);
      out_ += key + ": ";
      value(entries[i]->second, column + 1 + count_points(key) + 2,
            i + 1 == entries.size() ? room_behind + 1 : 1, level + 1);
    }
    out_ += '}';
  }

  void sequence(const Value& v, std::int64_t column, std::int64_t room_behind, int level) {
    const std::vector<Value>& items = v.sequence().items;
    const std::string_view end = v.is_list() ? "]" : items.size() == 1 ? ",)" : ")";
    out_ += v.is_list() ? '[' : '(';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) {
        out_ += ',';
        new_line(column + 1);
      }
      const bool last = i + 1 == items.size();
      value(items[i], column + 1, last ? room_behind + static_cast<std::int64_t>(end.size()) : 1, level + 1);
    }
    out_ += end;
  }

  // Adjacent literals, cut behind white space; in parentheses where nothing else encloses them.
  void text(std::string_view text, std::int64_t column, std::int64_t room_behind, int level) {
    const bool enclose = level == 1;
    if (enclose) {
      ++column;
      ++room_behind;
    }
    const std::vector<std::string> parts = literals(text, page_width - column, room_behind);
    if (enclose && parts.size() > 1) out_ += '(';
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) new_line(column);
      out_ += parts[i];
      in_.run.check_size(out_.size());
    }
    if (enclose && parts.size() > 1) out_ += ')';
  }

  std::vector<std::string> literals(std::string_view text, std::int64_t width, std::int64_t room_behind) {
    std::vector<std::string> parts;
    const std::vector<std::string_view> lines = lines_of(text, true);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last_line = i + 1 == lines.size();
      std::string whole = in_.repr(Value::text(std::string(lines[i])));
      if (count_points(whole) <= width - (last_line ? room_behind : 0)) {
        parts.push_back(std::move(whole));
      } else {
        cut_line(lines[i], width, last_line ? room_behind : 0, parts);
      }
    }
    return parts;
  }

  // `room_behind` counts for the last word only.
  void cut_line(std::string_view line, std::int64_t width, std::int64_t room_behind,
                std::vector<std::string>& parts) {
    std::string_view rest = line;
    std::string_view piece;  // the words that fit so far
    const auto emit = [&] {
      if (!piece.empty()) parts.push_back(text_repr(piece));
    };
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, end_of_word(rest));
      rest.remove_prefix(word.size());
      const std::string_view longer =
          piece.empty() ? word : std::string_view(piece.data(), piece.size() + word.size());
      in_.run.work(longer.size());
      in_.run.step();
      if (count_points(text_repr(longer)) > width - (rest.empty() ? room_behind : 0)) {
        emit();
        piece = word;
      } else {
        piece = longer;
      }
    }
    emit();
  }

  // Behind a word and the white space that follows it.
  static std::size_t end_of_word(std::string_view text) {
    std::size_t end = 0;
    bool blank = false;
    for (std::size_t at = 0; at < text.size(); end = at) {
      const bool space = is_space(next_point(text, at));
      if (blank && !space) break;
      blank = space;
    }
    return end;
  }

  Interpreter& in_;
  std::string out_;
};

}  // namespace

std::string pretty(Interpreter& in, const Value& value) {
  Page page(in);
  page.value(value, 0, 0, 1);
  return page.take();
}

}  // namespace fovea::jinja
