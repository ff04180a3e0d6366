// What the routers did, from recorded traces: how evenly each layer's experts are used, what kinds of text or
// models share, and how many choices equal a reference's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/trace.h"

namespace fovea {

// What a trace is called: a kind of text, a model, a policy.
struct NamedTrace {
  std::string name;
  std::filesystem::path path;
};

struct RoutingReportRequest {
  std::vector<NamedTrace> traces;  // at least one; with the reference's, all of the same layers and experts
  // Of the same tokens, both recorded token by token: whose choices are compared with.
  std::optional<NamedTrace> reference = {};
  std::int64_t hottest = 0;  // experts of a layer whose overlap is told; 0: twice those used for a token
};

// How one text used one layer.
struct LayerUse {
  std::int64_t tokens = 0;              // that its router saw
  std::vector<std::int64_t> uses = {};  // [experts] tokens that chose it
  std::vector<double> gates = {};       // [experts] Σ of its gate weights
  std::int64_t unused = 0;              // experts
  double evenness = 0;  // expert_load.h has these three; the loss's p are the shares of `gates`, …
  double max_violation = 0;
  double balance_loss = 0;  // … which know only chosen experts, where training takes all probabilities
};

struct TraceUse {
  NamedTrace trace;
  std::string model = {};
  std::int64_t tokens = 0, passes = 0;
  std::vector<LayerUse> layers = {};
};

// What two traces share in a layer.
struct Overlap {
  double hottest = 0;    // share of the hottest experts that are both's
  double common = 0;     // share of the uses that go to the same experts: 1 − apart()
  double by_chance = 0;  // of the hottest, had they nothing to do with each other
};
struct TraceOverlap {
  std::size_t a = 0, b = 0;  // traces
  Overlap mean = {};
  std::vector<Overlap> layers = {};
};

// How much an expert's being chosen tells of the trace: the mutual information of both, the traces weighing
// the same, which is their generalised Jensen–Shannon divergence (Lin 1991), ÷ ln traces. 0: all use a
// layer's experts alike; 1: no two share one. by_chance: what is expected of so few uses even if they do.
struct Specialisation {
  double value = 0, by_chance = 0;
};

// An expert that a text prefers: shares of a token's k choices, so that an even use is k / experts
// (OLMoE's domain specialisation, arXiv 2409.02060, section 5.3).
struct Preference {
  std::size_t trace = 0, layer = 0;
  std::int32_t expert = 0;
  double share = 0, elsewhere = 0;  // of the trace's tokens that chose it; of the others', their mean
};

// Choices that equal the reference's, for the same tokens (between two states of a model OLMoE's router
// saturation, section 5.1).
struct Fidelity {
  std::int64_t choices = 0, equal = 0;    // of the reference; made here too
  std::int64_t sets = 0, equal_sets = 0;  // tokens × layers; with all choices equal
  double expected = 0;                    // of `equal`, were both independent with the loads that they have

  double share() const { return choices > 0 ? static_cast<double>(equal) / static_cast<double>(choices) : 0; }
  double whole() const { return sets > 0 ? static_cast<double>(equal_sets) / static_cast<double>(sets) : 0; }
  double by_chance() const { return choices > 0 ? expected / static_cast<double>(choices) : 0; }
};
struct TraceFidelity {
  Fidelity all;
  std::vector<Fidelity> layers;
};

struct RoutingReport {
  std::int64_t used = 0, hottest = 0;
  std::vector<ExpertLayer> layers;
  std::vector<TraceUse> traces;
  std::vector<TraceOverlap> overlaps;          // of each pair of traces
  std::vector<Specialisation> specialisation;  // [layers]; empty for one trace
  std::vector<Preference> preferred;    // three for each trace, the strongest first; none for one trace
  std::vector<TraceFidelity> fidelity;  // [traces]; empty without a reference
};

// Reads the traces; no model is loaded. ErrorKind::invalid says which one does not belong to the others.
Result<RoutingReport> routing_report(const RoutingReportRequest& request, std::stop_token stop = {});

}  // namespace fovea
