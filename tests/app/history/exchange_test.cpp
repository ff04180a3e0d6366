// Conversations as files: our JSON there and back, ChatGPT's export in, Markdown out.
#include "app/history/exchange.h"

#include "app/history/errors.h"
#include "app/history/history.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

std::vector<std::string> texts(const Archive& archive) {
  std::vector<std::string> all;
  for (const Message& m : archive.messages) all.push_back(m.text);
  return all;
}

// All fields but ids and places, which a file numbers itself.
bool same(const Message& a, const Message& b) {
  return a.role == b.role && a.text == b.text && a.origin == b.origin && a.timings == b.timings &&
         a.state == b.state && a.note == b.note && a.created_at == b.created_at &&
         a.updated_at == b.updated_at && a.attachments == b.attachments;
}

Archive sample() {
  Archive archive;
  Conversation& c = archive.conversation;
  c.uid = "0123456789abcdef0123456789abcdef";
  c.title = "A \"title\" with ü and 東京 and \\ and \n";
  c.created_at = 1'700'000'000'123;
  c.updated_at = 1'700'000'100'456;
  c.pinned_at = 5;
  c.draft = "half a";
  c.system_prompt = "Be brief.";
  c.settings = R"({"temperature":0.7,"top_k":40})";
  c.leaf = 30;
  Message question;
  question.id = 10;
  question.text = std::string("What?\0\x01 \xF0\x9F\xA6\x8A", 13);
  question.created_at = question.updated_at = 1'700'000'000'200;
  question.attachments = {{"a b.txt", "text/plain", "line\r\nline", 12}, {"empty", "", "", 0}};
  Message answer;
  answer.id = 20;
  answer.parent = 10;
  answer.role = Role::assistant;
  answer.text = "<think>hm</think>That.";
  answer.origin = {"m", "static", 0xFFFF'FFFF'FFFF'FFFFU, R"({"a": 1})"};  // not as we would write it
  answer.timings = R"({"decode_seconds":1.25})";
  answer.state = MessageState::stopped;
  answer.note = "stopped";
  answer.created_at = 3;
  answer.updated_at = 4;
  Message other = answer;
  other.id = 30;
  other.state = MessageState::failed;
  other.origin.seed = 0;
  Message root;
  root.id = 40;
  root.role = Role::system;
  archive.folder_uid = "fedcba9876543210fedcba9876543210";
  archive.folder_name = "Wörk";
  archive.messages = {question, answer, other, root};
  return archive;
}

Archive chatgpt(const QByteArray& mapping, const QByteArray& current = "null") {
  const QByteArray text =
      R"([{"title":"T","create_time":1700000000.5,"update_time":1700000100.0,"conversation_id":"c-1",)"
      R"("current_node":)" +
      current + R"(,"mapping":)" + mapping + "}]";
  auto parsed = from_json(text.toStdString(), "conversations.json");
  if (!parsed || parsed->archives.size() != 1) return {};
  return parsed->archives[0];
}

QByteArray node(const char* id, const char* parent, const char* children, const QByteArray& message) {
  return QByteArray("\"") + id + R"(":{"id":")" + id + R"(","parent":)" + parent + R"(,"children":)" +
         children + R"(,"message":)" + message + "}";
}

QByteArray said(const char* role, const char* text, const QByteArray& more = {}) {
  return QByteArray(R"({"author":{"role":")") + role +
         R"("},"create_time":1700000001.25,"content":{"content_type":"text","parts":[")" + text + "\"]}" +
         more + "}";
}

using Strings = std::vector<std::string>;

}  // namespace

class ExchangeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void our_json_comes_back_the_same();
  void through_the_database_and_back();
  void conversations_come_into_one_folder();
  void a_conversation_may_be_empty();
  void a_second_import_adds_nothing();
  void chatgpt_branches_become_a_tree();
  void chatgpt_hidden_nodes_are_skipped();
  void chatgpt_kinds_of_content_data();
  void chatgpt_kinds_of_content();
  void what_cannot_be_read_is_named_data();
  void what_cannot_be_read_is_named();
  void one_bad_conversation_leaves_the_others();
  void large_exports_come_in_pieces();
  void markdown_reads_well();
};

