// Embeddings as OpenAI and Ollama have them.
#include <QByteArray>
#include <cmath>
#include <cstring>

#include "tests/support/test.h"

#include "protocols.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

// What the model here gives, with the length 1.
std::vector<double> unit(double tokens) {
  const double length = std::sqrt(9 + 16 + tokens * tokens);
  return {3 / length, 4 / length, tokens / length};
}

bool is_near(const Json& list, const std::vector<double>& wanted) {
  if (list.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (std::abs(list[i].get<double>() - wanted[i]) > 1e-6) return false;
  return true;
}

Json of_base64(const std::string& text) {
  const QByteArray bytes = QByteArray::fromBase64(QByteArray::fromStdString(text));
  Json list = Json::array();
  for (qsizetype i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto byte = [&](qsizetype k) { return std::uint32_t{static_cast<unsigned char>(bytes[i + k])}; };
    const std::uint32_t bits = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    float value = 0;
    std::memcpy(&value, &bits, 4);
    list.push_back(value);
  }
  return list;
}

}  // namespace

class EmbeddingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void inputs_data() {
    QTest::addColumn<QString>("input");
    QTest::addColumn<QString>("tokens");
    const auto text = TextModel::open(golden("chat"));
    FOVEA_VERIFY(text);
    const auto ids = [&](const char* words) {
      return QString::fromStdString(Json((*text)->encode(words, {.add_special = true})).dump());
    };
    QTest::newRow("a text") << "\"Hi you\"" << "[" + ids("Hi you") + "]";
    QTest::newRow("texts") << "[\"Hi you\", \"no\"]" << "[" + ids("Hi you") + "," + ids("no") + "]";
    QTest::newRow("tokens") << "[5, 6, 7]" << "[[5,6,7]]";
    QTest::newRow("lists of tokens") << "[[5, 6], [7]]" << "[[5,6],[7]]";
    QTest::newRow("spelled control tokens") << "\"<|im_end|>\"" << "[" + ids("<|im_end|>") + "]";
  }
  void inputs() {
    QFETCH(QString, input);
    QFETCH(QString, tokens);
    const Server server;
    const Json json =
        answer_of(server, "/v1/embeddings", {{"model", "tiny"}, {"input", Json::parse(input.toStdString())}});
    const Json wanted = Json::parse(tokens.toStdString());
    QCOMPARE(Json(server.models.model->embedded()), wanted);
    QCOMPARE(json["object"], "list");
    QCOMPARE(json["model"], "tiny");
    QCOMPARE(json["data"].size(), wanted.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      QCOMPARE(json["data"][i]["object"], "embedding");
      QCOMPARE(json["data"][i]["index"], i);
      QVERIFY(is_near(json["data"][i]["embedding"], unit(static_cast<double>(wanted[i].size()))));
      count += wanted[i].size();
    }
    QCOMPARE(json["usage"], (Json{{"prompt_tokens", count}, {"total_tokens", count}}));
  }

  void base64() {
    const Server server;
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{9}}) {
      const Json body = {{"input", std::vector<int>(count, 5)}, {"dimensions", 3}, {"user", "somebody"}};
      const Json plain = answer_of(server, "/v1/embeddings", merged(body, {{"encoding_format", "float"}}));
      const Json coded = answer_of(server, "/v1/embeddings", merged(body, {{"encoding_format", "base64"}}));
      const std::string text = coded["data"][0]["embedding"];
      QCOMPARE(text.size(), std::size_t{16});
      QCOMPARE(of_base64(text), plain["data"][0]["embedding"]);
    }
  }

  void wrongOnesAreRefused_data() {
    QTest::addColumn<QString>("body");
    QTest::addColumn<QString>("parameter");
    const auto row = [](const char* body, const char* parameter) {
      QTest::newRow(body) << body << parameter;
    };
    row(R"({})", "input");
    row(R"({"input": []})", "input");
    row(R"({"input": {}})", "input");
    row(R"({"input": ["a", 1]})", "input");
    row(R"({"input": [1, -1]})", "input");
    row(R"({"input": [1, 1.5]})", "input");
    row(R"({"input": [[1], []]})", "input");
    row(R"({"input": [[1], ["a"]]})", "input");
    row(R"({"input": "a", "dimensions": 2})", "dimensions");
    row(R"({"input": "a", "dimensions": 0})", "dimensions");
    row(R"({"input": "a", "encoding_format": "int8"})", "encoding_format");
    row(R"({"input": "a", "truncate": true})", "truncate");
  }
  void wrongOnesAreRefused() {
    QFETCH(QString, body);
    QFETCH(QString, parameter);
    const Server server;
    const Json error = answer_of(server, "/v1/embeddings", Json::parse(body.toStdString()), 400)["error"];
    QCOMPARE(QString::fromStdString(error["param"]), parameter);
    QVERIFY(server.models.model->embedded().empty());
    const Json many = {{"input", std::vector<std::string>(2049, "a")}};
    QCOMPARE(answer_of(server, "/v1/embeddings", many, 400)["error"]["param"], "input");
  }

  void errorsOfTheEngine() {
    const Server server;
    server.models.model->error = errors::text_beyond_context(900, 512);
    const Json error = answer_of(server, "/v1/embeddings", {{"input", "a"}}, 400)["error"];
    QCOMPARE(error["code"], "context_length_exceeded");
    QCOMPARE(error["param"], "input");
    QVERIFY(answer_of(server, "/api/embed", {{"input", "a"}}, 400)["error"].is_string());
  }

  void ollama() {
    const Server server;
    const Json json = answer_of(server, "/api/embed",
                                {{"model", "tiny"},
                                 {"input", {"Hi you", "no"}},
                                 {"options", {{"temperature", 0}, {"num_ctx", 512}}},
                                 {"keep_alive", "5m"}});
    const auto texts = server.models.model->embedded();
    QCOMPARE(texts.size(), std::size_t{2});
    QCOMPARE(json["embeddings"].size(), std::size_t{2});
    for (std::size_t i = 0; i < 2; ++i)
      QVERIFY(is_near(json["embeddings"][i], unit(static_cast<double>(texts[i].size()))));
    QCOMPARE(json["prompt_eval_count"], texts[0].size() + texts[1].size());
    QVERIFY(json["total_duration"].get<std::int64_t>() >= json["load_duration"].get<std::int64_t>());
    QCOMPARE(server.models.kept, (std::vector<std::pair<std::string, std::int64_t>>{{"tiny", 300}}));
    // The older one, as it is.
    const Json older = answer_of(server, "/api/embeddings", {{"model", "tiny"}, {"prompt", "Hi you"}});
    QVERIFY(is_near(older["embedding"], {3, 4, static_cast<double>(texts[0].size())}));
  }

  // Without anything to embed the model is loaded.
  void ollamaLoads() {
    const Server server;
    QCOMPARE(answer_of(server, "/api/embed", {{"model", "tiny"}})["embeddings"], Json::array());
    QCOMPARE(answer_of(server, "/api/embeddings", {{"model", "tiny"}})["embedding"], Json::array());
    QVERIFY(server.models.model->embedded().empty());
  }

  void ollamaTruncates() {
    const Server server;
    std::string words;
    for (int i = 0; i < 600; ++i) words += " router";
    const Json body = {{"input", words}};
    answer_of(server, "/api/embed", body);
    QCOMPARE(server.models.model->embedded().back().size(), std::size_t{512});
    answer_of(server, "/api/embed", merged(body, {{"options", {{"num_ctx", 100}}}}));
    QCOMPARE(server.models.model->embedded().back().size(), std::size_t{100});
    answer_of(server, "/api/embed", merged(body, {{"truncate", false}}));
    QVERIFY(server.models.model->embedded().back().size() > 512);  // which the engine refuses
    answer_of(server, "/api/embed", merged(body, {{"options", {{"num_ctx", 1000}}}}), 400);
    answer_of(server, "/api/embed", merged(body, {{"options", {{"unknown", 1}}}}), 400);
  }

  void theyAreCounted() {
    const Server server;
    const Json json = answer_of(server, "/v1/embeddings", {{"input", {5, 6, 7}}});
    QVERIFY(server.ask(get("/metrics")).find("\nllamacpp:prompt_tokens_total 3\n") != std::string::npos);
  }
};

FOVEA_TEST(EmbeddingsTest)
#include "embeddings_test.moc"
