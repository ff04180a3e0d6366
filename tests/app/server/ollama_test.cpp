// Ollama's interface: conversations, prompts, and what it tells of models.
#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

class OllamaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
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
};

FOVEA_TEST(OllamaTest)
#include "ollama_test.moc"
