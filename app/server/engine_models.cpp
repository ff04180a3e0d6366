#include "app/server/engine_models.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>

#include "app/library/card_parts.h"
#include "app/library/device_choice.h"
#include "app/library/model_files.h"
#include "app/library/model_library.h"
#include "app/server/errors.h"
#include "app/server/served_engine.h"
#include "engine/api/devices.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = std::chrono::steady_clock;
using Paths =
    std::vector<std::pair<std::string, std::filesystem::path>>;  // with their names, the given first

std::int64_t modified_seconds(const std::filesystem::path& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

}  // namespace

struct EngineModels::Parts {
  struct Loaded {
    std::shared_ptr<ServedEngine> model;
    Clock::time_point used = Clock::now();
    std::optional<std::chrono::seconds> keep = {};  // else settings.idle_unload
    bool is_windows = false;                        // and stays until that closes it
  };

  EngineModelsSettings settings;
  Paths given;

  std::mutex mutex;  // guards what follows
  std::map<std::filesystem::path, Loaded> loaded;
  std::filesystem::path last;  // that was asked for
  bool is_loading = false;     // for a client
  bool is_exchanging = false;  // the window's model
  std::stop_source loading;    // ends the load in progress
  std::condition_variable_any loading_over;
  std::map<std::filesystem::path, std::pair<ModelFiles, ModelInfo>> known;  // inspected

  std::condition_variable_any wake;
  std::jthread keeper;  // unloads what nobody has asked for; the last to begin, the first to end

  // Every model's name and place. The lock is not held.
  Paths paths() {
    Paths all;
    {
      const std::scoped_lock lock(mutex);
      for (const auto& [path, each] : loaded)
        if (each.is_windows) all.emplace_back(each.model->name(), path);
    }
    all.insert(all.end(), given.begin(), given.end());
    const auto add = [&](const std::string& name, const std::filesystem::path& path) {
      const bool is_there = std::ranges::any_of(
          all, [&](const auto& each) { return each.first == name || is_same_file(each.second, path); });
      if (!is_there) all.emplace_back(name, path);
    };
    for (const LibraryEntry& entry : list_models(settings.folder)) add(entry.name, entry.path);
    if (settings.others)
      for (const auto& [name, path] : settings.others()) add(name, path);
    return all;
  }

  Result<std::pair<std::string, std::filesystem::path>> find(std::string name) {
    const Paths all = paths();
    const auto of_name = [&](const std::string& wanted) {
      return std::ranges::find(all, wanted, [](const auto& e) { return e.first; });
    };
    auto found = name.empty() ? all.begin() : of_name(name);
    constexpr std::string_view latest = ":latest";  // that clients of Ollama add
    if (found == all.end() && name.ends_with(latest))
      found = of_name(name.substr(0, name.size() - latest.size()));
    if (found != all.end()) return *found;
    if (all.empty()) return fail(phrases::server_request_place(), errors::server_no_models(name));
    std::vector<std::string> names;
    for (const auto& [each, path] : all) names.push_back(each);
    return fail(phrases::server_request_place(), errors::server_no_model(name.substr(0, 200), names));
  }

  // Of those that are loaded and that nobody asks just now, the one that was not asked for longest. The lock
  // is held.
  bool unload_one() {
    auto oldest = loaded.end();
    for (auto each = loaded.begin(); each != loaded.end(); ++each) {
      if (each->second.is_windows || each->second.model.use_count() > 1) continue;
      if (oldest == loaded.end() || each->second.used < oldest->second.used) oldest = each;
    }
    if (oldest == loaded.end()) return false;
    log::info("server", oldest->second.model->name(), " gives its memory to another model");
    loaded.erase(oldest);
    return true;
  }

  // Of a model on one device, which may be one of its two; 0: it has nothing there.
  static std::int64_t held_on(const DeviceInfo& device, const LoadPlan& plan) {
    const std::vector<std::string> names = names_of(plan.options.device);
    if (same_device(names.back(), device.name)) return plan.plan.total_bytes;
    const auto first = first_card_of(plan.plan);
    return first && same_device(names.front(), device.name) ? first->total_bytes : 0;
  }

  struct Room {
    std::int64_t available = 0;  // bytes, beside those that are loaded
    std::int64_t most = 0;       // … beside the window's alone
    bool is_enough = true;       // for the plan, on each of its devices
  };
  // What a model may have on its device, or on both. The lock is held.
  Result<Room> room(const LoadPlan& plan, const std::string& device) const {
    FOVEA_TRY(const auto all, devices());
    FOVEA_TRY(const ChosenDevice chosen, find_device(all, {.name = device}));
    Room sum;
    for (const DeviceInfo* each : {chosen.first, chosen.device}) {
      if (each == nullptr) continue;
      std::int64_t held = 0, of_window = 0;
      for (const auto& [path, one] : loaded) {
        const std::int64_t there = held_on(*each, one.model->plan());
        held += there;
        if (one.is_windows) of_window = there;
      }
      // Files that are mapped count as free memory, so that what models hold is counted here as well.
      const std::int64_t has = settings.device_bytes > 0 ? settings.device_bytes : each->memory_bytes;
      const std::int64_t free = settings.device_bytes > 0 ? has : room_on(*each, 0);
      const std::int64_t available = std::min(free, has - held);
      sum.available += available;
      sum.most += has - of_window;
      const bool is_first = each == chosen.first;
      sum.is_enough &= (is_first ? first_card_of(plan.plan).value_or(CardPart{}).total_bytes
                                 : plan.plan.total_bytes) <= available;
    }
    return sum;
  }

