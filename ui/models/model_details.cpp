#include "ui/models/model_details.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/language/number_text.h"
#include "ui/models/fit_style.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {
namespace {

QLabel* selectable_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);  // names come from files
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  label->setMinimumWidth(label->fontMetrics().averageCharWidth() * 12);
  return label;
}

}  // namespace

ModelDetails::ModelDetails(QWidget* parent) : QWidget(parent) {
  setMinimumWidth(fontMetrics().averageCharWidth() * 38);
  scroll_ = new QScrollArea(this);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setAccessibleName(tr("About the model"));
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->viewport()->setAutoFillBackground(false);
  auto* page = new QWidget(scroll_);
  page->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(page);
  const int gap = fontMetrics().height() / 2;
  layout->setContentsMargins(gap, 0, gap, 0);
  layout->setSpacing(gap);

  name_ = selectable_label(page);
  name_->setObjectName(QStringLiteral("detailName"));
  set_type(*name_, Type::text, true);
  path_ = selectable_label(page);
  path_->setForegroundRole(QPalette::PlaceholderText);
  fit_ = selectable_label(page);
  fit_->setObjectName(QStringLiteral("detailFit"));
  QFont bold = fit_->font();
  bold.setBold(true);
  fit_->setFont(bold);
  why_ = selectable_label(page);
  why_->setObjectName(QStringLiteral("detailWhy"));
  auto* facts = new QGridLayout;
  facts->setContentsMargins(0, gap, 0, 0);
  facts->setHorizontalSpacing(gap * 2);
  facts->setColumnStretch(1, 1);
  facts_ = facts;
  parameters_ = add_fact(tr("Parameters"), tr("How many weights it has, and how many of them a token uses"));
  experts_ = add_fact(tr("Experts"), tr("Experts used by each token, out of those in each layer"));
  context_ = add_fact(tr("Context"), tr("The longest conversation that it was trained for"));
  size_ = add_fact(tr("Size"), tr("Of its files on the disk"));
  more_ = new QWidget(page);
  auto* details = new QGridLayout(more_);
  details->setContentsMargins(0, 0, 0, 0);
  details->setHorizontalSpacing(gap * 2);
  details->setColumnStretch(1, 1);
  facts_ = details;
  architecture_ = add_fact(tr("Architecture"), tr("The family of models whose design this one has"));
  format_ = add_fact(tr("Format"), tr("The formats in which most of its weights are stored"));
  stores_ = add_fact(
      tr("Prepared"),
      tr("Files with its experts at several precisions, so that they can change during a conversation"));
  details->addWidget(path_, details->rowCount(), 0, 1, 2);
  more_->hide();
  auto* more = new QToolButton(page);
  more->setObjectName(QStringLiteral("modelMore"));
  more->setText(tr("Details"));
  more->setAutoRaise(true);
  more->setCheckable(true);
  more->setFocusPolicy(Qt::StrongFocus);
  more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  more->setIcon(icon_of(Glyph::next));
  connect(more, &QToolButton::toggled, more_, [this, more](bool shown) {
    more_->setVisible(shown);
    more->setIcon(icon_of(shown ? Glyph::open : Glyph::next));
  });
  layout->addWidget(name_);
  layout->addWidget(fit_);
  layout->addWidget(why_);
  layout->addLayout(facts);
  layout->addWidget(more, 0, Qt::AlignLeft);
  layout->addWidget(more_);
  layout->addStretch(1);
  scroll_->setWidget(page);

  nothing_ = selectable_label(this);
  nothing_->setAlignment(Qt::AlignCenter);
  nothing_->setForegroundRole(QPalette::PlaceholderText);

  const auto button = [this](const char* name, const QString& text, const QString& why, auto signal) {
    auto* made = new QPushButton(text, this);
    made->setObjectName(QLatin1String(name));
    made->setToolTip(why);
    made->setAutoDefault(false);
    connect(made, &QPushButton::clicked, this, signal);
    return made;
  };
  open_ = button("openModel", tr("&Open"), tr("Chat with it"), &ModelDetails::openRequested);
  make_main(*open_);
  prepare_ = button("prepareModel", tr("&Prepare…"),
                    tr("Write its experts at several precisions to the disk, so that they can change during "
                       "a conversation"),
                    &ModelDetails::prepareRequested);
  check_ = button("checkModel", tr("&Check"), tr("Read all its files and compare their checksums"),
                  &ModelDetails::checkRequested);
  folder_ = button("showModel", tr("Show in &folder"), tr("Open the folder in the file manager"),
                   &ModelDetails::showInFolderRequested);
  remove_ = button("removeModel", tr("&Delete…"), tr("Move its files to the trash"),
                   &ModelDetails::removeRequested);
  auto* buttons = new QGridLayout;
  buttons->setContentsMargins(gap, 0, gap, 0);
  buttons->addWidget(open_, 0, 0, 1, 2);
  buttons->addWidget(prepare_, 1, 0);
  buttons->addWidget(check_, 1, 1);
  buttons->addWidget(folder_, 2, 0);
  buttons->addWidget(remove_, 2, 1);

  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(nothing_, 1);
  outer->addWidget(scroll_, 1);
  outer->addLayout(buttons);
  show_nothing({});
}

