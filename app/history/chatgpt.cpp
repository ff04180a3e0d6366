// ChatGPT's export: each conversation is a mapping of node ids to nodes {message, parent, children}. Many
// nodes are not for the eye (the root, system prompts, tools' contexts); their children move up to the
// nearest node that is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "app/history/errors.h"
#include "app/history/json.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

using Json = nlohmann::ordered_json;

struct ExportedNode {
  const Json* value = nullptr;
  std::vector<std::size_t> children;
  bool has_parent = false;
};

const Json* member(const Json* object, const char* key) {
  if (!object || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

std::string text_in(const Json* object, const char* key) {
  return object && object->is_object() ? string_in(*object, key) : std::string();
}

bool flag_in(const Json* object, const char* key) {
  const Json* value = member(object, key);
  return value && value->is_boolean() && value->get<bool>();
}

// Seconds since 1970 as a number with a fraction.
Time time_in(const Json* object, const char* key) {
  const Json* value = member(object, key);
  if (!value || !value->is_number()) return 0;
  const double ms = value->get<double>() * 1000;
  return std::isfinite(ms) && ms > 0 && ms < 1e15 ? static_cast<Time>(std::llround(ms)) : 0;
}

void add_paragraph(std::string& text, std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += more;
}

// A part that is no text: speech has its words, a picture only its place.
std::string part_text(const Json& part) {
  if (part.is_string()) return part.get<std::string>();
  const std::string type = text_in(&part, "content_type");
  if (const std::string text = text_in(&part, "text"); !text.empty()) return text;
  if (type.contains("image")) return "[image]";
  if (type.contains("audio") || type.contains("video")) return "[audio]";
  return {};
}

std::string fenced(const std::string& language, const std::string& code) {
  std::string fence = "```";
  while (code.contains(fence)) fence += '`';
  return code.empty() ? std::string() : fence + language + "\n" + code + "\n" + fence;
}

std::string thoughts_text(const Json* content) {
  std::string text;
  const Json* thoughts = member(content, "thoughts");
  if (!thoughts || !thoughts->is_array()) return {};
  for (const Json& thought : *thoughts) {
    add_paragraph(text, text_in(&thought, "summary"));
    add_paragraph(text, text_in(&thought, "content"));
  }
  return text.empty() ? text : "<think>\n" + text + "\n</think>";
}

std::string content_text(const Json* content) {
  const std::string type = text_in(content, "content_type");
  if (type == "code") {
    const std::string language = text_in(content, "language");
    return fenced(language == "unknown" ? std::string() : language, text_in(content, "text"));
  }
  if (type == "execution_output") return fenced({}, text_in(content, "text"));
  if (type == "thoughts") return thoughts_text(content);
  if (type == "reasoning_recap" || type.ends_with("_editable_context")) return {};
  std::string text;
  if (const Json* parts = member(content, "parts"); parts && parts->is_array()) {
    for (const Json& part : *parts) add_paragraph(text, part_text(part));
  }
  if (text.empty()) text = text_in(content, "text");
  if (text.empty()) text = text_in(content, "result");
  return text;
}

void add_attachments(const Json* metadata, Message& m) {
  const Json* list = member(metadata, "attachments");
  if (!list || !list->is_array()) return;
  for (const Json& a : *list) {
    // The export has the files apart: only their names are kept.
    if (auto name = text_in(&a, "name"); !name.empty()) {
      m.attachments.push_back({std::move(name), text_in(&a, "mime_type"), {}, 0});
    }
  }
}

MessageState state_of(const std::string& status) {
  if (status == "in_progress") return MessageState::partial;
  return status == "finished_partial_completion" ? MessageState::stopped : MessageState::complete;
}

// False: not for the eye.
bool read_message(const Json* node, Message& m) {
  const Json* message = member(node, "message");
  const Json* metadata = member(message, "metadata");
  if (flag_in(metadata, "is_visually_hidden_from_conversation")) return false;
  const std::string role = text_in(member(message, "author"), "role");
  if (role == "user") {
    m.role = Role::user;
  } else if (role == "assistant") {
    m.role = Role::assistant;
  } else if (role == "system") {
    m.role = Role::system;
  } else if (role == "tool") {
    m.role = Role::tool;
  } else {
    return false;
  }
  m.text = content_text(member(message, "content"));
  add_attachments(metadata, m);
  m.state = state_of(text_in(message, "status"));
  m.origin.model = text_in(metadata, "model_slug");
  m.created_at = time_in(message, "create_time");
  m.updated_at = std::max(m.created_at, time_in(message, "update_time"));
  return !m.text.empty() || !m.attachments.empty();
}

// Children in the order that their parent gives, then those that it does not name.
std::vector<ExportedNode> nodes_of(const Json& mapping,
                                   std::unordered_map<std::string, std::size_t>& places) {
  std::vector<ExportedNode> nodes;
  for (const auto& [key, value] : mapping.items()) {
    if (places.try_emplace(key, nodes.size()).second) nodes.push_back({&value, {}, false});
  }
  const auto adopt = [&](std::size_t parent, std::size_t child) {
    if (nodes[child].has_parent || parent == child) return;
    nodes[child].has_parent = true;
    nodes[parent].children.push_back(child);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Json* children = member(nodes[i].value, "children");
    if (!children || !children->is_array()) continue;
    for (const Json& child : *children) {
      const auto place = child.is_string() ? places.find(child.get<std::string>()) : places.end();
      if (place != places.end()) adopt(i, place->second);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto place = places.find(text_in(nodes[i].value, "parent"));
    if (place != places.end()) adopt(place->second, i);
  }
  return nodes;
}

// Walks down from the roots, so that what hangs on itself is never reached.
void add_messages(const std::vector<ExportedNode>& nodes, std::vector<Id>& shown_at, Archive& archive) {
  std::vector<std::pair<std::size_t, Id>> waiting;  // node, the shown message above it
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!nodes[i].has_parent) waiting.emplace_back(i, 0);
  }
  while (!waiting.empty()) {
    const auto [at, above] = waiting.back();
    waiting.pop_back();
    Message m;
    shown_at[at] = above;
    if (read_message(nodes[at].value, m)) {
      m.id = static_cast<Id>(archive.messages.size()) + 1;
      m.parent = above;
      shown_at[at] = m.id;
      archive.messages.push_back(std::move(m));
    }
    for (auto child = nodes[at].children.rbegin(); child != nodes[at].children.rend(); ++child) {
      waiting.emplace_back(*child, shown_at[at]);
    }
  }
}

}  // namespace

Result<Archive> archive_of_chatgpt(const Json& value) {
  const Json* mapping = member(&value, "mapping");
  if (!mapping || !mapping->is_object()) return fail(errors::import_no_mapping());
  Archive archive;
  Conversation& c = archive.conversation;
  std::string id = text_in(&value, "conversation_id");
  if (id.empty()) id = text_in(&value, "id");
  if (!id.empty()) c.uid = "chatgpt:" + id;
  c.title = text_in(&value, "title");
  c.created_at = time_in(&value, "create_time");
  c.updated_at = std::max(c.created_at, time_in(&value, "update_time"));
  std::unordered_map<std::string, std::size_t> places;
  const std::vector<ExportedNode> nodes = nodes_of(*mapping, places);
  std::vector<Id> shown_at(nodes.size(), 0);
  add_messages(nodes, shown_at, archive);
  if (archive.messages.empty()) return fail(errors::import_nothing_shown());
  const auto current = places.find(text_in(&value, "current_node"));
  c.leaf = current == places.end() ? 0 : shown_at[current->second];
  if (c.leaf == 0) c.leaf = archive.messages.back().id;
  return archive;
}

}  // namespace fovea::app::history
