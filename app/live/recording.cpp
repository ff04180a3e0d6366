#include "app/live/recording.h"

#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <cmath>
#include <span>

#include "app/live/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t kMaxUnits = 1 << 20;
constexpr qint64 kLongestLine = qint64{64} << 20;
constexpr int kVersion = 1;

std::unexpected<Error> cannot_write(const QIODevice& out) {
  return fail(phrases::recording_place(),
              errors::recording_not_written(Said{out.errorString().toStdString()}));
}

QJsonObject head(const SnapshotRing& ring, const LiveModel& model) {
  const SnapshotNumbers& numbers = ring.last().numbers;
  QJsonArray tiers, layers;
  for (const TierState& tier : numbers.tiers)
    tiers.append(
        QJsonObject{{"name", QString::fromStdString(tier.name)}, {"bits_per_weight", tier.bits_per_weight}});
  for (const std::int64_t layer : model.layer_numbers) layers.append(static_cast<qint64>(layer));
  QJsonArray cards;
  for (const CardPlan& card : model.cards)
    cards.append(
        QJsonObject{{"name", QString::fromStdString(card.name)}, {"rows", static_cast<qint64>(card.rows)}});
  return {{"format", "fovea live recording"},
          {"version", kVersion},
          {"model", model.name},
          {"layers", static_cast<qint64>(numbers.layers)},
          {"units_per_layer", static_cast<qint64>(numbers.units_per_layer)},
          {"experts_used", static_cast<qint64>(model.experts_used)},
          {"policy", static_cast<int>(model.policy)},
          {"layer_numbers", layers},
          {"cards", cards},
          {"tiers", tiers},
          {"budget_bytes", static_cast<qint64>(numbers.budget_bytes)},
          {"arena_bytes", static_cast<qint64>(numbers.arena_bytes)},
          {"unit", "[index, tier, target, hotness, tokens]; 255: none; a line names the units that changed"}};
}

QJsonArray json_of(const DecisionState& d) {
  return {d.unit,
          d.from,
          d.to,
          static_cast<int>(d.reason),
          static_cast<double>(d.score),
          static_cast<double>(d.margin),
          static_cast<qint64>(d.token),
          d.other};
}

std::int64_t whole(const QJsonValue& value) {
  return value.toInteger(0);
}

QJsonObject json_of(const QualityState& q) {
  return {{"in_nats", q.in_nats},
          {"has_calibration", q.has_calibration},
          {"tokens", static_cast<qint64>(q.tokens)},
          {"loss", q.loss},
          {"all_high", q.all_high},
          {"all_low", q.all_low},
          {"calibrated", q.calibrated},
          {"tokens_since", static_cast<qint64>(q.tokens_since)},
          {"loss_since", q.loss_since},
          {"low_since", q.low_since},
          {"high_since", q.high_since},
          {"calibrated_since", q.calibrated_since},
          {"start_since", q.start_since},
          {"hindsight", QJsonObject{{"tokens", static_cast<qint64>(q.hindsight.tokens)},
                                    {"loss", q.hindsight.loss},
                                    {"low", q.hindsight.low},
                                    {"high", q.hindsight.high}}}};
}

QualityState read_quality(const QJsonObject& json) {
  const QJsonValue hindsight = json["hindsight"];
  return {.in_nats = json["in_nats"].toBool(),
          .has_calibration = json["has_calibration"].toBool(),
          .tokens = whole(json["tokens"]),
          .loss = json["loss"].toDouble(),
          .all_high = json["all_high"].toDouble(),
          .all_low = json["all_low"].toDouble(),
          .calibrated = json["calibrated"].toDouble(),
          .tokens_since = whole(json["tokens_since"]),
          .loss_since = json["loss_since"].toDouble(),
          .low_since = json["low_since"].toDouble(),
          .high_since = json["high_since"].toDouble(),
          .calibrated_since = json["calibrated_since"].toDouble(),
          .start_since = json["start_since"].toDouble(),
          .hindsight = {.tokens = whole(hindsight["tokens"]),
                        .loss = hindsight["loss"].toDouble(),
                        .low = hindsight["low"].toDouble(),
                        .high = hindsight["high"].toDouble()}};
}

