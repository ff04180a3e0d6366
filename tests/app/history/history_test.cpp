// Conversations, the tree of messages and search, through the interface that the window uses.
#include "app/history/history.h"

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

struct World {
  tests::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "history.db";
  Time clock = 1'000'000;
  Options options{.now = [this] { return ++clock; }, .migrations = {}};
  History history = *History::open(file, options);

  Turn turn(Id conversation, Id parent, const std::string& text) {
    return *history.add_turn({.conversation = conversation,
                              .created = {},
                              .parent = parent,
                              .text = text,
                              .attachments = {},
                              .answer = {}});
  }
  Turn answered(Id conversation, Id parent, const std::string& text, const std::string& answer) {
    Turn stored = turn(conversation, parent, text);
    (void)*history.append_answer(stored.answer.id, answer);
    (void)*history.finish_answer(stored.answer.id, {});
    return stored;
  }
};

std::vector<std::string> texts(const Branch& branch) {
  std::vector<std::string> all;
  for (const Message& m : branch.messages) all.push_back(m.text);
  return all;
}

std::vector<std::string> titles(const ConversationPage& page) {
  std::vector<std::string> all;
  for (const Conversation& c : page.conversations) all.push_back(c.title);
  return all;
}

std::vector<Id> found(History& history, const std::string& query) {
  std::vector<Id> ids;
  const auto result = history.search(query, 100);
  if (!result) return {-1};
  for (const SearchHit& hit : result->hits) ids.push_back(hit.conversation);
  return ids;
}

using Strings = std::vector<std::string>;

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keeps_everything_of_a_message();
  void a_turn_is_there_before_the_answer();
  void editing_and_regenerating_make_branches();
  void what_is_taken_back_is_a_draft_again();
  void a_fork_remembers_the_way();
  void pages_pinned_first_then_newest();
  void deleted_can_come_back_until_purged();
  void folders_hold_conversations();
  void folders_stand_in_their_order();
  void a_removed_folder_leaves_its_conversations();
  void a_folder_names_what_begins_in_it();
  void keeps_what_a_conversation_uses();
  void continues_a_stopped_answer();
  void refuses_a_parent_elsewhere();
  void finds_every_script_data();
  void finds_every_script();
  void hostile_queries_are_no_error_data();
  void hostile_queries_are_no_error();
  void snippets_mark_what_matched();
  void titles_come_first_and_deleted_ones_never();
  void only_the_owner_may_read();
};

