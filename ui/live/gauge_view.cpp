#include "ui/live/gauge_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QStyle>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <functional>

#include "ui/language/number_text.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int chart_height = 64;
constexpr double mark_half = 3.5, mark_reach = 8;  // of a question's mark
constexpr double room_above = 0.03;                // of the shares' range, so that a line at the top is seen

QPen dashed_pen(const Tones& t) {
  QPen pen(t.second, 1.6);
  pen.setDashPattern({4, 2.5});
  return pen;
}

QPen dotted_pen(const Tones& t) {
  QPen pen(t.second, 2, Qt::CustomDashLine, Qt::RoundCap);
  pen.setDashPattern({0.1, 2.4});
  return pen;
}

bool is_known(const PolicyGain& gain) {
  return gain.tokens > 0 && gain.verdict != GainVerdict::not_compared;
}

}  // namespace

// --- the number

GaugeView::GaugeView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("gauge"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setToolTip(
      tr("How likely the model finds its own words with the experts as they are, beside the model as its "
         "file has it. It is "
         "worked out from what each expert's precision was measured to cost and how much each was used. "
         "Where that was not "
         "measured: how much of the error that the lowest precision for all would mean is avoided."));
}

QString GaugeView::number() const {
  if (gain_.verdict == GainVerdict::no_policy) return percent_text(1);
  return is_known(gain_) ? percent_text(gain_.kept) : QStringLiteral("–");
}

QString GaugeView::what() const {
  if (gain_.verdict == GainVerdict::not_compared) return tr("what lower layers cost was not measured");
  if (gain_.in_nats || !is_known(gain_)) return tr("of the model's quality kept");
  return tr("of the way from %1 bits to full quality").arg(whole_bits(lowest_bits_));
}

QString GaugeView::with() const {
  return gain_.bits_per_use > 0
             ? tr("experts in use have %1 bits on average").arg(number_text(gain_.bits_per_use, 1))
             : QString();
}

void GaugeView::set(const PolicyGain& gain, double lowest_bits) {
  const QString before = text();
  gain_ = gain;
  lowest_bits_ = lowest_bits;
  if (text() == before) return;
  setAccessibleName(text());
  update();
}

QString GaugeView::text() const {
  return QStringLiteral("%1 %2, %3").arg(number(), what(), with());
}

QSize GaugeView::sizeHint() const {
  return {panel_width - 2 * space::wide,
          std::max(QFontMetrics(type_of(font(), Type::gauge, true)).height(), 4 * fontMetrics().height())};
}

void GaugeView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  const QFont large = type_of(font(), Type::gauge, true);
  const QFontMetrics large_metrics(large);
  const int number_width = large_metrics.horizontalAdvance(number());
  const bool mirrored = layoutDirection() == Qt::RightToLeft;
  const auto placed = [this](const QRect& area) {
    return QStyle::visualRect(layoutDirection(), rect(), area);
  };
  const Qt::Alignment side = mirrored ? Qt::AlignRight : Qt::AlignLeft;
  painter.setFont(large);
  painter.setPen(t.text);
  painter.drawText(placed(QRect(0, 0, number_width, height())), side | Qt::AlignVCenter, number());
  const int left = number_width + space::usual;
  const QFontMetrics metrics(font());
  const QFont small = type_of(font(), Type::label);
  const QFontMetrics small_metrics(small);
  const int room = width() - left;
  const int lines = metrics.horizontalAdvance(what()) > room ? 2 : 1;
  const int words = lines * metrics.lineSpacing(),
            with_height = with().isEmpty() ? 0 : small_metrics.lineSpacing();
  const int top = (height() - words - with_height) / 2;
  painter.setFont(font());
  painter.setPen(t.second);
  painter.drawText(placed(QRect(left, top, room, words)), side | Qt::AlignVCenter | Qt::TextWordWrap, what());
  painter.setFont(small);
  painter.drawText(placed(QRect(left, top + words, room, with_height)), side | Qt::AlignVCenter,
                   small_metrics.elidedText(with(), Qt::ElideRight, room));
}

// --- the line

QualityLineView::QualityLineView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("qualityLine"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setToolTip(
      tr("The session's tokens from left to right; at the top nothing is lost. \"Fixed\" is a mix of as many "
         "experts at each precision "
         "that stays as "
         "it is: chosen by the session's first 2,048 tokens, and before there are as many, by the "
         "calibration. The marks below are your questions."));
}

void QualityLineView::set_line(const QualityLine& line, const PolicyGain& whole) {
  line_ = line;
  whole_ = whole;
  setVisible(line.points.size() > 1);
  setAccessibleName(legend().join(QStringLiteral(", ")));
  QStringList asked;
  for (const QualityLine::Question& question : line.questions)
    asked += QString::fromStdString(question.words);
  setAccessibleDescription(asked.isEmpty() ? QString()
                                           : tr("Asked: %1").arg(asked.join(QStringLiteral("; "))));
  update();
}

