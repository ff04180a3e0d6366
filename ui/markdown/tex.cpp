#include "ui/markdown/tex.h"

#include <QHash>
#include <algorithm>

#include "ui/mathematics/tex_symbols.h"

namespace fovea::ui {
namespace {

constexpr int kDeepest = 24;

bool is_latin(QChar c) {
  return (c >= QLatin1Char('a') && c <= QLatin1Char('z')) || (c >= QLatin1Char('A') && c <= QLatin1Char('Z'));
}

bool is_enclosed(const QString& text) {
  if (text.size() < 2 || text.front() != QLatin1Char('(') || text.back() != QLatin1Char(')')) return false;
  int depth = 0;
  for (qsizetype i = 0; i < text.size(); ++i) {
    if (text[i] == QLatin1Char('(')) ++depth;
    if (text[i] == QLatin1Char(')') && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

// Text that was read, with the italic of its variables.
struct Piece {
  QString text;
  std::vector<Run> runs;
  TexClass kind = TexClass::ordinary;

  void add(const QString& more) { text += more; }
  void add(const Piece& more) {
    for (Run run : more.runs) {
      run.start += static_cast<int>(text.size());
      runs.push_back(run);
    }
    text += more.text;
  }
  void style_all(std::uint8_t style) {
    if (!text.isEmpty()) runs.push_back({0, static_cast<int>(text.size()), style, {}, {}});
  }
};

Piece plain_piece(const QString& text, TexClass kind = TexClass::ordinary) {
  return {text, {}, kind};
}

Piece enclosed(const Piece& inner) {
  Piece out = plain_piece(QStringLiteral("("));
  out.add(inner);
  out.add(QStringLiteral(")"));
  return out;
}

// Does "a/…" or "√…" need brackets around this to be read as one thing?
bool is_one_thing(const QString& text) {
  if (is_enclosed(text)) return true;
  if (std::ranges::all_of(text, [](QChar c) { return c.isDigit() || c == QLatin1Char('.'); })) return true;
  int things = 0;
  for (const QChar c : text) {
    const bool script = c.category() == QChar::Letter_Modifier || c.category() == QChar::Number_Other;
    if (script || c.isMark() || c.isHighSurrogate() || c == QChar(0x221a)) continue;
    if (!c.isLetterOrNumber() && !c.isLowSurrogate() && c.category() != QChar::Symbol_Math) return false;
    ++things;
  }
  return things <= 1;
}

class Reader {
 public:
  explicit Reader(QStringView source) : source_(source) {}

  Piece all() {
    Piece out;
    while (position_ < source_.size()) {
      out.add(row(0));
      if (position_ < source_.size()) out.add(plain_piece(QString(source_[position_++])));  // a stray }
    }
    return out;
  }

 private:
  // Until the end, a closing brace, or \end.
  Piece row(int depth) {
    Piece out;
    TexClass before = TexClass::opening;
    while (position_ < source_.size() && source_[position_] != QLatin1Char('}')) {
      if (at(QStringLiteral("\\end"))) break;
      Piece next = atom(depth);
      if (next.text.isEmpty()) continue;
      if (next.text == QString(QChar(QChar::LineSeparator))) {
        while (out.text.endsWith(QLatin1Char(' '))) out.text.chop(1);
        before = TexClass::opening;
        out.add(next);
        continue;
      }
      join(out, next, before);
    }
    return out;
  }

  // Puts the spaces that the kinds of neighbours ask for.
  static void join(Piece& out, const Piece& next, TexClass& before) {
    const auto space = [&out] {
      if (!out.text.isEmpty() && !out.text.back().isSpace()) out.add(QStringLiteral(" "));
    };
    TexClass kind = next.kind;
    const bool sign =
        kind == TexClass::binary && (before == TexClass::opening || before == TexClass::binary ||
                                     before == TexClass::relation || before == TexClass::punctuation);
    if (sign) kind = TexClass::opening;
    const bool word = before == TexClass::function || before == TexClass::large;
    const bool after_word = word && kind != TexClass::opening && kind != TexClass::closing &&
                            kind != TexClass::punctuation && kind != TexClass::space;
    const bool name_after_text = (kind == TexClass::function || kind == TexClass::large) &&
                                 before != TexClass::opening && before != TexClass::space;
    if (kind == TexClass::relation || kind == TexClass::binary || after_word || name_after_text) space();
    out.add(next);
    if (kind == TexClass::relation || kind == TexClass::binary || kind == TexClass::punctuation) space();
    before = kind;
  }

  // One thing with its scripts.
  Piece atom(int depth) {
    Piece base = nucleus(depth);
    for (;;) {
      qsizetype look = position_;
      while (look < source_.size() && source_[look].isSpace()) ++look;
      for (const QStringView place : {QStringView(u"\\limits"), QStringView(u"\\nolimits")}) {
        if (source_.sliced(look).startsWith(place)) look += place.size();
      }
      if (look >= source_.size()) return base;
      const QChar c = source_[look];
      if ((c != QLatin1Char('^') && c != QLatin1Char('_')) || base.kind == TexClass::space) return base;
      position_ = look + 1;
      add_script(base, argument(depth), c == QLatin1Char('^'));
    }
  }

  static void add_script(Piece& base, const Piece& script, bool raised) {
    if (script.text.isEmpty()) return;
    if (raised && (script.text == QStringLiteral("∘") || script.text == QStringLiteral("°"))) {
      base.add(QStringLiteral("°"));
      return;
    }
    const QString small = raised ? superscript(script.text) : subscript(script.text);
    if (!small.isEmpty()) {
      base.add(small);
      return;
    }
    base.add(raised ? QStringLiteral("^") : QStringLiteral("_"));
    base.add(script.text.size() == 1 || is_enclosed(script.text) ? script : enclosed(script));
  }

  Piece nucleus(int depth) {
    const QChar c = source_[position_];
    if (c == QLatin1Char('\\')) return macro(depth);
    if (c == QLatin1Char('{')) {
      if (depth > kDeepest) return plain_piece(QString(source_[position_++]));
      ++position_;
      Piece out = row(depth + 1);
      if (position_ < source_.size() && source_[position_] == QLatin1Char('}')) ++position_;
      return out;
    }
    ++position_;
    if (c.isSpace() || c == QLatin1Char('&')) return {};
    if (is_latin(c)) {
      Piece out = plain_piece(QString(c));
      out.style_all(italic);
      return out;
    }
    if (c.isHighSurrogate() && position_ < source_.size()) {
      return plain_piece(QString(c) + source_[position_++]);
    }
    if (c == QLatin1Char('\'')) return plain_piece(QStringLiteral("′"));
    if (c == QLatin1Char('~')) return plain_piece(QStringLiteral(" "), TexClass::space);
    if (c == QLatin1Char('-')) return plain_piece(QStringLiteral("−"), TexClass::binary);
    if (c == QLatin1Char('*')) return plain_piece(QStringLiteral("∗"), TexClass::binary);
    if (c == QLatin1Char('+')) return plain_piece(QStringLiteral("+"), TexClass::binary);
    if (QStringLiteral("=<>:").contains(c)) return plain_piece(QString(c), TexClass::relation);
    if (QStringLiteral(",;").contains(c)) return plain_piece(QString(c), TexClass::punctuation);
    if (QStringLiteral("([").contains(c)) return plain_piece(QString(c), TexClass::opening);
    if (QStringLiteral(")]").contains(c)) return plain_piece(QString(c), TexClass::closing);
    return plain_piece(QString(c));
  }

  bool at(const QString& text) const { return source_.sliced(position_).startsWith(text); }

  // The name after a backslash: letters, or one other character.
  QStringView read_name() {
    ++position_;
    const qsizetype begin = position_;
    while (position_ < source_.size() && is_latin(source_[position_])) ++position_;
    if (position_ == begin && position_ < source_.size()) ++position_;
    return source_.sliced(begin, position_ - begin);
  }

  void skip_spaces() {
    while (position_ < source_.size() && source_[position_].isSpace()) ++position_;
  }

  // A macro's argument: a group, or the next thing.
  Piece argument(int depth) {
    skip_spaces();
    if (position_ >= source_.size() || source_[position_] == QLatin1Char('}') || depth > kDeepest) return {};
    return nucleus(depth + 1);
  }

  // The inside of {…} as it stands, or of […].
  QString raw_argument(QChar open, QChar close) {
    skip_spaces();
    if (position_ >= source_.size() || source_[position_] != open) return {};
    int depth = 0;
    const qsizetype begin = position_ + 1;
    for (; position_ < source_.size(); ++position_) {
      if (source_[position_] == open) ++depth;
      if (source_[position_] == close && --depth == 0) {
        ++position_;
        return source_.sliced(begin, position_ - 1 - begin).toString();
      }
    }
    return source_.sliced(begin).toString();
  }
  QString raw_group() { return raw_argument(QLatin1Char('{'), QLatin1Char('}')); }

  Piece fraction(int depth) {
    const Piece above = argument(depth);
    const Piece below = argument(depth);
    Piece out = is_one_thing(above.text) || !above.text.contains(QLatin1Char(' ')) ? above : enclosed(above);
    out.add(QStringLiteral("/"));
    out.add(is_one_thing(below.text) ? below : enclosed(below));
    out.kind = TexClass::ordinary;
    return out;
  }

  Piece root(int depth) {
    const QString degree = raw_argument(QLatin1Char('['), QLatin1Char(']'));
    const Piece inside = argument(depth);
    Piece out;
    if (degree.size() == 1 && degree[0].isDigit()) {
      out.add(degree == QLatin1String("3")   ? QStringLiteral("∛")
              : degree == QLatin1String("4") ? QStringLiteral("∜")
                                             : superscript(degree) + QStringLiteral("√"));
    } else {
      const QString small = superscript(degree);
      out.add(degree.isEmpty() || !small.isEmpty() ? small + QStringLiteral("√")
                                                   : QLatin1Char('[') + degree + QStringLiteral("]√"));
    }
    out.add(is_one_thing(inside.text) ? inside : enclosed(inside));
    return out;
  }

  Piece delimiter(int depth) {
    skip_spaces();
    if (position_ >= source_.size() || depth > kDeepest) return {};
    if (source_[position_] == QLatin1Char('.')) {
      ++position_;
      return {};
    }
    return nucleus(depth + 1);
  }

  Piece environment(int depth) {
    const QString name = raw_group();
    if (name == QLatin1String("array") || name == QLatin1String("tabular")) raw_group();
    const bool matrix = name.contains(QLatin1String("matrix")) || name == QLatin1String("array");
    std::vector<std::vector<Piece>> rows(1);
    rows.back().emplace_back();
    TexClass before = TexClass::opening;
    while (position_ < source_.size() && depth <= kDeepest) {
      if (at(QStringLiteral("\\end"))) {
        read_name();
        raw_group();
        break;
      }
      if (source_[position_] == QLatin1Char('&')) {
        ++position_;
        rows.back().emplace_back();
        if (matrix) before = TexClass::opening;
        continue;
      }
      if (source_[position_] == QLatin1Char('}')) break;
      Piece next = atom(depth + 1);
      if (next.text == QString(QChar(QChar::LineSeparator))) {
        rows.emplace_back();
        rows.back().emplace_back();
        before = TexClass::opening;
        continue;
      }
      if (!next.text.isEmpty()) join(rows.back().back(), next, before);
    }
    return matrix ? matrix_text(name, rows) : lines_text(name, rows);
  }

  // [a, b; c, d], in the brackets that the environment has.
  static Piece matrix_text(const QString& name, const std::vector<std::vector<Piece>>& rows) {
    const bool round = name.startsWith(QLatin1Char('p'));
    const bool bars = name.startsWith(QLatin1Char('v')) || name.startsWith(QLatin1Char('V'));
    Piece out = plain_piece(round ? QStringLiteral("(") : bars ? QStringLiteral("|") : QStringLiteral("["));
    bool first_row = true;
    for (const auto& row : rows) {
      if (row.size() == 1 && row[0].text.isEmpty()) continue;
      if (!first_row) out.add(QStringLiteral("; "));
      first_row = false;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) out.add(QStringLiteral(", "));
        out.add(row[i]);
      }
    }
    out.add(round ? QStringLiteral(")") : bars ? QStringLiteral("|") : QStringLiteral("]"));
    return out;
  }

  static Piece lines_text(const QString& name, const std::vector<std::vector<Piece>>& rows) {
    const bool cases = name.endsWith(QLatin1String("cases"));
    Piece out;
    for (const auto& row : rows) {
      if (row.size() == 1 && row[0].text.isEmpty()) continue;
      if (!out.text.isEmpty() || cases) {
        if (!out.text.isEmpty()) out.add(QString(QChar(QChar::LineSeparator)));
        if (cases) out.add(out.text.isEmpty() ? QStringLiteral("{ ") : QStringLiteral("  "));
      }
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) out.add(cases ? QStringLiteral("  ") : QStringLiteral(" "));
        out.add(row[i]);
      }
    }
    return out;
  }

