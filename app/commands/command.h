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

void add_chat(Registry&);
void add_serve(Registry&);
void add_top(Registry&);
void add_tokenize(Registry&);
void add_template(Registry&);
void add_logits(Registry&);
void add_perplexity(Registry&);
void add_eval(Registry&);
void add_bench(Registry&);
void add_inspect(Registry&);
void add_plan(Registry&);
void add_trace(Registry&);
void add_replay(Registry&);
void add_devices(Registry&);
void add_selftest(Registry&);
void add_prepare(Registry&);
void add_demo_model(Registry&);
// The program without a command: `fovea` and `fovea MODEL`.
void add_window(Registry&, int argc, char** argv);

}  // namespace fovea::app
