#include "ui/devices/device_box.h"

#include <QComboBox>
#include <QLabel>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

DeviceBox::DeviceBox(QWidget* parent) : QWidget(parent), box_(new QComboBox(this)), why_(new QLabel(this)) {
  box_->setObjectName(QStringLiteral("device"));
  box_->setAccessibleName(tr("Device on which models run"));
  box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box_->setMinimumContentsLength(24);
  box_->addItem(tr("Looking…"));
  box_->setEnabled(false);
  why_->setObjectName(QStringLiteral("deviceWhy"));
  why_->setWordWrap(true);
  why_->setTextFormat(Qt::PlainText);
  why_->setForegroundRole(QPalette::PlaceholderText);
  setFocusProxy(box_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(box_);
  layout->addWidget(why_);
  connect(box_, &QComboBox::activated, this, [this] {
    explain();
    Q_EMIT deviceChosen(chosen());
  });
}

void DeviceBox::set_devices(const std::vector<DeviceView>& devices, const QString& chosen) {
  if (devices == devices_ && chosen == this->chosen()) return;
  devices_ = devices;
  box_->clear();
  for (const DeviceView& device : devices_) {
    box_->addItem(device.text, device.id);
    box_->setItemData(box_->count() - 1, device.why, Qt::ToolTipRole);
    auto* items = qobject_cast<QStandardItemModel*>(box_->model());
    if (items && !device.usable) items->item(box_->count() - 1)->setEnabled(false);
  }
  box_->setEnabled(!devices_.empty());
  box_->setCurrentIndex(box_->findData(chosen));
  explain();
}

QString DeviceBox::chosen() const {
  return box_->currentData().toString();
}

void DeviceBox::explain() {
  const int at = box_->currentIndex();
  if (at < 0 || at >= static_cast<int>(devices_.size())) return why_->clear();
  const DeviceView& device = devices_[static_cast<std::size_t>(at)];
  tint(*why_, QPalette::PlaceholderText, device.usable ? nullptr : error_text);
  why_->setText(device.why);
  box_->setAccessibleDescription(device.why);
}

}  // namespace fovea::ui
