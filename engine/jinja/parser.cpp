#include <algorithm>
#include <array>
#include <initializer_list>

#include "engine/jinja/expression_parser.h"
#include "engine/jinja/syntax.h"

namespace fovea::jinja {
namespace {

constexpr std::array tags_with_files{"extends", "include", "import", "from"};
constexpr std::array tags_left_out{"block", "autoescape", "trans", "do", "print"};

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokenize(source)), expressions_(tokens_, names_) {
    for (const char* name : {"loop", "caller"}) names_.number(name);
  }

  Tree run() {
    Tree tree;
    tree.body = body({}, "the template", 1);
    tree.names = names_.take();
    return tree;
  }

 private:
  using Names_ = std::initializer_list<std::string_view>;
  using StatementPointer = std::unique_ptr<Statement>;

  StatementPointer make(StatementType type, int line) const {
    auto s = std::make_unique<Statement>();
    s->type = type;
    s->line = line;
    return s;
  }

  // Statements up to one of the tags in `ends`, whose name is then the current token.
  Body body(Names_ ends, const std::string& opener, int opened_at) {
    const Nested nested(expressions_.nesting, opened_at);
    Body statements;
    while (!tokens_.at(TokenType::end)) {
      const Token& token = tokens_.current();
      if (token.type == TokenType::data) {
        statements.push_back(make(StatementType::data, token.line));
        statements.back()->text = tokens_.next().text;
      } else if (token.type == TokenType::variable_begin) {
        statements.push_back(make(StatementType::output, token.line));
        tokens_.next();
        statements.back()->expression = expressions_.tuple();
        tokens_.expect(TokenType::variable_end);
      } else {
        tokens_.expect(TokenType::block_begin);
        for (const std::string_view end : ends) {
          if (tokens_.at_name(end)) return statements;
        }
        statement(statements);
        tokens_.expect(TokenType::block_end);
      }
    }
    if (ends.size() != 0) {
      fail_at(tokens_.current().line, errors::jinja_template_ends(opener, opened_at));
    }
    return statements;
  }

  // A body that begins behind a tag and takes its end tag away.
  Body block(std::string_view end, const std::string& opener, int line) {
    Body statements = open_block({end}, opener, line);
    tokens_.next();
    return statements;
  }
  Body open_block(Names_ ends, const std::string& opener, int line) {
    tokens_.skip(":");
    tokens_.expect(TokenType::block_end);
    return body(ends, opener, line);
  }

  void statement(Body& out) {
    const Token& token = tokens_.current();
    if (token.type != TokenType::name) tokens_.unexpected(phrases::jinja_tag_name());
    const std::string name = token.text;
    const int line = token.line;
    tokens_.next();
    if (name == "if") return out.push_back(condition(line));
    if (name == "for") return out.push_back(loop(line));
    if (name == "set") return out.push_back(set(line));
    if (name == "macro") return out.push_back(macro(line));
    if (name == "call") return out.push_back(call(line));
    if (name == "filter") return out.push_back(filter(line));
    if (name == "with") return out.push_back(with(line));
    if (name == "generation") return out.push_back(generation(line));
    if (name == "break" || name == "continue") return out.push_back(jump(name, line));
    if (std::ranges::find(tags_with_files, name) != tags_with_files.end())
      fail_at(line, errors::jinja_other_files(name));
    if (std::ranges::find(tags_left_out, name) != tags_left_out.end())
      fail_at(line, errors::jinja_left_out(phrases::jinja_tag(name)));
    fail_at(line, errors::jinja_unknown_tag(name));
  }

  StatementPointer condition(int line) {
    StatementPointer s = make(StatementType::condition, line);
    while (true) {
      Branch& branch = s->branches.emplace_back();
      branch.test = expressions_.tuple(false);
      branch.body = open_block({"elif", "else", "endif"}, "if", line);
      const std::string tag = tokens_.next().text;
      if (tag == "elif") continue;
      if (tag == "else") s->otherwise = block("endif", "if", line);
      return s;
    }
  }

  StatementPointer loop(int line) {
    StatementPointer s = make(StatementType::loop, line);
    s->target = expressions_.target(false, "in");
    not_loop(*s->target, true);
    tokens_.expect_name("in");
    s->expression = expressions_.tuple(false, "recursive");
    if (tokens_.skip_name("if")) s->test = expressions_.expression();
    s->recursive = tokens_.skip_name("recursive");
    ++loops_;
    ++open_loops_;
    s->body = open_block({"endfor", "else"}, "for", line);
    --loops_;
    if (tokens_.next().text == "else") s->otherwise = block("endfor", "for", line);
    --open_loops_;
    return s;
  }

  // jinja2 keeps the name `loop` for itself inside of loops.
  void not_loop(const Expression& target, bool inside) const {
    if (!inside) return;
    if (target.operation == Operation::name && target.symbol == symbol_loop) {
      fail_at(target.line, errors::jinja_loop_assigned());
    }
    for (const ExpressionPointer& part : target.parts) not_loop(*part, true);
  }

