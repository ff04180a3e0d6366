#include "ui/markdown/languages.h"

#include <QHash>
#include <QStringList>
#include <array>

namespace fovea::ui {
namespace {

QSet<QString> words(const char* list) {
  const QStringList split = QString::fromLatin1(list).split(QLatin1Char(' '), Qt::SkipEmptyParts);
  return {split.begin(), split.end()};
}

LanguageFacts c_family() {
  LanguageFacts facts;
  facts.line_comment = QStringLiteral("//");
  facts.comment_begin = QStringLiteral("/*");
  facts.comment_end = QStringLiteral("*/");
  facts.quotes = QStringLiteral("\"'");
  return facts;
}

LanguageFacts c_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "auto break case const continue default do else enum extern for goto if inline register restrict "
      "return "
      "sizeof static struct switch typedef union volatile while _Atomic _Generic _Noreturn _Static_assert "
      "alignas alignof static_assert typeof constexpr");
  facts.types = words(
      "void char short int long float double signed unsigned bool size_t ssize_t ptrdiff_t intptr_t "
      "uintptr_t "
      "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t FILE NULL true false nullptr");
  facts.preprocessor = true;
  return facts;
}

LanguageFacts cpp_facts() {
  LanguageFacts facts = c_facts();
  facts.keywords += words(
      "and and_eq asm bitand bitor catch class co_await co_return co_yield compl concept const_cast "
      "consteval "
      "constinit decltype delete dynamic_cast explicit export final friend import module mutable namespace "
      "new "
      "noexcept not not_eq operator or or_eq override private protected public reinterpret_cast requires "
      "static_cast template this thread_local throw try typeid typename using virtual xor xor_eq __global__ "
      "__device__ __host__ __shared__ __constant__");
  facts.types += words(
      "wchar_t char8_t char16_t char32_t string string_view vector map set unique_ptr shared_ptr "
      "optional span pair tuple array unordered_map unordered_set function dim3");
  facts.raw_strings = true;
  return facts;
}

LanguageFacts python_facts() {
  LanguageFacts facts;
  facts.keywords = words(
      "and as assert async await break case class continue def del elif else except finally for from global "
      "if "
      "import in is lambda match nonlocal not or pass raise return try while with yield");
  facts.types = words(
      "None True False self cls int float str bool bytes list dict set tuple object type Exception range len "
      "print super isinstance enumerate zip map filter sorted open");
  facts.line_comment = QStringLiteral("#");
  facts.quotes = QStringLiteral("\"'");
  facts.triple_quotes = true;
  facts.decorators = true;
  return facts;
}

LanguageFacts javascript_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "async await break case catch class const continue debugger default delete do else export extends "
      "finally "
      "for from function get if import in instanceof let new of return set static super switch this throw "
      "try "
      "typeof var void while with yield");
  facts.types = words(
      "true false null undefined NaN Infinity Array Object String Number Boolean Map Set Promise Date RegExp "
      "Error JSON Math Symbol console document window");
  facts.quotes = QStringLiteral("\"'`");
  facts.multiline_quotes = QStringLiteral("`");
  facts.decorators = true;
  return facts;
}

LanguageFacts typescript_facts() {
  LanguageFacts facts = javascript_facts();
  facts.keywords += words(
      "abstract as asserts declare enum implements infer interface is keyof module namespace override "
      "private "
      "protected public readonly satisfies type unique");
  facts.types += words("any bigint boolean never number object string symbol unknown void Record Partial");
  facts.capital_types = true;
  return facts;
}

LanguageFacts rust_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod "
      "move "
      "mut pub ref return self static struct super trait type union unsafe use where while");
  facts.types = words(
      "bool char str String i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 Self Vec Option "
      "Result "
      "Box Rc Arc Some None Ok Err true false");
  facts.nested_comments = true;
  facts.multiline_quotes = QStringLiteral("\"");
  facts.attributes = true;
  facts.raw_strings = true;
  facts.lifetimes = true;
  facts.capital_types = true;
  return facts;
}

LanguageFacts go_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "break case chan const continue default defer else fallthrough for func go goto if import interface "
      "map "
      "package range return select struct switch type var");
  facts.types = words(
      "bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
      "uint8 "
      "uint16 uint32 uint64 uintptr any true false nil iota append cap close copy delete len make new panic "
      "recover");
  facts.quotes = QStringLiteral("\"'`");
  facts.multiline_quotes = QStringLiteral("`");
  return facts;
}