// Of the decisions those that the moment before did not have.
QJsonObject numbers_json(const Moment& moment, const Moment* before) {
  const SnapshotNumbers& n = moment.numbers;
  QJsonArray tiers, pools, decisions;
  for (const TierState& tier : n.tiers)
    tiers.append(QJsonArray{static_cast<qint64>(tier.units), static_cast<qint64>(tier.bytes),
                            static_cast<qint64>(tier.hits)});
  for (const PoolState& pool : n.pools)
    pools.append(QJsonArray{static_cast<qint64>(pool.block_bytes), static_cast<qint64>(pool.blocks),
                            static_cast<qint64>(pool.used)});
  const std::size_t fresh = before ? fresh_decisions(n, before->numbers) : n.decisions.size();
  for (const DecisionState& decision : std::span(n.decisions).first(fresh))
    if (decision.unit >= 0) decisions.append(json_of(decision));
  const SwapCounters& s = n.swaps;
  return {{"seconds", moment.seconds},
          {"tokens", static_cast<qint64>(n.tokens)},
          {"tokens_per_second", n.tokens_per_second},
          {"prefill_tokens_per_second", n.prefill_tokens_per_second},
          {"mean_bits_per_weight", n.mean_bits_per_weight},
          {"quality", json_of(n.quality)},
          {"calibration_part", n.calibration_part},
          {"queued", n.queued},
          {"reading", n.reading},
          {"ready", n.ready},
          {"arena_used_bytes", static_cast<qint64>(n.arena_used_bytes)},
          {"host_units", static_cast<qint64>(n.host_units)},
          {"host_hits", static_cast<qint64>(n.host_hits)},
          {"promotions", static_cast<qint64>(s.promotions)},
          {"demotions", static_cast<qint64>(s.demotions)},
          {"bytes_read", static_cast<qint64>(s.bytes_read)},
          {"stalls", static_cast<qint64>(s.stalls)},
          {"stall_seconds", s.stall_seconds},
          {"tiers", tiers},
          {"pools", pools},
          {"decisions", decisions}};
}

// Hundreds of thousands of numbers: written by hand.
void append_units(const MapFrame& frame, const MapFrame* before, QByteArray& line) {
  line.append("\"units\":[");
  bool first = true;
  for (std::size_t unit = 0; unit < frame.size(); ++unit) {
    if (before && before->tier[unit] == frame.tier[unit] && before->target[unit] == frame.target[unit] &&
        before->hot[unit] == frame.hot[unit] && before->uses[unit] == frame.uses[unit])
      continue;
    if (!first) line.append(',');
    first = false;
    const float hotness = frame.hot_is_recent_use ? 0 : ui::hotness_of(frame.hot[unit]);
    line.append('[').append(QByteArray::number(static_cast<qulonglong>(unit))).append(',');
    line.append(QByteArray::number(frame.tier[unit]))
        .append(',')
        .append(QByteArray::number(frame.target[unit]))
        .append(',');
    line.append(QByteArray::number(static_cast<double>(hotness), 'g', 4)).append(',');
    line.append(QByteArray::number(frame.uses[unit])).append(']');
  }
  line.append(']');
}

QByteArray csv_row(const LiveModel& model, const Moment& moment, const MapFrame& frame, std::size_t unit,
                   const ui::UnitChange& change) {
  const auto name = [&](std::uint8_t tier) {
    return tier < moment.numbers.tiers.size() ? QByteArray::fromStdString(moment.numbers.tiers[tier].name)
                                              : QByteArray();
  };
  const auto width = static_cast<std::size_t>(frame.units_per_layer), layer = unit / width;
  QByteArray row = QByteArray::number(static_cast<qlonglong>(
      layer < model.layer_numbers.size() ? model.layer_numbers[layer] : static_cast<std::int64_t>(layer)));
  row += ',' + QByteArray::number(static_cast<qulonglong>(unit % width)) + ',' + name(frame.tier[unit]) +
         ',' + name(frame.target[unit]) + ',';
  if (!frame.hot_is_recent_use)
    row += QByteArray::number(static_cast<double>(ui::hotness_of(frame.hot[unit])), 'g', 4);
  row += ',' + QByteArray::number(frame.uses[unit]) + ',';
  if (change.decision.unit < 0) return row + ",,,\n";
  return row + QByteArray::number(change.seconds_ago, 'f', 1) + ',' + name(change.decision.from) + ',' +
         name(change.decision.to) + ',' + (change.explained ? name_of(change.decision.reason) : "unknown") +
         '\n';
}

std::unexpected<Error> bad_line(qint64 line, Error error) {
  return fail(phrases::recording_line(line), std::move(error));
}

std::uint8_t tier_of(const QJsonValue& value, std::size_t tiers) {
  const qint64 tier = value.toInteger(no_tier);
  const bool known = (tier >= 0 && tier < static_cast<qint64>(tiers)) || tier == host_tier;
  return known ? static_cast<std::uint8_t>(tier) : no_tier;
}

