// OpenAI's interfaces: what requests ask of the engine, and how its answers come back.
#include <set>

#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

class OpenAiTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void openAiChat() {
    const Server server;
    const Json body = {{"model", "tiny"}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const std::vector<Wish> wishes{
        {"temperature", {{"temperature", 0.5}}, [](const auto& r) { return r.sampling.temperature == 0.5F; }},
        {"no temperature", Json::object(), [](const auto& r) { return r.sampling.temperature == 0.25F; }},
        {"top_p", {{"top_p", 0.5}}, [](const auto& r) { return r.sampling.top_p == 0.5F; }},
        {"top_k", {{"top_k", 7}}, [](const auto& r) { return r.sampling.top_k == 7; }},
        {"min_p", {{"min_p", 0.5}}, [](const auto& r) { return r.sampling.min_p == 0.5F; }},
        {"repeat_penalty",
         {{"repeat_penalty", 1.5}},
         [](const auto& r) { return r.sampling.repetition_penalty == 1.5F; }},
        {"presence_penalty",
         {{"presence_penalty", 1}},
         [](const auto& r) { return r.sampling.presence_penalty == 1 && r.sampling.penalty_window == -1; }},
        {"frequency_penalty",
         {{"frequency_penalty", -1}},
         [](const auto& r) { return r.sampling.frequency_penalty == -1; }},
        {"seed", {{"seed", 42}}, [](const auto& r) { return r.sampling.seed == 42; }},
        {"seed 0", {{"seed", 0}}, [](const auto& r) { return r.sampling.seed != 0; }},
        {"stop", {{"stop", "x"}}, [](const auto& r) { return r.stop == std::vector<std::string>{"x"}; }},
        {"stops", {{"stop", {"x", "y"}}}, [](const auto& r) { return r.stop.size() == 2; }},
        {"max_tokens", {{"max_tokens", 9}}, [](const auto& r) { return r.max_tokens == 9; }},
        {"max_completion_tokens",
         {{"max_completion_tokens", 8}, {"max_tokens", 9}},
         [](const auto& r) { return r.max_tokens == 8; }},
        {"JSON",
         {{"response_format", {{"type", "json_object"}}}},
         [](const auto& r) { return r.form.kind == AnswerForm::Kind::json; }},
        {"text",
         {{"response_format", {{"type", "text"}}}},
         [](const auto& r) { return r.form.kind == AnswerForm::Kind::free; }},
        {"schema",
         {{"response_format",
           {{"type", "json_schema"}, {"json_schema", {{"name", "n"}, {"schema", {{"type", "integer"}}}}}}}},
         [](const auto& r) {
           return r.form.kind == AnswerForm::Kind::json_schema && r.form.text == "{\"type\":\"integer\"}";
         }},
        {"tools",
         {{"tools", functions}},
         [](const auto& r) {
           return Json::parse(r.tools) == Json::array({functions[0]}) &&
                  r.tool_choice == ToolChoice::automatic && r.parallel_tool_calls;
         }},
        {"no tool",
         {{"tools", functions}, {"tool_choice", "none"}},
         [](const auto& r) { return r.tool_choice == ToolChoice::none; }},
        {"any tool",
         {{"tools", functions}, {"tool_choice", "required"}},
         [](const auto& r) { return r.tool_choice == ToolChoice::required && r.required_tool.empty(); }},
        {"this tool",
         {{"tools", functions}, {"tool_choice", {{"type", "function"}, {"function", {{"name", "look"}}}}}},
         [](const auto& r) { return r.tool_choice == ToolChoice::required && r.required_tool == "look"; }},
        {"one call",
         {{"tools", functions}, {"parallel_tool_calls", false}},
         [](const auto& r) { return !r.parallel_tool_calls; }},
        {"logprobs", {{"logprobs", true}}, [](const auto& r) { return r.top_logprobs == 0; }},
        {"top_logprobs",
         {{"logprobs", true}, {"top_logprobs", 5}},
         [](const auto& r) { return r.top_logprobs == 5; }},
        {"no logprobs", Json::object(), [](const auto& r) { return r.top_logprobs == -1; }},
        {"no effort", {{"reasoning_effort", "none"}}, [](const auto& r) { return r.thinking == false; }},
        {"effort", {{"reasoning_effort", "high"}}, [](const auto& r) { return r.thinking == true; }},
        {"without effect",
         {{"store", true}, {"metadata", {{"a", "b"}}}, {"user", "me"}},
         [](const auto&) { return true; }},
        {"neutral",
         {{"logit_bias", Json::object()}, {"functions", nullptr}},
         [](const auto&) { return true; }},
    };
    for (const Wish& wish : wishes) {
      answer_of(server, "/v1/chat/completions", merged(body, wish.body));
      QVERIFY2(wish.is_heeded(server.models.model->asked().back()), wish.name);
    }
  }

