#include "engine/checkpoint/quantization.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/checkpoint/describe.h"

namespace fovea::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t max_group = 1 << 24;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

class Reader {
 public:
  Reader(const Json& object, const std::filesystem::path& file) : object_(object), file_(file) {}

  Result<Quantization> read() const {
    FOVEA_TRY(const std::string method, text("quant_method", "gptq"));
    Quantization q;
    q.method = method;
    if (method == "mxfp4") {
      q.layout = PackedLayout::mxfp4;
      return q;
    }
    FOVEA_CHECK(common(q));
    if (method == "gptq") {
      FOVEA_CHECK(gptq(q));
    } else if (method == "awq") {
      FOVEA_CHECK(awq(q));
    } else if (method == "auto-round" || method == "intel/auto-round" || method == "auto_round") {
      FOVEA_CHECK(auto_round(q));
    } else {
      return refuse("quant_method", method, phrases::quantization_methods());
    }
    return q;
  }

 private:
  std::unexpected<Error> refuse(std::string_view key, std::string_view value, Phrase expected) const {
    return fail(phrases::file_place(file_),
                errors::quantization_not_read(key, in_quotes(value), std::move(expected)));
  }
  std::unexpected<Error> wrong(std::string_view key, Phrase expected) const {
    const std::string value = object_.at(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    return fail(phrases::file_place(file_),
                errors::quantization_wrong(key, in_quotes(value), std::move(expected)));
  }

  // Null when the key is missing or null.
  const Json* find(std::string_view key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  Result<std::string> text(std::string_view key, std::string_view otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return std::string(otherwise);
    if (!value->is_string()) return wrong(key, phrases::a_text());
    return lower(value->get<std::string>());
  }
  Result<std::int64_t> integer(std::string_view key, std::int64_t otherwise, std::int64_t least,
                               std::int64_t most) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    const Phrase expected = phrases::quantization_range(least, most);
    if (!value->is_number_integer()) return wrong(key, expected);
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
      return wrong(key, expected);
    const auto number = value->get<std::int64_t>();
    if (number < least || number > most) return wrong(key, expected);
    return number;
  }
  Result<bool> boolean(std::string_view key, bool otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) return wrong(key, phrases::true_or_false());
    return value->get<bool>();
  }

  bool is_empty(std::string_view key) const {
    const Json* value = find(key);
    return value == nullptr || value->empty();
  }

  Result<void> common(Quantization& q) const {
    FOVEA_TRY(const std::int64_t bits, integer("bits", 4, 1, 64));
    if (bits < 2 || bits > 8) return refuse("bits", std::to_string(bits), phrases::quantization_range(2, 8));
    q.bits = static_cast<int>(bits);
    FOVEA_TRY(const std::int64_t group, integer("group_size", 128, -1, max_group));
    q.group_size = std::max<std::int64_t>(group, 0);
    FOVEA_TRY(const bool symmetric, boolean("sym", false));
    // These give some layers settings of their own.
    q.symmetric = symmetric && is_empty("dynamic") && is_empty("extra_config");
    return {};
  }

  // Newer tools write checkpoint_format, and some of them format.
  Result<void> gptq(Quantization& q) const {
    FOVEA_TRY(const std::string otherwise, text("format", "gptq"));
    FOVEA_TRY(const std::string format, text("checkpoint_format", otherwise));
    if (format != "gptq" && format != "gptq_v2")
      return refuse("checkpoint_format", format, phrases::quantization_gptq_formats());
    FOVEA_TRY(const bool marlin, boolean("is_marlin_format", false));
    if (marlin) return refuse("is_marlin_format", "true", phrases::quantization_gptq_formats());
    FOVEA_TRY(const std::string words, text("pack_dtype", "int32"));
    if (words != "int32") return refuse("pack_dtype", words, phrases::quantization_value("int32"));
    q.layout = PackedLayout::gptq;
    q.zeros_less_one = format == "gptq";
    return {};
  }

  // transformers calls the format version; its default is gemm.
  Result<void> awq(Quantization& q) const {
    FOVEA_TRY(const std::string backend, text("backend", ""));
    if (backend == "llm-awq") return refuse("backend", backend, phrases::quantization_autoawq());
    FOVEA_TRY(const std::string format, text("format", "gemm"));
    FOVEA_TRY(const std::string version, text("version", format));
    if (version != "gemm") return refuse("version", version, phrases::quantization_value("gemm"));
    if (q.bits != 4) return refuse("bits", std::to_string(q.bits), phrases::quantization_bits_of_awq());
    q.layout = PackedLayout::awq;
    q.symmetric = false;
    return {};
  }

  // AutoRound packs as one of the others does: "auto_round:auto_gptq" (zero points less one),
  // "auto_round:auto_awq", or its own form, which is GPTQ's second. Early releases name a backend instead.
  Result<void> auto_round(Quantization& q) const {
    FOVEA_TRY(const std::string type, text("data_type", "int"));
    if (!type.starts_with("int")) return refuse("data_type", type, phrases::quantization_value("int"));
    FOVEA_TRY(const std::int64_t activations, integer("act_bits", 16, 1, 64));
    if (activations < 16)
      return refuse("act_bits", std::to_string(activations), phrases::quantization_16_and_above());
    FOVEA_TRY(const std::string backend, text("backend", "auto_round:gptq"));
    const bool any_backend = std::string_view(backend) == "auto";
    FOVEA_TRY(const std::string packing, text("packing_format", any_backend ? "auto_round:gptq" : backend));
    const auto is_or_begins = [&](std::string_view name) {
      return packing == name || packing.starts_with(std::string(name) + ":");
    };
    static constexpr std::array own = {"auto_round",          "auto_round:gptqmodel", "auto_round:exllamav2",
                                       "auto_round:tritonv2", "auto_round:triton",    "auto_round:torch"};
    const bool awq_packing = is_or_begins("auto_round:auto_awq") || is_or_begins("auto_round:awq");
    const bool first = is_or_begins("auto_round:auto_gptq") || is_or_begins("auto_round:gptq");
    if (!awq_packing && !first && std::ranges::find(own, packing) == own.end())
      return refuse("packing_format", packing, phrases::quantization_packings());
    if (awq_packing && q.bits != 4)
      return refuse("bits", std::to_string(q.bits), phrases::quantization_bits_of_awq());
    q.layout = awq_packing ? PackedLayout::awq : PackedLayout::gptq;
    q.zeros_less_one = first;
    return {};
  }

  const Json& object_;
  const std::filesystem::path& file_;
};

}  // namespace

Result<Quantization> read_quantization_object(const Json& object, const std::filesystem::path& file) {
  if (!object.is_object()) {
    return fail(phrases::file_place(file), errors::quantization_no_object());
  }
  return Reader(object, file).read();
}

Result<std::optional<Quantization>> read_quantization(const Json& configuration,
                                                      const std::filesystem::path& file) {
  const auto it = configuration.find("quantization_config");
  if (it == configuration.end() || it->is_null()) return std::nullopt;
  FOVEA_TRY(Quantization found, read_quantization_object(*it, file));
  return found;
}

}  // namespace fovea::checkpoint
