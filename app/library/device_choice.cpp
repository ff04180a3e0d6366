#include "app/library/device_choice.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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

constexpr std::string_view between_names = ",", between_descriptions = " + ";

// Two that differ; nothing where there are not exactly two.
std::optional<std::pair<std::string, std::string>> halves(std::string_view text, std::string_view between) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view first = text.substr(0, at), last = text.substr(at + between.size());
  if (first.empty() || last.empty() || last.find(between) != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(first), std::string(last));
}

// Each of two cards by itself; else the choice.
std::vector<DeviceChoice> parts_of(const DeviceChoice& choice) {
  const std::vector<std::string> names = names_of(choice.name);
  if (names.size() < 2) return {choice};
  const auto [first, last] = halves(choice.description, between_descriptions).value_or(std::pair("", ""));
  return {{names[0], first}, {names[1], last}};
}

bool can_be_used(const DeviceInfo& device) {
  return is_card(device.name) && device.unusable.empty();
}

// The two with the most memory of the cards that can be used, in the driver's order; of equals the first
// ones.
std::optional<ChosenDevice> largest_pair(const std::vector<DeviceInfo>& all) {
  std::vector<const DeviceInfo*> cards;
  for (const DeviceInfo& device : all)
    if (can_be_used(device)) cards.push_back(&device);
  if (cards.size() < 2) return std::nullopt;
  std::ranges::stable_sort(cards, std::ranges::greater(), &DeviceInfo::memory_bytes);
  const auto [first, last] = std::minmax(cards[0], cards[1]);  // they lie in one array
  return ChosenDevice{.device = last, .first = first};
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

DeviceOffer offer_of(const ChosenDevice& pair, bool are_all) {
  const DeviceInfo &first = *pair.first, &last = *pair.device;
  const QString together = ui::bytes_text(first.memory_bytes + last.memory_bytes);
  const QString one = short_name(first), other = short_name(last);
  DeviceOffer offer{.choice = choice_of(pair)};
  if (one == other)
    offer.text = (are_all ? DeviceWords::tr("Both cards: two %1, %2 together")
                          : DeviceWords::tr("Two cards: two %1, %2 together"))
                     .arg(one, together);
  else
    offer.text = (are_all ? DeviceWords::tr("Both cards: %1 and %2, %3 together")
                          : DeviceWords::tr("Two cards: %1 and %2, %3 together"))
                     .arg(one, other, together);
  const auto memory = [](const DeviceInfo& card) {
    return DeviceWords::tr("%1 (%2): %3.").arg(short_name(card), q(card.name), memory_of(card));
  };
  offer.why = memory(first) + QLatin1Char(' ') + memory(last) + QLatin1Char(' ') +
              DeviceWords::tr(
                  "The first one has a model's first layers and the other one the rest, so that a model may "
                  "be as large as both. That is not faster than one card with room for all of it.");
  return offer;
}

// Of what was chosen and is not among the offers.
DeviceOffer gone_offer(const DeviceChoice& chosen, const Error& error) {
  DeviceOffer gone{.choice = chosen, .usable = false, .is_gone = true};
  gone.text = DeviceWords::tr("%1: not available now").arg(q(full_name(chosen)));
  gone.why = names_of(chosen.name).size() == 1
                 ? DeviceWords::tr(
                       "This card was chosen but can no longer be found. No model is "
                       "opened until it is back or another device is chosen.")
                 : DeviceWords::tr(
                       "Of the two cards that were chosen, %1 cannot be used: %2. No model is opened "
                       "until it can or another device is chosen.")
                       .arg(sentence_words(error.where), sentence_words(error.what));
  return gone;
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

std::vector<std::string> names_of(std::string_view device) {
  const auto two = halves(device, between_names);
  if (!two || two->first == two->second || !is_card(two->first) || !is_card(two->second))
    return {std::string(device)};
  return {two->first, two->second};
}

namespace {

Result<const DeviceInfo*> find_one(const std::vector<DeviceInfo>& all, const DeviceChoice& wanted) {
  const auto found = std::ranges::find(all, named(wanted.name), &DeviceInfo::name);
  if (found == all.end()) return fail(place_of(wanted), errors::chosen_device_gone());
  if (is_card(wanted.name) && !wanted.description.empty() && found->description != wanted.description)
    return fail(place_of(wanted), errors::chosen_device_replaced(found->description));
  if (!found->unusable.empty())
    return fail(place_of(wanted), errors::chosen_device_unusable(found->unusable));
  return &*found;
}

}  // namespace

Result<ChosenDevice> find_device(const std::vector<DeviceInfo>& all, const DeviceChoice& wanted) {
  const std::vector<DeviceChoice> parts = parts_of(wanted);
  ChosenDevice chosen;
  if (parts.size() == 2) {
    FOVEA_TRY(chosen.first, find_one(all, parts.front()));
  }
  FOVEA_TRY(chosen.device, find_one(all, parts.back()));
  return chosen;
}

DeviceChoice choice_of(const ChosenDevice& device) {
  const DeviceInfo& last = *device.device;
  DeviceChoice choice{.name = last.name, .description = is_card(last.name) ? last.description : ""};
  if (device.first == nullptr) return choice;
  choice.name = device.first->name + std::string(between_names) + last.name;
  choice.description = device.first->description + std::string(between_descriptions) + last.description;
  return choice;
}

std::int64_t room_on(const DeviceInfo& device, std::int64_t held_bytes) {
  const std::int64_t free = std::min(device.memory_free_bytes + held_bytes, device.memory_bytes);
  if (is_card(device.name)) return free - free / share_for_others;
  return std::max(free - memory_for_others, free / 2);
}

DeviceRoom room_on(const ChosenDevice& device, std::int64_t held_bytes) {
  if (device.first == nullptr) return {.device = room_on(*device.device, held_bytes)};
  const auto used = [](const DeviceInfo& card) {
    return static_cast<double>(std::max<std::int64_t>(1, card.memory_bytes - card.memory_free_bytes));
  };
  const double share = used(*device.first) / (used(*device.first) + used(*device.device));
  const std::int64_t on_first = std::llround(share * static_cast<double>(held_bytes));
  return {.device = room_on(*device.device, held_bytes - on_first),
          .first = room_on(*device.first, on_first)};
}

QString short_of_memory(std::string_view device, const DeviceMemory& memory) {
  const std::int64_t free = memory.total_bytes - memory.used_bytes;
  if (!is_card(device) || memory.total_bytes == 0 || free >= min_free_on_card) return {};
  return DeviceWords::tr(
             "Only %2 of the memory of %1 is free: other programs have taken what its driver may need. Close "
             "some of them before an answer fails.")
      .arg(q(std::string(device)), ui::bytes_text(free));
}

QString short_of_memory(std::string_view device) {
  for (const std::string& name : names_of(device))
    if (const QString words = short_of_memory(name, device_memory(name)); !words.isEmpty()) return words;
  return {};
}

std::vector<DeviceOffer> device_offers(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                                       const DeviceChoice& chosen) {
  std::vector<DeviceOffer> offers(1);
  for (const DeviceInfo& device : all) offers.push_back(offer_of(device));
  const bool are_all = std::ranges::count_if(all, can_be_used) == 2;
  if (const auto pair = largest_pair(all)) offers.push_back(offer_of(*pair, are_all));
  static_assert(automatic_device == "cpu");
  offers[0].text = DeviceWords::tr("Automatic: the processor");
  offers[0].why =
      DeviceWords::tr("Models run on the processor. A graphics card is used only if you choose one.");
  if (!no_gpu.empty())
    offers[0].why +=
        QLatin1Char(' ') +
        DeviceWords::tr("No graphics card can be used: %1.").arg(sentence_words(in_short(no_gpu)));
  if (chosen.name.empty()) return offers;
  const auto is_offered = [&](bool usable) {
    return std::ranges::any_of(
        offers, [&](const DeviceOffer& o) { return o.usable == usable && o.choice.name == chosen.name; });
  };
  const auto found = find_device(all, chosen);
  if (!found && !is_offered(false)) offers.push_back(gone_offer(chosen, found.error()));
  if (found && found->first != nullptr && !is_offered(true)) offers.push_back(offer_of(*found, are_all));
  return offers;
}

QString device_name(const DeviceInfo& device) {
  return is_card(device.name) ? q(device.description) : DeviceWords::tr("Processor");
}

QString short_name(const DeviceInfo& device) {
  QString name = device_name(device);
  for (const QLatin1String maker : {QLatin1String("NVIDIA "), QLatin1String("GeForce ")})
    if (name.startsWith(maker) && name.size() > maker.size()) name.remove(0, maker.size());
  return name;
}

QString short_name(const DeviceInfo& device, const DeviceInfo& other) {
  const QString name = short_name(device);
  return name == short_name(other) ? DeviceWords::tr("%1 (%2)").arg(name, q(device.name)) : name;
}

}  // namespace fovea::app
