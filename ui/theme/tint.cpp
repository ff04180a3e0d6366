#include "ui/theme/tint.h"

#include <QApplication>
#include <QEvent>
#include <QWidget>
#include <map>
#include <utility>

namespace fovea::ui {
namespace {

class Tint : public QObject {
 public:
  explicit Tint(QWidget& widget) : QObject(&widget), widget_(widget) {
    setObjectName(QStringLiteral("tint"));
    widget.installEventFilter(this);
  }

  void set(QPalette::ColorRole role, std::function<QColor(const QPalette&)> colour) {
    colours_[role] = std::move(colour);
    apply();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::PaletteChange) apply();
    return QObject::eventFilter(watched, event);
  }

 private:
  void apply() {
    const QPalette usual = QApplication::palette();
    QPalette own;
    for (const auto& [role, colour] : colours_)
      if (colour) own.setColor(role, colour(usual));
    if (std::exchange(set_, own) != own) widget_.setPalette(own);
  }

  QWidget& widget_;
  std::map<QPalette::ColorRole, std::function<QColor(const QPalette&)>> colours_;
  QPalette set_;
};

class Typeface : public QObject {
 public:
  Typeface(QWidget& widget, Type type, bool is_strong)
      : QObject(&widget), widget_(widget), type_(type), is_strong_(is_strong) {
    widget.installEventFilter(this);
    apply();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::ApplicationFontChange) apply();
    return QObject::eventFilter(watched, event);
  }

 private:
  void apply() { widget_.setFont(type_of(QApplication::font(), type_, is_strong_)); }

  QWidget& widget_;
  Type type_;
  bool is_strong_;
};

}  // namespace

void set_type(QWidget& widget, Type type, bool is_strong) {
  new Typeface(widget, type, is_strong);
}

void tint(QWidget& widget, QPalette::ColorRole role, std::function<QColor(const QPalette&)> colour) {
  auto* known = widget.findChild<QObject*>(QStringLiteral("tint"), Qt::FindDirectChildrenOnly);
  (known ? static_cast<Tint*>(known) : new Tint(widget))->set(role, std::move(colour));
}

}  // namespace fovea::ui