  Piece styled_group(int depth, std::uint8_t style) {
    Piece out = argument(depth);
    out.runs.clear();
    if (style != plain) out.style_all(style);
    return out;
  }

  Piece macro(int depth) {
    const qsizetype begin = position_;
    const QStringView name = read_name();
    if (name.isEmpty()) return plain_piece(QStringLiteral("\\"));
    if (name == u"\\") {
      raw_argument(QLatin1Char('['), QLatin1Char(']'));
      return plain_piece(QString(QChar(QChar::LineSeparator)));
    }
    if (const TexSymbol* symbol = tex_symbol(name)) return plain_piece(symbol->text, symbol->kind);
    if (name == u"frac" || name == u"dfrac" || name == u"tfrac" || name == u"cfrac") return fraction(depth);
    if (name == u"sqrt") return root(depth);
    if (name == u"binom" || name == u"dbinom") {
      Piece out = plain_piece(QStringLiteral("C("));
      out.add(argument(depth));
      out.add(QStringLiteral(", "));
      out.add(argument(depth));
      out.add(QStringLiteral(")"));
      return out;
    }
    if (name == u"text" || name == u"textrm" || name == u"textit" || name == u"textbf" || name == u"mbox" ||
        name == u"texttt" || name == u"textsf" || name == u"tag") {
      Piece out = plain_piece(raw_group());
      if (name == u"textbf") out.style_all(bold);
      if (name == u"tag") out.text = QStringLiteral("  (") + out.text + QLatin1Char(')');
      return out;
    }
    if (name == u"operatorname" || name == u"mathop") {
      skip_star();
      Piece out = styled_group(depth, plain);
      out.kind = TexClass::function;
      return out;
    }
    if (name == u"mathrm" || name == u"mathsf" || name == u"mathtt") return styled_group(depth, plain);
    if (name == u"mathbf" || name == u"boldsymbol" || name == u"bm" || name == u"pmb") {
      return styled_group(depth, bold);
    }
    if (name == u"mathbb" || name == u"mathcal" || name == u"mathfrak" || name == u"mathscr") {
      return alphabet(name, depth);
    }
    if (name == u"mathit" || name == u"boxed" || name == u"overbrace" || name == u"underbrace" ||
        name == u"mathstrut") {
      return argument(depth);
    }
    if (const QChar mark = tex_accent(name); !mark.isNull()) return accented(mark, depth);
    if (name == u"pmod") {
      Piece out = plain_piece(QStringLiteral(" (mod "));
      out.add(argument(depth));
      out.add(QStringLiteral(")"));
      return out;
    }
    if (name == u"not") return negated(depth);
    if (name == u"left" || name == u"right" || name == u"middle" || is_size(name)) return sized(name, depth);
    if (name == u"displaystyle" || name == u"textstyle" || name == u"limits" || name == u"nolimits" ||
        name == u"nonumber" || name == u"hline" || name == u"scriptstyle") {
      return {};
    }
    if (name == u"begin") return environment(depth);
    // Not known: it stays as it is written, and so does its argument.
    const QString macro = source_.sliced(begin, position_ - begin).toString();
    return plain_piece(macro + source_group());
  }

