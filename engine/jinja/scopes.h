// What jinja2 decides about names when it compiles a template: which names a scope hides from the start
// because it assigns them before it reads them, which filters and tests exist, and which special names a
// macro uses.
#pragma once

#include "engine/jinja/syntax.h"

namespace fovea::jinja {

// Fills in every `hidden` list; throws Failure for unknown filters and tests outside of conditional code.
void resolve_scopes(Tree&);

// Whether the statements read the name before they assign it, nested scopes included.
bool mentions(const Body&, int symbol);

}  // namespace fovea::jinja
