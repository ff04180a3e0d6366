#include "tests/support/test.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
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
  std::vector<std::string> arguments(argv, argv + argc);
  const char* only = nullptr;
  for (const Entry& entry : entries()) {
    if (argc > 1 && std::strcmp(argv[1], entry.name) == 0) only = entry.name;
  }
  if (only) arguments.erase(arguments.begin() + 1);
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());

  int failed = 0;
  int executed = 0;
  for (const Entry& entry : entries()) {
    if (only && std::strcmp(only, entry.name) != 0) continue;
    ++executed;
    failed += QTest::qExec(entry.make().get(), static_cast<int>(raw.size()), raw.data());
  }
  if (executed == 0) {
    std::fputs("no test class is registered\n", stderr);
    return 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace fovea::tests
