// Finding the packed layers of a folder: X.qweight, X.qzeros, X.scales and X.g_idx become X.weight.
#include <map>
#include <optional>
#include <tuple>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"
#include "engine/core/log.h"

namespace fovea::checkpoint {

Phrase phrase_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::none:
      return phrases::rounding_none();
    case Rounding::scales:
      return phrases::rounding_scales();
    case Rounding::permuted:
      return phrases::rounding_permuted();
    case Rounding::groups:
      return phrases::rounding_groups();
    case Rounding::columns:
      return phrases::rounding_columns();
    case Rounding::zero_points:
      return phrases::rounding_zero_points();
  }
  return {};
}

namespace {

using Contents = Opener::Contents;

// Null when the name does not end so.
std::optional<std::string> stem(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  return std::string(name.substr(0, name.size() - suffix.size()));
}

class Assembly {
 public:
  Assembly(const Quantization& quantization, Contents& contents)
      : quantization_(quantization), contents_(contents) {}

  Result<void> run(const std::vector<PackedEntry>& entries) {
    FOVEA_CHECK(take_integers(entries));
    take_scales();
    for (const auto& [name, parts] : layers_) FOVEA_CHECK(add(name, parts));
    summarise();
    return {};
  }

 private:
  PackedPart part(std::string name, std::vector<std::int64_t> shape, std::uint32_t file, std::uint64_t offset,
                  std::uint64_t bytes) const {
    PackedPart part;
    part.name = std::move(name);
    part.file = contents_.files[file];
    part.shape = std::move(shape);
    part.file_index = file;
    part.offset = offset;
    part.data = contents_.maps[file].bytes().subspan(offset, bytes);
    return part;
  }

  Result<void> take_integers(const std::vector<PackedEntry>& entries) {
    struct Role {
      std::string_view suffix;
      std::optional<PackedPart> PackedParts::* part;
    };
    static constexpr Role roles[] = {{".qweight", &PackedParts::codes},
                                     {".qzeros", &PackedParts::zeros},
                                     {".g_idx", &PackedParts::groups}};
    for (const auto& [entry, file] : entries) {
      bool taken = false;
      for (const auto& [suffix, member] : roles) {
        const auto name = stem(entry.name, suffix);
        if (!name || entry.dtype != "I32") continue;
        auto& place = layers_[*name].*member;
        if (place) {
          return damaged(contents_.files[file], entry.offset,
                         errors::packed_tensor_twice(in_quotes(entry.name), place->file));
        }
        place = part(entry.name, entry.shape, file, entry.offset, entry.bytes);
        taken = true;
      }
      if (!taken) return not_a_weight(entry, contents_.files[file], entry.offset);
    }
    return {};
  }

  // Scales are floats, so they came as tensors. One that two files hold stays: the index will refuse it.
  void take_scales() {
    std::erase_if(contents_.tensors, [&](const TensorInfo& tensor) {
      const auto name = stem(tensor.name, ".scales");
      const auto layer = name ? layers_.find(*name) : layers_.end();
      if (layer == layers_.end() || layer->second.scales) return false;
      layer->second.scales = part(tensor.name, tensor.shape, tensor.file, tensor.offset, tensor.bytes);
      layer->second.scales->type = tensor.type;
      return true;
    });
  }

  Result<void> add(const std::string& name, const PackedParts& parts) {
    FOVEA_TRY(PackedLayer layer, check_packed(name, parts, quantization_));
    // Loading comes back for these.
    for (const auto& region : layer.regions) contents_.maps[region.file].drop(region.offset, region.bytes);
    TensorInfo info;
    info.name = name + ".weight";
    info.type = layer.type;
    info.shape = {layer.rows, layer.columns};
    info.file = layer.regions.front().file;
    info.offset = layer.regions.front().offset;
    info.bytes = static_cast<std::uint64_t>(layer.rows) *
                 static_cast<std::uint64_t>(kernels::row_bytes(layer.type, layer.columns));
    info.packed = static_cast<std::int32_t>(contents_.packed.size());
    ++outcomes_[{layer.bits, layer.type, layer.rounding}];
    contents_.tensors.push_back(std::move(info));
    contents_.packed.push_back(std::move(layer));
    return {};
  }

  void summarise() {
    if (outcomes_.empty()) return;
    std::vector<Phrase> lines;
    for (const auto& [outcome, count] : outcomes_) {
      const auto& [bits, type, rounding] = outcome;
      lines.push_back(phrases::conversion_outcome(count, bits, kernels::type_name(type), rounding));
      const bool exact = rounding == Rounding::none;
      const std::string where = contents_.path.string();
      if (exact) {
        log::info("checkpoint", where, ": ", english(lines.back()));
      } else {
        log::warning("checkpoint", where, ": ", english(lines.back()));
      }
    }
    contents_.conversion = phrases::conversion(quantization_.method, std::move(lines));
  }

  const Quantization& quantization_;
  Contents& contents_;
  std::map<std::string, PackedParts> layers_;
  std::map<std::tuple<int, kernels::Type, Rounding>, int> outcomes_;
};

}  // namespace

Result<void> Opener::packed_layers(const Quantization& quantization, const std::vector<PackedEntry>& entries,
                                   Contents& contents) {
  return Assembly(quantization, contents).run(entries);
}

}  // namespace fovea::checkpoint
