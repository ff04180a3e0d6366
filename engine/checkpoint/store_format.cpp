#include "engine/checkpoint/store_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/checkpoint/checksum.h"
#include "engine/checkpoint/errors.h"
#include "engine/checkpoint/json_file.h"

namespace fovea::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char magic[8] = {'F', 'O', 'V', 'E', 'A', 'S', 'T', 'O'};
constexpr std::uint32_t version = 1;
constexpr std::int64_t max_units = std::int64_t{1} << 31;
constexpr std::int64_t max_tiers = 16;
constexpr std::size_t longest_name = 64;

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

template <class Number>
void put(std::span<std::byte> bytes, std::size_t offset, Number value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class Number>
Number get(std::span<const std::byte> bytes, std::size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[value >> 4 * i & 15];
  return text;
}

bool parse_hex(const std::string& text, std::uint64_t& value) {
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  value = std::stoull(text, nullptr, 16);
  return true;
}

std::unexpected<Error> damaged(const std::filesystem::path& name, std::uint64_t offset, Error error) {
  return fail(phrases::offset_place(name, offset), std::move(error).advise(phrases::make_store_again()));
}

std::string description(const StoreIdentity& identity) {
  return nlohmann::ordered_json{{"model_fingerprint", hex(identity.model_fingerprint)},
                                {"packing", identity.packing},
                                {"scope", identity.scope},
                                {"quantizer_version", identity.quantizer_version},
                                {"calibration", hex(identity.calibration)},
                                {"tiers", identity.tiers},
                                {"units", identity.units}}
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::uint64_t sizes_checksum(const StoreLayout& layout) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(layout.extents.size());
  for (const Extent& extent : layout.extents) sizes.push_back(extent.bytes);
  return checksum64(std::as_bytes(std::span(sizes)));
}

// One after the other from data_offset on.
bool lay_out(StoreLayout& layout) {
  std::int64_t offset = layout.data_offset;
  for (Extent& extent : layout.extents) {
    extent.offset = offset;
    if (__builtin_add_overflow(offset, extent.bytes, &offset)) return false;
  }
  layout.file_bytes = offset;
  return true;
}

bool is_error(float value) {
  return std::isfinite(value) && value >= 0;
}

bool is_name(const nlohmann::json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= longest_name;
}

// The JSON's fields; their names stand in the error.
class Description {
 public:
  Description(const nlohmann::json& json, const std::filesystem::path& name) : json_(json), name_(name) {}

  Result<std::uint64_t> hexadecimal(const char* key) const {
    std::uint64_t value = 0;
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string() ||
        !parse_hex(found->get_ref<const std::string&>(), value))
      return wrong(key, phrases::store_hexadecimal());
    return value;
  }
  Result<std::string> text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !is_name(*found)) return wrong(key, phrases::store_short_text());
    return found->get<std::string>();
  }
  Result<std::int64_t> number(const char* key, std::int64_t most) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
      return wrong(key, phrases::store_number_up_to(most));
    return found->get<std::int64_t>();
  }
  Result<std::vector<std::string>> names(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_array() || !std::ranges::all_of(*found, is_name))
      return wrong(key, phrases::store_short_texts());
    auto values = found->get<std::vector<std::string>>();
    if (std::set(values.begin(), values.end()).size() != values.size())
      return wrong(key, phrases::store_list_without_repetitions());
    return values;
  }

 private:
  std::unexpected<Error> wrong(const char* key, Phrase expected) const {
    return damaged(name_, store_header_bytes, errors::store_field(key, std::move(expected)));
  }
  const nlohmann::json& json_;
  const std::filesystem::path& name_;
};

