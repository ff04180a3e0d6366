// Formulas in Markdown, which Markdown itself does not know: found and taken out before it is parsed, so that
// their backslashes, underscores and bars mean nothing there.
#pragma once

#include <QString>
#include <QStringView>
#include <vector>

namespace fovea::ui {

struct FormulaSpan {
  QString source;        // with its delimiters
  QString tex;           // the inside
  bool display = false;  // $$…$$ or \[…\]
};

// The Markdown with a placeholder for each formula outside code: $…$, $$…$$, \(…\), \[…\], and what stands
// between \begin{align} and its \end, or another environment of formulas. Amounts of money stay text.
QString hide_formulas(const QString& markdown, std::vector<FormulaSpan>& formulas);

// Splits text at placeholders: calls on_text(QString) and on_formula(index) in order.
template <typename OnText, typename OnFormula>
void at_placeholders(const QString& text, OnText&& on_text, OnFormula&& on_formula);

// The text with its placeholders turned back into source: for code and addresses.
QString restore_formulas(const QString& text, const std::vector<FormulaSpan>& formulas);

// Placeholder: kFormulaBegin, the index in digits from kFormulaDigit on, kFormulaEnd. All three are
// characters that no text may hold.
constexpr char16_t kFormulaBegin = 0xfdd0;
constexpr char16_t kFormulaEnd = 0xfdd1;
constexpr char16_t kFormulaDigit = 0xfdd2;

template <typename OnText, typename OnFormula>
void at_placeholders(const QString& text, OnText&& on_text, OnFormula&& on_formula) {
  qsizetype done = 0;
  for (;;) {
    const qsizetype begin = text.indexOf(QChar(kFormulaBegin), done);
    const qsizetype end = begin < 0 ? -1 : text.indexOf(QChar(kFormulaEnd), begin);
    if (end < 0) break;
    if (begin > done) on_text(text.mid(done, begin - done));
    std::size_t index = 0;
    for (qsizetype i = begin + 1; i < end; ++i) {
      index = index * 10 + static_cast<std::size_t>(text[i].unicode() - kFormulaDigit);
    }
    on_formula(index);
    done = end + 1;
  }
  if (done < text.size()) on_text(done == 0 ? text : text.mid(done));
}

}  // namespace fovea::ui
