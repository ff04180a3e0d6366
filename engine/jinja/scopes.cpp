#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/jinja/library.h"
#include "engine/jinja/syntax.h"

namespace fovea::jinja {
namespace {

// Where a scope's name gets its first value.
enum class Load : std::uint8_t { parameter, outer, context, hidden };

struct Symbols {
  const Symbols* parent = nullptr;
  std::map<int, Load> loads;
  std::set<int> stores;

  bool known(int name) const { return loads.contains(name) || (parent && parent->known(name)); }
  bool known_outside(int name) const { return parent && parent->known(name); }

  void parameter(int name) {
    loads[name] = Load::parameter;
    stores.insert(name);
  }
  void load(int name) {
    if (!known(name)) loads[name] = Load::context;
  }
  void store(int name) {
    stores.insert(name);
    loads.try_emplace(name, known_outside(name) ? Load::outer : Load::hidden);
  }
  // Joins the ways an `if` can go; a name that not all of them assign keeps the value it had outside.
  void join(const std::array<Symbols, 3>& ways) {
    std::map<int, int> counts;
    for (const Symbols& way : ways) {
      for (const int name : way.stores) {
        if (!stores.contains(name)) ++counts[name];
      }
    }
    for (const Symbols& way : ways) {
      for (const auto& [name, load] : way.loads) loads[name] = load;
      stores.insert(way.stores.begin(), way.stores.end());
    }
    for (const auto& [name, count] : counts) {
      if (count == static_cast<int>(ways.size())) continue;
      loads[name] = known_outside(name) ? Load::outer : Load::context;
    }
  }
  std::vector<int> hidden() const {
    std::vector<int> names;
    for (const auto& [name, load] : loads) {
      if (load == Load::hidden) names.push_back(name);
    }
    return names;
  }
};

// First a scope's own names are collected, then the scopes inside of it are entered.
class Resolver {
 public:
  void run(Tree& tree) {
    Symbols root;
    collect(tree.body, root);
    tree.hidden = root.hidden();
    enter(tree.body, root);
  }

 private:
  static void expression(const Expression* e, Symbols& symbols) {
    if (!e) return;
    if (e->operation == Operation::name) symbols.load(e->symbol);
    for (const ExpressionPointer& part : e->parts) expression(part.get(), symbols);
    if (!e->arguments) return;
    for (const ExpressionPointer& a : e->arguments->positional) expression(a.get(), symbols);
    for (const auto& a : e->arguments->keyword) expression(a.second.get(), symbols);
    expression(e->arguments->star.get(), symbols);
    expression(e->arguments->double_star.get(), symbols);
  }

  static void target(const Expression& e, Symbols& symbols, bool parameter) {
    if (e.operation == Operation::namespace_attribute) return symbols.load(e.symbol);
    if (e.operation == Operation::tuple) {
      for (const ExpressionPointer& part : e.parts) target(*part, symbols, parameter);
    } else if (parameter) {
      symbols.parameter(e.symbol);
    } else {
      symbols.store(e.symbol);
    }
  }

  static void collect(const Body& body, Symbols& symbols) {
    for (const auto& s : body) collect(*s, symbols);
  }

  static void collect(const Statement& s, Symbols& symbols) {
    switch (s.type) {
      case StatementType::condition:
        return collect_condition(s, symbols);
      case StatementType::macro:
        return symbols.store(s.symbol);
      case StatementType::assignment:
        expression(s.expression.get(), symbols);
        return target(*s.target, symbols, false);
      case StatementType::block_set:
        return target(*s.target, symbols, false);
      case StatementType::with:
        for (const auto& binding : s.bindings) expression(binding.second.get(), symbols);
        return;
      default:
        return expression(s.expression.get(), symbols);
    }
  }

  static void collect_condition(const Statement& s, Symbols& symbols) {
    expression(s.branches[0].test.get(), symbols);
    std::array<Symbols, 3> ways{symbols, symbols, symbols};
    collect(s.branches[0].body, ways[0]);
    for (std::size_t i = 1; i < s.branches.size(); ++i) {
      expression(s.branches[i].test.get(), ways[1]);
      std::array<Symbols, 3> inner{ways[1], ways[1], ways[1]};
      collect(s.branches[i].body, inner[0]);
      ways[1].join(inner);
    }
    collect(s.otherwise, ways[2]);
    symbols.join(ways);
  }

  void enter(Body& body, Symbols& symbols) {
    for (auto& s : body) enter(*s, symbols);
  }

