#include "engine/precision/tier_map.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "engine/api/snapshot.h"
#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t max_bytes = 16 << 20;

// Greedy, with one point to return to: linear for the patterns that people write.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

class MapReader {
 public:
  MapReader(std::filesystem::path file, std::span<const std::string> unit_names,
            std::span<const std::string> tier_names)
      : file_(std::move(file)),
        unit_names_(unit_names),
        tier_names_(tier_names),
        tiers_(unit_names.size(), no_tier),
        named_in_(unit_names.size(), 0) {
    for (std::size_t unit = 0; unit < unit_names.size(); ++unit) unit_of_.emplace(unit_names[unit], unit);
  }

  Result<std::vector<std::uint8_t>> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      FOVEA_CHECK(line(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (std::size_t unit = 0; unit < tiers_.size(); ++unit) {
      if (tiers_[unit] != no_tier) continue;
      if (default_line_ == 0)
        return fail(phrases::file_place(file_), errors::tier_map_leaves_out(unit_names_[unit]));
      tiers_[unit] = default_tier_;
    }
    return std::move(tiers_);
  }

 private:
  std::unexpected<Error> wrong(Error error) const {
    return fail(phrases::line_place(file_, line_), std::move(error));
  }

  static std::string_view next_word(std::string_view& rest) {
    constexpr std::string_view blanks = " \t\r";
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
    rest.remove_prefix(word.size());
    return word;
  }

  Result<void> line(std::string_view text) {
    text = text.substr(0, text.find('#'));
    const std::string_view pattern = next_word(text);
    if (pattern.empty()) return {};
    const std::string_view tier_name = next_word(text);
    if (tier_name.empty() || !next_word(text).empty()) return wrong(errors::tier_map_line());
    FOVEA_TRY(const std::uint8_t tier, tier_of(tier_name));
    if (pattern == "default") return set_default(tier);
    if (pattern.find('*') == std::string_view::npos) {
      const auto found = unit_of_.find(std::string(pattern));
      if (found == unit_of_.end()) return no_such_unit(pattern);
      return set(found->second, tier);
    }
    bool any = false;
    for (std::size_t unit = 0; unit < unit_names_.size(); ++unit) {
      if (!matches(pattern, unit_names_[unit])) continue;
      any = true;
      FOVEA_CHECK(set(unit, tier));
    }
    if (!any) return no_such_unit(pattern);
    return {};
  }

  Result<std::uint8_t> tier_of(std::string_view name) const {
    const auto found = std::ranges::find(tier_names_, name);
    if (found != tier_names_.end()) return static_cast<std::uint8_t>(found - tier_names_.begin());
    return wrong(errors::tier_map_unknown_tier(name, std::vector(tier_names_.begin(), tier_names_.end())));
  }

  Result<void> set(std::size_t unit, std::uint8_t tier) {
    if (named_in_[unit] != 0) return wrong(errors::tier_map_names_twice(unit_names_[unit], named_in_[unit]));
    named_in_[unit] = line_;
    tiers_[unit] = tier;
    return {};
  }

  Result<void> set_default(std::uint8_t tier) {
    if (default_line_ != 0) return wrong(errors::tier_map_second_default(default_line_));
    default_line_ = line_;
    default_tier_ = tier;
    return {};
  }

  std::unexpected<Error> no_such_unit(std::string_view pattern) const {
    Error error = errors::tier_map_unknown_unit(pattern);
    if (unit_names_.empty()) return wrong(std::move(error));
    return wrong(std::move(error).advise(phrases::units_called_like(unit_names_.front())));
  }

  std::filesystem::path file_;
  std::span<const std::string> unit_names_, tier_names_;
  std::unordered_map<std::string, std::size_t> unit_of_;
  std::vector<std::uint8_t> tiers_;     // [units]
  std::vector<std::int64_t> named_in_;  // [units] the line, 0: none yet
  std::int64_t line_ = 0, default_line_ = 0;
  std::uint8_t default_tier_ = no_tier;
};

}  // namespace

Result<std::vector<std::uint8_t>> parse_tier_map(std::string_view text, const std::filesystem::path& file,
                                                 std::span<const std::string> unit_names,
                                                 std::span<const std::string> tier_names) {
  return MapReader(file, unit_names, tier_names).read(text);
}

Result<std::vector<std::uint8_t>> read_tier_map(const std::filesystem::path& path,
                                                std::span<const std::string> unit_names,
                                                std::span<const std::string> tier_names) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return fail(phrases::file_place(path), errors::tier_map_unreadable(Said{error.message()}));
  if (bytes > std::uintmax_t{max_bytes})
    return fail(phrases::file_place(path),
                errors::tier_map_too_large(Bytes{static_cast<std::int64_t>(bytes)}, Bytes{max_bytes}));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(phrases::file_place(path), errors::tier_map_read_failed());
  return parse_tier_map(text.view(), path, unit_names, tier_names);
}

}  // namespace fovea::precision