// Sizes and offsets that follow from the counts must be those that the header states.
Result<void> check_layout(const StoreHeader& h, std::int64_t file_bytes, const std::filesystem::path& name) {
  const std::int64_t index = rounded_up(static_cast<std::int64_t>(store_header_bytes) + h.json_bytes, 8);
  if (h.index_offset != index) return damaged(name, 56, errors::store_index_place(h.index_offset, index));
  const std::int64_t data =
      rounded_up(index + h.units * h.tiers * static_cast<std::int64_t>(store_entry_bytes), extent_alignment);
  if (h.data_offset != data) return damaged(name, 64, errors::store_extents_place(h.data_offset, data));
  if (h.file_bytes < data || h.file_bytes % extent_alignment != 0)
    return damaged(name, 72, errors::store_stated_size(Bytes{h.file_bytes}));
  const Bytes found{file_bytes}, stated{h.file_bytes};
  if (file_bytes < h.file_bytes)
    return damaged(name, static_cast<std::uint64_t>(file_bytes), errors::store_too_short(found, stated));
  if (file_bytes > h.file_bytes)
    return damaged(name, static_cast<std::uint64_t>(h.file_bytes), errors::store_too_long(found, stated));
  return {};
}

}  // namespace

Result<StoreLayout> plan_store(const StoreIdentity& identity, std::span<const std::int64_t> bytes) {
  const auto tiers = std::ssize(identity.tiers);
  const bool counts = identity.units > 0 && identity.units < max_units && tiers > 0 && tiers <= max_tiers;
  if (!counts || std::ssize(bytes) != identity.units * tiers)
    return fail(phrases::store_place(), errors::store_size_count(bytes.size(), identity.units, tiers));
  if (std::ranges::any_of(bytes, [](std::int64_t b) { return b <= 0 || b % extent_alignment != 0; }))
    return fail(phrases::store_place(), errors::store_extent_alignment());
  StoreLayout layout;
  layout.identity = identity;
  layout.extents.resize(bytes.size());
  for (std::int64_t unit = 0; unit < identity.units; ++unit) {
    for (std::int64_t tier = 0; tier < tiers; ++tier)
      layout.extents[layout.slot(unit, tier)].bytes = bytes[static_cast<std::size_t>(unit * tiers + tier)];
  }
  const auto entries = static_cast<std::int64_t>(layout.extents.size() * store_entry_bytes);
  layout.index_offset =
      rounded_up(static_cast<std::int64_t>(store_header_bytes + description(identity).size()), 8);
  layout.data_offset = rounded_up(layout.index_offset + entries, extent_alignment);
  if (!lay_out(layout)) return fail(phrases::store_place(), errors::store_extents_too_large());
  return layout;
}

std::vector<std::byte> encode_store_front(StoreLayout& layout) {
  const std::string json = description(layout.identity);
  const auto json_bytes = std::as_bytes(std::span(json));
  std::vector<std::byte> front(static_cast<std::size_t>(layout.index_offset));
  std::memcpy(front.data(), magic, sizeof magic);
  put<std::uint32_t>(front, 8, version);
  put<std::uint32_t>(front, 12, store_entry_bytes);
  put<std::int64_t>(front, 16, layout.identity.units);
  put<std::uint64_t>(front, 24, layout.identity.tiers.size());
  put<std::uint64_t>(front, 32, json.size());
  put<std::uint64_t>(front, 40, checksum64(json_bytes));
  put<std::uint64_t>(front, 48, sizes_checksum(layout));
  put<std::int64_t>(front, 56, layout.index_offset);
  put<std::int64_t>(front, 64, layout.data_offset);
  put<std::int64_t>(front, 72, layout.file_bytes);
  layout.seed = checksum64(std::span(front).first(80));
  put<std::uint64_t>(front, 80, layout.seed);
  std::ranges::copy(json_bytes, front.begin() + store_header_bytes);
  return front;
}

StoreEntry encode_store_entry(const StoreLayout& layout, std::size_t slot) {
  const Extent& extent = layout.extents[slot];
  StoreEntry entry{};
  put<std::int64_t>(entry, 0, extent.offset);
  put<std::int64_t>(entry, 8, extent.bytes);
  put<std::uint64_t>(entry, 16, extent.checksum);
  put<float>(entry, 24, extent.weight_error);
  put<float>(entry, 28, extent.output_error);
  put<float>(entry, 32, extent.divergence);
  put<std::uint32_t>(entry, 36, extent.calibration_tokens);
  put<std::uint64_t>(entry, 40, checksum64(std::span(entry).first<40>(), layout.seed + slot));
  return entry;
}

