// Global functions: range, dict, namespace, joiner, raise_exception, strftime_now.
#include <chrono>
#include <cstdio>
#include <ctime>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/library.h"

namespace fovea::jinja {
namespace {

constexpr std::int64_t max_range = 100'000;  // jinja2's sandbox has the same limit

Value range(Interpreter& in, const Value&, Arguments& a) {
  const Bound b(in, "range", a, {"start", "stop", "step"}, 1);
  if (!a.keyword.empty()) in.run.fail(errors::jinja_keyword_arguments("range"));
  auto s = std::make_shared<Sequence>();
  s->kind = SequenceKind::range;
  s->start = b[1] ? b.whole(0, 0) : 0;
  s->stop = b[1] ? b.whole(1, 0) : b.whole(0, 0);
  s->step = b.whole(2, 1);
  if (s->step == 0) in.run.fail(errors::jinja_range_step());
  constexpr Int far = Int{1} << 62;
  for (const Int v : {s->start, s->stop, s->step}) {
    if (v > far || v < -far) in.run.fail(errors::jinja_range_far());
  }
  const Int distance = s->step > 0 ? s->stop - s->start : s->start - s->stop;
  const Int step = s->step > 0 ? s->step : -s->step;
  const Int count = distance > 0 ? (distance + step - 1) / step : 0;
  if (count > max_range) in.run.fail(errors::jinja_range_long(max_range));
  in.run.work(static_cast<std::size_t>(count) * sizeof(Value));
  for (Int i = 0; i < count; ++i) s->items.push_back(Value::integer(s->start + i * s->step));
  measure(*s);
  return Value::sequence(std::move(s));
}

// What dict() and namespace() take: a mapping or pairs, and keyword arguments.
Dict read_dict(Interpreter& in, std::string_view name, Arguments& a) {
  Dict dict;
  if (a.positional.size() > 1) in.run.fail(errors::jinja_one_positional(name));
  if (!a.positional.empty()) {
    const Value& from = a.positional.front();
    if (from.is_dict()) {
      dict = from.dict();
    } else {
      for (const Value& pair : in.items(from)) {
        const std::vector<Value> parts = in.items(pair);
        if (parts.size() != 2) in.run.fail(errors::jinja_pairs(name));
        in.check_key(parts[0]);
        dict.set(parts[0], parts[1]);
      }
    }
  }
  for (auto& [key, value] : a.keyword) dict.set(Value::text(key), std::move(value));
  return dict;
}

Value dict(Interpreter& in, const Value&, Arguments& a) {
  return in.run.dict(read_dict(in, "dict", a));
}

Value make_namespace(Interpreter& in, const Value&, Arguments& a) {
  auto space = std::make_shared<Namespace>();
  space->attributes = read_dict(in, "namespace", a);
  for (const auto& entry : space->attributes.entries()) {
    if (entry.first.is_text() && entry.first.bytes().starts_with('_')) {
      in.run.fail(errors::jinja_private_attribute(entry.first.bytes()));
    }
  }
  in.run.step(8);  // it stays in memory until the end
  in.keep(space);
  return Value::object(space);
}

Value joiner(Interpreter& in, const Value&, Arguments& a) {
  const Bound b(in, "joiner", a, {"sep"});
  auto object = std::make_shared<Joiner>();
  object->separator = b[0] ? *b[0] : Value::text(", ");
  return Value::object(object);
}

Value raise_exception(Interpreter& in, const Value&, Arguments& a) {
  const Bound b(in, "raise_exception", a, {"message"}, 1);
  in.run.fail(errors::jinja_raised(Said{in.str(*b[0])}));
}

Value strftime_now(Interpreter& in, const Value&, Arguments& a) {
  const Bound b(in, "strftime_now", a, {"format"}, 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const bool fixed = in.clock.unix_seconds >= 0;
  const auto seconds =
      fixed ? static_cast<std::time_t>(in.clock.unix_seconds)
            : static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  const auto micros =
      fixed ? 0 : std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000;
  char fraction[8];
  std::snprintf(fraction, sizeof fraction, "%06d", static_cast<int>(micros));

  const std::string& wanted = b.text(0, {});
  in.run.check_size(wanted.size() * 16);
  std::string format;  // with Python's %f filled in; \x01 lets an empty result be told from a full buffer
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == '%' && i + 1 < wanted.size() &&
        (wanted[i + 1] == 'f' || wanted[i + 1] == 'z' || wanted[i + 1] == 'Z')) {
      if (wanted[i + 1] == 'f')
        format += fraction;  // a naive time has no zone: Python leaves %z and %Z empty
      ++i;
    } else {
      format += wanted[i];
      if (wanted[i] == '%' && i + 1 < wanted.size()) format += wanted[++i];
    }
  }
  format += '\x01';
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::string out(format.size() * 2 + 256, '\0');
  std::size_t size = 0;
  while ((size = std::strftime(out.data(), out.size(), format.c_str(), &parts)) == 0) {
    in.run.check_size(out.size() * 2);
    out.resize(out.size() * 2);
  }
  out.resize(size - 1);
  return in.run.text(std::move(out));
}

}  // namespace

const NativeTable& functions() {
  static const NativeTable table = {
      {"range", range},
      {"dict", dict},
      {"namespace", make_namespace},
      {"joiner", joiner},
      {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
  };
  return table;
}

}  // namespace fovea::jinja
