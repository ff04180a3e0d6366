// Schemas: what is refused by which name, and what JSON text is taken how. judge_schemas.py compares with
// jsonschema.
#include <QTest>
#include <random>
#include <string>

#include "answers.h"
#include "tests/support/test.h"

using namespace fovea;

class JsonSchemaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void accepts_data();
  void accepts();
  void refuses_data();
  void refuses();
  void hostile_schemas_end();
  void a_limit_that_is_too_short_is_known();
};

void JsonSchemaTest::accepts_data() {
  QTest::addColumn<QByteArray>("grammar");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<bool>("accepted");
  const auto row = [](const char* name, const char* schema, const char* text, bool accepted) {
    QTest::newRow(name) << QByteArray(schema) << QByteArray(text) << accepted;
  };
  constexpr const char* person =
      "{\"properties\": {\"name\": {\"type\": \"string\"}, \"age\": {\"type\": \"integer\", \"minimum\": 0}, "
      "\"tags\": {\"items\": {\"type\": \"string\"}}}, \"required\": [\"name\"]}";
  row("an object", person, "{\"name\": \"x\", \"age\": 3}", true);
  row("compact", person, "{\"name\":\"x\",\"tags\":[\"a\",\"b\"]}", true);
  row("over lines", person, "{\n  \"name\": \"x\",\n  \"tags\": [\n    \"a\"\n  ]\n}", true);
  row("without what is required", person, "{\"age\": 3}", false);
  row("in another order", person, "{\"age\": 3, \"name\": \"x\"}", false);
  row("with another property", person, "{\"name\": \"x\", \"size\": 3}", false);
  row("a comma at the end", person, "{\"name\": \"x\",}", false);
  row("two spaces", person, "{\"name\":  \"x\"}", false);
  row("a negative age", person, "{\"name\": \"x\", \"age\": -1}", false);
  row("an escape", "{\"type\": \"string\"}", "\"\\u00e9\\n\\ud83d\\ude00\"", true);
  row("half of a pair", "{\"type\": \"string\"}", "\"\\ud83d\"", false);
  row("a pair is one character", "{\"type\": \"string\", \"maxLength\": 1}", "\"\\ud83d\\ude00\"", true);
  row("a control character", "{\"type\": \"string\"}", "\"\n\"", false);
  row("a pattern anywhere", "{\"pattern\": \"b\"}", "\"abc\"", true);
  row("a pattern of what is escaped", "{\"pattern\": \"^\\\\n\\\"$\"}", "\"\\n\\\"\"", true);
  row("a pattern and a length", "{\"pattern\": \"^a+$\", \"maxLength\": 3}", "\"aaaa\"", false);
  row("29 February of a leap year", "{\"format\": \"date\"}", "\"2000-02-29\"", true);
  row("29 February of another", "{\"format\": \"date\"}", "\"1900-02-29\"", false);
  row("a bound with a fraction", "{\"type\": \"number\", \"exclusiveMaximum\": 0.5}", "0.5", false);
  row("below it", "{\"type\": \"number\", \"exclusiveMaximum\": 0.5}", "0.49999", true);
  row("at the bound", "{\"type\": \"number\", \"maximum\": 0.5}", "0.500", true);
  row("below zero", "{\"type\": \"number\", \"minimum\": -2.5, \"maximum\": -1}", "-1.75", true);
  row("0 where it is not allowed", "{\"exclusiveMinimum\": -1, \"exclusiveMaximum\": 0}", "-0.0", false);
  row("a name like another by an escape",
      "{\"properties\": {\"a\": {\"const\": 1}}, \"additionalProperties\": true}", "{\"\\u0061\": 2}", false);
  row("a name that begins like another",
      "{\"properties\": {\"a\": {\"const\": 1}}, \"additionalProperties\": true}", "{\"a\": 1, \"ab\": 2}",
      true);
  row("recursion", "{\"anyOf\": [{\"type\": \"null\"}, {\"items\": {\"$ref\": \"#\"}}]}",
      "[[null], [], null]", true);
  row("a tuple", "{\"prefixItems\": [{\"const\": 1}], \"items\": false}", "[1, 2]", false);
  row("anything", "true", "{\"a\": [1, {\"b\": null}]}", true);
}

void JsonSchemaTest::accepts() {
  tests::check_acceptance(grammar::Notation::json_schema);
}

