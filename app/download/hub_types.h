// What the hub tells about models, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::app {

// No file is larger, so that sizes can be added without care.
inline constexpr std::int64_t max_file_bytes = std::int64_t{1} << 43;

struct HubModel {
  std::string id;  // "ORG/NAME"
  std::int64_t downloads = 0;
  std::int64_t likes = 0;
  std::string modified;  // a date as the hub writes it
  std::string task;      // "text-generation"
  bool gated = false;    // its terms must be accepted on the hub first
  std::vector<std::string> tags;
};

struct HubFile {
  std::string path;  // in the repository, with "/"; never outside it
  std::int64_t bytes = 0;
  std::string git_oid;  // SHA-1 of a Git blob, 40 hexadecimal digits
  std::string sha256;   // of the content, 64 hexadecimal digits; empty for small files that are not in LFS

  // The name of the content in the hub's cache.
  const std::string& blob() const { return sha256.empty() ? git_oid : sha256; }
};

struct HubRepository {
  std::string id;
  std::string revision;  // as asked for: "main"
  std::string commit;    // 40 hexadecimal digits
  bool gated = false;
  std::vector<HubFile> files;
};

// One thing to choose: a GGUF file with all its parts, or a folder of safetensors.
struct ModelChoice {
  std::string name;  // "Qwen3-30B-A3B-Q4_K_M"; for a folder the repository's name
  std::string
      quantization;  // "Q4_K_M", "BF16"; "safetensors" for a folder; empty where the name does not say
  bool is_folder = false;
  bool is_complete = true;     // no part of a split file is missing
  std::vector<HubFile> files;  // in order
  std::int64_t bytes = 0;      // all of them
};

}  // namespace fovea::app
