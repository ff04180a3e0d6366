#include "app/words/error_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::ErrorWords)
};

const char* headline_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "It was not found");
    case ErrorKind::io:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Access failed");
    case ErrorKind::format:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "A file is damaged or is not what was expected");
    case ErrorKind::unsupported:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Fovea cannot do this");
    case ErrorKind::invalid:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "This is not possible");
    case ErrorKind::memory:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "There is not enough memory");
    case ErrorKind::context_full:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The conversation does not fit in the context");
    case ErrorKind::device:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The device failed");
    case ErrorKind::cancelled:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "It was stopped");
    case ErrorKind::internal:
      break;
  }
  return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "An internal error in Fovea");
}

// The window's words, where it has them for the code, and its numbers.
class InWindow : public Wording {
 protected:
  std::string text(const Code& code) const override { return translated(code, nullptr, code.text); }
  // Where there is none, Qt would find the text's translation under it.
  std::string advice(const Code& code) const override {
    return code.advice.empty() ? std::string() : translated(code, "advice", code.advice);
  }
  std::string number(double value, int decimals) const override {
    return (decimals < 0 ? QLocale().toString(value, 'g', 6) : QLocale().toString(value, 'f', decimals))
        .toStdString();
  }
  std::string size(std::int64_t bytes) const override { return ui::bytes_text(bytes).toStdString(); }

 private:
  static std::string translated(const Code& code, const char* which, std::string_view english) {
    const QByteArray id(code.id.data(), std::ssize(code.id));
    const QString words = QCoreApplication::translate("errors", id.constData(), which);
    return words == QLatin1String(id) ? std::string(english) : words.toStdString();
  }
};

bool is_english() {
  return Words::tr(headline_of(ErrorKind::internal)) == QLatin1String(headline_of(ErrorKind::internal));
}

QString with_headline(const Error& error, const QString& words) {
  return is_english() ? words : Words::tr(headline_of(error.kind)) + QStringLiteral(": ") + words;
}

// Where it was and what, without the advice.
QString found_words(const Error& error) {
  const std::string where = error.where_words(InWindow()), what = error.what_words(InWindow());
  return QString::fromStdString(where.empty() ? what : where + ": " + what);
}

// std::string: see Argument.
bool names_something(const Argument& argument) {
  return std::holds_alternative<std::string>(argument) ||
         std::holds_alternative<std::vector<std::string>>(argument);
}

bool speaks_of_insides(const Error& error) {
  return error.kind == ErrorKind::format || error.kind == ErrorKind::internal ||
         (error.kind == ErrorKind::unsupported && error.file() &&
          std::ranges::any_of(error.what.arguments, names_something));
}

}  // namespace

QString error_words(const Error& error) {
  return with_headline(error, QString::fromStdString(error.message(InWindow())));
}

ErrorText error_text(const Error& error) {
  const QString advice = QString::fromStdString(error.advice_words(InWindow()));
  const bool is_command = advice.contains(QLatin1String("--")) || advice.contains(QLatin1String("fovea "));
  const QString what_to_do = advice.isEmpty() ? QString() : QLatin1Char(' ') + advice;
  if (speaks_of_insides(error)) {
    const QString headline = Words::tr(headline_of(error.kind)) + QLatin1Char('.');
    const QString found = found_words(error);
    return is_command ? ErrorText{headline, found + QLatin1Char('.') + what_to_do}
                      : ErrorText{headline + what_to_do, found};
  }
  if (!is_command) return {error_words(error), {}};
  return {with_headline(error, found_words(error)) + QLatin1Char('.'), advice};
}

QString sentence_words(const Phrase& phrase) {
  return QString::fromStdString(InWindow().words(phrase));
}

}  // namespace fovea::app
