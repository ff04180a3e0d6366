#include "ui/models/library_card.h"

#include <QAction>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <utility>

#include "ui/language/number_text.h"
#include "ui/models/model_details.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {

LibraryCard::LibraryCard(QWidget* parent) : ModelCard(parent), details_(new ModelDetails(this)) {
  setObjectName(QStringLiteral("libraryCard"));
  setFocusPolicy(Qt::StrongFocus);
  action().setObjectName(QStringLiteral("openModel"));
  connect(&action(), &QPushButton::clicked, this, &LibraryCard::openRequested);
  auto* more = icon_button(Glyph::more, tr("More about this model"), this);
  more->setObjectName(QStringLiteral("modelMore"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  menu->setToolTipsVisible(true);
  const auto add = [menu](const char* name, const QString& text, const QString& why) {
    QAction* action = menu->addAction(text);
    action->setObjectName(QLatin1String(name));
    action->setToolTip(why);
    return action;
  };
  details_action_ = add("detailsModel", tr("De&tails"), tr("What is known of it (Space on its card)"));
  details_action_->setCheckable(true);
  menu->addSeparator();
  prepare_ = add("prepareModel", tr("&Prepare…"),
                 tr("Write its experts at several precisions to the disk, so that they can change during a "
                    "conversation"));
  check_ = add("checkModel", tr("&Check"), tr("Read all its files and compare their checksums"));
  folder_ = add("showModel", tr("Show in &folder"), tr("Open the folder in the file manager"));
  menu->addSeparator();
  remove_ = add("removeModel", tr("&Delete…"), {});
  more->setMenu(menu);
  connect(details_action_, &QAction::triggered, this, &LibraryCard::toggle_details);
  connect(prepare_, &QAction::triggered, this, &LibraryCard::prepareRequested);
  connect(check_, &QAction::triggered, this, &LibraryCard::checkRequested);
  connect(folder_, &QAction::triggered, this, &LibraryCard::showInFolderRequested);
  connect(remove_, &QAction::triggered, this, &LibraryCard::removeRequested);
  add_tool(*more);
  add_below(*details_);
  details_->hide();
}

void LibraryCard::show_model(const LibraryRow& row) {
  row_ = row;
  Words words{.name = row.name, .size = bytes_text(row.bytes)};
  if (!row.error.isEmpty()) {
    words.fit_text = tr("Cannot be opened");
    words.fit_why = row.error;
  } else if (row.fit == FitView::unknown) {
    words.fit_text = row.is_read ? tr("Not known") : tr("Checking…");
  } else {
    words.fit = row.fit;
    words.fit_text = row.fit_text;
    words.fit_why = row.fit_why;
    words.needs = row.fit_number;
  }
  if (row.is_read && row.error.isEmpty())
    words.about = row.experts == 0 ? tr("Each token uses all of it")
                                   : tr("%1 experts in %n layer(s), %2 for each token", nullptr, row.layers)
                                         .arg(row.experts)
                                         .arg(row.experts_used);
  set_words(words);
  const QString why = row.error.isEmpty() ? row.fit_why : row.error;
  setAccessibleDescription((why.isEmpty() ? QString() : why + QLatin1Char(' ')) +
                           tr("Enter opens it, Space shows what is known of it."));
  details_->show_model(row);
  update_actions();
}

bool LibraryCard::has(const QString& text) const {
  for (const QString& words : {row_.name, row_.architecture, row_.quantization})
    if (words.contains(text, Qt::CaseInsensitive)) return true;
  return false;
}

void LibraryCard::set_busy(bool busy) {
  busy_ = busy;
  update_actions();
}

void LibraryCard::update_actions() {
  const bool usable = row_.is_read && row_.error.isEmpty();
  action().setEnabled(row_.can_open);
  set_act(row_.is_open ? Act::is_open : Act::open);
  action().setToolTip(row_.fit == FitView::does_not_fit ? row_.fit_why : tr("Chat with it"));
  prepare_->setEnabled(usable && !busy_);
  check_->setEnabled(row_.is_read && !busy_);
  remove_->setEnabled(row_.is_read && !busy_ && !row_.is_open);
  remove_->setToolTip(row_.is_open ? tr("Already open: open another model first")
                                   : tr("Move its files to the trash"));
}

void LibraryCard::set_details(bool shown) {
  details_->setVisible(shown);
  details_action_->setChecked(shown);
}

bool LibraryCard::shows_details() const {
  return !details_->isHidden();
}

void LibraryCard::toggle_details() {
  set_details(!shows_details());
  Q_EMIT detailsShown(shows_details());
}

void LibraryCard::keyPressEvent(QKeyEvent* event) {
  if (!hasFocus()) return ModelCard::keyPressEvent(event);  // a button's that has no use for it
  if (event->key() == Qt::Key_Space) return toggle_details();
  if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return ModelCard::keyPressEvent(event);
  if (row_.can_open) Q_EMIT openRequested();
}

void LibraryCard::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->button() == Qt::LeftButton;
}

void LibraryCard::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !std::exchange(pressed_, false)) return;
  if (rect().contains(event->pos())) toggle_details();
}

void LibraryCard::paintEvent(QPaintEvent* event) {
  ModelCard::paintEvent(event);
  if (!shows_focus(*this)) return;
  QPainter painter(this);
  style_paint::rounded(painter, rect(), radius::card, {}, tones(palette()).accent, focus_width);
}

}  // namespace fovea::ui
