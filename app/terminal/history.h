// What was typed before, in this session and earlier ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

class History {
 public:
  static constexpr std::size_t max_entries = 1000;

  // A file that is missing or cannot be read is an empty history. One that has grown too long is made short
  // again; the log says where it cannot be.
  explicit History(std::filesystem::path file);

  const std::vector<std::string>& entries() const { return entries_; }  // oldest first
  // Also appends it to the file, which only its owner may read. Repeating the last entry adds nothing.
  Result<void> add(const std::string& entry);

 private:
  std::filesystem::path file_;
  std::vector<std::string> entries_;
};

}  // namespace fovea::app
