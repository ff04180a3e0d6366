#include "ui/markdown/highlight.h"

#include <random>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

// Runs as "kind:text", so that expectations read like the code.
QStringList describe(const QString& language, const QString& code) {
  static const char* const kKinds[] = {"keyword", "type", "function", "string", "number",
                                       "comment", "meta", "property", "added",  "removed"};
  LexerState state;
  QStringList out;
  for (const SyntaxRun& run : highlight(language_of(language), code, state)) {
    out += QLatin1String(kKinds[static_cast<int>(run.kind)]) + QLatin1Char(':') +
           code.mid(run.start, run.length);
  }
  return out;
}

}  // namespace

class HighlightTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void colours_data() {
    QTest::addColumn<QString>("language");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QStringList>("runs");
    const auto row = [](const char* name, const char* language, const char* code, QStringList runs) {
      QTest::newRow(name) << QString::fromLatin1(language) << QString::fromUtf8(code) << runs;
    };
    row("C++", "cpp", "#include <vector>\nreturn 0x1f + f(\"a\\\"b\"); // end",
        {"meta:#include", "string:<vector>", "keyword:return", "number:0x1f", "function:f",
         "string:\"a\\\"b\"", "comment:// end"});
    row("comment over lines", "c", "/* a\nb */ int x;", {"comment:/* a", "comment:b */", "type:int"});
    row("raw string", "c++", "auto s = R\"x(a\n\")\" b)x\";",
        {"keyword:auto", "string:R\"x(a", "string:\")\" b)x\""});
    row("digit separators", "cpp", "1'000'000 'a'", {"number:1'000'000", "string:'a'"});
    row("Python", "py", "@cache\ndef f(x):\n  return f\"{x}\" # no",
        {"meta:@cache", "keyword:def", "function:f", "keyword:return", "string:f\"{x}\"", "comment:# no"});
    row("docstring", "python", "\"\"\"a\n'b'\n\"\"\"\nx = None",
        {"string:\"\"\"a", "string:'b'", "string:\"\"\"", "type:None"});
    row("JavaScript template", "js", "const a = `x\n${y}`;", {"keyword:const", "string:`x", "string:${y}`"});
    row("TypeScript", "ts", "interface A { b: string }", {"keyword:interface", "type:A", "type:string"});
    row("Rust", "rust", "#[derive(Debug)]\nfn f<'a>(x: &'a str) { println!(\"{}\", 'c') } /* /* */ */",
        {"meta:#[derive(Debug)]", "keyword:fn", "property:'a", "property:'a", "type:str", "function:println",
         "string:\"{}\"", "string:'c'", "comment:/* /* */ */"});
    row("Go", "go", "func main() { s := `a\\` }", {"keyword:func", "function:main", "string:`a\\`"});
    row("Java", "java", "@Override public int f() { return 1; }",
        {"meta:@Override", "keyword:public", "type:int", "function:f", "keyword:return", "number:1"});
    row("shell", "bash", "if [ -z \"$HOME\" ]; then echo ${A} # b",
        {"keyword:if", "string:\"$HOME\"", "keyword:then", "type:echo", "property:${A}", "comment:# b"});
    row("a hash inside a word is no comment", "sh", "echo a#b", {"type:echo"});
    row("JSON", "json", "{\"a\": [1, true, \"b\"]}",
        {"property:\"a\"", "number:1", "type:true", "string:\"b\""});
    row("YAML", "yaml", "# a\non:\n  image-name: \"x:1\" # b\n  - url: http://a#b it's\n  n: 3",
        {"comment:# a", "property:on", "property:image-name", "string:\"x:1\"", "comment:# b", "property:url",
         "property:n", "number:3"});
    row("TOML", "toml", "a.b = true\ns = \"\"\"x\ny\"\"\"",
        {"property:a.b", "type:true", "property:s", "string:\"\"\"x", "string:y\"\"\""});
    row("Swift", "swift", "@State let a: Int = f(\"\\(b)\") /* /* */ */",
        {"meta:@State", "keyword:let", "type:Int", "function:f", "string:\"\\(b)\"", "comment:/* /* */ */"});
    row("PHP", "php", "#[Pure]\nfunction f(int $a) { return 'b'; } // c",
        {"meta:#[Pure]", "keyword:function", "function:f", "type:int", "property:$a", "keyword:return",
         "string:'b'", "comment:// c"});
    row("Ruby", "rb", "def f(a)\n  puts \"#{a}\" unless a.empty? # b\nend",
        {"keyword:def", "function:f", "type:puts", "string:\"#{a}\"", "keyword:unless", "comment:# b",
         "keyword:end"});
    row("Kotlin", "kt", "fun f(a: Int) = \"$a\"", {"keyword:fun", "function:f", "type:Int", "string:\"$a\""});
    row("HTML", "html", "<!-- a\nb --><p class=\"x\">t &amp; u</p>",
        {"comment:<!-- a", "comment:b -->", "meta:<p", "property:class", "string:\"x\"", "meta:>",
         "number:&amp;", "meta:</p", "meta:>"});
    row("CSS", "css", ".a { color: #fff; } /* b */",
        {"meta:.a", "property:color", "number:#fff", "comment:/* b */"});
    row("SQL", "sql", "SELECT count(*) FROM t WHERE a = 'it''s' -- b",
        {"keyword:SELECT", "type:count", "keyword:FROM", "keyword:WHERE", "string:'it''s'", "comment:-- b"});
    row("diff", "diff", "@@ -1 +1 @@\n-a\n+b\n c", {"function:@@ -1 +1 @@", "removed:-a", "added:+b"});
    row("Markdown", "md", "# A\n- `b`", {"keyword:# A", "meta:-", "string:`b`"});
    row("unknown language", "brainfog", "int x = 1;", {});
    row("an unfinished string ends with its line", "c", "char* s = \"a\nint x;",
        {"type:char", "string:\"a", "type:int"});
  }
  void colours() {
    QFETCH(QString, language);
    QFETCH(QString, code);
    QFETCH(QStringList, runs);
    QCOMPARE(describe(language, code), runs);
  }

  void languagesHaveNames() {
    QCOMPARE(language_of(u"C++"), Language::cpp);
    QCOMPARE(language_of(u"python title=x"), Language::python);
    QCOMPARE(language_label(u"js"), QStringLiteral("JavaScript"));
    QCOMPARE(language_label(u"brainfog"), QStringLiteral("brainfog"));
    QCOMPARE(language_label(u""), QString());
  }

  // Code cut at any line gives the same colours as in one piece, and runs are in order and inside.
  void partsAgreeWithTheWhole() {
    static const char* const kPieces[] = {"/*",   "*/",  "//",   "#",   "\"",     "'",   "`",   "\\", "\n",
                                          "\n",   " ",   "R\"(", ")\"", "\"\"\"", "int", "def", "<",  ">",
                                          "<!--", "-->", "{",    "}",   "1.5e-3", "$x",  "@a",  "x("};
    static const char* const kLanguages[] = {"c",    "cpp", "py",    "js",   "ts",  "rust", "go",
                                             "java", "sh",  "json",  "html", "css", "sql",  "md",
                                             "diff", "yml", "swift", "php",  "rb"};
    const unsigned start = fovea::tests::seed();
    for (int round = 0; round < fovea::tests::rounds(1500); ++round) {
      std::mt19937 random(start + static_cast<unsigned>(round));
      QString code;
      for (unsigned i = random() % 50; i > 0; --i)
        code += QLatin1String(kPieces[random() % std::size(kPieces)]);
      const Language language =
          language_of(QString::fromLatin1(kLanguages[random() % std::size(kLanguages)]));
      const QByteArray where = QStringLiteral("FOVEA_TEST_SEED=%1: %2")
                                   .arg(start + static_cast<unsigned>(round))
                                   .arg(code)
                                   .toUtf8();
      LexerState whole_state;
      const std::vector<SyntaxRun> whole = highlight(language, code, whole_state);
      int last = 0;
      for (const SyntaxRun& run : whole) {
        QVERIFY2(run.start >= last && run.length > 0 && run.start + run.length <= code.size(),
                 where.constData());
        last = run.start + run.length;
      }
      const qsizetype cut = code.indexOf(QLatin1Char('\n'), code.size() / 2);
      if (cut < 0) continue;
      LexerState state;
      std::vector<SyntaxRun> parts = highlight(language, code.left(cut), state);
      for (SyntaxRun run : highlight(language, QStringView(code).sliced(cut + 1), state)) {
        run.start += static_cast<int>(cut + 1);
        parts.push_back(run);
      }
      QVERIFY2(parts == whole && state == whole_state, where.constData());
    }
  }
};
FOVEA_TEST(HighlightTest)

#include "highlight_test.moc"
