#include "engine/precision/fingerprint.h"

#include <algorithm>
#include <bit>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/checkpoint/checksum.h"

namespace fovea::precision {
namespace {

using checkpoint::Checkpoint;
using checkpoint::RunningChecksum;
using checkpoint::TensorInfo;

constexpr std::size_t sample_bytes = 1024;
constexpr std::size_t samples_each = 3;  // at the tensor's beginning, middle and end
constexpr std::size_t sampled_tensors = 2048;

void add_number(RunningChecksum& sum, std::uint64_t value) {
  sum.add(std::as_bytes(std::span(&value, 1)));
}

void add_description(RunningChecksum& sum, const TensorInfo& tensor) {
  add_number(sum, tensor.name.size());
  sum.add(std::as_bytes(std::span(tensor.name)));
  add_number(sum, static_cast<std::uint64_t>(tensor.type));
  add_number(sum, tensor.shape.size());
  for (const std::int64_t extent : tensor.shape) add_number(sum, static_cast<std::uint64_t>(extent));
}

void add_samples(RunningChecksum& sum, std::span<const std::byte> data) {
  if (data.size() <= samples_each * sample_bytes) {
    sum.add(data);
    return;
  }
  const std::size_t last = data.size() - sample_bytes;
  for (std::size_t i = 0; i < samples_each; ++i)
    sum.add(data.subspan(last / (samples_each - 1) * i, sample_bytes));
}

std::string hexadecimal(std::uint64_t value, int digits) {
  std::string text;
  for (int digit = 0; digit < digits; ++digit) text += "0123456789abcdef"[value >> (60 - 4 * digit) & 15];
  return text;
}

}  // namespace

std::uint64_t model_fingerprint(const Checkpoint& checkpoint) {
  std::vector<const TensorInfo*> tensors;
  for (const TensorInfo& tensor : checkpoint.tensors()) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, &TensorInfo::name);
  const std::size_t step = std::max<std::size_t>(1, (tensors.size() + sampled_tensors - 1) / sampled_tensors);
  RunningChecksum sum;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_description(sum, *tensors[i]);
    if (i % step == 0) add_samples(sum, checkpoint.identifying_bytes(*tensors[i]));
  }
  return sum.value();
}

std::string packing_name(const kernels::Device& device) {
  constexpr std::int64_t usual = 1024;
  const kernels::Packing packing = device.preferred_packing(kernels::Type::q8_0, usual, usual);
  const std::string name = device.name();  // one store serves "cuda:0" and "cuda:1"
  // Raised with every change of a card's packing.
  const char* const version = device.memory_is_host() ? "" : ".2";
  return name.substr(0, name.find(':')) + (packing == kernels::Packing::tiles ? "-tiles-" : "-rows-") +
         std::to_string(device.pack_granularity(packing)) + version;
}

std::string scope_name(UnitScope scope) {
  return scope == UnitScope::linear_layers ? "linear_layers" : "experts";
}

checkpoint::StoreIdentity store_identity(const Checkpoint& checkpoint, const UnitTable& units,
                                         const TierSet& tiers, const kernels::Device& device) {
  checkpoint::StoreIdentity identity{.model_fingerprint = model_fingerprint(checkpoint),
                                     .packing = packing_name(device),
                                     .scope = scope_name(units.scope()),
                                     .quantizer_version = quantizer_version,
                                     .tiers = {},
                                     .units = units.size()};
  for (const Tier& tier : tiers) identity.tiers.push_back(tier.name);
  return identity;
}

std::vector<std::int64_t> version_sizes(const UnitTable& units, const TierSet& tiers,
                                        const kernels::Device& device) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(static_cast<std::size_t>(units.size()) * tiers.size());
  for (const Unit& unit : units.units()) {
    for (const Tier& tier : tiers) sizes.push_back(version_layout(tier, unit, device).bytes);
  }
  return sizes;
}

