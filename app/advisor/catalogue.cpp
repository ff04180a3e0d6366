#include "app/advisor/catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/advisor/errors.h"
#include "engine/api/plan.h"
#include "engine/core/result.h"

// The file's text between two labels in the read-only data.
asm(R"(
    .pushsection .rodata
    .balign 16
    .globl fovea_catalogue_begin
fovea_catalogue_begin:
    .incbin ")" FOVEA_CATALOGUE_FILE R"("
    .globl fovea_catalogue_end
fovea_catalogue_end:
    .byte 0
    .popsection
)");
extern "C" const char fovea_catalogue_begin[];
extern "C" const char fovea_catalogue_end[];

namespace fovea::app {
namespace {

using Json = nlohmann::json;

// One entry; remembers the first key that is wrong.
class Reader {
 public:
  explicit Reader(const Json& entry) : entry_(entry) {}

  std::string text(const char* key) {
    const auto value = entry_.find(key);
    if (value == entry_.end()) return {};
    if (!value->is_string()) return complain(key, phrases::a_text()), std::string();
    return value->get<std::string>();
  }
  // `otherwise` where the key is missing, if that is not too small.
  std::int64_t number(const char* key, std::int64_t least, std::int64_t otherwise) {
    const auto value = entry_.find(key);
    if (value == entry_.end() && otherwise >= least) return otherwise;
    if (value == entry_.end() || !value->is_number_integer() || value->get<std::int64_t>() < least)
      return complain(key, phrases::catalogue_whole(least)), least;
    return value->get<std::int64_t>();
  }
  double percent(const char* key) {
    const auto value = entry_.find(key);
    if (value == entry_.end()) return 0;
    if (!value->is_number() || value->get<double>() < 0 || value->get<double>() > 100)
      return complain(key, phrases::catalogue_percent()), 0;
    return value->get<double>();
  }
  std::map<std::string, std::string> texts(const char* key) {
    std::map<std::string, std::string> read;
    const auto value = entry_.find(key);
    if (value == entry_.end() || !value->is_object() || !value->contains("en"))
      return complain(key, phrases::catalogue_english()), read;
    for (const auto& [language, words] : value->items()) {
      if (!words.is_string()) return complain(key, phrases::catalogue_languages()), read;
      read[language] = words.get<std::string>();
    }
    return read;
  }
  void complain(const char* key, Phrase expected) {
    if (!complaint_) complaint_ = errors::catalogue_key(key, std::move(expected));
  }
  const std::optional<Error>& complaint() const { return complaint_; }

 private:
  const Json& entry_;
  std::optional<Error> complaint_;
};

// Empty without a shape, or with a wrong one.
ShapeFacts facts_of(Reader& reader, const std::string& shape, const std::string& tier,
                    const std::string& dense) {
  if (shape.empty()) return {};
  const auto shapes = shape_names();
  if (std::ranges::find(shapes, shape) == shapes.end()) {
    reader.complain("shape", phrases::catalogue_known_shape());
    return {};
  }
  auto facts = shape_facts({.name = shape, .dense_tier = dense}, tier);
  if (!facts) reader.complain("tier", phrases::catalogue_shape_tiers());
  return facts.value_or(ShapeFacts());
}

Result<CatalogueEntry> read_entry(const Json& json, std::size_t number) {
  const Phrase where = phrases::catalogue_entry(number + 1);
  if (!json.is_object()) return fail(where, errors::catalogue_no_object());
  Reader reader(json);
  const std::string shape = reader.text("shape"), tier = reader.text("tier"), dense = reader.text("dense");
  const ShapeFacts facts = facts_of(reader, shape, tier, dense);
  CatalogueEntry entry{.id = reader.text("id"),
                       .name = reader.text("name"),
                       .repository = reader.text("repository"),
                       .file = reader.text("file"),
                       .made_by = reader.text("made_by"),
                       .shape = shape,
                       .tier = tier,
                       .dense = dense,
                       .bytes = reader.number("bytes", 1, facts.file_bytes),
                       .bytes_from_shape = !json.contains("bytes"),
                       .parameters = reader.number("parameters", 1, facts.parameters),
                       .parameters_active = reader.number("parameters_active", 1, facts.parameters_active),
                       .experts = reader.number("experts", 0, facts.experts),
                       .experts_used = reader.number("experts_used", 0, facts.experts_used),
                       .context = reader.number("context", 1, facts.context),
                       .mmlu_pro = reader.percent("mmlu_pro"),
                       .licence = reader.text("licence"),
                       .good_at = reader.texts("good_at")};
  if (entry.id.empty()) reader.complain("id", phrases::a_text());
  if (entry.name.empty()) reader.complain("name", phrases::a_text());
  if (entry.licence.empty()) reader.complain("licence", phrases::a_text());
  if (entry.made_by.empty() && (entry.repository.empty() || entry.file.empty()))
    reader.complain("repository", phrases::catalogue_source());
  if (reader.complaint()) return fail(where, *reader.complaint());
  return entry;
}

}  // namespace

Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view text) {
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("models") || !root["models"].is_array())
    return fail(phrases::whole_catalogue(), errors::catalogue_no_list());
  std::vector<CatalogueEntry> entries;
  for (const Json& json : root["models"]) {
    FOVEA_TRY(CatalogueEntry entry, read_entry(json, entries.size()));
    if (std::ranges::any_of(entries, [&](const CatalogueEntry& e) { return e.id == entry.id; }))
      return fail(phrases::catalogue_entry(entries.size() + 1), errors::catalogue_twice(entry.id));
    entries.push_back(std::move(entry));
  }
  return entries;
}

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries =
      parse_catalogue({fovea_catalogue_begin, fovea_catalogue_end}).value_or(std::vector<CatalogueEntry>());
  return entries;
}

std::string good_at(const CatalogueEntry& entry, const std::string& language) {
  const auto found = entry.good_at.find(language);
  return found == entry.good_at.end() ? entry.good_at.at("en") : found->second;
}

}  // namespace fovea::app
