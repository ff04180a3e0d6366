#include "ui/live/pools_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

using Kind = BudgetPart::Kind;

QColor mixed(const QColor& a, const QColor& b, double share) {
  const auto mix = [&](float x, float y) { return static_cast<float>(x + (y - x) * share); };
  return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

}  // namespace

PoolsView::PoolsView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Memory"));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void PoolsView::set_memory(const MemoryParts& memory, const SnapshotNumbers& numbers) {
  const int before = heightForWidth(width());
  memory_ = memory;
  numbers_ = numbers;
  if (heightForWidth(width()) != before) updateGeometry();
  if (brief_) setToolTip(brief_words());
  tell();
  update();
}

QString PoolsView::part_name(const BudgetPart& part) const {
  switch (part.kind) {
    case Kind::dense:
      return tr("Shared weights");
    case Kind::kv:
      return tr("Conversation");
    case Kind::activations:
      return tr("Working memory");
    case Kind::tier: {
      const QString name = tier_text(numbers_, static_cast<std::size_t>(part.tier));
      if (numbers_.tiers.size() == 1) return tr("Experts (%1)").arg(name);
      if (part.tier == 0) return tr("Hot experts (%1)").arg(name);
      if (part.tier + 1 == static_cast<int>(numbers_.tiers.size())) return tr("Cold experts (%1)").arg(name);
      return tr("Warm experts (%1)").arg(name);
    }
    case Kind::in_flight:
      return tr("In flight");
    case Kind::free:
      return tr("Free for experts");
    case Kind::unplanned:
      return memory_.cards.empty() ? tr("Kept free") : tr("Free");
  }
  return {};
}

QString PoolsView::part_value(const BudgetPart& part) const {
  if (part.kind != Kind::kv || memory_.kv_used_bytes < 0) return bytes_text(part.bytes);
  return tr("%1 of %2 in use").arg(bytes_text(memory_.kv_used_bytes), bytes_text(part.bytes));
}

QColor PoolsView::part_colour(const BudgetPart& part) const {
  const QColor base = palette().color(QPalette::Base), text = palette().color(QPalette::Text);
  switch (part.kind) {
    case Kind::dense:
      return mixed(base, text, 0.62);
    case Kind::kv:
      return mixed(base, text, 0.44);
    case Kind::activations:
      return mixed(base, text, 0.30);
    case Kind::tier:
      return precision_colour(numbers_.tiers[static_cast<std::size_t>(part.tier)].bits_per_weight);
    case Kind::in_flight:
      return text;
    case Kind::free:
    case Kind::unplanned:
      return base;
  }
  return base;
}

QSize PoolsView::sizeHint() const {
  const int width = fontMetrics().averageCharWidth() * 44;
  return {width, heightForWidth(width)};
}

int PoolsView::heightForWidth(int width) const {
  return static_cast<int>(std::ceil(lay_out(nullptr, width)));
}

void PoolsView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  lay_out(&painter, width());
}

void PoolsView::set_brief(bool brief) {
  brief_ = brief;
  updateGeometry();
  update();
}

double PoolsView::lay_out(QPainter* painter, double width) const {
  double y = budget_bars(painter, 0, width);
  if (brief_) return y;
  y = legend(painter, y, width);
  return pool_bars(painter, y, width);
}

double PoolsView::budget_bars(QPainter* painter, double top, double width) const {
  if (memory_.cards.empty()) {
    const auto budget = static_cast<double>(numbers_.budget_bytes);
    const QString name = brief_ ? tr("Memory") : budget > 0 ? tr("Budget") : tr("The model's memory");
    return budget_bar(painter, top, width, {name, memory_.budget, budget, memory_.over_budget});
  }
  double y = top;
  for (const CardMemory& card : memory_.cards) {
    if (y > top && brief_) y += space::tight;
    y = budget_bar(painter, y, width,
                   {QString::fromStdString(card.name), card.budget, card.budget_bytes, card.over_budget});
  }
  return y;
}

