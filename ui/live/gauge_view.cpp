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
#include "ui/theme/scale/precision_scale.h"
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
      tr("How likely the model finds its own words with the experts as they are now, compared with the model "
         "at its file's precision. It is calculated from what each expert's precision was measured to cost "
         "and how much each was used. Where that was not measured, it is how much of the error that the "
         "lowest precision for everything would cause is avoided."));
}

QString GaugeView::number() const {
  if (gain_.verdict == GainVerdict::no_policy) return percent_text(1);
  return is_known(gain_) ? percent_text(gain_.kept) : QStringLiteral("–");
}

QString GaugeView::what() const {
  if (gain_.verdict == GainVerdict::not_compared) return tr("the cost of lowering layers was not measured");
  if (gain_.in_nats || !is_known(gain_)) return tr("of the model's quality kept");
  return tr("of the quality that %1 bits add to %2")
      .arg(QString::number(whole_bits(highest_bits_)), QString::number(whole_bits(lowest_bits_)));
}

QString GaugeView::with() const {
  if (gain_.bits_per_use <= 0) return {};
  const QString bits = number_text(gain_.bits_per_use, 1);
  return gain_.tokens > 0 ? tr("%1 bits on average over %2 tokens").arg(bits, count_text(gain_.tokens))
                          : tr("experts in use average %1 bits").arg(bits);
}

void GaugeView::set(const PolicyGain& gain, double lowest_bits, double highest_bits) {
  const QString before = text();
  gain_ = gain;
  lowest_bits_ = lowest_bits;
  highest_bits_ = highest_bits;
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
      tr("The session's tokens from left to right; at the top nothing is lost. \"Fixed\" is a mix with as "
         "many experts at each precision that never changes: chosen by the session's first 2,048 tokens or, "
         "until there are that many, by the calibration. The marks below are your questions."));
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
  const bool is_drawn =
      std::ranges::any_of(line_.points, [](const QualityPoint& p) { return p.fixed.has_value(); });
  return {tr("adaptive %1").arg(percent_text(whole_.kept)),
          compared   ? tr("fixed %1").arg(percent_text(whole_.fixed_kept))
          : is_drawn ? tr("fixed")
                     : QString(),
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
  paint_scale(painter);
  paint_questions(painter);
  paint_legend(painter, chart_height + space::tight);
}

QFont QualityLineView::small_font() const {
  return type_of(font(), Type::hint);
}

QRectF QualityLineView::chart_area() const {
  const double scale = QFontMetricsF(small_font()).horizontalAdvance(percent_text(1)) + space::tight;
  return {0, 1, width() - scale, chart_height - 2};
}

// How much of the shares there is from the top to the bottom.
double QualityLineView::range() const {
  double lowest = 1;
  for (const QualityPoint& point : line_.points)
    lowest = std::min({lowest, point.kept, point.low, point.fixed.value_or(1)});
  return std::max(0.02, 1 - lowest) * (1 + room_above);
}

// What the top and the bottom are, beside them.
void QualityLineView::paint_scale(QPainter& painter) const {
  const QRectF area = chart_area();
  const QFontMetricsF metrics(small_font());
  painter.setFont(small_font());
  painter.setPen(tones(palette()).third);
  const auto write = [&](double share, double baseline) {
    const QString words = percent_text(share);
    painter.drawText(QPointF(width() - metrics.horizontalAdvance(words), baseline), words);
  };
  write(1, area.top() + metrics.ascent());
  write(std::max(0.0, 1 - range()), area.bottom());
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
  const double range = this->range();
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
  const QFontMetricsF metrics(small_font());
  painter.setFont(small_font());
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
  // What the marks are, and the side, where there is room for it.
  painter.setPen(t.third);
  for (const QString& last : {line_.questions.empty() ? QString() : tr("▴ your questions   tokens →"),
                              line_.questions.empty() ? QString() : tr("▴ questions"), tr("tokens →")}) {
    const double room = metrics.horizontalAdvance(last);
    if (last.isEmpty() || x + room > width()) continue;
    painter.drawText(QPointF(width() - room, top + metrics.ascent()), last);
    return;
  }
}

}  // namespace fovea::ui
