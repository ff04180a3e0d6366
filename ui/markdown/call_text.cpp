#include "ui/markdown/call_text.h"

#include <QJsonDocument>
#include <QJsonObject>

namespace fovea::ui {
namespace {

constexpr QStringView kCallClose = u"</tool_call>";
// How a call begins whose name is known.
constexpr QStringView kName = u"{\"name\": \"", kArguments = u", \"arguments\": ";

// Behind the value that begins at `at`: an object; the text's end where it is cut.
qsizetype object_end(QStringView text, qsizetype at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const QChar c = text[at];
    if (in_string) {
      if (c == QLatin1Char('\\')) ++at;
      in_string = c != QLatin1Char('"');
      continue;
    }
    in_string = c == QLatin1Char('"');
    if (c == QLatin1Char('{') || c == QLatin1Char('[')) ++depth;
    if ((c == QLatin1Char('}') || c == QLatin1Char(']')) && --depth <= 0) return at + 1;
  }
  return text.size();
}

}  // namespace

std::optional<CallText> find_call(QStringView text, qsizetype at) {
  qsizetype begin = at + kCallOpen.size();
  if (begin < text.size() && text[begin] == QLatin1Char('\n')) ++begin;
  if (!text.sliced(begin).startsWith(kName)) return {};
  const qsizetype name = begin + kName.size();
  const qsizetype name_end = text.indexOf(QLatin1Char('"'), name);
  if (name_end <= name || !text.sliced(name_end + 1).startsWith(kArguments)) return {};
  CallText call;
  call.name = text.sliced(name, name_end - name).toString();
  call.arguments = name_end + 1 + kArguments.size();
  call.arguments_end = object_end(text, call.arguments);
  call.end = text.size();
  const qsizetype close = text.indexOf(kCallClose, call.arguments_end);
  if (close < 0) return call;
  const QByteArray object = text.sliced(begin, close - begin).toUtf8();
  if (!QJsonDocument::fromJson(object).object().value(QLatin1String("arguments")).isObject()) return {};
  call.end = close + kCallClose.size();
  call.closed = true;
  return call;
}

QString indented_json(const QString& json) {
  QString out;
  int depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out += QLatin1Char('\n') + QString(2 * depth, QLatin1Char(' ')); };
  for (qsizetype i = 0; i < json.size(); ++i) {
    const QChar c = json[i];
    if (in_string) {
      out += c;
      if (c == QLatin1Char('\\') && i + 1 < json.size()) out += json[++i];
      in_string = c != QLatin1Char('"');
      continue;
    }
    if (c.isSpace()) continue;
    in_string = c == QLatin1Char('"');
    const bool opens = c == QLatin1Char('{') || c == QLatin1Char('[');
    const bool closes = c == QLatin1Char('}') || c == QLatin1Char(']');
    const bool empty = closes && (out.endsWith(QLatin1Char('{')) || out.endsWith(QLatin1Char('[')));
    if (!opens && !closes && (out.endsWith(QLatin1Char('{')) || out.endsWith(QLatin1Char('[')))) new_line();
    if (opens && (out.endsWith(QLatin1Char('{')) || out.endsWith(QLatin1Char('[')))) new_line();
    if (closes && depth > 0) --depth;
    if (closes && !empty) new_line();
    out += c;
    if (opens) ++depth;
    if (c == QLatin1Char(',')) new_line();
    if (c == QLatin1Char(':')) out += QLatin1Char(' ');
  }
  return out;
}

}  // namespace fovea::ui