double PoolsView::budget_bar(QPainter* painter, double top, double width, const Bar& bar) const {
  const double line = fontMetrics().height(), height = brief_ ? 10 : line * 1.35;
  if (painter) {
    double total = 0;
    for (const BudgetPart& part : bar.parts) total += part.bytes;
    const double budget = bar.budget_bytes;
    const double used =
        std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0, [](double s, const BudgetPart& p) {
          return p.kind == Kind::free || p.kind == Kind::unplanned ? s : s + p.bytes;
        });
    const bool limited = budget > 0;
    paint_caption(*painter, {0, top, width, line}, bar.name,
                  !limited ? bytes_text(used)
                  : brief_ && memory_.cards.empty()
                      ? tr("%1 of the %2 allowed").arg(bytes_text(used), bytes_text(budget))
                      : tr("%1 of %2").arg(bytes_text(used), bytes_text(budget)),
                  palette());
    const QRectF whole(0.5, top + line * 1.2, width - 1, height);
    const double full = std::max({total, budget, 1.0});
    QPainterPath clip;
    clip.addRoundedRect(whole, 3, 3);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing, true);
    painter->setClipPath(clip);
    painter->fillRect(whole, palette().color(QPalette::Base));
    double x = whole.left();
    for (const BudgetPart& part : bar.parts) {
      const double w = whole.width() * part.bytes / full;
      QRectF rect(x, whole.top(), w, whole.height());
      painter->fillRect(rect, part_colour(part));
      if (part.kind == Kind::free || part.kind == Kind::unplanned) {
        QColor hatch = subtle_text(palette());
        hatch.setAlphaF(part.kind == Kind::free ? 0.45F : 0.2F);
        painter->fillRect(rect, QBrush(hatch, Qt::BDiagPattern));
      }
      x += w;
      painter->setPen(QPen(palette().color(QPalette::Base), 1));
      painter->drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()));
    }
    painter->setClipping(false);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(hairline(palette()), 1));
    painter->drawRoundedRect(whole, 3, 3);
    if (limited) {  // the budget line
      const double at = whole.left() + whole.width() * budget / full;
      painter->setPen(QPen(bar.over_budget ? alarm_colour(palette()) : palette().color(QPalette::Text), 2));
      painter->drawLine(QPointF(at - 0.5, whole.top() - 3), QPointF(at - 0.5, whole.bottom() + 3));
    }
    painter->restore();
  }
  return top + line * 1.2 + height + (brief_ ? space::hair : line * 0.5);
}

// What the bar's parts are, together.
QString PoolsView::brief_words() const {
  double experts = 0, conversation = 0, rest = 0;
  for (const BudgetPart& part : memory_.budget) {
    if (part.kind == Kind::tier || part.kind == Kind::in_flight) {
      experts += part.bytes;
    } else if (part.kind == Kind::kv) {
      conversation += part.bytes;
    } else if (part.kind == Kind::dense || part.kind == Kind::activations) {
      rest += part.bytes;
    }
  }
  return tr("everything else %3, conversation %2, experts %1")
      .arg(bytes_text(experts), bytes_text(conversation), bytes_text(rest));
}

double PoolsView::legend(QPainter* painter, double top, double width) const {
  const double line = fontMetrics().height() * 1.25;
  if (painter) {
    double y = top;
    for (const BudgetPart& part : memory_.budget) {
      const QRectF row(0, y, width, line);
      const double side = line * 0.5;
      const QRectF swatch(row.left() + 0.5, row.center().y() - side / 2, side, side);
      painter->fillRect(swatch, part_colour(part));
      if (part.kind == Kind::free || part.kind == Kind::unplanned)
        painter->fillRect(swatch, QBrush(subtle_text(palette()), Qt::BDiagPattern));
      painter->setPen(hairline(palette()));
      painter->drawRect(swatch);
      QString value = part_value(part);
      if (part.kind == Kind::tier)
        value =
            tr("%1 · %2").arg(count_text(numbers_.tiers[static_cast<std::size_t>(part.tier)].units), value);
      if (part.kind == Kind::in_flight && memory_.units_in_flight > 0)
        value = tr("%1 · %2").arg(count_text(memory_.units_in_flight), value);
      paint_caption(*painter, row.adjusted(side + line * 0.4, 0, 0, 0), part_name(part), value, palette());
      y += line;
    }
  }
  return top + static_cast<double>(memory_.budget.size()) * line + line * 0.4;
}

