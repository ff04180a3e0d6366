// What this machine has, as far as it decides which models fit and how fast they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/library/fit.h"
#include "engine/api/devices.h"

namespace fovea::app {

struct Card {
  std::string name = {};
  std::int64_t memory_bytes = 0;  // 0: not known
};

struct Machine {
  DeviceInfo device = {};              // the processor
  std::optional<DeviceInfo> gpu = {};  // that computes in its place …
  // … or of two the one with the last layers, and the one with the first ones.
  std::optional<DeviceInfo> first_gpu = {};
  std::vector<DeviceInfo> devices = {};  // all that could be chosen …
  Phrase no_gpu = {};                    // … why there is no GPU among them …
  DeviceChoice chosen = {};              // … and what was; `trouble`: why that cannot be, and then there
  std::optional<Error> trouble = {};     // is no room
  std::vector<Card> cards = {};          // graphics cards of which the system tells
  LoadOptions room = {};                 // what a model may take …
  // … of a machine that is not this one, to plan for it; of two cards what is free on each, instead of a
  // budget.
  MachineFacts facts = {};
  std::filesystem::path folder = {};  // of the models
  std::int64_t disk_free_bytes = 0;
  double disk_read_gb_per_s = 0;    // 0: not measured
  double memory_read_gb_per_s = 0;  // 0: not measured
  double processor_gop_per_s = 0;   // 0: not measured
  double gpu_gop_per_s = 0;         // of two one behind the other; 0: not measured, or there is none
};

// Everything that is known at once. `held_bytes`: of a model that would be closed for another one, there.
Result<Machine> find_machine(const std::filesystem::path& models, const DeviceChoice& device = {},
                             std::int64_t held_bytes = 0);
// How fast the weights that a model has on its device are read, on two cards one behind the other; 0: not
// known.
double read_gb_per_s(const Machine& machine);
// What a plan takes for the speeds, where they were measured.
MachineFacts facts_of(const Machine& machine);
// Adds the speeds; takes up to three seconds. What cannot be measured stays 0.
void measure_machine(Machine& machine, std::stop_token stop = {});

// The graphics cards that the system's files tell of.
std::vector<Card> find_cards(const std::filesystem::path& nvidia = "/proc/driver/nvidia/gpus",
                             const std::filesystem::path& drm = "/sys/class/drm");
// Reads past the page cache for at most a second: the largest file of the folder, or one that is written for
// this and removed. Nothing when neither is possible, or it was stopped.
std::optional<double> measure_disk_read_gb_per_s(const std::filesystem::path& folder, std::stop_token stop);
// The same of a file that is there, of 4 MiB or more.
std::optional<double> measure_file_read_gb_per_s(const std::filesystem::path& file, std::stop_token stop);

}  // namespace fovea::app
