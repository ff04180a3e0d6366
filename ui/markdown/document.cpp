#include "ui/markdown/document.h"

#include <QByteArray>
#include <QHash>
#include <QRegularExpression>
#include <QStringList>
#include <QTextDocumentFragment>
#include <algorithm>
#include <md4c.h>

#include "ui/markdown/fence.h"
#include "ui/markdown/formula_spans.h"
#include "ui/markdown/parts.h"
#include "ui/markdown/tex.h"
#include "ui/mathematics/tree.h"

namespace fovea::ui {
namespace {

// Bounds on what odd input can make of a few bytes: md4c fills short table rows up to the header's width, and
// repeats a defined address at each use.
constexpr std::size_t kMaxCells = 200'000;
constexpr qsizetype kMaxLinkCharacters = 16 << 20;

QString to_string(const MD_ATTRIBUTE& attribute) {
  return QString::fromUtf8(attribute.text, static_cast<qsizetype>(attribute.size));
}

// "&amp;", "&#x263a;": what it stands for, or itself.
QString entity_text(const QString& entity) {
  if (entity.startsWith(QLatin1String("&#"))) {
    const bool hexadecimal = entity.size() > 3 && entity[2].toLower() == QLatin1Char('x');
    const uint code =
        QStringView(entity).sliced(hexadecimal ? 3 : 2).chopped(1).toUInt(nullptr, hexadecimal ? 16 : 10);
    const bool character = code != 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    const char32_t shown = character ? code : 0xfffd;
    return QString::fromUcs4(&shown, 1);
  }
  // Qt knows the names, but is slow to ask; there are about 250.
  static QHash<QString, QString> known;
  if (const auto found = known.constFind(entity); found != known.cend()) return *found;
  QString text = QTextDocumentFragment::fromHtml(entity).toPlainText();
  if (known.size() < 512) known.insert(entity, text);
  return text;
}

void add_formula(const FormulaSpan& span, std::uint8_t style, const QString& link, StyledText& target) {
  const int start = static_cast<int>(target.text.size());
  if (!parse_math(span.tex)) {  // nobody could tell what of it is missing: it stays as it is written
    QString source = span.source;
    source.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
    target.runs.push_back({start, static_cast<int>(source.size()), static_cast<std::uint8_t>(style | formula),
                           link, span.source});
    target.text += source;
    return;
  }
  StyledText shown = render_tex(span.tex);
  target.runs.push_back({start, static_cast<int>(shown.text.size()),
                         static_cast<std::uint8_t>(style | formula), link, span.source, span.tex,
                         span.display});
  for (Run& run : shown.runs) {
    run.start += start;
    run.style = static_cast<std::uint8_t>(run.style | style | formula);
    target.runs.push_back(std::move(run));
  }
  target.text += shown.text;
}

// Collects md4c's events. Text goes to `target`, which is the block's content or a table cell.
class Builder {
 public:
  explicit Builder(const std::vector<FormulaSpan>& formulas) : formulas_(formulas) {}

  std::vector<Block> take() {
    finish_block();
    return std::move(blocks_);
  }
  bool overflowed() const { return cells_ > kMaxCells || link_characters_ > kMaxLinkCharacters; }

