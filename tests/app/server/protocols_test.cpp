// What each protocol's requests ask of the engine, and how its answers come back.
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "tests_server.h"

using namespace fovea;
using namespace fovea::tests;
using Json = nlohmann::ordered_json;

namespace {

Json answer_of(const Server& server, const std::string& path, const Json& body, int status = 200) {
  const std::string answer = server.ask(post(path, body.dump()));
  if (status_of(answer) != status) qFatal("%s\n%s", body.dump().c_str(), answer.c_str());
  return Json::parse(body_of(answer));
}

// The data of server-sent events, without "[DONE]"; with their names where they have some.
std::vector<std::pair<std::string, Json>> events_of(const std::string& text) {
  std::vector<std::pair<std::string, Json>> events;
  std::string name;
  for (const QString& line : QString::fromStdString(text).split('\n')) {
    if (line.startsWith("event: ")) name = line.mid(7).toStdString();
    if (!line.startsWith("data: ") || line == "data: [DONE]") continue;
    events.emplace_back(std::exchange(name, {}), Json::parse(line.mid(6).toStdString()));
  }
  return events;
}

std::string stream_of(const Server& server, const std::string& path, Json body) {
  body["stream"] = true;
  return body_of(server.ask(post(path, body.dump())));
}

Json merged(Json base, const Json& more) {
  base.update(more);
  return base;
}

const Json functions = Json::parse(
    "[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks\",\"parameters\":"
    "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}}},{\"type\":\"web_search\"}]");
const std::string said_call =
    "<think>\nHm.\n</think>\n\nI look.\n<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": "
    "\"it\"}}</tool_call>";

// One of what a request can say.
struct Wish {
  const char* name;
  Json body;
  std::function<bool(const GenerateRequest&)> is_heeded;
};

}  // namespace

class ProtocolsTest : public QObject {
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

  void finishes_data() {
    QTest::addColumn<int>("finish");
    QTest::addColumn<QString>("openai");
    QTest::addColumn<QString>("anthropic");
    QTest::addColumn<QString>("ollama");
    QTest::newRow("stop token") << int(FinishReason::stop_token) << "stop" << "end_turn" << "stop";
    QTest::newRow("stop string") << int(FinishReason::stop_string) << "stop" << "stop_sequence" << "stop";
    QTest::newRow("limit") << int(FinishReason::max_tokens) << "length" << "max_tokens" << "length";
    QTest::newRow("full") << int(FinishReason::context_full) << "length" << "model_context_window_exceeded"
                          << "length";
  }
  void finishes() {
    QFETCH(int, finish);
    QFETCH(QString, openai);
    QFETCH(QString, anthropic);
    QFETCH(QString, ollama);
    const Server server;
    server.models.model->result.finish = static_cast<FinishReason>(finish);
    const Json messages = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const auto text = [](const Json& json) { return QString::fromStdString(json.get<std::string>()); };
    QCOMPARE(text(answer_of(server, "/v1/chat/completions", messages)["choices"][0]["finish_reason"]),
             openai);
    QCOMPARE(text(answer_of(server, "/v1/completions", {{"prompt", "Hi"}})["choices"][0]["finish_reason"]),
             openai);
    QCOMPARE(text(answer_of(server, "/v1/messages", merged(messages, {{"max_tokens", 5}}))["stop_reason"]),
             anthropic);
    QCOMPARE(text(answer_of(server, "/api/chat", merged(messages, {{"stream", false}}))["done_reason"]),
             ollama);
  }

