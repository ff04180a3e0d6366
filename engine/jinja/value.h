// The values that a template works with: Python's, as far as a template can see them. A value never changes
// after it was made (Hugging Face's environment forbids it too); only objects (namespaces, loops, generators)
// have state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/api/error.h"

namespace fovea::jinja {

class Value;
class Dict;
struct Object;

// Python's integers are unbounded; these have 128 bits, and whatever does not fit is an error.
__extension__ typedef __int128 Int;

struct Text {
  std::string bytes;        // UTF-8
  std::int64_t length = 0;  // code points, as Python counts
  bool markup = false;      // the result of `escape` or `safe`

  bool ascii() const { return length == static_cast<std::int64_t>(bytes.size()); }
};

struct Undefined {
  std::shared_ptr<const Error> when_used;
};
struct None {};

enum class SequenceKind : std::uint8_t { list, tuple, range, keys, values, items };

struct Sequence {
  SequenceKind kind = SequenceKind::list;
  int height = 1;           // levels of nesting, itself included
  std::int64_t weight = 1;  // values in it, however deep and however often they are shared
  std::vector<Value> items;
  Int start = 0, stop = 0, step = 1;  // of a range
};

class Value {
 public:
  Value() = default;  // undefined
  static Value undefined(Error when_used);
  static Value none() { return Value(std::in_place, None{}); }
  static Value boolean(bool b) { return Value(std::in_place, b); }
  static Value integer(Int i) { return Value(std::in_place, i); }
  static Value real(double d) { return Value(std::in_place, d); }
  static Value text(std::string bytes, bool markup = false);
  static Value sequence(std::shared_ptr<const Sequence> s) { return Value(std::in_place, std::move(s)); }
  static Value dict(std::shared_ptr<const Dict> d) { return Value(std::in_place, std::move(d)); }
  static Value object(std::shared_ptr<Object> o) { return Value(std::in_place, std::move(o)); }

  bool is_undefined() const { return holds<Undefined>(); }
  bool is_none() const { return holds<None>(); }
  bool is_boolean() const { return holds<bool>(); }
  bool is_integer() const { return holds<Int>(); }
  bool is_real() const { return holds<double>(); }
  bool is_text() const { return holds<TextPointer>(); }
  bool is_sequence() const { return holds<SequencePointer>(); }
  bool is_dict() const { return holds<DictPointer>(); }
  bool is_object() const { return holds<ObjectPointer>(); }
  bool is_number() const { return is_boolean() || is_integer() || is_real(); }
  bool is_whole() const { return is_boolean() || is_integer(); }  // Python's booleans are integers
  bool is(SequenceKind kind) const { return is_sequence() && sequence().kind == kind; }
  bool is_list() const { return is(SequenceKind::list); }
  bool is_tuple() const { return is(SequenceKind::tuple); }
  bool is_view() const { return is_sequence() && sequence().kind >= SequenceKind::keys; }

  bool boolean() const { return std::get<bool>(data_); }
  double real() const { return std::get<double>(data_); }
  Int whole() const { return is_boolean() ? Int(boolean()) : std::get<Int>(data_); }
  double number() const { return is_real() ? real() : static_cast<double>(whole()); }
  const Text& text() const { return *std::get<TextPointer>(data_); }
  const std::string& bytes() const { return text().bytes; }
  const Sequence& sequence() const { return *std::get<SequencePointer>(data_); }
  const Dict& dict() const { return *std::get<DictPointer>(data_); }
  Object& object() const { return *std::get<ObjectPointer>(data_); }
  const std::shared_ptr<Object>& object_pointer() const { return std::get<ObjectPointer>(data_); }
  Error when_used() const;  // of an undefined value

  template <class T>
  std::shared_ptr<T> as() const;  // the object if it is a T, else null

  bool same(const Value& other) const;  // the same object in memory
  int height() const;                   // 0 for scalars
  std::int64_t weight() const;          // how much work comparing, hashing or copying it is at most

 private:
  using TextPointer = std::shared_ptr<const Text>;
  using SequencePointer = std::shared_ptr<const Sequence>;
  using DictPointer = std::shared_ptr<const Dict>;
  using ObjectPointer = std::shared_ptr<Object>;

  template <class T>
  Value(std::in_place_t, T&& data) : data_(std::forward<T>(data)) {}
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }

  std::variant<Undefined, None, bool, Int, double, TextPointer, SequencePointer, DictPointer, ObjectPointer>
      data_;
};

// In insertion order; keys are hashable values.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  void set(Value key, Value value);  // replaces the value of an equal key
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  int height() const { return height_; }
  std::int64_t weight() const { return weight_; }

 private:
  template <class Equal>
  std::size_t position(std::size_t hash, Equal equal) const;
  void rebuild(std::size_t slots);

  std::vector<Entry> entries_;
  std::vector<std::size_t> hashes_;
  std::vector<std::uint32_t> slots_;  // open addressing, position + 1; empty while there are few entries
  int height_ = 1;
  std::int64_t weight_ = 1;
};

// What has state or behaviour of its own: namespaces, macros, loops, generators, functions.
struct Object {
  virtual ~Object() = default;
  virtual std::string type_name() const = 0;  // as Python names it
  virtual int height() const { return 0; }
};

template <class T>
std::shared_ptr<T> Value::as() const {
  return is_object() ? std::dynamic_pointer_cast<T>(object_pointer()) : nullptr;
}

bool truth(const Value&);
bool hashable(const Value&);
std::size_t hash(const Value&);          // of a hashable value; equal values have equal hashes
bool equal(const Value&, const Value&);  // Python's ==
std::string type_name(const Value&);     // str, int, list, NoneType …

void measure(Sequence&);  // sets its height and weight

std::string decimal(Int);

}  // namespace fovea::jinja