bool decode_store_entry(StoreLayout& layout, std::size_t slot,
                        std::span<const std::byte, store_entry_bytes> entry) {
  if (get<std::uint64_t>(entry, 40) != checksum64(entry.first<40>(), layout.seed + slot)) return false;
  Extent& extent = layout.extents[slot];
  if (get<std::int64_t>(entry, 0) != extent.offset || get<std::int64_t>(entry, 8) != extent.bytes)
    return false;
  extent.checksum = get<std::uint64_t>(entry, 16);
  extent.weight_error = get<float>(entry, 24);
  extent.output_error = get<float>(entry, 28);
  extent.divergence = get<float>(entry, 32);
  extent.calibration_tokens = get<std::uint32_t>(entry, 36);
  return true;
}

bool begins_as_store(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

Result<StoreHeader> read_store_header(std::span<const std::byte> bytes, std::int64_t file_bytes,
                                      const std::filesystem::path& name) {
  if (!begins_as_store(bytes)) return fail(phrases::offset_place(name, 0), errors::no_expert_store());
  if (bytes.size() < store_header_bytes) return damaged(name, bytes.size(), errors::store_ends_in_header());
  if (const auto found = get<std::uint32_t>(bytes, 8); found != version)
    return damaged(name, 8, errors::store_version(found, version));
  StoreHeader h{.checksum = get<std::uint64_t>(bytes, 80)};
  if (h.checksum != checksum64(bytes.first(80))) return damaged(name, 80, errors::store_header_checksum());
  if (get<std::uint32_t>(bytes, 12) != store_entry_bytes)
    return damaged(name, 12, errors::store_entry_size());
  const auto bounded = [&](std::size_t offset, std::uint64_t most, Phrase subject,
                           std::int64_t& value) -> Result<void> {
    const auto number = get<std::uint64_t>(bytes, offset);
    if (number == 0 || number > most)
      return damaged(name, offset, errors::store_number(std::move(subject), number, most));
    value = static_cast<std::int64_t>(number);
    return {};
  };
  constexpr std::uint64_t max_offset = std::uint64_t{1} << 62;
  FOVEA_CHECK(bounded(16, max_units - 1, phrases::store_unit_count(), h.units));
  FOVEA_CHECK(bounded(24, max_tiers, phrases::store_tier_count(), h.tiers));
  FOVEA_CHECK(bounded(32, store_json_limit_bytes, phrases::store_description_length(), h.json_bytes));
  FOVEA_CHECK(bounded(56, max_offset, phrases::store_index_offset(), h.index_offset));
  FOVEA_CHECK(bounded(64, max_offset, phrases::store_first_extent_offset(), h.data_offset));
  FOVEA_CHECK(bounded(72, max_offset, phrases::store_file_size(), h.file_bytes));
  h.json_checksum = get<std::uint64_t>(bytes, 40);
  h.sizes_checksum = get<std::uint64_t>(bytes, 48);
  FOVEA_CHECK(check_layout(h, file_bytes, name));
  return h;
}

Result<StoreIdentity> read_store_description(const StoreHeader& header, std::span<const std::byte> front,
                                             const std::filesystem::path& name) {
  const auto json_bytes = static_cast<std::size_t>(header.json_bytes);
  if (front.size() < store_header_bytes + json_bytes)
    return damaged(name, front.size(), errors::store_ends_in_description());
  const auto text = front.subspan(store_header_bytes, json_bytes);
  if (checksum64(text) != header.json_checksum)
    return damaged(name, store_header_bytes, errors::store_description_checksum());
  FOVEA_TRY(const nlohmann::json json,
            parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, name, store_header_bytes,
                       {.depth = 4, .unique_keys = true}));
  if (!json.is_object()) return damaged(name, store_header_bytes, errors::store_no_description());
  const Description fields(json, name);
  StoreIdentity identity;
  FOVEA_TRY(identity.model_fingerprint, fields.hexadecimal("model_fingerprint"));
  FOVEA_TRY(identity.packing, fields.text("packing"));
  FOVEA_TRY(identity.scope, fields.text("scope"));
  FOVEA_TRY(const std::int64_t quantizer, fields.number("quantizer_version", 0xFFFFFFFF));
  identity.quantizer_version = static_cast<std::uint32_t>(quantizer);
  FOVEA_TRY(identity.calibration, fields.hexadecimal("calibration"));
  FOVEA_TRY(identity.tiers, fields.names("tiers"));
  FOVEA_TRY(identity.units, fields.number("units", max_units - 1));
  if (identity.units != header.units || std::ssize(identity.tiers) != header.tiers)
    return damaged(name, 16, errors::store_counts());
  return identity;
}

