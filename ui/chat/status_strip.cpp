#include "ui/chat/status_strip.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <algorithm>

#include "ui/chat/elided_label.h"
#include "ui/language/number_text.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {

StatusStrip::StatusStrip(QWidget* parent) : QWidget(parent), ring_(new RingGauge(this)) {
  setObjectName(QStringLiteral("status"));
  setAccessibleName(tr("Status"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::close);
  layout->addStretch();
  layout->addWidget(activity_ = add("statusActivity"));
  layout->addWidget(speed_ = add("statusSpeed"));
  layout->addWidget(context_ = add("statusContext"));
  layout->addWidget(ring_);
  set_status({});
}

ElidedLabel* StatusStrip::add(const char* name) {
  auto* label = new ElidedLabel(this);
  label->setObjectName(QLatin1String(name));
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  return label;
}

QString StatusStrip::memory_text() const {
  if (status_.budget_bytes > 0)
    return tr("%1 of %2").arg(bytes_text(status_.memory_bytes), bytes_text(status_.budget_bytes));
  return status_.memory_bytes > 0 ? bytes_text(status_.memory_bytes) : QString();
}

// What runs, how, and in how much memory, each with its reason.
QString StatusStrip::explanation() const {
  if (status_.context == 0) return {};
  QStringList lines;
  const auto add = [&lines](const QString& what, const QString& why) {
    if (!what.isEmpty()) lines += why.isEmpty() || why == what ? what : what + QStringLiteral(" – ") + why;
  };
  add(status_.model, {});
  add(status_.device, status_.device_why);
  add(status_.policy, status_.policy_why);
  add(memory_text(), status_.memory_why);
  return lines.join(QLatin1Char('\n'));
}

void StatusStrip::set_status(const StatusView& status) {
  status_ = status;
  const QLocale locale;
  const bool loaded = status.context > 0;
  activity_->setText(status.activity);
  activity_->setToolTip(status.activity);
  speed_->setText(loaded && !status.activity.isEmpty() && status.tokens_per_second > 0
                      ? tr("%1 tokens a second").arg(locale.toString(status.tokens_per_second, 'f', 0))
                      : QString());
  speed_->setToolTip(
      tr("Tokens of the answer per second. A token is about three quarters of an English word."));
  context_->setText(
      loaded ? tr("%1 of %2").arg(locale.toString(status.context_used), locale.toString(status.context))
             : QString());
  const QString full =
      tr("How many tokens of the context this conversation fills. When it is full, the oldest messages must "
         "be left out.");
  context_->setToolTip(full);
  ring_->setToolTip(full);
  ring_->setVisible(loaded);
  if (loaded)
    ring_->set_share(static_cast<double>(status.context_used) / static_cast<double>(status.context));
  setToolTip(explanation());
  setAccessibleDescription(text());
  show_what_fits();
  layout()->activate();  // no picture shows a longer number in a shorter one's place
}

// Whole parts, the most telling ones.
void StatusStrip::show_what_fits() {
  const QFont small = type_of(font(), Type::hint);
  int room = width() - (status_.context > 0 ? ring_->width() : 0);
  for (ElidedLabel* part : {context_, speed_, activity_}) {
    if (part->font() != small) part->setFont(small);
    const int wanted = part->sizeHint().width() + layout()->spacing();
    // That an answer in view is written is told by how fast.
    const bool is_told = part == activity_ && status_.is_in_view && !speed_->isHidden();
    const bool is_shown = !part->text().isEmpty() && !is_told && wanted <= room;
    part->setVisible(is_shown);
    if (is_shown) room -= wanted;
  }
}

// Another size, other texts or another font.
bool StatusStrip::event(QEvent* event) {
  const bool is_taken = QWidget::event(event);
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) show_what_fits();
  return is_taken;
}

QString StatusStrip::text() const {
  QStringList parts;
  const bool loaded = status_.context > 0;
  for (const QString& part : {status_.activity, status_.model, loaded ? status_.device : QString(),
                              loaded ? status_.policy : QString(), loaded ? memory_text() : QString(),
                              context_->text(), speed_->text()}) {
    if (!part.isEmpty()) parts += part;
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace fovea::ui
