#include "app/advisor/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "app/files/folders.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr std::size_t alignment = 4096;
constexpr std::int64_t min_file_bytes = std::int64_t{64} << 20;
constexpr double max_seconds = 1;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

using Buffer = std::unique_ptr<std::byte, decltype(&std::free)>;
Buffer make_buffer() {
  return {static_cast<std::byte*>(std::aligned_alloc(alignment, piece_bytes)), &std::free};
}

fs::path largest_file(const fs::path& folder) {
  fs::path largest;
  std::uintmax_t size = min_file_bytes;
  for (const fs::path& path : entries_of(folder)) {
    std::error_code error;
    const std::uintmax_t found = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    if (error || found <= size) continue;
    size = found;
    largest = path;
  }
  return largest;
}

// A file on the disk that nobody else sees; its name is gone already.
int written_file(const fs::path& folder, std::byte* buffer, const std::stop_token& stop) {
  std::string name = (folder / ".fovea-speed-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return -1;
  ::unlink(name.c_str());
  std::uint64_t state = 1;  // what a compressing file system cannot make small
  for (std::size_t i = 0; i < piece_bytes; i += sizeof state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::copy_n(reinterpret_cast<const std::byte*>(&state), sizeof state, buffer + i);
  }
  for (std::int64_t done = 0; done < min_file_bytes; done += static_cast<std::int64_t>(piece_bytes)) {
    if (stop.stop_requested() || ::write(file, buffer, piece_bytes) != static_cast<ssize_t>(piece_bytes)) {
      ::close(file);
      return -1;
    }
  }
  ::fsync(file);
  return file;
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// "Model: \t\t NVIDIA GeForce RTX 5090"
std::string nvidia_name(const std::string& information) {
  const std::size_t begin = information.find("Model:");
  if (begin == std::string::npos) return {};
  const std::size_t first = information.find_first_not_of(" \t", begin + 6);
  if (first == std::string::npos) return {};
  return information.substr(first, information.find('\n', first) - first);
}

// What the kernel tells of other makers' cards: the memory stands in a file where the driver has one.
void add_drm_card(const fs::path& device, std::vector<Card>& cards) {
  const std::string vendor = read_text(device / "vendor");
  const std::int64_t memory = std::atoll(read_text(device / "mem_info_vram_total").c_str());
  if (vendor.starts_with("0x1002")) cards.push_back({"AMD", memory});
  if (vendor.starts_with("0x8086") && memory > 0) cards.push_back({"Intel", memory});
}

}  // namespace

std::vector<Card> find_cards(const fs::path& nvidia, const fs::path& drm) {
  std::vector<Card> cards;
  for (const fs::path& entry : entries_of(nvidia)) {
    if (std::string name = nvidia_name(read_text(entry / "information")); !name.empty())
      cards.push_back({std::move(name), 0});
  }
  for (const fs::path& entry : entries_of(drm)) {
    const std::string name = entry.filename();
    if (name.starts_with("card") && name.find('-') == std::string::npos)
      add_drm_card(entry / "device", cards);
  }
  return cards;
}

namespace {

std::optional<double> read_gb_per_s(const File& file, std::byte* buffer, const std::stop_token& stop) {
  if (file.get() < 0) return std::nullopt;
  // Where the file system refuses to read past its cache, the cache is at least told to forget.
  const int flags = ::fcntl(file.get(), F_GETFL);
  if (::fcntl(file.get(), F_SETFL, flags | O_DIRECT) != 0)
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::int64_t bytes = 0;
  const auto begin = Clock::now();
  double seconds = 0;
  for (off_t at = 0; at + static_cast<off_t>(piece_bytes) <= size && seconds < max_seconds;
       at += static_cast<off_t>(piece_bytes)) {
    if (stop.stop_requested()) return std::nullopt;
    const ssize_t got = ::pread(file.get(), buffer, piece_bytes, at);
    if (got <= 0) return std::nullopt;
    bytes += got;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  if (bytes == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(bytes) / seconds / 1e9;
}

}  // namespace

std::optional<double> measure_disk_read_gb_per_s(const fs::path& folder, std::stop_token stop) {
  const fs::path there = existing_folder(folder);
  if (const fs::path model = largest_file(there); !model.empty())
    return measure_file_read_gb_per_s(model, std::move(stop));
  const Buffer buffer = make_buffer();
  if (!buffer) return std::nullopt;
  return read_gb_per_s(File(written_file(there, buffer.get(), stop)), buffer.get(), stop);
}

std::optional<double> measure_file_read_gb_per_s(const fs::path& file, std::stop_token stop) {
  const Buffer buffer = make_buffer();
  if (!buffer) return std::nullopt;
  return read_gb_per_s(File(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), buffer.get(), stop);
}

Result<Machine> find_machine(const fs::path& models, const DeviceChoice& device, std::int64_t held_bytes) {
  Machine machine;
  FOVEA_TRY(machine.devices, devices());
  machine.no_gpu = why_no_gpu();
  machine.device = machine.devices.front();
  machine.cards = find_cards();
  machine.chosen = device;
  machine.room.device = device.name;
  if (const auto found = find_device(machine.devices, device)) {
    const ModelRoom room = room_of(*found, held_bytes);
    machine.room.precision.budget_bytes = room.options.precision.budget_bytes;
    machine.facts = room.facts;
    if (is_card(found->device->name)) machine.gpu = *found->device;
    if (found->first != nullptr) machine.first_gpu = *found->first;
  } else {
    machine.trouble = found.error();
  }
  machine.folder = models;
  machine.disk_free_bytes = free_disk_bytes(models).value_or(0);
  return machine;
}

namespace {

// Of two cards, each of which has of a model what it has of the memory for one. 0: one of them is not known.
double one_behind_the_other(const Machine& machine, double first, double last) {
  if (first <= 0 || last <= 0) return 0;
  const auto there = static_cast<double>(machine.facts.first_free_bytes);
  const auto all = static_cast<double>(room_bytes(machine.room, machine.facts));
  const double share = all > 0 ? std::clamp(there / all, 0.0, 1.0) : 0.5;
  return 1 / (share / first + (1 - share) / last);
}

}  // namespace

double read_gb_per_s(const Machine& machine) {
  if (!machine.gpu) return machine.memory_read_gb_per_s;
  const double own = machine.gpu->bandwidth_gb_per_s;
  return machine.first_gpu ? one_behind_the_other(machine, machine.first_gpu->bandwidth_gb_per_s, own) : own;
}

MachineFacts facts_of(const Machine& machine) {
  MachineFacts facts = machine.facts;
  facts.main_memory_gb_per_s = machine.memory_read_gb_per_s;
  facts.processor_gop_per_s = machine.processor_gop_per_s;
  const bool card = on_card(machine.room, facts);
  // Of two cards the planner adds the first one's itself.
  if (!card || machine.gpu)
    facts.device_gb_per_s = machine.gpu ? machine.gpu->bandwidth_gb_per_s : machine.memory_read_gb_per_s;
  facts.device_gop_per_s = card ? machine.gpu_gop_per_s : machine.processor_gop_per_s;
  return facts;
}

void measure_machine(Machine& machine, std::stop_token stop) {
  machine.disk_read_gb_per_s = measure_disk_read_gb_per_s(machine.folder, stop).value_or(0);
  if (stop.stop_requested()) return;
  const DeviceSpeed processor = measure_speed().value_or(DeviceSpeed{});
  machine.memory_read_gb_per_s = processor.read_gb_per_s;
  machine.processor_gop_per_s = processor.gop_per_s;
  const auto gop_per_s = [&](const DeviceInfo& card) {
    return stop.stop_requested() ? 0 : measure_speed(card.name).value_or(DeviceSpeed{}).gop_per_s;
  };
  if (machine.gpu) machine.gpu_gop_per_s = gop_per_s(*machine.gpu);
  if (machine.first_gpu)
    machine.gpu_gop_per_s =
        one_behind_the_other(machine, gop_per_s(*machine.first_gpu), machine.gpu_gop_per_s);
}

}  // namespace fovea::app
