#include "app/history/json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "app/history/errors.h"
#include "app/history/exchange.h"
#include "engine/core/json_depth.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "fovea-conversations";
constexpr int kVersion = 1;
constexpr std::size_t kMaxReasons = 100;
constexpr std::size_t kBatch = 32;  // conversations handed on together
constexpr int kDeepest = 200;

// Finds where values begin and end, without looking at what they are.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::size_t at() const { return at_; }

  // The next value's text; empty when there is none or it does not end.
  std::string_view value() {
    peek();
    const std::size_t start = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && at_ > start && (c == ',' || c == ']' || c == '}' || c == ':')) break;
      ++at_;
      if (c == '"' && !skip_string()) return {};
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth < 0) return {};
      if (depth > kDeepest) return {};
      if (depth == 0 && (c == ']' || c == '}' || c == '"')) break;
    }
    return depth == 0 ? text_.substr(start, at_ - start) : std::string_view();
  }

 private:
  bool skip_string() {
    for (;;) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) return at_ = text_.size(), false;
      if (text_[at_++] == '"') return true;
      if (++at_ > text_.size()) return at_ = text_.size(), false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, std::filesystem::path file, const ArchiveSink& sink)
      : text_(text), file_(std::move(file)), sink_(sink), scanner_(text) {}

  Result<Parsed> read() {
    if (text_.starts_with("PK\x03\x04")) return refused(errors::import_zip());
    const char first = scanner_.peek();
    if (first == '[') {
      FOVEA_CHECK(read_list());
    } else if (first == '{') {
      FOVEA_CHECK(read_object());
    } else {
      return refused(errors::import_no_json());
    }
    FOVEA_CHECK(hand_on());
    return std::move(parsed_);
  }

 private:
  std::unexpected<Error> refused(Error error) const {
    return fail(phrases::file_place(file_), std::move(error));
  }
  std::unexpected<Error> broken() const { return refused(errors::import_breaks_off(scanner_.at())); }

  // The scanner stands at '['.
  Result<void> read_list() {
    scanner_.take('[');
    if (scanner_.take(']')) return {};
    for (;;) {
      const std::string_view element = scanner_.value();
      if (element.empty()) return broken();
      add(element);
      if (archives_.size() >= kBatch) FOVEA_CHECK(hand_on());
      if (scanner_.take(']')) return {};
      if (!scanner_.take(',')) return broken();
    }
  }

  // Ours: {"format": …, "conversations": […]}; or one ChatGPT conversation alone.
  Result<void> read_object() {
    const std::size_t start = scanner_.at();
    bool any = false;
    scanner_.take('{');
    while (scanner_.peek() == '"') {
      const std::string_view key = scanner_.value();
      if (key.empty() || !scanner_.take(':')) return broken();
      if (key == "\"version\"") {
        const auto version = Json::parse(scanner_.value(), nullptr, false);
        if (version.is_number_integer() && version > kVersion) return refused(errors::import_too_new());
      } else if (key == "\"conversations\"" && scanner_.peek() == '[') {
        any = true;
        FOVEA_CHECK(read_list());
      } else if (scanner_.value().empty()) {
        return broken();
      } else if (key == "\"mapping\"") {
        Scanner whole(text_.substr(start));
        const std::string_view element = whole.value();
        if (element.empty()) return broken();
        add(element);
        return {};
      }
      if (!scanner_.take(',')) break;
    }
    if (!scanner_.take('}')) return broken();
    if (!any) return refused(errors::import_no_conversations());
    return {};
  }

  void add(std::string_view element) {
    ++number_;
    const Json value = Json::parse(element, nullptr, false);
    auto archive = !value.is_object()          ? Result<Archive>(fail(errors::import_no_object()))
                   : value.contains("mapping") ? archive_of_chatgpt(value)
                                               : archive_of(value);
    if (archive) {
      archives_.push_back(std::move(*archive));
      return;
    }
    ++parsed_.left_out_count;
    if (parsed_.left_out.size() >= kMaxReasons) return;
    const std::string title = value.is_object() ? string_in(value, "title").substr(0, 200) : std::string();
    const Phrase& why = archive.error().what;
    parsed_.left_out.push_back(title.empty() ? phrases::import_left_out(number_, why)
                                             : phrases::import_left_out_titled(number_, title, why));
  }

  Result<void> hand_on() {
    if (archives_.empty()) return {};
    FOVEA_CHECK(sink_(archives_));
    archives_.clear();
    return {};
  }

  std::string_view text_;
  std::filesystem::path file_;
  const ArchiveSink& sink_;
  Scanner scanner_;
  std::vector<Archive> archives_;
  Parsed parsed_;
  std::int64_t number_ = 0;
};

// JSON inside JSON where that gives the same text back, else the text.
Json nested(const std::string& text) {
  if ((text.starts_with('{') || text.starts_with('[')) && json_depth(text) <= kDeepest) {
    Json value = Json::parse(text, nullptr, false);
    if (!value.is_discarded() && value.dump() == text) return value;
  }
  return text;
}

std::string flattened(const Json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end()) return {};
  if (member->is_object() || member->is_array()) return member->dump();
  return member->is_string() ? member->get<std::string>() : std::string();
}

