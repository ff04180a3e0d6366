// Any config.json, or any GGUF file, as what describes a model: it is read or refused, and what was read can
// be planned. The first byte says which of both.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "engine/checkpoint/checkpoint.h"
#include "engine/models/config.h"

#include "fuzz.h"

using namespace fovea;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("fovea-fuzz-config-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

void check_config(const models::ModelConfig& config) {
  fuzz_check(config.layer_count() > 0 && config.hidden > 0 && config.vocabulary > 0);
  for (const models::LayerConfig& layer : config.layers) {
    fuzz_check(models::state_elements(layer.mixer, config.hidden) >= 0);
    fuzz_check(layer.dense.has_value() || layer.experts.has_value());
    if (const models::AttentionConfig* const attention = layer.attention()) {
      fuzz_check(attention->heads > 0 && attention->kv_heads > 0 &&
                 attention->heads % attention->kv_heads == 0);
      fuzz_check(attention->window >= 0 && attention->rotary < std::ssize(config.rotary));
      fuzz_check(attention->kv_from < config.layer_count());
    }
    if (layer.experts) fuzz_check(layer.experts->used > 0 && layer.experts->used <= layer.experts->experts);
  }
  const models::StatePlan states = models::plan_states(config, config.context);
  fuzz_check(states.bytes >= 0 && states.saved >= 0 && states.turn_ends <= states.saved);
  for (const models::RopeConfig& rope : config.rotary) {
    const models::RotaryTable table = models::rotary_table(rope, config.context, config.context);
    fuzz_check(std::ssize(table.inverse_frequency) == rope.rotary / 2);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const bool is_gguf = data[0] == 'g';
  const fs::path file = folder.path / (is_gguf ? "model.gguf" : "config.json");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  const auto opened = checkpoint::Checkpoint::open(is_gguf ? file : folder.path);
  fs::remove(file);
  if (!opened) {
    fuzz::check_error(opened.error());
    return 0;
  }
  const auto config = models::read_config(*opened);
  if (!config) {
    fuzz::check_error(config.error());
    return 0;
  }
  check_config(*config);
  if (const auto checked = models::check(*config, file); !checked) fuzz::check_error(checked.error());
  return 0;
}
