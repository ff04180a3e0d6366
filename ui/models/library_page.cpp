#include "ui/models/library_page.h"

#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>

#include "ui/language/number_text.h"
#include "ui/models/library_card.h"
#include "ui/models/message_line.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {

LibraryPage::LibraryPage(QWidget* parent) : QWidget(parent), list_(new QVBoxLayout) {
  // Made in the order in which Tab goes through them.
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::tight);
  layout->addWidget(make_head());
  list_->setSpacing(space::tight);
  layout->addLayout(list_);
  layout->addWidget(make_empty());
  layout->addWidget(make_work());
  message_ = new MessageLine(this);
  layout->addWidget(message_);
  show_filtered();
}

QWidget* LibraryPage::make_head() {
  auto* head = new QWidget(this);
  auto* layout = new QHBoxLayout(head);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_heading(tr("On this computer"), head));
  layout->addStretch(1);
  looking_label_ = new QLabel(tr("Looking…"), head);
  looking_label_->setForegroundRole(QPalette::PlaceholderText);
  looking_label_->hide();
  auto* folders = icon_button(Glyph::more, tr("Where Fovea looks for models"), head);
  folders->setObjectName(QStringLiteral("folders"));
  folders->setPopupMode(QToolButton::InstantPopup);
  folder_menu_ = new QMenu(folders);
  folder_menu_->setObjectName(QStringLiteral("folderMenu"));
  folder_menu_->setToolTipsVisible(true);
  folders->setMenu(folder_menu_);
  connect(folder_menu_, &QMenu::aboutToShow, this, &LibraryPage::fill_folders);
  auto* refresh = new QAction(tr("&Look again"), this);
  refresh->setObjectName(QStringLiteral("refresh"));
  refresh->setShortcut(QKeySequence::Refresh);
  refresh->setShortcutContext(Qt::WindowShortcut);
  connect(refresh, &QAction::triggered, this, &LibraryPage::refreshRequested);
  addAction(refresh);
  layout->addWidget(looking_label_);
  layout->addWidget(folders);
  return head;
}

QWidget* LibraryPage::make_empty() {
  empty_box_ = new QWidget(this);
  auto* layout = new QHBoxLayout(empty_box_);
  layout->setContentsMargins(0, space::tight, 0, space::tight);
  empty_ = new QLabel(empty_box_);
  empty_->setObjectName(QStringLiteral("libraryEmpty"));
  empty_->setWordWrap(true);
  empty_->setTextFormat(Qt::PlainText);
  empty_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  auto* add = new QPushButton(tr("Add a folder with models…"), empty_box_);
  add->setObjectName(QStringLiteral("addFolder"));
  add->setAutoDefault(false);
  connect(add, &QPushButton::clicked, this, &LibraryPage::add_folder);
  layout->addWidget(empty_, 1);
  layout->addWidget(add);
  return empty_box_;
}

QWidget* LibraryPage::make_work() {
  work_ = new QWidget(this);
  auto* layout = new QHBoxLayout(work_);
  layout->setContentsMargins(0, 0, 0, 0);
  work_text_ = new QLabel(work_);
  work_text_->setObjectName(QStringLiteral("workText"));
  work_text_->setTextFormat(Qt::PlainText);
  work_text_->setMinimumWidth(1);  // a long name is cut off
  work_bar_ = new QProgressBar(work_);
  work_bar_->setTextVisible(false);
  work_bar_->setAccessibleName(tr("Progress"));
  work_bar_->setMaximumHeight(fontMetrics().height() / 2);
  auto* cancel = new QPushButton(tr("Cancel"), work_);
  cancel->setObjectName(QStringLiteral("cancelWork"));
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &LibraryPage::cancelWorkRequested);
  layout->addWidget(work_text_);
  layout->addWidget(work_bar_, 1);
  layout->addWidget(cancel);
  work_->hide();
  return work_;
}

LibraryCard* LibraryPage::make_card(const QString& path) {
  auto* made = new LibraryCard(this);
  made->set_busy(busy_);
  const auto forward = [this, made, path](auto from, auto to) {
    connect(made, from, this, [this, path, to] { Q_EMIT(this->*to)(path); });
  };
  forward(&LibraryCard::openRequested, &LibraryPage::openRequested);
  forward(&LibraryCard::prepareRequested, &LibraryPage::prepareRequested);
  forward(&LibraryCard::checkRequested, &LibraryPage::checkRequested);
  forward(&LibraryCard::showInFolderRequested, &LibraryPage::showInFolderRequested);
  connect(made, &LibraryCard::removeRequested, this, [this, made] { ask_remove(made->model()); });
  connect(made, &LibraryCard::detailsShown, this, [this, path](bool shown) {
    if (shown) select(path);
  });
  return made;
}

void LibraryPage::set_models(const std::vector<LibraryRow>& rows) {
  std::erase_if(cards_, [&rows](LibraryCard* each) {
    if (std::ranges::find(rows, each->model().path, &LibraryRow::path) != rows.end()) return false;
    each->hide();
    each->deleteLater();
    return true;
  });
  for (const LibraryRow& row : rows) {
    LibraryCard* known = card(row.path);
    if (!known) cards_.push_back(known = make_card(row.path));
    if (known->model() != row) known->show_model(row);
  }
  arrange();
}

void LibraryPage::set_model(const LibraryRow& row) {
  LibraryCard* const known = card(row.path);
  if (!known || known->model() == row) return;
  known->show_model(row);
  // While they are read one after the other, none jumps away from under the mouse.
  looking_ ? show_filtered() : arrange();
}

