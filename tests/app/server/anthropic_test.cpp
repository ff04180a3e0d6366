// Anthropic's messages, likewise.
#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

class AnthropicTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void anthropic() {
    const Server server;
    server.models.model->pieces = {said_call};
    server.models.model->result.timings = {.prompt_tokens = 9, .reused_tokens = 4, .generated_tokens = 3};
    const Json body = Json::parse(
        "{\"model\":\"tiny\",\"max_tokens\":50,\"system\":[{\"type\":\"text\",\"text\":\"Be "
        "short.\",\"cache_control\":{\"type\":\"ephemeral\"}}],"
        "\"stop_sequences\":[\"x\"],\"temperature\":1,\"top_k\":3,\"metadata\":{\"user_id\":\"u\"},"
        "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"
        "\"tools\":[{\"name\":\"look\",\"description\":\"Looks\",\"input_schema\":{\"type\":\"object\"}},{"
        "\"type\":\"web_search_20250305\",\"name\":\"web_search\"}],"
        "\"tool_choice\":{\"type\":\"tool\",\"name\":\"look\",\"disable_parallel_tool_use\":true},"
        "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"d\",\"signature\":\"\"},{"
        "\"type\":\"text\",\"text\":\"c\"},"
        "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"look\",\"input\":{\"at\":1}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":[{"
        "\"type\":\"text\",\"text\":\"found\"}]},"
        "{\"type\":\"text\",\"text\":\"and?\"}]}]}");
    const Json json = answer_of(server, "/v1/messages", body);
    const GenerateRequest request = server.models.model->asked().back();
    QCOMPARE(request.messages.size(), std::size_t{5});
    QCOMPARE(request.messages[0].content, "Be short.");
    QCOMPARE(request.messages[2].content,
             "<think>\nd\n</think>\n\nc\n<tool_call>\n{\"name\": \"look\", \"arguments\": "
             "{\"at\":1}}\n</tool_call>");
    QVERIFY(request.messages[3].role == "tool" && request.messages[3].tool_name == "look" &&
            request.messages[3].content == "found");
    QCOMPARE(request.messages[4].content, "and?");
    QVERIFY(server.ask(post("/v1/messages", body.dump()))
                .find("\r\nX-Fovea-Skipped-Tools: web_search_20250305\r\n") != std::string::npos);
    QVERIFY(request.thinking == true && request.max_tokens == 50 && request.sampling.top_k == 3 &&
            request.stop.front() == "x");
    QVERIFY(request.tool_choice == ToolChoice::required && request.required_tool == "look" &&
            !request.parallel_tool_calls);
    QCOMPARE(json["content"][0]["thinking"], "Hm.");
    QCOMPARE(json["content"][1]["text"], "I look.");
    QCOMPARE(json["content"][2]["input"], (Json{{"at", "it"}}));
    QCOMPARE(json["stop_reason"], "tool_use");
    QCOMPARE(json["usage"]["input_tokens"], 5);
    QCOMPARE(json["usage"]["cache_read_input_tokens"], 4);

    std::vector<std::string> names;
    std::string arguments;
    for (const auto& [name, event] : events_of(stream_of(server, "/v1/messages", body))) {
      QCOMPARE(event["type"], name);
      if (names.empty() || names.back() != name) names.push_back(name);
      if (name == "content_block_delta") arguments += event["delta"].value("partial_json", "");
    }
    QCOMPARE(arguments, "{\"at\": \"it\"}");
    QCOMPARE(names,
             (std::vector<std::string>{"message_start", "content_block_start", "content_block_delta",
                                       "content_block_stop", "content_block_start", "content_block_delta",
                                       "content_block_stop", "content_block_start", "content_block_delta",
                                       "content_block_stop", "message_delta", "message_stop"}));
  }

  void anthropicGoesOn() {
    const Server server;
    answer_of(server, "/v1/messages",
              Json::parse("{\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":"
                          "\"assistant\",\"content\":\"Hello\"}]}"));
    QVERIFY(server.models.model->asked().back().continue_last);
  }

  void anthropicRefuses_data() {
    QTest::addColumn<QString>("more");
    QTest::addColumn<QString>("parameter");
    const auto row = [](const char* more, const char* parameter) {
      QTest::newRow(more) << more << parameter;
    };
    row("{\"max_tokens\": null}", "max_tokens");
    row("{\"temperature\": 1.5}", "temperature");
    row("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image\", \"source\": {}}]}]}",
        "messages[0].content[0]");
    row("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"thinking\", \"thinking\": "
        "\"x\"}]}]}",
        "messages[0].content[0]");
    row("{\"tool_choice\": {\"type\": \"any\"}}", "tool_choice.type");
    row("{\"mcp_servers\": [{\"url\": \"x\"}]}", "mcp_servers");
    row("{\"secret\": 1}", "secret");
  }
  void anthropicRefuses() {
    QFETCH(QString, more);
    QFETCH(QString, parameter);
    const Server server;
    const Json body = merged({{"max_tokens", 5}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}},
                             Json::parse(more.toStdString()));
    const Json error = answer_of(server, "/v1/messages", body, 400)["error"];
    QCOMPARE(error["type"], "invalid_request_error");
    QVERIFY(QString::fromStdString(error["message"]).contains(parameter));
  }

  void countsTokens() {
    const Server server;
    const auto count = [&](const std::string& text) {
      return answer_of(server, "/v1/messages/count_tokens",
                       {{"messages", {{{"role", "user"}, {"content", text}}}}})["input_tokens"]
          .get<int>();
    };
    QVERIFY(count("Hi") > 0);
    QVERIFY(count("Hi, and a lot more than that") > count("Hi"));
    // Of the request as it would be asked.
    const Json body = Json::parse(
        R"({"thinking": {"type": "disabled"}, "tools": [{"name": "look", "input_schema": {"type": "object"}}], )"
        R"("tool_choice": {"type": "none"}, "messages": [{"role": "user", "content": "Hi"}, )"
        R"({"role": "assistant", "content": "Hello"}]})");
    answer_of(server, "/v1/messages/count_tokens", body);
    const GenerateRequest read = server.models.model->read().back();
    QVERIFY(read.continue_last && read.thinking == false && read.tool_choice == ToolChoice::none &&
            read.tools.contains("look"));
    server.models.model->info().can_switch_thinking = false;
    const Json thinking = Json::parse(R"({"thinking": {"type": "enabled", "budget_tokens": 1024}})");
    answer_of(server, "/v1/messages/count_tokens", merged(body, thinking), 400);
  }
};

FOVEA_TEST(AnthropicTest)
#include "anthropic_test.moc"
