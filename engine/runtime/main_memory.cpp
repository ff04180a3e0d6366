#include "engine/runtime/main_memory.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "engine/api/sentence.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

// The number behind "key" or "key:" in a file of lines; nothing when it is not there.
std::optional<std::int64_t> number_at(const std::filesystem::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const char* const begin = line.c_str() + key.size();
    if (*begin != ':' && *begin != ' ') continue;
    char* end = nullptr;
    const long long value = std::strtoll(begin + 1, &end, 10);
    if (end != begin + 1) return value;
  }
  return std::nullopt;
}

// A file's only number; nothing for "max".
std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// Where a version of control groups keeps its numbers.
struct GroupFiles {
  const char* mount;
  std::string_view controller;  // of a line "ID:CONTROLLER:PATH" of /proc/self/cgroup
  const char *limit, *used;
  std::array<const char*, 2> of_files;  // keys of memory.stat
};
constexpr GroupFiles versions[] = {
    {"sys/fs/cgroup", "", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"sys/fs/cgroup/memory",
     "memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

// "/user.slice/app.scope", "/" in a container that sees its own groups alone.
std::filesystem::path group_of(const std::filesystem::path& root, const GroupFiles& files) {
  std::ifstream list(root / "proc/self/cgroup");
  for (std::string line; std::getline(list, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == files.controller) return line.substr(second + 1);
  }
  return "/";
}

// A group's limit holds for all groups below it.
void limit_by_groups(const std::filesystem::path& root, const GroupFiles& files, Memory& memory) {
  const std::int64_t machine = memory.total_bytes;
  const std::filesystem::path mount = root / files.mount;
  for (std::filesystem::path group = group_of(root, files).relative_path();; group = group.parent_path()) {
    const std::filesystem::path folder = mount / group;
    const auto limit = number_in(folder / files.limit);
    if (limit && *limit > 0 && *limit < machine) {
      memory.total_bytes = std::min(memory.total_bytes, *limit);
      std::int64_t used = number_in(folder / files.used).value_or(0);
      for (const char* const key : files.of_files) used -= number_at(folder / "memory.stat", key).value_or(0);
      memory.free_bytes =
          std::min(memory.free_bytes, std::max<std::int64_t>(*limit - std::max<std::int64_t>(used, 0), 1));
    }
    if (group.empty()) return;
  }
}

}  // namespace

Memory memory(const std::filesystem::path& root) {
  const std::filesystem::path facts = root / "proc/meminfo";
  Memory result{.total_bytes = number_at(facts, "MemTotal").value_or(0) * 1024,
                .free_bytes = number_at(facts, "MemAvailable").value_or(0) * 1024};
  for (const GroupFiles& files : versions) limit_by_groups(root, files, result);
  return result;
}

Result<void> check_main_memory(const Plan& plan, const std::function<Phrase()>& advice) {
  if (plan.host_available_bytes == 0 || plan.host_bytes <= plan.host_available_bytes) return {};
  return fail(phrases::main_memory_place(),
              errors::main_memory_too_small(
                  Bytes{plan.host_bytes}, plan.units_on_host, Bytes{plan.host.weights},
                  Bytes{plan.host_bytes - plan.host.weights}, Bytes{plan.host_available_bytes})
                  .advise(advice()));
}

}  // namespace fovea::runtime
