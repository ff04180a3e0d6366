// The swap log: one JSON object on a line for every swap that was published or given up.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>

#include "engine/core/result.h"
#include "engine/precision/residency.h"
#include "engine/precision/units.h"

namespace fovea::runtime {

class SwapLog {
 public:
  // Begins the file anew.
  static Result<SwapLog> create(const std::filesystem::path& path);
  void write(const precision::SwapEvent& event, const precision::UnitTable& units,
             const precision::TierSet& tiers, std::int64_t token);
  // Why nothing is written any more; empty: it still is.
  const Phrase& failure() const { return failure_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  SwapLog(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;  // null after a write failed
  Phrase failure_;
};

}  // namespace fovea::runtime