void ExchangeTest::our_json_comes_back_the_same() {
  const Archive given = sample();
  const auto parsed = from_json(to_json({given, Archive{}, given}), "x.json");
  FOVEA_VERIFY(parsed);
  QCOMPARE(parsed->left_out_count, 0);
  QCOMPARE(parsed->archives.size(), std::size_t{3});
  const Archive& back = parsed->archives[2];
  const Conversation &a = given.conversation, &b = back.conversation;
  QCOMPARE(b.uid, a.uid);
  QCOMPARE(b.title, a.title);
  QCOMPARE(b.created_at, a.created_at);
  QCOMPARE(b.updated_at, a.updated_at);
  QCOMPARE(b.pinned_at, a.pinned_at);
  QCOMPARE(b.draft, a.draft);
  QCOMPARE(b.system_prompt, a.system_prompt);
  QCOMPARE(b.settings, a.settings);
  QCOMPARE(b.leaf, Id{3});
  QCOMPARE(back.folder_uid, given.folder_uid);
  QCOMPARE(back.folder_name, given.folder_name);
  QCOMPARE(parsed->archives[1].folder_name, std::string());
  QCOMPARE(back.messages.size(), given.messages.size());
  for (std::size_t i = 0; i < back.messages.size(); ++i) QVERIFY(same(back.messages[i], given.messages[i]));
  QCOMPARE(back.messages[2].parent, Id{1});
  QCOMPARE(back.messages[3].parent, Id{0});
}

void ExchangeTest::through_the_database_and_back() {
  tests::TemporaryFolder folder;
  auto history = History::open(folder.path() / "history.db");
  FOVEA_VERIFY(history);
  const std::vector<Archive> given{sample()};
  const auto report = history->import(given);
  FOVEA_VERIFY(report);
  QCOMPARE(report->imported, 1);
  const auto archive = history->archive(report->conversations[0]);
  FOVEA_VERIFY(archive);
  QCOMPARE(to_json({*archive}), to_json(given));
  QCOMPARE(history->branch(report->conversations[0])->messages.size(), std::size_t{2});
}

// The same one, or one that the user has called alike; a new one only where there is neither.
void ExchangeTest::conversations_come_into_one_folder() {
  tests::TemporaryFolder folder;
  auto history = History::open(folder.path() / "history.db");
  FOVEA_VERIFY(history);
  const auto mine = history->create_folder("Recipes");
  FOVEA_VERIFY(mine);
  const auto in = [](const char* uid, const char* folder_uid, const char* folder_name) {
    Archive archive;
    archive.conversation.uid = uid;
    archive.folder_uid = folder_uid;
    archive.folder_name = folder_name;
    return archive;
  };
  const std::vector<Archive> given{in("a", "f1", "Travel"), in("b", "f1", "Travel"), in("c", "f2", "Recipes"),
                                   in("d", "", "")};
  const auto report = history->import(given);
  FOVEA_VERIFY(report);
  QCOMPARE(report->imported, 4);
  const auto folders = history->folders();
  QCOMPARE(folders->size(), std::size_t{2});
  QCOMPARE((*folders)[1].name, std::string("Travel"));
  const auto folder_of = [&](std::size_t i) {
    return history->conversation(report->conversations[i])->folder;
  };
  QCOMPARE(folder_of(0), (*folders)[1].id);
  QCOMPARE(folder_of(1), (*folders)[1].id);
  QCOMPARE(folder_of(2), mine->id);
  QCOMPARE(folder_of(3), Id{0});
  FOVEA_VERIFY(history->rename_folder((*folders)[1].id, "Journeys"));  // it stays the same one
  FOVEA_VERIFY(history->import(std::vector{in("e", "f1", "Travel")}));
  QCOMPARE(history->folders()->size(), std::size_t{2});
}

void ExchangeTest::a_conversation_may_be_empty() {
  const auto read = from_json(R"([{"uid":"u","title":"t","leaf":2,"messages":[]}])", "empty.json");
  FOVEA_VERIFY(read);
  QCOMPARE(read->archives.size(), std::size_t{1});
  QCOMPARE(read->archives[0].conversation.leaf, Id{0});
  tests::TemporaryFolder folder;
  auto history = History::open(folder.path() / "history.db");
  FOVEA_VERIFY(history);
  QCOMPARE(history->import(read->archives)->imported, 1);
}

