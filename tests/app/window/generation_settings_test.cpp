#include "app/window/generation_settings.h"

#include <limits>

#include "app/window/attachments.h"
#include "tests/support/test.h"

using namespace fovea;

class GenerationSettingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsWrittenIsRead_data() {
    QTest::addColumn<double>("temperature");
    QTest::addColumn<int>("top_k");
    QTest::addColumn<quint64>("seed");
    QTest::newRow("usual") << 0.7 << 40 << quint64{7};
    QTest::newRow("greedy, all tokens") << 0.0 << 0 << quint64{1};
    QTest::newRow("largest seed") << 2.0 << 1000 << ~quint64{0};
  }
  void whatIsWrittenIsRead() {
    QFETCH(double, temperature);
    QFETCH(int, top_k);
    QFETCH(quint64, seed);
    ui::ChatSettingsView settings;
    settings.temperature = temperature;
    settings.top_k = top_k;
    settings.seed = seed;
    settings.thinking = top_k == 0;
    settings.effort = QStringLiteral("low");
    settings.as_json = true;
    settings.schema = top_k == 0 ? QString() : QStringLiteral("{\"type\": \"array\"}");
    settings.leave_out_oldest = true;
    QVERIFY(app::read_generation_settings(app::write_generation_settings(settings)) == settings);
    GenerateRequest request;
    app::apply(settings, request);
    QCOMPARE(request.sampling.temperature, static_cast<float>(temperature));
    QCOMPARE(request.sampling.top_k, top_k);
    QCOMPARE(request.sampling.seed, seed);
    QCOMPARE(request.overflow, ContextOverflow::drop_oldest_turns);
    QVERIFY(request.thinking == (top_k == 0));
    QCOMPARE(request.effort, std::string("low"));
    QCOMPARE(request.form.kind, top_k == 0 ? AnswerForm::Kind::json : AnswerForm::Kind::json_schema);
    QCOMPARE(request.form.text, settings.schema.toStdString());
    QVERIFY(app::view_of(request).as_json && app::view_of(request).schema == settings.schema);
    // A schema is kept while it is not used.
    settings.as_json = false;
    QVERIFY(app::read_generation_settings(app::write_generation_settings(settings)) == settings);
    GenerateRequest free;
    app::apply(settings, free);
    QCOMPARE(free.form.kind, AnswerForm::Kind::free);
  }

  void aModelIsToldWhatItsTemplateKnows() {
    GenerateRequest request;
    request.thinking = false;
    request.effort = "high";
    ModelInfo info;
    info.can_switch_thinking = info.has_effort = true;
    app::leave_out_unknown(info, request);
    QVERIFY(request.thinking == false && request.effort == "high");
    info.has_effort = false;
    app::leave_out_unknown(info, request);
    QVERIFY(request.thinking == false && request.effort.empty());
    app::leave_out_unknown({}, request);
    QVERIFY(!request.thinking);
  }

  void nothingSetChangesNothing() {
    QVERIFY(app::write_generation_settings({}).empty());
    for (const char* text :
         {"", "{}", "[1]", "no JSON", "{\"temperature\": \"hot\"}", R"({"thinking": "on", "effort": "huge"})",
          R"({"max_tokens": 1e300})", R"({"max_tokens": 3000000000})", R"({"max_tokens": -3000000000})",
          R"({"max_tokens": 18446744073709551615})"}) {
      GenerateRequest request;
      app::apply(app::read_generation_settings(text), request);
      QCOMPARE(request.sampling.temperature, GenerateRequest{}.sampling.temperature);
      QCOMPARE(request.max_tokens, GenerateRequest{}.max_tokens);
      QVERIFY(!request.thinking && request.effort.empty());
    }
  }

  // All of them, as they act: by hand, from the request's own defaults.
  void whatAnAnswerIsMadeWithIsComplete() {
    GenerateRequest request;
    request.sampling.temperature = 0.6F;
    request.sampling.presence_penalty = 1.5F;
    request.max_tokens = 7;
    QCOMPARE(app::effective_settings(request),
             std::string(R"({"dry_allowed_length":2,"dry_base":1.75,"dry_multiplier":0.0,"dry_window":-1,)"
                         R"("frequency_penalty":0.0,"max_tokens":7,"min_p":0.05,"penalty_window":64,)"
                         R"("presence_penalty":1.5,"repetition_penalty":1.0,"temperature":0.6,"top_k":40,)"
                         R"("top_p":0.95})"));
    request.overflow = ContextOverflow::drop_oldest_turns;
    request.sampling.dry_multiplier = 0.8F;
    GenerateRequest again;
    app::apply(app::read_generation_settings(app::effective_settings(request)), again);
    QCOMPARE(again.sampling.temperature, 0.6F);
    QCOMPARE(again.sampling.top_p, request.sampling.top_p);
    QCOMPARE(again.sampling.dry_multiplier, 0.8F);
    QCOMPARE(again.overflow, request.overflow);
  }

  void aConversationsOwnSettingsComeFirst() {
    app::Settings general;
    general.temperature = 0.2;
    general.top_k = 5;
    ui::ChatSettingsView own;
    own.temperature = 1.1;
    const ui::ChatSettingsView both = app::with_general(own, general);
    QCOMPARE(*both.temperature, 1.1);
    QCOMPARE(*both.top_k, 5);
    general.top_k = std::int64_t{3} << 30;
    QCOMPARE(*app::with_general(own, general).top_k, std::numeric_limits<int>::max());
  }

  void timingsFromElsewhereMayBeAnything() {
    QCOMPARE(app::read_timings(R"({"tokens": 6, "decode_seconds": 2})").tokens_per_second, 3.0);
    QCOMPARE(app::read_timings(R"({"tokens": 1e300})").tokens, 0);
    QCOMPARE(app::read_timings(R"({"tokens": "6"})").tokens, 0);
    QVERIFY(!app::read_timings(R"({"joules": "6"})").joules);
  }

  void whatWasMeasuredIsKept() {
    GenerateResult result;
    QVERIFY(!app::read_timings(app::timings_json(result)).quality_kept);
    QVERIFY(!app::read_timings(app::timings_json(result)).joules);
    result.quality_kept = 0.97;
    result.joules = 12.5;
    result.bits_per_use = 4.25;
    result.timings.prompt_tokens = 30;
    const app::KeptTimings kept = app::read_timings(app::timings_json(result));
    QCOMPARE(kept.quality_kept.value_or(0), 0.97);
    QCOMPARE(kept.joules.value_or(0), 12.5);
    QCOMPARE(kept.bits_per_use.value_or(0), 4.25);
    QCOMPARE(kept.prompt_tokens.value_or(0), 30);
  }

  void aFileCannotCloseItsOwnFence() {
    const std::string text = app::prompt_text(
        "Why?", {{.name = "a.md", .media_type = {}, .text = "```\ncode\n````\n", .tokens = 0}});
    QCOMPARE(text, std::string("File a.md:\n`````\n```\ncode\n````\n`````\n\nWhy?"));
  }
};
FOVEA_TEST(GenerationSettingsTest)

#include "generation_settings_test.moc"
