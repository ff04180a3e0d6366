// What the user has chosen: one JSON file that people can read and edit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/load_options.h"

namespace fovea::app {

enum class ThemeChoice : std::uint8_t { system, light, dark };
enum class SendKey : std::uint8_t { enter, control_enter };

struct Preset {  // of how a conversation is answered; or of what is asked
  std::string name;
  std::string text;           // the system prompt, or what is asked
  std::string id = {};        // stays when it is renamed; empty, as before there were any: the name
  std::string settings = {};  // as a conversation keeps them (JSON), or empty
  bool operator==(const Preset&) const = default;
};

// Other programs that ask the window's model.
struct ServerChoice {
  bool on = false;
  std::int64_t port = 11435;  // 0: a free one
  std::int64_t slots = 3;     // their requests that are answered at once, 1 … max_sequences - 1
  bool for_other_computers = false;
  bool operator==(const ServerChoice&) const = default;
};

struct Settings {
  // appearance
  std::string language;  // "de"; empty: the system's
  ThemeChoice theme = ThemeChoice::system;
  std::int64_t text_percent = 100;  // of the system's font size, 50 … 300
  bool less_motion = false;         // than the desktop has
  SendKey send_key = SendKey::enter;
  bool show_live_panel = true;
  bool hottest_first = true;  // on the panel's map

  // network
  bool offline = false;  // nothing at all goes out

  ServerChoice server;

  // models
  std::vector<std::string> model_folders;  // watched in addition to our own
  std::vector<std::string> recent_models;  // paths, the last one first
  // How single models are opened, each on a device, the last one first: model, device, context, KV type,
  // policy, tiers, budget and layers of experts off the device. Nothing else of them is kept.
  std::vector<LoadOptions> model_setups;
  std::string device;               // that models run on: "cpu", "cuda:0"; empty: automatic
  std::string device_description;   // what it was called when it was chosen
  double budget_gb = 0;             // 0: automatic
  std::int64_t context_tokens = 0;  // 0: automatic

  // generation; empty: the model's own
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<std::int64_t> top_k;
  std::optional<double> repetition_penalty;
  std::optional<std::int64_t> max_tokens;
  std::vector<Preset> system_prompts;
  std::vector<Preset> prompts;  // to ask again, without settings

  // window: what Qt's saveGeometry() and saveState() give, as Base64
  std::string window_geometry;
  std::string window_state;

  bool operator==(const Settings&) const = default;
};

}  // namespace fovea::app
