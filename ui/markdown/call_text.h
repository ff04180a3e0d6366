// Calls of functions in a message's text: <tool_call>{"name": …, "arguments": {…}}</tool_call>.
#pragma once

#include <QString>
#include <QStringView>
#include <optional>

namespace fovea::ui {

inline constexpr QStringView kCallOpen = u"<tool_call>";

struct CallText {
  QString name;
  qsizetype arguments = 0, arguments_end = 0;  // where they stand
  qsizetype end = 0;                           // behind the closing tag
  bool closed = false;                         // it is there; else arguments and end are those so far
};

// The call whose tag stands at `at`. Nothing: what follows is none, or may become one.
std::optional<CallText> find_call(QStringView text, qsizetype at);

// JSON with a line for each value; of what is no JSON, or cut, what there is.
QString indented_json(const QString& json);

}  // namespace fovea::ui