  void enter(Statement& s, Symbols& outer) {
    if (s.type == StatementType::condition) {
      for (Branch& branch : s.branches) enter(branch.body, outer);
      return enter(s.otherwise, outer);
    }
    if (s.body.empty() && s.otherwise.empty()) return;
    Symbols inner{&outer, {}, {}};
    if (s.type == StatementType::loop) {
      inner.parameter(symbol_loop);
      target(*s.target, inner, true);
    }
    for (const Parameter& p : s.signature.parameters) inner.parameter(p.symbol);
    const bool function = s.type == StatementType::macro || s.type == StatementType::call_block;
    if (function && mentions(s.body, symbol_caller)) inner.parameter(symbol_caller);
    for (const Parameter& p : s.signature.parameters) expression(p.fallback.get(), inner);
    for (const auto& binding : s.bindings) target(*binding.first, inner, true);
    collect(s.body, inner);
    if (s.type == StatementType::filter_block) expression(s.expression.get(), inner);
    s.hidden = inner.hidden();
    enter(s.body, inner);
    Symbols otherwise{&outer, {}, {}};
    collect(s.otherwise, otherwise);
    s.hidden_otherwise = otherwise.hidden();
    enter(s.otherwise, otherwise);
  }
};

// Filters and tests that do not exist are found here, except where a condition may keep them from running.
class LibraryCheck {
 public:
  void body(const Body& statements, bool conditional) {
    for (const auto& s : statements) statement(*s, conditional);
  }

 private:
  void statement(const Statement& s, bool conditional) {
    const bool own_scope_first = s.type == StatementType::block_set || s.type == StatementType::filter_block;
    expression(s.expression.get(), conditional && !own_scope_first);
    expression(s.test.get(), false);
    for (const Branch& branch : s.branches) {
      expression(branch.test.get(), true);
      body(branch.body, true);
    }
    for (const auto& binding : s.bindings) expression(binding.second.get(), conditional);
    for (const Parameter& p : s.signature.parameters) expression(p.fallback.get(), false);
    body(s.body, false);
    body(s.otherwise, s.type == StatementType::condition);
  }

  void expression(const Expression* e, bool conditional) {
    if (!e) return;
    if (e->operation == Operation::filter && !conditional) filter_named(e->text, e->line);
    if (e->operation == Operation::test && !conditional) test_named(e->text, e->line);
    const bool inner = conditional || e->operation == Operation::condition;
    for (const ExpressionPointer& part : e->parts) expression(part.get(), inner);
    if (!e->arguments) return;
    for (const ExpressionPointer& a : e->arguments->positional) expression(a.get(), inner);
    for (const auto& a : e->arguments->keyword) expression(a.second.get(), inner);
    expression(e->arguments->star.get(), inner);
    expression(e->arguments->double_star.get(), inner);
  }
};

// Looks for a reading of one name; an assignment that comes first ends the search.
class Mention {
 public:
  // `value_first`: an assignment reads before it stores, as it runs; else the name it stores to counts first.
  Mention(int symbol, bool value_first) : symbol_(symbol), value_first_(value_first) {}

  bool in(const Body& body) {
    for (const auto& s : body) {
      if (in(*s)) return true;
    }
    return false;
  }

 private:
  bool in(const Statement& s) {
    if (s.target && !value_first_) store(*s.target);
    if (in(s.expression.get())) return true;
    if (s.target) store(*s.target);
    for (const Branch& branch : s.branches) {
      if (in(branch.test.get()) || in(branch.body)) return true;
    }
    for (const Parameter& p : s.signature.parameters) {
      if (p.symbol == symbol_) assigned_ = true;
    }
    for (const Parameter& p : s.signature.parameters) {
      if (in(p.fallback.get())) return true;
    }
    for (const auto& binding : s.bindings) store(*binding.first);
    for (const auto& binding : s.bindings) {
      if (in(binding.second.get())) return true;
    }
    return in(s.body) || in(s.otherwise) || in(s.test.get());
  }

  bool in(const Expression* e) {
    if (!e) return false;
    if (e->operation == Operation::name && e->symbol == symbol_ && !assigned_) return true;
    const auto found = [this](const ExpressionPointer& part) { return in(part.get()); };
    if (std::any_of(e->parts.begin(), e->parts.end(), found)) return true;
    if (!e->arguments) return false;
    const CallArguments& a = *e->arguments;
    return std::any_of(a.positional.begin(), a.positional.end(), found) ||
           std::any_of(a.keyword.begin(), a.keyword.end(), [&](const auto& k) { return found(k.second); }) ||
           found(a.star) || found(a.double_star);
  }

  void store(const Expression& e) {
    if (e.operation == Operation::name && e.symbol == symbol_) assigned_ = true;
    for (const ExpressionPointer& part : e.parts) store(*part);
  }

  int symbol_;
  bool value_first_;
  bool assigned_ = false;
};

}  // namespace

void resolve_scopes(Tree& tree) {
  Resolver().run(tree);
  LibraryCheck().body(tree.body, false);
}

bool mentions(const Body& body, int symbol) {
  return Mention(symbol, false).in(body);
}

bool reads(const Body& body, int symbol) {
  return Mention(symbol, true).in(body);
}

}  // namespace fovea::jinja
