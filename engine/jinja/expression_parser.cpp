#include "engine/jinja/expression_parser.h"

#include <algorithm>
#include <optional>

namespace fovea::jinja {
namespace {

std::optional<Comparison> comparison_of(const Token& token) {
  if (token.type != TokenType::symbol) return std::nullopt;
  if (token.text == "==") return Comparison::equal;
  if (token.text == "!=") return Comparison::not_equal;
  if (token.text == "<") return Comparison::less;
  if (token.text == "<=") return Comparison::less_equal;
  if (token.text == ">") return Comparison::greater;
  if (token.text == ">=") return Comparison::greater_equal;
  return std::nullopt;
}

std::optional<Operation> product_of(const Token& token) {
  if (token.is("*")) return Operation::multiply;
  if (token.is("/")) return Operation::divide;
  if (token.is("//")) return Operation::floor_divide;
  if (token.is("%")) return Operation::modulo;
  return std::nullopt;
}

bool reserved(const std::string& name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" ||
         name == "None";
}

}  // namespace

void ExpressionParser::grow(Expression& e, const Expression& part) const {
  e.height = std::max(e.height, part.height + 1);
  if (e.height > max_height) {
    fail_at(e.line, errors::jinja_nested_expression(max_height));
  }
}

ExpressionPointer ExpressionParser::make(Operation operation, int line,
                                         std::vector<ExpressionPointer> parts) const {
  auto e = std::make_unique<Expression>();
  e->operation = operation;
  e->line = line;
  e->parts = std::move(parts);
  for (const ExpressionPointer& part : e->parts) {
    if (part) grow(*e, *part);
  }
  return e;
}

ExpressionPointer ExpressionParser::binary(Operation operation, int line, ExpressionPointer left,
                                           ExpressionPointer right) const {
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(left));
  parts.push_back(std::move(right));
  return make(operation, line, std::move(parts));
}

ExpressionPointer ExpressionParser::expression(bool with_condition) {
  const Nested nested(nesting, tokens_.current().line);
  return with_condition ? condition() : disjunction();
}

ExpressionPointer ExpressionParser::condition() {
  int line = tokens_.current().line;
  ExpressionPointer e = disjunction();
  while (tokens_.skip_name("if")) {
    std::vector<ExpressionPointer> parts;
    parts.push_back(disjunction());
    parts.push_back(std::move(e));
    if (tokens_.skip_name("else")) {
      const Nested nested(nesting, line);
      parts.push_back(condition());
    }
    e = make(Operation::condition, line, std::move(parts));
    line = tokens_.current().line;
  }
  return e;
}

ExpressionPointer ExpressionParser::disjunction() {
  ExpressionPointer e = conjunction();
  for (int line = tokens_.current().line; tokens_.skip_name("or"); line = tokens_.current().line) {
    e = binary(Operation::logical_or, line, std::move(e), conjunction());
  }
  return e;
}

ExpressionPointer ExpressionParser::conjunction() {
  ExpressionPointer e = negation();
  for (int line = tokens_.current().line; tokens_.skip_name("and"); line = tokens_.current().line) {
    e = binary(Operation::logical_and, line, std::move(e), negation());
  }
  return e;
}

ExpressionPointer ExpressionParser::negation() {
  const int line = tokens_.current().line;
  if (!tokens_.skip_name("not")) return comparison();
  const Nested nested(nesting, line);
  std::vector<ExpressionPointer> parts;
  parts.push_back(negation());
  return make(Operation::logical_not, line, std::move(parts));
}

ExpressionPointer ExpressionParser::comparison() {
  const int line = tokens_.current().line;
  std::vector<ExpressionPointer> parts;
  std::vector<Comparison> comparisons;
  parts.push_back(sum());
  while (true) {
    if (const auto found = comparison_of(tokens_.current())) {
      tokens_.next();
      comparisons.push_back(*found);
    } else if (tokens_.skip_name("in")) {
      comparisons.push_back(Comparison::in);
    } else if (tokens_.at_name("not") && tokens_.ahead().is_name("in")) {
      tokens_.next();
      tokens_.next();
      comparisons.push_back(Comparison::not_in);
    } else {
      break;
    }
    parts.push_back(sum());
  }
  if (comparisons.empty()) return std::move(parts.front());
  ExpressionPointer e = make(Operation::compare, line, std::move(parts));
  e->comparisons = std::move(comparisons);
  return e;
}