void LibraryPage::arrange() {
  const auto place = [](const LibraryCard* each) {
    const LibraryRow& row = each->model();
    const int fit = !row.error.isEmpty() ? 9 : row.fit == FitView::unknown ? 8 : static_cast<int>(row.fit);
    return std::tuple(!row.is_open, fit, row.name.toLower(), row.path);
  };
  std::ranges::stable_sort(cards_, {}, place);
  const QWidget* before = findChild<QToolButton*>(QStringLiteral("folders"));
  for (LibraryCard* each : cards_) {
    list_->removeWidget(each);
    list_->addWidget(each);
    for (QWidget* next :
         {static_cast<QWidget*>(each), static_cast<QWidget*>(&each->action()),
          static_cast<QWidget*>(each->findChild<QToolButton*>(QStringLiteral("modelMore")))}) {
      setTabOrder(const_cast<QWidget*>(before), next);
      before = next;
    }
  }
  show_filtered();
}

void LibraryPage::set_filter(const QString& text) {
  filter_ = text.trimmed();
  show_filtered();
}

// One button is filled: of the first model that can be opened.
void LibraryPage::show_filtered() {
  bool some = false, some_opens = false;
  for (LibraryCard* each : cards_) {
    const bool is_shown = filter_.isEmpty() || each->has(filter_);
    const bool opens = is_shown && each->model().can_open;
    each->setVisible(is_shown);
    make_main(each->action(), opens && !some_opens);
    some = some || is_shown;
    some_opens = some_opens || opens;
  }
  Q_EMIT mainShown(some_opens);
  empty_box_->setVisible(!some);
  empty_->setText(looking_         ? tr("Looking for models…")
                  : cards_.empty() ? tr("There are no models on this computer yet.")
                                   : tr("No model here matches “%1”.").arg(filter_));
}

void LibraryPage::set_folders(const std::vector<FolderView>& folders) {
  folders_ = folders;
}

void LibraryPage::set_looking(bool looking) {
  looking_ = looking;
  looking_label_->setVisible(looking);
  arrange();
}

LibraryCard* LibraryPage::card(const QString& path) const {
  const auto found =
      std::ranges::find_if(cards_, [&path](const LibraryCard* each) { return each->model().path == path; });
  return found == cards_.end() ? nullptr : *found;
}

void LibraryPage::select(const QString& path) {
  for (LibraryCard* each : cards_) each->set_details(each->model().path == path);
}

QString LibraryPage::selected() const {
  const auto found = std::ranges::find_if(cards_, &LibraryCard::shows_details);
  return found == cards_.end() ? QString() : (*found)->model().path;
}

void LibraryPage::show_work(const QString& text, qint64 done, qint64 total) {
  const bool begins = work_->isHidden() && !text.isEmpty();
  work_->setVisible(!text.isEmpty());
  if (begins) Q_EMIT told(work_);
  busy_ = !text.isEmpty();
  for (LibraryCard* each : cards_) each->set_busy(busy_);
  if (text.isEmpty()) return;
  work_text_->setText(text);
  work_bar_->setRange(0, total > 0 ? 1000 : 0);
  if (total > 0)
    work_bar_->setValue(static_cast<int>(1000 * (static_cast<double>(done) / static_cast<double>(total))));
}

void LibraryPage::show_notice(const QString& text) {
  message_->show_notice(text);
  Q_EMIT told(message_);
}

void LibraryPage::show_error(const QString& text, const QString& details) {
  message_->show_error(text, details);
  Q_EMIT told(message_);
}

void LibraryPage::fill_folders() {
  folder_menu_->clear();
  folder_menu_->addAction(findChild<QAction*>(QStringLiteral("refresh")));
  folder_menu_->addAction(tr("&Add a folder…"), this, &LibraryPage::add_folder);
  folder_menu_->addSection(tr("Fovea looks for models in"));
  for (const FolderView& folder : folders_) {
    QString label = folder.path;
    label.replace(QLatin1Char('&'), QLatin1String("&&"));
    if (folder.is_own) {
      folder_menu_->addAction(label)->setEnabled(false);
      continue;
    }
    QMenu* own = folder_menu_->addMenu(label);
    own->addAction(tr("&Show in the file manager"), this,
                   [this, path = folder.path] { Q_EMIT showInFolderRequested(path); });
    own->addAction(tr("Stop &looking here"), this,
                   [this, path = folder.path] { Q_EMIT removeFolderRequested(path); });
  }
}

void LibraryPage::add_folder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("A folder with models"));
  if (!folder.isEmpty()) Q_EMIT addFolderRequested(folder);
}

// The model may be gone before the question is answered.
void LibraryPage::ask_remove(LibraryRow row) {
  QString text = tr("Move %1 to the trash?").arg(row.name);
  QString more = tr("Its files take %1 on the disk; the space is freed when the trash is emptied.\n\n%2")
                     .arg(bytes_text(row.bytes), row.path);
  if (!row.stores.isEmpty())
    more +=
        QLatin1String("\n\n") + tr("What was prepared from it (%1) is deleted at once; it can be made again.")
                                    .arg(bytes_text(row.store_bytes));
  QMessageBox box(QMessageBox::Question, tr("Delete a model"), text, QMessageBox::Cancel, this);
  box.setInformativeText(more);
  box.setTextFormat(Qt::PlainText);
  QAbstractButton* yes = box.addButton(tr("Move to the trash"), QMessageBox::DestructiveRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (box.clickedButton() == yes) Q_EMIT removeRequested(row.path);
}

}  // namespace fovea::ui
