// The devices as the settings and the wizard show them.
#pragma once

#include <vector>

#include "app/library/device_choice.h"
#include "ui/devices/device_box.h"

namespace fovea::app {

struct DeviceViews {
  std::vector<ui::DeviceView> views;
  QString chosen;  // id of one of them
};
DeviceViews device_views(const std::vector<DeviceInfo>& all, const Phrase& no_gpu,
                         const DeviceChoice& chosen);

// What is kept of a view's id.
DeviceChoice choice_of_device(const std::vector<DeviceInfo>& all, const QString& id);

}  // namespace fovea::app
