#include "app/words/error_words.h"

#include <QCoreApplication>
#include <QLocale>

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
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "An access failed");
    case ErrorKind::format:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "A file is damaged, or is not what it should be");
    case ErrorKind::unsupported:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Fovea cannot do this");
    case ErrorKind::invalid:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "This is not possible");
    case ErrorKind::memory:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "There is not enough memory");
    case ErrorKind::context_full:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The conversation does not fit the context");
    case ErrorKind::device:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The device failed");
    case ErrorKind::cancelled:
      return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "It was stopped");
    case ErrorKind::internal:
      break;
  }
  return QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "A fault in Fovea");
}

// The window's, where it has the code.
class Translated : public Wording {
 protected:
  std::string text(const Code& code) const override { return translated(code, nullptr, code.text); }
  std::string advice(const Code& code) const override { return translated(code, "advice", code.advice); }
  std::string number(double value, int decimals) const override {
    return (decimals < 0 ? QLocale().toString(value, 'g', 6) : QLocale().toString(value, 'f', decimals))
        .toStdString();
  }
  std::string size(std::int64_t bytes) const override {
    return QString::fromStdString(size_text(bytes))
        .replace(QLatin1Char('.'), QLocale().decimalPoint())
        .toStdString();
  }

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
  if (is_english()) return QString::fromStdString(error.message());
  return Words::tr(headline_of(error.kind)) + QStringLiteral(": ") +
         QString::fromStdString(error.message(Translated()));
}

QString sentence_words(const Phrase& phrase) {
  return QString::fromStdString(is_english() ? english(phrase) : Translated().words(phrase));
}

}  // namespace fovea::app
