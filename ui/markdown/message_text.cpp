#include "ui/markdown/message_text.h"

#include <QStringView>
#include <algorithm>
#include <iterator>
#include <optional>

#include "ui/markdown/call_text.h"
#include "ui/markdown/fence.h"

namespace fovea::ui {
namespace {

constexpr QStringView kClose = u"</think>";

// Length of the tag that opens a section at the beginning of the line; 0: none.
qsizetype opening_tag(QStringView line) {
  const QStringView trimmed = line.trimmed();
  if (trimmed.isEmpty() || trimmed[0] != QLatin1Char('<')) return 0;
  for (const QStringView tag : {QStringView(u"<think>"), QStringView(u"<thinking>")}) {
    if (trimmed.startsWith(tag)) return trimmed.data() - line.data() + tag.size();
  }
  return 0;
}

// A stretch of the message that is reasoning or not. Positions are in the message's text.
struct Section {
  qsizetype begin = 0;
  qsizetype end = 0;
  bool reasoning = false;
  bool closed = false;
  QString call = {};  // the function; then the section holds its arguments
};

struct Split {
  std::vector<Section> sections;
  qsizetype boundary = 0;  // the last place in the last section where parsing may be cut; 0: none
  bool unopened = false;   // a section ends that never began: a template began it, in the prompt
  bool defines_links = false;
};

class Splitter {
 public:
  Splitter(QStringView text, qsizetype begin, bool in_reasoning) : text_(text), line_(begin) {
    sections_.push_back({begin, text.size(), in_reasoning, false});
  }

  Split take() {
    while (line_ < text_.size()) {
      if (sections_.back().reasoning) {
        skip_reasoning();
      } else {
        take_line();
      }
    }
    defines_links_ = defines_links_ || fences_.may_define_links();
    return {std::move(sections_), boundary_, unopened_, defines_links_};
  }

 private:
  // Everything up to </think>, whatever it looks like: a model may leave code or quotes open in it.
  void skip_reasoning() {
    const qsizetype close = text_.indexOf(kClose, line_);
    follow_reasoning(close < 0 ? text_.size() : close);
    if (close < 0) {
      line_ = text_.size();
      return;
    }
    sections_.back().end = close;
    sections_.back().closed = true;
    begin_section(close + kClose.size(), false);
  }

  // Boundaries inside reasoning, for long ones.
  void follow_reasoning(qsizetype end) {
    while (line_ < end) {
      const qsizetype next = next_line(end);
      feed(text_.sliced(line_, std::min(next, end) - line_));
      line_ = next;
    }
  }

  void take_line() {
    const qsizetype next = next_line(text_.size());
    const QStringView line = text_.sliced(line_, next - line_);
    if (!fences_.inside()) {
      if (take_call(line)) return;
      if (const qsizetype tag = opening_tag(line)) {
        sections_.back().end = line_;
        begin_section(line_ + tag, true);
        return;
      }
      if (line.trimmed().startsWith(kClose) && sections_.size() == 1) {
        unopened_ = true;
        const qsizetype at = line_ + (line.indexOf(u'<'));
        sections_.back() = {sections_.back().begin, at, true, true};
        begin_section(at + kClose.size(), false);
        return;
      }
    }
    feed(line);
    line_ = next;
  }

  // A call in the line, which may go on in others.
  bool take_call(QStringView line) {
    const qsizetype at = line.indexOf(kCallOpen);
    if (at < 0) return false;
    const std::optional<CallText> call = find_call(text_, line_ + at);
    if (!call) return false;
    feed(line.first(at));
    sections_.back().end = line_ + at;
    begin_section(call->arguments, false);
    sections_.back().call = call->name;
    sections_.back().closed = call->closed;
    sections_.back().end = call->arguments_end;
    if (call->closed) {
      begin_section(call->end, false);
    } else {
      line_ = text_.size();
    }
    return true;
  }

  void feed(QStringView line) {
    if (line.endsWith(QLatin1Char('\n'))) line.chop(1);
    fences_.feed(line);
    if (fences_.at_boundary() && line_ > sections_.back().begin) boundary_ = line_;
  }

  void begin_section(qsizetype begin, bool reasoning) {
    defines_links_ = defines_links_ || fences_.may_define_links();
    sections_.push_back({begin, text_.size(), reasoning, false});
    fences_ = FenceTracker();
    boundary_ = 0;
    line_ = begin;
  }

  qsizetype next_line(qsizetype end) const {
    const qsizetype feed = text_.indexOf(QLatin1Char('\n'), line_);
    return feed < 0 || feed >= end ? end : feed + 1;
  }

  QStringView text_;
  qsizetype line_;
  std::vector<Section> sections_;
  FenceTracker fences_;
  qsizetype boundary_ = 0;
  bool unopened_ = false;
  bool defines_links_ = false;
};

// `resumed`: the section's summary is among the settled blocks.
void add_section(const QString& text, const Section& section, bool resumed, std::vector<Block>& blocks) {
  QString source = text.mid(section.begin, section.end - section.begin);
  const bool call = !section.call.isEmpty();
  if (call) source = QStringLiteral("~~~json\n") + indented_json(source) + QStringLiteral("\n~~~");
  std::vector<Block> parsed = parse_markdown(source);
  if ((section.reasoning && !resumed) || call) {
    if (section.closed && parsed.empty()) return;  // a model that was told not to think
    Block summary;
    summary.kind = BlockKind::reasoning;
    summary.open = !section.closed;
    summary.call = section.call;
    blocks.push_back(summary);
  }
  for (Block& block : parsed) block.reasoning = section.reasoning || call;
  std::ranges::move(parsed, std::back_inserter(blocks));
}

QString without_carriage_returns(QString text) {
  text.remove(QLatin1Char('\r'));
  return text;
}

}  // namespace

std::vector<Block> parse_message(const QString& text) {
  const QString clean = without_carriage_returns(text);
  std::vector<Block> blocks;
  for (const Section& section : Splitter(clean, 0, false).take().sections) {
    add_section(clean, section, false, blocks);
  }
  return blocks;
}

void MessageParser::append(const QString& more) {
  text_ += without_carriage_returns(more);
  first_changed_ = settled_blocks_;
  parse_tail();
}

void MessageParser::parse_tail() {
  if (whole_) {
    parsed_characters_ += text_.size();
    blocks_ = parse_message(text_);
    first_changed_ = 0;
    return;
  }
  const Split split = Splitter(text_, settled_, settled_in_reasoning_).take();
  if (split.defines_links || (split.unopened && settled_ > 0)) {
    whole_ = true;
    parse_tail();
    return;
  }
  parsed_characters_ += text_.size() - settled_;
  blocks_.resize(settled_blocks_);
  bool resumed = settled_in_reasoning_;
  if (resumed && split.sections[0].closed) {
    blocks_[summary_].open = false;
    first_changed_ = std::min(first_changed_, summary_);
  }
  const std::size_t last = split.sections.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    add_section(text_, split.sections[i], resumed, blocks_);
    resumed = false;
  }
  Section section = split.sections[last];
  if (split.boundary > 0) {
    Section settled = section;
    settled.end = section.begin = split.boundary;
    add_section(text_, settled, resumed, blocks_);
    resumed = section.reasoning;
    settled_ = split.boundary;
    settled_blocks_ = blocks_.size();
    settled_in_reasoning_ = section.reasoning;
    for (std::size_t at = settled_blocks_; section.reasoning && at-- > 0;) {
      summary_ = at;
      if (blocks_[at].kind == BlockKind::reasoning) break;
    }
  }
  add_section(text_, section, resumed, blocks_);
}

}  // namespace fovea::ui