  void enter_block(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        finish_block();
        ++quotes_;
        break;
      case MD_BLOCK_UL:
        finish_block();
        lists_.push_back({false, 0});
        break;
      case MD_BLOCK_OL:
        finish_block();
        lists_.push_back({true, static_cast<int>(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start)});
        break;
      case MD_BLOCK_LI:
        enter_item(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
        break;
      case MD_BLOCK_HR:
        begin_block(BlockKind::rule);
        break;
      case MD_BLOCK_H:
        begin_block(BlockKind::heading).level =
            static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_CODE:
        begin_block(BlockKind::code).language = attribute(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
        break;
      case MD_BLOCK_P:
        begin_block(BlockKind::paragraph);
        break;
      case MD_BLOCK_TABLE:
        begin_block(BlockKind::table);
        break;
      case MD_BLOCK_TR:
        current_.rows.emplace_back();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        enter_cell(type == MD_BLOCK_TH, static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align);
        break;
      default:
        break;
    }
  }

  void leave_block(MD_BLOCKTYPE type) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        finish_block();
        --quotes_;
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        finish_block();
        lists_.pop_back();
        break;
      case MD_BLOCK_LI:
        if (!open_ && !marker_.isEmpty()) begin_block(BlockKind::paragraph);  // an empty item is still drawn
        finish_block();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        in_cell_ = false;
        break;
      default:
        break;
    }
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    if (!open_) begin_block(BlockKind::paragraph);  // a tight list item that begins with it
    styles_.push_back(styles_.empty() ? Style{} : styles_.back());
    Style& style = styles_.back();
    switch (type) {
      case MD_SPAN_EM:
        style.bits |= italic;
        break;
      case MD_SPAN_STRONG:
        style.bits |= bold;
        break;
      case MD_SPAN_DEL:
        style.bits |= strike;
        break;
      case MD_SPAN_CODE:
        style.bits |= inline_code;
        break;
      case MD_SPAN_A:
        style.link = address(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
        break;
      case MD_SPAN_IMG:
        style.link = address(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
        break;
      default:
        break;
    }
  }

  void leave_span() {
    if (!styles_.empty()) styles_.pop_back();
  }

  void text(MD_TEXTTYPE type, const char* data, MD_SIZE size) {
    if (!open_) begin_block(BlockKind::paragraph);  // the text of a tight list item has no paragraph
    switch (type) {
      case MD_TEXT_BR:
      case MD_TEXT_SOFTBR:  // models write verse and addresses in lines, and paragraphs in one
        append(QString(QChar(QChar::LineSeparator)));
        break;
      case MD_TEXT_NULLCHAR:
        append(QString(QChar(QChar::ReplacementCharacter)));
        break;
      case MD_TEXT_CODE:
        append(restore_formulas(QString::fromUtf8(data, static_cast<qsizetype>(size)), formulas_));
        break;
      case MD_TEXT_ENTITY:
        append(entity_text(QString::fromUtf8(data, static_cast<qsizetype>(size))));
        break;
      default:
        at_placeholders(
            QString::fromUtf8(data, static_cast<qsizetype>(size)),
            [this](const QString& piece) { append(piece); },
            [this](std::size_t index) { append_formula(index); });
        break;
    }
  }

 private:
  QString attribute(const MD_ATTRIBUTE& value) const { return restore_formulas(to_string(value), formulas_); }
  QString address(const MD_ATTRIBUTE& value) {
    QString link = attribute(value);
    link_characters_ += link.size();
    return link;
  }

  struct Style {
    std::uint8_t bits = plain;
    QString link;
  };
  struct List {
    bool ordered = false;
    int next = 0;
  };

  void enter_item(const MD_BLOCK_LI_DETAIL& item) {
    finish_block();
    List& list = lists_.back();
    if (item.is_task) {
      marker_ = item.task_mark == ' ' ? QStringLiteral("☐") : QStringLiteral("☑");
    } else if (list.ordered) {
      marker_ = QString::number(list.next++) + QLatin1Char('.');
    } else {
      marker_ = lists_.size() % 2 == 1 ? QStringLiteral("•") : QStringLiteral("◦");
    }
  }

  void enter_cell(bool header, MD_ALIGN align) {
    if (current_.rows.empty()) current_.rows.emplace_back();
    TableRow& row = current_.rows.back();
    row.header = header;
    row.cells.emplace_back();
    row.alignment.push_back(align == MD_ALIGN_CENTER  ? Qt::AlignHCenter
                            : align == MD_ALIGN_RIGHT ? Qt::AlignRight
                                                      : Qt::AlignLeft);
    in_cell_ = true;
    ++cells_;
  }

  Block& begin_block(BlockKind kind) {
    finish_block();
    styles_.clear();  // md4c 0.4 does not close every span of odd input; none reaches over a block
    current_ = Block{};
    current_.kind = kind;
    current_.quote_depth = quotes_;
    current_.list_depth = static_cast<int>(lists_.size());
    current_.marker = std::exchange(marker_, QString());
    open_ = true;
    displayed_ = false;
    return current_;
  }

  void finish_block() {
    if (!open_) return;
    open_ = false;
    if (current_.kind == BlockKind::paragraph && stands_alone()) current_.kind = BlockKind::formula;
    if (current_.kind == BlockKind::code && current_.content.text.endsWith(QLatin1Char('\n'))) {
      current_.content.text.chop(1);
    }
    push_parts(std::move(current_), blocks_);
  }

  // A paragraph that is one displayed formula and nothing else.
  bool stands_alone() const {
    const StyledText& content = current_.content;
    return displayed_ && !content.runs.empty() && (content.runs[0].style & formula) != 0 &&
           content.runs[0].length == content.text.size();
  }

  void append_formula(std::size_t index) {
    if (index >= formulas_.size()) return;
    const Style style = styles_.empty() ? Style{} : styles_.back();
    add_formula(formulas_[index], style.bits, style.link,
                in_cell_ ? current_.rows.back().cells.back() : current_.content);
    displayed_ = formulas_[index].display;
  }

  void append(const QString& piece) {
    StyledText& target = in_cell_ ? current_.rows.back().cells.back() : current_.content;
    const Style style = styles_.empty() ? Style{} : styles_.back();
    if (style.bits != plain || !style.link.isEmpty()) {
      target.runs.push_back(
          {static_cast<int>(target.text.size()), static_cast<int>(piece.size()), style.bits, style.link, {}});
    }
    target.text += piece;
  }

  const std::vector<FormulaSpan>& formulas_;
  std::vector<Block> blocks_;
  Block current_;
  std::size_t cells_ = 0;
  qsizetype link_characters_ = 0;
  bool displayed_ = false;  // the last formula of the block
  bool open_ = false;
  bool in_cell_ = false;
  int quotes_ = 0;
  std::vector<List> lists_;
  std::vector<Style> styles_;
  QString marker_;
};

// Lines of what was typed, in code or between it.
class TypedReader {
 public:
  std::vector<Block> read(const QString& text) {
    FenceTracker fences;
    for (const QString& line : text.split(QLatin1Char('\n'))) {
      const bool was_inside = fences.inside();
      const bool code = fences.feed(line);
      if (code && !was_inside) {
        finish_plain(true);
        code_ = Block{};
        code_.kind = BlockKind::code;
        code_.language = line.trimmed().remove(QRegularExpression(QStringLiteral("^[`~]+\\s*|\\s.*$")));
      } else if (code && fences.inside()) {
        lines_ += line;
      } else if (code) {
        finish_code();
      } else {
        lines_ += line;
      }
    }
    fences.inside() ? finish_code() : finish_plain(false);
    if (blocks_.empty()) blocks_.emplace_back();
    return std::move(blocks_);
  }