void JsonSchemaTest::refuses_data() {
  QTest::addColumn<QByteArray>("grammar");
  QTest::addColumn<QByteArray>("message");
  const auto row = [](const char* schema, const char* message) {
    QTest::newRow(schema) << QByteArray(schema) << QByteArray(message);
  };
  row("{", "g: this is not valid JSON");
  row("3", "g, #: this is neither an object nor true or false");
  row("{\"properties\": {\"a\": {\"uniqueItems\": true}}}",
      "g, #/properties/a/uniqueItems: \"uniqueItems\" is not supported");
  for (const char* keyword :
       {"not", "if", "multipleOf", "patternProperties", "minProperties", "propertyNames", "contains",
        "dependentRequired", "unevaluatedProperties", "$dynamicRef", "typo"}) {
    QTest::newRow(keyword) << QByteArray("{\"type\": \"object\", \"") + keyword + "\": {}}"
                           << QByteArray("g, #/") + keyword + ": \"" + keyword + "\" is not supported";
  }
  row("{\"type\": \"text\"}", "g, #/type: \"type\" must be the name of a type");
  row("{\"type\": \"string\", \"format\": \"email\"}", "g, #/format: the format \"email\" is not supported");
  row("{\"type\": \"string\", \"pattern\": \"(?=a)\"}", "g, #/pattern, byte 1: looking ahead");
  row("{\"type\": \"string\", \"minLength\": -1}",
      "g, #/minLength: \"minLength\" must be a whole number of 0 or more");
  row("{\"$ref\": \"#/$defs/x\"}", "g, #/$ref: \"#/$defs/x\" leads nowhere");
  row("{\"$ref\": \"#\", \"minimum\": 1}", "\"minimum\" is not supported beside \"$ref\"");
  row("{\"oneOf\": [{\"type\": \"integer\"}, {\"type\": \"number\"}]}",
      "g, #/oneOf: alternatives 0 and 1 of \"oneOf\" are not known to exclude each other");
  row("{\"allOf\": [{}, {}]}", "g, #/allOf: \"allOf\" is not supported");
  row("{\"type\": \"number\", \"maximum\": 0.12345678901234567}", "g, #/maximum: the bound");
  row("{\"$ref\": \"#\"}", "g: no answer satisfies it");
  row("{\"type\": \"string\", \"minLength\": 2, \"maxLength\": 1}", "g: no answer satisfies it");
  row("false", "g: no answer satisfies it");
}

void JsonSchemaTest::refuses() {
  tests::check_refusal(grammar::Notation::json_schema);
}

void JsonSchemaTest::hostile_schemas_end() {
  const auto refused = [](const std::string& text) {
    return tests::is_invalid(grammar::Notation::json_schema, text);
  };
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "{\"items\": ";
  QVERIFY(refused(deep + "true" + std::string(300, '}')));
  QVERIFY(refused(std::string(100000, '[')));
  QVERIFY(refused("{\"type\": \"string\", \"minLength\": 1e12}"));
  QVERIFY(refused("{\"type\": \"array\", \"minItems\": 1e9}"));
  QVERIFY(refused("{\"type\": \"string\", \"pattern\": \"(a{900}){900}\"}"));
}

void JsonSchemaTest::a_limit_that_is_too_short_is_known() {
  const auto grammar = grammar::Grammar::from_json_schema(
      "{\"properties\": {\"answer\": {\"enum\": [\"yes\", \"no\"]}}, \"required\": [\"answer\"]}",
      phrases::name_place("s"));
  FOVEA_VERIFY(grammar);
  const auto tokens = tests::bytes_and({"{\"", "answer\":", "\"no\"", "yes"});
  const auto masks = tests::masks_of(*grammar, tokens);
  QCOMPARE(masks->shortest_answer(), std::int64_t{5});  // { "answer": "no" }, with the quote behind { alone
  std::mt19937 random(tests::seed());
  for (int i = 0; i < tests::rounds(50); ++i) {
    const auto answer = tests::random_answer(*masks, tokens, masks->shortest_answer(), random);
    QVERIFY(answer);
    QVERIFY(tests::accepts(masks, *answer));
  }
}

FOVEA_TEST(JsonSchemaTest)
#include "json_schema_test.moc"
