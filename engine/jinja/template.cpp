#include "engine/jinja/template.h"

#include <new>

#include "engine/core/result.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/syntax.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

std::unexpected<Error> error_of(const Failure& failure, const std::string& where) {
  const char* const usual = "Correct the template there, or give another one";
  return fail(failure.kind, where + ", line " + std::to_string(failure.line), failure.what,
              failure.advice.empty() ? usual : failure.advice);
}

}  // namespace

Result<Template> Template::parse(std::string_view source, std::string where) {
  if (!valid_utf8(source))
    return fail(ErrorKind::format, where, "the template is not UTF-8 text", "Convert it to UTF-8");
  try {
    auto tree = std::make_shared<const Tree>(jinja::parse(source));
    return Template(std::move(tree), std::move(where));
  } catch (const Failure& failure) {
    return error_of(failure, where);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::memory, where, "there is not enough memory for the template", "Give another one");
  }
}

Result<std::string> Template::render(const Variables& variables, const Limits& limits,
                                     const Clock& clock) const {
  try {
    return Interpreter(*tree_, variables, limits, clock).render();
  } catch (const Failure& failure) {
    return error_of(failure, where_);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::memory, where_, "there is not enough memory to render the template",
                "Shorten the conversation, or give another template");
  }
}

}  // namespace fovea::jinja
