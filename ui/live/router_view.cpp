#include "ui/live/router_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {

RouterView::RouterView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Routers"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void RouterView::set_health(const RouterHealth& health) {
  const bool other_shape = health.layers.empty() != health_.layers.empty() ||
                           health.elsewhere.has_value() != health_.elsewhere.has_value() ||
                           health.fidelity.has_value() != health_.fidelity.has_value();
  health_ = health;
  if (other_shape) updateGeometry();
  QString words = tr("Nothing has been routed yet.");
  if (!health.layers.empty()) {
    words = tr("Mean evenness %1; collapsed layers: %2.")
                .arg(percent_text(health.evenness))
                .arg(health.collapsed) +
            QLatin1Char(' ') + busiest_words(health.max_violation) + QLatin1Char('.');
    if (health.elsewhere) words += QLatin1Char(' ') + elsewhere_words(*health.elsewhere) + QLatin1Char('.');
    if (health.fidelity) words += QLatin1Char(' ') + fidelity_words(*health.fidelity) + QLatin1Char('.');
    if (health.one_subject > 0)
      words +=
          QLatin1Char(' ') + tr("One subject in %n layer(s).", nullptr, static_cast<int>(health.one_subject));
  }
  setAccessibleDescription(words);
  update();
}

void RouterView::set_model(const ShownModel& model) {
  model_ = model;
  update();
}

void RouterView::set_conversations(const std::vector<ConversationUse>& rows) {
  const bool other_count = rows.size() != conversations_.size();
  conversations_ = rows;
  current_row_ = std::min(current_row_, rows.empty() ? 0 : rows.size() - 1);
  if (other_count) updateGeometry();
  update();
}

void RouterView::set_lit_conversation(const QString& key) {
  lit_ = key;
  update();
}

QString RouterView::layer_name(std::size_t layer) const {
  return layer_text(model_, static_cast<std::int64_t>(layer));
}

QRectF RouterView::evenness_plot() const {
  const double line = fontMetrics().height();
  return {0, line * 1.15, static_cast<double>(width()), line * 2};
}

QRectF RouterView::busiest_plot() const {
  const double line = fontMetrics().height();
  return {0, evenness_plot().bottom() + line * 1.75, static_cast<double>(width()), line * 2};
}

// Below the plots: the axis, and what is said of the whole.
QRectF RouterView::below_plots(int row) const {
  const double line = fontMetrics().height();
  return {0, busiest_plot().bottom() + 1 + row * line, static_cast<double>(width()), line};
}

int RouterView::rows_below_plots() const {
  return health_.layers.empty() ? 1 : 2 + (health_.elsewhere ? 1 : 0) + (health_.fidelity ? 1 : 0);
}

QRectF RouterView::conversation_row(std::size_t row) const {
  const double line = fontMetrics().height();
  return {0, below_plots(rows_below_plots()).top() + line * 1.9 + static_cast<double>(row) * line * 2.1,
          static_cast<double>(width()), line * 1.9};
}

QSize RouterView::sizeHint() const {
  const double height = conversation_row(std::max<std::size_t>(1, conversations_.size())).top();
  return {fontMetrics().averageCharWidth() * 44, static_cast<int>(std::ceil(height))};
}

QString RouterView::busiest_words(double max_violation) {
  return tr("Busiest expert: up to %1 × its even share").arg(number_text(1 + max_violation));
}

QString RouterView::elsewhere_words(double share) {
  return tr("%1 of uses go to other experts than in the calibration").arg(percent_text(share));
}

QString RouterView::fidelity_words(const RoutingFidelity& fidelity) {
  return tr("%1 of the choices are the same as with “%2”")
      .arg(percent_text(fidelity.share, 1), QString::fromStdString(fidelity.other));
}

QString RouterView::layer_words(std::size_t layer) const {
  const LayerHealth& h = health_.layers[layer];
  if (h.uses == 0) return tr("Layer %1: not used yet").arg(layer_name(layer));
  QString words =
      tr("Layer %1: evenness %2. The busiest tenth got %5 of the uses, the %6 busiest %7, expert %3 %4.")
          .arg(layer_name(layer), percent_text(h.evenness))
          .arg(h.busiest)
          .arg(percent_text(h.top_one, 1), percent_text(h.top_tenth))
          .arg(model_.experts_used)
          .arg(percent_text(h.top_used));
  words += QLatin1Char(' ') + tr("That is %1 × its even share.").arg(number_text(1 + h.max_violation));
  if (h.elsewhere) words += QLatin1Char(' ') + elsewhere_words(*h.elsewhere) + QLatin1Char('.');
  if (h.collapsed)
    words += QLatin1Char(' ') + tr("Collapsed: the same few experts take nearly all, whatever the subject.");
  if (h.one_subject)
    words += QLatin1Char(' ') +
             tr("One subject: over the many subjects of the calibration, other experts worked here as well.");
  return words;
}

void RouterView::paint_layers(QPainter& painter, const QRectF& plot, bool evenness) const {
  const std::size_t count = health_.layers.size();
  const double width = plot.width() / static_cast<double>(count);
  const double gap = width >= 4 ? 1 : 0;
  const QColor usual = palette().color(QPalette::Link);
  painter.fillRect(plot, chart_ground(palette()));
  for (std::size_t layer = 0; layer < count; ++layer) {
    const LayerHealth& h = health_.layers[layer];
    const double x = plot.left() + static_cast<double>(layer) * width;
    const auto bar = [&](double share, const QColor& colour) {
      const double height = plot.height() * std::clamp(share, 0.0, 1.0);
      painter.fillRect(QRectF(x, plot.bottom() - height, std::max(1.0, width - gap), height), colour);
    };
    bar(evenness ? h.evenness : h.top_used, h.collapsed ? alarm_colour(palette()) : usual);
  }
  if (evenness) return;
  // Where the alarm is.
  painter.setPen(QPen(alarm_colour(palette()), 1, Qt::DashLine));
  const double y = plot.bottom() - plot.height() * health_.narrow;
  painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
}

