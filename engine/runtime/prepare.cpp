#include "engine/runtime/prepare.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/precision/calibrate.h"
#include "engine/precision/closer_tier.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/prepare.h"
#include "engine/precision/prepare_divergence.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/text/text_model.h"

namespace fovea {
namespace {

using checkpoint::Store;
using precision::UnitScope;

// A model's shapes and mapped weights, and what is to be made of them.
struct Source {
  const kernels::Device* device;    // that the store is for
  const kernels::Device* computes;  // that reads the calibration's text
  checkpoint::Checkpoint checkpoint;
  precision::UnitTable units;
  precision::TierSet tiers;
};

UnitScope unit_scope(PrepareScope scope, const models::ModelConfig& config) {
  if (scope == PrepareScope::experts) return UnitScope::experts;
  if (scope == PrepareScope::linear_layers) return UnitScope::linear_layers;
  return config.experts() > 0 ? UnitScope::experts : UnitScope::linear_layers;
}

// "file" and the two highest tiers below it.
std::vector<std::string> default_tiers(const precision::UnitTable& units) {
  std::vector<std::string> tiers{"file"};
  for (const char* name : {"bf16", "q8", "q4", "q3", "q2"}) {
    std::vector<std::string> longer = tiers;
    longer.emplace_back(name);
    if (tiers.size() < 3 && precision::parse_tiers(longer, units)) tiers = std::move(longer);
  }
  return tiers;
}

Result<Source> open_source(const PrepareRequest& request, const kernels::Device* device) {
  const kernels::Device* computes = device;
  if (!device->memory_is_host()) {
    FOVEA_TRY(computes, runtime::chosen_device({}));
  }
  FOVEA_TRY(auto checkpoint, checkpoint::Checkpoint::open(request.model));
  FOVEA_TRY(const models::ModelConfig config, models::read_config(checkpoint));
  FOVEA_TRY(const models::WeightPlan plan, models::plan_weights(checkpoint, config));
  precision::UnitTable units(plan, unit_scope(request.scope, config));
  if (units.size() == 0)
    return fail(phrases::file_place(request.model), errors::dense_model_has_no_experts());
  const auto names = request.tiers.empty() ? default_tiers(units) : request.tiers;
  FOVEA_TRY(auto tiers, precision::parse_tiers(names, units));
  FOVEA_CHECK(precision::check_tiers(units, tiers));
  return Source{device, computes, std::move(checkpoint), std::move(units), std::move(tiers)};
}

Result<void> check(const PrepareRequest& request) {
  const CalibrationRequest& c = request.calibration;
  const auto out_of_range = [](const char* name, std::int64_t value, std::int64_t min, std::int64_t max) {
    return fail(phrases::option_place(name), errors::value_out_of_range(value, phrases::from_to(min, max)));
  };
  constexpr std::int64_t max_tokens = std::int64_t{1} << 30;
  if (request.threads < 0 || request.threads > 1024) return out_of_range("threads", request.threads, 0, 1024);
  if (c.tokens < 16 || c.tokens > max_tokens)
    return out_of_range("calibration tokens", c.tokens, 16, max_tokens);
  if (c.window < 16 || c.window > 65536) return out_of_range("calibration window", c.window, 16, 65536);
  if (c.rows_per_unit < 0 || c.rows_per_unit > 65536)
    return out_of_range("calibration rows", c.rows_per_unit, 0, 65536);
  if (c.divergence_tokens < -1 || c.divergence_tokens > max_tokens)
    return out_of_range("divergence tokens", c.divergence_tokens, -1, max_tokens);
  if (c.divergence_tokens > 0 && c.text.empty())
    return fail(phrases::option_place("divergence tokens"), errors::divergence_needs_text());
  return {};
}

// What the calibration's text becomes.
struct Reading {
  precision::Windows windows;
  precision::Windows divergence_windows;  // empty: not measured
  precision::CalibrationSettings settings;
};

std::int64_t divergence_tokens(const CalibrationRequest& request, UnitScope scope) {
  if (request.divergence_tokens >= 0) return request.divergence_tokens;
  return scope == UnitScope::experts ? usual_divergence_tokens : 0;
}

Result<Reading> read_text(const PrepareRequest& request, const Source& source, int threads) {
  FOVEA_TRY(const auto text, text::open_text_model(source.checkpoint));
  const CalibrationRequest& c = request.calibration;
  const std::vector<TokenId> tokens = text->encode(c.text);
  const TokenId begin = text->begin().value_or(-1);
  Reading reading{.windows = precision::cut_windows(tokens, c.tokens, c.window, begin),
                  .divergence_windows = {},
                  .settings = {.rows_per_unit = c.rows_per_unit, .threads = threads}};
  if (const std::int64_t measured = divergence_tokens(c, source.units.scope()); measured > 0)
    reading.divergence_windows =
        precision::cut_windows(tokens, measured, std::min(c.window, measured), begin);
  return reading;
}

bool has_divergences(const Store& store) {
  const auto tiers = std::ssize(store.identity().tiers);
  for (std::int64_t i = 0; i < store.identity().units * tiers; ++i) {
    if (store.extent(i / tiers, i % tiers).divergence < 0) return false;
  }
  return true;
}

// The store that is there already, if it will do; none where it is to be made. `recalibrated`: because it was
// made without this calibration.
Result<std::optional<Store>> find_store(const PrepareRequest& request,
                                        const checkpoint::StoreIdentity& expected, bool& recalibrated) {
  recalibrated = false;
  auto store = Store::open(request.store, expected);
  if (!store && store.error().kind == ErrorKind::not_found) return std::nullopt;
  if (request.rebuild && checkpoint::begins_as_store(request.store)) return std::nullopt;
  if (!store) return std::unexpected(store.error());
  const bool other_text = expected.calibration != 0 && store->identity().calibration != expected.calibration;
  const bool unmeasured = request.calibration.divergence_tokens > 0 && !has_divergences(*store);
  recalibrated = (other_text || unmeasured) && request.recalibrate;
  if (recalibrated) return std::nullopt;
  if (other_text || unmeasured)
    return fail(phrases::file_place(request.store),
                other_text ? errors::store_without_calibration() : errors::store_without_divergences());
  return std::optional(std::move(*store));
}

PreparedTier summary(const Store& store, const Source& source, std::int64_t tier) {
  const precision::Tier& t = source.tiers[static_cast<std::size_t>(tier)];
  PreparedTier out;
  out.name = t.name;
  double bits = 0, outputs = 0, divergence = 0;
  std::int64_t measured = 0, diverged = 0;
  for (precision::UnitId id = 0; id < source.units.size(); ++id) {
    const checkpoint::Extent& e = store.extent(id, tier);
    out.bytes += e.bytes;
    bits +=
        precision::bits_per_weight(t, source.units[id]) * static_cast<double>(source.units[id].parameters());
    out.weight_error_mean += static_cast<double>(e.weight_error);
    out.weight_error_max = std::max(out.weight_error_max, static_cast<double>(e.weight_error));
    if (e.calibration_tokens > 0) {
      ++measured;
      outputs += static_cast<double>(e.output_error);
      out.output_error_max = std::max(out.output_error_max, static_cast<double>(e.output_error));
    }
    if (e.divergence >= 0) {
      ++diverged;
      divergence += static_cast<double>(e.divergence);
    }
  }
  out.bits_per_weight = bits / static_cast<double>(source.units.parameters());
  out.weight_error_mean /= static_cast<double>(source.units.size());
  if (measured > 0) out.output_error_mean = outputs / static_cast<double>(measured);
  if (diverged > 0) out.divergence_mean = divergence / static_cast<double>(diverged);
  return out;
}

PrepareReport report(const Store& store, const Source& source) {
  PrepareReport out;
  out.path = store.path();
  out.bytes = store.file_bytes();
  out.units = source.units.size();
  for (std::int64_t tier = 0; tier < std::ssize(source.tiers); ++tier)
    out.tiers.push_back(summary(store, source, tier));
  for (precision::UnitId id = 0; id < source.units.size(); ++id)
    out.calibrated_units += store.extent(id, 0).calibration_tokens > 0 ? 1 : 0;
  return out;
}

// Reads the text with the model as its file has it, and gives the model's memory back unless it is needed.
struct Calibrated {
  std::optional<precision::Calibration> calibration;
  std::optional<models::Model> model;
};
Result<Calibrated> run_calibration(const PrepareRequest& request, const Source& source,
                                   const Reading& reading, const ProgressSink& progress,
                                   const std::stop_token& stop) {
  FOVEA_TRY(auto checkpoint, checkpoint::Checkpoint::open(request.model));
  FOVEA_TRY(auto model, models::Model::load(std::move(checkpoint), *source.computes, reading.settings.threads,
                                            progress, stop));
  Calibrated out;
  FOVEA_TRY(out.calibration, precision::calibrate(model, source.units, *source.computes, reading.windows,
                                                  reading.settings, progress, stop));
  log::info("precision", "the calibration reached ", out.calibration->reached_units(), " of ",
            source.units.size(), " units");
  if (!reading.divergence_windows.empty()) out.model.emplace(std::move(model));
  return out;
}

// A store for another device is measured by versions that are made again for the one that computes; they are
// gone afterwards.
Result<void> measure(const PrepareRequest& request, const Source& source,
                     const precision::PrepareParts& parts, const Reading& reading, models::Model& model,
                     checkpoint::StoreWriter& store, const ProgressSink& progress,
                     const std::stop_token& stop) {
  const auto with = [&](const precision::MeasuredVersions& versions) {
    return precision::measure_divergences(model, source.units, source.tiers, *source.computes, versions,
                                          store, reading.divergence_windows, reading.settings.threads,
                                          progress, stop);
  };
  if (source.device == source.computes) return with({store});
  const std::int64_t first = precision::first_measured_tier(source.units, source.tiers);
  const precision::TierSet tiers(source.tiers.begin() + first, source.tiers.end());
  const precision::PrepareParts again{.checkpoint = source.checkpoint,
                                      .units = source.units,
                                      .tiers = tiers,
                                      .device = *source.computes,
                                      .computes = *source.computes,
                                      .calibration = parts.calibration};
  const std::filesystem::path path = request.store.string() + ".measured";
  FOVEA_TRY(const auto versions,
            precision::write_versions(again, path, reading.settings.threads, progress, stop));
  FOVEA_CHECK(with({versions, first}));
  std::error_code ignored;
  std::filesystem::remove(path.string() + ".part", ignored);
  return {};
}

Result<PrepareReport> make_store(const PrepareRequest& request, const kernels::Device* device,
                                 const ProgressSink& progress, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  FOVEA_CHECK(check(request));
  const int threads = request.threads > 0 ? request.threads : runtime::physical_cores();
  FOVEA_TRY(const Source source, open_source(request, device));
  checkpoint::StoreIdentity identity =
      precision::store_identity(source.checkpoint, source.units, source.tiers, *source.device);
  std::optional<Reading> reading;
  if (!request.calibration.text.empty()) {
    FOVEA_TRY(reading, read_text(request, source, threads));
    identity.calibration = precision::calibration_fingerprint(reading->windows, reading->settings);
  }
  bool recalibrated = false;
  FOVEA_TRY(const auto there, find_store(request, identity, recalibrated));
  if (there) {
    PrepareReport out = report(*there, source);
    out.seconds = seconds();
    out.was_there = true;
    return out;
  }
  Calibrated calibrated;
  if (reading) {
    FOVEA_TRY(calibrated, run_calibration(request, source, *reading, progress, stop));
  }
  const precision::PrepareParts parts{
      .checkpoint = source.checkpoint,
      .units = source.units,
      .tiers = source.tiers,
      .device = *source.device,
      .computes = *source.computes,
      .calibration = calibrated.calibration ? &*calibrated.calibration : nullptr};
  FOVEA_TRY(auto writer, precision::write_versions(parts, request.store, threads, progress, stop));
  if (calibrated.model) {
    FOVEA_CHECK(measure(request, source, parts, *reading, *calibrated.model, writer, progress, stop));
  }
  if (progress) progress({Progress::Stage::writing, 0, 0, Progress::Unit::bytes, {}});
  FOVEA_CHECK(writer.finish());
  FOVEA_TRY(const Store store, Store::open(request.store, identity));
  PrepareReport out = report(store, source);
  out.seconds = seconds();
  out.recalibrated = recalibrated;
  log::info("precision", "made ", request.store.string(), " in ", out.seconds, " s: ", out.bytes, " bytes, ",
            out.units, " units, ", threads, " threads");
  return out;
}

}  // namespace

Result<StorePlan> describe_store(const PrepareRequest& request, const std::filesystem::path& folder) {
  return exhaustion_as_error([&]() -> Result<StorePlan> {
    FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(request.device));
    FOVEA_TRY(const Source source, open_source(request, device));
    const auto identity =
        precision::store_identity(source.checkpoint, source.units, source.tiers, *source.device);
    const auto sizes = precision::version_sizes(source.units, source.tiers, *source.device);
    return StorePlan{
        .name = precision::store_name(request.model, identity),
        .model_fingerprint = identity.model_fingerprint,
        .scope = identity.scope,
        .tiers = identity.tiers,
        .units = identity.units,
        .parameters = source.units.parameters(),
        .bytes = checkpoint::store_bytes(identity, sizes),
        .found =
            folder.empty()
                ? std::filesystem::path()
                : precision::find_store(folder, request.model, identity).value_or(std::filesystem::path())};
  });
}

Result<std::optional<CloserTier>> closer_tier(const PrepareRequest& request) {
  return exhaustion_as_error([&]() -> Result<std::optional<CloserTier>> {
    FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(request.device));
    FOVEA_TRY(const Source source, open_source(request, device));
    return precision::closer_tier(source.checkpoint, source.units, source.tiers);
  });
}

Result<PrepareReport> prepare(const PrepareRequest& request, const ProgressSink& progress,
                              std::stop_token stop) {
  return exhaustion_as_error([&]() -> Result<PrepareReport> {
    FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(request.device));
    return make_store(request, device, progress, stop);
  });
}

Result<PrepareReport> runtime::prepare(const PrepareRequest& request, const kernels::Device& device,
                                       const ProgressSink& progress, std::stop_token stop) {
  return exhaustion_as_error([&] { return make_store(request, &device, progress, stop); });
}

}  // namespace fovea
