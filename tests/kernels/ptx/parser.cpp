#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "program.h"

namespace fovea::tests::ptx {
namespace {

[[noreturn]] void fail(int line, const std::string& what, std::string_view text) {
  throw std::runtime_error("PTX, line " + std::to_string(line) + ": " + what + " \"" + std::string(text) +
                           "\"");
}

// More than the longest access.
constexpr std::int64_t between_arrays = 64;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// At commas that no brackets are around.
std::vector<std::string_view> operands_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (const std::string_view part = trimmed(text.substr(begin, i - begin)); !part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::int64_t bytes_of_type(std::string_view type, int line) {
  if (type == "pred") return 1;
  int bits = 0;
  if (type.size() < 2 || std::from_chars(type.data() + 1, type.data() + type.size(), bits).ec != std::errc{})
    fail(line, "no type:", type);
  return bits / 8;
}

// 12, -1, 0xFF, 0f3F800000, 0d3FF0000000000000.
std::optional<Slot> number(std::string_view text) {
  if (text.empty()) return {};
  const bool negative = text.front() == '-';
  std::string_view digits = negative ? text.substr(1) : text;
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && std::strchr("xXfFdD", digits[1]) != nullptr) {
    base = 16;
    digits.remove_prefix(2);
  }
  if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
  Slot value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  return negative ? ~value + 1 : value;
}

constexpr std::string_view special_names[special_count] = {"%tid.x",    "%ntid.x",   "%ctaid.x",
                                                           "%ctaid.y",  "%ctaid.z",  "%nctaid.x",
                                                           "%nctaid.y", "%nctaid.z", "%globaltimer"};

// .align 8 .b8 name[32]
struct Array {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;
};
Array array_of(std::string_view text, int line) {
  Array found;
  std::int64_t element = 0, count = 1;
  std::size_t i = 0;
  const auto word = [&] {
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !std::isspace(static_cast<unsigned char>(text[i]))) ++i;
    return text.substr(begin, i - begin);
  };
  for (std::string_view part = word(); !part.empty(); part = word()) {
    if (part == ".align") {
      found.alignment = static_cast<std::int64_t>(number(word()).value_or(1));
    } else if (part.front() == '.') {
      if (part.size() > 2 && std::isdigit(static_cast<unsigned char>(part.back())))
        element = bytes_of_type(part.substr(1), line);
    } else {
      const std::size_t bracket = part.find('[');
      found.name = part.substr(0, bracket);
      if (bracket != std::string_view::npos)
        count = static_cast<std::int64_t>(
            number(part.substr(bracket + 1, part.find(']') - bracket - 1)).value_or(0));
      break;
    }
  }
  if (found.name.empty() || element == 0) fail(line, "no declaration:", text);
  found.alignment = std::max(found.alignment, element);
  found.bytes = element * count;
  return found;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::unique_ptr<Program> parse() {
    while (at_ < text_.size() && !(function_ == nullptr && text_.substr(at_).starts_with(".section"))) {
      const char c = text_[at_];
      if (function_ == nullptr && !header_) {
        outside();
      } else if (c == '{' && statement_.empty()) {
        ++depth_;
        header_ = false;
        advance();
      } else if (c == '}' && statement_.empty()) {
        advance();
        if (--depth_ == 0) end_function();
      } else {
        inside();
      }
    }
    if (function_ != nullptr) fail(line_, "the text ends within a function", function_->name);
    for (auto& [chain, source] : program_->sources) {
      for (const auto& [file, line] : chain)
        source += (source.empty() ? "" : ", in ") + files_[file] + ":" + std::to_string(line);
    }
    for (auto& [call, name] : calls_) {
      const auto found = program_->functions.find(name);
      if (found == program_->functions.end()) fail(line_, "no function", name);
      call.first->code[call.second].called = found->second.get();
    }
    program_->shared_bytes = aligned(program_->shared_bytes, 16);
    for (const auto& [function, slot] : dynamic_slots_)
      function->slots[slot] = static_cast<Slot>(program_->shared_bytes);
    for (const auto& [name, function] : program_->functions) {
      function->shared_arrays.resize(static_cast<std::size_t>(program_->shared_bytes));
      mark_arrays(*function, *function);
    }
    return std::move(program_);
  }

 private:
  void advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
  bool skip_comment() {
    if (text_.substr(at_, 2) != "//") return false;
    while (at_ < text_.size() && text_[at_] != '\n') advance();
    return true;
  }

