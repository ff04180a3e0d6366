// Qwen3-Next's folders have one matrix for q, k, v and z of gated delta, in_proj_qkvz: for each key head the
// rows of its q and its k, then the rows of v and of z of the value heads that it serves. Here it becomes the
// four matrices that other files have, in_proj_q, in_proj_k, in_proj_v and in_proj_z.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"

namespace fovea::checkpoint {
namespace {

constexpr std::string_view joined_suffix = ".linear_attn.in_proj_qkvz.weight";

// config.json's number, or what transformers takes without it; 0: nothing that could be a size.
std::int64_t size_in(const nlohmann::json& config, const char* name, std::int64_t otherwise) {
  const auto found = config.find(name);
  if (found == config.end()) return otherwise;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > 1 << 20) return 0;
  return found->get<std::int64_t>();
}

}  // namespace

Result<void> Opener::joined_projections(Contents& contents) {
  const std::int64_t key_heads = size_in(contents.config, "linear_num_key_heads", 16);
  const std::int64_t value_heads = size_in(contents.config, "linear_num_value_heads", 32);
  const std::int64_t keys = size_in(contents.config, "linear_key_head_dim", 128);
  const std::int64_t value_dim = size_in(contents.config, "linear_value_head_dim", 128);
  std::vector<TensorInfo> tensors;
  for (TensorInfo& tensor : std::exchange(contents.tensors, {})) {
    if (!std::string_view(tensor.name).ends_with(joined_suffix)) {
      tensors.push_back(std::move(tensor));
      continue;
    }
    const std::int64_t values = key_heads > 0 ? value_heads / key_heads * value_dim : 0;
    const std::int64_t of_head = 2 * (keys + values);  // rows
    if (std::min({key_heads, value_heads, keys, value_dim}) < 1 || value_heads % key_heads != 0 ||
        tensor.shape.size() != 2 || tensor.shape[0] != key_heads * of_head || tensor.shape[1] < 1) {
      return damaged(contents.files[tensor.file], tensor.offset,
                     errors::joined_shape(in_quotes(tensor.name), tensor.shape, phrases::joined_qkvz()));
    }
    const std::string stem =
        tensor.name.substr(0, tensor.name.size() - std::string_view("qkvz.weight").size());
    const std::int64_t columns = tensor.shape[1];
    std::int64_t first = 0;
    for (const auto& [letter, rows] :
         {std::pair("q", keys), std::pair("k", keys), std::pair("v", values), std::pair("z", values)}) {
      PackedLayer layer;
      layer.type = tensor.type;
      layer.columns = columns;
      layer.rows = key_heads * rows;
      layer.joined = {.data = contents.maps[tensor.file].bytes().data() + tensor.offset,
                      .rows = rows,
                      .first = first * columns,
                      .matrix = of_head * columns,
                      .row = columns,
                      .column = 1};
      layer.regions = {{tensor.file, tensor.offset, tensor.bytes}};
      first += rows;
      TensorInfo part = tensor;
      part.name = stem + letter + ".weight";
      part.shape = {layer.rows, columns};
      part.bytes = static_cast<std::uint64_t>(layer.rows * kernels::row_bytes(layer.type, columns));
      part.packed = static_cast<std::int32_t>(contents.packed.size());
      tensors.push_back(std::move(part));
      contents.packed.push_back(std::move(layer));
    }
  }
  contents.tensors = std::move(tensors);
  return {};
}

}  // namespace fovea::checkpoint
