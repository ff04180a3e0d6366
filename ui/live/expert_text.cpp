#include "ui/live/expert_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/theme/scale/precision_scale.h"

namespace fovea::ui {
namespace {

struct ExpertWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::ExpertText)
};

}  // namespace

QString layer_text(const ShownModel& model, std::int64_t layer) {
  const auto at = static_cast<std::size_t>(layer);
  return QString::number(at < model.layer_numbers.size() ? model.layer_numbers[at] : layer);
}

QString tier_text(const SnapshotNumbers& numbers, std::size_t tier) {
  if (tier >= numbers.tiers.size())
    return tier == host_tier ? ExpertWords::tr("main memory") : ExpertWords::tr("on disk");
  const double bits = numbers.tiers[tier].bits_per_weight;
  const auto same = [&](const TierState& other) {
    return whole_bits(other.bits_per_weight) == whole_bits(bits);
  };
  return ExpertWords::tr("%1 bits").arg(std::ranges::count_if(numbers.tiers, same) > 1
                                            ? number_text(bits, 1)
                                            : number_text(whole_bits(bits), 0));
}

std::vector<QString> tier_texts(const SnapshotNumbers& numbers) {
  std::vector<QString> texts;
  for (std::size_t tier = 0; tier < numbers.tiers.size(); ++tier) texts.push_back(tier_text(numbers, tier));
  return texts;
}

// "layer 3, expert 7" of an index in Snapshot::units.
QString expert_name(const ShownModel& model, const SnapshotNumbers& numbers, std::int64_t unit) {
  if (unit < 0 || numbers.units_per_layer <= 0) return ExpertWords::tr("another one");
  return ExpertWords::tr("layer %1, expert %2")
      .arg(layer_text(model, unit / numbers.units_per_layer))
      .arg(unit % numbers.units_per_layer);
}

// Two digits; never as a power of ten.
QString hotness_text(float hotness) {
  constexpr int max_digits = 6;
  const double value = static_cast<double>(hotness);
  if (value < 0.5e-6) return QStringLiteral("0");
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(value))), 0, max_digits);
  return QLocale().toString(value, 'f', digits);
}

QString reason_text(const ShownModel& model, const SnapshotNumbers& numbers, const UnitChange& change) {
  if (!change.explained) {
    return change.decision.to < change.decision.from
               ? ExpertWords::tr("promoted among many at once, details not kept")
               : ExpertWords::tr("demoted among many at once, details not kept");
  }
  const QString score = hotness_text(change.decision.score);
  const QString work = percent_text(static_cast<double>(change.decision.score), 1);
  const QString gain = hotness_text(std::abs(change.decision.margin));
  const QString unit = numbers.quality.in_nats ? ExpertWords::tr("%1 nats a token").arg(gain)
                                               : ExpertWords::tr("%1 of a token's loss").arg(gain);
  // Between the card and the processor nothing is lost but time.
  const bool changes_place = change.decision.from == host_tier || change.decision.to == host_tier;
  const QString other = expert_name(model, numbers, change.decision.other);
  if (changes_place && change.decision.reason == SwapReason::expected)
    return ExpertWords::tr(
               "it is expected to do %1 of its layer's work: on the card in place of %2 it leaves "
               "the processor less to compute")
        .arg(work, other);
  if (changes_place && change.decision.reason == SwapReason::yields)
    return ExpertWords::tr(
               "it is expected to do only %1 of its layer's work: with %2 on the card in its place "
               "the processor has less to compute")
        .arg(work, other);
  switch (change.decision.reason) {
    case SwapReason::initial:
      return ExpertWords::tr("the first set after loading");
    case SwapReason::hotter:
      return change.decision.margin > 0
                 ? ExpertWords::tr("it became hotter: %1, %2 more than the expert that gave way")
                       .arg(score, hotness_text(change.decision.margin))
                 : ExpertWords::tr("it became hotter: %1").arg(score);
    case SwapReason::colder:
      return ExpertWords::tr("it gave way to a hotter expert, at %1").arg(score);
    case SwapReason::requested:
      return ExpertWords::tr("it was requested");
    case SwapReason::absent:
      return ExpertWords::tr("it was used while only on the disk");
    case SwapReason::expected:
      return ExpertWords::tr("it is expected to do %1 of its layer's work: taking the place of %2 saves %3")
          .arg(work, other, unit);
    case SwapReason::yields:
      return ExpertWords::tr(
                 "it is expected to do only %1 of its layer's work: giving its place to %2 saves %3")
          .arg(work, other, unit);
    case SwapReason::balanced:
      return ExpertWords::tr("so that as many experts have this precision as the text needs");
    case SwapReason::certain:
      return ExpertWords::tr("the answer is certain enough: a perplexity of %1 on average").arg(score);
    case SwapReason::scheduled:
      return ExpertWords::tr("the answer has reached the length at which its layers go down");
    case SwapReason::prompt:
      return ExpertWords::tr("a question is read at the highest precision");
  }
  return {};
}