void HistoryTest::keeps_everything_of_a_message() {
  World w;
  const Origin origin{"a model", "dynaexq", 0xFFFF'FFFF'FFFF'FFFFU, R"({"temperature":0.7})"};
  const std::vector<Attachment> files{{"a.txt", "text/plain", "inside ü", 3}, {"b.md", "", "", 0}};
  const auto stored = w.history.add_turn({.conversation = 0,
                                          .created = {"", "be short", R"({"top_k":1})"},
                                          .parent = 0,
                                          .text = "Why is the sky blue?\nSay it simply.",
                                          .attachments = files,
                                          .answer = origin});
  FOVEA_VERIFY(stored);
  FOVEA_VERIFY(w.history.append_answer(stored->answer.id, "Ray"));
  FOVEA_VERIFY(w.history.append_answer(stored->answer.id, std::string("leigh\0!", 7)));
  FOVEA_VERIFY(
      w.history.finish_answer(stored->answer.id, {MessageState::stopped, 77, R"({"t":1})", "by you"}));
  FOVEA_VERIFY(w.history.set_draft(stored->conversation.id, "and at night"));

  w.history = *History::open(w.folder.path() / "other.db");  // lets go of the file
  auto again = History::open(w.file);
  FOVEA_VERIFY(again);
  const auto branch = again->branch(stored->conversation.id);
  FOVEA_VERIFY(branch);
  QCOMPARE(branch->conversation.title, std::string("Why is the sky blue?"));
  QCOMPARE(branch->conversation.system_prompt, std::string("be short"));
  QCOMPARE(branch->conversation.settings, std::string(R"({"top_k":1})"));
  QCOMPARE(branch->conversation.draft, std::string("and at night"));
  QCOMPARE(branch->messages.size(), std::size_t{2});
  const Message &question = branch->messages[0], &answer = branch->messages[1];
  QCOMPARE(question.role, Role::user);
  QVERIFY(question.attachments == files);
  QCOMPARE(answer.role, Role::assistant);
  QCOMPARE(answer.parent, question.id);
  QCOMPARE(answer.text, std::string("Rayleigh\0!", 10));
  QCOMPARE(answer.state, MessageState::stopped);
  QCOMPARE(answer.note, std::string("by you"));
  QCOMPARE(answer.timings, std::string(R"({"t":1})"));
  QCOMPARE(answer.origin.seed, std::uint64_t{77});
  QCOMPARE(answer.origin.model, origin.model);
  QCOMPARE(answer.origin.policy, origin.policy);
  QCOMPARE(answer.origin.settings, origin.settings);
}

void HistoryTest::a_turn_is_there_before_the_answer() {
  World w;
  const Turn turn = w.turn(0, 0, "question");
  auto other = History::open(w.file);  // another window
  FOVEA_VERIFY(other);
  QCOMPARE(texts(*other->branch(turn.conversation.id)), (Strings{"question", ""}));
  QCOMPARE(other->branch(turn.conversation.id)->messages[1].state, MessageState::partial);
  FOVEA_VERIFY(w.history.append_answer(turn.answer.id, "so far"));
  QCOMPARE(other->branch(turn.conversation.id)->messages[1].text, std::string("so far"));
}

void HistoryTest::editing_and_regenerating_make_branches() {
  World w;
  const Turn first = w.answered(0, 0, "q1", "a1");
  const Id c = first.conversation.id;
  const Turn second = w.answered(c, first.answer.id, "q2", "a2");
  const auto again = w.history.add_answer(second.question.id, {});
  FOVEA_VERIFY(again);
  FOVEA_VERIFY(w.history.append_answer(again->messages.back().id, "a2 again"));
  QCOMPARE(texts(*w.history.branch(c)), (Strings{"q1", "a1", "q2", "a2 again"}));
  const Turn edited = w.answered(c, first.answer.id, "q2 edited", "a2 edited");
  const auto branch = w.history.branch(c);
  QCOMPARE(texts(*branch), (Strings{"q1", "a1", "q2 edited", "a2 edited"}));
  const Message& place = branch->messages[2];
  QCOMPARE(place.sibling, 2);
  QCOMPARE(place.siblings, 2);
  QCOMPARE(place.previous_sibling, second.question.id);
  QCOMPARE(place.next_sibling, Id{0});
  QCOMPARE(branch->messages[0].siblings, 1);
  const auto third = w.history.add_answer(second.question.id, {});
  FOVEA_VERIFY(third);
  const auto middle = w.history.choose(again->messages.back().id);
  FOVEA_VERIFY(middle);
  const Message& answer = middle->messages.back();
  QCOMPARE(answer.sibling, 2);
  QCOMPARE(answer.siblings, 3);
  QCOMPARE(answer.previous_sibling, second.answer.id);
  QCOMPARE(answer.next_sibling, third->messages.back().id);
}

void HistoryTest::what_is_taken_back_is_a_draft_again() {
  World w;
  const Turn first = w.answered(0, 0, "q1", "a1");
  const Id c = first.conversation.id;
  NewTurn asked{.conversation = c,
                .created = {},
                .parent = first.answer.id,
                .text = "q2",
                .attachments = {{"notes.txt", "text/plain", "words", 1}},
                .answer = {}};
  FOVEA_VERIFY(w.history.set_draft(c, "typed"));
  const auto second = w.history.add_turn(asked);
  FOVEA_VERIFY(second);
  QVERIFY(!w.history.take_back(first.answer.id));  // it is answered
  const auto back = w.history.take_back(second->answer.id);
  FOVEA_VERIFY(back);
  QCOMPARE(texts(back->branch), (Strings{"q1", "a1"}));
  QCOMPARE(back->question.attachments, asked.attachments);
  QCOMPARE(w.history.conversation(c)->draft, std::string("q2\n\ntyped"));
  QVERIFY(found(w.history, "q2").empty());

  // Another version of a question, and of an answer: those from before are shown again.
  const Turn edited = w.turn(c, 0, "q1 edited");
  QCOMPARE(texts(w.history.take_back(edited.answer.id)->branch), (Strings{"q1", "a1"}));
  FOVEA_VERIFY(w.history.set_draft(c, ""));
  const auto again = w.history.add_answer(first.question.id, {});
  const auto without = w.history.take_back(again->messages.back().id);
  FOVEA_VERIFY(without);
  QCOMPARE(texts(without->branch), (Strings{"q1", "a1"}));
  QCOMPARE(without->question.id, Id{0});
  QCOMPARE(without->branch.conversation.draft, std::string());

  // The only one: the next question gives the conversation its title.
  const Turn only = w.turn(0, 0, "hasty");
  FOVEA_VERIFY(w.history.take_back(only.answer.id));
  const Turn better = w.turn(only.conversation.id, 0, "considered");
  QCOMPARE(texts(*w.history.branch(only.conversation.id)), (Strings{"considered", ""}));
  QCOMPARE(better.conversation.title, std::string("considered"));

  FOVEA_VERIFY(w.history.set_origin(better.answer.id, {.model = "m", .policy = "p", .settings = "{}"}));
  QCOMPARE(w.history.message(better.answer.id)->origin.model, std::string("m"));
}

void HistoryTest::a_fork_remembers_the_way() {
  World w;
  const Turn first = w.answered(0, 0, "q1", "a1");
  const Id c = first.conversation.id;
  const Turn second = w.answered(c, first.answer.id, "q2", "a2");
  (void)w.answered(c, second.answer.id, "q3", "a3");
  (void)w.answered(c, second.answer.id, "q3 other", "a3 other");
  FOVEA_VERIFY(w.history.choose(w.history.branch(c)->messages[4].previous_sibling));  // q3
  (void)w.answered(c, 0, "another beginning", "b1");
  QCOMPARE(texts(*w.history.branch(c)), (Strings{"another beginning", "b1"}));
  const auto back = w.history.choose(first.question.id);
  FOVEA_VERIFY(back);
  QCOMPARE(texts(*back), (Strings{"q1", "a1", "q2", "a2", "q3", "a3"}));
}

void HistoryTest::pages_pinned_first_then_newest() {
  World w;
  std::vector<Id> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(w.history.create({"c" + std::to_string(i), {}, {}})->id);
  FOVEA_VERIFY(w.history.set_pinned(ids[2], true));
  FOVEA_VERIFY(w.history.rename(ids[1], "renamed"));
  const auto all = w.history.conversations(7);
  FOVEA_VERIFY(all);
  QVERIFY(!all->more);
  QVERIFY(w.history.conversations(6)->more);
  QCOMPARE(titles(*all), (Strings{"c2", "c6", "c5", "c4", "c3", "renamed", "c0"}));
  FOVEA_VERIFY(w.history.set_pinned(ids[2], false));
  (void)w.turn(ids[0], 0, "new");
  QCOMPARE(titles(*w.history.conversations(3)), (Strings{"c0", "c6", "c5"}));
  QVERIFY(!w.history.rename(12345, "nobody"));
}

void HistoryTest::deleted_can_come_back_until_purged() {
  World w;
  const Turn kept = w.answered(0, 0, "kept zebra", "x"), gone = w.answered(0, 0, "gone zebra", "y");
  FOVEA_VERIFY(w.history.remove(gone.conversation.id));
  QCOMPARE(titles(*w.history.conversations(9)), (Strings{"kept zebra"}));
  QCOMPARE(titles(*w.history.removed(9)), (Strings{"gone zebra"}));
  FOVEA_VERIFY(w.history.restore(gone.conversation.id));
  QCOMPARE(titles(*w.history.conversations(9)).size(), std::size_t{2});
  FOVEA_VERIFY(w.history.remove(gone.conversation.id));
  w.clock += Time{29} * 24 * 3600 * 1000;
  QCOMPARE(*w.history.purge(), 0);
  w.clock += Time{2} * 24 * 3600 * 1000;
  QCOMPARE(*w.history.purge(), 1);
  QVERIFY(!w.history.conversation(gone.conversation.id));
  QVERIFY(!w.history.message(gone.answer.id));
  QCOMPARE(found(w.history, "zebra"), (std::vector<Id>{kept.conversation.id}));
  FOVEA_VERIFY(History::check(w.file));
}

void HistoryTest::folders_hold_conversations() {
  World w;
  const Folder work = *w.history.create_folder("Work"), home = *w.history.create_folder("Home");
  const Id loose = w.turn(0, 0, "loose").conversation.id, moved = w.turn(0, 0, "moved").conversation.id;
  NewTurn begun;
  begun.created.folder = work.id;
  begun.text = "begun there";
  const auto in_work = w.history.add_turn(begun);
  FOVEA_VERIFY(in_work);
  QCOMPARE(in_work->conversation.folder, work.id);
  FOVEA_VERIFY(w.history.move_to_folder(moved, home.id));
  QCOMPARE(titles(*w.history.conversations(9)), (Strings{"loose"}));
  QCOMPARE(titles({*w.history.in_folders()}), (Strings{"begun there", "moved"}));
  QCOMPARE(w.history.conversation(moved)->folder, home.id);
  QCOMPARE(found(w.history, "moved"), (std::vector<Id>{moved}));
  QCOMPARE(w.history.search("moved", 9)->hits[0].folder, std::string("Home"));
  QCOMPARE(w.history.search("loose", 9)->hits[0].folder, std::string());
  FOVEA_VERIFY(w.history.remove(moved));
  QCOMPARE(titles({*w.history.in_folders()}), (Strings{"begun there"}));
  FOVEA_VERIFY(w.history.restore(moved));
  QCOMPARE(w.history.conversation(moved)->folder, home.id);
  FOVEA_VERIFY(w.history.move_to_folder(moved, 0));
  QCOMPARE(titles(*w.history.conversations(9)), (Strings{"moved", "loose"}));
  QVERIFY(!w.history.move_to_folder(loose, 12345));
  QVERIFY(!w.history.move_to_folder(12345, home.id));
  QCOMPARE(w.history.conversation(loose)->folder, Id{0});
}

void HistoryTest::folders_stand_in_their_order() {
  World w;
  std::vector<Id> ids;
  for (const char* const name : {"a", "b", "c", "d"}) ids.push_back(w.history.create_folder(name)->id);
  const auto names = [&w] {
    std::string all;
    const auto folders = w.history.folders();
    for (const Folder& folder : *folders) all += folder.name;
    return all;
  };
  QCOMPARE(names(), std::string("abcd"));
  FOVEA_VERIFY(w.history.place_folder(ids[3], 1));
  QCOMPARE(names(), std::string("adbc"));
  FOVEA_VERIFY(w.history.place_folder(ids[0], 99));
  QCOMPARE(names(), std::string("dbca"));
  FOVEA_VERIFY(w.history.place_folder(ids[0], -5));
  QCOMPARE(names(), std::string("adbc"));
  FOVEA_VERIFY(w.history.rename_folder(ids[1], "B"));
  (void)*w.history.create_folder("e");
  QCOMPARE(names(), std::string("adBce"));
  FOVEA_VERIFY(w.history.set_collapsed(ids[1], true));
  QVERIFY(w.history.folder(ids[1])->collapsed);
  QVERIFY(!w.history.folder(ids[2])->collapsed);
  QVERIFY(!w.history.place_folder(12345, 0));
  QVERIFY(!w.history.rename_folder(12345, "x"));
  QVERIFY(!w.history.folder(12345));
}

// Also those that are deleted and may come back, and those that are begun while it goes.
void HistoryTest::a_removed_folder_leaves_its_conversations() {
  World w;
  const Folder work = *w.history.create_folder("Work");
  const Id kept = w.history.create({"kept", {}, {}, work.id})->id;
  const Id deleted = w.history.create({"deleted", {}, {}, work.id})->id;
  FOVEA_VERIFY(w.history.remove(deleted));
  FOVEA_VERIFY(w.history.remove_folder(work.id));
  QVERIFY(w.history.folders()->empty());
  QCOMPARE(titles(*w.history.conversations(9)), (Strings{"kept"}));
  QCOMPARE(w.history.conversation(kept)->folder, Id{0});
  FOVEA_VERIFY(w.history.restore(deleted));
  QCOMPARE(titles(*w.history.conversations(9)).size(), std::size_t{2});
  const auto late = w.history.create({"late", {}, {}, work.id});
  FOVEA_VERIFY(late);
  QCOMPARE(late->folder, Id{0});
  FOVEA_VERIFY(History::check(w.file));
}

void HistoryTest::a_folder_names_what_begins_in_it() {
  World w;
  const Folder one = *w.history.create_folder("One"), other = *w.history.create_folder("Other");
  FOVEA_VERIFY(w.history.set_folder_defaults(one.id, "precise", "/models/a.gguf"));
  FOVEA_VERIFY(w.history.set_folder_defaults(other.id, "kind", ""));
  QCOMPARE(w.history.folder(one.id)->preset, std::string("precise"));
  QCOMPARE(w.history.folder(one.id)->model, std::string("/models/a.gguf"));
  FOVEA_VERIFY(w.history.forget_preset("precise"));
  QCOMPARE(w.history.folder(one.id)->preset, std::string());
  QCOMPARE(w.history.folder(one.id)->model, std::string("/models/a.gguf"));
  QCOMPARE(w.history.folder(other.id)->preset, std::string("kind"));
  QVERIFY(!w.history.set_folder_defaults(12345, "", ""));
}

void HistoryTest::keeps_what_a_conversation_uses() {
  World w;
  const Turn one = w.turn(0, 0, "one"), other = w.turn(0, 0, "other");
  QCOMPARE(*w.history.use_profile(one.conversation.id), std::string());
  const auto finish = [&](const Turn& turn, const std::string& profile) {
    return w.history.finish_answer(turn.answer.id, {.timings = {}, .note = {}, .use_profile = profile});
  };
  const std::string bytes("a\0\xFF z", 5);
  FOVEA_VERIFY(finish(one, bytes));
  QCOMPARE(*w.history.use_profile(one.conversation.id), bytes);
  QCOMPARE(*w.history.use_profile(other.conversation.id), std::string());
  FOVEA_VERIFY(finish(one, ""));  // a model without a policy answered
  QCOMPARE(*w.history.use_profile(one.conversation.id), bytes);
  FOVEA_VERIFY(finish(one, "later"));
  QCOMPARE(*w.history.use_profile(one.conversation.id), std::string("later"));
  FOVEA_VERIFY(w.history.remove(one.conversation.id));
  w.clock += Time{31} * 24 * 3600 * 1000;
  QCOMPARE(*w.history.purge(), 1);
  QCOMPARE(*w.history.use_profile(one.conversation.id), std::string());
  FOVEA_VERIFY(History::check(w.file));
}

void HistoryTest::continues_a_stopped_answer() {
  World w;
  const Turn turn = w.turn(0, 0, "q");
  FOVEA_VERIFY(w.history.append_answer(turn.answer.id, "one "));
  FOVEA_VERIFY(w.history.finish_answer(
      turn.answer.id, {.state = MessageState::stopped, .seed = 0, .timings = {}, .note = {}}));
  FOVEA_VERIFY(w.history.append_answer(turn.answer.id, "two"));
  QCOMPARE(w.history.message(turn.answer.id)->state, MessageState::partial);
  QCOMPARE(w.history.message(turn.answer.id)->text, std::string("one two"));
  FOVEA_VERIFY(w.history.finish_answer(turn.answer.id, {}));
  QCOMPARE(w.history.message(turn.answer.id)->text, std::string("one two"));
  QCOMPARE(found(w.history, "two").size(), std::size_t{1});
  QVERIFY(!w.history.append_answer(4711, "nobody's"));
  QVERIFY(!w.history.finish_answer(4711, {}));
}

void HistoryTest::refuses_a_parent_elsewhere() {
  World w;
  const Turn one = w.turn(0, 0, "one"), two = w.turn(0, 0, "two");
  NewTurn wrong;
  wrong.conversation = one.conversation.id;
  wrong.parent = two.answer.id;
  QVERIFY(!w.history.add_turn(wrong));
  wrong.conversation = 999;
  wrong.parent = 0;
  QVERIFY(!w.history.add_turn(wrong));
  QCOMPARE(w.history.archive(one.conversation.id)->messages.size(), std::size_t{2});
}

void HistoryTest::finds_every_script_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("query");
  QTest::addColumn<bool>("is_found");
  const auto row = [](const char* name, const char* text, const char* query, bool is_found = true) {
    QTest::newRow(name) << QString::fromUtf8(text) << QString::fromUtf8(query) << is_found;
  };
  row("a word", "the quick brown fox", "quick");
  row("as it is typed", "the quick brown fox", "qui");
  row("a finished word is whole", "the quick brown fox", "qui ", false);
  row("two words anywhere", "the quick brown fox", "fox qui");
  row("all must occur", "the quick brown fox", "fox cat", false);
  row("case and accents", "Ein CAFÉ in Zürich", "café zurich");
  row("sharp s", "Straße", "STRASSE");
  row("full width", "ＡＢＣ１２３", "abc123");
  row("ligature", "eﬃcient", "efficient");
  row("Greek", "Ὀδυσσεύς", "οδυσσευς");
  row("Russian", "Съешь ещё этих булок", "еще");
  row("Chinese, two characters", "我昨天在东京看到了樱花", "东京");
  row("Chinese, one", "我昨天在东京看到了樱花", "樱");
  row("Chinese, across", "我昨天在东京看到了樱花", "京看到");
  row("Chinese, not in this order", "我昨天在东京看到了樱花", "京东", false);
  row("Japanese", "プログラミングを勉強する", "グラミ");
  row("Japanese, half width", "ﾌﾟﾛｸﾞﾗﾑ", "プログラム");
  row("Korean, being typed", "한국어를 배웁니다", "한구");
  row("Thai", "ฉันรักภาษาไทย", "ภาษา");
  row("Arabic without points", "مُحَمَّد يكتب", "محمد");
  row("Hebrew without points", "שָׁלוֹם עולם", "שלום");
  row("Persian joiner", "می‌خواهم", "میخواهم");
  row("Hindi", "हिन्दी भाषा", "हिन्दी");
  row("emoji", "nice 🦊 day", "🦊");
  row("identifier", "call std::vector<int>::push_back", "push_back");
  row("part of an identifier", "call push_back", "back");
  row("digits", "error 0x80070005", "0x8007");
}