  Error no_room(const std::string& name, std::int64_t needed, std::int64_t available) const {
    const Bytes needs{needed}, has{std::max<std::int64_t>(available, 0)};
    std::vector<std::string> others;
    std::string open;
    for (const auto& [path, each] : loaded) {
      if (each.is_windows)
        open = each.model->name();
      else
        others.push_back(each.model->name());
    }
    if (!others.empty()) {
      if (!open.empty()) others.push_back(open);
      return errors::server_no_memory(name, needs, has, others);
    }
    if (!open.empty()) return errors::server_no_memory_beside_window(name, needs, has, open);
    return errors::server_never_memory(name, needs, has);
  }

  // Whether it fits, at the expense of models that nobody asks; none leaves for what can never fit.
  Result<void> make_room(const std::string& name, const LoadOptions& options) {
    for (;;) {
      FOVEA_TRY(const LoadPlan plan, plan_model(options));
      const bool fits = plan.plan.fits;
      const std::int64_t needed = fits ? total_of_all(plan.plan) : least_of_all(plan.plan);
      const std::scoped_lock lock(mutex);
      FOVEA_TRY(const Room has, room(plan, options.device));
      if (fits && has.is_enough) return {};
      if (needed <= has.most && unload_one()) continue;
      const std::int64_t budget =
          last_card_of(plan.plan).budget_bytes + first_card_of(plan.plan).value_or(CardPart{}).budget_bytes;
      return std::unexpected(
          no_room(name, needed, fits ? has.available : budget).at(phrases::server_request_place()));
    }
  }

  Result<std::shared_ptr<ServedEngine>> load(const std::string& name, const std::filesystem::path& path,
                                             const std::stop_token& stop) {
    FOVEA_TRY(const LoadOptions options, settings.options(path.string()));
    FOVEA_CHECK(make_room(name, options));
    log::info("server", "loading ", name);
    FOVEA_TRY(auto engine, Engine::load(options, {}, stop));
    return std::make_shared<ServedEngine>(name, std::move(engine));
  }

  // For a client. The lock is held before and behind it, and not meanwhile.
  Result<std::shared_ptr<ServedModel>> load_alone(const std::string& name, const std::filesystem::path& path,
                                                  std::unique_lock<std::mutex>& lock,
                                                  const std::stop_token& stop) {
    is_loading = true;
    loading = {};
    lock.unlock();
    auto model = [&] {
      const std::stop_callback end(stop, [this] { loading.request_stop(); });
      return load(name, path, loading.get_token());
    }();
    lock.lock();
    is_loading = false;
    loading_over.notify_all();
    if (!model) return std::unexpected(model.error());
    loaded[path] = {.model = *model};
    last = path;
    return *model;
  }

  std::shared_ptr<ServedEngine> use(const std::filesystem::path& path) {
    const auto found = loaded.find(path);
    if (found == loaded.end()) return nullptr;
    found->second.used = Clock::now();
    last = path;
    return found->second.model;
  }

  void look_after(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      bool is_swapping = false;
      std::vector<std::shared_ptr<ServedEngine>> unloaded;
      const auto now = Clock::now();
      for (auto each = loaded.begin(); each != loaded.end();) {
        Loaded& one = each->second;
        if (one.model.use_count() > 1) {
          one.used = now;
        } else if (!one.is_windows && is_over(one, now)) {
          log::info("server", one.model->name(), " is unloaded: nobody asked for it");
          unloaded.push_back(std::move(one.model));
          each = loaded.erase(each);
          continue;
        }
        is_swapping |= one.model->rest();
        ++each;
      }
      if (!unloaded.empty()) {  // which takes a while, and holds nobody up
        lock.unlock();
        unloaded.clear();
        lock.lock();
      }
      wake.wait_for(lock, stop, std::chrono::milliseconds(is_swapping ? 10 : 200), [] { return false; });
    }
  }
  bool is_over(const Loaded& one, Clock::time_point now) const {
    const std::chrono::seconds time = one.keep.value_or(settings.idle_unload);
    return (one.keep || time.count() > 0) && now - one.used >= time;
  }
};

EngineModels::EngineModels(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
EngineModels::~EngineModels() = default;

Result<std::unique_ptr<EngineModels>> EngineModels::open(EngineModelsSettings settings) {
  auto parts = std::make_unique<Parts>();
  parts->settings = std::move(settings);
  for (const std::string& model : parts->settings.given) {
    FOVEA_TRY(const auto path, resolve_model(model, parts->settings.folder));
    parts->given.emplace_back(model_name(path), path);
  }
  Parts* const its = parts.get();
  its->keeper = std::jthread([its](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "server models");
    its->look_after(stop);
  });
  return std::make_unique<EngineModels>(std::move(parts));
}