 private:
  void finish_code() {
    code_.content.text = std::exchange(lines_, {}).join(QLatin1Char('\n'));
    push_parts(std::move(code_), blocks_);
  }

  // A displayed formula is a block of its own, as code is: without the empty lines around it.
  void finish_plain(bool followed) {
    std::vector<FormulaSpan> formulas;
    const QString text = hide_formulas(std::exchange(lines_, {}).join(QLatin1Char('\n')), formulas);
    Block paragraph;
    const auto push = [&](bool is_last) {
      QString& words = paragraph.content.text;
      while (!is_last && words.endsWith(QChar(QChar::LineSeparator))) words.chop(1);
      if (!words.trimmed().isEmpty()) push_parts(std::move(paragraph), blocks_);
      paragraph = {};
    };
    at_placeholders(
        text,
        [&](QString piece) {
          const bool begins = paragraph.content.text.isEmpty() && !blocks_.empty();
          while (begins && piece.startsWith(QLatin1Char('\n'))) piece.remove(0, 1);
          paragraph.content.text += piece.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
        },
        [&](std::size_t index) {
          const FormulaSpan& span = formulas[index];
          if (!span.display) return add_formula(span, plain, {}, paragraph.content);
          push(false);
          paragraph.kind = BlockKind::formula;
          add_formula(span, plain, {}, paragraph.content);
          push(true);
        });
    push(!followed);
  }

  QStringList lines_;
  Block code_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> parse_typed(const QString& text) {
  return TypedReader().read(text);
}

std::vector<Block> parse_markdown(const QString& source) {
  std::vector<FormulaSpan> formulas;
  const QByteArray utf8 = hide_formulas(source, formulas).toUtf8();
  Builder builder(formulas);
  MD_PARSER parser{};
  parser.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    static_cast<Builder*>(user)->enter_block(type, detail);
    return static_cast<int>(static_cast<Builder*>(user)->overflowed());
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) {
    static_cast<Builder*>(user)->leave_block(type);
    return 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    static_cast<Builder*>(user)->enter_span(type, detail);
    return static_cast<int>(static_cast<Builder*>(user)->overflowed());
  };
  parser.leave_span = [](MD_SPANTYPE, void*, void* user) {
    static_cast<Builder*>(user)->leave_span();
    return 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* data, MD_SIZE size, void* user) {
    static_cast<Builder*>(user)->text(type, data, size);
    return 0;
  };
  if (md_parse(utf8.constData(), static_cast<MD_SIZE>(utf8.size()), &parser, &builder) != 0) {
    return plain_blocks(source);  // out of memory or bounds: the text itself is still shown
  }
  return builder.take();
}

std::vector<Block> plain_blocks(const QString& text) {
  Block block;
  block.content.text = text;
  block.content.text.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
  std::vector<Block> blocks;
  push_parts(std::move(block), blocks);
  return blocks;
}

}  // namespace fovea::ui
