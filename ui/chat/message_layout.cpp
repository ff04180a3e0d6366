#include "ui/chat/message_layout.h"

#include <QTextLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/chat/block_text.h"
#include "ui/markdown/to_markdown.h"

namespace fovea::ui {
namespace {

constexpr qreal kLabelHeight = 1.55;  // em; where somebody is named
constexpr qreal kNoLabelHeight = 0.2;
constexpr qreal kFooterHeight = 2;
constexpr qreal kFactHeight = 1.45;
constexpr qreal kBubblePadding = 0.65;
constexpr qreal kBubblePaddingAbove = 0.45;
constexpr qreal kBubbleShare = 0.86;  // of the column
constexpr std::size_t kPartsOfSmallBubble = 4;

}  // namespace

QFont Frame::label_font() const {
  QFont font = style.body;
  font.setPointSizeF(font.pointSizeF() * 0.88);
  return font;
}

MessageLayout::MessageLayout(MessageView view) : view_(std::move(view)) {
  line_feeds_ = view_.text.count(QLatin1Char('\n'));
}

MessageLayout::~MessageLayout() = default;

void MessageLayout::set_view(const MessageView& view) {
  const bool grows = view.author == view_.author && view.text.startsWith(view_.text);
  if (grows) {
    const QString more = view.text.mid(view_.text.size());
    const QString whole = std::exchange(view_, view).text;
    view_.text = whole;
    append(more);
    return;
  }
  view_ = view;
  line_feeds_ = view_.text.count(QLatin1Char('\n'));
  forget_all();
  unfolded_.clear();
  text_length_ = -1;
  guessed_generation_ = -1;
  bubble_width_ = 0;
}

void MessageLayout::append(const QString& text) {
  if (text.isEmpty()) return;
  view_.text += text;
  text_length_ = -1;
  line_feeds_ += text.count(QLatin1Char('\n'));
  bubble_width_ = 0;
  guessed_generation_ = -1;
  if (!parsed_) return;
  if (view_.author == Author::user) {
    typed_ = parse_typed(view_.text);
    update_items(0);
  } else {
    parser_.append(text);
    update_items(parser_.first_changed());
  }
}

void MessageLayout::parse() {
  if (parsed_) return;
  parsed_ = true;
  if (view_.author == Author::user) {
    typed_ = parse_typed(view_.text);
  } else {
    parser_ = {};
    parser_.append(view_.text);
  }
  update_items(0);
}

const std::vector<Block>& MessageLayout::blocks() {
  parse();
  return view_.author == Author::user ? typed_ : parser_.blocks();
}

// Items keep their layouts where the block is the same. Where it is not, the old one is still shown until it
// is laid out again.
void MessageLayout::update_items(std::size_t first_changed) {
  const std::vector<Block>& all = blocks();
  items_.resize(all.size());
  std::size_t section = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Item& item = items_[i];
    if (all[i].kind == BlockKind::reasoning) ++section;
    item.hidden = all[i].reasoning && (section == 0 || section > unfolded_.size() || !unfolded_[section - 1]);
    if (i < first_changed || (item.layout && item.layout->block() == all[i])) continue;
    item.measured = item.estimated = -1;
    item.lexed = false;
  }
  placed_ = false;
  text_known_ = false;
}

void MessageLayout::forget_all() {
  items_.clear();
  parser_ = {};
  typed_.clear();
  text_.clear();
  parsed_ = prepared_ = placed_ = text_known_ = false;
}

void MessageLayout::forget_layouts(qreal top, qreal bottom) {
  for (Item& item : items_) {
    if (item.layout && (item.top + item.height < top || item.top > bottom)) {
      item.code_after = item.layout->code_state_after();
      item.lexed = true;
      item.layout.reset();
    }
  }
}

std::size_t MessageLayout::layout_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items_, [](const Item& item) { return item.layout != nullptr; }));
}

// --- sizes

qreal MessageLayout::padding(const Frame& frame) const {
  return view_.author == Author::user ? kBubblePadding * frame.em : 0;
}

qreal MessageLayout::padding_above(const Frame& frame) const {
  return view_.author == Author::user ? std::round(kBubblePaddingAbove * frame.em) : 0;
}

qreal MessageLayout::inner_width(const Frame& frame) const {
  if (view_.author != Author::user) return frame.column;
  return (bubble_width_ > 0 ? bubble_width_ : std::floor(frame.column * kBubbleShare)) - 2 * padding(frame);
}

