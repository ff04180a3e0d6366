#include "app/commands/trace_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/flags.h"
#include "engine/api/routing_report.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

std::vector<NamedTrace> named(const std::vector<std::filesystem::path>& paths) {
  std::vector<NamedTrace> traces;
  for (const auto& path : paths) {
    const bool alone = std::ranges::count(paths, path.stem(), [](const auto& p) { return p.stem(); }) == 1;
    traces.push_back({.name = alone ? path.stem().string() : path.string(), .path = path});
  }
  return traces;
}

// --- as JSON ---

Json as_json(const TraceUse& use, const std::vector<ExpertLayer>& shape) {
  auto layers = Json::array();
  for (std::size_t i = 0; i < use.layers.size(); ++i) {
    const LayerUse& layer = use.layers[i];
    layers.push_back({{"layer", shape[i].layer},
                      {"tokens", layer.tokens},
                      {"uses", layer.uses},
                      {"gates", layer.gates},
                      {"unused", layer.unused},
                      {"evenness", layer.evenness},
                      {"max_violation", layer.max_violation},
                      {"balance_loss", layer.balance_loss}});
  }
  return {{"name", use.trace.name}, {"path", use.trace.path.string()},
          {"model", use.model},     {"tokens", use.tokens},
          {"passes", use.passes},   {"layers", layers}};
}

Json as_json(const Overlap& overlap) {
  return {{"hottest", overlap.hottest}, {"hottest_by_chance", overlap.by_chance}, {"common", overlap.common}};
}

Json as_json(const Fidelity& fidelity) {
  return {{"share", fidelity.share()}, {"whole_sets", fidelity.whole()}, {"by_chance", fidelity.by_chance()}};
}

Json as_json(const RoutingReport& report) {
  Json object = {{"experts_used", report.used}, {"hottest", report.hottest}};
  for (const TraceUse& use : report.traces) object["traces"].push_back(as_json(use, report.layers));
  for (const TraceOverlap& overlap : report.overlaps) {
    Json each = as_json(overlap.mean);
    each["a"] = report.traces[overlap.a].trace.name;
    each["b"] = report.traces[overlap.b].trace.name;
    for (const Overlap& layer : overlap.layers) each["layers"].push_back(as_json(layer));
    object["overlaps"].push_back(each);
  }
  for (const Specialisation& layer : report.specialisation)
    object["specialisation"].push_back({{"value", layer.value}, {"by_chance", layer.by_chance}});
  for (const Preference& each : report.preferred)
    object["preferred"].push_back({{"trace", report.traces[each.trace].trace.name},
                                   {"layer", report.layers[each.layer].layer},
                                   {"expert", each.expert},
                                   {"share", each.share},
                                   {"elsewhere", each.elsewhere}});
  for (std::size_t i = 0; i < report.fidelity.size(); ++i) {
    Json each = as_json(report.fidelity[i].all);
    each["name"] = report.traces[i].trace.name;
    for (const Fidelity& layer : report.fidelity[i].layers) each["layers"].push_back(as_json(layer));
    object["fidelity"].push_back(each);
  }
  return object;
}

// --- for people ---

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// The mean of a layer's value, and the layer where it is largest.
template <class Value>
std::pair<double, std::size_t> mean_and_largest(std::size_t layers, Value&& value) {
  double sum = 0;
  std::size_t largest = 0;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    sum += value(layer);
    if (value(layer) > value(largest)) largest = layer;
  }
  return {sum / static_cast<double>(layers), largest};
}

std::string fidelity_lines(const RoutingReport& report, const std::string& reference) {
  std::string text;
  for (std::size_t i = 0; i < report.fidelity.size(); ++i) {
    const TraceFidelity& fidelity = report.fidelity[i];
    const auto [mean, worst] =
        mean_and_largest(fidelity.layers.size(), [&](std::size_t l) { return -fidelity.layers[l].share(); });
    text += fmt::format(
        "{} chooses as {}: {} of the experts (by chance {}), at least {} in layer {}; all of a token's in {} "
        "of the cases\n",
        report.traces[i].trace.name, reference, percent(fidelity.all.share()),
        percent(fidelity.all.by_chance()), percent(fidelity.layers[worst].share()),
        report.layers[worst].layer, percent(fidelity.all.whole()));
  }
  return text;
}

