// Any value on lines of at most 80 characters, as Python's pprint lays it out.
#pragma once

#include <string>

#include "engine/jinja/value.h"

namespace fovea::jinja {

class Interpreter;

std::string pretty(Interpreter&, const Value&);

}  // namespace fovea::jinja
