#include "ui/chat/status_strip.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <algorithm>

#include "ui/chat/elided_label.h"
#include "ui/language/number_text.h"

namespace fovea::ui {
namespace {}  // namespace

StatusStrip::StatusStrip(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("status"));
  setAccessibleName(tr("Status"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(18, 0, 18, 8);
  model_ = new ElidedLabel(this);
  model_->setObjectName(QStringLiteral("statusModel"));
  model_->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(model_, 1);
  layout->addStretch();  // in place of the model where it is left out
  layout->addWidget(activity_ = add("statusActivity"));
  for (ElidedLabel** label : {&device_, &policy_, &memory_, &context_, &speed_})
    layout->addWidget(*label = add("statusPart"));
  set_status({});
}

ElidedLabel* StatusStrip::add(const char* name) {
  auto* label = new ElidedLabel(this);
  label->setObjectName(QLatin1String(name));
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  return label;
}

void StatusStrip::set_status(const StatusView& status) {
  status_ = status;
  const QLocale locale;
  const auto show = [](QLabel* label, const QString& text, const QString& why) {
    label->setText(text);
    label->setToolTip(why);
  };
  show(activity_, status.activity, status.activity);
  model_->setText(status.model);
  model_->setToolTip(status.model);
  const bool loaded = status.context > 0;
  show(device_, loaded ? status.device : QString(), status.device_why);
  show(policy_, loaded ? status.policy : QString(), status.policy_why);
  QString memory;
  if (loaded && status.budget_bytes > 0) {
    memory = tr("%1 of %2").arg(bytes_text(status.memory_bytes), bytes_text(status.budget_bytes));
  } else if (loaded && status.memory_bytes > 0) {
    memory = bytes_text(status.memory_bytes);
  }
  show(memory_, memory, status.memory_why);
  show(context_,
       loaded
           ? tr("%1 of %2 tokens").arg(locale.toString(status.context_used), locale.toString(status.context))
           : QString(),
       tr("How much of the context this conversation fills. When it is full, the oldest turns must be left "
          "out."));
  show(speed_,
       loaded && status.tokens_per_second > 0
           ? tr("%1 tok/s").arg(locale.toString(status.tokens_per_second, 'f', 1))
           : QString(),
       tr("Tokens of the answer for each second. A token is about three quarters of an English word."));
  setAccessibleDescription(text());
  show_what_fits();
}

// Whole parts, the most telling ones; the model, which the picker names too, gets the rest where that is
// enough to be read.
void StatusStrip::show_what_fits() {
  const int letter = fontMetrics().averageCharWidth();
  const int gap = 3 * letter;  // between two
  if (layout()->spacing() != gap) layout()->setSpacing(gap);
  const QMargins margins = layout()->contentsMargins();
  int room = width() - margins.left() - margins.right() + gap;
  const auto show = [&](QLabel* part, int wanted) {
    const bool is_shown = !part->text().isEmpty() && wanted + gap <= room;
    part->setVisible(is_shown);
    if (is_shown) room -= wanted + gap;
  };
  for (QLabel* part : {speed_, context_, activity_, memory_, policy_, device_})
    show(part, part->sizeHint().width());
  show(model_, std::min(model_->sizeHint().width(), ElidedLabel::kFewestLetters * letter));
}

// Another size, other texts or another font.
bool StatusStrip::event(QEvent* event) {
  const bool is_taken = QWidget::event(event);
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) show_what_fits();
  return is_taken;
}

QString StatusStrip::text() const {
  QStringList parts;
  for (const QLabel* label : {activity_, model_, device_, policy_, memory_, context_, speed_}) {
    if (!label->text().isEmpty()) parts += label->text();
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace fovea::ui
