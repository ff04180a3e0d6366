#include "ui/models/catalogue_list.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/model_card.h"
#include "ui/theme/style.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

class CatalogueCard : public ModelCard {
 public:
  CatalogueCard(const CatalogueRow& row, CatalogueList* list) : ModelCard(list), row_(row) {
    setObjectName(QStringLiteral("catalogueCard"));
    set_words({.name = row.name,
               .about = row.good_at,
               .size = row.size,
               .fit = row.fit,
               .fit_text = row.fit_text,
               .fit_why = row.fit_why,
               .needs = row.needs});
    action().setObjectName(QStringLiteral("catalogueAction"));
    set_act(row.path.isEmpty() ? Act::download : Act::open);
    connect(&action(), &QPushButton::clicked, list, [list, row] {
      row.path.isEmpty() ? Q_EMIT list->downloadRequested(row.id) : Q_EMIT list->openRequested(row.path);
    });
  }

  const CatalogueRow& row() const { return row_; }
  void set_offline(bool offline) { action().setEnabled(!row_.path.isEmpty() || !offline); }
  bool has(const QString& text) const {
    return row_.name.contains(text, Qt::CaseInsensitive) || row_.good_at.contains(text, Qt::CaseInsensitive);
  }

 private:
  CatalogueRow row_;
};

CatalogueList::CatalogueList(QWidget* parent) : QWidget(parent), layout_(new QVBoxLayout(this)) {
  setAccessibleName(tr("Models to download, those that fit first"));
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(space::tight);
  fitting_ = card_heading(tr("Good for this computer"), this);
  fitting_->hide();
  fitting_->setObjectName(QStringLiteral("catalogueFitting"));
  too_large_ = card_heading(tr("Too large for the memory that is free now"), this);
  too_large_->hide();
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
    const bool fits = card->row().fit != FitView::does_not_fit;
    card->setVisible(is_shown);
    make_main(card->action(), is_main_ && is_shown && fits && !some_fit);
    if (is_shown) (fits ? some_fit : some_do_not) = true;
  }
  fitting_->setVisible(some_fit);
  too_large_->setVisible(some_do_not);
}

void CatalogueList::set_offline(bool offline) {
  offline_ = offline;
  for (CatalogueCard* card : cards_) card->set_offline(offline);
}

void CatalogueList::set_main(bool is_main) {
  is_main_ = is_main;
  filter();
}

int CatalogueList::shown_count() const {
  return static_cast<int>(
      std::ranges::count_if(cards_, [](const CatalogueCard* card) { return !card->isHidden(); }));
}

}  // namespace fovea::ui