QLabel* ModelDetails::add_fact(const QString& name, const QString& why) {
  auto* title = new QLabel(name, this);
  title->setForegroundRole(QPalette::PlaceholderText);
  title->setToolTip(why);
  auto* value = selectable_label(this);
  value->setAccessibleName(name);
  const int row = facts_->rowCount();
  facts_->addWidget(title, row, 0, Qt::AlignTop);
  facts_->addWidget(value, row, 1);
  titles_[value] = title;
  return value;
}

void ModelDetails::set_fact(QLabel* value, const QString& text) {
  value->setText(text);
  value->setVisible(!text.isEmpty());
  titles_[value]->setVisible(!text.isEmpty());
}

void ModelDetails::show_nothing(const QString& why) {
  row_ = {};
  nothing_->setText(why);
  nothing_->show();
  scroll_->hide();
  for (QPushButton* button : {open_, prepare_, check_, folder_, remove_}) button->hide();
}

void ModelDetails::show_model(const LibraryRow& row) {
  row_ = row;
  nothing_->hide();
  scroll_->show();
  for (QPushButton* button : {open_, prepare_, check_, folder_, remove_}) button->show();
  name_->setText(breakable(row.name));
  path_->setText(breakable(row.path));
  path_->setToolTip(row.path);
  if (!row.error.isEmpty()) {
    fit_->setText(tr("Cannot be opened"));
    why_->setText(row.error);
    tint(*fit_, QPalette::WindowText, error_text);
  } else if (row.fit == FitView::unknown) {
    fit_->setText(row.is_read ? tr("Fit not known") : tr("Looking at it…"));
    why_->clear();
    tint(*fit_, QPalette::WindowText, {});
  } else {
    fit_->setText(QStringLiteral("%1  %2: %3").arg(fit_mark(row.fit), row.fit_text, row.fit_number));
    why_->setText(row.fit_why);
    tint(*fit_, QPalette::WindowText,
         [fit = row.fit](const QPalette& palette) { return fit_colour(fit, palette); });
  }
  why_->setVisible(!why_->text().isEmpty());
  show_facts();
  update_buttons();
}

void ModelDetails::show_facts() {
  const LibraryRow& row = row_;
  const bool known = row.is_read && row.error.isEmpty();
  set_fact(architecture_,
           known ? tr("%1, %n layer(s)", nullptr, row.layers).arg(row.architecture) : QString());
  QString parameters;
  if (known) {
    parameters = row.experts > 0
                     ? tr("%1, %2 for each token")
                           .arg(parameters_text(row.parameters), parameters_text(row.parameters_active))
                     : parameters_text(row.parameters);
  }
  set_fact(parameters_, parameters);
  set_fact(format_, known ? tr("%1 (%2)").arg(row.quantization, row.format) : QString());
  QString experts;
  if (known)
    experts = row.experts > 0 ? tr("%1 of %2 for each token").arg(row.experts_used).arg(row.experts)
                              : tr("none: all weights are used for each token");
  set_fact(experts_, experts);
  set_fact(context_, known ? tr("%1 tokens").arg(count_text(row.context)) : QString());
  set_fact(size_, bytes_text(row.bytes));
  set_fact(stores_, !known                 ? QString()
                    : row.stores.isEmpty() ? tr("not yet; opening it with a budget prepares it")
                                           : row.stores.join(QLatin1Char('\n')));
}

void ModelDetails::set_busy(bool busy) {
  busy_ = busy;
  update_buttons();
}

void ModelDetails::update_buttons() {
  const bool usable = row_.is_read && row_.error.isEmpty();
  open_->setEnabled(row_.can_open);
  open_->setText(row_.is_open ? tr("Already open") : tr("&Open"));
  open_->setToolTip(row_.fit == FitView::does_not_fit ? row_.fit_why : tr("Chat with it"));
  prepare_->setEnabled(usable && !busy_);
  check_->setEnabled(row_.is_read && !busy_);
  remove_->setEnabled(row_.is_read && !busy_ && !row_.is_open);
  remove_->setToolTip(row_.is_open ? tr("Already open: open another model first")
                                   : tr("Move its files to the trash"));
}

}  // namespace fovea::ui
