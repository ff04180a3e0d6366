// A model's configuration values, read alike from GGUF metadata and from config.json. Every error names the
// key as the file writes it, what was found and what was expected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/models/errors.h"

namespace fovea::checkpoint {
class Checkpoint;
class Metadata;
}  // namespace fovea::checkpoint

namespace fovea::models {

// One value's names. GGUF's is written without the architecture ("block_count"), unless it begins with
// "general."; an empty name: that format has no such value. json_other is a second name that config.json may
// use.
struct Key {
  std::string_view gguf;
  std::string_view json;
  std::string_view json_other = {};
};

class Keys {
 public:
  // Of config.json the language model's part, where it has one beside others ("text_config"); what that
  // leaves out may stand around it.
  explicit Keys(const checkpoint::Checkpoint&);
  // All of config.json.
  Keys whole() const;

  bool is_gguf() const { return json_ == nullptr; }
  bool has(const Key&) const;
  // config.json has the key, be it with null.
  bool mentions(std::string_view json_name) const;
  // What the file calls the value: the name that is there, else the first.
  std::string name(const Key&) const;

  Result<std::int64_t> integer(const Key&, std::int64_t least, std::int64_t most) const;
  Result<std::int64_t> integer_or(const Key&, std::int64_t otherwise, std::int64_t least,
                                  std::int64_t most) const;
  Result<double> number(const Key&, double least, double most) const;
  Result<double> number_or(const Key&, double otherwise, double least, double most) const;
  Result<bool> boolean_or(const Key&, bool otherwise) const;
  Result<std::string> string_or(const Key&, std::string_view otherwise) const;

  // An object inside config.json, its keys named "rope_scaling.factor"; nothing when it is missing or null.
  std::optional<Keys> object(std::string_view json_name) const;
  // A list inside config.json; null when it is missing.
  const nlohmann::json* list(std::string_view json_name) const;
  // Of any kind, in config.json; null when it is missing or null there.
  const nlohmann::json* value(std::string_view json_name) const { return json_value({"", json_name}); }
  // A number for each of `count` layers in GGUF, or one for all; empty when it is missing.
  Result<std::vector<std::int64_t>> integers(const Key&, std::int64_t count, std::int64_t least,
                                             std::int64_t most) const;
  // A list of truth values in GGUF; null when it is something else.
  const std::vector<bool>* booleans(const Key&) const;

  // At the file, with advice by the error's kind: ErrorKind::format or ::unsupported.
  std::unexpected<Error> wrong(Error) const;

 private:
  Keys() = default;
  std::string gguf_name(const Key&) const;
  const nlohmann::json* json_value(const Key&) const;
  Result<std::optional<std::int64_t>> find_integer(const Key&) const;
  Result<std::optional<double>> find_number(const Key&) const;

  std::filesystem::path file_;
  std::string prefix_;  // "llama." or "rope_scaling."
  const checkpoint::Metadata* metadata_ = nullptr;
  const nlohmann::json* json_ = nullptr;
  const nlohmann::json* around_ = nullptr;  // the whole of which json_ is a part, or null
};

}  // namespace fovea::models
