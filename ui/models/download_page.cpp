#include "ui/models/download_page.h"

#include <QAction>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/catalogue_list.h"
#include "ui/models/download_list.h"
#include "ui/models/model_text.h"
#include "ui/models/hub_tables.h"
#include "ui/models/message_line.h"
#include "ui/models/model_card.h"
#include "ui/models/table_look.h"
#include "ui/theme/icons.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

// Words of any length, from the hub.
QLabel* text_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

QLabel* quiet_label(QWidget* parent) {
  QLabel* label = text_label(parent);
  label->setMargin(label->fontMetrics().height());
  label->setAlignment(Qt::AlignCenter);
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

}  // namespace

DownloadPage::DownloadPage(QWidget* parent) : QWidget(parent), hub_(QStringLiteral("huggingface.co")) {
  repository_table_ = new RepositoryTable(this);
  version_table_ = new VersionTable(this);
  // Made in the order in which Tab goes through them.
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(search_box_ = make_search());
  layout->addWidget(make_offline());
  layout->addWidget(make_token());
  message_ = new MessageLine(this);
  layout->addWidget(message_);
  layout->addWidget(make_downloads());
  layout->addWidget(make_catalogue());
  auto* results = new QSplitter(Qt::Horizontal, this);
  results->setObjectName(QStringLiteral("hubResults"));
  results->setChildrenCollapsible(false);
  results->addWidget(make_repositories());
  results->addWidget(make_versions());
  results->setStretchFactor(0, 1);
  results->setStretchFactor(1, 1);
  results->setMinimumHeight(fontMetrics().height() * 22);
  results_ = results;
  layout->addWidget(results, 1);
  show_found({}, {});
  show_versions({}, {});
}

QWidget* DownloadPage::make_downloads() {
  downloads_box_ = new QWidget(this);
  auto* layout = new QVBoxLayout(downloads_box_);
  layout->setContentsMargins(0, 0, 0, 0);
  downloads_ = new DownloadList(downloads_box_);
  downloads_->setAccessibleName(tr("Downloads"));
  connect(downloads_, &DownloadList::countChanged, this, [this](int count) {
    downloads_box_->setVisible(count > 0);
    if (count > 0) Q_EMIT told(downloads_box_);
  });
  downloads_box_->hide();
  layout->addWidget(card_heading(tr("Downloads"), downloads_box_));
  layout->addWidget(downloads_);
  return downloads_box_;
}

QWidget* DownloadPage::make_search() {
  auto* box = new QWidget(this);
  auto* layout = new QHBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  field_ = new QLineEdit(box);
  field_->setObjectName(QStringLiteral("hubSearch"));
  field_->setPlaceholderText(tr("Search models to download"));
  field_->setAccessibleName(tr("Search for models"));
  field_->setClearButtonEnabled(true);
  search_ = field_->addAction(icon_of(Glyph::search), QLineEdit::LeadingPosition);
  search_->setObjectName(QStringLiteral("startSearch"));
  search_->setText(tr("Search"));
  connect(field_, &QLineEdit::returnPressed, this, &DownloadPage::start_search);
  connect(field_, &QLineEdit::textChanged, this, &DownloadPage::edit_search);
  connect(search_, &QAction::triggered, this, &DownloadPage::start_search);
  layout->addWidget(field_, 1);
  return box;
}

QWidget* DownloadPage::make_repositories() {
  found_ = new QStackedWidget(this);
  repositories_ = new QTableView(found_);
  repositories_->setObjectName(QStringLiteral("repositories"));
  repositories_->setAccessibleName(tr("Repositories that were found"));
  repositories_->setModel(repository_table_);
  apply_table_look(*repositories_);
  QHeaderView* header = repositories_->horizontalHeader();
  const int character = repositories_->fontMetrics().averageCharWidth();
  header->setSectionResizeMode(RepositoryTable::name, QHeaderView::Stretch);
  header->resizeSection(RepositoryTable::downloads, character * 14);
  header->resizeSection(RepositoryTable::likes, character * 10);
  connect(repositories_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &DownloadPage::choose_repository);
  found_text_ = quiet_label(found_);
  found_text_->setObjectName(QStringLiteral("foundText"));
  found_->addWidget(repositories_);
  found_->addWidget(found_text_);
  return found_;
}

QWidget* DownloadPage::make_catalogue() {
  auto* page = catalogue_page_ = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  catalogue_ = new CatalogueList(page);
  connect(catalogue_, &CatalogueList::downloadRequested, this, &DownloadPage::catalogueRequested);
  connect(catalogue_, &CatalogueList::openRequested, this, &DownloadPage::openRequested);
  catalogue_note_ = text_label(page);
  catalogue_note_->setObjectName(QStringLiteral("catalogueNote"));
  catalogue_note_->setForegroundRole(QPalette::PlaceholderText);
  catalogue_note_->hide();
  layout->addWidget(catalogue_note_);
  layout->addWidget(catalogue_, 1);
  return page;
}

