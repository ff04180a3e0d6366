// Opening a GGUF file, alone or in parts ("model-00002-of-00003.gguf").
#include <cctype>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"
#include "engine/checkpoint/gguf_reader.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

struct PartName {
  std::string stem;
  std::int64_t number = 0;  // from 1
  std::int64_t count = 0;   // 0: the name is not a part's
};

std::int64_t five_digits(std::string_view text) {
  std::int64_t value = 0;
  for (const char c : text) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

PartName part_name(const std::filesystem::path& path) {
  constexpr std::string_view pattern = "-00001-of-00003.gguf";
  const std::string name = path.filename().string();
  if (name.size() <= pattern.size() || !name.ends_with(".gguf")) return {};
  const std::string_view tail = std::string_view(name).substr(name.size() - pattern.size());
  const std::int64_t number = five_digits(tail.substr(1, 5));
  const std::int64_t count = five_digits(tail.substr(10, 5));
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || number < 1 || count < number) return {};
  return {name.substr(0, name.size() - pattern.size()), number, count};
}

std::filesystem::path part_path(const std::filesystem::path& path, const PartName& name,
                                std::int64_t number) {
  const auto digits = [](std::int64_t value) {
    const std::string text = std::to_string(value);
    return std::string(5 - text.size(), '0') + text;
  };
  return path.parent_path() / (name.stem + "-" + digits(number) + "-of-" + digits(name.count) + ".gguf");
}

// The keys that make a file part `number` of a split model must say what its name says.
Result<void> check_part(const Metadata& metadata, const std::filesystem::path& file, const PartName& name,
                        std::int64_t number) {
  const std::int64_t count = metadata.integer("split.count").value_or(0);
  if (count != name.count) {
    return fail(phrases::file_place(file), errors::gguf_part_count(count, name.count));
  }
  const std::int64_t found = metadata.integer("split.no").value_or(-1);
  if (found != number - 1) {
    return fail(phrases::file_place(file), errors::gguf_part_number(found, number - 1));
  }
  return {};
}

Result<void> open_parts(const std::filesystem::path& path, const PartName& name, Opener::Contents& contents);

}  // namespace

Result<void> Opener::gguf(const std::filesystem::path& path, Contents& contents) {
  FOVEA_TRY(MappedFile map, MappedFile::open(path));
  FOVEA_TRY(GgufContents gguf, read_gguf(map.bytes(), path));
  contents.format = Format::gguf;
  contents.format_name = "GGUF v" + std::to_string(gguf.version);
  const std::int64_t count = gguf.metadata.integer("split.count").value_or(0);
  const PartName name = part_name(path);
  if (count <= 1) {
    contents.metadata = std::move(gguf.metadata);
    contents.add(path, std::move(map), std::move(gguf.tensors));
  } else if (name.count == 0) {
    return fail(phrases::file_place(path), errors::gguf_part_name(count));
  } else {
    FOVEA_CHECK(check_part(gguf.metadata, path, name, name.number));
    FOVEA_CHECK(open_parts(path, name, contents));
  }
  if (contents.metadata.string("general.architecture").value_or("") == "qwen3next")
    FOVEA_CHECK(joined_projections(contents));
  contents.chat_template = contents.metadata.string("tokenizer.chat_template").value_or("");
  return {};
}

namespace {

Result<void> open_parts(const std::filesystem::path& path, const PartName& name, Opener::Contents& contents) {
  for (std::int64_t number = 1; number <= name.count; ++number) {
    const std::filesystem::path part = part_path(path, name, number);
    auto map = MappedFile::open(part);
    if (!map && map.error().kind == ErrorKind::not_found) {
      return fail(phrases::file_place(part), errors::gguf_part_missing(number, name.count));
    }
    if (!map) return std::unexpected(std::move(map).error());
    FOVEA_TRY(GgufContents gguf, read_gguf(map->bytes(), part));
    FOVEA_CHECK(check_part(gguf.metadata, part, name, number));
    if (number == 1) contents.metadata = std::move(gguf.metadata);
    contents.add(part, *std::move(map), std::move(gguf.tensors));
  }
  const std::int64_t expected = contents.metadata.integer("split.tensors.count").value_or(-1);
  if (expected != static_cast<std::int64_t>(contents.tensors.size())) {
    return fail(phrases::file_place(contents.files.front()),
                errors::gguf_parts_tensor_count(contents.tensors.size(), expected));
  }
  return {};
}

}  // namespace
}  // namespace fovea::checkpoint
