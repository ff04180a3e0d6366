#include "ui/wizard/size_box.h"

#include <QLineEdit>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"

namespace fovea::ui {
namespace {

constexpr qint64 kMegabyte = 1'000'000, kGigabyte = 1000 * kMegabyte;

qint64 step_of(qint64 most) {
  return most < 2 * kGigabyte ? 10 * kMegabyte : most < 20 * kGigabyte ? 100 * kMegabyte : 500 * kMegabyte;
}

}  // namespace

SizeBox::SizeBox(QWidget* parent) : QAbstractSpinBox(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(this, &QAbstractSpinBox::editingFinished, this, &SizeBox::take);
}

void SizeBox::set_bytes(qint64 bytes) {
  bytes_ = bytes;
  lineEdit()->setText(bytes_text(bytes));
  lineEdit()->setModified(false);
  show_fault({});
}

// What was not typed is rounded, and stands for the exact number behind it.
bool SizeBox::take() {
  if (!lineEdit()->isModified()) return fault_.isEmpty();
  QString text = lineEdit()->text().trimmed();
  text.replace(QChar(QChar::Nbsp), QLatin1Char(' ')).replace(QLocale().decimalPoint(), QLatin1String("."));
  const std::optional<qint64> bytes = parse_ ? parse_(text) : std::nullopt;
  if (!bytes || *bytes < 1) {
    show_fault(
        tr("“%1” is not a size. Write, for example, 8 GB, 7.5 GiB or 500 MB.").arg(lineEdit()->text()));
    return false;
  }
  if (*bytes > most_) {
    show_fault(tr("There are %1 in all.").arg(bytes_text(most_)));
    return false;
  }
  const bool other = *bytes != bytes_;
  set_bytes(*bytes);
  if (other) Q_EMIT bytesChanged(bytes_);
  return true;
}

// To the next whole step, so that a number that was typed becomes a round one.
void SizeBox::stepBy(int steps) {
  if (!take()) return;
  const qint64 step = step_of(most_);
  const qint64 at = steps > 0 ? bytes_ / step : (bytes_ + step - 1) / step;
  const qint64 bytes = std::clamp((at + steps) * step, std::min(step, most_), most_);
  if (bytes == bytes_) return;
  set_bytes(bytes);
  selectAll();
  Q_EMIT bytesChanged(bytes_);
}

QAbstractSpinBox::StepEnabled SizeBox::stepEnabled() const {
  return (bytes_ < most_ ? StepUpEnabled : StepNone) |
         (bytes_ > std::min(step_of(most_), most_) ? StepDownEnabled : StepNone);
}

QSize SizeBox::sizeHint() const {
  const QSize usual = QAbstractSpinBox::sizeHint();
  return {std::max(usual.width(), fontMetrics().averageCharWidth() * 16), usual.height()};
}

void SizeBox::show_fault(const QString& fault) {
  if (fault == fault_) return;
  fault_ = fault;
  setAccessibleDescription(fault);
  Q_EMIT faultChanged(fault);
}

}  // namespace fovea::ui
