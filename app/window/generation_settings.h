// What a conversation says about how it is answered, as the history keeps it (JSON).
#pragma once

#include <string>

#include "app/settings/settings.h"
#include "engine/api/model_info.h"
#include "engine/api/request.h"
#include "ui/chat/chat_settings_dialog.h"

namespace fovea::app {

// Empty or unreadable text: nothing is set. The instructions are not in it: the history has a field for them.
ui::ChatSettingsView read_generation_settings(const std::string& json);
std::string write_generation_settings(const ui::ChatSettingsView& settings);

// What the settings file sets for every conversation, where the conversation says nothing itself.
ui::ChatSettingsView with_general(ui::ChatSettingsView settings, const Settings& general);

void apply(const ui::ChatSettingsView& settings, GenerateRequest& request);
// A conversation keeps what it was told with another model; this one is told what its chat template knows.
void leave_out_unknown(const ModelInfo& info, GenerateRequest& request);
ui::ChatSettingsView view_of(const GenerateRequest& request);
// {"temperature": 0.7 …}: every value that an answer is made with, whoever chose it; the history has a field
// for the seed, which the engine may choose.
std::string effective_settings(const GenerateRequest& request);

// {"prompt_tokens": 31, "tokens": 120, "decode_seconds": 3.1 …}: what the history keeps of an answer.
std::string timings_json(const GenerateResult& result);
struct KeptTimings {
  std::int64_t tokens = 0;
  double tokens_per_second = 0;
  double ttft_seconds = 0, decode_seconds = 0;
  std::optional<std::int64_t> prompt_tokens = {};
  std::optional<double> bits_per_use = {}, quality_kept = {}, joules = {};  // see GenerateResult
};
KeptTimings read_timings(const std::string& json);

}  // namespace fovea::app
