#include <algorithm>

#include "engine/jinja/interpreter.h"

namespace fovea::jinja {

Loop::Loop(Interpreter& in, const Statement& statement, std::shared_ptr<Scope> scope, const Value& iterable,
           int depth)
    : in_(in), statement_(statement), scope_(std::move(scope)), iterable_(iterable), depth_(depth) {
  generator_ = iterable.as<Generator>();
  if (!generator_ && !iterable.is_sequence()) items_ = in.items(iterable);
}

std::optional<Value> Loop::take_raw() {
  if (generator_) {
    if (generator_->next >= generator_->items.size()) return std::nullopt;
    return generator_->items[generator_->next++];
  }
  const std::vector<Value>& items = iterable_.is_sequence() ? iterable_.sequence().items : items_;
  if (next_ >= items.size()) return std::nullopt;
  return items[next_++];
}

bool Loop::passes(const Value& item) {
  const auto scope = std::make_shared<Scope>();
  scope->parent = scope_;
  in_.assign(*statement_.target, item, *scope, scope_);
  return truth(in_.evaluate(*statement_.test, scope));
}

std::optional<Value> Loop::take() {
  if (!waiting_.empty()) {
    Value value = std::move(waiting_.front());
    waiting_.pop_front();
    return value;
  }
  if (drained_) return std::nullopt;
  while (auto item = take_raw()) {
    in_.run.step();
    if (!statement_.test || passes(*item)) return item;
  }
  drained_ = true;
  return std::nullopt;
}

const Value* Loop::peek() {
  if (!after_) after_ = take();
  return after_ ? &*after_ : nullptr;
}

bool Loop::advance() {
  std::optional<Value> item = after_ ? std::move(after_) : take();
  after_.reset();
  if (!item) return false;
  ++index0_;
  before_ = std::move(current_);
  current_ = std::move(item);
  return true;
}

Int Loop::length() {
  if (length_) return *length_;
  if (!generator_ && !statement_.test) {
    length_ = static_cast<Int>(iterable_.is_sequence() ? iterable_.sequence().items.size() : items_.size());
    return *length_;
  }
  std::deque<Value> rest;
  while (auto item = take()) rest.push_back(std::move(*item));
  waiting_ = std::move(rest);
  length_ = static_cast<Int>(waiting_.size()) + index0_ + 1 + (after_ ? 1 : 0);
  return *length_;
}

std::optional<Value> Loop::attribute(const std::string& name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(peek() == nullptr);
  if (name == "length") return Value::integer(length());
  if (name == "revindex") return Value::integer(length() - index0_);
  if (name == "revindex0") return Value::integer(length() - index0_ - 1);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "previtem")
    return index0_ == 0 || !before_ ? Value::undefined(errors::jinja_no_previous_item()) : *before_;
  if (name == "nextitem") {
    const Value* next = peek();
    return next ? *next : Value::undefined(errors::jinja_no_next_item());
  }
  return std::nullopt;
}

Value Loop::cycle(const Arguments& a) {
  if (a.positional.empty()) in_.run.fail(errors::jinja_nothing_to_cycle());
  return a.positional[static_cast<std::size_t>(index0_ % static_cast<Int>(a.positional.size()))];
}

Value Loop::changed(Arguments& a) {
  const Value now = in_.run.tuple(std::move(a.positional));
  const bool changed = !last_changed_ || !in_.same(*last_changed_, now);
  if (changed) last_changed_ = now;
  return Value::boolean(changed);
}

Value Loop::recurse(Arguments& a) {
  if (!statement_.recursive) in_.run.fail(errors::jinja_not_recursive());
  if (a.positional.size() != 1 || !a.keyword.empty()) in_.run.fail(errors::jinja_loop_argument());
  return in_.run.text(in_.loop_text(statement_, scope_, a.positional.front(), depth_ + 1));
}

void Loop::finish() {
  iterable_ = Value();
  items_.clear();
  next_ = 0;
  generator_.reset();
  waiting_.clear();
  after_.reset();
  current_.reset();
  before_.reset();
  last_changed_.reset();
  scope_.reset();
}

}  // namespace fovea::jinja
