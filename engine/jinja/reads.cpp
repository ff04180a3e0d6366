// What a template reads of what it is given, found in its tree.
#include <algorithm>
#include <array>
#include <set>

#include "engine/jinja/syntax.h"
#include "engine/jinja/template.h"

namespace fovea::jinja {
namespace {

// Calls `visit` for each expression of the tree, those in other expressions included.
template <class Visit>
class Walk {
 public:
  explicit Walk(const Visit& visit) : visit_(visit) {}

  void body(const Body& statements) const {
    for (const auto& s : statements) statement(*s);
  }

 private:
  void statement(const Statement& s) const {
    for (const Expression* e : {s.target.get(), s.expression.get(), s.test.get()}) expression(e, &s);
    for (const Branch& branch : s.branches) {
      expression(branch.test.get(), &s);
      body(branch.body);
    }
    for (const auto& [target, value] : s.bindings) {
      expression(target.get(), &s);
      expression(value.get(), &s);
    }
    for (const Parameter& p : s.signature.parameters) expression(p.fallback.get(), &s);
    body(s.body);
    body(s.otherwise);
  }

  void expression(const Expression* e, const Statement* s) const {
    if (e == nullptr) return;
    visit_(*e, *s);
    for (const ExpressionPointer& part : e->parts) expression(part.get(), s);
    if (!e->arguments) return;
    for (const ExpressionPointer& a : e->arguments->positional) expression(a.get(), s);
    for (const auto& a : e->arguments->keyword) expression(a.second.get(), s);
    expression(e->arguments->star.get(), s);
    expression(e->arguments->double_star.get(), s);
  }

  const Visit& visit_;
};

bool is_text(const Expression* e, std::string_view text) {
  return e != nullptr && e->operation == Operation::constant && e->constant.is_text() &&
         e->constant.bytes() == text;
}

// Names that stand for a namespace of the template's own: what is read of them was given by nobody.
std::set<int> own_namespaces(const Tree& tree) {
  std::set<int> names;
  const auto visit = [&names](const Expression& e, const Statement& s) {
    if (&e != s.expression.get() || s.type != StatementType::assignment || e.operation != Operation::call)
      return;
    const Expression& callee = *e.parts[0];
    if (callee.operation == Operation::name && callee.text == "namespace" &&
        s.target->operation == Operation::name)
      names.insert(s.target->symbol);
  };
  Walk(visit).body(tree.body);
  return names;
}

// x.name, x["name"], x.get("name") and "name" in x.
bool reads_of_a_value(const Expression& e, std::string_view name, const std::set<int>& namespaces) {
  const auto given = [&namespaces](const Expression& object) {
    return object.operation != Operation::name || !namespaces.contains(object.symbol);
  };
  switch (e.operation) {
    case Operation::attribute:
      return e.text == name && given(*e.parts[0]);
    case Operation::item:
      return is_text(e.parts[1].get(), name) && given(*e.parts[0]);
    case Operation::call:
      return e.parts[0]->operation == Operation::attribute && e.parts[0]->text == "get" &&
             !e.arguments->positional.empty() && is_text(e.arguments->positional[0].get(), name);
    case Operation::compare:
      return (e.comparisons[0] == Comparison::in || e.comparisons[0] == Comparison::not_in) &&
             is_text(e.parts[0].get(), name);
    default:
      return false;
  }
}

constexpr std::array methods_that_look{"split", "rsplit", "find", "rfind", "replace"};

// "text" in x, x.split("text") and the like.
bool looks_for_text(const Expression& e, std::string_view text) {
  if (e.operation == Operation::compare)
    return (e.comparisons[0] == Comparison::in || e.comparisons[0] == Comparison::not_in) &&
           is_text(e.parts[0].get(), text);
  if (e.operation != Operation::call || e.parts[0]->operation != Operation::attribute) return false;
  return std::ranges::find(methods_that_look, e.parts[0]->text) != methods_that_look.end() &&
         !e.arguments->positional.empty() && is_text(e.arguments->positional[0].get(), text);
}

template <class Is>
bool any(const Tree& tree, const Is& is) {
  bool found = false;
  const auto visit = [&](const Expression& e, const Statement&) { found = found || is(e); };
  Walk(visit).body(tree.body);
  return found;
}

}  // namespace

bool Template::reads_variable(std::string_view name) const {
  const auto symbol = std::ranges::find(tree_->names, name);
  return symbol != tree_->names.end() && reads(tree_->body, static_cast<int>(symbol - tree_->names.begin()));
}

bool Template::reads_field(std::string_view name) const {
  const std::set<int> namespaces = own_namespaces(*tree_);
  return any(*tree_, [&](const Expression& e) { return reads_of_a_value(e, name, namespaces); });
}

bool Template::looks_for(std::string_view text) const {
  return any(*tree_, [&](const Expression& e) { return looks_for_text(e, text); });
}

}  // namespace fovea::jinja