  void openAiMessages() {
    const Server server;
    answer_of(
        server, "/v1/chat/completions",
        Json::parse("{\"messages\":["
                    "{\"role\":\"developer\",\"content\":\"Be short.\"},"
                    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
                    "\"text\":\"b\"}]},"
                    "{\"role\":\"assistant\",\"content\":\"c\",\"reasoning_content\":\"d\",\"tool_calls\":["
                    "{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":"
                    "\"{\\\"z\\\":1.50,\\\"a\\\":2}\"}}]},"
                    "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"found\"}]}"));
    const auto messages = server.models.model->asked().back().messages;
    QCOMPARE(messages.size(), std::size_t{4});
    QCOMPARE(messages[0].role, "system");
    QCOMPARE(messages[1].content, "ab");
    QCOMPARE(messages[2].content,
             "<think>\nd\n</think>\n\nc\n<tool_call>\n{\"name\": \"look\", \"arguments\": "
             "{\"z\":1.5,\"a\":2}}\n</tool_call>");
    QCOMPARE(messages[3].role, "tool");
    QCOMPARE(messages[3].tool_call_id, "call_1");
    QCOMPARE(messages[3].tool_name, "look");
  }

  // Each with the parameter that the error must name.
  void openAiRefuses_data() {
    QTest::addColumn<QString>("more");
    QTest::addColumn<QString>("parameter");
    const auto row = [](const char* more, const char* parameter) {
      QTest::newRow(more) << more << parameter;
    };
    row("{\"temperature\": 3}", "temperature");
    row("{\"temperature\": \"hot\"}", "temperature");
    row("{\"max_tokens\": 0}", "max_tokens");
    row("{\"max_tokens\": 1.5}", "max_tokens");
    row("{\"n\": 33}", "n");
    row("{\"stop\": 3}", "stop");
    row("{\"stop\": [\"a\", 3]}", "stop");
    row("{\"stream\": \"yes\"}", "stream");
    row("{\"messages\": []}", "messages");
    row("{\"messages\": \"Hi\"}", "messages");
    row("{\"messages\": [{\"content\": \"Hi\"}]}", "messages[0].role");
    row("{\"messages\": [{\"role\": \"king\", \"content\": \"Hi\"}]}", "messages[0].role");
    row("{\"messages\": [3]}", "messages[0]");
    row("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": "
        "{\"url\": \"data:\"}}]}]}",
        "messages[0].content[0]");
    row("{\"messages\": [{\"role\": \"tool\", \"content\": \"x\"}]}", "messages[0].tool_call_id");
    row("{\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"1\", \"function\": {\"name\": "
        "\"f\", \"arguments\": \"{\"}}]}]}",
        "messages[0].tool_calls[0].function.arguments");
    row("{\"logit_bias\": {\"1\": 1}}", "logit_bias");
    row("{\"functions\": [{\"name\": \"f\"}]}", "functions");
    row("{\"audio\": {\"voice\": \"a\"}}", "audio");
    row("{\"top_logprobs\": 3}", "top_logprobs");
    row("{\"logprobs\": true, \"top_logprobs\": 21}", "top_logprobs");
    row("{\"top_secret\": 1}", "top_secret");
    row("{\"stream_options\": {\"secret\": 1}}", "stream_options.secret");
    row("{\"response_format\": {\"type\": \"yaml\"}}", "response_format.type");
    row("{\"response_format\": {\"type\": \"json_schema\"}}", "response_format.schema");
    row("{\"tool_choice\": \"required\"}", "tool_choice");
    row("{\"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"f\"}}}", "tool_choice");
    row("{\"tools\": [{\"type\": \"function\"}]}", "tools[0].function");
    row("{\"tools\": [{\"type\": \"function\", \"function\": {}}]}", "tools[0].function.name");
    row("{\"tools\": [7]}", "tools[0]");
    row("{\"reasoning_effort\": \"extreme\"}", "reasoning_effort");
  }
  void openAiRefuses() {
    QFETCH(QString, more);
    QFETCH(QString, parameter);
    const Server server;
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const Json error = answer_of(server, "/v1/chat/completions",
                                 merged(body, Json::parse(more.toStdString())), 400)["error"];
    QCOMPARE(QString::fromStdString(error["param"]), parameter);
    QCOMPARE(error["type"], "invalid_request_error");
    QVERIFY(QString::fromStdString(error["message"]).contains(parameter));
    QVERIFY(server.models.model->asked().empty());
  }

