// Spaces, boxes, delimiters: macros about room.
#include <QHash>
#include <QRegularExpression>
#include <algorithm>

#include "ui/mathematics/parser.h"
#include "ui/mathematics/tex_symbols.h"

namespace fovea::ui {
namespace {

// "2em", "-3mu", "5pt": in em.
double em_of(const QString& length) {
  static const QRegularExpression form(QStringLiteral("^\\s*(-?\\d*\\.?\\d+)\\s*(em|ex|mu|pt|px|cm|mm|in)"));
  const QRegularExpressionMatch match = form.match(length);
  if (!match.hasMatch()) return 0;
  static const QHash<QString, double> units = {
      {QStringLiteral("em"), 1},      {QStringLiteral("ex"), 0.43},  {QStringLiteral("mu"), 1.0 / 18},
      {QStringLiteral("pt"), 0.1},    {QStringLiteral("px"), 0.075}, {QStringLiteral("cm"), 2.845},
      {QStringLiteral("mm"), 0.2845}, {QStringLiteral("in"), 7.227}};
  return std::clamp(match.captured(1).toDouble() * units.value(match.captured(2)), -2.0, 20.0);
}

}  // namespace

bool is_stretching(const QString& text) {
  static const QString known = QStringLiteral("()[]{}|‖⟨⟩⌊⌋⌈⌉/\\⟦⟧↑↓⇑⇓↕<>");
  return text.size() == 1 && known.contains(text);
}

bool MathParser::space_macro(QStringView name, MathNode& out) {
  static const QHash<QString, double> spaces = {{QStringLiteral(","), 3.0 / 18},
                                                {QStringLiteral("thinspace"), 3.0 / 18},
                                                {QStringLiteral(":"), 4.0 / 18},
                                                {QStringLiteral(">"), 4.0 / 18},
                                                {QStringLiteral("medspace"), 4.0 / 18},
                                                {QStringLiteral(";"), 5.0 / 18},
                                                {QStringLiteral("thickspace"), 5.0 / 18},
                                                {QStringLiteral("!"), -3.0 / 18},
                                                {QStringLiteral("negthinspace"), -3.0 / 18},
                                                {QStringLiteral(" "), 0.25},
                                                {QStringLiteral("\n"), 0.25},
                                                {QStringLiteral("space"), 0.25},
                                                {QStringLiteral("enspace"), 0.5},
                                                {QStringLiteral("quad"), 1},
                                                {QStringLiteral("qquad"), 2}};
  if (const auto space = spaces.constFind(name.toString()); space != spaces.cend()) {
    out = math_space(*space);
    return true;
  }
  if (name == u"hspace" || name == u"mspace") {
    take(u"*");
    out = math_space(em_of(raw_group()));
    return true;
  }
  if (name == u"kern" || name == u"mkern" || name == u"hskip" || name == u"mskip") {
    static const QRegularExpression length(QStringLiteral("\\G\\s*-?\\d*\\.?\\d+\\s*[a-z]{2}"));
    const auto match = length.match(source_, position_);
    out = math_space(em_of(match.captured()));
    position_ += match.capturedLength();
    return true;
  }
  // What says nothing to a reader.
  static const QStringList silent = {
      QStringLiteral("nonumber"), QStringLiteral("notag"),    QStringLiteral("limits"),
      QStringLiteral("nolimits"), QStringLiteral("relax"),    QStringLiteral("/"),
      QStringLiteral("\\"),       QStringLiteral("hline"),    QStringLiteral("allowbreak"),
      QStringLiteral("nobreak"),  QStringLiteral("centering")};
  if (silent.contains(name.toString())) {
    out = math_nothing();
    return true;
  }
  if (name == u"label") {
    raw_group();
    out = math_nothing();
    return true;
  }
  if (name == u"color") {
    raw_group();
    out = math_nothing();
    return true;
  }
  return false;
}

bool MathParser::box_macro(QStringView name, MathNode& out) {
  if (name == u"textcolor" || name == u"colorbox") {
    raw_group();
    out = argument();
    return true;
  }
  if (name == u"tag") {
    take(u"*");
    out.children.push_back(math_space(2));
    out.children.push_back(
        math_symbol(QLatin1Char('(') + raw_group() + QLatin1Char(')'), MathClass::ordinary, MathFace::text));
    return true;
  }
  if (name == u"pmod" || name == u"pod" || name == u"mod") {
    out.children.push_back(math_space(0.6));
    if (name != u"mod") out.children.push_back(math_symbol(QStringLiteral("("), MathClass::opening));
    if (name != u"pod") {
      out.children.push_back(math_symbol(QStringLiteral("mod")));
      out.children.push_back(math_space(0.33));
    }
    out.children.push_back(argument());
    if (name != u"mod") out.children.push_back(math_symbol(QStringLiteral(")"), MathClass::closing));
    return true;
  }
  if (name == u"substack") {
    if (!peek(QLatin1Char('{'))) return failed_ = true;
    ++position_;
    out.kind = MathKind::table;
    out.columns = 1;
    out.layout.resize(1);
    out.styled = true;
    out.style = MathStyle::script;
    do {
      out.children.push_back(row(Until::line));
    } while (!failed_ && line_end());
    if (!failed_ && !take(u"}")) failed_ = true;
    return true;
  }
  static const QStringList boxes = {
      QStringLiteral("boxed"),     QStringLiteral("fbox"),     QStringLiteral("cancel"),
      QStringLiteral("bcancel"),   QStringLiteral("xcancel"),  QStringLiteral("phantom"),
      QStringLiteral("hphantom"),  QStringLiteral("vphantom"), QStringLiteral("smash"),
      QStringLiteral("mathstrut"), QStringLiteral("strut")};
  if (!boxes.contains(name.toString())) return false;
  out.kind = name.endsWith(u"cancel")              ? MathKind::struck
             : name == u"boxed" || name == u"fbox" ? MathKind::framed
                                                   : MathKind::phantom;
  out.keeps_width = name != u"vphantom" && !name.endsWith(u"strut");
  out.keeps_height = name != u"hphantom";
  if (name.endsWith(u"strut")) {
    out.children.push_back(math_symbol(QStringLiteral("(")));
  } else if (name == u"smash") {
    raw_optional();
    out = argument();
  } else {
    out.children.push_back(name == u"fbox" ? words(MathFace::text) : argument());
  }
  return true;
}

// --- delimiters

// Behind \left, \right, \middle or \big. A dot is none.
MathNode MathParser::delimiter() {
  skip_spaces();
  if (at_end()) {
    failed_ = true;
    return {};
  }
  if (take(u".")) return math_symbol(QString());
  MathNode out;
  if (source_[position_] == QLatin1Char('\\')) {
    const QStringView name = read_name();
    const TexSymbol* symbol = tex_symbol(name);
    if (symbol) out = math_symbol(symbol->text);
  } else {
    out = math_symbol(QString(source_[position_++]));
  }
  if (out.text == QLatin1String("<")) out.text = QStringLiteral("⟨");
  if (out.text == QLatin1String(">")) out.text = QStringLiteral("⟩");
  if (!is_stretching(out.text)) failed_ = true;
  return out;
}

MathNode MathParser::fenced() {
  const Depth deeper(*this);
  MathNode out;
  out.kind = MathKind::fenced;
  out.role = MathClass::inner;
  out.children.push_back(delimiter());
  for (bool closed = false; !closed && !failed_;) {
    out.children.push_back(row(Until::right));
    if (failed_ || at_end()) {
      failed_ = true;
      break;
    }
    closed = read_name() == u"right";
    out.children.push_back(delimiter());
  }
  return out;
}

MathNode MathParser::sized(QStringView name) {
  MathNode out;
  out.kind = MathKind::sized;
  out.amount = name.startsWith(u"bigg")   ? 2.4
               : name.startsWith(u"Bigg") ? 3.0
               : name.startsWith(u'B')    ? 1.8
                                          : 1.2;
  if (name.endsWith(u'l')) out.role = MathClass::opening;
  if (name.endsWith(u'r')) out.role = MathClass::closing;
  if (name.endsWith(u'm')) out.role = MathClass::relation;
  out.children.push_back(delimiter());
  if (!failed_ && !name.endsWith(u'l') && !name.endsWith(u'r') && !name.endsWith(u'm')) {
    const QString text = out.children[0].text;  // \big( is not told to open, but does
    if (QStringLiteral("([{⟨⌊⌈⟦").contains(text)) out.role = MathClass::opening;
    if (QStringLiteral(")]}⟩⌋⌉⟧").contains(text)) out.role = MathClass::closing;
  }
  return out;
}

}  // namespace fovea::ui
