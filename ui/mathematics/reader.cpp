#include <utility>

#include "ui/mathematics/parser.h"

namespace fovea::ui {
namespace {

bool is_latin(QChar c) {
  return (c >= QLatin1Char('a') && c <= QLatin1Char('z')) || (c >= QLatin1Char('A') && c <= QLatin1Char('Z'));
}

bool is_digit(QChar c) {
  return c >= QLatin1Char('0') && c <= QLatin1Char('9');
}

MathClass class_of(QChar c) {
  if (QStringLiteral("+−∗±×÷·∘∪∩∧∨⊕⊗").contains(c)) return MathClass::binary;
  if (QStringLiteral("=<>:≤≥≠≈≡∼→←⇒⇔∈∉⊂⊆⊃↦∝").contains(c)) return MathClass::relation;
  if (QStringLiteral(",;").contains(c)) return MathClass::punctuation;
  if (QStringLiteral("([").contains(c)) return MathClass::opening;
  if (QStringLiteral(")]!?").contains(c)) return MathClass::closing;
  return MathClass::ordinary;
}

}  // namespace

MathNode math_symbol(const QString& text, MathClass role, MathFace face) {
  MathNode out;
  out.kind = MathKind::symbol;
  out.role = role;
  out.face = face;
  out.text = text;
  return out;
}

MathNode math_space(double em) {
  MathNode out;
  out.kind = MathKind::space;
  out.role = MathClass::none;
  out.amount = em;
  return out;
}

MathNode math_nothing() {
  MathNode out;
  out.role = MathClass::none;
  return out;
}

std::optional<MathNode> MathParser::parse() {
  MathNode out = lines(row(Until::end));
  if (failed_ || !at_end()) return std::nullopt;
  return out;
}

std::optional<MathNode> parse_math(QStringView tex) {
  return MathParser(tex.trimmed()).parse();
}

// --- rows

bool MathParser::ends(Until until) {
  skip_spaces();
  if (failed_ || at_end()) return true;
  const QChar c = source_[position_];
  if (c == QLatin1Char('}')) {
    if (until != Until::brace && until != Until::line) failed_ = true;  // it closes nothing here
    return true;
  }
  if (c == QLatin1Char(']') && until == Until::bracket) return true;
  if (c == QLatin1Char('&')) {
    if (until == Until::cell) return true;
    failed_ = until != Until::end;
    if (!failed_) ++position_;  // many models leave one in a formula without an environment
    return failed_ || ends(until);
  }
  if (c != QLatin1Char('\\')) return false;
  const QStringView name = peek_name();
  if (name == u"\\" || name == u"cr" || name == u"newline")
    return until == Until::cell || until == Until::end || until == Until::line;
  if (name == u"end") return until == Until::cell || (failed_ = true);
  if (name == u"hline" && until == Until::cell) return true;
  if (name == u"right" || name == u"middle") return until == Until::right || (failed_ = true);
  return false;
}

MathNode MathParser::row(Until until) {
  const Depth deeper(*this);
  const MathFace face = face_;  // \bf holds to the end of its row
  MathNode out;
  while (!ends(until)) {
    if (infix(out, until)) break;
    add_atom(out);
  }
  face_ = face;
  return out;
}

// "{a \over b}": what stands before it is above.
bool MathParser::infix(MathNode& out, Until until) {
  if (source_[position_] != QLatin1Char('\\')) return false;
  const QStringView name = peek_name();
  if (name != u"over" && name != u"choose" && name != u"atop") return false;
  read_name();
  MathNode fraction;
  fraction.kind = MathKind::fraction;
  fraction.role = MathClass::inner;
  fraction.ruled = name == u"over";
  fraction.children.push_back(std::move(out));
  fraction.children.push_back(row(until));
  out = {};
  if (name == u"choose") {
    MathNode fence;
    fence.kind = MathKind::fenced;
    fence.children.push_back(math_symbol(QStringLiteral("(")));
    fence.children.push_back(std::move(fraction));
    fence.children.push_back(math_symbol(QStringLiteral(")")));
    fraction = std::move(fence);
  }
  out.children.push_back(std::move(fraction));
  return true;
}

void MathParser::add_atom(MathNode& out) {
  const QChar c = source_[position_];
  if (c == QLatin1Char('^') || c == QLatin1Char('_') || c == QLatin1Char('\'')) {  // on nothing
    out.children.push_back(with_scripts(MathNode{}));
    return;
  }
  MathNode base = nucleus(true);
  if (failed_) return;
  if (base.kind == MathKind::row && base.role == MathClass::none) {  // \limits, \label: nothing to show
    return;
  }
  const bool takes_scripts = base.kind != MathKind::space && base.kind != MathKind::style;
  out.children.push_back(takes_scripts ? with_scripts(std::move(base)) : std::move(base));
}

MathNode MathParser::nucleus(bool whole_number) {
  const QChar c = source_[position_];
  if (c == QLatin1Char('\\')) return macro();
  if (c == QLatin1Char('{')) return group();
  ++position_;
  if (is_digit(c)) {
    const qsizetype begin = position_ - 1;
    const auto goes_on = [this] {
      if (at_end()) return false;
      if (is_digit(source_[position_])) return true;
      return source_[position_] == QLatin1Char('.') && position_ + 1 < source_.size() &&
             is_digit(source_[position_ + 1]);
    };
    while (whole_number && goes_on()) ++position_;
    return math_symbol(source_.sliced(begin, position_ - begin).toString(), MathClass::ordinary,
                       face_ == MathFace::italic ? MathFace::upright : face_);
  }
  if (c == QLatin1Char('%')) {  // a comment, as TeX has it
    while (!at_end() && source_[position_] != QLatin1Char('\n')) ++position_;
    return math_nothing();
  }
  if (c.isHighSurrogate() && !at_end() && source_[position_].isLowSurrogate()) {
    return math_symbol(QString(c) + source_[position_++]);
  }
  return letter(c);
}

MathNode MathParser::letter(QChar c) {
  if (is_latin(c)) return math_symbol(QString(c), MathClass::ordinary, face_);
  if (c == QLatin1Char('~')) return math_space(0.25);
  if (c == QLatin1Char('-')) c = QChar(0x2212);
  if (c == QLatin1Char('*')) c = QChar(0x2217);
  if (c == QLatin1Char('/')) return math_symbol(QStringLiteral("/"));
  const bool greek = c >= QChar(0x3b1) && c <= QChar(0x3c9);
  return math_symbol(QString(c), class_of(c), greek ? face_ : MathFace::upright);
}

// --- scripts

MathNode MathParser::primes() {
  QString marks;
  while (!at_end() && source_[position_] == QLatin1Char('\'')) {
    marks += QChar(0x2032);
    ++position_;
  }
  return math_symbol(marks);
}

MathNode MathParser::with_scripts(MathNode base) {
  MathNode below, above;
  bool has_below = false, has_above = false;
  for (;;) {
    const qsizetype before = position_;
    skip_spaces();
    if (failed_ || at_end()) break;
    const QChar c = source_[position_];
    if (c == QLatin1Char('\\') && (peek_name() == u"limits" || peek_name() == u"nolimits")) {
      base.limits = read_name() == u"limits";
      base.limits_in_display = false;
      continue;
    }
    if (c == QLatin1Char('\'')) {
      above.children.push_back(primes());
      has_above = true;
      continue;
    }
    if (c != QLatin1Char('^') && c != QLatin1Char('_')) {
      position_ = before;
      break;
    }
    ++position_;
    skip_spaces();
    if (at_end() || source_[position_] == QLatin1Char('}')) break;  // "x^" while it is written
    const bool raised = c == QLatin1Char('^');
    bool& has = raised ? has_above : has_below;
    MathNode& script = raised ? above : below;
    script.children.push_back(argument());
    has = true;
  }
  if (!has_below && !has_above) return base;
  MathNode out;
  out.kind = MathKind::scripts;
  out.role = base.role;
  out.children.push_back(std::move(base));
  out.children.push_back(std::move(below));
  out.children.push_back(std::move(above));
  return out;
}

// --- arguments

MathNode MathParser::argument() {
  const Depth deeper(*this);
  skip_spaces();
  if (failed_ || at_end() || source_[position_] == QLatin1Char('}') ||
      source_[position_] == QLatin1Char('&')) {
    failed_ = true;
    return {};
  }
  if (source_[position_] == QLatin1Char('\\') && (peek_name() == u"right" || peek_name() == u"end")) {
    failed_ = true;
    return {};
  }
  return nucleus(false);
}

MathNode MathParser::group() {
  ++position_;
  const bool keeps_role = std::exchange(keeps_role_, false);
  MathNode out = row(Until::brace);
  if (!failed_ && (at_end() || source_[position_] != QLatin1Char('}'))) failed_ = true;
  if (!failed_) ++position_;
  // "{\bf x}" and "{x}" alone are what is in them, but for their class.
  if (out.children.size() == 1 && out.children[0].kind == MathKind::symbol) {
    MathNode only = std::move(out.children[0]);
    if (!keeps_role && (only.role == MathClass::binary || only.role == MathClass::relation ||
                        only.role == MathClass::punctuation)) {
      only.role = MathClass::ordinary;
    }
    return only;
  }
  return out;
}

// […] before an argument.
bool MathParser::optional_row(MathNode& out) {
  if (!peek(QLatin1Char('['))) return false;
  ++position_;
  out = row(Until::bracket);
  if (!failed_ && (at_end() || source_[position_] != QLatin1Char(']'))) failed_ = true;
  if (!failed_) ++position_;
  return true;
}

QString MathParser::raw_group() {
  if (!peek(QLatin1Char('{'))) {
    failed_ = true;
    return {};
  }
  int depth = 0;
  const qsizetype begin = position_ + 1;
  for (; position_ < source_.size(); ++position_) {
    const QChar c = source_[position_];
    if (c == QLatin1Char('\\')) {
      if (position_ + 1 < source_.size()) ++position_;
    } else if (c == QLatin1Char('{')) {
      ++depth;
    } else if (c == QLatin1Char('}') && --depth == 0) {
      ++position_;
      return source_.sliced(begin, position_ - 1 - begin).toString();
    }
  }
  position_ = source_.size();
  failed_ = true;
  return {};
}

QString MathParser::raw_optional() {
  const qsizetype begin = position_;
  if (!peek(QLatin1Char('['))) return {};
  const qsizetype close = source_.indexOf(QLatin1Char(']'), position_);
  if (close < 0) {
    position_ = begin;
    return {};
  }
  const QString out = source_.sliced(position_ + 1, close - position_ - 1).toString();
  position_ = close + 1;
  return out;
}

// The name behind a backslash: letters, or one other character.
QStringView MathParser::peek_name() const {
  const qsizetype begin = position_ + 1;  // a backslash stands at `position_`
  qsizetype end = begin;
  while (end < source_.size() && is_latin(source_[end])) ++end;
  if (end == begin && end < source_.size()) ++end;
  return source_.sliced(begin, end - begin);
}

QStringView MathParser::read_name() {
  const QStringView name = peek_name();
  position_ += 1 + name.size();
  return name;
}

bool MathParser::peek(QChar c) {
  skip_spaces();
  return !at_end() && source_[position_] == c;
}

void MathParser::skip_spaces() {
  while (position_ < source_.size() && source_[position_].isSpace()) ++position_;
}

bool MathParser::take(QStringView text) {
  if (!source_.sliced(position_).startsWith(text)) return false;
  position_ += text.size();
  return true;
}

MathNode MathParser::in_face(MathFace face) {
  const MathFace before = std::exchange(face_, face);
  MathNode out = argument();
  face_ = before;
  return out;
}

}  // namespace fovea::ui
