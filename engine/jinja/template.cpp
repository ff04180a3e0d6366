#include "engine/jinja/template.h"

#include <new>

#include "engine/core/result.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/syntax.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

std::unexpected<Error> error_of(Failure failure, const Phrase& where) {
  if (!failure.error.has_advice()) failure.error.advice = phrases::jinja_correct();
  return fail(phrases::jinja_line(where, failure.line), std::move(failure.error));
}

}  // namespace

Result<Template> Template::parse(std::string_view source, Phrase where) {
  if (!valid_utf8(source)) return fail(where, errors::jinja_not_utf8());
  try {
    auto tree = std::make_shared<const Tree>(jinja::parse(source));
    return Template(std::move(tree), std::move(where));
  } catch (const Failure& failure) {
    return error_of(failure, where);
  } catch (const std::bad_alloc&) {
    return fail(where, errors::jinja_no_memory());
  }
}

Result<std::string> Template::render(const Variables& variables, const Limits& limits,
                                     const Clock& clock) const {
  try {
    return Interpreter(*tree_, variables, limits, clock).render();
  } catch (const Failure& failure) {
    return error_of(failure, where_);
  } catch (const std::bad_alloc&) {
    return fail(where_, errors::jinja_no_memory_to_render());
  }
}

}  // namespace fovea::jinja
