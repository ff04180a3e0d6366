// Decoding as captured graphs, against the same passes given to the device call by call: bit for bit, also
// where the processor has a part.
#include <cstring>

#include "engine/core/result.h"
#include "engine/runtime/load.h"
#include "engine/selftest/engines.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {
namespace {

struct Decoded {
  std::vector<float> logits;
  layers::GraphUse graphs;
};

Result<Decoded> decode(const LoadOptions& request, const GoldenModel& model, bool graphs,
                       const Bench& bench) {
  layers::Forward* forward = nullptr;
  const auto choose = [&](layers::Forward& made) {
    made.use_graphs(graphs);
    forward = &made;
  };
  FOVEA_TRY(const auto engine, runtime::load(request, {}, {}, bench.stop, &bench.device, {}, choose));
  Decoded decoded;
  FOVEA_TRY(decoded.logits, all_logits(*engine, model.tokens, bench.stop));
  decoded.graphs = forward->graphs();
  return decoded;
}

Phrase first_difference(const std::vector<float>& graphs, const std::vector<float>& pieces) {
  if (graphs.size() != pieces.size()) return phrases::selftest_graph_fewer_logits();
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (std::memcmp(&graphs[i], &pieces[i], sizeof(float)) != 0) return phrases::selftest_graph_logit(i);
  }
  return {};
}

}  // namespace

Result<SelfTestPart> test_decode_graphs(const Bench& bench) {
  SelfTestPart part{.name = "decode graphs", .faults = {}};
  FOVEA_TRY(const GoldenModel model, quantised_experts());
  FOVEA_TRY(LoadOptions request, request_for(model, bench));
  request.chunk = 1;
  const bool card = !bench.device.memory_is_host();
  const bool captures = card && !bench.device.switched_off().contains("graph");
  for (const std::int64_t host_layers : {0, 1, 2}) {
    if (bench.stop.stop_requested()) return stopped();
    if (host_layers > 0 && !card) break;
    request.precision.offload.cpu_moe_layers = host_layers;
    FOVEA_TRY(const Decoded graphs, decode(request, model, true, bench));
    FOVEA_TRY(const Decoded pieces, decode(request, model, false, bench));
    const auto count_here = [&](const Phrase& fault) {
      count(part,
            fault.empty() || host_layers == 0 ? fault : phrases::selftest_beside_host(fault, host_layers));
    };
    count_here(first_difference(graphs.logits, pieces.logits));
    // All passes but the first, which is done call by call.
    const bool launched = graphs.graphs.launched == std::ssize(model.tokens) - 1;
    if (captures) count_here(launched ? Phrase() : phrases::selftest_graphs_launched(graphs.graphs.launched));
  }
  return part;
}

}  // namespace fovea::selftest