qreal MessageLayout::left(const Frame& frame) const {
  if (view_.author != Author::user) return 0;
  return frame.column - inner_width(frame) - padding(frame);
}

qreal MessageLayout::body_top(const Frame& frame) const {
  const qreal label = view_.author_name.isEmpty() ? kNoLabelHeight : kLabelHeight;
  return std::round(label * frame.em) + padding_above(frame);
}

// In as many lines as it needs: what went wrong may be told nowhere else.
void MessageLayout::lay_out_note(QTextLayout& lines, const Frame& frame) const {
  lines.setText(view_.note);
  lines.setFont(frame.label_font());
  QTextOption option(view_.author == Author::user ? Qt::AlignRight : Qt::AlignLeft);
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  lines.setTextOption(option);
  lines.beginLayout();
  qreal y = 0;
  for (QTextLine line = lines.createLine(); line.isValid(); line = lines.createLine()) {
    line.setLineWidth(frame.column);
    line.setPosition({0, y});
    y += line.height();
  }
  lines.endLayout();
}

qreal MessageLayout::note_height(const Frame& frame) const {
  if (view_.note.isEmpty()) return 0;
  QTextLayout lines;
  lay_out_note(lines, frame);
  return std::round(0.5 * frame.em + lines.boundingRect().height());
}

qreal MessageLayout::footer_height(const Frame& frame) const {
  return std::round(kFooterHeight * frame.em);
}

qreal MessageLayout::facts_height(const Frame& frame) const {
  if (!shows_facts_ || view_.facts.empty()) return 0;
  return std::round(static_cast<qreal>(view_.facts.size()) * kFactHeight * frame.em + 0.4 * frame.em);
}

QRectF MessageLayout::bubble(const Frame& frame) const {
  const qreal pad = std::round(padding(frame)), above = padding_above(frame);
  return {left(frame) - pad, body_top(frame) - above, inner_width(frame) + 2 * pad, body_height_ + 2 * above};
}

qreal MessageLayout::height(const Frame& frame) {
  if (prepared_) {
    place(frame);
  } else if (guessed_generation_ != frame.generation) {
    const qreal letters = std::max(8.0, inner_width(frame) / frame.sizes.letter);
    const qreal lines =
        static_cast<qreal>(view_.text.size()) / letters + static_cast<qreal>(line_feeds_) * 0.7;
    body_height_ = std::ceil((1 + lines) * 1.25 * frame.em);
    guessed_generation_ = frame.generation;
  }
  return body_top(frame) + body_height_ + padding_above(frame) + note_height(frame) + footer_height(frame) +
         facts_height(frame);
}

// Gives each block its place: with the height that was measured, else with an estimate.
void MessageLayout::place(const Frame& frame) {
  if (placed_ && placed_generation_ == frame.generation) return;
  if (placed_generation_ != frame.generation) bubble_width_ = 0;
  const std::vector<Block>& all = blocks();
  const qreal width = inner_width(frame);
  qreal y = 0;
  const Block* before = nullptr;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.hidden) {
      item.top = y;
      continue;
    }
    if (item.measured != frame.generation && item.estimated != frame.generation) {
      item.height = std::ceil(estimated_height(all[i], width, frame.sizes));
      item.estimated = frame.generation;
    }
    if (before) y += std::round(gap_between(*before, all[i], frame.em));
    item.top = y;
    y += item.height;
    before = &all[i];
  }
  // Who only asks for the text must not change how high the message is taken to be.
  if (prepared_) body_height_ = before ? y : frame.em;
  placed_generation_ = frame.generation;
  placed_ = true;
}

int MessageLayout::prepare(const Frame& frame, qreal top, qreal bottom) {
  parse();
  if (!prepared_) placed_ = false;
  prepared_ = true;
  place(frame);
  if (view_.author == Author::user && bubble_width_ == 0) shrink_bubble(frame);
  const std::vector<Block>& all = blocks();
  const qreal first = body_top(frame);
  const qreal width = inner_width(frame);
  int made = 0;
  qreal moved = 0;  // blocks below move as those above get their true heights
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    const qreal y = first + item.top + moved;
    if (item.hidden || y + item.height < top) continue;
    if (y > bottom) break;
    const bool summary = all[i].kind == BlockKind::reasoning;
    const bool good = item.layout && item.measured == frame.generation &&
                      (!summary || item.layout->context() == context_of(i));
    if (good) continue;
    item.layout = std::make_unique<BlockLayout>(all[i], width, frame.style, context_of(i));
    moved += item.layout->height() - item.height;
    item.height = item.layout->height();
    item.measured = frame.generation;
    ++made;
  }
  if (made > 0) placed_ = false;
  place(frame);
  return made;
}

