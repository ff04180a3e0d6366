#include "app/library/stores.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>

#include "app/files/folders.h"
#include "app/library/data_folder.h"
#include "engine/api/prepare.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

// That one thread quantises and writes, as measured for q4 and q2 on two cores with AVX2. Copies of the
// file's own format are faster, the grids of q4e slower: a rough guess.
constexpr double weights_per_second = 5.5e6;

// "file-q4-q2" between a fingerprint and the end: the tiers.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('-', at), text.size());
    if (const std::string part = text.substr(at, end - at); part != "linear") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

}  // namespace

fs::path stores_folder() {
  return data_folder() / "stores";
}

std::vector<StoreFile> stores_of(const fs::path& model, const fs::path& folder) {
  std::vector<fs::path> there = entries_of(folder);
  std::erase_if(there, [](const fs::path& path) { return path.extension() != ".store"; });
  if (there.empty()) return {};  // without reading the model
  PrepareRequest request;
  request.model = model;
  request.tiers = {"file"};  // the fingerprint is the same for all
  const auto plan = describe_store(request);
  if (!plan) return {};
  char fingerprint[16];
  std::snprintf(fingerprint, sizeof fingerprint, "-%08llx-",
                static_cast<unsigned long long>(plan->model_fingerprint >> 32));
  std::vector<StoreFile> found;
  for (const fs::path& path : there) {
    const std::string name = path.stem().string();
    const std::size_t at = name.find(fingerprint);
    if (at == name.npos) continue;
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
    if (!error) found.push_back({path, split(name.substr(at + 10)), bytes});
  }
  return found;
}

StoreNeed store_need(const fs::path& model, const Plan& plan, const fs::path& stores,
                     const std::string& device) {
  StoreNeed need;
  if (plan.parts.experts.empty()) return need;
  PrepareRequest request;
  request.model = model;
  request.device = device;
  for (const PlanTier& tier : plan.parts.experts) request.tiers.push_back(tier.name);
  const auto store = describe_store(request, stores);
  if (!store) return need;
  need.needed = true;
  need.bytes = store->bytes;
  need.there = !store->found.empty();
  need.free_bytes = free_disk_bytes(stores).value_or(0);
  const double versions = static_cast<double>(store->parameters) * static_cast<double>(store->tiers.size());
  const double threads = std::max(1U, std::thread::hardware_concurrency());
  need.seconds = versions / (weights_per_second * threads);
  return need;
}

}  // namespace fovea::app