ExpressionPointer ExpressionParser::sum() {
  ExpressionPointer e = concatenation();
  while (tokens_.at("+") || tokens_.at("-")) {
    const Token& sign = tokens_.next();
    e = binary(sign.is("+") ? Operation::add : Operation::subtract, sign.line, std::move(e), concatenation());
  }
  return e;
}

ExpressionPointer ExpressionParser::concatenation() {
  const int line = tokens_.current().line;
  std::vector<ExpressionPointer> parts;
  parts.push_back(product());
  while (tokens_.skip("~")) parts.push_back(product());
  if (parts.size() == 1) return std::move(parts.front());
  return make(Operation::concatenate, line, std::move(parts));
}

ExpressionPointer ExpressionParser::product() {
  ExpressionPointer e = power();
  while (const auto operation = product_of(tokens_.current())) {
    const int line = tokens_.next().line;
    e = binary(*operation, line, std::move(e), power());
  }
  return e;
}

ExpressionPointer ExpressionParser::power() {
  ExpressionPointer e = unary(true);
  while (tokens_.at("**")) {
    const int line = tokens_.next().line;
    e = binary(Operation::power, line, std::move(e), unary(true));
  }
  return e;
}

ExpressionPointer ExpressionParser::unary(bool with_filter) {
  const int line = tokens_.current().line;
  ExpressionPointer e;
  if (tokens_.at("-") || tokens_.at("+")) {
    const Nested nested(nesting, line);
    const Operation operation = tokens_.next().is("-") ? Operation::negate : Operation::plus;
    std::vector<ExpressionPointer> parts;
    parts.push_back(unary(false));
    e = make(operation, line, std::move(parts));
  } else {
    e = primary(false);
  }
  e = postfix(std::move(e));
  return with_filter ? filters_and_tests(std::move(e)) : std::move(e);
}

ExpressionPointer ExpressionParser::name(bool with_namespace) {
  const Token token = tokens_.next();
  if (reserved(token.text)) {
    ExpressionPointer e = make(Operation::constant, token.line);
    const char first = static_cast<char>(token.text[0] | 0x20);
    e->constant = first == 'n' ? Value::none() : Value::boolean(first == 't');
    return e;
  }
  if (with_namespace && tokens_.skip(".")) {
    ExpressionPointer e = make(Operation::namespace_attribute, token.line);
    e->symbol = names_.number(token.text);
    e->text = tokens_.expect_any_name();
    return e;
  }
  ExpressionPointer e = make(Operation::name, token.line);
  e->symbol = names_.number(token.text);
  e->text = token.text;
  return e;
}

ExpressionPointer ExpressionParser::primary(bool with_namespace) {
  const Token& token = tokens_.current();
  if (token.type == TokenType::name) return name(with_namespace);
  if (token.type == TokenType::text) {
    ExpressionPointer e = make(Operation::constant, token.line);
    std::string content;
    while (tokens_.at(TokenType::text)) content += tokens_.next().text;
    e->constant = Value::text(std::move(content));
    return e;
  }
  if (token.type == TokenType::integer || token.type == TokenType::real) {
    ExpressionPointer e = make(Operation::constant, token.line);
    e->constant = tokens_.next().value;
    return e;
  }
  const Nested nested(nesting, token.line);
  if (tokens_.skip("(")) {
    ExpressionPointer e = tuple_of(false, true, {}, true, false);
    tokens_.expect(")");
    return e;
  }
  if (token.is("[")) return list();
  if (token.is("{")) return dict();
  tokens_.unexpected(phrases::jinja_expression());
}

ExpressionPointer ExpressionParser::tuple(bool with_condition, std::string_view end_name) {
  return tuple_of(false, with_condition, end_name, false, false);
}