  // Up to a line's end, a semicolon, or the brace of a function.
  void outside() {
    if (skip_comment()) return;
    const char c = text_[at_];
    if (statement_.empty() && std::isspace(static_cast<unsigned char>(c))) return advance();
    if (statement_.empty()) first_line_ = line_;
    const bool by_line = statement_.starts_with(".version") || statement_.starts_with(".target") ||
                         statement_.starts_with(".address_size") || statement_.starts_with(".file");
    if (c == ';' || (c == '\n' && by_line)) {
      advance();
      const std::string statement = std::exchange(statement_, {});
      if (statement.starts_with(".file")) file(statement);
      if (!by_line) variable(statement);
      return;
    }
    const bool is_function =
        statement_.find(".entry") != std::string::npos || statement_.find(".func") != std::string::npos;
    if (c == '{' && is_function) {
      header(std::exchange(statement_, {}));
      header_ = true;
      return;
    }
    statement_ += c;
    advance();
  }

  // .file 1 "/home/…/norm.cu", 1764000000, 5000
  void file(std::string_view text) {
    const std::size_t open = text.find('"'), close = text.find('"', open + 1);
    if (close == std::string_view::npos) fail(first_line_, "no file:", text);
    const std::string_view path = text.substr(open + 1, close - open - 1);
    const auto index = number(trimmed(text.substr(5, open - 5)));
    files_[static_cast<int>(index.value_or(0))] = path.substr(path.find_last_of('/') + 1);
  }
  // .loc 1 35 3, function_name $L__info_string0, inlined_at 1 80 5: of what comes next. Where the place that
  // it was inlined at is itself within such a function, an earlier one has told.
  void location() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view text = text_.substr(at_, end - at_);
    at_ = end;
    const auto place_of = [](std::string_view from) {
      Place place = {};
      const auto words = split(trimmed(from.substr(0, from.find(','))), ' ');
      for (std::size_t i = 0; i < std::min(words.size(), place.size()); ++i)
        place[i] = static_cast<int>(number(words[i]).value_or(0));
      return place;
    };
    const Place place = place_of(text.substr(4));
    const std::size_t inlined = text.find("inlined_at");
    inlined_at_.erase(place);
    if (inlined != std::string_view::npos) inlined_at_[place] = place_of(text.substr(inlined + 10));
    std::vector<std::pair<int, int>> chain;
    for (auto at = std::optional(place); at && chain.size() < 8;) {
      chain.emplace_back((*at)[0], (*at)[1]);
      const auto outside = inlined_at_.find(*at);
      at = outside == inlined_at_.end() ? std::nullopt : std::optional(outside->second);
    }
    source_ = &program_->sources[chain];
  }

  void variable(std::string_view text) {
    if (text.find(".entry") != std::string_view::npos || text.find(".func") != std::string_view::npos)
      return;  // its body comes later
    const std::size_t values = text.find('=');
    const Array array = array_of(text.substr(0, values), first_line_);
    if (text.find(".extern") != std::string_view::npos && text.find(".shared") != std::string_view::npos) {
      dynamic_.push_back(array.name);
    } else if (text.find(".shared") != std::string_view::npos) {
      add_shared(array);
    } else {
      auto& bytes = program_->constants[array.name];
      bytes.resize(static_cast<std::size_t>(array.bytes));
      if (values == std::string_view::npos) return;
      if (text.find(".b8") == std::string_view::npos) fail(first_line_, "values of other than bytes:", text);
      std::size_t i = 0;
      const std::string_view list = trimmed(text.substr(values + 1));
      for (const std::string_view value : split(list.substr(1, list.size() - 2), ','))
        bytes.at(i++) = static_cast<std::byte>(number(value).value());
    }
  }
  void add_shared(const Array& array) {
    if (program_->shared.contains(array.name)) return;
    const std::int64_t at = aligned(program_->shared_bytes, array.alignment);
    program_->shared[array.name] = {at, array.bytes};
    program_->shared_bytes = at + array.bytes + between_arrays;
  }
  // Those that `of` names, and what it calls, are what the function may reach.
  void mark_arrays(Function& function, const Function& of) {
    for (const std::string& name : names_arrays_[&of]) {
      const Parameter& array = program_->shared.at(name);
      std::fill_n(function.shared_arrays.begin() + array.at, array.bytes, true);
    }
    for (const Instruction& one : of.code)
      if (one.called && one.called != &of) mark_arrays(function, *one.called);
  }

