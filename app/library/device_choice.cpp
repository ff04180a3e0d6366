#include "app/library/device_choice.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/library/errors.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/core/errors.h"
#include "engine/core/result.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

struct DeviceWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::DeviceChoice)
};

// The desktop and its programs …
constexpr std::int64_t memory_for_others = std::int64_t{1} << 30;
// … and on a card, where an image more or less must not make the plan of a moment ago impossible.
constexpr std::int64_t share_for_others = 32;

constexpr std::int64_t min_free_on_card = std::int64_t{128} << 20;

std::string_view named(std::string_view device) {
  return device.empty() ? automatic_device : device;
}

// "cuda:0 (NVIDIA RTX A6000)"
std::string full_name(const DeviceChoice& choice) {
  return choice.description.empty() ? choice.name : choice.name + " (" + choice.description + ")";
}

Phrase place_of(const DeviceChoice& choice) {
  return choice.description.empty() ? phrases::device_place(choice.name)
                                    : phrases::described_device_place(choice.name, choice.description);
}

QString memory_of(const DeviceInfo& device) {
  return DeviceWords::tr("%1, of which %2 is free")
      .arg(ui::bytes_text(device.memory_bytes), ui::bytes_text(device.memory_free_bytes));
}

DeviceOffer offer_of(const DeviceInfo& device) {
  DeviceOffer offer{.choice = {device.name, device.description}};
  if (!is_card(device.name)) {
    offer.choice.description.clear();
    offer.text = DeviceWords::tr("Processor");
    offer.why = DeviceWords::tr("%1, %n core(s). Memory: %2.", nullptr, device.cores)
                    .arg(q(device.description), memory_of(device));
    return offer;
  }
  offer.usable = device.unusable.empty();
  if (offer.usable) {
    offer.text = DeviceWords::tr("%1 (%2), %3")
                     .arg(q(device.description), q(device.name), ui::bytes_text(device.memory_bytes));
    offer.why =
        DeviceWords::tr("The card's memory: %1. What does not fit there can be left to the processor.")
            .arg(memory_of(device));
  } else {
    offer.text = DeviceWords::tr("%1 (%2): cannot be used").arg(q(device.description), q(device.name));
    offer.why = DeviceWords::tr("The card cannot be used: %1.").arg(sentence_words(device.unusable));
  }
  return offer;
}

// What the driver itself said names its files.
Phrase in_short(const Phrase& no_gpu) {
  return no_gpu.is(phrases::no_nvidia_driver_said.code) ? phrases::no_nvidia_driver() : no_gpu;
}

}  // namespace

bool is_card(std::string_view device) {
  return named(device) != "cpu";
}

bool same_device(std::string_view a, std::string_view b) {
  return named(a) == named(b);
}

Result<const DeviceInfo*> find_device(const std::vector<DeviceInfo>& all, const DeviceChoice& wanted) {
  const auto found = std::ranges::find(all, named(wanted.name), &DeviceInfo::name);
  if (found == all.end()) return fail(place_of(wanted), errors::chosen_device_gone());
  if (is_card(wanted.name) && !wanted.description.empty() && found->description != wanted.description)
    return fail(place_of(wanted), errors::chosen_device_replaced(found->description));
  if (!found->unusable.empty())
    return fail(place_of(wanted), errors::chosen_device_unusable(found->unusable));
  return &*found;
}

std::int64_t room_on(const DeviceInfo& device, std::int64_t held_bytes) {
  const std::int64_t free = std::min(device.memory_free_bytes + held_bytes, device.memory_bytes);
  if (is_card(device.name)) return free - free / share_for_others;
  return std::max(free - memory_for_others, free / 2);
}

QString short_of_memory(std::string_view device, const DeviceMemory& memory) {
  const std::int64_t free = memory.total_bytes - memory.used_bytes;
  if (!is_card(device) || memory.total_bytes == 0 || free >= min_free_on_card) return {};
  return DeviceWords::tr(
             "Only %2 of the memory of %1 is free: other programs have taken what its driver may need. Close "
             "some of them before an answer fails.")
      .arg(q(std::string(device)), ui::bytes_text(free));
}

std::vector<DeviceOffer> device_offers(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                                       const DeviceChoice& chosen) {
  std::vector<DeviceOffer> offers(1);
  for (const DeviceInfo& device : all) offers.push_back(offer_of(device));
  static_assert(automatic_device == "cpu");
  offers[0].text = DeviceWords::tr("Automatic: the processor");
  offers[0].why =
      DeviceWords::tr("Models run on the processor. A graphics card is used only if you choose one.");
  if (!no_gpu.empty())
    offers[0].why +=
        QLatin1Char(' ') +
        DeviceWords::tr("No graphics card can be used: %1.").arg(sentence_words(in_short(no_gpu)));
  if (!chosen.name.empty() && !find_device(all, chosen)) {
    const auto found = std::ranges::find_if(
        offers, [&](const DeviceOffer& o) { return !o.usable && o.choice.name == chosen.name; });
    if (found == offers.end())
      offers.push_back({.choice = chosen,
                        .text = DeviceWords::tr("%1: not available now").arg(q(full_name(chosen))),
                        .why = DeviceWords::tr("This card was chosen but can no longer be found. No model is "
                                               "opened until it is back or another device is chosen."),
                        .usable = false,
                        .is_gone = true});
  }
  return offers;
}

QString device_name(const DeviceInfo& device) {
  return is_card(device.name) ? q(device.description) : DeviceWords::tr("Processor");
}

}  // namespace fovea::app