  void openAiAnswers() {
    const Server server;
    server.models.model->pieces = {said_call};
    server.models.model->result.timings = {.prompt_tokens = 9, .reused_tokens = 4, .generated_tokens = 3};
    const Json body = {{"model", "tiny"},
                       {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                       {"tools", functions},
                       {"n", 2}};
    const std::string answer = server.ask(post("/v1/chat/completions", body.dump()));
    QVERIFY(answer.find("X-Fovea-Skipped-Tools: web_search\r\n") != std::string::npos);
    const Json json = Json::parse(body_of(answer));
    QCOMPARE(json["object"], "chat.completion");
    QCOMPARE(json["choices"].size(), std::size_t{2});
    const Json& message = json["choices"][1]["message"];
    QCOMPARE(json["choices"][1]["finish_reason"], "tool_calls");
    QCOMPARE(message["content"], "I look.");
    QCOMPARE(message["reasoning_content"], "Hm.");
    QCOMPARE(message["tool_calls"][0]["function"]["name"], "look");
    QCOMPARE(message["tool_calls"][0]["function"]["arguments"], "{\"at\": \"it\"}");
    QVERIFY(message["tool_calls"][0]["id"] != json["choices"][0]["message"]["tool_calls"][0]["id"]);
    QCOMPARE(json["usage"]["prompt_tokens"], 9);
    QCOMPARE(json["usage"]["completion_tokens"], 6);
    QCOMPARE(json["usage"]["prompt_tokens_details"]["cached_tokens"], 4);
    // Two answers to the same are not the same answer.
    const auto asked = server.models.model->asked();
    QVERIFY(asked.size() == 2 && asked[0].sampling.seed == 0);
    answer_of(server, "/v1/chat/completions", merged(body, {{"seed", 5}}));
    const auto seeded = server.models.model->asked();
    QVERIFY(seeded[2].sampling.seed == 5 && seeded[3].sampling.seed != 5);
  }

  void openAiStreams() {
    const Server server;
    server.models.model->pieces = {said_call.substr(0, 50), said_call.substr(50)};
    const std::string text = stream_of(server, "/v1/chat/completions",
                                       {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                                        {"tools", functions},
                                        {"stream_options", {{"include_usage", true}}}});
    QVERIFY(text.ends_with("data: [DONE]\n\n"));
    std::string content, reasoning, arguments, name, finish;
    const auto events = events_of(text);
    for (const auto& [event, chunk] : events) {
      QCOMPARE(chunk["object"], "chat.completion.chunk");
      if (chunk["choices"].empty()) continue;
      const Json& delta = chunk["choices"][0]["delta"];
      content += delta.value("content", "");
      reasoning += delta.value("reasoning_content", "");
      if (delta.contains("tool_calls")) {
        const Json& call = delta["tool_calls"][0];
        QCOMPARE(call["index"], 0);
        name += call["function"].value("name", "");
        arguments += call["function"].value("arguments", "");
      }
      if (chunk["choices"][0]["finish_reason"].is_string()) finish = chunk["choices"][0]["finish_reason"];
    }
    QCOMPARE(events.front().second["choices"][0]["delta"]["role"], "assistant");
    QCOMPARE(content, "I look.");
    QCOMPARE(reasoning, "Hm.");
    QCOMPARE(name, "look");
    QCOMPARE(arguments, "{\"at\": \"it\"}");
    QCOMPARE(finish, "tool_calls");
    QVERIFY(events.back().second["usage"].is_object());
  }

  void models() {
    const Server server;
    const Json list = Json::parse(body_of(server.ask(get("/v1/models"))));
    QCOMPARE(list["data"][0]["id"], "tiny");
    QCOMPARE(list["data"][0]["created"], 1'700'000'000);
    QCOMPARE(Json::parse(body_of(server.ask(get("/v1/models/tiny"))))["id"], "tiny");
    QCOMPARE(status_of(server.ask(get("/v1/models/other"))), 404);
    const Json error =
        answer_of(server, "/v1/chat/completions",
                  {{"model", "gpt-4"}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}}, 404)["error"];
    QCOMPARE(error["code"], "model_not_found");
    QVERIFY(error["message"].get<std::string>().find("tiny") != std::string::npos);
  }

  void logprobs() {
    const Server server;
    server.models.model->result.choices = {
        {.token = 5, .logprob = -0.5F, .likeliest = {{5, -0.5F}, {6, -1.5F}}}};
    const Json body = {
        {"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"logprobs", true}, {"top_logprobs", 2}};
    const Json content = answer_of(server, "/v1/chat/completions", body)["choices"][0]["logprobs"]["content"];
    const std::string piece = server.models.model->text().piece(5);
    QCOMPARE(content[0]["token"], piece);
    QCOMPARE(content[0]["logprob"], -0.5);
    QCOMPARE(content[0]["bytes"].size(), piece.size());
    QCOMPARE(content[0]["top_logprobs"][1]["logprob"], -1.5);
    // What no piece had comes with the last one.
    const auto events = events_of(stream_of(server, "/v1/chat/completions", body));
    QCOMPARE(events.back().second["choices"][0]["logprobs"]["content"], content);
    const Json older =
        answer_of(server, "/v1/completions", {{"prompt", "Hi"}, {"logprobs", 2}})["choices"][0]["logprobs"];
    QCOMPARE(older["tokens"][0], piece);
    QCOMPARE(older["token_logprobs"][0], -0.5);
    QCOMPARE(older["text_offset"][0], 0);
  }

  // Each token with the piece that its text ends in, of several choices at once; what a tag holds back waits.
  void logprobsComeWithTheirPieces() {
    const Server server;
    FakeModel& model = *server.models.model;
    model.pieces = {"Hel", "lo <to", "ol>", "!"};
    const auto token = [](TokenId id, std::int64_t end) {
      return TokenChoice{.token = id, .logprob = -0.25F, .text_end = end};
    };
    model.tokens = {{token(5, 2), token(6, 3)}, {token(7, 5), token(8, 9)}, {token(9, 12)}, {token(10, 14)}};
    for (const auto& tokens : model.tokens)
      model.result.choices.insert(model.result.choices.end(), tokens.begin(), tokens.end());
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                       {"tools", functions},
                       {"logprobs", true},
                       {"n", 2}};
    std::vector<std::string> texts(2);
    std::vector<std::vector<std::pair<std::string, Json>>> told(
        2);  // what each piece says, and of which tokens
    for (const auto& [name, chunk] : events_of(stream_of(server, "/v1/chat/completions", body))) {
      const Json& choice = chunk["choices"][0];
      const std::size_t index = choice["index"];
      texts[index] += choice["delta"].value("content", "");
      Json pieces = Json::array();
      if (choice["logprobs"].is_object())
        for (const Json& each : choice["logprobs"]["content"]) pieces.push_back(each["token"]);
      told[index].emplace_back(choice["delta"].value("content", ""), pieces);
    }
    const auto pieces_of = [&](std::vector<TokenId> ids) {
      Json list = Json::array();
      for (const TokenId id : ids) list.push_back(model.text().piece(id));
      return list;
    };
    using Told = std::vector<std::pair<std::string, Json>>;
    const Told wanted{{"", Json::array()},    {"Hel", pieces_of({5, 6})},
                      {"lo", pieces_of({7})}, {" <tool>", pieces_of({8, 9})},
                      {"!", Json::array()},   {"", pieces_of({10})}};
    for (std::size_t i = 0; i < 2; ++i) {
      QCOMPARE(texts[i], "Hello <tool>!");
      QCOMPARE(told[i], wanted);
    }
    // The older form counts on through the pieces.
    Json offsets = Json::array();
    std::size_t bytes = 0;
    const auto events = events_of(stream_of(server, "/v1/completions", {{"prompt", "Hi"}, {"logprobs", 0}}));
    for (const auto& [name, chunk] : events) {
      const Json& columns = chunk["choices"][0]["logprobs"];
      for (std::size_t i = 0; columns.is_object() && i < columns["tokens"].size(); ++i) {
        QCOMPARE(columns["text_offset"][i], bytes);
        bytes += columns["tokens"][i].get<std::string>().size();
        offsets.push_back(columns["tokens"][i]);
      }
    }
    QCOMPARE(offsets, pieces_of({5, 6, 7, 8, 9, 10}));
    QCOMPARE(events[0].second["choices"][0]["logprobs"]["tokens"], pieces_of({5, 6}));
  }

  // Calls of several choices come side by side, each with its own numbers.
  void choicesStreamAtOnce() {
    const Server server;
    server.models.model->pieces = {said_call.substr(0, 50), said_call.substr(50), said_call.substr(26)};
    std::vector<std::string> finish(3), arguments(3);
    std::vector<std::set<int>> calls(3);
    std::set<std::string> ids;
    std::string order;
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"tools", functions}, {"n", 3}};
    for (const auto& [name, chunk] : events_of(stream_of(server, "/v1/chat/completions", body))) {
      const Json& choice = chunk["choices"][0];
      const std::size_t index = choice["index"];
      order += static_cast<char>('0' + index);
      if (choice["finish_reason"].is_string()) finish[index] = choice["finish_reason"];
      for (const Json& call : choice["delta"].value("tool_calls", Json::array())) {
        calls[index].insert(call["index"].get<int>());
        if (call.contains("id")) ids.insert(call["id"]);
        arguments[index] += call["function"].value("arguments", "");
      }
    }
    QVERIFY(order.find("01") < order.rfind("10"));  // none waits for the others
    QCOMPARE(ids.size(), std::size_t{6});
    for (std::size_t i = 0; i < 3; ++i) {
      QCOMPARE(finish[i], "tool_calls");
      QCOMPARE(calls[i], (std::set<int>{0, 1}));
      QCOMPARE(arguments[i], "{\"at\": \"it\"}{\"at\": \"it\"}");
    }
  }