std::vector<std::string> EngineModels::given() const {
  std::vector<std::string> names;
  for (const auto& [name, path] : parts_->given) names.push_back(name);
  return names;
}

std::vector<ServedEntry> EngineModels::list() {
  std::vector<ServedEntry> entries;
  for (const auto& [name, path] : parts_->paths()) {
    const std::scoped_lock lock(parts_->mutex);
    entries.push_back({.name = name,
                       .path = path,
                       .file_bytes = files_of(path).bytes,
                       .modified = modified_seconds(path),
                       .is_loaded = parts_->loaded.contains(path)});
  }
  return entries;
}

Result<std::shared_ptr<ServedModel>> EngineModels::acquire(const std::string& wanted,
                                                           const std::stop_token& stop) {
  std::unique_lock lock(parts_->mutex, std::defer_lock);
  for (;;) {
    const auto entry = parts_->find(wanted);
    lock.lock();
    const bool is_coming = parts_->is_exchanging && wanted.empty();
    if (entry && !is_coming)
      if (auto model = parts_->use(entry->second)) return model;
    // One at a time, since each is planned beside those that are there.
    if (!parts_->is_loading && !parts_->is_exchanging) {
      if (!entry) return std::unexpected(entry.error());
      auto model = parts_->load_alone(entry->first, entry->second, lock, stop);
      // Where the window's model has come between, it has another turn.
      const bool again = !model && parts_->loading.stop_requested() && !stop.stop_requested();
      if (!again) return model;
    }
    const bool may_go_on = parts_->loading_over.wait(
        lock, stop, [this] { return !parts_->is_loading && !parts_->is_exchanging; });
    if (!may_go_on) return fail(errors::stopped_on_request());
    lock.unlock();
  }
}

void EngineModels::begin_exchange() {
  std::shared_ptr<ServedEngine> left;
  std::unique_lock lock(parts_->mutex);
  parts_->is_exchanging = true;
  parts_->loading.request_stop();
  for (auto each = parts_->loaded.begin(); each != parts_->loaded.end(); ++each) {
    if (!each->second.is_windows) continue;
    left = std::move(each->second.model);
    parts_->loaded.erase(each);
    break;
  }
  parts_->loading_over.wait(lock, [this] { return !parts_->is_loading; });
}

void EngineModels::make_room(const LoadOptions& next) {
  // Where it does not fit, who loads it says so.
  if (const auto made = parts_->make_room(model_name(next.model), next); !made)
    log::info("server", "the window's model: ", made.error().message());
}

void EngineModels::end_exchange(const std::filesystem::path& path, std::shared_ptr<ServedEngine> model) {
  std::vector<std::shared_ptr<ServedEngine>> replaced;  // goes without the lock
  const std::scoped_lock lock(parts_->mutex);
  if (model) {
    for (auto each = parts_->loaded.begin(); each != parts_->loaded.end();) {
      if (each->second.is_windows || is_same_file(each->first, path)) {
        replaced.push_back(std::move(each->second.model));
        each = parts_->loaded.erase(each);
      } else {
        ++each;
      }
    }
    parts_->loaded[path] = {.model = std::move(model), .is_windows = true};
    parts_->last = path;
  }
  parts_->is_exchanging = false;
  parts_->loading_over.notify_all();
}

Result<ModelInfo> EngineModels::inspect(const std::string& name) {
  FOVEA_TRY(const auto entry, parts_->find(name));
  const auto& path = entry.second;
  const ModelFiles files = files_of(path);
  {
    const std::scoped_lock lock(parts_->mutex);
    const auto known = parts_->known.find(path);
    if (known != parts_->known.end() && known->second.first == files) return known->second.second;
  }
  FOVEA_TRY(ModelInfo info, fovea::inspect(path));
  const std::scoped_lock lock(parts_->mutex);
  parts_->known[path] = {files, info};
  return info;
}

Result<LoadPlan> EngineModels::plan(const std::string& name) {
  FOVEA_TRY(const auto entry, parts_->find(name));
  {
    const std::scoped_lock lock(parts_->mutex);
    const auto found = parts_->loaded.find(entry.second);
    if (found != parts_->loaded.end()) return found->second.model->plan();
  }
  FOVEA_TRY(const LoadOptions options, parts_->settings.options(entry.second.string()));
  return plan_model(options);
}

std::shared_ptr<ServedModel> EngineModels::loaded() {
  const std::scoped_lock lock(parts_->mutex);
  const auto found = parts_->loaded.find(parts_->last);
  if (found != parts_->loaded.end()) return found->second.model;
  return parts_->loaded.empty() ? nullptr : parts_->loaded.begin()->second.model;
}

void EngineModels::keep(const std::string& name, std::chrono::seconds time) {
  const auto entry = parts_->find(name);
  if (!entry) return;
  const std::scoped_lock lock(parts_->mutex);
  const auto found = parts_->loaded.find(entry->second);
  if (found != parts_->loaded.end()) found->second.keep = time;
}

}  // namespace fovea::app
