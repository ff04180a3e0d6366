#include "engine/api/routing_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "engine/api/expert_load.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/trace.h"

namespace fovea {
namespace {

using eval::TracePass;
using eval::TraceReader;
using eval::TraceShape;
using precision::ExpertUse;

constexpr std::size_t told_preferences = 3;  // of each trace

// A trace's file and who reads it.
struct OpenTrace {
  checkpoint::MappedFile file;
  std::optional<TraceReader> reader;
};

Result<OpenTrace> open_trace(const NamedTrace& trace) {
  OpenTrace open;
  FOVEA_TRY(open.file, checkpoint::MappedFile::open(trace.path));
  FOVEA_TRY(auto reader, TraceReader::open(open.file.bytes(), trace.path));
  open.reader.emplace(std::move(reader));
  return open;
}

// Whether both have the same experts, whatever these weigh.
bool same_experts(const TraceShape& a, const TraceShape& b) {
  const auto alike = [](const ExpertLayer& x, const ExpertLayer& y) {
    return x.layer == y.layer && x.experts == y.experts;
  };
  return a.used == b.used && std::ranges::equal(a.layers, b.layers, alike);
}

void judge(LayerUse& layer) {
  const auto shares = shares_of<std::int64_t>(layer.uses);
  layer.unused = std::ranges::count(layer.uses, 0);
  layer.evenness = evenness(shares);
  layer.max_violation = max_violation(shares);
  layer.balance_loss = balance_loss(shares, shares_of<double>(layer.gates));
}

Result<TraceUse> use_of(const NamedTrace& trace, TraceReader& reader, const std::stop_token& stop) {
  const TraceShape& shape = reader.shape();
  const auto first = shape.first_unit();
  TraceUse use{.trace = trace, .model = shape.model};
  for (const ExpertLayer& layer : shape.layers) {
    const auto experts = static_cast<std::size_t>(layer.experts);
    use.layers.push_back({.uses = std::vector<std::int64_t>(experts), .gates = std::vector<double>(experts)});
  }
  TracePass pass;
  while (true) {
    if (stop.stop_requested()) return fail(phrases::file_place(trace.path), errors::stopped_on_request());
    FOVEA_TRY(const bool more, reader.next(pass));
    if (!more) break;
    ++use.passes;
    use.tokens += pass.tokens;
    for (std::size_t layer = 0; layer < use.layers.size(); ++layer)
      use.layers[layer].tokens += pass.routed[layer];
    std::size_t layer = 0;
    for (const ExpertUse& each : pass.uses) {
      while (each.unit >= first[layer + 1]) ++layer;
      const auto expert = static_cast<std::size_t>(each.unit - first[layer]);
      use.layers[layer].uses[expert] += each.tokens;
      use.layers[layer].gates[expert] += static_cast<double>(each.gate_sum);
    }
  }
  if (use.passes == 0) return fail(phrases::file_place(trace.path), errors::report_trace_empty());
  for (LayerUse& layer : use.layers) judge(layer);
  return use;
}

// The most used experts, at most `count` and none that was not used; of equals the first ones. Ascending.
std::vector<std::size_t> hottest_of(const LayerUse& layer, std::size_t count) {
  std::vector<std::size_t> experts(layer.uses.size());
  std::iota(experts.begin(), experts.end(), std::size_t{0});
  std::ranges::stable_sort(experts, std::greater<>(), [&](std::size_t expert) { return layer.uses[expert]; });
  experts.resize(std::min(count, experts.size() - static_cast<std::size_t>(layer.unused)));
  std::ranges::sort(experts);
  return experts;
}

Overlap overlap_of(const LayerUse& a, const LayerUse& b, std::size_t count) {
  const auto hot_a = hottest_of(a, count), hot_b = hottest_of(b, count);
  std::vector<std::size_t> both;
  std::ranges::set_intersection(hot_a, hot_b, std::back_inserter(both));
  const auto most = static_cast<double>(std::max<std::size_t>(1, std::max(hot_a.size(), hot_b.size())));
  const auto fewest = static_cast<double>(std::min(hot_a.size(), hot_b.size()));
  return {.hottest = static_cast<double>(both.size()) / most,
          .common = 1 - apart(shares_of<std::int64_t>(a.uses), shares_of<std::int64_t>(b.uses)),
          .by_chance = fewest / static_cast<double>(a.uses.size())};
}

TraceOverlap overlap_of(const RoutingReport& report, std::size_t a, std::size_t b) {
  TraceOverlap overlap{.a = a, .b = b};
  const auto layers = static_cast<double>(report.layers.size());
  for (std::size_t layer = 0; layer < report.layers.size(); ++layer) {
    const Overlap each = overlap_of(report.traces[a].layers[layer], report.traces[b].layers[layer],
                                    static_cast<std::size_t>(report.hottest));
    overlap.mean.hottest += each.hottest / layers;
    overlap.mean.common += each.common / layers;
    overlap.mean.by_chance += each.by_chance / layers;
    overlap.layers.push_back(each);
  }
  return overlap;
}

// Of so few uses: the entropy of shares that N draws give is (E − 1) / 2N too small (Miller 1955), of each
// trace's shares by its own N and of their mean's less.
Specialisation specialisation_of(const RoutingReport& report, std::size_t layer) {
  const auto traces = static_cast<double>(report.traces.size());
  std::vector<double> mean(report.traces.front().layers[layer].uses.size());
  double within = 0, few = 0;
  for (const TraceUse& trace : report.traces) {
    const std::vector<std::int64_t>& uses = trace.layers[layer].uses;
    const auto shares = shares_of<std::int64_t>(uses);
    for (std::size_t expert = 0; expert < mean.size(); ++expert) mean[expert] += shares[expert] / traces;
    within += entropy_of(shares) / traces;
    few += 1 / static_cast<double>(
                   std::max<std::int64_t>(1, std::accumulate(uses.begin(), uses.end(), std::int64_t{0})));
  }
  const double bias = static_cast<double>(mean.size() - 1) / 2 * (1 - 1 / traces) * few / traces;
  return {.value = std::max(0.0, entropy_of(mean) - within) / std::log(traces),
          .by_chance = std::min(1.0, bias / std::log(traces))};
}

double token_share(const LayerUse& layer, std::size_t expert) {
  return static_cast<double>(layer.uses[expert]) /
         static_cast<double>(std::max<std::int64_t>(1, layer.tokens));
}

std::vector<Preference> preferred_by(const RoutingReport& report, std::size_t trace) {
  std::vector<Preference> all;
  for (std::size_t layer = 0; layer < report.layers.size(); ++layer) {
    for (std::int32_t expert = 0; expert < report.layers[layer].experts; ++expert) {
      Preference each{.trace = trace, .layer = layer, .expert = expert};
      for (std::size_t other = 0; other < report.traces.size(); ++other) {
        const double share =
            token_share(report.traces[other].layers[layer], static_cast<std::size_t>(expert));
        if (other == trace) {
          each.share = share;
        } else {
          each.elsewhere += share / static_cast<double>(report.traces.size() - 1);
        }
      }
      all.push_back(each);
    }
  }
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const Preference& each) { return each.share - each.elsewhere; });
  all.resize(std::min(all.size(), told_preferences));
  return all;
}

