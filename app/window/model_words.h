// A loaded model in the window's words.
#pragma once

#include <QString>
#include <string>

#include "app/library/device_choice.h"
#include "app/library/stores.h"
#include "app/window/engine_worker.h"

namespace fovea::app {

// A message that does not fit, and what helps; in tokens. `trained`: the longest context that the model
// knows.
QString too_long_text(std::int64_t tokens, std::int64_t context, std::int64_t trained);
QString shown_name(const ModelInfo& info);   // as it calls itself; of the demo without what it is made of
QString details_of(const ModelInfo& info);   // "30.5 B parameters · 128 experts, 8 for each token"
const char* policy_word(PolicyKind policy);  // as on the command line
DeviceChoice device_choice(const LoadedModel& model);  // on which it runs
QString device_text(const LoadedModel& model);
QString device_why(const LoadedModel& model);
std::string policy_name(const LoadedModel& model);  // as it is stored: "fovea q4/q2"
QString policy_text(const LoadedModel& model);      // "hot experts at 4 bits, the others at 2 bits"
QString policy_text(const std::string& stored);     // the same of policy_name(); another name stays as it is
QString policy_why(const LoadedModel& model);
std::int64_t memory_bytes(const LoadedModel& model);
// How what was loaded differs from what was shown.
QString changed_text(const std::vector<PlanDifference>& changed);
QString memory_why(const LoadedModel& model);
// What opening the model again takes, with a mix that stays or one that follows the conversation.
QString switch_words(bool to_fixed, const StoreNeed& store);

}  // namespace fovea::app
