// Answers that are held to a form: whatever the weights would say, they have it, within their limit.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/chat/errors.h"
#include "engine/runtime/sampler.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/engine/chat/template_model.h"
#include "tests/support/test.h"

using namespace fovea;
using nlohmann::json;

namespace {

const char* const person_schema =
    R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, )"
    R"("age": {"type": "integer", "minimum": 0, "maximum": 120}, )"
    R"("tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b\n"]}}}, "required": ["name", "age"]})";

bool is_person(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) return false;
  if (!value.contains("age") || !value["age"].is_number_integer()) return false;
  if (value["age"] < 0 || value["age"] > 120) return false;
  for (const auto& [key, each] : value.items()) {
    if (key == "tags") {
      if (!each.is_array() || each.size() > 2) return false;
      for (const json& tag : each)
        if (tag != "a" && tag != "b\n") return false;
    } else if (key != "name" && key != "age") {
      return false;
    }
  }
  return true;
}

// What an answer says, without its thoughts.
std::string said(const std::string& text) {
  const std::size_t end = text.rfind("</think>");
  if (end == std::string::npos) return text;
  return text.substr(std::min(text.find_first_not_of('\n', end + 8), text.size()));
}

GenerateRequest held(AnswerForm form, std::uint64_t seed = 1, float temperature = 1.5F) {
  GenerateRequest request;
  request.messages = {{"user", "Who is it?"}};
  request.form = std::move(form);
  request.sampling.seed = seed;
  request.sampling.temperature = temperature;
  request.sampling.top_k = 0;
  request.sampling.top_p = 1;
  request.sampling.min_p = 0;
  request.max_tokens = 200;
  return request;
}

GenerateRequest person(std::uint64_t seed = 1, float temperature = 1.5F) {
  return held({AnswerForm::Kind::json_schema, person_schema}, seed, temperature);
}

// The tokens that a limit of one would need; 0: it was not refused for that.
std::int64_t needed_for(Engine& engine, GenerateRequest request) {
  request.max_tokens = 1;
  const auto refused = engine.generate(request);
  if (refused || !refused.error().is(errors::limit_too_short_for_form.code)) return 0;
  return refused.error().number("needed").value_or(0);
}

// A template of make_thinking.py.
std::unique_ptr<Engine> thinking_engine(const std::string& style) {
  const auto model = tests::TemplateModel::thinking(style);
  auto loaded = Engine::load(
      {.model = model.path(), .context = 256, .kv = KvType::f32, .threads = 2, .need_tokenizer = true});
  if (!loaded) qFatal("%s", loaded.error().message().c_str());
  return *std::move(loaded);
}

std::vector<std::uint32_t> bits_of(std::span<const TokenId> ids, std::size_t words) {
  std::vector<std::uint32_t> bits(words);
  for (const TokenId id : ids) bits[static_cast<std::size_t>(id) / 32] |= 1U << (id % 32);
  return bits;
}

}  // namespace

class AnswerFormTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    auto loaded = Engine::load(tests::chat_request());
    FOVEA_VERIFY(loaded);
    engine_ = *std::move(loaded);
  }

  void everyAnswerIsValid() {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      for (const float temperature : {0.0F, 1.0F, 30.0F}) {
        const GenerateResult result = tests::generate(*engine_, person(seed, temperature));
        QVERIFY2(is_person(result.text), result.text.c_str());
      }
    }
  }

  void withPenaltiesAndFewTokensToo() {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      GenerateRequest request = person(seed);
      request.sampling.top_k = 3;
      request.sampling.top_p = 0.5F;
      request.sampling.repetition_penalty = 2;
      request.sampling.presence_penalty = 50;
      request.sampling.dry_multiplier = 100;
      const GenerateResult result = tests::generate(*engine_, request);
      QVERIFY2(is_person(result.text), result.text.c_str());
    }
  }

  void allNotations() {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto text = [&](AnswerForm::Kind kind, const char* form) {
        return QString::fromStdString(tests::generate(*engine_, held({kind, form}, seed)).text);
      };
      const QString object = text(AnswerForm::Kind::json, "");
      QVERIFY2(json::parse(object.toStdString(), nullptr, false).is_object(), qPrintable(object));
      QCOMPARE(QRegularExpression("^[a-f]{3,5}-\\d{2}$")
                   .match(text(AnswerForm::Kind::regex, "[a-f]{3,5}-\\d{2}"))
                   .hasMatch(),
               true);
      QCOMPARE(QRegularExpression("^(yes|no)(, (yes|no))*\\.$")
                   .match(text(AnswerForm::Kind::gbnf,
                               "root ::= word (\", \" word){0,9} \".\"\nword ::= \"yes\" | \"no\""))
                   .hasMatch(),
               true);
    }
  }

  // An answer that can only end is not asked for one more token.
  void itEndsByItself() {
    const GenerateResult result =
        tests::generate(*engine_, held({AnswerForm::Kind::gbnf, "root ::= \"yes\""}));
    QCOMPARE(result.text, std::string("yes"));
    QVERIFY(result.finish == FinishReason::stop_token);
    const GenerateResult empty = tests::generate(*engine_, held({AnswerForm::Kind::gbnf, "root ::= \"\""}));
    QCOMPARE(empty.text, std::string());
    QVERIFY(empty.finish == FinishReason::stop_token);
  }

  void aLimitClosesTheAnswerInTime() {
    const std::int64_t needed = needed_for(*engine_, person());
    QVERIFY(needed > 10);
    for (std::int64_t limit = needed - 1; limit < needed + 40; ++limit) {
      GenerateRequest request = person(static_cast<std::uint64_t>(limit), 3);
      request.max_tokens = static_cast<std::int32_t>(limit);
      const auto result = engine_->generate(request);
      QCOMPARE(result.has_value(), limit >= needed);
      if (!result) continue;
      QVERIFY2(is_person(result->text), result->text.c_str());
      QVERIFY(std::ssize(result->tokens) <= limit);
    }
  }

  void theContextsEndDoesSo() {
    GenerateRequest request = person();
    request.max_tokens = -1;
    const std::string filler = " a a a a a a a a";
    bool refused = false;
    int answered = 0;
    for (int i = 0; i < 40 && !refused; ++i) {
      request.messages[0].content += filler;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        request.sampling.seed = seed;
        const auto result = engine_->generate(request);
        if (!result) {
          QVERIFY(result.error().kind == ErrorKind::context_full);
          refused = refused || result.error().is(errors::context_too_short_for_form.code);
          break;
        }
        ++answered;
        QVERIFY2(is_person(result->text), result->text.c_str());
      }
    }
    QVERIFY(refused && answered > 10);
  }

  void aStopStringEndsItAnywhere() {
    GenerateRequest request = held({AnswerForm::Kind::gbnf, "root ::= \"one, two\""});
    request.stop = {", "};
    const GenerateResult result = tests::generate(*engine_, request);
    QCOMPARE(result.text, std::string("one"));
    QVERIFY(result.finish == FinishReason::stop_string);
  }

  void anAnswerGoesOnInItsForm() {
    GenerateRequest request = person();
    request.messages.push_back({"assistant", "{\"name\": \"A"});
    request.continue_last = true;
    const GenerateResult rest = tests::generate(*engine_, request);
    const std::string whole = request.messages.back().content + rest.text;
    QVERIFY2(is_person(whole), whole.c_str());
    request.messages.back().content = "Well, ";
    const auto refused = engine_->generate(request);
    QVERIFY(!refused && refused.error().is(errors::begun_answer_not_of_form.code));
  }

  void aBadFormSaysWhere() {
    const auto schema =
        engine_->generate(held({AnswerForm::Kind::json_schema, R"({"properties": {"a": {"not": {}}}})"}));
    QVERIFY(!schema);
    QVERIFY2(schema.error().message().contains("/properties/a"), schema.error().message().c_str());
    const auto grammar = engine_->generate(held({AnswerForm::Kind::gbnf, "root ::= \"a\"\nroot2 ::= ("}));
    QVERIFY(!grammar);
    QVERIFY2(grammar.error().message().contains("line 2"), grammar.error().message().c_str());
  }

  // The engine chooses among the allowed tokens as the model would: the first token of the answers.
  void theFirstTokenIsDrawnAsTheModelWould() {
    std::map<std::string, int> counts, expected;
    GenerateRequest free = held({}, 1, 2);
    free.max_tokens = 1;
    // Of free answers those that the form allows.
    int kept = 0;
    for (int seed = 1; kept < 400 && seed <= 60000; ++seed) {
      free.sampling.seed = static_cast<std::uint64_t>(seed);
      const std::string text = tests::generate(*engine_, free).text;
      if (text.size() != 1 || text[0] < 'a' || text[0] > 'h') continue;
      ++expected[text];
      ++kept;
    }
    QVERIFY(kept >= 100);
    for (int seed = 1; seed <= 4 * kept; ++seed) {
      GenerateRequest request = held({AnswerForm::Kind::regex, "[a-h]"}, static_cast<std::uint64_t>(seed), 2);
      ++counts[tests::generate(*engine_, request).text];
    }
    for (const auto& [text, count] : counts) {
      // Within 5 standard deviations of both.
      const double want = 4.0 * expected[text];
      QVERIFY2(std::abs(count - want) < 5 * std::sqrt(5 * std::max(want, 4.0)) + 1,
               qPrintable(QString("%1: %2, expected %3").arg(text.c_str()).arg(count).arg(want)));
    }
  }

  void theDistributionIsTheModelsAmongTheAllowed() {
    std::mt19937 random(tests::seed());
    std::normal_distribution<float> normal(0, 3);
    SamplingSettings settings;
    settings.temperature = 0.7F;
    settings.top_k = 0;
    settings.top_p = 1;
    settings.min_p = 0;
    settings.presence_penalty = 1;
    settings.seed = 1;
    auto sampler = runtime::Sampler::create(settings, 100);
    FOVEA_VERIFY(sampler);
    sampler->accept(40);
    std::vector<float> logits(100);
    for (float& logit : logits) logit = normal(random);
    const std::vector<TokenId> allowed{3, 31, 32, 40, 99};
    const auto bits = bits_of(allowed, 4);
    sampler->allow(bits);
    double sum = 0;
    const auto weight = [&](TokenId id) {
      return std::exp((static_cast<double>(logits[static_cast<std::size_t>(id)]) - (id == 40 ? 1 : 0)) / 0.7);
    };
    for (const TokenId id : allowed) sum += weight(id);
    const auto left = sampler->filter(logits);
    QCOMPARE(left.size(), allowed.size());
    for (const auto& candidate : left)
      QVERIFY(std::abs(candidate.probability - weight(candidate.token) / sum) < 1e-5);
    sampler->allow({});
    QCOMPARE(sampler->filter(logits).size(), logits.size());
    // Where the model thinks nothing of any, one of them is drawn all the same.
    sampler->allow(bits);
    std::ranges::fill(logits, -std::numeric_limits<float>::infinity());
    logits[5] = 1;
    QCOMPARE(sampler->sample(logits), TokenId{3});
  }

  void theLikeliestDecideOnlyWhereTheyAreAllowed() {
    const std::vector<TokenId> ids{7, 3, 9};
    const std::vector<float> likely{3, 2, 1};
    std::vector<float> logits(20, -5);
    for (std::size_t i = 0; i < ids.size(); ++i) logits[static_cast<std::size_t>(ids[i])] = likely[i];
    const layers::TopKLogits top{.ids = ids, .logits = likely, .weight = 2};
    SamplingSettings settings;
    settings.temperature = 0;
    auto greedy = runtime::Sampler::create(settings, 20);
    FOVEA_VERIFY(greedy);
    const auto some = bits_of(std::vector<TokenId>{9, 12}, 1),
               none = bits_of(std::vector<TokenId>{12, 13}, 1);
    greedy->allow(some);
    QCOMPARE(greedy->sample(top), std::optional<TokenId>(9));
    greedy->allow(none);
    QVERIFY(!greedy->sample(top));
    QCOMPARE(greedy->sample(logits), TokenId{12});
    settings.temperature = 1;
    settings.top_k = 2;
    settings.top_p = 1;
    settings.min_p = 0;
    auto few = runtime::Sampler::create(settings, 20);
    FOVEA_VERIFY(few);
    few->allow(some);
    QVERIFY(few->filter(top).empty());  // the second is not listed
    const auto two = bits_of(std::vector<TokenId>{3, 9}, 1);
    few->allow(two);
    const auto left = few->filter(top);
    QCOMPARE(left.size(), std::size_t{2});
    QVERIFY(std::abs(left[0].probability - 1 / (1 + std::exp(-1.0))) < 1e-5);
  }

  void thoughtsAreFreeAndLeaveTheAnswerItsRoom_data() {
    QTest::addColumn<QString>("style");
    QTest::addColumn<bool>("thinks");  // for certain
    QTest::newRow("opened by the prompt") << "opened" << true;
    QTest::newRow("harmony") << "channels" << false;
    QTest::newRow("gemma") << "other_channels" << false;
  }
  void thoughtsAreFreeAndLeaveTheAnswerItsRoom() {
    QFETCH(QString, style);
    QFETCH(bool, thinks);
    const auto engine = thinking_engine(style.toStdString());
    GenerateRequest request = person();
    if (style == "other_channels") request.thinking = true;
    const std::int64_t needed = needed_for(*engine, request);
    QVERIFY(needed > 10);
    int thoughts = 0;
    for (int i = 0; i < 60; ++i) {
      request.sampling.seed = static_cast<std::uint64_t>(i + 1);
      request.sampling.temperature = i % 2 ? 1 : 30;
      request.max_tokens = static_cast<std::int32_t>(needed + i);
      const GenerateResult result = tests::generate(*engine, request);
      QVERIFY2(is_person(said(result.text)), result.text.c_str());
      QVERIFY(std::ssize(result.tokens) <= request.max_tokens);
      const bool thought = result.text.starts_with("<think>");
      QVERIFY(thought || !thinks);
      thoughts += thought;
    }
    QVERIFY2(thoughts > 0, "none of the answers had thoughts");
  }

  void thoughtsThatThePromptOpensBeginTheText() {
    const auto engine = thinking_engine("opened");
    QVERIFY(engine->info().can_switch_thinking);
    std::string streamed;
    GenerateRequest request = tests::greedy({{"user", "Is it?"}}, 5);
    const auto answer =
        engine->generate(request, [&](std::string_view more, const Timings&) { streamed += more; });
    FOVEA_VERIFY(answer);
    QVERIFY2(answer->text.starts_with("<think>\n"), answer->text.c_str());
    QCOMPARE(streamed, answer->text);
    // It goes on without another one.
    request.messages.push_back({"assistant", answer->text});
    request.continue_last = true;
    const auto rest = engine->generate(request);
    FOVEA_VERIFY(rest);
    QVERIFY2(!rest->text.contains("<think>"), rest->text.c_str());
  }

  void whereThinkingIsOffTheAnswerBeginsAtOnce() {
    for (const char* const style : {"opened", "other_channels"}) {
      const auto engine = thinking_engine(style);
      GenerateRequest request = person();
      request.thinking = false;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        request.sampling.seed = seed;
        const GenerateResult result = tests::generate(*engine, request);
        QVERIFY2(is_person(result.text), result.text.c_str());
      }
    }
  }

 private:
  std::unique_ptr<Engine> engine_;
};
FOVEA_TEST(AnswerFormTest)

#include "answer_form_test.moc"
