// Whether a model fits this machine, and how: the planner's answer in one of four kinds. Reads no weights;
// takes some milliseconds to a second, so that a window asks on another thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "app/library/device_choice.h"
#include "engine/api/error.h"
#include "engine/api/plan.h"

namespace fovea::app {

// From the best to the worst.
enum class FitKind : std::uint8_t {
  fits,               // as its file has it
  lower_precision,    // everything on the device, some of it at lower tiers
  experts_elsewhere,  // some experts on the host, or on disk where the processor is the device
  does_not_fit,
};

// What a model is asked to fit is `room`: a device, its budget, a context and the type of the KV cache.

// Whether the processor computes what does not fit.
bool on_card(const LoadOptions& room, const MachineFacts& machine = {});

// What this machine gives a model on a device now. `held_bytes`: what a model that would be closed for it has
// there. ErrorKind::not_found and unsupported where the device is none of this machine's, or of no use.
struct ModelRoom {
  LoadOptions options = {};
  MachineFacts facts = {};  // of two cards: what is free on each; there is no budget then
};
Result<ModelRoom> this_machine(std::int64_t held_bytes = 0, const DeviceChoice& device = {});
ModelRoom room_of(const ChosenDevice& device, std::int64_t held_bytes);
// For a model, on both cards together where there are two.
std::int64_t room_bytes(const LoadOptions& room, const MachineFacts& machine);

struct ModelFit {
  FitKind kind = FitKind::does_not_fit;
  bool is_estimate = false;  // from the file's size and name; the planner has not seen the model itself
  std::int64_t budget_bytes = 0;
  std::int64_t needed_bytes = 0;  // as its file has it
  std::int64_t min_bytes = 0;     // the smallest budget that would do, with everything that may be lowered
  // Of the way that fits; where none does, of the one that needs least. Empty (units 0, total 0) where an
  // estimate is of the size alone.
  LoadPlan report = {};
  bool on_card = false;  // what is elsewhere is computed by the processor and not read from the disk
  PrecisionRequest precision = {};  // what to open it with
};

// Of the device, or of both cards, without what is kept free of the budget.
std::int64_t taken_bytes(const Plan& plan);

// Errors are those of the file: damaged, or of a kind that Fovea does not run.
Result<ModelFit> fit_of_model(const std::filesystem::path& model, const LoadOptions& room,
                              const MachineFacts& machine = {});
// A published model (engine/api/plan.h, shape_names()) as it was published.
Result<ModelFit> fit_of_shape(const std::string& shape, const LoadOptions& room,
                              const MachineFacts& machine = {});
// A file elsewhere of which only name and size are known: an estimate. Where the name is that of a known
// shape, the planner is asked about that shape.
ModelFit estimate_fit(std::string_view name, std::int64_t bytes, const LoadOptions& room,
                      const MachineFacts& machine = {});

}  // namespace fovea::app
