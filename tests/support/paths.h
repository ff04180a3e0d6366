// Where tests find their data.
#pragma once

#include <filesystem>
#include <string>

namespace fovea::tests {

// tests/golden/<name> in the source tree: small committed files made by tests/golden/*.py.
std::filesystem::path golden(const std::string& name);

// A file of the shared data beside the checkout (../shared/<name>), or an empty path where there is none.
std::filesystem::path shared(const std::string& name);

// The first layers of the demo model: real weights, tokeniser and template, but no sense in what it says.
// Made of the dense one for tests that say DEMO (fovea_test); an empty path where that is not there.
std::filesystem::path demo_model();
// The whole one and the dense one, which scripts/demo puts into the user's model library; empty where they
// are not.
std::filesystem::path whole_demo_model();
std::filesystem::path demo_dense_model();
// Gemma 3 270M, a GGUF of Q4_K_M, which scripts/test puts into build/gemma; empty where it has not.
std::filesystem::path gemma_model();
// Chat templates as models are published with them, which scripts/test puts into build/templates; empty where
// it has not.
std::filesystem::path published_templates();

// What is in a file, empty where it cannot be read.
std::string content(const std::filesystem::path&);

// An empty folder that is deleted when the value goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fovea::tests
