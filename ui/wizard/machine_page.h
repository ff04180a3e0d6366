// The first page: what this machine has.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/devices/device_box.h"
#include "ui/wizard/wizard_view.h"

class QLabel;
class QProgressBar;

namespace fovea::ui {

class DetailedText;
class FactList;

class MachinePage : public QWidget {
  Q_OBJECT

 public:
  explicit MachinePage(QWidget* parent = nullptr);
  // `note`: a sentence below, and what few ask for of it; `measuring`: more numbers come.
  void set_machine(const std::vector<FactView>& facts, const QString& note, bool measuring,
                   const QString& note_details = {});
  DeviceBox& device() { return *device_; }

 private:
  DeviceBox* device_;
  FactList* facts_;
  DetailedText* note_;
  QLabel* measuring_text_;
  QProgressBar* measuring_;
};

}  // namespace fovea::ui
