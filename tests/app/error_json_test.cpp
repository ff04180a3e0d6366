#include "app/files/error_json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "engine/api/errors.h"
#include "tests/support/test.h"

using namespace fovea;
using Json = nlohmann::ordered_json;

namespace {

// Of each type one.
Error rich() {
  Error error = errors::cannot_read(Said{"it \"is\" gone"});
  error.what.arguments = {std::vector<Phrase>{
      phrases::offset_place(std::filesystem::path("a b"), UINT64_MAX), phrases::line_place("name", -7),
      phrases::tensor_place(0.5, Bytes{1 << 20}),
      phrases::tensor_place(std::vector<std::int64_t>{1, 2}, std::vector<std::string>{"x", "y"})}};
  error.kind = ErrorKind::memory;
  return std::move(error)
      .at(phrases::file_place(std::filesystem::path("/m")))
      .advise(phrases::check_the_disk());
}

}  // namespace

class ErrorJsonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void anErrorComesBackAsItWas() {
    for (const Error& error : {rich(), errors::stopped_on_request()}) {
      const auto back = app::as_error(Json::parse(app::as_json(error).dump()));
      QVERIFY(back.has_value());
      QVERIFY(*back == error);
      QCOMPARE(back->message(), error.message());
    }
  }

  void whatNoCodeSaysIsNoError_data() {
    QTest::addColumn<QByteArray>("json");
    const auto row = [](const char* name, const char* json) { QTest::newRow(name) << QByteArray(json); };
    row("null", "null");
    row("a text", "\"broken\"");
    row("nothing", "{}");
    row("an unknown code", R"({"kind":1,"what":{"code":"moon","arguments":[]}})");
    row("too few arguments", R"({"kind":1,"what":{"code":"cannot_read","arguments":[]}})");
    row("an argument of no type", R"({"kind":1,"what":{"code":"cannot_read","arguments":[["moon",1]]}})");
    row("an argument of another type",
        R"({"kind":1,"what":{"code":"cannot_read","arguments":[["number","1"]]}})");
    row("a wrong list", R"({"kind":1,"what":{"code":"cannot_read","arguments":[["names",[1]]]}})");
    row("a wrong place", R"({"kind":1,"where":5,"what":{"code":"stopped_on_request","arguments":[]}})");
  }
  void whatNoCodeSaysIsNoError() {
    QFETCH(QByteArray, json);
    QVERIFY(!app::as_error(Json::parse(json.toStdString())));
  }

  void phrasesThatNeverEndAreRefused() {
    Phrase phrase = phrases::check_the_disk();
    for (int i = 0; i < 100; ++i) phrase = phrases::file_place(std::move(phrase));
    QVERIFY(!app::as_error(app::as_json(errors::stopped_on_request().at(phrase))));
  }

  // Files of before there were codes hold sentences.
  void anEarlierVersionsWordsAreQuoted() {
    const auto error =
        app::as_error(Json::parse(R"({"kind":1,"where":"hub","what":"it is gone","advice":""})"));
    QVERIFY(error.has_value());
    QCOMPARE(error->kind, ErrorKind::io);
    QVERIFY(error->message().contains("it is gone"));
  }

  void theTableHasEachCodeOnce() {
    std::set<std::string_view> ids;
    for (const Code& code : app::error_table()) {
      QVERIFY(ids.insert(code.id).second);
      QVERIFY2(ArgumentNames(code).is_sound, std::string(code.id).c_str());
    }
    QVERIFY(ids.contains("cannot_read"));
  }
};
FOVEA_TEST(ErrorJsonTest)

#include "error_json_test.moc"