  void header(std::string_view text) {
    const std::size_t open = text.find(
        '(', text.find(".func") != std::string_view::npos ? text.find(".func") : text.find(".entry"));
    std::string_view before = trimmed(text.substr(0, open));
    const std::string name(before.substr(before.find_last_of(" \t\n") + 1));
    auto& function = program_->functions[name];
    function = std::make_unique<Function>();
    function_ = function.get();
    function_->name = name;
    const std::size_t close = text.find(')', open);
    if (close == std::string_view::npos) fail(first_line_, "no parameters", text);
    for (const std::string_view one : operands_of(text.substr(open + 1, close - open - 1)))
      function_->parameters.push_back(add_parameter(one));
    if (const std::size_t at = text.find(".maxntid"); at != std::string_view::npos) {
      const std::string_view list = text.substr(at + 8, text.find('\n', at) - at - 8);
      function_->max_threads = static_cast<std::uint32_t>(number(split(list, ',').front()).value_or(1024));
    }
  }
  Parameter add_parameter(std::string_view text) {
    const Array array = array_of(text, line_);
    const std::int64_t at = aligned(function_->parameter_bytes, std::max(array.alignment, std::int64_t{8}));
    function_->parameter_bytes = at + array.bytes;
    parameters_[array.name] = at;
    return {at, array.bytes};
  }

  // Up to a semicolon or the colon of a label.
  void inside() {
    if (skip_comment()) return;
    if (statement_.empty() && text_.substr(at_).starts_with(".loc")) {
      // .local is another
      if (std::isspace(static_cast<unsigned char>(text_[at_ + 4]))) return location();
    }
    const char c = text_[at_];
    advance();
    if (c == ';') return statement(std::exchange(statement_, {}));
    if (c == ':' && statement_.starts_with('$')) {
      labels_[std::exchange(statement_, {})] = function_->code.size();
      return;
    }
    if (statement_.empty()) {
      if (std::isspace(static_cast<unsigned char>(c))) return;
      first_line_ = line_;
    }
    statement_ += c;
  }

  void statement(const std::string& text) {
    if (text.starts_with(".pragma")) return;
    if (text.starts_with(".reg")) {
      const std::string_view name = std::string_view(text).substr(text.find_last_of(" \t") + 1);
      registers_.emplace_back(name.substr(0, name.find('<')));
    } else if (text.starts_with(".param")) {
      add_parameter(text);
    } else if (text.starts_with(".shared")) {
      add_shared(array_of(text, first_line_));
    } else if (text.starts_with(".local")) {
      const Array array = array_of(text, first_line_);
      const std::int64_t at = aligned(function_->local_bytes, array.alignment);
      locals_[array.name] = at;
      function_->local_bytes = at + array.bytes;
    } else {
      instruction(text);
    }
  }

  std::uint32_t slot(std::string_view name) {
    const auto [found, is_new] = slots_.try_emplace(std::string(name), function_->slots.size());
    if (is_new) {
      function_->slots.push_back(0xA5A5A5A5A5A5A5A5U);  // whatever a register had
      const auto* const special = std::ranges::find(special_names, name);
      if (special != std::end(special_names))
        function_->special.emplace_back(found->second, static_cast<int>(special - special_names));
      else if (name.starts_with('%') && !is_declared(name))
        fail(first_line_, "no register that is known:", name);
    }
    return found->second;
  }
  // %tmp, or %r17 of %r<20>.
  bool is_declared(std::string_view name) const {
    const std::string_view family = name.substr(0, name.find_last_not_of("0123456789") + 1);
    return std::ranges::find_if(registers_, [&](const std::string& one) {
             return one == name || one == family;
           }) != registers_.end();
  }
  std::uint32_t slot_of_value(Slot value) {
    const auto [found, is_new] =
        slots_.try_emplace("=" + std::to_string(value), static_cast<std::uint32_t>(function_->slots.size()));
    if (is_new) function_->slots.push_back(value);
    return found->second;
  }
  // A register, a number, or the place of a variable.
  std::uint32_t operand(std::string_view text) {
    if (text.starts_with('%')) return slot(text);
    if (const auto value = number(text)) return slot_of_value(*value);
    const auto place = [&](const auto& places) -> std::optional<std::int64_t> {
      const auto found = places.find(std::string(text));
      return found == places.end() ? std::nullopt : std::optional(found->second);
    };
    if (const auto at = place(parameters_)) return slot_of_value(static_cast<Slot>(*at));
    if (const auto at = place(locals_)) return slot_of_value(static_cast<Slot>(*at));
    if (const auto found = program_->shared.find(text); found != program_->shared.end()) {
      names_arrays_[function_].insert(found->first);
      return slot_of_value(static_cast<Slot>(found->second.at));
    }
    if (std::ranges::find(dynamic_, text) != dynamic_.end()) return slot("dynamic shared memory");
    if (const auto found = program_->constants.find(text); found != program_->constants.end())
      return slot_of_value(reinterpret_cast<Slot>(found->second.data()));
    fail(first_line_, "no operand that is known:", text);
  }
  // {a, b} or a|b give several.
  void add_operands(std::string_view text, std::vector<std::uint32_t>& slots) {
    if (text.starts_with('{')) {
      for (const std::string_view one : split(text.substr(1, text.size() - 2), ','))
        slots.push_back(operand(one));
    } else if (text.find('|') != std::string_view::npos) {
      for (const std::string_view one : split(text, '|')) slots.push_back(operand(one));
    } else {
      slots.push_back(operand(text));
    }
  }