// Reads two traces of the same tokens side by side.
class FidelityMeter {
 public:
  FidelityMeter(const NamedTrace& reference, TraceReader& of_reference)
      : reference_(reference), wanted_(of_reference), first_(of_reference.shape().first_unit()) {}

  Result<TraceFidelity> measure(const NamedTrace& trace, TraceReader& found, const std::stop_token& stop) {
    TraceFidelity fidelity;
    fidelity.layers.resize(first_.size() - 1);
    wanted_.rewind();
    found.rewind();
    TracePass pass, wanted;
    while (true) {
      if (stop.stop_requested()) return fail(phrases::file_place(trace.path), errors::stopped_on_request());
      FOVEA_TRY(const bool more, found.next(pass));
      FOVEA_TRY(const bool more_wanted, wanted_.next(wanted));
      if (more != more_wanted) return other_text(trace);
      if (!more) break;
      FOVEA_CHECK(check_pass(trace, pass));
      FOVEA_CHECK(check_pass(reference_, wanted));
      compare(pass, wanted, fidelity.layers);
    }
    if (!found.text()) return fail(phrases::file_place(trace.path), errors::fidelity_without_text());
    if (!wanted_.text()) return fail(phrases::file_place(reference_.path), errors::fidelity_without_text());
    if (found.text() != wanted_.text()) return other_text(trace);
    return fidelity;
  }

 private:
  std::unexpected<Error> other_text(const NamedTrace& trace) const {
    return fail(phrases::file_place(trace.path), errors::fidelity_of_other_text(reference_.path));
  }

