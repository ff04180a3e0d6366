// gpt-oss' folders hold the experts of a layer in two tensors, gate_up_proj and down_proj, each with biases:
// in gate_up_proj the rows of gate and of up take turns. The published folders have them as MXFP4, blocks of
// 32 weights [experts, outputs, blocks, 16] and a scale for each; folders of floats have rows and columns
// swapped, [experts, inputs, outputs]. Here they become the tensors that other families have,
// gate_proj.weight, up_proj.weight and down_proj.weight [experts, outputs, inputs], and their .bias
// [experts, outputs]; their rows are put together when they are read.
#include <algorithm>
#include <cstring>
#include <map>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"
#include "kernels/formats/blocks.h"

namespace fovea::checkpoint {
namespace {

using kernels::Type;
using kernels::formats::BlockMxfp4;
using Contents = Opener::Contents;

constexpr std::int64_t block_weights = 32;
constexpr std::int64_t block_codes = 16;  // bytes

// Byte i of the folder's block has the weights 2 i and 2 i + 1; of BlockMxfp4 the weights i and i + 16.
void read_block(const std::byte* codes, std::byte scale, std::byte* out) {
  BlockMxfp4 block{};
  block.e = static_cast<std::uint8_t>(scale);
  for (std::size_t i = 0; i < block_codes; ++i) {
    const auto half = [&](std::size_t weight) {
      return static_cast<unsigned>(codes[weight / 2]) >> (weight % 2 * 4) & 15U;
    };
    block.qs[i] = static_cast<std::uint8_t>(half(i) | half(i + block_codes) << 4);
  }
  std::memcpy(out, &block, sizeof block);
}

// What a tensor of the folder holds, by its name's end.
struct Kind {
  std::string_view suffix;
  bool is_pair;    // gate and up in turns
  bool is_matrix;  // else biases
};
constexpr Kind kinds[] = {{".mlp.experts.gate_up_proj", true, true},
                          {".mlp.experts.down_proj", false, true},
                          {".mlp.experts.gate_up_proj_bias", true, false},
                          {".mlp.experts.down_proj_bias", false, false}};

class Joined {
 public:
  explicit Joined(Contents& contents) : contents_(contents) {}

  Result<void> run(const std::vector<PackedEntry>& entries) {
    std::vector<TensorInfo> kept;
    for (TensorInfo& tensor : std::exchange(contents_.tensors, {})) {
      const auto* const kind = std::ranges::find_if(
          kinds, [&](const Kind& k) { return std::string_view(tensor.name).ends_with(k.suffix); });
      if (kind == std::end(kinds)) {
        kept.push_back(std::move(tensor));
      } else {
        FOVEA_CHECK(take_floats(tensor, *kind));
      }
    }
    FOVEA_CHECK(take_blocks(entries));
    std::ranges::move(kept, std::back_inserter(contents_.tensors));
    return {};
  }

 private:
  const std::byte* data(std::uint32_t file, std::uint64_t offset) const {
    return contents_.maps[file].bytes().data() + offset;
  }

  // One tensor of Fovea's: [matrices, rows, columns], or without matrices [rows, columns].
  struct Part {
    std::string name;
    Type type;
    std::vector<std::int64_t> shape;
    JoinedRows rows;
    std::vector<PackedLayer::Region> regions;
  };

  void add(Part part) {
    PackedLayer layer;
    layer.type = part.type;
    layer.columns = part.shape.back();
    layer.rows = 1;
    for (std::size_t i = 0; i + 1 < part.shape.size(); ++i) layer.rows *= part.shape[i];
    layer.joined = part.rows;
    layer.regions = std::move(part.regions);
    TensorInfo info;
    info.name = std::move(part.name);
    info.type = part.type;
    info.shape = std::move(part.shape);
    info.file = layer.regions.front().file;
    info.offset = layer.regions.front().offset;
    info.bytes = static_cast<std::uint64_t>(layer.rows * kernels::row_bytes(layer.type, layer.columns));
    info.packed = static_cast<std::int32_t>(contents_.packed.size());
    contents_.tensors.push_back(std::move(info));
    contents_.packed.push_back(std::move(layer));
  }

  // gate and up of a pair, or the tensor itself. `stem` ends before gate_up_proj or down_proj; part(which of
  // the two, of how many, name) says what it is.
  template <class F>
  void add_parts(const std::string& stem, bool is_pair, std::string_view ending, F&& part) {
    if (!is_pair) return add(part(0, 1, stem + "down_proj" + std::string(ending)));
    add(part(0, 2, stem + "gate_proj" + std::string(ending)));
    add(part(1, 2, stem + "up_proj" + std::string(ending)));
  }

  static std::string stem_of(const std::string& name) {
    constexpr std::string_view folder = ".mlp.experts.";
    return name.substr(0, name.find(folder) + folder.size());
  }

  Result<void> take_floats(const TensorInfo& tensor, const Kind& kind) {
    const auto& shape = tensor.shape;
    const std::size_t dimensions = kind.is_matrix ? 3 : 2;
    if (shape.size() != dimensions || std::ranges::min(shape) < 1 ||
        (kind.is_pair && shape.back() % 2 != 0)) {
      return damaged(
          contents_.files[tensor.file], tensor.offset,
          errors::joined_shape(in_quotes(tensor.name), shape,
                               kind.is_matrix ? phrases::joined_floats() : phrases::joined_biases()));
    }
    const std::int64_t outputs = shape.back();
    add_parts(stem_of(tensor.name), kind.is_pair, kind.is_matrix ? ".weight" : ".bias",
              [&](std::int64_t which, std::int64_t step, std::string name) {
                const std::int64_t rows = outputs / step;
                JoinedRows joined{.data = data(tensor.file, tensor.offset), .first = which};
                Part part{.name = std::move(name),
                          .type = tensor.type,
                          .shape = {shape[0], rows},
                          .rows = {},
                          .regions = {{tensor.file, tensor.offset, tensor.bytes}}};
                if (kind.is_matrix) {
                  part.shape.push_back(shape[1]);
                  joined.rows = rows;
                  joined.matrix = shape[1] * outputs;
                  joined.row = step;
                  joined.column = outputs;
                } else {
                  joined.rows = shape[0];
                  joined.row = outputs;
                  joined.column = step;
                }
                part.rows = joined;
                return part;
              });
    return {};
  }

