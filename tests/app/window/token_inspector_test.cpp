// Looking inside real answers: the demo model, its tokens in the text, its experts in the map.
#include "app/window/token_inspector.h"

#include "app/live/live_session.h"
#include "app/window/live_controller.h"
#include "tests/support/test.h"
#include "ui/chat/token_lens.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/theme/theme.h"

#include "desk.h"

using namespace fovea;
using fovea::tests::Desk;

namespace {

struct Inspected {
  app::LiveSession session;  // the desk's window shows it
  Desk desk;
  ui::LivePanel* panel = new ui::LivePanel(session);
  app::TokenInspector* inspector = nullptr;

  Inspected() {
    desk.window.set_live_panel(panel);
    new app::LiveController(session, *panel, *desk.controller);
    inspector = new app::TokenInspector(desk.window, *panel, session, *desk.controller);
  }
  bool ask(const char* question) {
    desk.type(QString::fromLatin1(question));
    return desk.answered();
  }
  ui::MessageId last() { return desk.conversation().messages().back().id; }
  QString text() { return QString::fromStdString(desk.conversation().messages().back().text); }
  ui::TokenLens& lens() { return desk.window.transcript().lens(); }
};

}  // namespace

class TokenInspectorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY2(!tests::demo_model().empty(), "the demo model is not built; scripts/test builds it");
  }

  void tokensStandInTheAnswer() {
    Inspected i;
    QVERIFY(i.desk.open_demo());
    QVERIFY(i.ask("Name three colours"));
    const auto places = i.inspector->tokens_of(i.last(), i.text());
    QCOMPARE(places.size(), 12U);  // the limit of its tokens
    QCOMPARE(places.front().begin, 0);
    QCOMPARE(places.back().end, static_cast<int>(i.text().size()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      QCOMPARE(places[k].number, static_cast<int>(k));
      if (k > 0) QCOMPARE(places[k].begin, places[k - 1].end);
      const auto token = i.inspector->token(i.last(), static_cast<int>(k));
      QVERIFY(token);
      QCOMPARE(i.text().mid(places[k].begin, places[k].end - places[k].begin).trimmed(),
               token->text.trimmed());
      QCOMPARE(token->choices.size(), 5U);
      double sum = 0;
      for (const auto& choice : token->choices) {
        QCOMPARE(choice.is_chosen, choice.probability == token->probability && choice.text == token->text);
        sum += choice.probability;
      }
      QVERIFY(sum > 0 && sum < 1.0001);
    }
    QVERIFY(!i.inspector->token(i.last(), 12));
    // A question's tokens are nobody's answer.
    QVERIFY(i.inspector->tokens_of(i.desk.conversation().messages().front().id, i.text()).empty());
  }

  void textAndMapLightEachOther() {
    Inspected i;
    QVERIFY(i.desk.open_demo());
    QVERIFY(i.ask("Name three colours"));
    i.session.advance(0);
    QVERIFY(!i.session.nothing());
    i.panel->refresh();
    i.lens().set_on(true);
    QTest::keyClick(&i.desk.window.transcript(), Qt::Key_Right);
    QCOMPARE(i.lens().current(), (ui::TokenRef{i.last(), 0}));
    const std::vector<std::int64_t> units = i.panel->heatmap().pointed_out();
    QVERIFY(!units.empty());
    QCOMPARE(units, i.inspector->units_of(i.last(), 0));
    // Each layer of the map, as many as a token uses.
    const auto& model = i.desk.controller->model();
    QCOMPARE(std::ssize(units), std::ssize(model.expert_layers) * model.info.experts_used);
    QCOMPARE(i.inspector->token(i.last(), 0)->uses, static_cast<int>(units.size()));

    Q_EMIT i.panel->heatmap().pointed(units.front());
    const std::vector<ui::TokenRef> marked = i.lens().marked();
    for (int k = 0; k < 12; ++k) {
      const auto used = i.inspector->units_of(i.last(), k);
      QCOMPARE(std::ranges::binary_search(marked, ui::TokenRef{i.last(), k}),
               std::ranges::find(used, units.front()) != used.end());
    }
    QVERIFY(!marked.empty());
    Q_EMIT i.panel->heatmap().pointed(-1);
    QVERIFY(i.lens().marked().empty());
    i.lens().set_on(false);
    QVERIFY(i.panel->heatmap().pointed_out().empty());
    Q_EMIT i.panel->heatmap().pointed(units.front());  // reading is not disturbed
    QVERIFY(i.lens().marked().empty());
  }

  // A picture of it, to be looked at.
  void itsPicture() {
    const QString folder = qEnvironmentVariable("FOVEA_PICTURES");
    if (folder.isEmpty()) QSKIP("FOVEA_PICTURES names the folder of pictures");
    for (const ui::Scheme scheme : {ui::Scheme::dark, ui::Scheme::light}) {
      ui::apply_theme(*qApp, scheme);
      Inspected i;
      i.desk.window.resize(1280, 720);
      i.desk.window.show_live_panel(true);
      QVERIFY(i.desk.open_demo());
      QVERIFY(i.ask("Name three colours"));
      QVERIFY(i.ask("Name three animals that live in the sea, and say which is the largest."));
      i.session.advance(0);
      i.panel->refresh();
      i.lens().set_on(true);
      i.lens().set_marks_low(true);
      for (int k = 0; k < 4; ++k) QTest::keyClick(&i.desk.window.transcript(), Qt::Key_Right);
      QTest::qWait(400);
      const QString name = scheme == ui::Scheme::dark ? QStringLiteral("dark") : QStringLiteral("light");
      QVERIFY(i.desk.window.grab().save(folder + QStringLiteral("/inside-") + name + QStringLiteral(".png")));
    }
  }

  // Another version, which begins as the answer did and has another word in its place.
  void anAnswerGoesOnFromAnotherWord() {
    Inspected i;
    QVERIFY(i.desk.open_demo());
    QVERIFY(i.ask("Name three colours"));
    const ui::MessageId before = i.last();
    const QString text = i.text();
    constexpr int number = 3;
    const auto places = i.inspector->tokens_of(before, text);
    const auto token = i.inspector->token(before, number);
    int choice = 0;
    while (token->choices[static_cast<std::size_t>(choice)].is_chosen ||
           !token->choices[static_cast<std::size_t>(choice)].can_go_on)
      ++choice;
    const QString other = token->choices[static_cast<std::size_t>(choice)].text;
    Q_EMIT i.lens().choiceWanted({before, number}, choice);
    QVERIFY(QTest::qWaitFor([&] { return i.last() != before; }, tests::kLong));
    QVERIFY(i.desk.answered());
    const QString beginning = text.left(places[number].begin) + other;
    QVERIFY2(i.text().startsWith(beginning), qPrintable(i.text()));
    QVERIFY(i.text().size() > beginning.size());
    QCOMPARE(i.desk.conversation().messages().back().siblings, 2);
    QCOMPARE(i.desk.conversation().messages().size(), 2U);
    // Its tokens are known from the first one on.
    const auto branched = i.inspector->tokens_of(i.last(), i.text());
    QCOMPARE(branched.size(), std::size_t{number + 1 + 12});
    QCOMPARE(branched[number].end, static_cast<int>(beginning.size()));
    QCOMPARE(branched.back().end, static_cast<int>(i.text().size()));
    QCOMPARE(i.inspector->token(i.last(), number)->text, other);
    QCOMPARE(i.inspector->units_of(i.last(), 1), i.inspector->units_of(before, 1));
  }

  // Where the timeline stands, there the text is marked.
  void aMomentMarksWhatWasWrittenThen() {
    Inspected i;
    i.desk.window.show_live_panel(false);  // it would read moments in between
    QVERIFY(i.desk.open_demo());
    for (const char* question : {"Name three colours", "And three animals"}) {
      QVERIFY(i.ask(question));
      QVERIFY(i.session.advance(0) == ui::LiveSource::Step::moved);
    }
    QVERIFY(i.lens().marked().empty());
    const std::int64_t newest = i.session.moment().index;
    i.session.go_to(newest);
    std::vector<ui::TokenRef> all;
    for (int k = 0; k < 12; ++k) all.push_back({i.last(), k});
    QCOMPARE(i.lens().marked(), all);
    i.session.go_to(i.session.moment().first);
    QVERIFY(i.lens().marked().empty());  // nothing before it is held
    i.session.go_to(newest);
    QVERIFY(!i.lens().marked().empty());
    i.session.back_to_live();
    QVERIFY(i.lens().marked().empty());
  }
};
FOVEA_TEST(TokenInspectorTest)

#include "token_inspector_test.moc"
