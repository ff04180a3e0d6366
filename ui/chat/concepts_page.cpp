#include "ui/chat/concepts_page.h"

#include <QFocusEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/style_paint.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

constexpr int widest_text = 560, swatch_height = 18;

// The colours that numbers of bits have everywhere, in their order.
class PrecisionScale : public QWidget {
 public:
  explicit PrecisionScale(const QString& said, QWidget* parent) : QWidget(parent) { setAccessibleName(said); }
  QSize sizeHint() const override {
    return {widest_text, swatch_height + space::hair + QFontMetrics(type_of(font(), Type::hint)).height()};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Tones& t = tones(palette());
    constexpr int all_bits[] = {2, 3, 4, 6, 8, 16};
    const double width = (this->width() + space::hair) / static_cast<double>(std::size(all_bits));
    painter.setFont(type_of(font(), Type::hint));
    double x = 0;
    for (const int bits : all_bits) {
      const QRectF area(x, 0, width - space::hair, swatch_height);
      const QColor colour = precision_colour(bits);
      style_paint::rounded(painter, area, radius::row, colour, QColor(keeping_edge(colour.rgb(), palette())));
      painter.setPen(t.second);
      painter.drawText(area.translated(0, swatch_height + space::hair),
                       Qt::AlignHCenter | Qt::AlignTop | Qt::TextDontClip, QString::number(bits));
      x += width;
    }
  }
};

}  // namespace

void ConceptsPage::add_section(QVBoxLayout& layout, const QString& title, const QString& text) {
  if (layout.count() > 0) layout.addSpacing(space::usual);
  auto* heading = new QLabel(title, this);
  set_type(*heading, Type::text, true);
  auto* words = new QLabel(text, this);
  words->setWordWrap(true);
  words->setTextFormat(Qt::PlainText);
  words->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  tint(*words, QPalette::WindowText, [](const QPalette& palette) { return tones(palette).second; });
  layout.addWidget(heading);
  layout.addWidget(words);
}

ConceptsPage::ConceptsPage(QWidget* parent) : Page(tr("How Fovea works"), parent) {
  auto* page = new QWidget;
  auto* column = new QWidget(page);
  auto* text = new QVBoxLayout(column);
  text->setContentsMargins(0, 0, 0, 0);
  text->setSpacing(space::hair);
  add_section(
      *text, tr("Experts"),
      tr("A large model of this kind is made of many small networks, its experts. For every token (about "
         "three quarters of a word), it asks only a few of them in each of its layers. That makes it fast, "
         "but all of its experts must be kept somewhere, and together they are large."));
  add_section(
      *text, tr("Precision"),
      tr("Each number in an expert can be kept with 16 bits, or with 8, 4 or 2. Fewer bits take less memory "
         "and are read faster, and the expert becomes a little less exact. Each number of bits has one "
         "colour, here and everywhere in the window:"));
  text->addSpacing(space::hair);
  text->addWidget(new PrecisionScale(tr("Colours from 2 to 16 bits"), column));
  add_section(
      *text, tr("What Fovea does"),
      tr("A conversation needs some experts again and again and hardly ever asks the rest. Fovea keeps those "
         "in use at more bits and lets the others rest at fewer. When you change the subject, other experts "
         "become precise; that happens in the background while the answer goes on."));
  add_section(
      *text, tr("Memory"),
      tr("You say how much memory the model may take, on the graphics card or in the computer, and Fovea "
         "stays below it, whatever happens. The more it may take, the more experts are kept at more bits."));
  add_section(*text, tr("Quality kept"),
              tr("How closely the model still matches itself at full precision; at 100 % nothing is lost. It "
                 "is an estimate, based on the loss measured for experts at each precision and on how much "
                 "your conversation used each of them."));
  add_section(*text, tr("Adaptive and fixed"),
              tr("An adaptive mix follows the conversation; a fixed one of the same size always keeps the "
                 "same experts precise. The panel shows both as lines. Where the fixed one would keep more "
                 "quality, the panel says so, and you can switch with one click."));
  add_section(*text, tr("Looking inside"),
              tr("“Look inside the answers” in the menu shows, for each token, how likely it was, what else "
                 "could have stood there, and which experts worked on it; the arrow keys go from token to "
                 "token. The last 4,096 tokens written since Fovea was started are kept for this, in memory "
                 "only, at about two kilobytes each."));
  add_section(
      *text, tr("Context"),
      tr("What the model can see of the conversation at once, counted in tokens. A longer context takes more "
         "memory. When it is full, start a new chat, or let the oldest messages be left out."));
  add_section(
      *text, tr("Where things are kept"),
      tr("Models, conversations and settings stay on this computer. Fovea goes online only to find and "
         "download models, and not at all when you work offline."));
  text->addStretch(1);
  column->setMaximumWidth(widest_text);
  auto* row = new QHBoxLayout(page);
  row->setContentsMargins(0, space::usual, 0, space::usual);
  row->addWidget(column, 1);
  row->addStretch();
  area_ = new PageArea(page, this);
  area_->setFocusPolicy(Qt::StrongFocus);
  area_->setAccessibleName(windowTitle());
  content().addWidget(area_, 1);
}

// The arrow keys scroll.
void ConceptsPage::focusInEvent(QFocusEvent* event) {
  area_->setFocus(event->reason());
}

}  // namespace fovea::ui