  Result<void> take_blocks(const std::vector<PackedEntry>& entries) {
    struct Pair {
      const PackedEntry *blocks = nullptr, *scales = nullptr;
    };
    std::map<std::string, Pair> found;
    for (const PackedEntry& each : entries) {
      const std::string& name = each.entry.name;
      constexpr std::string_view blocks = "_blocks", scales = "_scales";
      const bool is_blocks = name.ends_with(blocks);
      const std::string whole = name.substr(0, name.size() - std::min(name.size(), blocks.size()));
      const bool known = whole.ends_with(kinds[0].suffix) || whole.ends_with(kinds[1].suffix);
      if (!known || each.entry.dtype != "U8" || (!is_blocks && !name.ends_with(scales)))
        return not_a_weight(each.entry, contents_.files[each.file], each.entry.offset);
      Pair& pair = found[whole];
      const PackedEntry*& place = is_blocks ? pair.blocks : pair.scales;
      if (place != nullptr) {
        return damaged(contents_.files[each.file], each.entry.offset,
                       errors::packed_tensor_twice(in_quotes(name), contents_.files[place->file]));
      }
      place = &each;
    }
    for (const auto& [name, pair] : found) FOVEA_CHECK(take_pair(name, pair.blocks, pair.scales));
    return {};
  }

  Result<void> take_pair(const std::string& name, const PackedEntry* blocks, const PackedEntry* scales) {
    if (blocks == nullptr || scales == nullptr) {
      const PackedEntry& other = *(blocks != nullptr ? blocks : scales);
      return damaged(
          contents_.files[other.file], other.entry.offset,
          errors::packed_tensor_missing(in_quotes(name + (blocks != nullptr ? "_scales" : "_blocks")),
                                        in_quotes(other.entry.name)));
    }
    const bool is_pair = name.ends_with(kinds[0].suffix);
    const auto& shape = blocks->entry.shape;
    if (shape.size() != 4 || std::ranges::min(shape) < 1 || shape[3] != block_codes ||
        (is_pair && shape[1] % 2 != 0)) {
      return damaged(contents_.files[blocks->file], blocks->entry.offset,
                     errors::joined_shape(in_quotes(blocks->entry.name), shape, phrases::joined_blocks()));
    }
    if (!std::ranges::equal(scales->entry.shape, std::span(shape).first(3))) {
      return damaged(
          contents_.files[scales->file], scales->entry.offset,
          errors::joined_shape(in_quotes(scales->entry.name), scales->entry.shape, phrases::joined_scales()));
    }
    add_parts(stem_of(name), is_pair, ".weight",
              [&](std::int64_t which, std::int64_t step, std::string part) {
                return Part{.name = std::move(part),
                            .type = Type::mxfp4,
                            .shape = {shape[0], shape[1] / step, shape[2] * block_weights},
                            .rows = {.data = data(blocks->file, blocks->entry.offset),
                                     .scales = data(scales->file, scales->entry.offset),
                                     .rows = shape[1] / step,
                                     .first = which * shape[2],
                                     .matrix = shape[1] * shape[2],
                                     .row = step * shape[2],
                                     .column = 1},
                            .regions = {{blocks->file, blocks->entry.offset, blocks->entry.bytes},
                                        {scales->file, scales->entry.offset, scales->entry.bytes}}};
              });
    return {};
  }

  Contents& contents_;
};

}  // namespace

// Column by column: of swapped rows and columns the rows of a column are neighbours in the file.
void JoinedRows::read(Type type, std::int64_t columns, std::int64_t first_row, std::int64_t count,
                      std::byte* out) const {
  const auto start = [&](std::int64_t r) {
    const std::int64_t index = first_row + r;
    return first + index / rows * matrix + index % rows * row;
  };
  const std::int64_t stride = kernels::row_bytes(type, columns);
  if (scales != nullptr) {
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t begin = start(r);
      for (std::int64_t c = 0; c < columns / block_weights; ++c)
        read_block(data + (begin + c) * block_codes, scales[begin + c],
                   out + r * stride + c * static_cast<std::int64_t>(sizeof(BlockMxfp4)));
    }
    return;
  }
  if (column == 1) {
    for (std::int64_t r = 0; r < count; ++r)
      std::memcpy(out + r * stride, data + kernels::row_bytes(type, start(r)),
                  static_cast<std::size_t>(stride));
    return;
  }
  const std::int64_t size = kernels::row_bytes(type, 1);
  constexpr std::int64_t together = 64;  // rows
  for (std::int64_t r = 0; r < count; r += together) {
    const std::int64_t height = std::min(together, count - r);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t i = r; i < r + height; ++i)
        std::memcpy(out + i * stride + c * size, data + (start(i) + c * column) * size,
                    static_cast<std::size_t>(size));
    }
  }
}

Result<void> Opener::joined_experts(const std::vector<PackedEntry>& entries, Contents& contents) {
  return Joined(contents).run(entries);
}

}  // namespace fovea::checkpoint