double PoolsView::bar(QPainter* painter, double top, double width, const QString& name, double used,
                      double total, const QColor& colour, const QString& value) const {
  const double line = fontMetrics().height();
  if (painter) {
    paint_caption(*painter, {0, top, width, line}, name, value, palette());
    const QRectF whole(0.5, top + line * 1.1, width - 1, line * 0.45);
    painter->fillRect(whole, chart_ground(palette()));
    painter->fillRect(QRectF(whole.left(), whole.top(),
                             whole.width() * std::min(1.0, total > 0 ? used / total : 0), whole.height()),
                      colour);
  }
  return top + line * 1.9;
}

double PoolsView::all_programs_bar(QPainter* painter, double top, double width, const QString& name,
                                   double used_bytes, double total_bytes, bool is_full) const {
  if (total_bytes <= 0) return top;
  return bar(painter, top, width, name, used_bytes, total_bytes,
             is_full ? alarm_colour(palette()) : subtle_text(palette()),
             tr("%1 of %2").arg(bytes_text(used_bytes), bytes_text(total_bytes)));
}

double PoolsView::pool_bars(QPainter* painter, double top, double width) const {
  double y = top;
  for (const CardMemory& card : memory_.cards)
    y = all_programs_bar(painter, y, width,
                         tr("%1, used by all programs").arg(QString::fromStdString(card.name)),
                         card.device_used_bytes, card.device_total_bytes, card.device_full);
  if (memory_.cards.empty())
    y = all_programs_bar(painter, y, width, tr("Used by all programs"), memory_.device_used_bytes,
                         memory_.device_total_bytes, memory_.device_full);
  if (memory_.host_bytes > 0) {
    y = bar(painter, y, width, tr("Main memory (processor)"), memory_.host_bytes,
            std::max(memory_.host_total_bytes, memory_.host_bytes), tier_solid(1, {}, palette()),
            host_value());
  }
  for (std::size_t pool = 0; pool < numbers_.pools.size(); ++pool) {
    const PoolState& state = numbers_.pools[pool];
    const int tier = memory_.tier_of_pool[pool];
    const QString size = bytes_text(state.block_bytes);
    const QString name =
        tier < 0
            ? tr("Pool of %1 blocks").arg(size)
            : tr("Pool of %1 blocks (%2)").arg(size, tier_text(numbers_, static_cast<std::size_t>(tier)));
    y = bar(painter, y, width, name, static_cast<double>(state.used), static_cast<double>(state.blocks),
            tier < 0 ? subtle_text(palette())
                     : precision_colour(numbers_.tiers[static_cast<std::size_t>(tier)].bits_per_weight),
            tr("%1 of %2").arg(count_text(state.used), count_text(state.blocks)));
  }
  return y;
}

QString PoolsView::host_value() const {
  return tr("%1 · %2").arg(count_text(memory_.host_units), bytes_text(memory_.host_bytes));
}

// The same in words.
void PoolsView::tell() {
  QStringList words;
  for (const CardMemory& card : memory_.cards) {
    double used = 0;
    for (const BudgetPart& part : card.budget)
      if (part.kind != Kind::free && part.kind != Kind::unplanned) used += part.bytes;
    words << tr("%1: %2").arg(QString::fromStdString(card.name),
                              card.budget_bytes > 0
                                  ? tr("%1 of %2").arg(bytes_text(used), bytes_text(card.budget_bytes))
                                  : bytes_text(used));
  }
  for (const BudgetPart& part : memory_.budget)
    words << part_name(part) + QLatin1Char(' ') + part_value(part);
  if (memory_.host_bytes > 0) words << tr("Main memory (processor)") + QLatin1Char(' ') + host_value();
  setAccessibleDescription(words.join(QStringLiteral(", ")));
}

bool PoolsView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && !brief_) {
    QToolTip::showText(
        static_cast<QHelpEvent*>(event)->globalPos(),
        !memory_.cards.empty() ? tr("Each card has its own part of the model's layers, and of the "
                                    "conversation. The line is what was "
                                    "free there for a model when it was opened.")
        : numbers_.budget_bytes > 0
            ? tr("The planner divided the budget before the model was loaded. Experts change their tier "
                 "within their part; the line is the budget, which is never exceeded.")
            : tr("What the model takes at its file's precision; no budget was set."),
        this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace fovea::ui
