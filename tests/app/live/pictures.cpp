// Takes pictures of the live panel with synthetic sessions.
#include "tests/ui/pictures/pictures.h"

#include <QApplication>
#include <QToolButton>
#include <cstdio>

#include "app/live/live_session.h"
#include "tests/app/live/sessions.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"

namespace {

using fovea::Result;
using fovea::Snapshot;
using fovea::app::LiveSession;
using fovea::tests::SessionShape;
using fovea::ui::LivePanel;

fovea::tests::Pictures pictures;

void take(LivePanel& panel, const QString& name, QSize size) {
  panel.resize(size);
  panel.show();
  QApplication::processEvents();
  panel.refresh();
  QApplication::processEvents();
  pictures.save(panel, name);
}

bool fill(LiveSession& session, const SessionShape& shape) {
  session.set_model(fovea::tests::session_model(shape));
  session.set_device_memory(19'400'000'000, 24'000'000'000);
  session.set_kv_used(212'000'000);
  fovea::Timings timings;
  double last = 0;
  const auto played =
      fovea::tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        const double third = shape.seconds / 3;
        const int part = static_cast<int>(seconds / third);
        static const char* const titles[] = {"A letter to the landlord", "Proof that √2 is irrational",
                                             "Tuples and lists in Python"};
        session.set_conversation(QString::number(part), QString::fromUtf8(titles[std::min(part, 2)]));
        session.add_snapshot(snapshot, seconds);
        timings.generated_tokens = snapshot.tokens;
        timings.decode_seconds += (seconds - last) * (1 + 0.3 * ((snapshot.tokens * 7919) % 13) / 13.0);
        last = seconds;
        session.add_timings(timings);
        return {};
      });
  if (!played) std::fprintf(stderr, "live_pictures: %s\n", played.error().message().c_str());
  return played.has_value();
}

void press(LivePanel& panel, const char* name, bool on) {
  auto* button = panel.findChild<QToolButton*>(QString::fromLatin1(name));
  if (button->isChecked() != on) button->click();
}

bool take_model(const SessionShape& shape, const QString& name) {
  LiveSession session;
  LivePanel panel(session);
  if (!fill(session, shape)) return false;
  take(panel, name + QStringLiteral("-dock"), {400, 960});
  take(panel, name + QStringLiteral("-narrow"), {320, 720});
  take(panel, name + QStringLiteral("-tall"), {1440, 1640});
  take(panel, name + QStringLiteral("-wide"), {1440, 900});
  const auto unit = static_cast<std::int64_t>(session.ring().last_frame().units_per_layer);
  Q_EMIT panel.heatmap().followToggled(7 * unit + 3);
  Q_EMIT panel.heatmap().followToggled(21 * unit + 40);
  press(panel, "patterns", true);
  press(panel, "hottestFirst", true);
  take(panel, name + QStringLiteral("-followed"), {460, 1000});
  press(panel, "patterns", false);
  press(panel, "hottestFirst", false);
  panel.heatmap().show_layer(12);
  take(panel, name + QStringLiteral("-layer"), {1100, 800});
  panel.heatmap().show_layer(std::nullopt);
  press(panel, "table", true);
  take(panel, name + QStringLiteral("-table"), {1100, 800});
  return true;
}

// Three tiers, one layer whose router collapsed, and a device that is nearly full.
bool take_alarms() {
  LiveSession session;
  LivePanel panel(session);
  const SessionShape shape{.seconds = 20};
  session.set_model(fovea::tests::session_model(shape));
  session.set_device_memory(22'600'000'000, 24'000'000'000);
  std::uint32_t extra = 0;
  const auto played =
      fovea::tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        Snapshot s = snapshot;
        s.tiers.insert(s.tiers.begin() + 1, {.name = "q3", .bits_per_weight = 3.4});
        s.tiers[2].units = 0;
        s.tiers[1].bytes = s.tiers[2].bytes / 3;
        s.tiers[2].bytes -= s.tiers[1].bytes;
        for (fovea::UnitState& unit : s.units) {
          const std::size_t index = static_cast<std::size_t>(&unit - s.units.data());
          if (unit.tier == 1) unit.tier = index * 2654435761U % 7 < 2 ? 1 : 2;
          if (unit.target == 1) unit.target = 2;
          if (index == 5 * 128 + 9) unit.tier = fovea::no_tier;
          ++s.tiers[std::min<std::size_t>(unit.tier, 2)].units;
        }
        s.tiers[0].units = snapshot.tiers[0].units;
        extra += 300;
        s.units[30 * 128 + 17].uses += extra;
        s.units[30 * 128 + 77].uses += extra;
        session.add_snapshot(s, seconds);
        return {};
      });
  take(panel, QStringLiteral("alarms"), {420, 960});
  return played.has_value();
}

// The first layers' experts are the processor's, beside a card.
bool take_host() {
  LiveSession session;
  LivePanel panel(session);
  const SessionShape shape{.seconds = 20};
  fovea::app::LiveModel model = fovea::tests::session_model(shape);
  model.plan.units_on_host = 10 * 128;
  model.plan.host_bytes = 3'400'000'000;
  session.set_model(model);
  session.set_device_memory(19'400'000'000, 24'000'000'000, 68'000'000'000);
  const auto played =
      fovea::tests::play_session(shape, [&](const Snapshot& snapshot, double seconds) -> Result<void> {
        Snapshot s = snapshot;
        for (std::size_t unit = 0; unit < 10 * 128; ++unit) {
          fovea::UnitState& state = s.units[unit];
          if (state.tier < s.tiers.size()) --s.tiers[state.tier].units;
          state.tier = fovea::host_tier;
          state.target = fovea::no_tier;
        }
        s.host_units = 10 * 128;
        for (fovea::TierState& tier : s.tiers) {
          s.host_hits += tier.hits * 10 / 48;
          tier.hits -= tier.hits * 10 / 48;
        }
        session.add_snapshot(s, seconds);
        return {};
      });
  take(panel, QStringLiteral("host-dock"), {400, 960});
  press(panel, "patterns", true);
  take(panel, QStringLiteral("host-patterns"), {1100, 800});
  return played.has_value();
}

void take_empty() {
  LiveSession session;
  LivePanel panel(session);
  fovea::app::LiveModel model;
  model.name = QStringLiteral("Qwen3-30B-A3B");
  model.experts = 128;
  session.set_model(model);
  take(panel, QStringLiteral("no-policy"), {400, 600});
  model.experts = 0;
  model.name = QStringLiteral("SmolLM2-135M-Instruct");
  session.set_model(model);
  take(panel, QStringLiteral("no-experts"), {400, 600});
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (!pictures.begin(application, argc, argv)) return 2;
  const SessionShape next{.like = "qwen3-next-80b-a3b", .high_share = 0.12};
  const bool good = take_model({}, QStringLiteral("30b")) && take_model(next, QStringLiteral("next"));
  take_empty();
  take_alarms();
  take_host();
  return good ? 0 : 1;
}