QWidget* DownloadPage::make_versions() {
  listed_ = new QStackedWidget(this);
  auto* page = new QWidget(listed_);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(fontMetrics().height() / 2, 0, 0, 0);
  title_ = text_label(page);
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  versions_ = new QTableView(page);
  versions_->setObjectName(QStringLiteral("versions"));
  versions_->setAccessibleName(tr("Versions in the repository"));
  versions_->setModel(version_table_);
  apply_table_look(*versions_);
  QHeaderView* header = versions_->horizontalHeader();
  const int character = versions_->fontMetrics().averageCharWidth();
  header->resizeSection(VersionTable::name, character * 18);
  header->resizeSection(VersionTable::size, size_column_width(*versions_));
  header->setSectionResizeMode(VersionTable::fit, QHeaderView::Stretch);
  connect(versions_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &DownloadPage::show_version);
  why_ = text_label(page);
  why_->setObjectName(QStringLiteral("versionWhy"));
  why_->setForegroundRole(QPalette::PlaceholderText);
  why_->setMinimumHeight(why_->fontMetrics().lineSpacing() * 4);
  why_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  download_ = new QPushButton(tr("&Download"), page);
  download_->setObjectName(QStringLiteral("download"));
  download_->setAutoDefault(false);
  connect(download_, &QPushButton::clicked, this, [this] {
    if (versions_->currentIndex().isValid())
      Q_EMIT downloadRequested(repository_, versions_->currentIndex().row());
  });
  auto* row = new QHBoxLayout;
  row->addWidget(why_, 1);
  row->addWidget(download_, 0, Qt::AlignTop);
  layout->addWidget(title_);
  layout->addWidget(versions_, 1);
  layout->addLayout(row);
  listed_text_ = quiet_label(listed_);
  listed_text_->setObjectName(QStringLiteral("listedText"));
  listed_->addWidget(page);
  listed_->addWidget(listed_text_);
  return listed_;
}

QWidget* DownloadPage::make_offline() {
  offline_box_ = new QWidget(this);
  auto* layout = new QHBoxLayout(offline_box_);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* text =
      new QLabel(tr("The network is switched off: nothing is searched or downloaded."), offline_box_);
  text->setObjectName(QStringLiteral("offlineText"));
  text->setWordWrap(true);
  auto* settings = new QPushButton(tr("Settings…"), offline_box_);
  settings->setAutoDefault(false);
  connect(settings, &QPushButton::clicked, this, &DownloadPage::settingsRequested);
  layout->addWidget(text, 1);
  layout->addWidget(settings);
  offline_box_->hide();
  return offline_box_;
}

QWidget* DownloadPage::make_token() {
  token_box_ = new QGroupBox(tr("Access token"), this);
  auto* layout = new QVBoxLayout(token_box_);
  token_text_ = new QLabel(token_box_);
  token_text_->setWordWrap(true);
  token_ = new QLineEdit(token_box_);
  token_->setObjectName(QStringLiteral("token"));
  token_->setAccessibleName(tr("Access token"));
  token_->setEchoMode(QLineEdit::Password);
  token_->setPlaceholderText(QStringLiteral("hf_…"));
  auto* save = new QPushButton(tr("S&ave in the keyring"), token_box_);
  save->setObjectName(QStringLiteral("saveToken"));
  save->setAutoDefault(false);
  auto* later = new QPushButton(tr("Not now"), token_box_);
  later->setAutoDefault(false);
  const auto enter = [this] {
    if (!token_->text().trimmed().isEmpty()) Q_EMIT tokenEntered(token_->text().trimmed());
  };
  connect(save, &QPushButton::clicked, this, enter);
  connect(token_, &QLineEdit::returnPressed, this, enter);
  connect(later, &QPushButton::clicked, token_box_, &QWidget::hide);
  auto* row = new QHBoxLayout;
  row->addWidget(token_, 1);
  row->addWidget(save);
  row->addWidget(later);
  layout->addWidget(token_text_);
  layout->addLayout(row);
  token_box_->hide();
  set_hub(hub_);
  return token_box_;
}

void DownloadPage::set_hub(const QString& host) {
  hub_ = host;
  token_text_->setText(
      tr("%1 shows this model only to people who have accepted its terms there or have been given access. "
         "Accept them on its page in a browser, create an access token in your account's settings, and enter "
         "it here. It is kept in the system's keyring and sent to %1 only.")
          .arg(hub_));
}

void DownloadPage::set_offline(bool offline) {
  offline_ = offline;
  offline_box_->setVisible(offline);
  catalogue_->set_offline(offline);
  update_enabled();
}

void DownloadPage::set_catalogue(const std::vector<CatalogueRow>& rows) {
  catalogue_->set_rows(rows);
  if (searched_.isEmpty()) show_catalogue();
}

