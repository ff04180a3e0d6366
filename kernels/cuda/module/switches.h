// What the environment turns off of what makes a GPU fast, to find which of it is at fault or what it is
// worth: FOVEA_CUDA_OFF=pdl,graph,prefetch. Results are the same without.
#pragma once

#include <string>
#include <string_view>

#include "kernels/api/failure.h"

namespace fovea::kernels::cuda {

struct Switches {
  bool pdl = true;    // programmatic dependent launch: a kernel's blocks come before the one before has ended
  bool graph = true;  // passes are captured
  bool prefetch = true;    // hints of weights that will be read
  Obstacle obstacle = {};  // a word that is none of them

  static Switches parse(std::string_view text);
  // What FOVEA_CUDA_OFF says. Looks once.
  static const Switches& get();

  std::string off() const;  // "pdl, graph"
};

}  // namespace fovea::kernels::cuda