// Of each line, with what it is worth over the whole session.
QStringList QualityLineView::legend() const {
  const bool compared = whole_.chosen_by != FixedMix::none;
  return {tr("adaptive %1").arg(percent_text(whole_.kept)),
          compared ? tr("fixed %1").arg(percent_text(whole_.fixed_kept)) : QString(),
          tr("all low %1").arg(percent_text(whole_.low_kept))};
}

QSize QualityLineView::sizeHint() const {
  return {panel_width - 2 * space::wide,
          chart_height + space::tight + QFontMetrics(type_of(font(), Type::hint)).height()};
}

void QualityLineView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_lines(painter);
  paint_questions(painter);
  paint_legend(painter, chart_height + space::tight);
}

QRectF QualityLineView::chart_area() const {
  return {0, 1, static_cast<double>(width()), chart_height - 2};
}

double QualityLineView::x_of(std::size_t point) const {
  const QRectF area = chart_area();
  return area.left() + area.width() * static_cast<double>(point) /
                           static_cast<double>(std::max<std::size_t>(2, line_.points.size()) - 1);
}

QString QualityLineView::question_at(double x) const {
  const QualityLine::Question* nearest = nullptr;
  for (const QualityLine::Question& question : line_.questions) {
    const double away = std::abs(x_of(question.point) - x);
    if (away <= mark_reach && (!nearest || away <= std::abs(x_of(nearest->point) - x))) nearest = &question;
  }
  return nearest ? QString::fromStdString(nearest->words) : QString();
}

bool QualityLineView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const QString words = question_at(help->pos().x()); !words.isEmpty()) {
      QToolTip::showText(help->globalPos(), tr("Asked here: “%1”").arg(words), this);
      return true;
    }
  }
  return QWidget::event(event);
}

// Small marks at the bottom: what was asked changes what is used.
void QualityLineView::paint_questions(QPainter& painter) const {
  const Tones& t = tones(palette());
  const QRectF area = chart_area();
  painter.setPen(Qt::NoPen);
  painter.setBrush(t.second);
  for (const QualityLine::Question& question : line_.questions) {
    const double x = std::clamp(x_of(question.point), area.left() + mark_half, area.right() - mark_half);
    painter.drawPolygon(
        QPolygonF({QPointF(x - mark_half, area.bottom()), QPointF(x + mark_half, area.bottom()),
                   QPointF(x, area.bottom() - 1.4 * mark_half)}));
  }
}

void QualityLineView::paint_lines(QPainter& painter) const {
  const Tones& t = tones(palette());
  const QRectF area = chart_area();
  double lowest = 1;
  for (const QualityPoint& point : line_.points)
    lowest = std::min({lowest, point.kept, point.low, point.fixed.value_or(1)});
  const double range = std::max(0.02, 1 - lowest) * (1 + room_above);
  const auto draw = [&](const std::function<std::optional<double>(const QualityPoint&)>& share,
                        const QPen& pen) {
    QPainterPath path;
    bool goes_on = false;
    for (std::size_t i = 0; i < line_.points.size(); ++i) {
      const std::optional<double> value = share(line_.points[i]);
      if (value) {
        const QPointF at(x_of(i), area.top() + area.height() * (1 - *value) / range);
        goes_on ? path.lineTo(at) : path.moveTo(at);
      }
      goes_on = value.has_value();
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
  };
  painter.setPen(QPen(t.line, 1));
  painter.drawLine(area.topLeft(), area.topRight());
  draw([](const QualityPoint& p) -> std::optional<double> { return p.low; }, dotted_pen(t));
  draw([](const QualityPoint& p) { return p.fixed; }, dashed_pen(t));
  draw([](const QualityPoint& p) -> std::optional<double> { return p.kept; },
       QPen(t.accent, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
}

void QualityLineView::paint_legend(QPainter& painter, double top) const {
  const Tones& t = tones(palette());
  const QFont small = type_of(font(), Type::hint);
  const QFontMetricsF metrics(small);
  painter.setFont(small);
  double x = 0;
  const auto entry = [&](const QString& words, QPen pen) {
    painter.setPen(pen);
    painter.drawLine(QPointF(x, top + metrics.height() / 2), QPointF(x + 16, top + metrics.height() / 2));
    painter.setPen(t.second);
    painter.drawText(QPointF(x + 22, top + metrics.ascent()), words);
    x += 22 + metrics.horizontalAdvance(words) + 10;
  };
  const QStringList words = legend();
  entry(words[0], QPen(t.accent, 2));
  if (!words[1].isEmpty()) entry(words[1], dashed_pen(t));
  entry(words[2], dotted_pen(t));
  // What the sides mean, where there is room for it.
  const QString time = tr("tokens →");
  const double width = metrics.horizontalAdvance(time);
  painter.setPen(t.third);
  if (x + width <= this->width())
    painter.drawText(QPointF(this->width() - width, top + metrics.ascent()), time);
}

}  // namespace fovea::ui
