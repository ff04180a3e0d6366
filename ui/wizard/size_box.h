// A field for a size in bytes as people write it, "8 GB", "512MiB" or "1.5g", with steps up and down.
#pragma once

#include <QAbstractSpinBox>
#include <functional>
#include <optional>

namespace fovea::ui {

class SizeBox : public QAbstractSpinBox {
  Q_OBJECT

 public:
  using Parser = std::function<std::optional<qint64>(const QString&)>;

  explicit SizeBox(QWidget* parent = nullptr);
  // `parse` gets plain blanks and decimal points.
  void set_parser(Parser parse) { parse_ = std::move(parse); }
  void set_most(qint64 bytes) { most_ = bytes; }
  void set_bytes(qint64 bytes);
  qint64 bytes() const { return bytes_; }  // the last that was sound
  // Takes what stands there. False when it is no size, or too large: it stays to be mended, and fault() says
  // what is wrong.
  bool take();
  const QString& fault() const { return fault_; }

  void stepBy(int steps) override;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void bytesChanged(qint64 bytes);  // by the user
  void faultChanged(const QString& fault);

 protected:
  StepEnabled stepEnabled() const override;

 private:
  void show_fault(const QString& fault);

  Parser parse_;
  qint64 bytes_ = 0, most_ = 0;
  QString fault_;
};

}  // namespace fovea::ui
