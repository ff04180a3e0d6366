// Complaints of tests, put together from words and numbers.
#pragma once

#include <sstream>
#include <string>
#include <utility>

namespace fovea::tests {

template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

}  // namespace fovea::tests
