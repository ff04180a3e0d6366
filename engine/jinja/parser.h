#pragma once

#include <string_view>

#include "engine/jinja/syntax.h"

namespace fovea::jinja {

// Throws Failure. Nesting is bounded, so neither parsing nor rendering nor deleting can exhaust the stack.
Tree parse(std::string_view source);

}  // namespace fovea::jinja