// A short text of the user gets a bubble that is no wider than it.
void MessageLayout::shrink_bubble(const Frame& frame) {
  const qreal widest = std::floor(frame.column * kBubbleShare);
  if (typed_.size() > kPartsOfSmallBubble) {
    bubble_width_ = widest;
    return;
  }
  qreal used = 2 * frame.em;
  for (const Block& block : typed_) {
    const BlockLayout trial(block, widest - 2 * padding(frame), frame.style);
    used = std::max(used, trial.used_width());
  }
  bubble_width_ = std::min(widest, std::ceil(used) + 2 + 2 * padding(frame));
  for (Item& item : items_) item.estimated = item.measured = -1;
  placed_ = false;
  place(frame);
}

MessageLayout::Anchor MessageLayout::anchor_at(const Frame& frame, qreal y) {
  if (!parsed_) return {};
  place(frame);
  const qreal first = body_top(frame);
  Anchor anchor;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].hidden) continue;
    const bool exact = items_[i].measured == frame.generation;
    if (first + items_[i].top + items_[i].height > y && (exact || !anchor.exact)) {
      anchor = {i, exact};
      if (exact) break;
    }
    if (first + items_[i].top > y + 4000) break;
  }
  return anchor;
}

qreal MessageLayout::top_of(const Frame& frame, std::size_t block) {
  if (!parsed_ || block >= items_.size()) return 0;
  place(frame);
  return body_top(frame) + items_[block].top;
}

// --- what blocks cannot know

BlockContext MessageLayout::context_of(std::size_t block) {
  const Block& b = blocks()[block];
  BlockContext context;
  if (b.kind == BlockKind::code && b.part > 0) context.code_state = code_state_before(block);
  if (b.kind == BlockKind::reasoning) {
    context.summary = fold_label(block);
    context.folded = is_folded(block);
  }
  return context;
}

bool MessageLayout::knows_state(const Item& item) {
  return item.lexed || (item.layout && item.measured >= 0);
}

LexerState MessageLayout::code_state_before(std::size_t block) {
  const std::vector<Block>& all = blocks();
  std::size_t first = block;
  while (first > 0 && all[first].part > 0 && !knows_state(items_[first - 1])) --first;
  LexerState state;
  if (first > 0 && all[first].part > 0) {
    const Item& known = items_[first - 1];
    state = known.lexed ? known.code_after : known.layout->code_state_after();
  }
  for (std::size_t i = first; i < block; ++i) {
    highlight(language_of(all[i].language), all[i].content.text, state);
    items_[i].code_after = state;
    items_[i].lexed = true;
  }
  return state;
}

std::size_t MessageLayout::reasoning_index(std::size_t block) const {
  const std::vector<Block>& all = parser_.blocks();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(block, all.size())),
                    [](const Block& b) { return b.kind == BlockKind::reasoning; }));
}

bool MessageLayout::is_folded(std::size_t reasoning_block) {
  const std::size_t index = reasoning_index(reasoning_block);
  return index >= unfolded_.size() || !unfolded_[index];
}

void MessageLayout::toggle_fold(std::size_t reasoning_block) {
  const std::size_t index = reasoning_index(reasoning_block);
  if (index >= unfolded_.size()) unfolded_.resize(index + 1, false);
  unfolded_[index] = !unfolded_[index];
  text_length_ = -1;
  update_items(items_.size());
}

QString MessageLayout::fold_label(std::size_t summary) const {
  const std::vector<Block>& all = parser_.blocks();
  if (summary < all.size() && !all[summary].call.isEmpty()) {
    const QString& function = all[summary].call;
    if (!all[summary].open) return tr("Call to %1").arg(function);
    return view_.streaming ? tr("Calling %1…").arg(function) : tr("Call to %1, unfinished").arg(function);
  }
  const bool open = std::ranges::any_of(all, [](const Block& b) { return b.open && b.call.isEmpty(); });
  if (open) return view_.streaming ? tr("Thinking…") : tr("Thoughts, unfinished");
  const int seconds = static_cast<int>(std::lround(view_.reasoning_seconds));
  if (view_.reasoning_seconds <= 0) return tr("Thoughts");
  if (seconds < 1) return tr("Thought for less than a second");
  if (seconds < 60) return tr("Thought for %1 s").arg(seconds);
  return tr("Thought for %1 min %2 s").arg(seconds / 60).arg(seconds % 60);
}

