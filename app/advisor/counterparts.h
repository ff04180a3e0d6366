// What a model that is open can be compared with, and whether there is memory for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/library/stores.h"
#include "engine/api/plan.h"

namespace fovea::app {

struct Counterpart {
  enum class Kind : std::uint8_t {
    file,  // every weight as the file has it
    // The same where that does not fit: experts that memory has no room for are read from the disk or, beside
    // a card, computed by the processor. Only there if `file` has no room.
    file_elsewhere,
    lowest,  // everything at the lowest of the open model's tiers; without any, at q2
    fixed,   // the open model's tiers within its budget, as a mix that stays
  };
  // While it is opened, and as it is now once more, one after the other.
  enum class Room : std::uint8_t { beside_the_open, in_its_place, none };

  Kind kind = Kind::file;
  LoadOptions options = {};
  std::string tier = {};   // of Kind::lowest
  std::int64_t bytes = 0;  // that it takes, on the device and beside it
  Room room = Room::none;
  StoreNeed store = {};
  std::int64_t pass_bytes = 0;        // that each pass of many tokens reads from the disk
  LoadPlan plan = {};                 // of Kind::file
  std::optional<Error> trouble = {};  // why it cannot be planned; then there is no more of it
};

struct Counterparts {
  LoadOptions open = {};        // as it is opened once more
  std::int64_t bytes = 0;       // that this takes
  std::int64_t free_bytes = 0;  // on the device, beside what is open
  std::vector<Counterpart> choices = {};
};

// `open`: as the model would be opened anew. `plan`: of the open one, where it has a policy. `held_bytes`:
// that it holds on its device. Reads no weights; asks the system or a driver. ErrorKind::unsupported: its
// policy lowers layers while it answers, of which reading a text shows nothing.
Result<Counterparts> counterparts_of(const LoadOptions& open, const std::optional<Plan>& plan,
                                     std::int64_t held_bytes);
// The same on a device that was looked at.
Result<Counterparts> counterparts_on(const ChosenDevice& device, const LoadOptions& open,
                                     const std::optional<Plan>& plan, std::int64_t held_bytes);

// For two plans one after the other on a device as it is now, where the open model holds so much of it.
Counterpart::Room room_for(const Plan& first, const Plan& second, const ChosenDevice& device,
                           std::int64_t held_bytes);

// The open model's tiers within its budget, as a mix that stays.
PrecisionRequest fixed_mix_of(const PrecisionRequest& open, const std::optional<Plan>& plan);
// The same, following the conversation.
PrecisionRequest adaptive_of(const PrecisionRequest& open, const std::optional<Plan>& plan);

}  // namespace fovea::app