std::string difference_lines(const RoutingReport& report) {
  if (report.specialisation.empty()) return {};
  const auto& by_layer = report.specialisation;
  const auto [mean, most] =
      mean_and_largest(by_layer.size(), [&](std::size_t layer) { return by_layer[layer].value; });
  std::string text = fmt::format(
      "specialisation {:.3f} (by chance {:.3f}), at most {:.3f} in layer {}; 0: all traces use the experts "
      "alike, 1: none share one\n",
      mean, mean_and_largest(by_layer.size(), [&](std::size_t l) { return by_layer[l].by_chance; }).first,
      by_layer[most].value, report.layers[most].layer);
  for (const TraceOverlap& overlap : report.overlaps)
    text += fmt::format(
        "{} and {}: {} of a layer's {} hottest experts are the same (by chance {}), {} of the uses\n",
        report.traces[overlap.a].trace.name, report.traces[overlap.b].trace.name,
        percent(overlap.mean.hottest), report.hottest, percent(overlap.mean.by_chance),
        percent(overlap.mean.common));
  for (const Preference& each : report.preferred)
    text += fmt::format("{} prefers expert {} of layer {}: {} of its tokens, elsewhere {}\n",
                        report.traces[each.trace].trace.name, each.expert, report.layers[each.layer].layer,
                        percent(each.share), percent(each.elsewhere));
  return text;
}

std::string load_line(const RoutingReport& report, const TraceUse& use) {
  const auto of = [&](auto value) {
    return mean_and_largest(use.layers.size(), [&](std::size_t layer) { return value(use.layers[layer]); });
  };
  const auto [violation, busiest] = of([](const LayerUse& layer) { return layer.max_violation; });
  const auto [loss, ignored] = of([](const LayerUse& layer) { return layer.balance_loss; });
  std::int64_t unused = 0;
  for (const LayerUse& layer : use.layers) unused += layer.unused;
  return fmt::format(
      "{}, {} tokens: evenness {}, the busiest expert of a layer has {:.2f} × its even share, at most {:.2f} "
      "× in layer {}; {} experts unused; balance loss {:.3f}\n",
      use.trace.name, use.tokens, percent(of([](const LayerUse& layer) { return layer.evenness; }).first),
      1 + violation, 1 + use.layers[busiest].max_violation, report.layers[busiest].layer, unused, loss);
}

// Evenness and busiest expert of each layer and trace, and what compares them.
std::string layer_table(const RoutingReport& report) {
  std::string text = "\nlayer";
  for (const TraceUse& use : report.traces) text += fmt::format(" {:>20}", use.trace.name);
  const bool texts_differ = !report.specialisation.empty() && report.fidelity.empty();
  if (texts_differ) text += fmt::format(" {:>15}", "specialisation");
  for (std::size_t i = 0; i < report.fidelity.size(); ++i) text += fmt::format(" {:>9}", "equal");
  text += "\n     ";
  for (std::size_t i = 0; i < report.traces.size(); ++i) text += fmt::format(" {:>20}", "even      busiest");
  text += '\n';
  for (std::size_t layer = 0; layer < report.layers.size(); ++layer) {
    text += fmt::format("{:>5}", report.layers[layer].layer);
    for (const TraceUse& use : report.traces) {
      const LayerUse& each = use.layers[layer];
      const auto busiest = std::ranges::max_element(each.uses) - each.uses.begin();
      text +=
          fmt::format(" {:>6.1f} % {:>4}: {:>4.2f} ×", 100 * each.evenness, busiest, 1 + each.max_violation);
    }
    if (texts_differ) text += fmt::format(" {:>15.3f}", report.specialisation[layer].value);
    for (const TraceFidelity& fidelity : report.fidelity)
      text += fmt::format(" {:>7.1f} %", 100 * fidelity.layers[layer].share());
    text += '\n';
  }
  return text;
}

std::string for_people(const RoutingReport& report, const std::string& reference) {
  // Of one text, the traces differ by what computed them.
  std::string text = report.fidelity.empty() ? difference_lines(report) : fidelity_lines(report, reference);
  for (const TraceUse& use : report.traces) text += load_line(report, use);
  return text + layer_table(report);
}

}  // namespace

Result<void> print_trace_report(const TraceReportFlags& flags, bool json, Console& console,
                                Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  RoutingReportRequest request{.traces = named(flags.traces), .hottest = flags.hottest};
  if (!flags.reference.empty()) request.reference = named({flags.reference}).front();
  FOVEA_TRY(const RoutingReport report, routing_report(request, operation.token()));
  if (json) return write_json(console, as_json(report));
  return console.write_text(for_people(report, request.reference ? request.reference->name : ""));
}

}  // namespace fovea::app