LanguageFacts java_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "abstract assert break case catch class const continue default do else enum extends final finally for "
      "goto "
      "if implements import instanceof interface native new package permits private protected public record "
      "return sealed static strictfp super switch synchronized this throw throws transient try var volatile "
      "while yield fun val when object data companion override open suspend internal namespace using async "
      "await foreach string");
  facts.types = words("boolean byte char double float int long short void String Object true false null");
  facts.triple_quotes = true;
  facts.decorators = true;
  facts.capital_types = true;
  return facts;
}

LanguageFacts swift_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "actor as associatedtype async await break case catch class continue default defer deinit do else enum "
      "extension fallthrough fileprivate final for func get guard if import in indirect init inout internal "
      "is "
      "lazy let mutating open operator override private protocol public repeat required rethrows return self "
      "set some static struct subscript super switch throw throws try typealias unowned var weak where "
      "while");
  facts.types = words(
      "Any Array Bool Character Dictionary Double Float Int Optional Self Set String Void "
      "false nil true");
  facts.quotes = QStringLiteral("\"");
  facts.nested_comments = true;
  facts.triple_quotes = true;
  facts.decorators = true;
  facts.capital_types = true;
  return facts;
}

LanguageFacts php_facts() {
  LanguageFacts facts = c_family();
  facts.keywords = words(
      "abstract and as break case catch class clone const continue declare default do echo else elseif enum "
      "extends final finally fn for foreach function global goto if implements include include_once "
      "instanceof insteadof interface match namespace new or print private protected public readonly require "
      "require_once return static switch throw trait try unset use var while xor yield");
  facts.types = words(
      "array bool callable false float int iterable mixed never null object parent self "
      "string true void");
  facts.multiline_quotes = QStringLiteral("\"'");
  facts.attributes = true;
  facts.dollars = true;
  facts.capital_types = true;
  return facts;
}

LanguageFacts ruby_facts() {
  LanguageFacts facts;
  facts.keywords = words(
      "alias and begin break case class def defined do else elsif end ensure for if in module next not or "
      "private protected public redo rescue retry return self super then undef unless until when while yield "
      "attr_accessor attr_reader attr_writer include extend raise require require_relative");
  facts.types = words(
      "Array Class Float Hash Integer Module Object Proc Range String Struct Symbol false "
      "nil puts true");
  facts.line_comment = QStringLiteral("#");
  facts.quotes = QStringLiteral("\"'");
  facts.multiline_quotes = QStringLiteral("\"'");
  facts.dollars = true;
  facts.capital_types = true;
  return facts;
}

LanguageFacts config_facts() {
  LanguageFacts facts;
  facts.types = words("false no null off on true yes");
  facts.line_comment = QStringLiteral("#");
  facts.quotes = QStringLiteral("\"'");
  facts.triple_quotes = true;
  return facts;
}

LanguageFacts shell_facts() {
  LanguageFacts facts;
  facts.keywords = words(
      "if then elif else fi for while until do done case esac in function select time return exit break "
      "continue "
      "local export readonly declare unset shift source alias set trap eval exec");
  facts.types = words(
      "echo cd ls cat grep sed awk sudo apt apt-get dnf pacman pip npm git docker make cmake curl wget mkdir "
      "rm cp "
      "mv chmod chown find tar ssh python python3 printf test true false");
  facts.line_comment = QStringLiteral("#");
  facts.quotes = QStringLiteral("\"'");
  facts.multiline_quotes = QStringLiteral("\"'");
  facts.dollars = true;
  return facts;
}

LanguageFacts sql_facts() {
  LanguageFacts facts;
  facts.keywords = words(
      "add all alter and as asc begin between by case check column commit constraint create cross database "
      "default delete desc distinct drop else end except exists explain foreign from full grant group having "
      "if in "
      "index inner insert intersect into is join key left like limit natural not null offset on or order "
      "outer over "
      "partition pragma primary references replace returning right rollback select set table then "
      "transaction "
      "trigger union unique update using values view virtual when where with without");
  facts.types = words(
      "int integer bigint smallint tinyint serial real float double numeric decimal char varchar text blob "
      "boolean "
      "date time timestamp interval json uuid true false count sum avg min max coalesce");
  facts.line_comment = QStringLiteral("--");
  facts.comment_begin = QStringLiteral("/*");
  facts.comment_end = QStringLiteral("*/");
  facts.quotes = QStringLiteral("'\"`");
  facts.doubled_quotes = true;
  facts.ignores_case = true;
  return facts;
}

