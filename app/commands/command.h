// How a command enters the program: it adds its subcommand to the parser; when the user chose it, its action
// stands in the registry and main runs it.
#pragma once

#include <functional>

#include "app/console/console.h"
#include "app/console/interrupts.h"
#include "engine/api/error.h"

namespace CLI {
class App;
}

namespace fovea::app {

using Action = std::function<Result<void>(Console&, Interrupts&)>;

struct Registry {
  CLI::App& program;
  Action chosen;
  bool verbose = false;
};

void add_tokenize(Registry&);
void add_template(Registry&);
void add_inspect(Registry&);
void add_devices(Registry&);

}  // namespace fovea::app
