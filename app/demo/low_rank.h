// What each expert of the demo model adds to a matrix that all experts start from: a product of low rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/demo/recipe.h"

namespace fovea::app {

class LowRank {
 public:
  // The recipe's `name`_a.`layer` [experts, rank, columns] and `name`_b.`layer` [experts, rows, rank],
  // integers with a scale for each rank. Empty when the recipe has other shapes.
  LowRank(const Recipe& recipe, const std::string& name, std::int64_t layer);

  std::int64_t experts() const { return experts_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

  // out [rows, columns] = b [rows, rank] a [rank, columns] of one expert. Each element is a chain of fused
  // multiply-adds in the order of the ranks, so that every processor computes the same bits.
  void product(std::int64_t expert, float* out) const;

 private:
  std::int64_t experts_ = 0, rank_ = 0, rows_ = 0, columns_ = 0;
  std::vector<float> a_, b_;
};

}  // namespace fovea::app