ExpressionPointer ExpressionParser::tuple_of(bool simple, bool with_condition, std::string_view end_name,
                                             bool parentheses, bool with_namespace) {
  const int line = tokens_.current().line;
  std::vector<ExpressionPointer> parts;
  bool is_tuple = false;
  while (true) {
    if (!parts.empty()) tokens_.expect(",");
    if (tokens_.at(TokenType::variable_end) || tokens_.at(TokenType::block_end) || tokens_.at(")") ||
        (!end_name.empty() && tokens_.at_name(end_name))) {
      break;
    }
    parts.push_back(simple ? primary(with_namespace) : expression(with_condition));
    if (!tokens_.at(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !parts.empty()) return std::move(parts.front());
  if (!is_tuple && !parentheses) tokens_.unexpected(phrases::jinja_expression());
  return make(Operation::tuple, line, std::move(parts));
}

ExpressionPointer ExpressionParser::list() {
  const int line = tokens_.next().line;
  std::vector<ExpressionPointer> parts;
  while (!tokens_.at("]")) {
    if (!parts.empty()) tokens_.expect(",");
    if (tokens_.at("]")) break;
    parts.push_back(expression());
  }
  tokens_.expect("]");
  return make(Operation::list, line, std::move(parts));
}

ExpressionPointer ExpressionParser::dict() {
  const int line = tokens_.next().line;
  std::vector<ExpressionPointer> parts;
  while (!tokens_.at("}")) {
    if (!parts.empty()) tokens_.expect(",");
    if (tokens_.at("}")) break;
    parts.push_back(expression());
    tokens_.expect(":");
    parts.push_back(expression());
  }
  tokens_.expect("}");
  return make(Operation::dict, line, std::move(parts));
}

ExpressionPointer ExpressionParser::postfix(ExpressionPointer e) {
  while (true) {
    if (tokens_.at(".") || tokens_.at("["))
      e = subscript(std::move(e));
    else if (tokens_.at("("))
      e = call(std::move(e));
    else
      return e;
  }
}

ExpressionPointer ExpressionParser::filters_and_tests(ExpressionPointer e) {
  while (true) {
    if (tokens_.at("|")) {
      const int line = tokens_.next().line;
      e = filter(std::move(e), line);
    } else if (tokens_.at_name("is")) {
      e = test(std::move(e));
    } else if (tokens_.at("(")) {
      e = call(std::move(e));
    } else {
      return e;
    }
  }
}

ExpressionPointer ExpressionParser::subscript(ExpressionPointer e) {
  const int line = tokens_.current().line;
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(e));
  if (tokens_.skip(".")) {
    const Token token = tokens_.next();
    if (token.type == TokenType::name) {
      ExpressionPointer result = make(Operation::attribute, line, std::move(parts));
      result->text = token.text;
      return result;
    }
    if (token.type != TokenType::integer) {
      fail_at(token.line,
              errors::jinja_unexpected(TokenStream::describe(token), phrases::jinja_name_or_number()));
    }
    parts.push_back(make(Operation::constant, token.line));
    parts.back()->constant = token.value;
    return make(Operation::item, line, std::move(parts));
  }
  tokens_.expect("[");
  std::vector<ExpressionPointer> indices;
  while (!tokens_.at("]")) {
    if (!indices.empty()) tokens_.expect(",");
    indices.push_back(index());
  }
  tokens_.expect("]");
  if (indices.size() == 1)
    parts.push_back(std::move(indices.front()));
  else
    parts.push_back(make(Operation::tuple, line, std::move(indices)));
  return make(Operation::item, line, std::move(parts));
}

ExpressionPointer ExpressionParser::index() {
  const int line = tokens_.current().line;
  std::vector<ExpressionPointer> parts(3);
  const auto at_end = [&] { return tokens_.at("]") || tokens_.at(","); };
  if (!tokens_.at(":")) {
    ExpressionPointer e = expression();
    if (!tokens_.at(":")) return e;
    parts[0] = std::move(e);
  }
  tokens_.expect(":");
  if (!tokens_.at(":") && !at_end()) parts[1] = expression();
  if (tokens_.skip(":") && !at_end()) parts[2] = expression();
  return make(Operation::slice, line, std::move(parts));
}

ExpressionPointer ExpressionParser::call(ExpressionPointer e) {
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(e));
  ExpressionPointer result = make(Operation::call, tokens_.current().line, std::move(parts));
  result->arguments = arguments(*result);
  return result;
}

