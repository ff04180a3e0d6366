// Runs the program as a user's shell would, and in a terminal of its own.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fovea::tests {

struct RunOptions {
  std::string input = {};                               // standard input
  std::map<std::string, std::string> environment = {};  // added to this process's
  std::vector<int> closed = {};                         // of 0, 1, 2
  std::string output_file = {};                         // standard output goes there
  std::size_t read_at_most = std::string::npos;  // bytes of standard output; then nobody reads any more
  int interrupt_after = 0;                       // bytes of standard output; then SIGINT is sent; 0: never
  int timeout_s = 600;
};

struct Outcome {
  int code = -1;  // the exit code; 1000 + the signal that ended it; -1: it ran too long
  std::string out, err;
};

// build/<preset>/fovea with these arguments, byte for byte. The model library is empty unless the options say
// else.
Outcome run(const std::vector<std::string>& arguments, const RunOptions& options = {});

// The program in a pseudo-terminal.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys);
  // Until `text` appears in what was shown since the last call that found something.
  bool shows(const std::string& text, int timeout_s = 60);
  // Takes in what it shows until then. False: it has ended.
  bool read_more(int timeout_ms);
  // The exit code as in Outcome.
  int end(int timeout_s = 60);
  const std::string& screen() const { return shown_; }
  void send(int signal);
  void resize(int rows, int columns);
  // Whether it edits lines, echoes them and turns Ctrl-C into a signal, as a shell expects it.
  bool is_as_shells_expect() const;

 private:
  pid_t child_ = -1;
  int terminal_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

}  // namespace fovea::tests