QString ago_text(double seconds) {
  return seconds < 90 ? ExpertWords::tr("%1 s ago").arg(number_text(seconds, seconds < 10 ? 1 : 0))
                      : ExpertWords::tr("%1 min ago").arg(number_text(seconds / 60, 1));
}

QString expert_text(const ShownModel& model, const SnapshotNumbers& numbers, const MapFrame& frame,
                    std::int64_t unit, const UnitChange& change, bool rich) {
  const auto at = static_cast<std::size_t>(unit);
  if (frame.units_per_layer == 0 || at >= frame.size()) return {};
  const std::int64_t layer = unit / frame.units_per_layer, expert = unit % frame.units_per_layer;
  const QString title = ExpertWords::tr("Layer %1, expert %2").arg(layer_text(model, layer)).arg(expert);
  QString tier = tier_text(numbers, frame.tier[at]);
  if (frame.tier[at] < numbers.tiers.size())
    tier += ExpertWords::tr(" (%1 per weight, including its scales)")
                .arg(number_text(numbers.tiers[frame.tier[at]].bits_per_weight, 2));
  if (frame.tier[at] == host_tier) tier += ExpertWords::tr(", computed by the processor");
  if (frame.target[at] != no_tier)
    tier += ExpertWords::tr(", %1 on its way").arg(tier_text(numbers, frame.target[at]));
  QStringList lines;
  lines << ExpertWords::tr("Precision: %1").arg(tier);
  if (model.cut && frame.tier[at] < numbers.tiers.size())
    lines << ExpertWords::tr("Card: %1").arg(layer < model.cut->rows ? model.cut->first : model.cut->last);
  if (frame.hot_is_recent_use) {
    lines << ExpertWords::tr("Hotness: this policy measures none; the colour shows recent use");
  } else {
    lines << ExpertWords::tr("Hotness: %1").arg(hotness_text(hotness_of(frame.hot[at])));
  }
  lines << ExpertWords::tr("Tokens: %1 since loading").arg(count_text(frame.uses[at]));
  if (change.decision.unit >= 0) {
    lines << ExpertWords::tr("Last change: %1 → %2, %3")
                 .arg(tier_text(numbers, change.decision.from), tier_text(numbers, change.decision.to),
                      ago_text(change.seconds_ago));
    lines << ExpertWords::tr("Why: %1").arg(reason_text(model, numbers, change));
  } else {
    lines << ExpertWords::tr("Last change: none seen");
  }
  if (!rich) return title + QStringLiteral(". ") + lines.join(QStringLiteral(". "));
  for (QString& line : lines) line = line.toHtmlEscaped();
  return QStringLiteral("<p style='white-space:pre'><b>%1</b><br>%2</p>")
      .arg(title.toHtmlEscaped(), lines.join(QStringLiteral("<br>")));
}

}  // namespace fovea::ui