QString MessageLayout::author_label() const {
  if (!view_.author_name.isEmpty()) return view_.author_name;
  return view_.author == Author::user ? tr("You") : tr("Answer");
}

// --- text

void MessageLayout::update_text() {
  const std::vector<Block>& all = blocks();
  text_.clear();
  const Block* before = nullptr;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    item.text_begin = static_cast<int>(text_.size());
    item.text_length = 0;
    if (item.hidden || all[i].kind == BlockKind::reasoning || all[i].kind == BlockKind::rule) continue;
    if (before) text_ += text_between(*before, all[i]);
    item.text_begin = static_cast<int>(text_.size());
    text_ += block_text(all[i]);
    item.text_length = static_cast<int>(text_.size()) - item.text_begin;
    before = &all[i];
  }
  text_known_ = true;
  source_places_known_ = false;
  text_length_ = static_cast<int>(text_.size());
}

int MessageLayout::text_length() {
  if (text_length_ >= 0) return text_length_;
  const bool kept = parsed_;
  text();
  if (!kept) forget_all();
  return text_length_;
}

const QString& MessageLayout::text() {
  parse();
  if (!text_known_) update_text();
  return text_;
}

QString MessageLayout::markdown(TextRange range) {
  const int length = static_cast<int>(text().size());
  if (range.begin <= 0 && range.end >= length) return view_.text;
  const std::vector<Block>& all = blocks();
  if (view_.author == Author::user) return text_.mid(range.begin, range.end - range.begin);
  std::vector<BlockCut> cuts;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.text_length == 0) continue;
    const int prefix = static_cast<int>(text_prefix(all[i]).size());
    const int begin = std::clamp(range.begin - item.text_begin - prefix, 0, item.text_length - prefix);
    const int end = std::clamp(range.end - item.text_begin - prefix, 0, item.text_length - prefix);
    if (begin < end) cuts.push_back({&all[i], begin, end});
  }
  return to_markdown(cuts);
}

QString MessageLayout::code_of(std::size_t block) {
  const std::vector<Block>& all = blocks();
  QString code = all[block].content.text;
  for (; all[block].more && block + 1 < all.size(); ++block) {
    code += QLatin1Char('\n') + all[block + 1].content.text;
  }
  return code;
}

// --- places

int MessageLayout::position_at(const Frame& frame, QPointF point) {
  text();
  place(frame);
  const QPointF local = point - QPointF(left(frame), body_top(frame));
  const Item* best = nullptr;
  for (const Item& item : items_) {
    if (item.hidden || item.text_length == 0) continue;
    if (best && local.y() < item.top) break;
    best = &item;
  }
  if (!best) return 0;
  if (local.y() < best->top && point.y() < 0) return best->text_begin;
  if (!best->layout)
    return best->text_begin + (local.y() > best->top + best->height / 2 ? best->text_length : 0);
  return best->text_begin + best->layout->position_at(local - QPointF(0, best->top));
}

TextRange MessageLayout::formula_around(int position) {
  text();
  const std::vector<Block>& all = blocks();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.hidden || position < item.text_begin || position > item.text_begin + item.text_length) continue;
    const FormulaRange range = fovea::ui::formula_around(all[i], position - item.text_begin);
    if (range.begin < range.end) return {item.text_begin + range.begin, item.text_begin + range.end};
  }
  return {position, position};
}

QRectF MessageLayout::cursor_at(const Frame& frame, int position) {
  text();
  place(frame);
  const QPointF origin(left(frame), body_top(frame));
  const Item* best = nullptr;
  for (const Item& item : items_) {
    if (item.hidden || item.text_length == 0) continue;
    if (best && item.text_begin > position) break;
    best = &item;
  }
  if (!best) return {origin, QSizeF(1, frame.em)};
  const QPointF top = origin + QPointF(0, best->top);
  if (!best->layout) {
    const qreal share = static_cast<qreal>(position - best->text_begin) / std::max(1, best->text_length);
    return {top + QPointF(0, std::clamp(share, 0.0, 1.0) * std::max(0.0, best->height - frame.em)),
            QSizeF(1, frame.em)};
  }
  return best->layout->cursor_at(std::min(position - best->text_begin, best->text_length)).translated(top);
}

QRectF MessageLayout::area_of_text(const Frame& frame) {
  place(frame);
  return {left(frame), body_top(frame), inner_width(frame), body_height_};
}

}  // namespace fovea::ui
