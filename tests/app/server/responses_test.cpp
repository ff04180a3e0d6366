// OpenAI's responses: items, streams, and what is kept.
#include "app/server/responses.h"

#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

class ResponsesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void responses() {
    const Server server;
    server.models.model->pieces = {said_call};
    server.models.model->result.timings = {.prompt_tokens = 9, .reused_tokens = 4, .generated_tokens = 3};
    const Json tool = {{"type", "function"}, {"name", "look"}, {"parameters", {{"type", "object"}}}};
    const Json body = {
        {"model", "tiny"},
        {"instructions", "Be short."},
        {"input", "Hi"},
        {"tools", Json::array({tool})},
        {"reasoning", {{"effort", "high"}}},
        {"text", {{"format", {{"type", "json_schema"}, {"name", "n"}, {"schema", {{"type", "integer"}}}}}}},
        {"max_output_tokens", 50}};
    const Json first = answer_of(server, "/v1/responses", body);
    const GenerateRequest asked = server.models.model->asked().back();
    QCOMPARE(asked.messages.size(), std::size_t{2});
    QVERIFY(asked.messages[0].role == "system" && asked.messages[1].content == "Hi" &&
            asked.max_tokens == 50);
    QVERIFY(asked.form.kind == AnswerForm::Kind::json_schema && asked.thinking == true);
    QCOMPARE(Json::parse(asked.tools)[0]["function"]["name"], "look");
    QCOMPARE(first["status"], "completed");
    QCOMPARE(first["output"][0]["content"][0]["text"], "Hm.");
    QCOMPARE(first["output"][1]["content"][0]["text"], "I look.");
    QCOMPARE(first["output"][2]["arguments"], "{\"at\": \"it\"}");
    QCOMPARE(first["usage"]["total_tokens"], 12);