  void completions() {
    const Server server;
    const Json json = answer_of(server, "/v1/completions", {{"prompt", {"Once"}}, {"stop", "."}});
    QCOMPARE(json["object"], "text_completion");
    QCOMPARE(json["choices"][0]["text"], "Hello there");
    const GenerateRequest request = server.models.model->asked().back();
    QCOMPARE(request.raw_prompt.value_or(""), "Once");
    QCOMPARE(request.max_tokens, 16);
    server.models.model->pieces = {"<think>a</think>", "b"};
    QCOMPARE(answer_of(server, "/v1/completions", {{"prompt", "Once"}})["choices"][0]["text"],
             "<think>a</think>b");
    QCOMPARE(answer_of(server, "/v1/completions", {{"prompt", {"a", "b"}}}, 400)["error"]["param"], "prompt");
    QCOMPARE(answer_of(server, "/v1/completions", {{"prompt", "a"}, {"suffix", "b"}}, 400)["error"]["param"],
             "suffix");
  }

  void thinkingAsTheModelHasIt() {
    const Server server;
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"reasoning_effort", "high"}};
    auto& info = server.models.model->info();
    info.can_switch_thinking = false;
    QCOMPARE(answer_of(server, "/v1/chat/completions", body, 400)["error"]["param"], "reasoning_effort");
    answer_of(server, "/v1/chat/completions", merged(body, {{"reasoning_effort", "none"}}));
    QVERIFY(!server.models.model->asked().back().thinking.has_value());
    info.has_effort = true;
    answer_of(server, "/v1/chat/completions", body);
    QCOMPARE(server.models.model->asked().back().effort, "high");
    QCOMPARE(answer_of(server, "/v1/chat/completions", merged(body, {{"reasoning_effort", "none"}}),
                       400)["error"]["param"],
             "reasoning_effort");
  }
};

FOVEA_TEST(OpenAiTest)
#include "openai_test.moc"