void read_decisions(const QJsonArray& array, std::size_t tiers, Snapshot& snapshot) {
  snapshot.decisions = {};
  for (qsizetype i = 0; i < array.size() && i < static_cast<qsizetype>(snapshot.decisions.size()); ++i) {
    const QJsonArray d = array[i].toArray();
    const qint64 reason = d.at(3).toInteger();
    snapshot.decisions[static_cast<std::size_t>(i)] = {
        .unit = static_cast<std::int32_t>(d.at(0).toInteger(-1)),
        .from = tier_of(d.at(1), tiers),
        .to = tier_of(d.at(2), tiers),
        .reason = reason >= 0 && reason <= static_cast<qint64>(SwapReason::prompt)
                      ? static_cast<SwapReason>(reason)
                      : SwapReason::requested,
        .score = static_cast<float>(d.at(4).toDouble()),
        .margin = static_cast<float>(d.at(5).toDouble()),
        .other = static_cast<std::int32_t>(d.at(7).toInteger(-1)),
        .token = d.at(6).toInteger()};
  }
}

// Applies a line to the snapshot before it. False: a unit that is not there.
bool read_moment(const QJsonObject& line, Snapshot& s) {
  s.tokens = whole(line["tokens"]);
  s.tokens_per_second = line["tokens_per_second"].toDouble();
  s.prefill_tokens_per_second = line["prefill_tokens_per_second"].toDouble();
  s.mean_bits_per_weight = line["mean_bits_per_weight"].toDouble();
  s.quality = read_quality(line["quality"].toObject());
  s.calibration_part = std::min(line["calibration_part"].toDouble(-1), 1.0);
  s.queued = line["queued"].toInt();
  s.reading = line["reading"].toInt();
  s.ready = line["ready"].toInt();
  s.arena_used_bytes = whole(line["arena_used_bytes"]);
  s.host_units = whole(line["host_units"]);
  s.host_hits = whole(line["host_hits"]);
  s.swaps.promotions = whole(line["promotions"]);
  s.swaps.demotions = whole(line["demotions"]);
  s.swaps.bytes_read = whole(line["bytes_read"]);
  s.swaps.stalls = whole(line["stalls"]);
  s.swaps.stall_seconds = line["stall_seconds"].toDouble();
  const QJsonArray tiers = line["tiers"].toArray(), pools = line["pools"].toArray();
  for (std::size_t tier = 0; tier < s.tiers.size(); ++tier) {
    const QJsonArray values = tiers.at(static_cast<qsizetype>(tier)).toArray();
    s.tiers[tier].units = whole(values.at(0));
    s.tiers[tier].bytes = whole(values.at(1));
    s.tiers[tier].hits = whole(values.at(2));
  }
  s.pools.resize(static_cast<std::size_t>(std::min<qsizetype>(pools.size(), 64)));
  for (std::size_t pool = 0; pool < s.pools.size(); ++pool) {
    const QJsonArray values = pools.at(static_cast<qsizetype>(pool)).toArray();
    s.pools[pool] = {
        .block_bytes = whole(values.at(0)), .blocks = whole(values.at(1)), .used = whole(values.at(2))};
  }
  read_decisions(line["decisions"].toArray(), s.tiers.size(), s);
  for (const QJsonValue& each : line["units"].toArray()) {
    const QJsonArray unit = each.toArray();
    const qint64 index = unit.at(0).toInteger(-1);
    if (index < 0 || index >= static_cast<qint64>(s.units.size())) return false;
    s.units[static_cast<std::size_t>(index)] = {
        .hotness = static_cast<float>(unit.at(3).toDouble()),
        .tier = tier_of(unit.at(1), s.tiers.size()),
        .target = tier_of(unit.at(2), s.tiers.size()),
        .recent_tokens = 0,
        .uses = static_cast<std::uint32_t>(std::clamp<qint64>(unit.at(4).toInteger(), 0, UINT32_MAX))};
  }
  return true;
}