  // The engine's errors, with the status and the form that clients' libraries know.
  void errors_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("code");
    QTest::newRow("too long") << 0 << 400 << "context_length_exceeded";
    QTest::newRow("memory") << 1 << 503 << "insufficient_memory";
    QTest::newRow("device") << 2 << 500 << "";
  }
  void errors() {
    QFETCH(int, which);
    QFETCH(int, status);
    QFETCH(QString, code);
    const std::vector<Error> all{
        errors::conversation_too_long(900, 512, 1), errors::no_memory(),
        Error{.kind = ErrorKind::device, .where = {}, .what = errors::no_memory().what, .advice = {}}};
    const Server server;
    server.models.model->error = all[static_cast<std::size_t>(which)];
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"stream", true}};
    const Json error = answer_of(server, "/v1/chat/completions", body, status)["error"];
    QCOMPARE(error["code"].is_null() ? QString() : QString::fromStdString(error["code"]), code);
    const Json anthropic = answer_of(server, "/v1/messages", merged(body, {{"max_tokens", 1}}), status);
    QCOMPARE(anthropic["type"], "error");
    QVERIFY(answer_of(server, "/api/chat", body, status)["error"].is_string());
    if (which == 0) {
      QVERIFY(error["message"].get<std::string>().starts_with(
          "This model's maximum context length is 512 tokens."));
      QVERIFY(anthropic["error"]["message"].get<std::string>().starts_with(
          "prompt is too long: 900 tokens > 512 maximum"));
    }
  }

  // One that comes when some of the answer is out.
  void errorsBehindAnAnswersBeginning() {
    const Server server;
    server.models.model->answer = [](const GenerateRequest&, const TextSink& sink, const std::stop_token&) {
      sink("word", {});
      return Result<GenerateResult>(std::unexpected(errors::no_memory()));
    };
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const auto openai = events_of(stream_of(server, "/v1/chat/completions", body));
    QVERIFY(openai.back().second["error"]["message"].is_string());
    const auto anthropic = events_of(stream_of(server, "/v1/messages", merged(body, {{"max_tokens", 1}})));
    QCOMPARE(anthropic.back().first, "error");
    QVERIFY(stream_of(server, "/api/chat", body)
                .ends_with("{\"error\":\"there is not enough memory. Close other programs\"}\n"));
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
    const auto events = events_of(stream_of(server, "/v1/chat/completions", body));
    QCOMPARE(events.back().second["choices"][0]["logprobs"]["content"], content);
    const Json older =
        answer_of(server, "/v1/completions", {{"prompt", "Hi"}, {"logprobs", 2}})["choices"][0]["logprobs"];
    QCOMPARE(older["tokens"][0], piece);
    QCOMPARE(older["token_logprobs"][0], -0.5);
    QCOMPARE(older["text_offset"][0], 0);
  }

  void completions() {
    const Server server;
    const Json json = answer_of(server, "/v1/completions", {{"prompt", {"Once"}}, {"stop", "."}});
    QCOMPARE(json["object"], "text_completion");
    QCOMPARE(json["choices"][0]["text"], "Hello there");
    const GenerateRequest request = server.models.model->asked().back();
    QCOMPARE(request.raw_prompt.value_or(""), "Once");
    QCOMPARE(request.max_tokens, 16);
    QCOMPARE(answer_of(server, "/v1/completions", {{"prompt", {"a", "b"}}}, 400)["error"]["param"], "prompt");
    QCOMPARE(answer_of(server, "/v1/completions", {{"prompt", "a"}, {"suffix", "b"}}, 400)["error"]["param"],
             "suffix");
  }

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
  }

  void ollama() {
    const Server server;
    server.models.model->pieces = {said_call};
    const Json body = Json::parse(
        "{\"model\":\"tiny\",\"think\":true,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
        "\"look\"}}],\"keep_alive\":\"5m\","
        "\"options\":{\"temperature\":0.5,\"num_predict\":7,\"top_k\":3,\"repeat_last_n\":-1,\"num_ctx\":512,"
        "\"num_gpu\":99,\"stop\":[\"x\"]},"
        "\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"Hi\"},"
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"look\","
        "\"arguments\":{\"at\":1}}}]},"
        "{\"role\":\"tool\",\"tool_name\":\"look\",\"content\":\"found\"}]}");
    const Json json = answer_of(server, "/api/chat", merged(body, {{"stream", false}}));
    const GenerateRequest request = server.models.model->asked().back();
    QVERIFY(request.thinking == true && request.max_tokens == 7 && request.sampling.temperature == 0.5F &&
            request.sampling.top_k == 3);
    QVERIFY(request.sampling.penalty_window == -1 && request.stop.front() == "x" &&
            request.overflow == ContextOverflow::drop_oldest_turns);
    QCOMPARE(request.messages[2].content,
             "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\":1}}\n</tool_call>");
    QCOMPARE(request.messages[3].tool_name, "look");
    QCOMPARE(json["message"]["content"], "I look.");
    QCOMPARE(json["message"]["thinking"], "Hm.");
    QCOMPARE(json["message"]["tool_calls"][0]["function"]["arguments"], (Json{{"at", "it"}}));
    QVERIFY(json["done"] == true);
    QCOMPARE(server.models.kept.back(), (std::pair<std::string, std::int64_t>("tiny", 300)));

    const std::string text = body_of(server.ask(post("/api/chat", body.dump())));
    std::string content;
    Json last;
    for (const QString& line : QString::fromStdString(text).split('\n', Qt::SkipEmptyParts)) {
      last = Json::parse(line.toStdString());
      content += last["message"]["content"];
    }
    QCOMPARE(content, "I look.");
    QVERIFY(last["done"] == true && last["eval_count"].is_number());
  }

  void ollamaGenerate() {
    const Server server;
    const Json json = answer_of(server, "/api/generate",
                                Json::parse("{\"model\":\"tiny\",\"prompt\":\"Hi\",\"system\":\"s\","
                                            "\"stream\":false,\"format\":{\"type\":\"integer\"}}"));
    QCOMPARE(json["response"], "Hello there");
    GenerateRequest request = server.models.model->asked().back();
    QVERIFY(request.messages.size() == 2 && request.form.kind == AnswerForm::Kind::json_schema);
    answer_of(server, "/api/generate",
              Json::parse("{\"prompt\":\"Hi\",\"raw\":true,\"stream\":false,\"format\":\"json\"}"));
    request = server.models.model->asked().back();
    QVERIFY(request.raw_prompt == "Hi" && request.form.kind == AnswerForm::Kind::json);
    QCOMPARE(answer_of(server, "/api/generate", {{"model", "tiny"}})["done_reason"], "load");
    QCOMPARE(answer_of(server, "/api/generate", {{"model", "tiny"}, {"keep_alive", 0}})["done_reason"],
             "unload");
    QCOMPARE(server.models.kept.back().second, 0);
  }

  void ollamaRefuses_data() {
    QTest::addColumn<QString>("more");
    QTest::addColumn<QString>("parameter");
    const auto row = [](const char* more, const char* parameter) {
      QTest::newRow(more) << more << parameter;
    };
    row("{\"options\": {\"mirostat\": 2}}", "options.mirostat");
    row("{\"options\": {\"secret\": 2}}", "options.secret");
    row("{\"options\": {\"num_ctx\": 4096}}", "num_ctx");
    row("{\"keep_alive\": \"soon\"}", "keep_alive");
    row("{\"format\": \"xml\"}", "format");
    row("{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\", \"images\": [\"abc\"]}]}",
        "messages[0].images");
  }
  void ollamaRefuses() {
    QFETCH(QString, more);
    QFETCH(QString, parameter);
    const Server server;
    const Json body =
        merged({{"messages", {{{"role", "user"}, {"content", "Hi"}}}}}, Json::parse(more.toStdString()));
    QVERIFY(QString::fromStdString(answer_of(server, "/api/chat", body, 400)["error"]).contains(parameter));
    QVERIFY(server.models.model->asked().empty());
  }

  void ollamaTells() {
    const Server server;
    const Json model = Json::parse(body_of(server.ask(get("/api/tags"))))["models"][0];
    QCOMPARE(model["name"], "tiny");
    QCOMPARE(model["modified_at"], "2023-11-14T22:13:20Z");
    QCOMPARE(model["details"]["quantization_level"], "Q4_K");
    QCOMPARE(model["details"]["parameter_size"], "135M");
    const Json shown = answer_of(server, "/api/show", {{"model", "tiny"}});
    QCOMPARE(shown["model_info"]["llama.context_length"], 512);
    QCOMPARE(shown["capabilities"], (Json::array({"completion", "tools", "thinking"})));
    QCOMPARE(status_of(server.ask(post("/api/show", "{\"model\":\"no\"}"))), 404);
    QVERIFY(Json::parse(body_of(server.ask(get("/api/version"))))["version"].is_string());
    QCOMPARE(Json::parse(body_of(server.ask(get("/api/ps"))))["models"].size(), std::size_t{1});
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

  void llamaServer() {
    const Server server;
    const TextModel& text = server.models.model->text();
    const Json tokens = answer_of(server, "/tokenize", {{"content", "Hi you"}})["tokens"];
    QCOMPARE(tokens.get<std::vector<TokenId>>(),
             text.encode("Hi you", {.add_special = false, .parse_special = true}));
    QCOMPARE(answer_of(server, "/detokenize", {{"tokens", tokens}})["content"], "Hi you");
    QCOMPARE(answer_of(server, "/detokenize", {{"tokens", {1, -1}}}, 400)["error"]["param"], "tokens[1]");
    QCOMPARE(answer_of(server, "/detokenize", {{"tokens", {text.vocabulary()}}}, 400)["error"]["param"],
             "tokens[0]");
    const Json pieces = answer_of(server, "/tokenize", {{"content", "é"}, {"with_pieces", true}})["tokens"];
    std::string joined;
    for (const Json& each : pieces) {
      const Json& piece = each["piece"];
      if (piece.is_string()) joined += piece.get<std::string>();
      for (const Json& byte : piece.is_array() ? piece : Json::array())
        joined += static_cast<char>(byte.get<int>());
    }
    QCOMPARE(joined, "é");
    const Json prompt =
        answer_of(server, "/apply-template", {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}});
    QCOMPARE(prompt["prompt"].get<std::string>(),
             *text.render("[{\"role\":\"user\",\"content\":\"Hi\"}]", true));
    const Json props = Json::parse(body_of(server.ask(get("/props"))));
    QCOMPARE(props["default_generation_settings"]["n_ctx"], 512);
    QCOMPARE(Json::parse(body_of(server.ask(get("/slots")))).size(), std::size_t{2});
    QVERIFY(server.ask(get("/metrics")).find("\nllamacpp:tokens_predicted_total 0\n") != std::string::npos);
  }

  void experts() {
    const Server server;
    RawClient client(server.port());
    QVERIFY(client.send(get("/fovea/experts")));
    QVERIFY(client.read_until("\"tokens\":77").find("data: {") != std::string::npos);
    QVERIFY(client.read_until(": nothing new").find(": nothing new") != std::string::npos);
    client.close();
    QTRY_VERIFY(server.ask(get("/metrics")).find("fovea:connections 1\n") != std::string::npos);
    QCOMPARE(body_of(server.ask(get("/fovea/plan?model=tiny"))), "{}");
  }
};

FOVEA_TEST(ProtocolsTest)
#include "protocols_test.moc"