void HistoryTest::finds_every_script() {
  QFETCH(QString, text);
  QFETCH(QString, query);
  QFETCH(bool, is_found);
  World w;
  const Turn turn = w.answered(0, 0, "unrelated", text.toStdString());
  (void)w.answered(0, 0, "something else", "which must not be found");
  const auto hits = w.history.search(query.toStdString(), 10);
  FOVEA_VERIFY(hits);
  QCOMPARE(hits->hits.size(), std::size_t{is_found ? 1U : 0U});
  if (!is_found) return;
  QCOMPARE(hits->hits[0].conversation, turn.conversation.id);
  QCOMPARE(hits->hits[0].message, turn.answer.id);
  QVERIFY(!hits->hits[0].snippet_matches.empty());
}

void HistoryTest::hostile_queries_are_no_error_data() {
  QTest::addColumn<QByteArray>("query");
  const char* const queries[]{
      "\"",         "\"\"",         "'",        "a\"b",      "*",        "a*b",  "^a",
      "a AND",      "OR",           "NOT a",    "NEAR(a b)", "(",        ")",    "a:b",
      "text:zebra", "{text}:a",     "-a",       "a + b",     "--; DROP", "%_\\", "\xFF\xFE",
      "\xE4\xB8",   "\xED\xA0\x80", "zebra\"*", "\"zebra",   "rank",     ";",    "a NEAR/2 b"};
  for (const char* query : queries) QTest::newRow(query) << QByteArray(query);
  QTest::newRow("nul") << QByteArray("a\0b", 3);
  QTest::newRow("long") << QByteArray(100'000, 'a');
  QByteArray many;
  for (int i = 0; i < 20'000; ++i) many += "w" + QByteArray::number(i) + " ";
  QTest::newRow("many words") << many;
  QTest::newRow("Chinese, long") << QString(5000, QChar(0x4E00)).toUtf8();
}

void HistoryTest::hostile_queries_are_no_error() {
  QFETCH(QByteArray, query);
  World w;
  (void)w.answered(0, 0, "zebra", "rank text");
  FOVEA_VERIFY(w.history.search(query.toStdString(), 10));
  FOVEA_VERIFY(w.history.search(query.toStdString() + " ", 10));
}

void HistoryTest::snippets_mark_what_matched() {
  World w;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "filling words ";
  text += "\nwhere Ünïcode matters and zebras sleep\n";
  for (int i = 0; i < 200; ++i) text += "more words ";
  (void)w.answered(0, 0, "a question", text);
  const auto result = w.history.search("zebra unicode", 10);
  FOVEA_VERIFY(result);
  QCOMPARE(result->hits.size(), std::size_t{0});  // "unicode" may go on, "zebra" is a whole word
  const auto right = w.history.search("unicode zebra", 10);
  QCOMPARE(right->hits.size(), std::size_t{1});
  const SearchHit& hit = right->hits[0];
  QCOMPARE(hit.snippet_matches.size(), std::size_t{2});
  Strings marked;
  for (const TextRange& r : hit.snippet_matches) {
    marked.push_back(
        hit.snippet.substr(static_cast<std::size_t>(r.start), static_cast<std::size_t>(r.length)));
  }
  QCOMPARE(marked, (Strings{"Ünïcode", "zebras"}));
  QVERIFY(hit.snippet.starts_with("…") && hit.snippet.ends_with("…"));
  QVERIFY(hit.snippet.find('\n') == std::string::npos);
  QVERIFY(hit.snippet.size() < 200);

  // Whatever stands between the words: each of them that counted is there as a whole.
  for (int gap = 90; gap < 150; ++gap) {
    World apart;
    (void)apart.answered(0, 0, "a question",
                         std::string(100, '.') + " narwhal" +
                             std::string(static_cast<std::size_t>(gap), '.') + " pelican " +
                             std::string(300, '.'));
    const auto both = apart.history.search("narwhal pelican", 10);
    FOVEA_VERIFY(both);
    QCOMPARE(both->hits[0].snippet_matches.size(), std::size_t{gap <= 145 ? 2U : 1U});
  }
}

void HistoryTest::titles_come_first_and_deleted_ones_never() {
  World w;
  const Turn by_text = w.answered(0, 0, "animals", "the zebra zebra zebra");
  const Turn by_title = w.answered(0, 0, "zebra stripes", "black and white");
  const Turn gone = w.answered(0, 0, "zebra food", "grass");
  FOVEA_VERIFY(w.history.remove(gone.conversation.id));
  QCOMPARE(found(w.history, "zeb"), (std::vector<Id>{by_title.conversation.id, by_text.conversation.id}));
  FOVEA_VERIFY(w.history.rename(by_title.conversation.id, "stripes"));
  const auto hits = w.history.search("stri", 10)->hits;
  QCOMPARE(hits.size(), std::size_t{1});
  QVERIFY(hits[0].title_matches == (std::vector<TextRange>{{0, 7}}));
  QVERIFY(w.history.search("zebra", 1)->more);
}

void HistoryTest::only_the_owner_may_read() {
  World w;
  using std::filesystem::perms;
  QCOMPARE(std::filesystem::status(w.file).permissions() & (perms::group_all | perms::others_all),
           perms::none);
  const auto log = w.file.string() + "-wal";
  QVERIFY(std::filesystem::exists(log));
  QCOMPARE(std::filesystem::status(log).permissions() & (perms::group_all | perms::others_all), perms::none);
}

FOVEA_TEST(HistoryTest)
#include "history_test.moc"
