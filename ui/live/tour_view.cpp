#include "ui/live/tour_view.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/style_paint.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

using Phase = TourCaption::Phase;

TourView::TourView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("tour"));
  setAccessibleName(tr("Tour"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(space::usual, space::close, space::usual, space::close);
  layout->setSpacing(space::tight);
  step_ = new QLabel(this);
  set_type(*step_, Type::label);
  tint(*step_, QPalette::WindowText, [](const QPalette& palette) { return tones(palette).accent; });
  text_ = new QLabel(this);
  text_->setObjectName(QStringLiteral("tourText"));
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  layout->addWidget(step_);
  layout->addWidget(text_);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::hair);
  const auto button = [&](const char* name, const QString& text) {
    auto* made = new QToolButton(this);
    made->setObjectName(QLatin1String(name));
    made->setText(text);
    row->addWidget(made);
    return made;
  };
  pause_ = button("tourPause", tr("Pause"));
  skip_ = button("tourSkip", tr("Skip"));
  keep_ = button("tourKeep", tr("Keep this conversation"));
  remove_ = button("tourDelete", tr("Delete it"));
  row->addStretch(1);
  end_ = button("tourEnd", tr("End the tour"));
  layout->addLayout(row);
  connect(pause_, &QToolButton::clicked, this,
          [this] { Q_EMIT pauseRequested(caption_.phase != Phase::paused); });
  connect(skip_, &QToolButton::clicked, this, &TourView::skipRequested);
  connect(end_, &QToolButton::clicked, this, &TourView::endRequested);
  connect(keep_, &QToolButton::clicked, this, [this] { Q_EMIT conversationKept(true); });
  connect(remove_, &QToolButton::clicked, this, [this] { Q_EMIT conversationKept(false); });
}

void TourView::set_caption(const TourCaption& caption) {
  if (caption == caption_) return;
  const bool other_text = caption.text != caption_.text;
  caption_ = caption;
  step_->setVisible(caption.step > 0);
  step_->setText(tr("Tour · %1 of %2").arg(caption.step).arg(caption.steps));
  text_->setText(caption.text);
  const bool goes_on = caption.phase == Phase::runs || caption.phase == Phase::paused;
  pause_->setVisible(goes_on);
  skip_->setVisible(goes_on);
  pause_->setText(caption.phase == Phase::paused ? tr("Continue") : tr("Pause"));
  keep_->setVisible(caption.phase == Phase::ended);
  remove_->setVisible(caption.phase == Phase::ended);
  end_->setVisible(caption.phase != Phase::ended);
  end_->setText(caption.phase == Phase::failed ? tr("Close") : tr("End the tour"));
  setAccessibleDescription(text());
  if (!other_text) return;
  QAccessibleEvent event(text_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void TourView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  style_paint::rounded(painter, rect(), radius::card, t.card, t.line);
}

QString TourView::text() const {
  return step_->isHidden() ? text_->text() : step_->text() + QStringLiteral(". ") + text_->text();
}

void TourView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) return QWidget::keyPressEvent(event);
  if (caption_.phase == Phase::ended) {
    Q_EMIT conversationKept(true);
  } else {
    Q_EMIT endRequested();
  }
}

}  // namespace fovea::ui
