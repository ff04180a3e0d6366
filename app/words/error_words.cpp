#include "app/words/error_words.h"

#include <QCoreApplication>
#include <QLocale>

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
  std::string advice(const Code& code) const override { return translated(code, "advice", code.advice); }
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

}  // namespace

QString error_words(const Error& error) {
  const QString words = QString::fromStdString(error.message(InWindow()));
  return is_english() ? words : Words::tr(headline_of(error.kind)) + QStringLiteral(": ") + words;
}

ErrorText error_text(const Error& error) {
  const QString whole = error_words(error);
  const QString advice = QString::fromStdString(error.advice_words(InWindow()));
  const bool is_command = advice.contains(QLatin1String("--")) || advice.contains(QLatin1String("fovea "));
  const auto at = whole.lastIndexOf(advice, -1, Qt::CaseInsensitive);
  if (advice.isEmpty() || !is_command || at <= 0) return {whole, {}};
  return {whole.left(at).trimmed(), whole.mid(at)};
}

QString sentence_words(const Phrase& phrase) {
  return QString::fromStdString(InWindow().words(phrase));
}

}  // namespace fovea::app