    // The answer goes on with the call's result; the instructions do not.
    const Json result = {
        {"type", "function_call_output"}, {"call_id", first["output"][2]["call_id"]}, {"output", "a cat"}};
    answer_of(server, "/v1/responses",
              {{"previous_response_id", first["id"]}, {"input", Json::array({result})}});
    const auto messages = server.models.model->asked().back().messages;
    QCOMPARE(messages.size(), std::size_t{3});
    QCOMPARE(messages[1].content, said_call);
    QVERIFY(messages[2].role == "tool" && messages[2].content == "a cat" && messages[2].tool_name == "look");
    const Json unkept = answer_of(server, "/v1/responses", {{"input", "Hi"}, {"store", false}});
    const Json error = answer_of(server, "/v1/responses",
                                 {{"input", "Hi"}, {"previous_response_id", unkept["id"]}}, 404)["error"];
    QCOMPARE(error["code"], "previous_response_not_found");
    QCOMPARE(
        answer_of(server, "/v1/responses", {{"input", "Hi"}, {"background", true}}, 400)["error"]["param"],
        "background");
  }

  // In memory for an hour, at most 256 and 64 MiB of them; the oldest go first.
  void whatIsKeptGoes() {
    auto now = app::ResponseStore::Clock::now();
    app::ResponseStore store([&] { return now; });
    const auto holding = [](std::size_t bytes) {
      return app::KeptResponse{.conversation = {{"user", std::string(bytes, 'x')}}};
    };
    store.put("a", holding(1));
    now += std::chrono::minutes(40);
    store.put("b", holding(1));
    now += std::chrono::minutes(20);
    QVERIFY(store.find("a") && store.find("b"));
    now += std::chrono::seconds(1);
    QVERIFY(!store.find("a") && store.find("b"));
    QVERIFY(!store.erase("a") && store.erase("b") && !store.find("b"));
    for (std::size_t i = 0; i <= app::ResponseStore::max_responses; ++i)
      store.put(std::to_string(i), holding(1));
    QVERIFY(!store.find("0") && store.find("1"));
    store.put("large", holding(app::ResponseStore::max_bytes / 2));
    QVERIFY(store.find("large"));
    store.put("larger", holding(app::ResponseStore::max_bytes / 2));
    QVERIFY(!store.find("large") && store.find("larger"));
  }

  // Items that a client sends back are the messages that they were.
  void responsesItems() {
    const Server server;
    const Json items = {
        {{"role", "user"}, {"content", Json::array({{{"type", "input_text"}, {"text", "Hi"}}})}},
        {{"type", "reasoning"},
         {"id", "rs_1"},
         {"summary", Json::array()},
         {"content", Json::array({{{"type", "reasoning_text"}, {"text", "d"}}})}},
        {{"type", "message"},
         {"role", "assistant"},
         {"content", Json::array({{{"type", "output_text"}, {"text", "c"}}})}},
        {{"type", "function_call"}, {"call_id", "call_1"}, {"name", "look"}, {"arguments", "{}"}},
        {{"type", "function_call_output"}, {"call_id", "call_1"}, {"output", "found"}}};
    answer_of(server, "/v1/responses", {{"input", items}});
    const auto messages = server.models.model->asked().back().messages;
    QCOMPARE(messages.size(), std::size_t{3});
    QCOMPARE(messages[1].content,
             "<think>\nd\n</think>\n\nc\n<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>");
    QVERIFY(messages[2].tool_name == "look" && messages[2].tool_call_id == "call_1");
  }

  void responsesAreKept() {
    const Server server;
    const Json made = answer_of(server, "/v1/responses", {{"input", "Hi"}, {"metadata", {{"a", "b"}}}});
    const std::string path = "/v1/responses/" + made["id"].get<std::string>();
    const auto got = [&](const std::string& query, int status = 200) {
      const std::string answer = server.ask(get(path + query));
      if (status_of(answer) != status) qFatal("%s", answer.c_str());
      return Json::parse(body_of(answer));
    };
    QCOMPARE(got(""), made);
    QCOMPARE(got("?stream=false"), made);
    QCOMPARE(got("?stream=true", 400)["error"]["param"], "stream");
    const Json items = got("/input_items");
    QCOMPARE(items["object"], "list");
    QCOMPARE(items["has_more"], false);
    QCOMPARE(items["data"].size(), std::size_t{1});
    QCOMPARE(items["data"][0]["role"], "user");
    QCOMPARE(items["data"][0]["content"], Json::array({{{"type", "input_text"}, {"text", "Hi"}}}));
    QCOMPARE(items["first_id"], items["data"][0]["id"]);

    const auto remove = [&] {
      return server.ask("DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    };
    QCOMPARE(Json::parse(body_of(remove())),
             (Json{{"id", made["id"]}, {"object", "response"}, {"deleted", true}}));
    QCOMPARE(status_of(remove()), 404);
    QCOMPARE(got("", 404)["error"]["code"], "response_not_found");
    answer_of(server, "/v1/responses", {{"input", "Go on"}, {"previous_response_id", made["id"]}}, 404);
    const Json forgotten = answer_of(server, "/v1/responses", {{"input", "Hi"}, {"store", false}});
    QCOMPARE(status_of(server.ask(get("/v1/responses/" + forgotten["id"].get<std::string>()))), 404);
    QCOMPARE(status_of(server.ask(get("/v1/responses/"))), 404);
  }

  void inputItemsComeInPages() {
    const Server server;
    Json items = Json::array();
    for (int i = 0; i < 5; ++i) items.push_back({{"role", "user"}, {"content", std::to_string(i)}});
    items.push_back({{"type", "function_call"}, {"call_id", "c"}, {"name", "look"}, {"arguments", "{}"}});
    items.push_back({{"type", "function_call_output"}, {"call_id", "c"}, {"output", "found"}, {"id", "own"}});
    items[0].update({{"type", nullptr}, {"id", 5}});
    const Json first = answer_of(server, "/v1/responses", {{"input", "Before"}});
    const Json made =
        answer_of(server, "/v1/responses", {{"input", items}, {"previous_response_id", first["id"]}});
    const std::string path = "/v1/responses/" + made["id"].get<std::string>() + "/input_items";
    const auto page = [&](const std::string& query, int status = 200) {
      const std::string answer = server.ask(get(path + query));
      if (status_of(answer) != status) qFatal("%s", answer.c_str());
      return Json::parse(body_of(answer));
    };
    Json all = Json::array();
    std::string after;
    for (int pages = 0; pages < 4; ++pages) {
      const Json part = page("?order=asc&limit=2" + (after.empty() ? "" : "&after=" + after));
      for (const Json& each : part["data"]) all.push_back(each);
      QCOMPARE(part["has_more"], pages < 3);
      after = part["last_id"];
    }
    QCOMPARE(all.size(), items.size());
    QCOMPARE(all[3]["content"][0]["text"], "3");
    QCOMPARE(all[5]["name"], "look");
    QCOMPARE(all[6]["id"], "own");
    const Json latest = page("");
    QCOMPARE(latest["data"][0]["id"], "own");
    QCOMPARE(latest["data"].size(), items.size());
    for (const char* const wrong : {"?limit=0", "?limit=101", "?limit=2x", "?order=up", "?after=none"})
      page(wrong, 400);
  }

  void responsesStream() {
    const Server server;
    server.models.model->pieces = {said_call.substr(0, 50), said_call.substr(50)};
    const Json tool = {{"type", "function"}, {"name", "look"}};
    const auto events =
        events_of(stream_of(server, "/v1/responses", {{"input", "Hi"}, {"tools", Json::array({tool})}}));
    std::string text, reasoning, arguments;
    int number = 0;
    for (const auto& [name, event] : events) {
      QCOMPARE(event["type"], name);
      QCOMPARE(event["sequence_number"], number++);
      if (name == "response.output_text.delta") text += event["delta"];
      if (name == "response.reasoning_text.delta") reasoning += event["delta"];
      if (name == "response.function_call_arguments.delta") arguments += event["delta"];
    }
    QCOMPARE(events.front().first, "response.created");
    QCOMPARE(events.back().first, "response.completed");
    QCOMPARE(text, "I look.");
    QCOMPARE(reasoning, "Hm.");
    QCOMPARE(arguments, "{\"at\": \"it\"}");
    const Json& output = events.back().second["response"]["output"];
    QCOMPARE(output.size(), std::size_t{3});
    QCOMPARE(output[2]["arguments"], arguments);
  }
};

FOVEA_TEST(ResponsesTest)
#include "responses_test.moc"
