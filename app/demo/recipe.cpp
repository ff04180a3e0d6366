#include "app/demo/recipe.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "app/demo/errors.h"
#include "engine/core/result.h"
#include "kernels/formats/formats.h"

// The file's bytes between two labels in the read-only data.
asm(R"(
    .pushsection .rodata
    .balign 16
    .globl fovea_recipe_begin
fovea_recipe_begin:
    .incbin ")" FOVEA_RECIPE_FILE R"("
    .globl fovea_recipe_end
fovea_recipe_end:
    .byte 0
    .popsection
)");
extern "C" const std::byte fovea_recipe_begin[];
extern "C" const std::byte fovea_recipe_end[];

namespace fovea::app {
namespace {

std::unexpected<Error> damaged() {
  return fail(phrases::demo_recipe(), errors::demo_recipe_damaged());
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

Result<Recipe> Recipe::open() {
  const std::span<const std::byte> file(fovea_recipe_begin, fovea_recipe_end);
  std::uint64_t header_bytes = 0;
  if (file.size() < sizeof header_bytes) return damaged();
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  if (header_bytes > file.size() - sizeof header_bytes) return damaged();
  const auto* text = reinterpret_cast<const char*>(file.data()) + sizeof header_bytes;
  const auto header = nlohmann::json::parse(text, text + header_bytes, nullptr, false);
  const auto data = file.subspan(sizeof header_bytes + header_bytes);
  if (!header.is_object()) return damaged();
  Recipe recipe;
  for (const auto& [name, entry] : header.items()) {
    const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) return damaged();
    recipe.tensors_[name] = {entry.at("dtype").get<std::string>(),
                             entry.at("shape").get<std::vector<std::int64_t>>(),
                             data.subspan(offsets[0], offsets[1] - offsets[0])};
  }
  return recipe;
}

const Recipe::Tensor* Recipe::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<float> Recipe::floats(const std::string& name) const {
  const Tensor* tensor = find(name);
  if (tensor && tensor->type == "F32") return values_of<float>(tensor->bytes);
  std::vector<float> values;
  if (tensor && tensor->type == "F16") {
    for (const auto half : values_of<std::uint16_t>(tensor->bytes)) {
      values.push_back(kernels::formats::f16_to_f32(half));
    }
  }
  return values;
}

std::vector<std::int64_t> Recipe::integers(const std::string& name) const {
  const Tensor* tensor = find(name);
  std::vector<std::int64_t> values;
  if (tensor && tensor->type == "I8") {
    for (const auto value : values_of<std::int8_t>(tensor->bytes)) values.push_back(value);
  } else if (tensor && tensor->type == "I16") {
    for (const auto value : values_of<std::int16_t>(tensor->bytes)) values.push_back(value);
  } else if (tensor && tensor->type == "I32") {
    for (const auto value : values_of<std::int32_t>(tensor->bytes)) values.push_back(value);
  }
  return values;
}

std::vector<std::int64_t> Recipe::shape(const std::string& name) const {
  const Tensor* tensor = find(name);
  return tensor ? tensor->shape : std::vector<std::int64_t>{};
}

}  // namespace fovea::app