Result<StoreLayout> read_store_front(std::span<const std::byte> front, std::int64_t file_bytes,
                                     const std::filesystem::path& name) {
  FOVEA_TRY(const StoreHeader header, read_store_header(front, file_bytes, name));
  if (std::ssize(front) < header.data_offset)
    return damaged(name, front.size(), errors::store_ends_in_index());
  StoreLayout layout;
  layout.index_offset = header.index_offset;
  layout.data_offset = header.data_offset;
  layout.file_bytes = header.file_bytes;
  layout.seed = header.checksum;
  FOVEA_TRY(layout.identity, read_store_description(header, front, name));
  layout.extents.resize(static_cast<std::size_t>(header.units * header.tiers));
  std::int64_t end = header.data_offset;
  for (std::size_t slot = 0; slot < layout.extents.size(); ++slot) {
    const std::size_t at = static_cast<std::size_t>(header.index_offset) + slot * store_entry_bytes;
    const auto entry = front.subspan(at).first<store_entry_bytes>();
    Extent& extent = layout.extents[slot];
    extent.offset = end;
    extent.bytes = get<std::int64_t>(entry, 8);
    const bool inside =
        extent.bytes > 0 && extent.bytes % extent_alignment == 0 && extent.bytes <= header.file_bytes - end;
    if (!decode_store_entry(layout, slot, entry))
      return damaged(name, at, errors::store_entry_damaged(slot % static_cast<std::size_t>(header.units)));
    if (!inside) return damaged(name, at + 8, errors::store_extent_outside(Bytes{extent.bytes}));
    if (!is_error(extent.weight_error) || !is_error(extent.output_error) ||
        !(is_error(extent.divergence) || extent.divergence == -1))
      return damaged(name, at + 24, errors::store_extent_error());
    end += extent.bytes;
  }
  if (end != header.file_bytes) return damaged(name, 72, errors::store_extents_hole());
  if (sizes_checksum(layout) != header.sizes_checksum)
    return damaged(name, 48, errors::store_sizes_checksum());
  return layout;
}

std::vector<std::int64_t> tiers_among(std::span<const std::string> wanted,
                                      std::span<const std::string> held) {
  std::vector<std::int64_t> places;
  auto from = held.begin();
  for (const std::string& tier : wanted) {
    const auto place = std::find(from, held.end(), tier);
    if (place == held.end()) return {};
    places.push_back(place - held.begin());
    from = place + 1;
  }
  return places;
}

Result<void> check_identity(const StoreIdentity& found, const StoreIdentity& expected,
                            const std::filesystem::path& name) {
  const auto differs = [&](Error error) {
    return fail(phrases::file_place(name), std::move(error).advise(phrases::make_store_again()));
  };
  if (found.model_fingerprint != expected.model_fingerprint)
    return differs(
        errors::store_of_another_model(hex(found.model_fingerprint), hex(expected.model_fingerprint)));
  if (found.packing != expected.packing)
    return differs(errors::store_of_another_packing(found.packing, expected.packing));
  if (found.scope != expected.scope)
    return differs(errors::store_of_another_scope(found.scope, expected.scope));
  if (tiers_among(expected.tiers, found.tiers).empty())
    return differs(errors::store_of_other_tiers(found.tiers, expected.tiers));
  if (found.quantizer_version != expected.quantizer_version)
    return differs(errors::store_of_another_quantiser(found.quantizer_version, expected.quantizer_version));
  if (found.units != expected.units)
    return differs(errors::store_of_other_units(found.units, expected.units));
  return {};
}

}  // namespace fovea::checkpoint