std::string store_fingerprint(const checkpoint::Store& store) {
  const checkpoint::StoreIdentity& identity = store.identity();
  RunningChecksum sum;
  add_number(sum, identity.model_fingerprint);
  add_number(sum, identity.quantizer_version);
  add_number(sum, identity.calibration);
  for (std::int64_t unit = 0; unit < identity.units; ++unit) {
    for (std::int64_t tier = 0; tier < std::ssize(identity.tiers); ++tier) {
      const checkpoint::Extent& extent = store.extent(unit, tier);
      add_number(sum, extent.checksum);
      for (const float error : {extent.weight_error, extent.output_error, extent.divergence})
        add_number(sum, std::bit_cast<std::uint32_t>(error));
      add_number(sum, extent.calibration_tokens);
    }
  }
  return hexadecimal(sum.value(), 16);
}

std::string store_name(const std::filesystem::path& model, const checkpoint::StoreIdentity& identity) {
  // A folder may be given with a slash at its end.
  const std::filesystem::path named = model.has_filename() ? model : model.parent_path();
  std::string name = (named.extension() == ".gguf" ? named.stem() : named.filename()).string() + "-" +
                     hexadecimal(identity.model_fingerprint, 8);
  for (const std::string& tier : identity.tiers) name += "-" + tier;
  if (identity.scope == scope_name(UnitScope::linear_layers)) name += "-linear";
  // So that a model can be used on the processor and on a GPU in turns, and an older packing's store is no
  // obstacle.
  const std::string device = identity.packing.substr(0, identity.packing.find('-'));
  const std::size_t version = identity.packing.find('.');
  if (!device.empty() && device != "cpu") name += "-" + device;
  if (version != std::string::npos) name += identity.packing.substr(version + 1);
  return name + ".store";
}

namespace {

struct NamedStore {
  std::filesystem::path path;
  checkpoint::StoreIdentity identity;
};

// The folder's stores of the same model for the same device, whatever tiers and calibration they have.
std::vector<NamedStore> stores_like(const std::filesystem::path& folder,
                                    const checkpoint::StoreIdentity& identity) {
  std::vector<NamedStore> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".store") continue;
    auto there = checkpoint::read_store_identity(entry.path());
    if (!there) continue;
    checkpoint::StoreIdentity same = *there;
    same.tiers = identity.tiers;
    same.calibration = identity.calibration;
    if (same == identity) found.push_back({entry.path(), *std::move(there)});
  }
  return found;
}

}  // namespace

std::optional<std::filesystem::path> find_store(const std::filesystem::path& folder,
                                                const std::filesystem::path& model,
                                                const checkpoint::StoreIdentity& identity) {
  std::error_code error;
  std::filesystem::path named = folder / store_name(model, identity);
  if (std::filesystem::exists(named, error)) return named;
  std::optional<std::tuple<bool, std::uintmax_t, std::filesystem::path>> best;
  for (const auto& [path, there] : stores_like(folder, identity)) {
    const bool holds = std::ranges::all_of(identity.tiers, [&](const std::string& tier) {
      return std::ranges::find(there.tiers, tier) != there.tiers.end();
    });
    if (!holds) continue;
    std::tuple candidate(there.calibration == 0, std::filesystem::file_size(path, error), path);
    if (!best || candidate < *best) best = std::move(candidate);
  }
  if (!best) return std::nullopt;
  return std::get<2>(*std::move(best));
}

std::vector<std::string> calibrated_tiers(const std::filesystem::path& folder,
                                          const checkpoint::StoreIdentity& identity) {
  std::vector<std::string> most;
  for (const NamedStore& store : stores_like(folder, identity)) {
    if (store.identity.calibration == 0) continue;
    std::vector<std::string> held;
    for (const std::string& tier : identity.tiers)
      if (std::ranges::find(store.identity.tiers, tier) != store.identity.tiers.end()) held.push_back(tier);
    if (held.size() > most.size()) most = std::move(held);
  }
  return most;
}

}  // namespace fovea::precision