  void instruction(std::string_view text) {
    Instruction made;
    made.line = first_line_;
    made.source = source_;
    made.text = text;
    if (text.starts_with('@')) {
      text.remove_prefix(1);
      made.unless = text.starts_with('!');
      if (made.unless) text.remove_prefix(1);
      const std::size_t end = text.find_first_of(" \t");
      made.guard = static_cast<int>(slot(text.substr(0, end)));
      text = trimmed(text.substr(end));
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    const auto name = split(text.substr(0, end), '.');
    const auto operands = operands_of(text.substr(end));
    if (name[0] == "bra") {
      branches_.emplace_back(function_->code.size(), operands.at(0));
    } else if (name[0] == "call") {
      calls_.push_back({{function_, function_->code.size()}, std::string(operands.at(0))});
      const std::string_view list = operands.at(1);
      for (const std::string_view one : operands_of(list.substr(1, list.size() - 2)))
        made.arguments.push_back(parameters_.at(std::string(one)));
    } else {
      read_operands(made, name, operands);
    }
    try {
      choose(made, name);
    } catch (const std::runtime_error& error) {
      fail(first_line_, error.what(), text);
    }
    function_->code.push_back(std::move(made));
  }

  void read_operands(Instruction& made, const std::vector<std::string_view>& name,
                     const std::vector<std::string_view>& operands) {
    const bool writes =
        !(name[0] == "st" || name[0] == "bar" || name[0] == "cp" || name[0] == "prefetch" ||
          name[0] == "membar" || name[0] == "griddepcontrol" || name[0] == "nanosleep" || name[0] == "ret");
    bool first = writes;
    for (const std::string_view one : operands) {
      if (first) {
        add_operands(one, made.to);
      } else if (one.starts_with('[')) {
        std::string_view inner = one.substr(1, one.size() - 2);
        const std::size_t plus = inner.find('+');
        made.from.push_back(operand(trimmed(inner.substr(0, plus))));
        if (plus != std::string_view::npos) {
          const auto offset = number(trimmed(inner.substr(plus + 1)));
          if (!offset || name[0] == "cp") fail(first_line_, "no address that is known:", one);
          made.offset = static_cast<std::int64_t>(*offset);
        }
      } else {
        add_operands(one, made.from);
      }
      first = false;
    }
  }

  void end_function() {
    for (const auto& [at, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) fail(line_, "no label", label);
      function_->code[at].target = found->second;
    }
    if (const auto found = slots_.find("dynamic shared memory"); found != slots_.end())
      dynamic_slots_.emplace_back(function_, found->second);
    branches_.clear();
    registers_.clear();
    labels_.clear();
    slots_.clear();
    parameters_.clear();
    locals_.clear();
    function_ = nullptr;
    source_ = nullptr;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, first_line_ = 1;
  int depth_ = 0;
  bool header_ = false;
  std::string statement_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::vector<std::string> dynamic_;
  std::vector<std::pair<Function*, std::uint32_t>> dynamic_slots_;
  std::vector<std::pair<std::pair<Function*, std::size_t>, std::string>> calls_;
  std::map<const Function*, std::set<std::string>> names_arrays_;  // in shared memory
  using Place = std::array<int, 3>;                                // file, line and column
  std::map<int, std::string> files_;
  std::map<Place, Place> inlined_at_;
  // Of the function that is read.
  const std::string* source_ = nullptr;
  Function* function_ = nullptr;
  std::vector<std::pair<std::size_t, std::string>> branches_;
  std::vector<std::string> registers_;
  std::map<std::string, std::size_t, std::less<>> labels_;
  std::map<std::string, std::uint32_t, std::less<>> slots_;
  std::map<std::string, std::int64_t, std::less<>> parameters_, locals_;
};

}  // namespace

std::string Instruction::where() const {
  return "line " + std::to_string(line) + (source ? " (" + *source + ")" : "") + " \"" + text + "\"";
}

std::unique_ptr<Program> parse(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace fovea::tests::ptx
