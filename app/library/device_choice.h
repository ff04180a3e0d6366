// On which of this machine's devices models run: what there is to choose, and what became of what was chosen.
#pragma once

#include <QString>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/devices.h"

namespace fovea::app {

struct DeviceChoice {
  std::string name = {};         // of devices(); empty: automatic
  std::string description = {};  // what it was called when it was chosen
  bool operator==(const DeviceChoice&) const = default;
};

// Whether the device has memory of its own, beside which the processor computes.
bool is_card(std::string_view device);
bool same_device(std::string_view a, std::string_view b);

// ErrorKind::not_found where none has the name, or another card has it now than was chosen;
// ErrorKind::unsupported where it is of no use.
Result<const DeviceInfo*> find_device(const std::vector<DeviceInfo>& all, const DeviceChoice& wanted);

// What a model may take there now. `held_bytes`: of one that would be closed for it.
std::int64_t room_on(const DeviceInfo& device, std::int64_t held_bytes);

// One sentence where other programs have taken nearly all of a card that a model is open on; else empty. The
// model has its memory, but the driver may need some more in any answer.
QString short_of_memory(std::string_view device, const DeviceMemory& memory);

struct DeviceOffer {
  DeviceChoice choice = {};
  QString text = {};
  QString why = {};
  bool usable = true;
  bool is_gone = false;  // it was chosen, and is not there any more
};

// Automatic, the processor, the graphics cards; and what was chosen, where it is not among them any more.
// `no_gpu`: why there is none.
std::vector<DeviceOffer> device_offers(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                                       const DeviceChoice& chosen);

// "Processor", "NVIDIA RTX A6000"
QString device_name(const DeviceInfo& device);

}  // namespace fovea::app