void ExchangeTest::a_second_import_adds_nothing() {
  tests::TemporaryFolder folder;
  auto history = History::open(folder.path() / "history.db");
  const std::vector<Archive> given{sample()};
  const Id id = history->import(given)->conversations[0];
  QCOMPARE(history->import(given)->already_there, 1);
  FOVEA_VERIFY(history->remove(id));
  QCOMPARE(history->import(given)->imported, 1);
  FOVEA_VERIFY(history->restore(id));
  QCOMPARE(history->conversations(9)->conversations.size() + history->in_folders()->size(), std::size_t{2});
}

void ExchangeTest::chatgpt_branches_become_a_tree() {
  const Archive archive = chatgpt(
      "{" + node("root", "null", R"(["q"])", "null") + "," +
          node("b", "\"q\"", R"(["c"])", said("assistant", "second")) + "," +
          node("q", "\"root\"", R"(["a","b"])", said("user", "question")) + "," +
          node("c", "\"b\"", "[]", said("user", "thanks")) + "," +
          node("a", "\"q\"", "[]", said("assistant", "first", R"(,"metadata":{"model_slug":"gpt-4o"})")) +
          "}",
      "\"a\"");
  QCOMPARE(texts(archive), (Strings{"question", "first", "second", "thanks"}));
  QCOMPARE(archive.conversation.uid, std::string("chatgpt:c-1"));
  QCOMPARE(archive.conversation.created_at, Time{1'700'000'000'500});
  QCOMPARE(archive.messages[0].created_at, Time{1'700'000'001'250});
  QCOMPARE(archive.messages[1].origin.model, std::string("gpt-4o"));
  QCOMPARE(archive.messages[2].parent, archive.messages[0].id);
  QCOMPARE(archive.messages[3].parent, archive.messages[2].id);
  QCOMPARE(archive.conversation.leaf, archive.messages[1].id);
}

void ExchangeTest::chatgpt_hidden_nodes_are_skipped() {
  const QByteArray hidden = R"(,"metadata":{"is_visually_hidden_from_conversation":true})";
  const Archive archive = chatgpt("{" + node("r", "null", R"(["s"])", "null") + "," +
                                      node("s", "\"r\"", R"(["u"])", said("system", "")) + "," +
                                      node("u", "\"s\"", R"(["h"])", said("user", "hello")) + "," +
                                      node("h", "\"u\"", R"(["v"])", said("assistant", "secret", hidden)) +
                                      "," + node("v", "\"h\"", "[]", said("assistant", "hi")) + "," +
                                      node("x", "\"y\"", R"(["y"])", said("user", "circle")) + "," +
                                      node("y", "\"x\"", R"(["x"])", said("user", "circle")) + "}",
                                  "\"h\"");
  QCOMPARE(texts(archive), (Strings{"hello", "hi"}));
  QCOMPARE(archive.messages[1].parent, archive.messages[0].id);
  QCOMPARE(archive.conversation.leaf, archive.messages[0].id);  // the nearest that is shown
}

void ExchangeTest::chatgpt_kinds_of_content_data() {
  QTest::addColumn<QByteArray>("content");
  QTest::addColumn<QByteArray>("text");
  const auto row = [](const char* name, const char* content, const char* text) {
    QTest::newRow(name) << QByteArray(content) << QByteArray(text);
  };
  row("text", R"({"content_type":"text","parts":["a","b"]})", "a\n\nb");
  row("null part", R"({"content_type":"text","parts":[null,"b"]})", "b");
  row("picture",
      R"({"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"what is it"]})",
      "[image]\n\nwhat is it");
  row("speech",
      R"({"content_type":"multimodal_text","parts":[{"content_type":"audio_transcription","text":"said"}]})",
      "said");
  row("code", R"x({"content_type":"code","language":"python","text":"print(1)"})x",
      "```python\nprint(1)\n```");
  row("code with a fence", R"({"content_type":"code","language":"unknown","text":"```"})", "````\n```\n````");
  row("output", R"({"content_type":"execution_output","text":"1"})", "```\n1\n```");
  row("thoughts", R"({"content_type":"thoughts","thoughts":[{"summary":"S","content":"C"}]})",
      "<think>\nS\n\nC\n</think>");
  row("unknown", R"({"content_type":"new","text":"kept"})", "kept");
}

