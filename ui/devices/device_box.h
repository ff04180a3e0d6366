// The choice of the device on which models run, with a sentence about the chosen one below.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

class QComboBox;
class QLabel;

namespace fovea::ui {

struct DeviceView {
  QString id;    // empty: automatic
  QString text;  // "NVIDIA RTX A6000 (cuda:0), 51.5 GB"
  QString why;
  bool usable = true;  // else it can stay chosen, and cannot be chosen
  bool operator==(const DeviceView&) const = default;
};

class DeviceBox : public QWidget {
  Q_OBJECT

 public:
  explicit DeviceBox(QWidget* parent = nullptr);
  // Until then it says that it looks.
  void set_devices(const std::vector<DeviceView>& devices, const QString& chosen);
  QString chosen() const;
  QComboBox* box() { return box_; }

 Q_SIGNALS:
  void deviceChosen(const QString& id);

 private:
  void explain();

  std::vector<DeviceView> devices_;
  QComboBox* box_;
  QLabel* why_;
};

}  // namespace fovea::ui
