// Qwen3-Next's folders, and GGUF files that were made before 2026, have one matrix for q, k, v and z of gated
// delta: for each key head the rows of its q and its k, then the rows of v and of z of the value heads that
// it serves. Here it becomes the four matrices that other files have.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"

namespace fovea::checkpoint {
namespace {

struct Names {
  std::string_view joined;                // behind the layer's part of the name
  std::array<std::string_view, 4> apart;  // q, k, v, z
};
constexpr Names folder_names{".linear_attn.in_proj_qkvz.weight",
                             {".linear_attn.in_proj_q.weight", ".linear_attn.in_proj_k.weight",
                              ".linear_attn.in_proj_v.weight", ".linear_attn.in_proj_z.weight"}};
constexpr Names gguf_names{".ssm_in.weight",
                           {".attn_q.weight", ".attn_k.weight", ".attn_v.weight", ".attn_gate.weight"}};

constexpr std::int64_t max_size = 1 << 20;

// Without one that could be a size: 0.
struct Sizes {
  std::int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
};

// config.json's number, or what transformers takes without it.
std::int64_t size_in(const nlohmann::json& config, const char* name, std::int64_t otherwise) {
  const auto found = config.find(name);
  if (found == config.end()) return otherwise;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > max_size) return 0;
  return found->get<std::int64_t>();
}

Sizes sizes_in(const nlohmann::json& config) {
  return {.key_heads = size_in(config, "linear_num_key_heads", 16),
          .value_heads = size_in(config, "linear_num_value_heads", 32),
          .key_dim = size_in(config, "linear_key_head_dim", 128),
          .value_dim = size_in(config, "linear_value_head_dim", 128)};
}

Sizes sizes_in(const Metadata& metadata) {
  const auto size = [&](const char* name) {
    const std::int64_t value = metadata.integer("qwen3next.ssm." + std::string(name)).value_or(0);
    return value < max_size * max_size ? value : 0;
  };
  const std::int64_t value_heads = size("time_step_rank");
  return {.key_heads = size("group_count"),
          .value_heads = value_heads,
          .key_dim = size("state_size"),
          .value_dim = value_heads > 0 ? size("inner_size") / value_heads : 0};
}

}  // namespace

Result<void> Opener::joined_projections(Contents& contents) {
  const bool is_gguf = contents.format == Format::gguf;
  const Names& names = is_gguf ? gguf_names : folder_names;
  const Sizes sizes = is_gguf ? sizes_in(contents.metadata) : sizes_in(contents.config);
  const std::int64_t key_heads = sizes.key_heads, keys = sizes.key_dim;
  std::vector<TensorInfo> tensors;
  for (TensorInfo& tensor : std::exchange(contents.tensors, {})) {
    if (!std::string_view(tensor.name).ends_with(names.joined)) {
      tensors.push_back(std::move(tensor));
      continue;
    }
    const std::int64_t values = key_heads > 0 ? sizes.value_heads / key_heads * sizes.value_dim : 0;
    const std::int64_t of_head = 2 * (keys + values);  // rows
    if (std::min({key_heads, sizes.value_heads, keys, sizes.value_dim}) < 1 ||
        std::max({key_heads, sizes.value_heads, keys, sizes.value_dim}) > max_size ||
        sizes.value_heads % key_heads != 0 || tensor.shape.size() != 2 ||
        tensor.shape[0] != key_heads * of_head || tensor.shape[1] < 1) {
      return damaged(contents.files[tensor.file], tensor.offset,
                     errors::joined_shape(in_quotes(tensor.name), tensor.shape, phrases::joined_qkvz()));
    }
    const std::string stem = tensor.name.substr(0, tensor.name.size() - names.joined.size());
    const std::int64_t columns = tensor.shape[1];
    std::int64_t first = 0;
    for (std::size_t i = 0; i < names.apart.size(); ++i) {
      const std::int64_t rows = i < 2 ? keys : values;
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
      part.name = stem + std::string(names.apart[i]);
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
