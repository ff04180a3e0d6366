// What all protocols have, and what llama.cpp's server and Fovea have beside them.
#include "engine/core/log.h"
#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

class ServiceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
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

  // Protocols let a function's description be left out, and gpt-oss' template shows it unasked.
  void functionsWithoutADescription() {
    const Server server;
    const Json messages = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const Json parameters = {{"type", "object"}, {"properties", {{"at", {{"type", "string"}}}}}};
    const Json function = {{"name", "look"}, {"parameters", parameters}};
    const Json wrapped = Json::array({{{"type", "function"}, {"function", function}}});
    const Json flat = Json::array({merged({{"type", "function"}}, function)});
    const Json schema = Json::array({{{"name", "look"}, {"input_schema", parameters}}});
    answer_of(server, "/v1/chat/completions", merged(messages, {{"tools", wrapped}}));
    answer_of(server, "/api/chat", merged(messages, {{"tools", wrapped}, {"stream", false}}));
    answer_of(server, "/v1/messages", merged(messages, {{"tools", schema}, {"max_tokens", 5}}));
    answer_of(server, "/v1/responses", {{"input", "Hi"}, {"tools", flat}});
    const auto asked = server.models.model->asked();
    QCOMPARE(asked.size(), std::size_t{4});
    for (const GenerateRequest& request : asked)
      QCOMPARE(Json::parse(request.tools)[0]["function"]["description"], "");
    if (published_templates().empty())
      QSKIP("the published templates are not there; ./scripts/test downloads them");
    const std::string source = content(published_templates() / "openai-gpt-oss-120b.jinja");
    const std::string said = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
    FOVEA_VERIFY(render_template(source, said, true, asked[0].tools));
    QVERIFY(!render_template(source, said, true, wrapped.dump()));
  }

  // The thing and the remedy, and not where it lies.
  void pathsAreNotTold() {
    const Server server;
    const TemporaryFolder folder;
    FOVEA_VERIFY(log::start({.file = folder.path() / "log.txt"}));
    const std::filesystem::path file = "/home/somebody/models/tiny.gguf";
    const Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
    const auto told = [&](const Error& error) {
      server.models.error = error;
      std::string all = answer_of(server, "/v1/chat/completions", body, 500)["error"]["message"];
      for (const char* const path : {"/v1/messages", "/api/chat", "/v1/embeddings"}) {
        Json asked = body;
        if (std::string_view(path).ends_with("embeddings")) asked = {{"input", "Hi"}};
        if (std::string_view(path).ends_with("messages")) asked["max_tokens"] = 1;
        const std::string answer = body_of(server.ask(post(path, asked.dump())));
        if (answer.find(all) == std::string::npos && answer.find("somebody") != std::string::npos)
          qFatal("%s", answer.c_str());
      }
      server.models.error.reset();
      return all;
    };
    QCOMPARE(told(errors::cannot_read(Said{"no"}).at(phrases::file_place(file))),
             "tiny.gguf: cannot be read: no. Check the permissions of the file and its folder");
    // Those of the engine that have paths among their words.
    const std::string rows =
        content(std::filesystem::path(FOVEA_SOURCE_DIR) / "resources/translations/errors_de.json");
    for (const char* const id : {"make_store_by", "no_gpu_module"}) {
      QVERIFY(rows.find("\"" + std::string(id) + "\": ") != std::string::npos);
      const Code code{id, "Do: {command}", "", ErrorKind::internal};
      const std::string command =
          "fovea prepare '/home/somebody/my models/tiny.gguf' --out /home/somebody/s.fovea --rebuild";
      QCOMPARE(
          told(errors::cannot_read(Said{"no"})
                   .at(phrases::server_address_place(file, 1))
                   .advise(Phrase(&code, {command}))),
          "tiny.gguf, port 1: cannot be read: no. Do: fovea prepare 'tiny.gguf' --out s.fovea --rebuild");
    }
    // What a client has said itself stays, and is no business of the log.
    QVERIFY(server.ask(get("/some/where")).find("/some/where") != std::string::npos);
    log::stop();
    const std::string logged = content(folder.path() / "log.txt");
    QVERIFY(logged.find("/home/somebody/models/tiny.gguf: cannot be read") != std::string::npos);
    QVERIFY(logged.find("/some/where") == std::string::npos);
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
    // How precise what wrote the answers was, by their tokens, where that is known.
    QVERIFY(server.ask(get("/metrics")).find("fovea:bits_per_use") == std::string::npos);
    for (const auto& [bits, count] : {std::pair(4.0, 30), std::pair(0.0, 50), std::pair(8.0, 10)}) {
      server.models.model->result.bits_per_use = bits;
      server.models.model->result.timings.generated_tokens = count;
      answer_of(server, "/v1/completions", {{"prompt", "Hi"}});
    }
    QVERIFY(server.ask(get("/metrics")).find("\nfovea:bits_per_use 5\n") != std::string::npos);
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

FOVEA_TEST(ServiceTest)
#include "service_test.moc"