void RouterView::paint_conversations(QPainter& painter) const {
  const double line = fontMetrics().height();
  painter.setPen(subtle_text(palette()));
  const double top = conversation_row(0).top() - line * 1.35;
  painter.drawText(QRectF(0, top, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                   conversations_.empty() ? tr("Conversations: none has used the experts yet")
                                          : tr("Conversations and the experts they used"));
  std::int64_t most = 1;
  for (const auto& row : conversations_) most = std::max(most, row.uses);
  for (std::size_t i = 0; i < conversations_.size(); ++i) {
    const auto& row = conversations_[i];
    const QRectF rect = conversation_row(i);
    const bool lit = row.key == lit_;
    if (lit) painter.fillRect(rect, user_bubble(palette()));
    const QRectF inner = rect.adjusted(line * 0.35, 0, -line * 0.35, 0);
    const QString value =
        row.current || !row.overlap
            ? tr("%1 experts").arg(count_text(row.experts))
            : tr("%1 experts · %2 in common").arg(count_text(row.experts), percent_text(*row.overlap));
    QFont font = this->font();
    font.setBold(row.current);
    painter.setFont(font);
    paint_caption(painter, QRectF(inner.left(), inner.top() + line * 0.1, inner.width(), line), row.title,
                  value, palette());
    painter.setFont(this->font());
    const QRectF track(inner.left(), inner.top() + line * 1.3, inner.width(), line * 0.28);
    painter.fillRect(track, chart_ground(palette()));
    painter.fillRect(
        QRectF(track.left(), track.top(),
               track.width() * static_cast<double>(row.uses) / static_cast<double>(most), track.height()),
        row.current ? palette().color(QPalette::Link) : subtle_text(palette()));
    if (hasFocus() && i == current_row_) {
      painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
      painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    }
  }
}

void RouterView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double line = fontMetrics().height();
  QString mean;
  if (!health_.layers.empty()) mean = tr("mean %1").arg(percent_text(health_.evenness));
  if (health_.mostly_one_subject) mean = tr("one subject · %1").arg(mean);
  paint_caption(painter, QRectF(0, 0, width(), line), tr("Evenness of the load, by layer"), mean, palette());
  if (!health_.layers.empty()) paint_layers(painter, evenness_plot(), true);
  paint_caption(painter, QRectF(0, busiest_plot().top() - line * 1.15, width(), line),
                tr("Load of the busiest experts"),
                health_.layers.empty() ? QString() : tr("at most %1").arg(percent_text(health_.top_used)),
                palette());
  if (!health_.layers.empty()) paint_layers(painter, busiest_plot(), false);
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.88);
  painter.setFont(small);
  painter.setPen(subtle_text(palette()));
  if (!health_.layers.empty()) {
    const QRectF axis = below_plots(0);
    painter.drawText(axis, Qt::AlignLeft, tr("layer %1").arg(layer_name(0)));
    painter.drawText(axis, Qt::AlignHCenter,
                     tr("the busiest tenth gets %1").arg(percent_text(health_.top_tenth)));
    painter.drawText(axis, Qt::AlignRight, layer_name(health_.layers.size() - 1));
    painter.drawText(below_plots(1), Qt::AlignLeft, busiest_words(health_.max_violation));
    int row = 2;
    const auto say = [&](const QString& words) {
      painter.drawText(below_plots(row++), Qt::AlignLeft,
                       painter.fontMetrics().elidedText(words, Qt::ElideRight, width()));
    };
    if (health_.elsewhere) say(elsewhere_words(*health_.elsewhere));
    if (health_.fidelity) say(fidelity_words(*health_.fidelity));
  }
  painter.setFont(font());
  paint_conversations(painter);
}

int RouterView::layer_at(const QPointF& point) const {
  if (health_.layers.empty() || point.y() > busiest_plot().bottom() || point.x() < 0) return -1;
  const int layer =
      static_cast<int>(point.x() * static_cast<double>(health_.layers.size()) / std::max(1, width()));
  return layer < static_cast<int>(health_.layers.size()) ? layer : -1;
}

void RouterView::mousePressEvent(QMouseEvent* event) {
  const int layer = layer_at(event->position());
  if (layer >= 0) Q_EMIT layerChosen(layer);
  for (std::size_t i = 0; i < conversations_.size(); ++i) {
    if (!conversation_row(i).contains(event->position())) continue;
    current_row_ = i;
    Q_EMIT conversationChosen(conversations_[i].key);
  }
}

void RouterView::keyPressEvent(QKeyEvent* event) {
  const std::size_t rows = conversations_.size();
  if (rows > 0 && event->key() == Qt::Key_Down) {
    current_row_ = std::min(current_row_ + 1, rows - 1);
  } else if (rows > 0 && event->key() == Qt::Key_Up) {
    current_row_ = current_row_ > 0 ? current_row_ - 1 : 0;
  } else if (rows > 0 && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)) {
    Q_EMIT conversationChosen(conversations_[current_row_].key);
  } else {
    return QWidget::keyPressEvent(event);
  }
  setAccessibleDescription(conversations_[current_row_].title);
  update();
}

void RouterView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void RouterView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

bool RouterView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int layer = layer_at(help->pos());
    QToolTip::showText(help->globalPos(),
                       layer >= 0 ? layer_words(static_cast<std::size_t>(layer))
                                  : tr("Choose a conversation to see its busiest experts on the map. \"In "
                                       "common\" is the share of them that the current one also uses most."),
                       this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace fovea::ui
