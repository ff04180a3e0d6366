#include "tests/support/test.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace fovea::tests {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<QObject> (*make)();
};

std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

bool is_registered(std::string_view name) {
  return std::ranges::any_of(entries(), [&](const Entry& entry) { return name == entry.name; });
}

// What the first arguments say of the classes.
class Selection {
 public:
  Selection(int argc, char** argv) {
    for (int i = 1; i < argc; ++i, ++arguments_) {
      const std::string_view argument(argv[i]);
      const bool without = argument.starts_with('-');
      if (!is_registered(argument.substr(without ? 1 : 0))) return;
      (without ? without_ : only_).push_back(argument.substr(without ? 1 : 0));
    }
  }
  int arguments() const { return arguments_; }
  bool has(std::string_view name) const {
    if (std::ranges::find(without_, name) != without_.end()) return false;
    return only_.empty() || std::ranges::find(only_, name) != only_.end();
  }

 private:
  int arguments_ = 0;
  std::vector<std::string_view> only_, without_;
};

}  // namespace

Registration::Registration(const char* name, std::unique_ptr<QObject> (*make)()) {
  entries().push_back({name, make});
}

unsigned seed() {
  const char* text = std::getenv("FOVEA_TEST_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1U;
}

int rounds(int usual) {
  const char* text = std::getenv("FOVEA_TEST_ROUNDS");
  return text ? usual * std::max(1, std::atoi(text)) : usual;
}

int run(int argc, char** argv) {
  const Selection selection(argc, argv);
  // Qt Test gives a function five minutes, but 6.4's clock may go on from one function to the next: a class
  // that takes so long on a busy machine would be taken for hung.
  if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT"))
    qputenv("QTEST_FUNCTION_TIMEOUT", "1500000");  // ms
  std::vector<char*> rest{argv[0]};
  rest.insert(rest.end(), argv + 1 + selection.arguments(), argv + argc);
  int failed = 0;
  int executed = 0;
  for (const Entry& entry : entries()) {
    if (!selection.has(entry.name)) continue;
    ++executed;
    failed += QTest::qExec(entry.make().get(), static_cast<int>(rest.size()), rest.data());
  }
  if (executed == 0) {
    std::fputs("no test class is registered\n", stderr);
    return 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace fovea::tests
