#include "app/words/error_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <optional>

#include "app/words/known_sentences.h"

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

const QRegularExpression& place_of_number() {
  static const QRegularExpression place(QStringLiteral("%([1-9])"));
  return place;
}

// What varies in a sentence that the known one stands for, in order; nothing: it is another one.
std::optional<QStringList> varying(const QString& known, const QString& sentence) {
  const QStringList pieces = known.split(place_of_number());
  if (!sentence.startsWith(pieces.front())) return std::nullopt;
  QStringList values;
  qsizetype at = pieces.front().size();
  for (qsizetype i = 1; i < pieces.size(); ++i) {
    const bool is_last = i + 1 == pieces.size();
    if (is_last && !sentence.endsWith(pieces[i])) return std::nullopt;
    const qsizetype next = is_last ? sentence.size() - pieces[i].size() : sentence.indexOf(pieces[i], at + 1);
    if (next <= at) return std::nullopt;
    values += sentence.mid(at, next - at);
    at = next + pieces[i].size();
  }
  if (at < sentence.size()) return std::nullopt;
  return values;
}

// In one go: what is put in may look like a place, too.
QString filled(const QString& sentence, const QStringList& values) {
  QString text;
  qsizetype at = 0;
  for (auto each = place_of_number().globalMatch(sentence); each.hasNext();) {
    const QRegularExpressionMatch place = each.next();
    text += sentence.mid(at, place.capturedStart() - at) + values.value(place.captured(1).toInt() - 1);
    at = place.capturedEnd();
  }
  return text + sentence.mid(at);
}

// A sentence of the engine in the window's language, and so what varies in it; or as it is. Of two that it
// could be, the one that says more itself.
QString in_the_language(const QString& sentence) {
  QString said = sentence;
  std::size_t longest = 0;
  for (const std::string_view known : known_sentences()) {
    if (known.size() <= longest) continue;
    auto values = varying(QString::fromUtf8(known.data(), std::ssize(known)), sentence);
    if (!values) continue;
    longest = known.size();
    for (QString& value : *values) value = in_the_language(value);
    said = filled(Words::tr(known.data()), *values);
  }
  // "what was tried: why not", where the system says why.
  const qsizetype colon = sentence.indexOf(QStringLiteral(": "));
  if (longest == 0 && colon > 0) said = in_the_language(sentence.left(colon)) + sentence.mid(colon);
  return said;
}

QString advice_of(const Error& error) {
  if (const int count = messages_to_leave_out(error); count > 0) {
    return Words::tr(
        "Load the model with a longer context, shorten the conversation, or let the %n oldest message(s) be "
        "left out",
        nullptr, count);
  }
  return in_the_language(QString::fromStdString(error.advice_words()));
}

}  // namespace

QString error_words(const Error& error) {
  const char* headline = headline_of(error.kind);
  const QString translated = Words::tr(headline);
  if (translated == QLatin1String(headline)) return QString::fromStdString(error.message());
  QString text = translated + QStringLiteral(": ");
  if (!error.where.empty()) text += QString::fromStdString(error.where_words()) + QStringLiteral(": ");
  text += in_the_language(QString::fromStdString(error.what_words()));
  if (const QString advice = advice_of(error); !advice.isEmpty()) text += QStringLiteral(". ") + advice;
  return text;
}

QString sentence_words(const std::string& sentence) {
  return in_the_language(QString::fromStdString(sentence));
}

QString sentence_words(const Phrase& phrase) {
  return QString::fromStdString(english(phrase));
}

int messages_to_leave_out(const Error& error) {
  if (error.kind != ErrorKind::context_full) return 0;
  static const QRegularExpression count(QStringLiteral("let the ([0-9]+) oldest messages? be left out"));
  return count.match(QString::fromStdString(error.advice_words())).captured(1).toInt();
}

}  // namespace fovea::app
