#include "ui/markdown/formula_spans.h"

#include <QRegularExpression>
#include <QStringList>

#include "ui/markdown/fence.h"

namespace fovea::ui {
namespace {

constexpr qsizetype kLongestInline = 500;
constexpr qsizetype kLongestDisplay = 4000;

bool is_letter(QChar c) {
  return (c >= QLatin1Char('a') && c <= QLatin1Char('z')) || (c >= QLatin1Char('A') && c <= QLatin1Char('Z'));
}

// "$5 for one and 6$ for two" is money: words, and nothing that only formulas have.
bool reads_like_prose(QStringView inside) {
  int letters = 0;
  int longest = 0;
  bool space = false;
  for (const QChar c : inside) {
    if (QStringLiteral("\\^_{}=<>|").contains(c)) return false;
    if (c.isSpace()) space = true;
    letters = is_letter(c) ? letters + 1 : 0;
    longest = std::max(longest, letters);
  }
  return longest >= (inside[0].isDigit() ? 2 : 3) && (space || inside[0].isDigit());
}

class Hider {
 public:
  Hider(const QString& source, std::vector<FormulaSpan>& formulas) : source_(source), formulas_(formulas) {
    out_.reserve(source.size());
  }

  QString take() {
    FenceTracker fences;
    qsizetype paragraph = -1;  // where the lines that may share a formula begin
    qsizetype line = 0;
    while (line < source_.size()) {
      qsizetype end = source_.indexOf(QLatin1Char('\n'), line);
      const qsizetype next = end < 0 ? source_.size() : end + 1;
      if (end < 0) end = source_.size();
      const QStringView text = QStringView(source_).sliced(line, end - line);
      const bool code = fences.feed(text);
      if (code || text.trimmed().isEmpty()) {
        if (paragraph >= 0) scan(paragraph, line);
        paragraph = -1;
        out_ += QStringView(source_).sliced(line, next - line);
      } else if (paragraph < 0) {
        paragraph = line;
      }
      line = next;
    }
    if (paragraph >= 0) scan(paragraph, source_.size());
    return out_;
  }

 private:
  void scan(qsizetype begin, qsizetype end) {
    const QStringView text = QStringView(source_).sliced(begin, end - begin);
    no_display_close_[0] = no_display_close_[1] = false;
    unclosed_.clear();
    longest_missing_ticks_ = 0;
    qsizetype done = 0;
    qsizetype i = 0;
    while (i < text.size()) {
      const QChar c = text[i];
      qsizetype after = 0;
      if (c == QLatin1Char('`')) {
        i = behind_code(text, i);
        continue;
      }
      if (c == QLatin1Char('$')) {
        after = dollars(text, i);
      } else if (c == QLatin1Char('\\') && i + 1 < text.size()) {
        const QChar d = text[i + 1];
        if (d == QLatin1Char('(') || d == QLatin1Char('[')) after = brackets(text, i, d);
        if (d == QLatin1Char('b')) after = environment(text, i);
        if (after == 0) {
          i += 2;
          continue;
        }
      }
      if (after == 0) {
        ++i;
        continue;
      }
      out_ += text.sliced(done, i - done);
      add_placeholder();
      done = i = after;
    }
    out_ += text.sliced(done);
  }

  // Behind the code span that begins here; behind the ticks if nothing closes them.
  qsizetype behind_code(QStringView text, qsizetype begin) {
    qsizetype length = 0;
    while (begin + length < text.size() && text[begin + length] == QLatin1Char('`')) ++length;
    const qsizetype inside = begin + length;
    if (missing_ticks(length)) return inside;
    qsizetype at = inside;
    while ((at = text.indexOf(QLatin1Char('`'), at)) >= 0) {
      qsizetype run = 0;
      while (at + run < text.size() && text[at + run] == QLatin1Char('`')) ++run;
      if (run == length) return at + run;
      at += run;
    }
    if (length < 64) longest_missing_ticks_ |= quint64(1) << length;
    return inside;
  }
  // Runs of this length were looked for in vain: a hostile text asks again and again.
  bool missing_ticks(qsizetype length) const {
    return length >= 64 || (longest_missing_ticks_ >> length & 1) != 0;
  }

  qsizetype accept(QStringView text, qsizetype begin, qsizetype inside, qsizetype close, qsizetype after,
                   bool display) {
    QString tex = text.sliced(inside, close - inside).toString();
    if (display && tex.contains(QLatin1Char('\n'))) tex = without_quote_marks(tex);
    if (tex.trimmed().isEmpty()) return 0;
    formulas_.push_back({text.sliced(begin, after - begin).toString(), tex, display});
    return after;
  }

  static QString without_quote_marks(const QString& tex) {
    QStringList lines = tex.split(QLatin1Char('\n'));
    for (QString& line : lines) {
      qsizetype marks = 0;
      while (marks < line.size() && (line[marks] == QLatin1Char('>') || line[marks].isSpace())) ++marks;
      if (line.left(marks).contains(QLatin1Char('>'))) line = line.mid(marks);
    }
    return lines.join(QLatin1Char('\n'));
  }

