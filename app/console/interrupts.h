// Signals that people send. Ctrl-C (SIGINT) stops the operation that runs; without one it ends the program.
// SIGTERM and SIGHUP (the terminal's window was closed) end it at once, with the terminal given back.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace fovea::app {

class Interrupts {
 public:
  // Before any other thread starts: they inherit that these signals go to this object's own thread.
  // at_exit runs before a signal ends the program (to give the terminal back).
  explicit Interrupts(std::function<void()> at_exit = {});
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // While it lives, the first Ctrl-C stops its token and the second one ends the program.
  class Operation {
   public:
    explicit Operation(Interrupts& interrupts);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    std::stop_token token() const { return source_.get_token(); }
    void stop() { source_.request_stop(); }

   private:
    Interrupts& interrupts_;
    std::stop_source source_;
  };

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
