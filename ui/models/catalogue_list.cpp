#include "ui/models/catalogue_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/models/fit_style.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int action_width = 104;

QLabel* heading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  set_type(*label, Type::label, true);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setContentsMargins(0, space::close, 0, 0);
  label->hide();
  return label;
}

// One line, cut off where it must be.
class Line : public QLabel {
 public:
  using QLabel::QLabel;

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(rect(), static_cast<int>(alignment()),
                     fontMetrics().elidedText(text(), Qt::ElideRight, width()));
  }
};

QLabel* line(const QString& text, QWidget* parent) {
  auto* label = new Line(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setToolTip(text);
  label->setMinimumWidth(1);
  return label;
}

}  // namespace

class CatalogueCard : public Card {
 public:
  CatalogueCard(const CatalogueRow& row, CatalogueList* list) : Card(radius::card, list), row_(row) {
    setObjectName(QStringLiteral("catalogueCard"));
    setAccessibleName(QStringList{row.name, row.good_at, row.size, row.fit_text}.join(QStringLiteral(", ")));
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(space::usual, space::tight, space::usual, space::tight);
    grid->setHorizontalSpacing(space::usual);
    grid->setVerticalSpacing(2);
    QLabel* name = line(row.name, this);
    QFont strong = name->font();
    strong.setWeight(QFont::DemiBold);
    name->setFont(strong);
    QLabel* about = line(row.good_at, this);
    about->setForegroundRole(QPalette::PlaceholderText);
    set_type(*about, Type::label);
    QLabel* size = line(row.size, this);
    const QFontMetrics metrics = fontMetrics();
    size->setFixedWidth(metrics.averageCharWidth() * 14);
    QLabel* mark = new QLabel(fit_mark(row.fit), this);
    tint(*mark, QPalette::WindowText,
         [kind = row.fit](const QPalette& palette) { return fit_colour(kind, palette); });
    QLabel* fit = line(row.fit_text, this);
    mark->setFixedWidth(metrics.averageCharWidth() * 2);
    fit->setFixedWidth(metrics.averageCharWidth() * 36);
    fit->setToolTip(row.fit_why);
    QLabel* needs = line(row.needs, this);
    needs->setForegroundRole(QPalette::PlaceholderText);
    set_type(*needs, Type::label);
    button_ =
        new QPushButton(row.path.isEmpty() ? CatalogueList::tr("Download") : CatalogueList::tr("Open"), this);
    button_->setObjectName(QStringLiteral("catalogueAction"));
    button_->setAccessibleName(QStringLiteral("%1: %2").arg(button_->text(), row.name));
    button_->setMinimumWidth(action_width);
    button_->setAutoDefault(false);
    grid->addWidget(name, 0, 0);
    grid->addWidget(about, 1, 0);
    grid->addWidget(size, 0, 1, 2, 1);
    grid->addWidget(mark, 0, 2);
    grid->addWidget(fit, 0, 3);
    grid->addWidget(needs, 1, 3);
    grid->addWidget(button_, 0, 4, 2, 1);
    grid->setColumnStretch(0, 1);
    connect(button_, &QPushButton::clicked, list, [list, row] {
      row.path.isEmpty() ? Q_EMIT list->downloadRequested(row.id) : Q_EMIT list->openRequested(row.path);
    });
  }

  const CatalogueRow& row() const { return row_; }
  void set_offline(bool offline) { button_->setEnabled(!row_.path.isEmpty() || !offline); }
  bool has(const QString& text) const {
    return row_.name.contains(text, Qt::CaseInsensitive) || row_.good_at.contains(text, Qt::CaseInsensitive);
  }

 private:
  CatalogueRow row_;
  QPushButton* button_;
};

CatalogueList::CatalogueList(QWidget* parent) : QWidget(parent), layout_(new QVBoxLayout(this)) {
  setAccessibleName(tr("Models to download, those that fit first"));
  layout_->setContentsMargins(0, 0, space::tight, 0);
  layout_->setSpacing(space::tight);
  fitting_ = heading(tr("Good for this computer"), this);
  fitting_->setObjectName(QStringLiteral("catalogueFitting"));
  too_large_ = heading(tr("Too large for the memory that is free now"), this);
  too_large_->setObjectName(QStringLiteral("catalogueTooLarge"));
}

void CatalogueList::set_rows(const std::vector<CatalogueRow>& rows) {
  if (rows == rows_) return;
  rows_ = rows;
  build();
}

void CatalogueList::build() {
  for (CatalogueCard* card : cards_) delete card;
  cards_.clear();
  while (QLayoutItem* item = layout_->takeAt(0)) delete item;
  layout_->addWidget(fitting_);
  bool fits = true;
  for (const CatalogueRow& row : rows_) {
    if (fits && row.fit == FitView::does_not_fit) {
      layout_->addWidget(too_large_);
      fits = false;
    }
    auto* card = new CatalogueCard(row, this);
    card->set_offline(offline_);
    layout_->addWidget(card);
    cards_.push_back(card);
  }
  layout_->addStretch(1);
  filter();
}

void CatalogueList::set_filter(const QString& text) {
  filter_ = text.trimmed();
  filter();
}

void CatalogueList::filter() {
  bool some_fit = false, some_do_not = false;
  for (CatalogueCard* card : cards_) {
    const bool is_shown = filter_.isEmpty() || card->has(filter_);
    card->setVisible(is_shown);
    if (is_shown) (card->row().fit == FitView::does_not_fit ? some_do_not : some_fit) = true;
  }
  fitting_->setVisible(some_fit);
  too_large_->setVisible(some_do_not);
}

void CatalogueList::set_offline(bool offline) {
  offline_ = offline;
  for (CatalogueCard* card : cards_) card->set_offline(offline);
}

int CatalogueList::shown_count() const {
  return static_cast<int>(
      std::ranges::count_if(cards_, [](const CatalogueCard* card) { return !card->isHidden(); }));
}

}  // namespace fovea::ui
