// Any safetensors file beside a configuration of packed weights. The first byte says which configuration.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "engine/checkpoint/checkpoint.h"

#include "fuzz.h"

using namespace fovea;
namespace fs = std::filesystem;

namespace {

const char* configuration(std::uint8_t selector) {
  switch (selector) {
    case 'a':
      return R"({"quantization_config":{"quant_method":"awq","group_size":32}})";
    case '2':
      return R"({"quantization_config":{"quant_method":"gptq","bits":3,"checkpoint_format":"gptq_v2"}})";
    case 's':
      return R"({"quantization_config":{"quant_method":"gptq","bits":4,"group_size":32,"sym":true}})";
    default:
      return R"({"quantization_config":{"quant_method":"auto-round","bits":8,"group_size":-1}})";
  }
}

struct Folder {  // one for each process
  fs::path path = fs::temp_directory_path() / ("fovea-fuzz-packed-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

void write(const fs::path& path, const void* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const std::string config = configuration(data[0]);
  write(folder.path / "config.json", config.data(), config.size());
  write(folder.path / "model.safetensors", data + 1, size - 1);
  const auto opened = checkpoint::Checkpoint::open(folder.path);
  if (!opened) {
    fuzz::check_error(opened.error());
    return 0;
  }
  for (const auto& info : opened->tensors()) {
    if (info.is_mapped()) continue;
    // The largest growth is from 2 bits to F16.
    fuzz_check(info.shape.size() == 2 && info.bytes <= 8 * size);
    std::vector<std::byte> rows(info.bytes);
    opened->read_rows(info, info.shape[1], 0, info.shape[0], rows.data());
    fuzz_check(!opened->identifying_bytes(info).empty() && !opened->conversion().empty());
  }
  return 0;
}
