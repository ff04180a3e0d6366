// What stands between \begin and \end.
#include <QRegularExpression>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/mathematics/parser.h"

namespace fovea::ui {
namespace {

constexpr double kColumnGap = 1.0;   // em, between a matrix's columns
constexpr double kPairGap = 2.0;     // between two equations on a line of align
constexpr double kDisplayAir = 0.4;  // between the lines of an alignment
constexpr std::size_t kMostColumns = 64;

using Align = MathColumn::Align;

// "c|cc" of array; what it does not know is left out.
std::vector<MathColumn> columns_of(const QString& letters) {
  std::vector<MathColumn> out;
  bool line = false;
  for (const QChar c : letters) {
    if (c == QLatin1Char('|')) line = true;
    if (!QStringLiteral("lcr").contains(c) || out.size() >= kMostColumns) continue;
    MathColumn column;
    column.align = c == QLatin1Char('l') ? Align::left : c == QLatin1Char('r') ? Align::right : Align::centre;
    column.gap = out.empty() ? (line ? kColumnGap / 2 : 0) : kColumnGap;
    column.line = std::exchange(line, false);
    out.push_back(column);
  }
  if (line) {  // behind the last: an empty column
    MathColumn last;
    last.gap = kColumnGap / 2;
    last.line = true;
    out.push_back(last);
  }
  return out;
}

MathNode fence(const QString& open, MathNode inside, const QString& close) {
  MathNode out;
  out.kind = MathKind::fenced;
  out.role = MathClass::inner;
  out.children.push_back(math_symbol(open));
  out.children.push_back(std::move(inside));
  out.children.push_back(math_symbol(close));
  return out;
}

}  // namespace

// Behind a line of a table or a formula: \\ with what may follow it.
bool MathParser::line_end() {
  skip_spaces();
  if (at_end() || source_[position_] != QLatin1Char('\\')) return false;
  const QStringView name = peek_name();
  if (name != u"\\" && name != u"cr" && name != u"newline") return false;
  read_name();
  take(u"*");
  static const QRegularExpression room(QStringLiteral("\\G\\s*\\[\\s*-?[\\d.]+\\s*[a-z]{2}\\s*\\]"));
  const auto match = room.match(source_, position_);
  if (match.hasMatch()) position_ += match.capturedLength();
  return true;
}

// A formula of several lines without an environment.
MathNode MathParser::lines(MathNode first) {
  if (failed_ || at_end()) return first;
  MathNode out;
  out.kind = MathKind::table;
  out.columns = 1;
  out.layout.resize(1);
  out.styled = true;
  out.style = MathStyle::display;
  out.amount = kDisplayAir;
  out.children.push_back(std::move(first));
  while (!failed_ && line_end()) {
    skip_spaces();
    if (!at_end()) out.children.push_back(row(Until::end));
  }
  if (out.children.size() == 1) return std::move(out.children[0]);
  return out;
}

MathNode MathParser::environment() {
  const Depth deeper(*this);
  const QString name = raw_group();
  if (failed_) return {};
  if (name == QLatin1String("equation") || name == QLatin1String("equation*") ||
      name == QLatin1String("math") || name == QLatin1String("displaymath")) {
    MathNode table = table_of(QStringLiteral("gather"));
    read_rows(table, name, false);
    return table.children.size() == 1 ? std::move(table.children[0]) : table;
  }
  MathNode table = table_of(name);
  if (failed_) return {};
  const bool aligned =
      !table.layout.empty() && table.styled && table.style == MathStyle::display && table.columns > 1;
  read_rows(table, name, aligned);
  if (failed_) return {};
  if (name.startsWith(QLatin1String("pmatrix")))
    return fence(QStringLiteral("("), std::move(table), QStringLiteral(")"));
  if (name.startsWith(QLatin1String("bmatrix")))
    return fence(QStringLiteral("["), std::move(table), QStringLiteral("]"));
  if (name.startsWith(QLatin1String("Bmatrix")))
    return fence(QStringLiteral("{"), std::move(table), QStringLiteral("}"));
  if (name.startsWith(QLatin1String("vmatrix")))
    return fence(QStringLiteral("|"), std::move(table), QStringLiteral("|"));
  if (name.startsWith(QLatin1String("Vmatrix")))
    return fence(QStringLiteral("‖"), std::move(table), QStringLiteral("‖"));
  if (name == QLatin1String("cases") || name == QLatin1String("dcases"))
    return fence(QStringLiteral("{"), std::move(table), {});
  if (name == QLatin1String("rcases")) return fence({}, std::move(table), QStringLiteral("}"));
  return table;
}

// The columns that an environment has; those of align go on in pairs.
MathNode MathParser::table_of(const QString& name) {
  MathNode table;
  table.kind = MathKind::table;
  QString base = name;
  if (base.endsWith(QLatin1Char('*'))) base.chop(1);
  static const QStringList alignments = {QStringLiteral("align"),   QStringLiteral("aligned"),
                                         QStringLiteral("alignat"), QStringLiteral("alignedat"),
                                         QStringLiteral("flalign"), QStringLiteral("split"),
                                         QStringLiteral("eqnarray")};
  static const QStringList gathered = {QStringLiteral("gather"), QStringLiteral("gathered"),
                                       QStringLiteral("multline")};
  static const QStringList matrices = {QStringLiteral("matrix"),     QStringLiteral("pmatrix"),
                                       QStringLiteral("bmatrix"),    QStringLiteral("Bmatrix"),
                                       QStringLiteral("vmatrix"),    QStringLiteral("Vmatrix"),
                                       QStringLiteral("smallmatrix")};
  if (alignments.contains(base)) {
    if (base == QLatin1String("alignat") || base == QLatin1String("alignedat")) raw_group();
    if (base == QLatin1String("aligned")) raw_optional();
    table.styled = true;
    table.style = MathStyle::display;
    table.amount = kDisplayAir;
    for (std::size_t i = 0; i < kMostColumns; ++i) {
      const bool left_side = i % 2 == 0;
      table.layout.push_back(
          {left_side ? Align::right : Align::left, left_side && i > 0 ? kPairGap : 0, false});
    }
    if (base == QLatin1String("eqnarray")) {
      table.layout = {{Align::right, 0, false}, {Align::centre, 0.28, false}, {Align::left, 0.28, false}};
    }
    table.columns = 2;
  } else if (gathered.contains(base)) {
    table.styled = true;
    table.style = MathStyle::display;
    table.amount = kDisplayAir;
    table.layout.resize(1);
  } else if (base == QLatin1String("cases") || base == QLatin1String("dcases") ||
             base == QLatin1String("rcases")) {
    table.styled = base == QLatin1String("dcases");
    table.style = MathStyle::display;
    for (std::size_t i = 0; i < kMostColumns; ++i)
      table.layout.push_back({Align::left, i > 0 ? kColumnGap : 0, false});
  } else if (base == QLatin1String("array") || base == QLatin1String("tabular")) {
    raw_optional();
    table.layout = columns_of(raw_group());
  } else if (matrices.contains(base)) {
    raw_optional();
    const bool small = base == QLatin1String("smallmatrix");
    table.styled = small;
    table.style = MathStyle::script;
    for (std::size_t i = 0; i < kMostColumns; ++i) {
      table.layout.push_back({Align::centre, i == 0 ? 0 : small ? kColumnGap / 2 : kColumnGap, false});
    }
  } else {
    failed_ = true;
  }
  return table;
}

// The cells until \end{name}. Rows get as many as the longest has.
void MathParser::read_rows(MathNode& table, const QString& name, bool aligned) {
  std::vector<std::vector<MathNode>> rows(1);
  std::vector<std::size_t> rules;
  while (!failed_) {
    skip_spaces();
    if (at_end()) {
      failed_ = true;
      return;
    }
    while (source_[position_] == QLatin1Char('\\') && peek_name() == u"hline") {
      read_name();
      rules.push_back(rows.size() - 1);
      skip_spaces();
      if (at_end()) break;
    }
    MathNode cell = row(Until::cell);
    if (failed_) return;
    // What stands at the right of & begins with a relation, and keeps its distance.
    if (aligned && rows.back().size() % 2 == 1) cell.children.insert(cell.children.begin(), MathNode{});
    rows.back().push_back(std::move(cell));
    if (rows.back().size() > kMostColumns) failed_ = true;
    if (failed_ || at_end()) {
      failed_ = true;
      return;
    }
    if (take(u"&")) continue;
    if (line_end()) {
      rows.emplace_back();
      continue;
    }
    if (peek_name() == u"hline") continue;
    read_name();  // \end
    if (raw_group() != name) failed_ = true;
    break;
  }
  if (failed_) return;
  const auto is_bare = [](const std::vector<MathNode>& cells) {
    return cells.empty() || (cells.size() == 1 && cells[0].children.empty());
  };
  if (rows.size() > 1 && is_bare(rows.back())) rows.pop_back();
  std::size_t columns = 1;
  for (const auto& cells : rows) columns = std::max(columns, cells.size());
  if (table.layout.size() > columns && table.layout.back().line) columns = table.layout.size();
  table.columns = columns;
  table.layout.resize(columns, {Align::centre, kColumnGap, false});
  for (auto& cells : rows) {
    cells.resize(columns);
    std::ranges::move(cells, std::back_inserter(table.children));
  }
  table.lines = std::move(rules);
}

}  // namespace fovea::ui
