#include "ui/models/model_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <algorithm>

#include "ui/theme/fit.h"
#include "ui/theme/icons.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int action_width = 104;
// The button stands last: those of all cards end where the cards' own words begin, mirrored.
enum Column { name_column, size_column, mark_column, fit_column, tool_column, action_column, columns };

// One line, cut off where it must be.
class Line : public QLabel {
 public:
  Line(Qt::TextElideMode cut, QWidget* parent) : QLabel(parent), cut_(cut) {}

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(rect(), static_cast<int>(alignment()), fontMetrics().elidedText(text(), cut_, width()));
  }

 private:
  Qt::TextElideMode cut_;
};

QLabel* line(const char* name, QWidget* parent, Qt::TextElideMode cut = Qt::ElideRight) {
  auto* label = new Line(cut, parent);
  label->setObjectName(QLatin1String(name));
  label->setTextFormat(Qt::PlainText);
  label->setMinimumWidth(1);
  return label;
}

// Of the fit that stands behind it.
class FitMark : public QWidget {
 public:
  FitMark(const ModelCard::Words& words, QWidget* parent) : QWidget(parent), words_(words) {
    setFixedSize(icon_size, icon_size);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    if (const auto mark = fit_glyph(words_.fit))
      paint_icon(painter, *mark, rect(), fit_colour(words_.fit, palette()));
  }

 private:
  const ModelCard::Words& words_;
};

void quiet(QLabel& label) {
  label.setForegroundRole(QPalette::PlaceholderText);
  set_type(label, Type::label);
}

}  // namespace

ModelCard::ModelCard(QWidget* parent)
    : Card(radius::card, parent), grid_(new QGridLayout(this)), action_(new QPushButton(this)) {
  grid_->setContentsMargins(space::usual, space::tight, space::usual, space::tight);
  grid_->setHorizontalSpacing(space::usual);
  grid_->setVerticalSpacing(2);
  name_ = line("cardName", this, Qt::ElideMiddle);  // names differ at their ends
  QFont strong = name_->font();
  strong.setWeight(QFont::DemiBold);
  name_->setFont(strong);
  about_ = line("cardAbout", this);
  quiet(*about_);
  const int character = fontMetrics().averageCharWidth();
  size_ = line("cardSize", this);
  size_->setFixedWidth(character * 14);
  mark_ = new FitMark(words_, this);
  fit_ = line("cardFit", this);
  fit_->setFixedWidth(character * 34);
  needs_ = line("cardNeeds", this);
  quiet(*needs_);
  int width = action_width;
  for (const Act act : {Act::download, Act::open, Act::is_open}) {
    action_->setText(act_text(act));
    width = std::max(width, action_->sizeHint().width());
  }
  action_->setMinimumWidth(width);
  action_->setAutoDefault(false);
  grid_->addWidget(action_, 0, action_column, 2, 1);
  grid_->setColumnStretch(name_column, 1);
  // Also where there is no tool: the columns of all cards stand below each other.
  auto* place = new QWidget(this);
  place->setFixedWidth(control_height);
  grid_->addWidget(place, 0, tool_column, 2, 1);
  set_words({});
}

void ModelCard::set_words(const Words& words) {
  words_ = words;
  const auto show = [](QLabel* label, const QString& text) {
    label->setText(text);
    label->setToolTip(text);
    label->setVisible(!text.isEmpty());
  };
  show(name_, words.name);
  show(about_, words.about);
  show(size_, words.size);
  show(fit_, words.fit_text);
  show(needs_, words.needs);
  place(name_, about_, name_column, 2);
  place(fit_, needs_, fit_column, 1);
  grid_->addWidget(size_, 0, size_column, words.about.isEmpty() ? 2 : 1, 1);
  grid_->addWidget(mark_, 0, mark_column, words.needs.isEmpty() ? 2 : 1, 1);
  mark_->update();
  if (!words.fit_why.isEmpty()) fit_->setToolTip(words.fit_why);
  QStringList all{words.name, words.about, words.size, words.fit_text, words.needs};
  all.removeAll(QString());
  setAccessibleName(all.join(QStringLiteral(", ")));
}

QString ModelCard::act_text(Act act) {
  switch (act) {
    case Act::download:
      return tr("Download");
    case Act::open:
      return tr("Open");
    case Act::is_open:
      break;
  }
  return tr("Already open");
}

void ModelCard::set_act(Act act) {
  action_->setText(act_text(act));
  action_->setAccessibleName(QStringLiteral("%1: %2").arg(act_text(act), words_.name));
}

// One line stands in the middle; the second may be `columns` wide.
void ModelCard::place(QLabel* above, QLabel* below, int column, int columns) {
  grid_->addWidget(above, 0, column, below->text().isEmpty() ? 2 : 1, 1);
  grid_->addWidget(below, 1, column, 1, columns);
}

void ModelCard::add_tool(QWidget& tool) {
  tool.setFixedWidth(control_height);
  grid_->addWidget(&tool, 0, tool_column, 2, 1);
}

void ModelCard::add_below(QWidget& widget) {
  grid_->addWidget(&widget, 2, 0, 1, columns);
}

QLabel* card_heading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  set_type(*label, Type::label, true);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setContentsMargins(0, space::close, 0, 0);
  return label;
}

}  // namespace fovea::ui
