// What TeX's macros mean.
#include <QHash>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "ui/mathematics/parser.h"
#include "ui/mathematics/tex_symbols.h"

namespace fovea::ui {
namespace {

MathClass class_of(TexClass kind) {
  switch (kind) {
    case TexClass::binary:
      return MathClass::binary;
    case TexClass::relation:
      return MathClass::relation;
    case TexClass::punctuation:
      return MathClass::punctuation;
    case TexClass::opening:
      return MathClass::opening;
    case TexClass::closing:
      return MathClass::closing;
    case TexClass::function:
    case TexClass::large:
      return MathClass::large;
    default:
      return MathClass::ordinary;
  }
}

bool is_integral(const QString& text) {
  return QStringLiteral("∫∬∭∮∯").contains(text);
}

MathNode accented(MathMark mark, MathNode inside, bool wide, const QString& text = {}) {
  MathNode out;
  out.kind = MathKind::accent;
  out.mark = mark;
  out.wide = wide;
  out.text = text;
  out.children.push_back(std::move(inside));
  return out;
}

struct NamedFace {
  const char* name;
  MathFace face;
};
constexpr NamedFace kFaces[] = {
    {"mathrm", MathFace::upright},       {"mathup", MathFace::upright},
    {"mathit", MathFace::italic},        {"mathnormal", MathFace::italic},
    {"mathbf", MathFace::bold},          {"boldsymbol", MathFace::bold_italic},
    {"bm", MathFace::bold_italic},       {"pmb", MathFace::bold_italic},
    {"mathsf", MathFace::sans},          {"mathtt", MathFace::mono},
    {"mathbb", MathFace::blackboard},    {"mathcal", MathFace::calligraphic},
    {"mathscr", MathFace::calligraphic}, {"mathfrak", MathFace::fraktur},
    {"Bbb", MathFace::blackboard},
};
constexpr NamedFace kSwitches[] = {{"rm", MathFace::upright}, {"bf", MathFace::bold},
                                   {"it", MathFace::italic},  {"cal", MathFace::calligraphic},
                                   {"sf", MathFace::sans},    {"tt", MathFace::mono}};
constexpr NamedFace kWords[] = {
    {"text", MathFace::text},     {"textrm", MathFace::text}, {"textnormal", MathFace::text},
    {"mbox", MathFace::text},     {"hbox", MathFace::text},   {"textup", MathFace::text},
    {"textit", MathFace::italic}, {"emph", MathFace::italic}, {"textbf", MathFace::bold},
    {"textsf", MathFace::sans},   {"texttt", MathFace::mono}};

struct NamedMark {
  const char* name;
  MathMark mark;
  bool wide;
  const char* text;
};
constexpr NamedMark kMarks[] = {
    {"hat", MathMark::hat, false, ""},
    {"widehat", MathMark::hat, true, ""},
    {"tilde", MathMark::tilde, false, ""},
    {"widetilde", MathMark::tilde, true, ""},
    {"bar", MathMark::bar, false, ""},
    {"overline", MathMark::bar, true, ""},
    {"vec", MathMark::vector, false, ""},
    {"overrightarrow", MathMark::vector, true, ""},
    {"overleftarrow", MathMark::back_arrow, true, ""},
    {"overleftrightarrow", MathMark::both_arrow, true, ""},
    {"check", MathMark::check, false, ""},
    {"widecheck", MathMark::check, true, ""},
    {"underline", MathMark::under_line, true, ""},
    {"overbrace", MathMark::over_brace, true, ""},
    {"underbrace", MathMark::under_brace, true, ""},
    {"dot", MathMark::glyph, false, "˙"},
    {"ddot", MathMark::glyph, false, "¨"},
    {"dddot", MathMark::glyph, false, "˙˙˙"},
    {"breve", MathMark::glyph, false, "˘"},
    {"acute", MathMark::glyph, false, "´"},
    {"grave", MathMark::glyph, false, "`"},
    {"mathring", MathMark::glyph, false, "˚"},
};

template <typename Named, std::size_t n>
const Named* named(const Named (&table)[n], QStringView name) {
  const auto* found =
      std::ranges::find_if(table, [name](const Named& row) { return name == QLatin1String(row.name); });
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

MathNode MathParser::macro() {
  const qsizetype begin = position_;
  const QStringView name = read_name();
  if (name.isEmpty()) return unknown(begin);
  MathNode out;
  if (space_macro(name, out) || fraction_macro(name, out) || face_macro(name, out) ||
      accent_macro(name, out) || stack_macro(name, out) || class_macro(name, out) || box_macro(name, out)) {
    return out;
  }
  if (name == u"left") return fenced();
  if (name == u"begin") return environment();
  if (symbol_macro(name, out)) return out;
  static const QRegularExpression size(QStringLiteral("^(big|Big|bigg|Bigg)[lrm]?$"));
  if (size.match(name).hasMatch()) return sized(name);
  return unknown(begin);
}

bool MathParser::symbol_macro(QStringView name, MathNode& out) {
  if (name == u"not") {
    out = math_nothing();
    out.kind = MathKind::struck;
    out.role = MathClass::relation;
    out.children.push_back(argument());
    return true;
  }
  const TexSymbol* symbol = tex_symbol(name);
  if (!symbol) return false;
  out = math_symbol(symbol->text, class_of(symbol->kind));
  const bool greek =
      symbol->text.size() == 1 && symbol->text[0] >= QChar(0x3b1) && symbol->text[0] <= QChar(0x3f5);
  if (greek || name == u"partial") out.face = face_;
  if (symbol->text.size() == 1 && symbol->text[0] >= QChar(0x391) && symbol->text[0] <= QChar(0x3a9) &&
      (face_ == MathFace::bold || face_ == MathFace::bold_italic)) {
    out.face = MathFace::bold;
  }
  static const QStringList with_limits = {
      QStringLiteral("lim"),    QStringLiteral("limsup"), QStringLiteral("liminf"), QStringLiteral("max"),
      QStringLiteral("min"),    QStringLiteral("sup"),    QStringLiteral("inf"),    QStringLiteral("argmax"),
      QStringLiteral("argmin"), QStringLiteral("det"),    QStringLiteral("gcd"),    QStringLiteral("Pr")};
  const bool sum = symbol->kind == TexClass::large && symbol->text.size() == 1 && !is_integral(symbol->text);
  out.limits_in_display = sum || with_limits.contains(name.toString());
  return true;
}

bool MathParser::fraction_macro(QStringView name, MathNode& out) {
  if (name == u"sqrt") {
    out.kind = MathKind::radical;
    MathNode degree;
    optional_row(degree);
    out.children.push_back(argument());
    out.children.push_back(std::move(degree));
    return true;
  }
  const bool binomial = name == u"binom" || name == u"dbinom" || name == u"tbinom";
  const bool fraction = name == u"frac" || name == u"dfrac" || name == u"tfrac" || name == u"cfrac";
  if (!binomial && !fraction) return false;
  if (name == u"cfrac") raw_optional();
  MathNode both;
  both.kind = MathKind::fraction;
  both.role = MathClass::inner;
  both.ruled = fraction;
  both.styled = name != u"frac" && name != u"binom";
  both.style = name.startsWith(u't') ? MathStyle::text : MathStyle::display;
  both.children.push_back(argument());
  both.children.push_back(argument());
  if (!binomial) {
    out = std::move(both);
    return true;
  }
  out.kind = MathKind::fenced;
  out.role = MathClass::inner;
  out.children.push_back(math_symbol(QStringLiteral("(")));
  out.children.push_back(std::move(both));
  out.children.push_back(math_symbol(QStringLiteral(")")));
  return true;
}

bool MathParser::face_macro(QStringView name, MathNode& out) {
  if (const NamedFace* face = named(kFaces, name)) {
    out = in_face(face->face);
    return true;
  }
  if (const NamedFace* face = named(kSwitches, name)) {
    face_ = face->face;
    out = math_nothing();
    return true;
  }
  if (const NamedFace* face = named(kWords, name)) {
    out = words(face->face);
    return true;
  }
  if (name == u"operatorname" || name == u"mathop") {
    const bool star = take(u"*");
    MathNode inside = name == u"mathop" ? argument() : in_face(MathFace::upright);
    out.role = MathClass::large;
    out.limits_in_display = star || name == u"mathop";
    out.children.push_back(std::move(inside));
    return true;
  }
  return false;
}

// The inside of \text{…}: words, with formulas between dollars.
MathNode MathParser::words(MathFace face) {
  const Depth deeper(*this);
  if (!peek(QLatin1Char('{'))) return in_face(face);
  const QString raw = raw_group();
  MathNode out;
  const QStringList pieces = raw.split(QLatin1Char('$'));
  for (qsizetype i = 0; i < pieces.size() && !failed_; ++i) {
    if (i % 2 == 0 || i + 1 == pieces.size()) {
      QString text = (i % 2 == 1 ? QStringLiteral("$") : QString()) + pieces[i];
      static const QRegularExpression escaped(QStringLiteral("\\\\([%#&_{}$ ,;:!])"));
      text.replace(escaped, QStringLiteral("\\1")).replace(QLatin1Char('~'), QLatin1Char(' '));
      text.remove(QLatin1Char('{')).remove(QLatin1Char('}'));
      if (!text.isEmpty()) out.children.push_back(math_symbol(text, MathClass::ordinary, face));
    } else {
      MathParser inner(QStringView(pieces[i]).trimmed());
      inner.depth_ = depth_;
      std::optional<MathNode> formula = inner.parse();
      if (!formula) failed_ = true;
      if (formula) out.children.push_back(std::move(*formula));
    }
  }
  return out;
}

bool MathParser::accent_macro(QStringView name, MathNode& out) {
  const NamedMark* mark = named(kMarks, name);
  if (!mark) return false;
  out = accented(mark->mark, argument(), mark->wide, QString::fromUtf8(mark->text));
  const bool brace = mark->mark == MathMark::over_brace || mark->mark == MathMark::under_brace;
  out.limits = brace;
  if (brace) out.role = MathClass::inner;
  return true;
}

bool MathParser::stack_macro(QStringView name, MathNode& out) {
  if (name == u"overset" || name == u"underset" || name == u"stackrel") {
    out.kind = MathKind::stack;
    out.raised = name != u"underset";
    MathNode set = argument();
    keeps_role_ = peek(QLatin1Char('{'));
    MathNode base = argument();
    keeps_role_ = false;
    out.role = name == u"stackrel" ? MathClass::relation : base.role;
    out.children.push_back(std::move(base));
    out.children.push_back(std::move(set));
    return true;
  }
  static const QRegularExpression arrow(
      QStringLiteral("^x(left|right|leftright|Right|Left)arrow$|^xlongequal$"));
  if (!arrow.match(name).hasMatch()) return false;
  MathNode below;
  optional_row(below);
  out.kind = MathKind::arrow;
  out.role = MathClass::relation;
  out.text = name == u"xlongequal"         ? QStringLiteral("=")
             : name == u"xRightarrow"      ? QStringLiteral("⇒")
             : name == u"xLeftarrow"       ? QStringLiteral("⇐")
             : name == u"xleftarrow"       ? QStringLiteral("←")
             : name.contains(u"leftright") ? QStringLiteral("↔")
                                           : QStringLiteral("→");
  out.children.push_back(argument());
  out.children.push_back(std::move(below));
  return true;
}

bool MathParser::class_macro(QStringView name, MathNode& out) {
  static const QHash<QString, MathClass> classes = {{QStringLiteral("mathord"), MathClass::ordinary},
                                                    {QStringLiteral("mathbin"), MathClass::binary},
                                                    {QStringLiteral("mathrel"), MathClass::relation},
                                                    {QStringLiteral("mathopen"), MathClass::opening},
                                                    {QStringLiteral("mathclose"), MathClass::closing},
                                                    {QStringLiteral("mathpunct"), MathClass::punctuation},
                                                    {QStringLiteral("mathinner"), MathClass::inner}};
  if (const auto role = classes.constFind(name.toString()); role != classes.cend()) {
    out.children.push_back(argument());
    out.role = *role;
    return true;
  }
  static const QHash<QString, MathStyle> styles = {
      {QStringLiteral("displaystyle"), MathStyle::display},
      {QStringLiteral("textstyle"), MathStyle::text},
      {QStringLiteral("scriptstyle"), MathStyle::script},
      {QStringLiteral("scriptscriptstyle"), MathStyle::second_script}};
  if (const auto style = styles.constFind(name.toString()); style != styles.cend()) {
    out = math_nothing();
    out.kind = MathKind::style;
    out.style = *style;
    return true;
  }
  return false;
}

// It stays as it is written, and so do its arguments.
MathNode MathParser::unknown(qsizetype begin) {
  while (!failed_ && !at_end() && source_[position_] == QLatin1Char('{')) raw_group();
  MathNode out =
      math_symbol(source_.sliced(begin, position_ - begin).toString(), MathClass::ordinary, MathFace::mono);
  out.kind = MathKind::source;
  return out;
}

}  // namespace fovea::ui