  qsizetype dollars(QStringView text, qsizetype begin) {
    const bool display = begin + 1 < text.size() && text[begin + 1] == QLatin1Char('$');
    if (display) {
      if (no_display_close_[0]) return 0;
      const qsizetype close = text.indexOf(u"$$", begin + 2);
      if (close < 0) no_display_close_[0] = true;
      if (close < 0 || close - begin > kLongestDisplay) return 0;
      return accept(text, begin, begin + 2, close, close + 2, true);
    }
    if (begin > 0 && (text[begin - 1].isLetterOrNumber() || text[begin - 1] == QLatin1Char('$'))) return 0;
    const qsizetype inside = begin + 1;
    if (inside >= text.size() || text[inside].isSpace()) return 0;
    const qsizetype last = std::min(text.size(), inside + kLongestInline);
    for (qsizetype i = inside; i < last && text[i] != QLatin1Char('\n'); ++i) {
      if (text[i] == QLatin1Char('\\')) {
        ++i;
        continue;
      }
      if (text[i] == QLatin1Char('`')) return 0;
      if (text[i] != QLatin1Char('$')) continue;
      const bool closes =
          !text[i - 1].isSpace() && (i + 1 >= text.size() || !text[i + 1].isLetterOrNumber()) && i > inside;
      if (!closes || reads_like_prose(text.sliced(inside, i - inside))) return 0;
      return accept(text, begin, inside, i, i + 1, false);
    }
    return 0;
  }

  qsizetype brackets(QStringView text, qsizetype begin, QChar open) {
    const bool display = open == QLatin1Char('[');
    if (display && no_display_close_[1]) return 0;
    const qsizetype limit = display ? kLongestDisplay : kLongestInline;
    const QStringView window = text.sliced(begin, std::min(limit, text.size() - begin));
    const qsizetype close = window.indexOf(display ? u"\\]" : u"\\)", 2);
    if (close < 0 && display && window.size() < limit) no_display_close_[1] = true;
    if (close < 0 || (!display && window.first(close).contains(QLatin1Char('\n')))) return 0;
    return accept(text, begin, begin + 2, begin + close, begin + close + 2, display);
  }

  qsizetype environment(QStringView text, qsizetype begin) {
    static const QRegularExpression opening(QStringLiteral(
        "\\G\\\\begin\\{((?:align|gather|multline|equation|eqnarray|alignat|flalign|displaymath)\\*?|"
        "math|split|aligned|gathered|cases|array|[pbBvV]?matrix|smallmatrix)\\}"));
    const QStringView window = text.sliced(begin, std::min(kLongestDisplay, text.size() - begin));
    const auto match = opening.match(window);
    if (!match.hasMatch()) return 0;
    const QString name = match.captured(1), end = QStringLiteral("\\end{%1}").arg(name);
    if (unclosed_.contains(name)) return 0;
    const qsizetype close = window.indexOf(end, match.capturedEnd());
    if (close < 0 && window.size() < kLongestDisplay) unclosed_ += name;
    if (close < 0) return 0;
    const qsizetype after = begin + close + end.size();
    return accept(text, begin, begin, after, after, true);
  }

  void add_placeholder() {
    out_ += QChar(kFormulaBegin);
    for (const QChar digit : QString::number(formulas_.size() - 1)) {
      out_ += QChar(static_cast<char16_t>(kFormulaDigit + digit.digitValue()));
    }
    out_ += QChar(kFormulaEnd);
  }

  const QString& source_;
  std::vector<FormulaSpan>& formulas_;
  QString out_;
  bool no_display_close_[2] = {false, false};  // of $$ and \[ in this paragraph
  QStringList unclosed_;                       // environments that do not end in this paragraph
  quint64 longest_missing_ticks_ = 0;          // bit n: no run of n ticks closes in this paragraph
};

}  // namespace

QString hide_formulas(const QString& markdown, std::vector<FormulaSpan>& formulas) {
  formulas.clear();
  QString clean = markdown;
  for (char16_t c = kFormulaBegin; c < kFormulaDigit + 10; ++c) {
    clean.replace(QChar(c), QChar(QChar::ReplacementCharacter));
  }
  if (!clean.contains(QLatin1Char('$')) && !clean.contains(QLatin1Char('\\'))) return clean;
  return Hider(clean, formulas).take();
}

QString restore_formulas(const QString& text, const std::vector<FormulaSpan>& formulas) {
  if (!text.contains(QChar(kFormulaBegin))) return text;
  QString out;
  at_placeholders(
      text, [&out](const QString& piece) { out += piece; },
      [&](std::size_t index) { out += formulas[index].source; });
  return out;
}

}  // namespace fovea::ui
