// Tests of files that may not be read or written.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace fovea::tests {

// Without a superuser's rights, which pass every check of a file's permissions, as long as it lives.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    constexpr uid_t nobody = 65534;
    if (before_ == 0 && ::seteuid(nobody) != 0)
      throw std::runtime_error("cannot give up the superuser's rights");
  }
  ~WithoutPrivileges() {
    if (::seteuid(before_) != 0) std::abort();
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

 private:
  uid_t before_ = ::geteuid();
};

}  // namespace fovea::tests
