#include "ui/models/library_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/language/number_text.h"
#include "ui/models/library_table.h"
#include "ui/models/message_line.h"
#include "ui/models/model_details.h"
#include "ui/models/table_look.h"
#include "ui/theme/style.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {

LibraryPage::LibraryPage(QWidget* parent) : QWidget(parent) {
  table_ = new LibraryTable(this);
  proxy_ = new QSortFilterProxyModel(this);
  proxy_->setSourceModel(table_);
  proxy_->setSortRole(LibraryTable::sort_role);
  proxy_->setSortCaseSensitivity(Qt::CaseInsensitive);
  proxy_->setFilterRole(LibraryTable::filter_role);
  proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  proxy_->setDynamicSortFilter(true);

  // Made in the order in which Tab goes through them.
  QWidget* tools = make_tools();
  auto* splitter = new QSplitter(this);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(make_table());
  details_ = new ModelDetails(splitter);
  splitter->addWidget(details_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  QWidget* work = make_work();
  message_ = new MessageLine(this);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(tools);
  layout->addWidget(splitter, 1);
  layout->addWidget(work);
  layout->addWidget(message_);

  const auto forward = [this](auto from, auto to) {
    connect(details_, from, this, [this, to] { Q_EMIT(this->*to)(details_->model().path); });
  };
  forward(&ModelDetails::openRequested, &LibraryPage::openRequested);
  forward(&ModelDetails::prepareRequested, &LibraryPage::prepareRequested);
  forward(&ModelDetails::checkRequested, &LibraryPage::checkRequested);
  forward(&ModelDetails::showInFolderRequested, &LibraryPage::showInFolderRequested);
  connect(details_, &ModelDetails::removeRequested, this, &LibraryPage::ask_remove);
  update_empty();
}

QWidget* LibraryPage::make_tools() {
  auto* tools = new QWidget(this);
  auto* layout = new QHBoxLayout(tools);
  layout->setContentsMargins(0, 0, 0, 0);
  filter_ = new QLineEdit(tools);
  filter_->setObjectName(QStringLiteral("libraryFilter"));
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setAccessibleName(tr("Filter"));
  filter_->setClearButtonEnabled(true);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    proxy_->setFilterFixedString(text);
    show_selected();
    update_empty();
  });
  looking_label_ = new QLabel(tr("Looking…"), tools);
  looking_label_->setForegroundRole(QPalette::PlaceholderText);
  looking_label_->hide();
  folder_button_ = new QToolButton(tools);
  folder_button_->setObjectName(QStringLiteral("folders"));
  folder_button_->setText(tr("Folders"));
  folder_button_->setToolTip(tr("Where Fovea looks for models"));
  folder_button_->setPopupMode(QToolButton::InstantPopup);
  folder_menu_ = new QMenu(folder_button_);
  folder_menu_->setObjectName(QStringLiteral("folderMenu"));
  folder_menu_->setToolTipsVisible(true);
  folder_button_->setMenu(folder_menu_);
  connect(folder_menu_, &QMenu::aboutToShow, this, &LibraryPage::fill_folders);
  auto* refresh = new QToolButton(tools);
  refresh->setObjectName(QStringLiteral("refresh"));
  refresh->setText(tr("Look again"));
  refresh->setShortcut(QKeySequence::Refresh);
  refresh->setToolTip(tr("Read the folders again (%1)")
                          .arg(QKeySequence(QKeySequence::Refresh).toString(QKeySequence::NativeText)));
  connect(refresh, &QToolButton::clicked, this, &LibraryPage::refreshRequested);
  layout->addWidget(filter_, 1);
  layout->addWidget(looking_label_);
  layout->addWidget(folder_button_);
  layout->addWidget(refresh);
  return tools;
}

QWidget* LibraryPage::make_table() {
  stack_ = new QStackedWidget(this);
  view_ = new QTableView(stack_);
  view_->setObjectName(QStringLiteral("libraryTable"));
  view_->setAccessibleName(tr("Models on this computer"));
  view_->setModel(proxy_);
  apply_card_look(*view_);
  // The rest stands at the right, of the one that is chosen.
  for (const int column : {LibraryTable::quantization, LibraryTable::experts, LibraryTable::context})
    view_->setColumnHidden(column, true);
  view_->setSortingEnabled(true);
  view_->sortByColumn(LibraryTable::name, Qt::AscendingOrder);
  const int character = view_->fontMetrics().averageCharWidth();
  QHeaderView* header = view_->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::Interactive);
  header->setMinimumSectionSize(character * 6);
  const int widths[] = {28, 38, 12, 15, 12, 12};
  for (int column = 0; column < LibraryTable::columns; ++column)
    header->resizeSection(column, character * widths[column]);
  header->resizeSection(LibraryTable::size, size_column_width(*view_) + 2 * space::usual);
  give_rest_to(*view_, LibraryTable::name, character * widths[LibraryTable::name]);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &LibraryPage::show_selected);
  connect(view_, &QTableView::activated, this, [this] {
    if (details_->model().can_open) Q_EMIT openRequested(details_->model().path);
  });
  connect(table_, &QAbstractItemModel::dataChanged, this, &LibraryPage::show_selected);
  connect(table_, &QAbstractItemModel::rowsRemoved, this, &LibraryPage::show_selected);
  stack_->addWidget(view_);
  stack_->addWidget(make_empty());
  return stack_;
}

