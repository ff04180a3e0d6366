#include "valued_experts.h"

#include <limits>
#include <random>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "tests/support/test.h"

namespace fovea::tests {
namespace {

using checkpoint::Checkpoint;

float value(Values values, std::mt19937& random) {
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  const float sign = random() % 2 == 0 ? 1.0F : -1.0F;
  switch (values) {
    case Values::normal:
      return static_cast<float>(std::normal_distribution<double>()(random));
    case Values::slabs:
      return sign * static_cast<float>(1 + share);
    case Values::grid:
      return 0.3F * static_cast<float>(static_cast<int>(random() % 15) - 7);
    case Values::zeros:
      return 0;
    default:
      return std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

Result<void> write_valued_experts(const std::filesystem::path& path, Values first_layer, Values others) {
  FOVEA_TRY(const Checkpoint from, Checkpoint::open(golden("models/experts.gguf")));
  std::vector<checkpoint::TensorInfo> tensors = from.tensors();
  const auto is_expert = [](const std::string& name) { return name.find("_exps.") != std::string::npos; };
  for (checkpoint::TensorInfo& tensor : tensors) {
    if (is_expert(tensor.name)) tensor.type = kernels::Type::f32;
  }
  FOVEA_TRY(auto writer, checkpoint::GgufWriter::create(path, from.metadata(), tensors));
  std::mt19937 random(seed());
  for (const checkpoint::TensorInfo& tensor : from.tensors()) {
    if (!is_expert(tensor.name)) {
      FOVEA_CHECK(writer.append(from.bytes(tensor)));
      continue;
    }
    std::vector<float> weights(static_cast<std::size_t>(tensor.elements()));
    for (float& weight : weights)
      weight = value(tensor.name.starts_with("blk.0.") ? first_layer : others, random);
    FOVEA_CHECK(writer.append(std::as_bytes(std::span(weights))));
  }
  return writer.finish();
}

}  // namespace fovea::tests
