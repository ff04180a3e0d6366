// Any text as one of a model folder's JSON files. The first byte says which.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

#include "engine/checkpoint/checkpoint.h"

#include "fuzz.h"

using namespace fovea;
namespace fs = std::filesystem;

namespace {

const char* file_name(std::uint8_t selector) {
  switch (selector) {
    case 'i':
      return "model.safetensors.index.json";
    case 't':
      return "tokenizer_config.json";
    case 'g':
      return "generation_config.json";
    case 'j':
      return "chat_template.jinja";
    default:
      return "config.json";
  }
}

// One for each process; holds the two shards that the seeds' index names.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("fovea-fuzz-" + std::to_string(getpid()));
  Folder() {
    fs::create_directories(path);
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    std::ofstream shard(path / "model-1.safetensors", std::ios::binary);
    const std::uint64_t length = header.size();
    shard.write(reinterpret_cast<const char*>(&length), sizeof length);
    shard << header << "data";
  }
  ~Folder() { fs::remove_all(path); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const fs::path file = folder.path / file_name(data[0]);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  const auto opened = checkpoint::Checkpoint::open(folder.path);
  fs::remove(file);
  if (!opened) {
    fuzz::check_error(opened.error());
    return 0;
  }
  fuzz_check(opened->config().is_object());
  fuzz_check(opened->chat_template().size() <= size);
  for (const auto& info : opened->tensors()) {
    fuzz_check(opened->files()[info.file].parent_path() == folder.path);
    fuzz_check(info.is_mapped() && opened->bytes(info).size() == info.bytes);
  }
  return 0;
}