Result<void> read_head(const QJsonObject& line, Recording& recording, Snapshot& s) {
  if (line["format"].toString() != QLatin1String("fovea live recording"))
    return bad_line(1, errors::no_recording());
  if (line["version"].toInt() != kVersion)
    return bad_line(1, errors::recording_version(line["version"].toInt(), kVersion));
  s.layers = whole(line["layers"]);
  s.units_per_layer = whole(line["units_per_layer"]);
  if (s.layers < 1 || s.units_per_layer < 1 || s.layers > 4096 || s.units_per_layer > 65535 ||
      s.layers * s.units_per_layer > kMaxUnits)
    return bad_line(1, errors::recording_shape(s.layers, s.units_per_layer));
  for (const QJsonValue& tier : line["tiers"].toArray()) {
    if (s.tiers.size() == 32) break;
    s.tiers.push_back({.name = tier["name"].toString().left(32).toStdString(),
                       .bits_per_weight = tier["bits_per_weight"].toDouble()});
  }
  s.units.resize(static_cast<std::size_t>(s.layers * s.units_per_layer));
  s.skew.resize(static_cast<std::size_t>(s.layers));
  s.budget_bytes = whole(line["budget_bytes"]);
  s.arena_bytes = whole(line["arena_bytes"]);
  recording.model.name = line["model"].toString();
  recording.model.experts = s.units_per_layer;
  recording.model.experts_used = std::clamp<std::int64_t>(whole(line["experts_used"]), 0, s.units_per_layer);
  const int policy = line["policy"].toInt();
  recording.model.policy = policy > 0 && policy < static_cast<int>(PolicyKind::automatic)
                               ? static_cast<PolicyKind>(policy)
                               : PolicyKind::none;
  for (const QJsonValue& layer : line["layer_numbers"].toArray())
    recording.model.layer_numbers.push_back(whole(layer));
  for (const QJsonValue& card : line["cards"].toArray()) {
    if (recording.model.cards.size() == 2) break;
    recording.model.cards.push_back({.name = card["name"].toString().left(128).toStdString(),
                                     .rows = std::clamp<std::int64_t>(whole(card["rows"]), 0, s.layers)});
  }
  return {};
}

}  // namespace

Result<void> write_json_lines(const SnapshotRing& ring, const LiveModel& model, QIODevice& out) {
  if (ring.empty()) return {};
  QByteArray line = QJsonDocument(head(ring, model)).toJson(QJsonDocument::Compact) + '\n';
  if (out.write(line) != line.size()) return cannot_write(out);
  FrameCursor cursor;
  MapFrame before;
  for (std::int64_t index = ring.first(); index < ring.end(); ++index) {
    cursor.seek(ring, index);
    line = QJsonDocument(
               numbers_json(ring.moment(index), index > ring.first() ? &ring.moment(index - 1) : nullptr))
               .toJson(QJsonDocument::Compact);
    line.chop(1);  // the closing brace
    line.append(',');
    append_units(cursor.frame(), index == ring.first() ? nullptr : &before, line);
    line.append("}\n");
    if (out.write(line) != line.size()) return cannot_write(out);
    before = cursor.frame();
  }
  return {};
}

Result<void> write_csv(const SnapshotRing& ring, const LiveModel& model, std::int64_t index, QIODevice& out) {
  FrameCursor cursor;
  QByteArray text = "layer,expert,tier,target,hotness,tokens,last_change_seconds_ago,from,to,reason\n";
  if (cursor.seek(ring, index)) {
    const Moment& moment = ring.moment(index);
    const std::vector<ui::UnitChange> last = ring.last_changes(moment.seconds);
    for (std::size_t unit = 0; unit < cursor.frame().size(); ++unit)
      text += csv_row(model, moment, cursor.frame(), unit, last[unit]);
  }
  if (out.write(text) != text.size()) return cannot_write(out);
  return {};
}

Result<void> LiveExport::write(QIODevice& out) const {
  switch (format) {
    case ui::LiveSource::SaveAs::png:
      if (!picture.save(&out, "PNG")) return cannot_write(out);
      return {};
    case ui::LiveSource::SaveAs::csv:
      return ring ? write_csv(*ring, model, index, out) : Result<void>{};
    case ui::LiveSource::SaveAs::json_lines:
      return ring ? write_json_lines(*ring, model, out) : Result<void>{};
  }
  return {};
}

Result<Recording> read_json_lines(QIODevice& in) {
  Recording recording;
  Snapshot snapshot;
  auto ring = std::make_shared<SnapshotRing>(recording_limits);
  for (qint64 number = 1; !in.atEnd(); ++number) {
    const QByteArray text = in.readLine(kLongestLine);
    if (text.isEmpty())
      return bad_line(number, errors::recording_not_read(Said{in.errorString().toStdString()}));
    if (text.trimmed().isEmpty()) continue;
    QJsonParseError error;
    const QJsonDocument line = QJsonDocument::fromJson(text, &error);
    if (!line.isObject())
      return bad_line(number, errors::recording_no_json(Said{error.errorString().toStdString()}));
    if (snapshot.layers == 0) {
      if (auto read = read_head(line.object(), recording, snapshot); !read)
        return std::unexpected(read.error());
      continue;
    }
    const double seconds = line["seconds"].toDouble(-1);
    if (!(seconds >= 0) || !std::isfinite(seconds)) return bad_line(number, errors::recording_no_time());
    if (!read_moment(line.object(), snapshot)) return bad_line(number, errors::recording_no_unit());
    ring->add(snapshot, seconds);
  }
  if (ring->empty()) return bad_line(1, errors::recording_empty());
  recording.ring = std::move(ring);
  return recording;
}

}  // namespace fovea::app
