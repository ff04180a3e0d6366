// What llama.cpp's server has beside OpenAI's interface: its facts, and the tokeniser.
#pragma once

#include "app/server/activity.h"
#include "app/server/json_fields.h"
#include "app/server/served_models.h"

namespace fovea::app {

const ParameterKinds& tokenize_parameters();
const ParameterKinds& detokenize_parameters();
const ParameterKinds& apply_template_parameters();

Json props_json(const ServedModel* model, int slots, const std::string& version);
Result<Json> tokenize(ServedModel& model, const Json& body);
Result<Json> detokenize(ServedModel& model, const Json& body);
Result<Json> apply_template(ServedModel& model, const Json& body);

}  // namespace fovea::app
