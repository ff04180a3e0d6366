// Markdown as a flat list of blocks with styled runs: what the transcript lays out. Parsed by md4c.
#pragma once

#include <QString>
#include <Qt>
#include <cstdint>
#include <vector>

namespace fovea::ui {

enum RunStyle : std::uint8_t {
  plain = 0,
  bold = 1,
  italic = 2,
  strike = 4,
  inline_code = 8,
  formula = 16,
};

// Characters [start, start + length) of the text they belong to. The run of a formula spans the runs inside
// it.
struct Run {
  int start = 0;
  int length = 0;
  std::uint8_t style = plain;  // RunStyle bits
  QString link;                // target address; empty: none
  QString source;              // of a formula: as it was written, with its delimiters
  QString tex = {};            // of a whole formula: without them
  bool display = false;        // of a formula: $$…$$ or \[…\]

  bool operator==(const Run&) const = default;
};

struct StyledText {
  QString text;  // line breaks are QChar::LineSeparator
  std::vector<Run> runs;

  bool operator==(const StyledText&) const = default;
};

struct TableRow {
  bool header = false;
  std::vector<StyledText> cells;
  std::vector<Qt::Alignment> alignment;

  bool operator==(const TableRow&) const = default;
};

enum class BlockKind : std::uint8_t {
  paragraph,
  heading,
  code,
  rule,
  table,
  formula,    // on lines of its own
  reasoning,  // the summary line of a <think> section or a call; its blocks follow
};

// Long code, tables and texts come in parts, so that one block never takes long to lay out.
struct Block {
  BlockKind kind = BlockKind::paragraph;
  int level = 0;           // of a heading, 1 … 6
  int quote_depth = 0;     // enclosing quotes
  int list_depth = 0;      // enclosing lists
  int part = 0;            // 0, 1, … of a long block
  bool more = false;       // another part follows
  bool reasoning = false;  // belongs to the <think> section or the call above it
  bool open = false;       // a section or a call that has not ended
  QString call;            // of a summary: the function that is called; empty: it is of thoughts
  QString marker;          // "•", "3.", "☑" on the first block of a list item
  StyledText content;      // not for tables; code keeps its line feeds
  QString language;        // of a code block
  std::vector<TableRow> rows;

  bool operator==(const Block&) const = default;
};

// Raw HTML stays text and images become their description: nothing is ever fetched. An unfinished document
// (an open fence, an open emphasis) gives the blocks that it has so far.
std::vector<Block> parse_markdown(const QString& source);

// What a person typed: as it is, line feeds kept, but fenced code and formulas as in Markdown.
std::vector<Block> parse_typed(const QString& text);

// Text as it is, line feeds kept.
std::vector<Block> plain_blocks(const QString& text);

}  // namespace fovea::ui