LanguageFacts json_facts() {
  LanguageFacts facts;
  facts.types = words("true false null");
  facts.line_comment = QStringLiteral("//");
  facts.comment_begin = QStringLiteral("/*");
  facts.comment_end = QStringLiteral("*/");
  facts.quotes = QStringLiteral("\"");
  return facts;
}

struct Name {
  Language language;
  const char* label;
  const char* names;  // info strings
};

constexpr Name kNames[] = {
    {Language::c, "C", "c h"},
    {Language::cpp, "C++", "cpp c++ cc cxx hpp hh cuda cu objc objective-c"},
    {Language::python, "Python", "python py python3 pyi pycon"},
    {Language::javascript, "JavaScript", "javascript js jsx mjs node"},
    {Language::typescript, "TypeScript", "typescript ts tsx"},
    {Language::rust, "Rust", "rust rs"},
    {Language::go, "Go", "go golang"},
    {Language::java, "Java", "java"},
    {Language::java, "Kotlin", "kotlin kt"},
    {Language::java, "C#", "c# csharp cs"},
    {Language::swift, "Swift", "swift"},
    {Language::php, "PHP", "php php8"},
    {Language::ruby, "Ruby", "ruby rb"},
    {Language::shell, "Shell", "sh bash shell zsh console shell-session terminal fish"},
    {Language::shell, "Dockerfile", "dockerfile docker"},
    {Language::json, "JSON", "json json5 jsonc jsonl"},
    {Language::config, "YAML", "yaml yml"},
    {Language::config, "TOML", "toml"},
    {Language::config, "INI", "ini cfg conf properties"},
    {Language::markup, "HTML", "html htm xhtml vue svelte"},
    {Language::markup, "XML", "xml svg xsl plist"},
    {Language::css, "CSS", "css scss less"},
    {Language::sql, "SQL", "sql sqlite postgresql mysql psql"},
    {Language::markdown, "Markdown", "markdown md"},
    {Language::diff, "Diff", "diff patch"},
};

const QHash<QString, const Name*>& names() {
  static const QHash<QString, const Name*> table = [] {
    QHash<QString, const Name*> made;
    for (const Name& name : kNames) {
      for (const QString& alias : QString::fromLatin1(name.names).split(QLatin1Char(' '))) {
        made.insert(alias, &name);
      }
    }
    return made;
  }();
  return table;
}

QString first_word(QStringView info) {
  QString word = info.trimmed().toString().toLower();
  for (qsizetype i = 0; i < word.size(); ++i) {
    if (word[i].isSpace() || word[i] == QLatin1Char('{') || word[i] == QLatin1Char(',')) word.truncate(i);
  }
  if (word.startsWith(QLatin1String("language-"))) word.remove(0, 9);
  return word;
}

}  // namespace

Language language_of(QStringView info) {
  const Name* name = names().value(first_word(info));
  return name ? name->language : Language::none;
}

QString language_label(QStringView info) {
  const QString word = first_word(info);
  const Name* name = names().value(word);
  return name ? QString::fromLatin1(name->label) : word;
}

const LanguageFacts& facts_of(Language language) {
  static const auto table = [] {
    std::array<LanguageFacts, static_cast<std::size_t>(Language::diff) + 1> made;
    const auto at = [&made](Language l) -> LanguageFacts& { return made[static_cast<std::size_t>(l)]; };
    at(Language::c) = c_facts();
    at(Language::cpp) = cpp_facts();
    at(Language::python) = python_facts();
    at(Language::javascript) = javascript_facts();
    at(Language::typescript) = typescript_facts();
    at(Language::rust) = rust_facts();
    at(Language::go) = go_facts();
    at(Language::java) = java_facts();
    at(Language::swift) = swift_facts();
    at(Language::php) = php_facts();
    at(Language::ruby) = ruby_facts();
    at(Language::shell) = shell_facts();
    at(Language::sql) = sql_facts();
    at(Language::json) = json_facts();
    at(Language::config) = config_facts();
    return made;
  }();
  return table[static_cast<std::size_t>(language)];
}

}  // namespace fovea::ui
