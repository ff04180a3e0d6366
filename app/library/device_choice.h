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
  std::string name = {};         // of devices(); empty: automatic; "cuda:0,cuda:1": two cards
  std::string description = {};  // what it was called when it was chosen; of two cards "… + …"
  bool operator==(const DeviceChoice&) const = default;
};

// Whether the device has memory of its own, beside which the processor computes.
bool is_card(std::string_view device);
bool same_device(std::string_view a, std::string_view b);
// Of two cards that hold one model together both names, the one with the first layers first; else the name.
std::vector<std::string> names_of(std::string_view device);

struct ChosenDevice {
  const DeviceInfo* device = nullptr;  // of two cards the one with the last layers and the output
  const DeviceInfo* first = nullptr;   // of two cards the other one; null: there is one device
};
// ErrorKind::not_found where none has the name, or another card has it now than was chosen;
// ErrorKind::unsupported where it is of no use. Of two cards the error is that of the one.
Result<ChosenDevice> find_device(const std::vector<DeviceInfo>& all, const DeviceChoice& wanted);
// The same as a choice.
DeviceChoice choice_of(const ChosenDevice& device);

// What a model may take there now. `held_bytes`: of one that would be closed for it.
std::int64_t room_on(const DeviceInfo& device, std::int64_t held_bytes);
struct DeviceRoom {
  std::int64_t device = 0, first = 0;  // as in ChosenDevice
};
// What is held on two cards is taken to lie there as what is used does.
DeviceRoom room_on(const ChosenDevice& device, std::int64_t held_bytes);

// One sentence where other programs have taken nearly all of a card that a model is open on; else empty. The
// model has its memory, but the driver may need some more in any answer.
QString short_of_memory(std::string_view device, const DeviceMemory& memory);
// Asks the driver, of each of two cards.
QString short_of_memory(std::string_view device);

struct DeviceOffer {
  DeviceChoice choice = {};
  QString text = {};
  QString why = {};
  bool usable = true;
  bool is_gone = false;  // it was chosen, and is not there any more
};

// Automatic, the processor, the graphics cards; where two or more can be used the two with the most memory
// together, in the driver's order; and what was chosen, where it is not among them (any more). `no_gpu`: why
// there is none.
std::vector<DeviceOffer> device_offers(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                                       const DeviceChoice& chosen);

// "Processor", "NVIDIA RTX A6000"
QString device_name(const DeviceInfo& device);
// "RTX A6000", where there is no doubt whose it is; of two alike "RTX A6000 (cuda:1)".
QString short_name(const DeviceInfo& device);
QString short_name(const DeviceInfo& device, const DeviceInfo& other);

}  // namespace fovea::app
