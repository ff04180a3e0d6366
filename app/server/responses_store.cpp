#include <algorithm>
#include <charconv>
#include <utility>

#include "app/server/errors.h"
#include "app/server/http.h"
#include "app/server/responses.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t usual_items = 20, max_items = 100;  // of a list, as OpenAI has it

std::size_t bytes_of(const KeptResponse& response) {
  std::size_t bytes = dump(response.response).size() + dump(response.input).size();
  for (const Message& message : response.conversation) bytes += message.content.size() + sizeof message;
  return bytes;
}

Result<std::int64_t> limit_of(std::string_view query) {
  const auto text = query_value(query, "limit");
  if (!text) return usual_items;
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error == std::errc() && end == text->data() + text->size() && limit >= 1 && limit <= max_items)
    return limit;
  return fail(phrases::server_request_place(),
              errors::server_wrong_parameter("limit", phrases::server_whole_number(1, max_items)));
}

}  // namespace

void ResponseStore::put(const std::string& id, KeptResponse response) {
  const std::size_t bytes = bytes_of(response);
  const std::scoped_lock lock(mutex_);
  kept_.push_back({id, std::move(response), bytes, now_()});
  bytes_ += bytes;
  drop_old();
}

std::optional<KeptResponse> ResponseStore::find(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  drop_old();
  const auto found = std::ranges::find(kept_, id, &Kept::id);
  return found == kept_.end() ? std::nullopt : std::optional(found->response);
}

bool ResponseStore::erase(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  drop_old();
  const auto found = std::ranges::find(kept_, id, &Kept::id);
  if (found == kept_.end()) return false;
  bytes_ -= found->bytes;
  kept_.erase(found);
  return true;
}

void ResponseStore::drop_old() {
  const Clock::time_point now = now_();
  while (!kept_.empty() &&
         (kept_.size() > max_responses || bytes_ > max_bytes || now - kept_.front().since > kept_for)) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

Json input_items(const Json& input) {
  if (input.is_string()) return input_items(Json::array({{{"role", "user"}, {"content", input}}}));
  Json items = Json::array();
  for (const Json& given : input) {
    Json item = {{"id", nullptr}, {"type", nullptr}};
    item.update(given);
    if (!item["type"].is_string()) item["type"] = "message";
    const bool is_message = item["type"] == "message";
    if (!item["id"].is_string()) item["id"] = new_id(is_message ? "msg_" : "item_");
    if (is_message) {
      item["status"] = "completed";
      const bool is_answer = item["role"] == "assistant";
      if (item["content"].is_string())
        item["content"] =
            Json::array({{{"type", is_answer ? "output_text" : "input_text"}, {"text", item["content"]}}});
    }
    items.push_back(std::move(item));
  }
  return items;
}

Result<Json> list_input_items(const KeptResponse& response, std::string_view query) {
  FOVEA_TRY(const std::int64_t limit, limit_of(query));
  const std::string order = query_value(query, "order").value_or("desc");
  if (order != "asc" && order != "desc")
    return fail(phrases::server_request_place(),
                errors::server_wrong_parameter(
                    "order", phrases::server_one_of(std::vector<std::string>{"asc", "desc"})));
  std::vector<Json> items(response.input.begin(), response.input.end());
  if (order == "desc") std::ranges::reverse(items);
  if (const auto after = query_value(query, "after")) {
    const auto last = std::ranges::find_if(items, [&](const Json& item) { return item["id"] == *after; });
    if (last == items.end())
      return fail(phrases::server_request_place(),
                  errors::server_wrong_parameter("after", phrases::server_known_item()));
    items.erase(items.begin(), last + 1);
  }
  const bool has_more = std::ssize(items) > limit;
  if (has_more) items.resize(static_cast<std::size_t>(limit));
  return Json{{"object", "list"},
              {"first_id", items.empty() ? Json() : items.front()["id"]},
              {"last_id", items.empty() ? Json() : items.back()["id"]},
              {"has_more", has_more},
              {"data", std::move(items)}};
}

}  // namespace fovea::app