  StatementPointer set(int line) {
    ExpressionPointer target = expressions_.target(true);
    not_loop(*target, open_loops_ > 0);
    if (tokens_.skip("=")) {
      StatementPointer s = make(StatementType::assignment, line);
      s->target = std::move(target);
      s->expression = expressions_.tuple();
      return s;
    }
    StatementPointer s = make(StatementType::block_set, line);
    s->target = std::move(target);
    s->expression = expressions_.filter_chain(false);
    s->body = block("endset", "set", line);
    return s;
  }

  // Macros, call blocks and generation blocks are functions: loops outside of them cannot be left from
  // inside.
  Body function_body(std::string_view end, const std::string& opener, int line) {
    const int outer = loops_;
    loops_ = 0;
    Body statements = block(end, opener, line);
    loops_ = outer;
    return statements;
  }

  void signature(Signature& s) {
    tokens_.expect("(");
    bool fallbacks = false;
    while (!tokens_.at(")")) {
      if (!s.parameters.empty()) tokens_.expect(",");
      const int line = tokens_.current().line;
      Parameter& p = s.parameters.emplace_back();
      p.name = tokens_.expect_any_name();
      p.symbol = names_.number(p.name);
      for (std::size_t i = 0; i + 1 < s.parameters.size(); ++i) {
        if (s.parameters[i].symbol == p.symbol) fail_at(line, errors::jinja_parameter_twice(p.name));
      }
      if (p.symbol == symbol_caller) s.explicit_caller = true;
      if (tokens_.skip("=")) {
        p.fallback = expressions_.expression();
        fallbacks = true;
      } else if (fallbacks) {
        fail_at(line, errors::jinja_parameter_order());
      }
    }
    tokens_.expect(")");
  }

  // Whether the body names `caller` decides what a macro takes.
  void find_special(Statement& s) {
    s.signature.uses_caller = mentions(s.body, symbol_caller);
    for (const char* name : {"kwargs", "varargs"}) refuse_special(s, name);
    for (const Parameter& p : s.signature.parameters) {
      if (p.symbol == symbol_caller && s.signature.uses_caller && !p.fallback) {
        fail_at(s.line, errors::jinja_caller_parameter());
      }
    }
  }

  void refuse_special(const Statement& s, const std::string& name) {
    const int symbol = names_.number(name);
    const auto is_parameter = [&](const Parameter& p) { return p.symbol == symbol; };
    if (std::ranges::any_of(s.signature.parameters, is_parameter) || !mentions(s.body, symbol)) return;
    fail_at(s.line, errors::jinja_left_out(phrases::jinja_in_macro(name)));
  }

  StatementPointer macro(int line) {
    StatementPointer s = make(StatementType::macro, line);
    s->text = tokens_.expect_any_name();
    s->symbol = names_.number(s->text);
    signature(s->signature);
    s->body = function_body("endmacro", "macro", line);
    find_special(*s);
    return s;
  }

  StatementPointer call(int line) {
    StatementPointer s = make(StatementType::call_block, line);
    if (tokens_.at("(")) signature(s->signature);
    s->expression = expressions_.expression();
    if (s->expression->operation != Operation::call) fail_at(line, errors::jinja_call_block());
    s->body = function_body("endcall", "call", line);
    find_special(*s);
    return s;
  }

  StatementPointer generation(int line) {
    StatementPointer s = make(StatementType::generation, line);
    s->body = function_body("endgeneration", "generation", line);
    return s;
  }

  StatementPointer filter(int line) {
    StatementPointer s = make(StatementType::filter_block, line);
    s->expression = expressions_.filter_chain(true);
    s->body = block("endfilter", "filter", line);
    return s;
  }

  StatementPointer with(int line) {
    StatementPointer s = make(StatementType::with, line);
    while (!tokens_.at(TokenType::block_end)) {
      if (!s->bindings.empty()) tokens_.expect(",");
      ExpressionPointer target = expressions_.target(false);
      tokens_.expect("=");
      s->bindings.emplace_back(std::move(target), expressions_.expression());
    }
    s->body = block("endwith", "with", line);
    return s;
  }

  StatementPointer jump(const std::string& name, int line) {
    if (loops_ == 0) fail_at(line, errors::jinja_outside_loop(name));
    return make(name == "break" ? StatementType::loop_break : StatementType::loop_continue, line);
  }

  TokenStream tokens_;
  Names names_;
  ExpressionParser expressions_;
  int loops_ = 0;       // loops that break and continue can reach here
  int open_loops_ = 0;  // loops around, whatever stands between
};

}  // namespace

Tree parse(std::string_view source) {
  Tree tree = Parser(source).run();
  resolve_scopes(tree);
  return tree;
}

}  // namespace fovea::jinja