std::unique_ptr<CallArguments> ExpressionParser::arguments(Expression& of) {
  auto a = std::make_unique<CallArguments>();
  tokens_.expect("(");
  for (bool first = true; !tokens_.at(")"); first = false) {
    if (!first) tokens_.expect(",");
    if (tokens_.at(")")) break;
    argument(*a, of);
  }
  tokens_.expect(")");
  return a;
}

void ExpressionParser::argument(CallArguments& a, Expression& of) {
  const int line = tokens_.current().line;
  const auto ensure = [&](bool ok) {
    if (!ok) fail_at(line, errors::jinja_argument_order());
  };
  ExpressionPointer* place = nullptr;
  if (tokens_.skip("*")) {
    ensure(!a.star && !a.double_star);
    place = &a.star;
  } else if (tokens_.skip("**")) {
    ensure(!a.double_star);
    place = &a.double_star;
  } else if (tokens_.at(TokenType::name) && tokens_.ahead().is("=")) {
    ensure(!a.double_star);
    const std::string name = tokens_.next().text;
    for (const auto& other : a.keyword) {
      if (other.first == name) fail_at(line, errors::jinja_argument_twice(name));
    }
    tokens_.next();
    place = &a.keyword.emplace_back(name, nullptr).second;
  } else {
    ensure(!a.star && !a.double_star && a.keyword.empty());
    place = &a.positional.emplace_back();
  }
  *place = expression();
  grow(of, **place);
}

ExpressionPointer ExpressionParser::filter(ExpressionPointer e, int line) {
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(e));
  ExpressionPointer result = make(Operation::filter, line, std::move(parts));
  result->text = tokens_.expect_any_name();
  while (tokens_.skip(".")) result->text += "." + tokens_.expect_any_name();
  result->arguments = tokens_.at("(") ? arguments(*result) : std::make_unique<CallArguments>();
  return result;
}

ExpressionPointer ExpressionParser::filter_chain(bool first_is_named) {
  ExpressionPointer e;
  if (first_is_named) e = filter(nullptr, tokens_.current().line);
  while (tokens_.at("|")) {
    const int line = tokens_.next().line;
    e = filter(std::move(e), line);
  }
  return e;
}

ExpressionPointer ExpressionParser::test(ExpressionPointer e) {
  const int line = tokens_.next().line;
  const bool negated = tokens_.skip_name("not");
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(e));
  ExpressionPointer result = make(Operation::test, line, std::move(parts));
  result->text = tokens_.expect_any_name();
  while (tokens_.skip(".")) result->text += "." + tokens_.expect_any_name();
  const Token& token = tokens_.current();
  const bool operand = token.type == TokenType::name || token.type == TokenType::text ||
                       token.type == TokenType::integer || token.type == TokenType::real || token.is("[") ||
                       token.is("{");
  if (token.is("(")) {
    result->arguments = arguments(*result);
  } else {
    result->arguments = std::make_unique<CallArguments>();
    if (operand && !token.is_name("else") && !token.is_name("or") && !token.is_name("and")) {
      if (token.is_name("is")) fail_at(token.line, errors::jinja_chained_tests());
      result->arguments->positional.push_back(postfix(primary(false)));
      grow(*result, *result->arguments->positional.front());
    }
  }
  if (!negated) return result;
  std::vector<ExpressionPointer> inner;
  inner.push_back(std::move(result));
  return make(Operation::logical_not, line, std::move(inner));
}

ExpressionPointer ExpressionParser::target(bool with_namespace, std::string_view end_name) {
  const Nested nested(nesting, tokens_.current().line);
  ExpressionPointer e = tuple_of(true, true, end_name, false, with_namespace);
  check_target(*e);
  return e;
}

void ExpressionParser::check_target(const Expression& e) const {
  if (e.operation == Operation::name || e.operation == Operation::namespace_attribute) return;
  if (e.operation != Operation::tuple) fail_at(e.line, errors::jinja_not_assignable());
  for (const ExpressionPointer& part : e.parts) check_target(*part);
}

}  // namespace fovea::jinja
