#include "app/wizard/device_views.h"

namespace fovea::app {

DeviceViews device_views(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                         const DeviceChoice& chosen) {
  DeviceViews shown;
  for (const DeviceOffer& offer : device_offers(all, no_gpu, chosen)) {
    // Another card may have the name of one that is gone.
    const bool is_gone = offer.is_gone;
    const QString id =
        (is_gone ? QStringLiteral("gone ") : QString()) + QString::fromStdString(offer.choice.name);
    if (is_gone || (shown.chosen.isEmpty() && offer.choice.name == chosen.name)) shown.chosen = id;
    shown.views.push_back({id, offer.text, offer.why, offer.usable});
  }
  return shown;
}

DeviceChoice choice_of_device(const std::vector<DeviceInfo>& all, const QString& id) {
  DeviceChoice choice{.name = id.toStdString()};
  if (choice.name.empty()) return choice;  // automatic
  if (const auto found = find_device(all, choice)) choice.description = choice_of(*found).description;
  return choice;
}

}  // namespace fovea::app
