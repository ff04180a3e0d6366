#include "tests/support/paths.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace fovea::tests {
namespace {

std::filesystem::path existing(std::filesystem::path path) {
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

// The user's data folder as the program computes it; FOVEA_DATA overrides it.
std::filesystem::path data_folder() {
  if (const char* data = std::getenv("FOVEA_DATA")) return data;
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg && *xdg)
    return std::filesystem::path(xdg) / "fovea";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "/root") / ".local/share/fovea";
}

}  // namespace

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(FOVEA_SOURCE_DIR) / "tests/golden" / name;
}

std::filesystem::path shared(const std::string& name) {
  return existing(std::filesystem::path(FOVEA_SOURCE_DIR) / "../shared" / name);
}

std::filesystem::path demo_model() {
  return existing(std::filesystem::path(FOVEA_BINARY_DIR) / "tests/demo/demo.gguf");
}
std::filesystem::path whole_demo_model() {
  return existing(data_folder() / "models/demo.gguf");
}
std::filesystem::path demo_dense_model() {
  return existing(data_folder() / "models/demo-dense.gguf");
}
std::filesystem::path published_templates() {
  return existing(std::filesystem::path(FOVEA_SOURCE_DIR) / "build/templates");
}
std::filesystem::path gemma_model() {
  return existing(std::filesystem::path(FOVEA_SOURCE_DIR) / "build/gemma/gemma-3-270m.gguf");
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fovea-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fovea::tests