  QString source_group() {
    QString out;
    while (position_ < source_.size() && source_[position_] == QLatin1Char('{')) {
      const qsizetype begin = position_;
      raw_group();
      out += source_.sliced(begin, position_ - begin).toString();
    }
    return out;
  }

  void skip_star() {
    if (position_ < source_.size() && source_[position_] == QLatin1Char('*')) ++position_;
  }

  static bool is_size(QStringView name) { return name.startsWith(u"big") || name.startsWith(u"Big"); }

  Piece sized(QStringView name, int depth) {
    Piece out = delimiter(depth);
    if (name == u"left" || name.endsWith(u'l')) out.kind = TexClass::opening;
    if (name == u"right" || name.endsWith(u'r')) out.kind = TexClass::closing;
    return out;
  }

  Piece alphabet(QStringView macro_name, int depth) {
    Piece out = styled_group(depth, plain);
    QString styled;
    for (const QChar c : std::as_const(out.text)) {
      const QString letter = tex_alphabet(macro_name, c);
      styled += letter.isEmpty() ? QString(c) : letter;
    }
    out.text = styled;
    return out;
  }

  Piece accented(QChar mark, int depth) {
    Piece out = argument(depth);
    const bool long_mark = mark.unicode() == 0x0305 || mark.unicode() == 0x0332;
    if (out.text.size() <= 1 || (out.text.size() == 2 && out.text[0].isHighSurrogate())) {
      out.add(QString(mark));
      return out;
    }
    if (!long_mark) {
      out = enclosed(out);
      out.add(QString(mark));
      return out;
    }
    Piece lined;
    for (const QChar c : std::as_const(out.text)) {
      lined.text += c;
      if (!c.isHighSurrogate() && !c.isSpace()) lined.text += mark;
    }
    return lined;
  }

  Piece negated(int depth) {
    Piece out = argument(depth);
    static const QHash<QString, QString> known = {{QStringLiteral("="), QStringLiteral("≠")},
                                                  {QStringLiteral("∈"), QStringLiteral("∉")},
                                                  {QStringLiteral("⊂"), QStringLiteral("⊄")},
                                                  {QStringLiteral("≡"), QStringLiteral("≢")},
                                                  {QStringLiteral("∼"), QStringLiteral("≁")}};
    out.text = known.value(out.text, out.text + QChar(0x0338));
    return out;
  }

  QStringView source_;
  qsizetype position_ = 0;
};

}  // namespace

StyledText render_tex(QStringView tex) {
  Piece piece = Reader(tex.trimmed()).all();
  StyledText out{piece.text, {}};
  // Neighbouring runs of the same style become one.
  std::ranges::stable_sort(piece.runs, {}, &Run::start);
  for (const Run& run : piece.runs) {
    if (!out.runs.empty() && out.runs.back().style == run.style &&
        out.runs.back().start + out.runs.back().length == run.start) {
      out.runs.back().length += run.length;
    } else {
      out.runs.push_back(run);
    }
  }
  return out;
}

}  // namespace fovea::ui
