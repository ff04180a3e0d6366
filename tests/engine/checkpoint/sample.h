// FileBytes of the golden model files, and changing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/paths.h"

namespace fovea::tests {

using FileBytes = std::vector<std::byte>;

inline std::filesystem::path sample(const std::string& name) {
  return golden("checkpoint/" + name);
}

inline FileBytes read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  FileBytes bytes(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  write_bytes(path, std::as_bytes(std::span(text)));
}

// Byte i of tensor number k, as tests/golden/make_checkpoints.py writes it.
inline std::byte pattern(std::size_t k, std::size_t i) {
  return static_cast<std::byte>((31 * i + 17 * k + 7) % 251);
}

inline bool has_pattern(std::span<const std::byte> bytes, std::size_t k) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != pattern(k, i)) return false;
  }
  return true;
}

// Where the first occurrence of `text` begins.
inline std::uint64_t find_text(const FileBytes& bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t found = all.find(text);
  if (found == std::string_view::npos) throw std::runtime_error("the sample lacks " + std::string(text));
  return found;
}

inline std::uint64_t after_text(const FileBytes& bytes, std::string_view text) {
  return find_text(bytes, text) + text.size();
}

template <class Number>
std::uint64_t overwrite(FileBytes& bytes, std::uint64_t offset, Number value) {
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("the patch lies outside the sample");
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return offset;
}

inline std::uint64_t overwrite_text(FileBytes& bytes, std::string_view from, std::string_view to) {
  const std::uint64_t offset = find_text(bytes, from);
  if (to.size() > from.size()) throw std::runtime_error("the new text is longer");
  std::memcpy(bytes.data() + offset, to.data(), to.size());
  return offset;
}

// A tensor as a safetensors file is to have it.
struct StoredTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  FileBytes data;
};
using StoredTensors = std::map<std::string, StoredTensor>;

inline void write_safetensors(const std::filesystem::path& path, const StoredTensors& tensors) {
  nlohmann::json header = nlohmann::json::object();
  FileBytes data;
  for (const auto& [name, stored] : tensors) {
    const std::size_t begin = data.size();
    data.insert(data.end(), stored.data.begin(), stored.data.end());
    header[name] = {{"dtype", stored.dtype}, {"shape", stored.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  FileBytes bytes(8 + text.size());
  overwrite<std::uint64_t>(bytes, 0, text.size());
  std::memcpy(bytes.data() + 8, text.data(), text.size());
  bytes.insert(bytes.end(), data.begin(), data.end());
  write_bytes(path, bytes);
}

}  // namespace fovea::tests