QWidget* LibraryPage::make_empty() {
  auto* page = new QWidget(stack_);
  // The table takes its place, beside the chosen model, and needs less.
  page->setMinimumWidth(fontMetrics().averageCharWidth() * 40);
  auto* layout = new QVBoxLayout(page);
  empty_ = new QLabel(page);
  empty_->setObjectName(QStringLiteral("libraryEmpty"));
  empty_->setWordWrap(true);
  empty_->setTextFormat(Qt::PlainText);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  auto* find = new QPushButton(tr("Find a model to download"), page);
  find->setObjectName(QStringLiteral("findModel"));
  auto* add = new QPushButton(tr("Add a folder with models…"), page);
  make_main(*find);
  connect(find, &QPushButton::clicked, this, &LibraryPage::downloadsRequested);
  connect(add, &QPushButton::clicked, this, &LibraryPage::add_folder);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(find);
  buttons->addWidget(add);
  buttons->addStretch(1);
  layout->addStretch(1);
  layout->addWidget(new MarkLabel(52, {}, page));
  layout->addSpacing(space::tight);
  layout->addWidget(empty_);
  layout->addSpacing(fontMetrics().height() / 2);
  layout->addLayout(buttons);
  layout->addStretch(1);
  return page;
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

void LibraryPage::set_models(const std::vector<LibraryRow>& rows) {
  table_->set_rows(rows);
  if (selected().isEmpty() && proxy_->rowCount() > 0) view_->selectRow(0);
  show_selected();
  update_empty();
}

void LibraryPage::set_model(const LibraryRow& row) {
  table_->set_row(row);
}

void LibraryPage::set_folders(const std::vector<FolderView>& folders) {
  folders_ = folders;
}

void LibraryPage::set_looking(bool looking) {
  looking_ = looking;
  looking_label_->setVisible(looking);
  update_empty();
}

void LibraryPage::select(const QString& path) {
  const int row = table_->index_of(path);
  if (row < 0) return;
  const QModelIndex index = proxy_->mapFromSource(table_->index(row, 0));
  if (!index.isValid()) return;
  view_->setCurrentIndex(index);
  view_->scrollTo(index);
}

QString LibraryPage::selected() const {
  const QModelIndex index = view_->currentIndex();
  return index.isValid() ? table_->row(proxy_->mapToSource(index).row()).path : QString();
}

void LibraryPage::show_selected() {
  const QModelIndex index = view_->currentIndex();
  if (index.isValid()) {
    details_->show_model(table_->row(proxy_->mapToSource(index).row()));
  } else {
    details_->show_nothing(table_->rowCount() > 0 ? tr("Choose a model on the left.") : QString());
  }
}

void LibraryPage::update_empty() {
  const bool nothing = proxy_->rowCount() == 0;
  stack_->setCurrentIndex(nothing ? 1 : 0);
  details_->setVisible(!nothing);
  if (!nothing) return;
  empty_->setText(looking_ ? tr("Looking for models…")
                  : table_->rowCount() == 0
                      ? tr("There are no models on this computer yet.")
                      : tr("No model has “%1” in its name or among its details.").arg(filter_->text()));
}

void LibraryPage::show_work(const QString& text, qint64 done, qint64 total) {
  work_->setVisible(!text.isEmpty());
  details_->set_busy(!text.isEmpty());
  if (text.isEmpty()) return;
  work_text_->setText(text);
  work_bar_->setRange(0, total > 0 ? 1000 : 0);
  if (total > 0)
    work_bar_->setValue(static_cast<int>(1000 * (static_cast<double>(done) / static_cast<double>(total))));
}

void LibraryPage::show_notice(const QString& text) {
  message_->show_notice(text);
}

void LibraryPage::show_error(const QString& text) {
  message_->show_error(text);
}

void LibraryPage::fill_folders() {
  folder_menu_->clear();
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

void LibraryPage::ask_remove() {
  const LibraryRow row = details_->model();
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