  static Result<void> check_pass(const NamedTrace& trace, const TracePass& pass) {
    if (pass.tokens == 1) return {};
    return fail(phrases::file_place(trace.path), errors::fidelity_of_sums(pass.tokens));
  }

  void compare(const TracePass& pass, const TracePass& wanted, std::vector<Fidelity>& layers) const {
    auto found = pass.uses.begin(), other = wanted.uses.begin();
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      const auto in_layer = [&](const ExpertUse& use) { return use.unit < first_[layer + 1]; };
      const auto found_end = std::find_if_not(found, pass.uses.end(), in_layer);
      const auto other_end = std::find_if_not(other, wanted.uses.end(), in_layer);
      std::int64_t equal = 0;
      for (auto each = other; each != other_end; ++each) {
        equal += std::ranges::find(found, found_end, each->unit, &ExpertUse::unit) != found_end;
      }
      Fidelity& fidelity = layers[layer];
      fidelity.choices += other_end - other;
      fidelity.equal += equal;
      fidelity.sets += wanted.routed[layer];
      fidelity.equal_sets +=
          wanted.routed[layer] > 0 && equal == other_end - other && equal == found_end - found;
      found = found_end;
      other = other_end;
    }
  }

  const NamedTrace& reference_;
  TraceReader& wanted_;
  std::vector<std::int32_t> first_;  // unit of each layer
};

// Of the reference's choices, were every choice made anew by the loads of both.
double expected_equal(const LayerUse& found, const LayerUse& wanted) {
  double expected = 0;
  for (std::size_t expert = 0; expert < found.uses.size(); ++expert)
    expected += token_share(found, expert) * static_cast<double>(wanted.uses[expert]);
  return expected;
}

void sum_up(TraceFidelity& fidelity, const TraceUse& found, const TraceUse& wanted) {
  for (std::size_t layer = 0; layer < fidelity.layers.size(); ++layer) {
    Fidelity& each = fidelity.layers[layer];
    each.expected = expected_equal(found.layers[layer], wanted.layers[layer]);
    fidelity.all.choices += each.choices;
    fidelity.all.equal += each.equal;
    fidelity.all.sets += each.sets;
    fidelity.all.equal_sets += each.equal_sets;
    fidelity.all.expected += each.expected;
  }
}

}  // namespace

Result<RoutingReport> routing_report(const RoutingReportRequest& request, std::stop_token stop) {
  if (request.traces.empty()) return fail(errors::report_of_nothing());
  RoutingReport report;
  std::vector<OpenTrace> open;
  const auto add = [&](const NamedTrace& trace) -> Result<TraceUse> {
    FOVEA_TRY(open.emplace_back(), open_trace(trace));
    if (!same_experts(open.front().reader->shape(), open.back().reader->shape()))
      return fail(phrases::file_place(trace.path), errors::report_other_shape(request.traces.front().path));
    return use_of(trace, *open.back().reader, stop);
  };
  for (const NamedTrace& trace : request.traces) {
    FOVEA_TRY(report.traces.emplace_back(), add(trace));
  }
  const TraceShape& shape = open.front().reader->shape();
  report.layers = shape.layers;
  report.used = shape.used;
  report.hottest = request.hottest > 0 ? request.hottest : 2 * report.used;
  const std::size_t traces = report.traces.size();
  for (std::size_t a = 0; a < traces; ++a) {
    for (std::size_t b = a + 1; b < traces; ++b) report.overlaps.push_back(overlap_of(report, a, b));
  }
  for (std::size_t layer = 0; traces > 1 && layer < report.layers.size(); ++layer)
    report.specialisation.push_back(specialisation_of(report, layer));
  for (std::size_t trace = 0; traces > 1 && trace < traces; ++trace)
    std::ranges::copy(preferred_by(report, trace), std::back_inserter(report.preferred));
  if (!request.reference) return report;
  FOVEA_TRY(const TraceUse wanted, add(*request.reference));
  FidelityMeter meter(*request.reference, *open.back().reader);
  for (std::size_t trace = 0; trace < traces; ++trace) {
    FOVEA_TRY(report.fidelity.emplace_back(),
              meter.measure(request.traces[trace], *open[trace].reader, stop));
    sum_up(report.fidelity.back(), report.traces[trace], wanted);
  }
  return report;
}

}  // namespace fovea
