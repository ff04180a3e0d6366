// Tiny models of every family whose units can change precision, made of the golden ones, with a tokeniser and
// a chat template.
#pragma once

#include <QtGlobal>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/api/plan.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "tests/support/paths.h"

namespace fovea::tests::family_models {

struct Subject {
  const char* file;
  std::int64_t experts;  // in all layers; 0: its linear layers are units
  const char* low;       // the tier below the file's
};
// Sizes that no block divides have BF16 as their other tier; the second gpt-oss has MXFP4 in its file.
inline constexpr Subject subjects[] = {
    {"mellum-0.gguf", 20, "bf16"},     {"gpt_oss-0.gguf", 20, "bf16"},     {"gpt_oss-1.gguf", 12, "q2"},
    {"qwen3_next-1.gguf", 20, "bf16"}, {"qwen3_5_moe-1.gguf", 20, "bf16"}, {"gemma4-0.gguf", 40, "bf16"},
    {"qwen3_5-1.gguf", 0, "bf16"},     {"gemma3-1.gguf", 0, "bf16"},       {"gemma4-1.gguf", 0, "bf16"}};

// A copy of the file whose matrices lie halfway between two numbers that BF16 holds, and whose experts are as
// wide as is worth moving.
class Copy {
 public:
  Copy(const char* file, const std::filesystem::path& to) {
    auto opened = checkpoint::Checkpoint::open(tests::golden("families") / file);
    if (!opened) qFatal("%s", opened.error().message().c_str());
    checkpoint::Metadata metadata = opened->metadata();
    const std::string key =
        std::string(*metadata.string("general.architecture")) + ".expert_feed_forward_length";
    width_ = metadata.integer(key).value_or(0);
    if (width_ > 0) metadata.set(key, std::uint64_t{wide}, metadata.stored_type(key));
    metadata.set("tokenizer.chat_template", chat_template);
    std::vector<checkpoint::TensorInfo> infos;
    for (const auto& info : opened->tensors()) infos.push_back(widened(info));
    auto writer = checkpoint::GgufWriter::create(to, metadata, infos);
    if (!writer) qFatal("%s", writer.error().message().c_str());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (const auto done = writer->append(content(opened->tensors()[i], infos[i], *opened)); !done)
        qFatal("%s", done.error().message().c_str());
    }
    if (const auto done = writer->finish(); !done) qFatal("%s", done.error().message().c_str());
  }

 private:
  static constexpr std::int64_t wide = 768;
  static constexpr std::string_view chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}";

  // gate, up and both together grow in their rows, down in its columns.
  checkpoint::TensorInfo widened(checkpoint::TensorInfo info) const {
    if (!info.name.contains("_exps.") || info.name.ends_with(".scale")) return info;
    const bool is_down = info.name.contains("ffn_down");
    if (is_down && info.shape.size() < 3) return info;  // the bias
    std::int64_t& grows = is_down ? info.shape.back() : info.shape[1];
    grows = grows / width_ * wide;
    info.bytes = static_cast<std::uint64_t>(info.elements() / info.shape.back() *
                                            kernels::row_bytes(info.type, info.shape.back()));
    return info;
  }

  std::vector<std::byte> content(const checkpoint::TensorInfo& from, const checkpoint::TensorInfo& to,
                                 const checkpoint::Checkpoint& checkpoint) {
    const std::span<const std::byte> bytes = checkpoint.bytes(from);
    std::vector<std::byte> out(bytes.begin(), bytes.end());
    if (from.bytes != to.bytes) out = random_content(to);
    for (std::size_t i = 0; to.type == kernels::Type::f32 && to.shape.size() > 1 && i < out.size(); i += 4)
      out[i + 1] = std::byte{0x80};
    return out;
  }

  std::vector<std::byte> random_content(const checkpoint::TensorInfo& to) {
    std::vector<std::byte> out(to.bytes);
    if (to.type == kernels::Type::f32) {
      std::normal_distribution<float> normal(0, 1.2F / std::sqrt(static_cast<float>(to.shape.back())));
      for (std::size_t i = 0; i < out.size(); i += 4) {
        const float value = normal(random_);
        std::memcpy(&out[i], &value, 4);
      }
    } else {
      // MXFP4: a power of two, then codes.
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<std::byte>(i % 17 == 0 ? 123U : random_() & 255U);
    }
    return out;
  }

  std::int64_t width_ = 0;
  std::mt19937 random_{1};
};

// The least that holds experts at the file's tier.
inline std::int64_t budget_of_some_high(LoadOptions options) {
  const auto whole = plan_model(options);
  if (!whole) qFatal("%s", whole.error().message().c_str());
  const auto [least, most] = std::pair(whole->plan.min_bytes, whole->plan.whole_bytes);
  for (std::int64_t budget = least; budget < most; budget += (most - least) / 100 + 1) {
    options.precision.budget_bytes = budget;
    const auto plan = plan_model(options);
    if (plan && plan->plan.fits && plan->plan.parts.experts[0].units > 0) return budget;
  }
  qFatal("no budget holds experts of both tiers");
}

}  // namespace fovea::tests::family_models