// What is typed filters the models that Fovea knows; the search goes on to the hub. An empty field leads
// back.
void DownloadPage::edit_search(const QString& text) {
  update_enabled();
  catalogue_->set_filter(text);
  Q_EMIT typed(text);
  if (text.trimmed().isEmpty() && !searched_.isEmpty()) {
    searched_.clear();
    repository_.clear();
    repository_table_->set_rows({});
    show_found({}, {});
  }
  if (searched_.isEmpty()) show_catalogue();
}

void DownloadPage::show_catalogue() {
  const QString typed = field_->text().trimmed();
  catalogue_note_->setText(
      catalogue_->shown_count() > 0
          ? tr("Press Enter to search all of %1 for “%2”.").arg(hub_, typed)
          : tr("None of these match. Press Enter to search all of %1 for “%2”.").arg(hub_, typed));
  catalogue_note_->setVisible(!typed.isEmpty());
  if (catalogue_->has_rows()) return show_results(false);
  Q_EMIT resultsShown(false);  // there is nothing else to be seen in their place
}

void DownloadPage::show_results(bool shown) {
  results_->setVisible(shown);
  catalogue_page_->setVisible(!shown);
  Q_EMIT resultsShown(shown);
}

void DownloadPage::search(const QString& text) {
  field_->setText(text);
  start_search();
  field_->setFocus();
}

void DownloadPage::end_search() {
  field_->clear();
}

void DownloadPage::start_search() {
  const QString text = field_->text().trimmed();
  if (text.isEmpty() || offline_) return;
  searching_ = true;
  searched_ = text;
  message_->hide();
  repository_table_->set_rows({});
  found_->setCurrentIndex(1);
  listed_->hide();
  show_results(true);
  found_text_->setText(tr("Searching for \"%1\"…").arg(text));
  show_versions({}, {});
  Q_EMIT searchRequested(text);
}

void DownloadPage::show_found(const QString& text, const std::vector<RepositoryRow>& rows) {
  if (text != searched_) return;  // something else was searched for meanwhile
  searching_ = false;
  repository_table_->set_rows(rows);
  found_->setCurrentIndex(rows.empty() ? 1 : 0);
  listed_->setVisible(!rows.empty());
  found_text_->setText(text.isEmpty() ? tr("Search for a model on %1.").arg(hub_)
                                      : tr("%1 has nothing for \"%2\".").arg(hub_, text));
  if (!rows.empty()) repositories_->selectRow(0);
  if (text.isEmpty()) show_catalogue();
}

void DownloadPage::choose_repository() {
  const QModelIndex index = repositories_->currentIndex();
  if (!index.isValid()) return;
  repository_ = repository_table_->row(index.row()).id;
  version_table_->set_rows({});
  listed_->setCurrentIndex(1);
  listed_text_->setText(tr("Reading the list of files…"));
  Q_EMIT listRequested(repository_);
}

void DownloadPage::show_versions(const QString& repository, const std::vector<VersionRow>& rows) {
  if (repository != repository_ && !repository.isEmpty()) return;  // another one was chosen meanwhile
  repository_ = repository;
  version_table_->set_rows(rows);
  listed_->setCurrentIndex(rows.empty() ? 1 : 0);
  listed_text_->setText(
      repository.isEmpty() ? QString() : tr("%1 has no file or folder that Fovea can open.").arg(repository));
  title_->setText(breakable(repository));
  const auto proposed = std::ranges::find(rows, true, &VersionRow::is_proposed);
  if (proposed != rows.end()) versions_->selectRow(static_cast<int>(proposed - rows.begin()));
  show_version();
}

void DownloadPage::show_version() {
  const QModelIndex index = versions_->currentIndex();
  why_->setText(index.isValid() ? version_table_->row(index.row()).fit_why : QString());
  update_enabled();
}

void DownloadPage::update_enabled() {
  const QModelIndex index = versions_->currentIndex();
  search_->setEnabled(!offline_ && !field_->text().trimmed().isEmpty());
  download_->setEnabled(!offline_ && index.isValid() && version_table_->row(index.row()).is_complete);
}

void DownloadPage::show_error(const QString& text, const QString& details) {
  message_->show_error(text, details);
  Q_EMIT told(message_);
  if (searching_) {
    searching_ = false;
    found_text_->setText(tr("The search failed."));
  } else if (listed_->currentIndex() == 1 && !repository_.isEmpty()) {
    listed_text_->setText(tr("The list of files could not be read."));
  }
}

void DownloadPage::show_notice(const QString& text) {
  message_->show_notice(text);
  Q_EMIT told(message_);
}

void DownloadPage::ask_token() {
  token_box_->show();
  Q_EMIT told(token_box_);
}

void DownloadPage::token_saved() {
  token_->clear();
  token_box_->hide();
}

}  // namespace fovea::ui
