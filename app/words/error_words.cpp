#include "app/words/error_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>

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

QString advice_of(const Error& error) {
  if (const int count = messages_to_leave_out(error); count > 0) {
    return Words::tr(
        "Load the model with a longer context, shorten the conversation, or let the %n oldest message(s) be "
        "left out",
        nullptr, count);
  }
  const auto known = std::ranges::find(known_advice(), error.advice);
  return known == known_advice().end() ? QString::fromStdString(error.advice) : Words::tr(known->data());
}

}  // namespace

// What a window can meet: files, models, conversations, downloads. Literals, so that data() ends with a zero.
const std::vector<std::string_view>& known_advice() {
  static const std::vector<std::string_view> known{
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Attach text files, and convert other encodings to UTF-8"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check HF_ENDPOINT and the proxy"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check that the folder can be written to"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the connection"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the disk"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the free space of the disk"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the path"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the permissions of the file and its folder"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Check the permissions of the folder"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "Choose a file that Fovea has exported, or conversations.json of a ChatGPT export"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose a place that you can write to"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose a shorter context or a smaller KV type"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose a text of some thousand words"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose an instruct or chat model, or give a raw prompt"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose another device in the settings"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose another file"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose another place"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Choose another version"),
      QT_TRANSLATE_NOOP(
          "fovea::app::ErrorWords",
          "Close Fovea and start it again: it keeps the damaged file and saves what can be read"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Close other programs"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Close other programs, or choose a smaller model"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Close the other one"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Close the other one and start again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Close the other program"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Convert the model again with current tools"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Delete the model and download it again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Download all parts again from one place"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Download the file again"),
      QT_TRANSLATE_NOOP(
          "fovea::app::ErrorWords",
          "Even the last message alone is too long: shorten it, or load the model with a longer context"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Fovea cannot run this model"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Free some space and try again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Free some space on the disk"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "Free some space on the disk and start again: what is written stays"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Give a larger budget"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Give a larger budget, or lower tiers"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Give a smaller budget, or close other programs"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Give a smaller file"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Give the parts the names they were published with"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "It may have been deleted in another window"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Make it again: fovea prepare MODEL --rebuild"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Move it away, or set FOVEA_DATA to another folder"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Move the file away yourself"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "Name a model folder as Hugging Face publishes it, or a .gguf file"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "Open a recording that the live panel saved, or a trace of fovea trace"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Open the conversation again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Record the trace again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Remove it, so that it is made again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Set FOVEA_DATA to a folder that you can write to"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "Switch offline mode off in the settings, or unset HF_HUB_OFFLINE"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "The conversation is kept; start Fovea again to go on with it"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The disk may be failing: copy or download the file again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "The disk may have no trash: delete the file in the file manager"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The file is damaged or cut off: download it again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The file is damaged, or not a model that Fovea knows"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "The file is damaged: download it again"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords",
                        "The file is not complete, or its configuration is another model's"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Try again later"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Unpack it and import conversations.json"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Update Fovea"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Use the model's unquantised folder, or a GGUF file of it"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Wait a little; a token allows more"),
      QT_TRANSLATE_NOOP("fovea::app::ErrorWords", "Wait until it is done"),
  };
  return known;
}

QString error_words(const Error& error) {
  const char* headline = headline_of(error.kind);
  const QString translated = Words::tr(headline);
  if (translated == QLatin1String(headline)) return QString::fromStdString(error.message());
  QString text = translated + QStringLiteral(": ");
  if (!error.where.empty()) text += QString::fromStdString(error.where) + QStringLiteral(": ");
  text += QString::fromStdString(error.what);
  if (const QString advice = advice_of(error); !advice.isEmpty()) text += QStringLiteral(". ") + advice;
  return text;
}

int messages_to_leave_out(const Error& error) {
  if (error.kind != ErrorKind::context_full) return 0;
  static const QRegularExpression count(QStringLiteral("let the ([0-9]+) oldest messages? be left out"));
  return count.match(QString::fromStdString(error.advice)).captured(1).toInt();
}

}  // namespace fovea::app