void set_unless_empty(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json json_of(const Message& m, Id id, Id parent) {
  Json object{{"id", id}, {"parent", parent}, {"role", name_of(m.role)}, {"text", m.text}};
  object["state"] = name_of(m.state);
  object["created_at_ms"] = m.created_at;
  object["updated_at_ms"] = m.updated_at;
  set_unless_empty(object, "model", m.origin.model);
  set_unless_empty(object, "policy", m.origin.policy);
  if (m.origin.seed != 0) object["seed"] = m.origin.seed;
  if (!m.origin.settings.empty()) object["settings"] = nested(m.origin.settings);
  if (!m.timings.empty()) object["timings"] = nested(m.timings);
  set_unless_empty(object, "note", m.note);
  for (const Attachment& a : m.attachments) {
    object["attachments"].push_back(
        {{"name", a.name}, {"media_type", a.media_type}, {"tokens", a.tokens}, {"text", a.text}});
  }
  return object;
}

template <class Enum>
bool read_name(const Json& object, const char* key, Enum last, Enum& value) {
  const std::string name = string_in(object, key);
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return value = static_cast<Enum>(i), true;
  }
  return false;
}

Result<Message> message_of(const Json& object) {
  Message m;
  if (!object.is_object()) return fail(errors::import_message_no_object());
  if (!read_name(object, "role", Role::tool, m.role)) {
    return fail(errors::import_message_role(string_in(object, "role").substr(0, 40)));
  }
  if (!read_name(object, "state", MessageState::failed, m.state)) m.state = MessageState::complete;
  m.id = integer_in(object, "id");
  m.parent = integer_in(object, "parent");
  m.text = string_in(object, "text");
  m.created_at = integer_in(object, "created_at_ms");
  m.updated_at = integer_in(object, "updated_at_ms");
  m.origin.model = string_in(object, "model");
  m.origin.policy = string_in(object, "policy");
  if (const auto seed = object.find("seed"); seed != object.end() && seed->is_number_integer()) {
    m.origin.seed = seed->get<std::uint64_t>();
  }
  m.origin.settings = flattened(object, "settings");
  m.timings = flattened(object, "timings");
  m.note = string_in(object, "note");
  const auto attachments = object.find("attachments");
  if (attachments == object.end() || !attachments->is_array()) return m;
  for (const Json& a : *attachments) {
    if (!a.is_object()) continue;
    m.attachments.push_back(
        {string_in(a, "name"), string_in(a, "media_type"), string_in(a, "text"), integer_in(a, "tokens")});
  }
  return m;
}

}  // namespace

std::string string_in(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

std::int64_t integer_in(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_number_integer() ? member->get<std::int64_t>() : 0;
}

Json json_of(const Archive& archive) {
  const Conversation& c = archive.conversation;
  Json object{
      {"uid", c.uid}, {"title", c.title}, {"created_at_ms", c.created_at}, {"updated_at_ms", c.updated_at}};
  if (c.pinned_at != 0) object["pinned_at_ms"] = c.pinned_at;
  set_unless_empty(object, "system_prompt", c.system_prompt);
  if (!c.settings.empty()) object["settings"] = nested(c.settings);
  set_unless_empty(object, "draft", c.draft);
  if (!archive.folder_name.empty())
    object["folder"] = {{"uid", archive.folder_uid}, {"name", archive.folder_name}};
  std::unordered_map<Id, Id> numbers{{0, 0}};
  Json messages = Json::array();
  for (const Message& m : archive.messages) {
    const Id number = static_cast<Id>(numbers.size());
    numbers[m.id] = number;
    const auto parent = numbers.find(m.parent);
    messages.push_back(json_of(m, number, parent == numbers.end() ? 0 : parent->second));
  }
  const auto leaf = numbers.find(c.leaf);
  object["leaf"] = leaf == numbers.end() ? 0 : leaf->second;
  object["messages"] = std::move(messages);
  return object;
}

Result<Archive> archive_of(const Json& value) {
  const auto messages = value.find("messages");
  if (messages == value.end() || !messages->is_array()) return fail(errors::import_no_messages());
  Archive archive;
  Conversation& c = archive.conversation;
  c.uid = string_in(value, "uid");
  c.title = string_in(value, "title");
  c.created_at = integer_in(value, "created_at_ms");
  c.updated_at = integer_in(value, "updated_at_ms");
  c.pinned_at = integer_in(value, "pinned_at_ms");
  c.system_prompt = string_in(value, "system_prompt");
  c.settings = flattened(value, "settings");
  c.draft = string_in(value, "draft");
  if (const auto folder = value.find("folder"); folder != value.end() && folder->is_object()) {
    archive.folder_uid = string_in(*folder, "uid");
    archive.folder_name = string_in(*folder, "name");
  }
  c.leaf = integer_in(value, "leaf");
  std::unordered_map<Id, bool> known{{0, true}};
  for (const Json& object : *messages) {
    FOVEA_TRY(auto message, message_of(object));
    if (!known.contains(message.parent)) return fail(errors::import_message_early());
    if (!known.try_emplace(message.id, true).second) return fail(errors::import_message_twice());
    archive.messages.push_back(std::move(message));
  }
  if (!known.contains(c.leaf)) c.leaf = archive.messages.empty() ? 0 : archive.messages.back().id;
  return archive;
}

std::string to_json(const std::vector<Archive>& archives) {
  Json list = Json::array();
  for (const Archive& archive : archives) list.push_back(json_of(archive));
  const Json document{{"format", kFormat}, {"version", kVersion}, {"conversations", std::move(list)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Parsed> read_json(std::string_view text, const std::filesystem::path& file, const ArchiveSink& sink) {
  return Reader(text, file, sink).read();
}

Result<Parsed> from_json(std::string_view text, const std::filesystem::path& file) {
  std::vector<Archive> all;
  FOVEA_TRY(auto parsed, read_json(text, file, [&](std::vector<Archive>& archives) -> Result<void> {
              for (Archive& archive : archives) all.push_back(std::move(archive));
              return {};
            }));
  parsed.archives = std::move(all);
  return parsed;
}

}  // namespace fovea::app::history