void ExchangeTest::chatgpt_kinds_of_content() {
  QFETCH(QByteArray, content);
  QFETCH(QByteArray, text);
  const Archive archive = chatgpt(
      "{" + node("a", "null", "[]", R"({"author":{"role":"assistant"},"content":)" + content + "}") + "}");
  QCOMPARE(texts(archive), (Strings{text.toStdString()}));
}

void ExchangeTest::what_cannot_be_read_is_named_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("part_of_message");
  QTest::newRow("empty") << QByteArray() << "not JSON";
  QTest::newRow("zip") << QByteArray("PK\x03\x04 rest") << "Unpack it";
  QTest::newRow("cut off") << QByteArray(R"([{"mapping":{"a)") << "breaks off";
  QTest::newRow("cut off after one") << QByteArray(R"([{"messages":[]},)") << "breaks off";
  QTest::newRow("another object") << QByteArray(R"({"name":"x","list":[1,{"a":"]"}]})") << "no conversations";
  QTest::newRow("newer") << QByteArray(R"({"format":"fovea-conversations","version":2,"conversations":[]})")
                         << "newer Fovea";
  QTest::newRow("deep") << QByteArray(100'000, '[') << "breaks off";
  QTest::newRow("number") << QByteArray("42") << "not JSON";
}

void ExchangeTest::what_cannot_be_read_is_named() {
  QFETCH(QByteArray, text);
  QFETCH(QString, part_of_message);
  const auto parsed = from_json(text.toStdString(), "x.json");
  QVERIFY(!parsed);
  const QString message = QString::fromStdString(parsed.error().message());
  QVERIFY2(message.contains(part_of_message), qPrintable(message));
  QVERIFY(message.startsWith("x.json"));
}

void ExchangeTest::one_bad_conversation_leaves_the_others() {
  const std::string good = R"({"messages":[{"id":1,"role":"user","text":"hello"}]})";
  const auto parsed =
      from_json("[" + good + R"(,{"title":"bad","mapping":3},7,{"messages":[{"role":"king"}]},)" +
                    R"({"messages":[{"id":2,"parent":9,"role":"user"}]},{"x":"\ud800"},)" + good + "]",
                "x.json");
  FOVEA_VERIFY(parsed);
  QCOMPARE(parsed->archives.size(), std::size_t{2});
  QCOMPARE(parsed->left_out_count, 5);
  QCOMPARE(english(parsed->left_out[0]), std::string("conversation 2 (bad): it has no mapping of messages"));
  QCOMPARE(english(parsed->left_out[1]), std::string("conversation 3: it is not a valid JSON object"));
}

void ExchangeTest::large_exports_come_in_pieces() {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += R"({"messages":[]},)";
  text.back() = ']';
  std::size_t calls = 0, most = 0, all = 0;
  const auto parsed = read_json(text, "x.json", [&](std::vector<Archive>& archives) -> Result<void> {
    ++calls;
    most = std::max(most, archives.size());
    all += archives.size();
    return {};
  });
  FOVEA_VERIFY(parsed);
  QCOMPARE(all, std::size_t{1000});
  QVERIFY(calls > 10 && most <= 100);
  const auto stopped = read_json(text, "x.json", [](std::vector<Archive>&) -> Result<void> {
    return std::unexpected(errors::history_disk_full());
  });
  QVERIFY(!stopped);
}

void ExchangeTest::markdown_reads_well() {
  const Archive archive = sample();
  Branch branch{archive.conversation, {archive.messages[0], archive.messages[1]}};
  branch.conversation.title = "Two\nlines";
  branch.messages[0].text = "What?";
  QCOMPARE(QString::fromStdString(to_markdown(branch)), QStringLiteral("# Two lines\n\n"
                                                                       "*2023-11-14 22:13 UTC*\n\n"
                                                                       "## System\n\nBe brief.\n\n"
                                                                       "## You\n\n"
                                                                       "Attached: a b.txt\n\n"
                                                                       "Attached: empty\n\n"
                                                                       "What?\n\n"
                                                                       "## Answer (m)\n\n"
                                                                       "*Reasoning*\n\n> hm\n\nThat.\n\n"
                                                                       "*(not finished)*\n"));
}

FOVEA_TEST(ExchangeTest)
#include "exchange_test.moc"
