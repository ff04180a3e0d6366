#include "ui/wizard/start_page.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/wizard/fact_list.h"

namespace fovea::ui {

CommandBox::CommandBox(QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  text_ = new QLineEdit(this);
  text_->setObjectName(QStringLiteral("wizardCommand"));
  text_->setReadOnly(true);
  text_->setAccessibleName(tr("Command"));
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPointSizeF(font().pointSizeF());
  text_->setFont(fixed);
  copy_ = new QPushButton(tr("C&opy"), this);
  copy_->setObjectName(QStringLiteral("wizardCopy"));
  copy_->setAccessibleName(tr("Copy the command"));
  copy_->setAutoDefault(false);
  layout->addWidget(text_, 1);
  layout->addWidget(copy_);
  connect(copy_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(text_->text());
    copy_->setText(tr("C&opied"));
  });
}

void CommandBox::set_command(const QString& command) {
  setVisible(!command.isEmpty());
  if (text_->text() == command) return;
  text_->setText(command);
  text_->setCursorPosition(0);
  text_->setToolTip(command);
  copy_->setText(tr("C&opy"));
}

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height() * 3 / 4);
  text_ = new QLabel(this);
  text_->setWordWrap(true);
  facts_ = new FactList(this);
  download_ = new QPushButton(tr("&Download"), this);
  download_->setObjectName(QStringLiteral("wizardDownload"));
  download_->setAutoDefault(false);
  command_ = new CommandBox(this);
  progress_box_ = new QWidget(this);
  auto* box = new QVBoxLayout(progress_box_);
  box->setContentsMargins(0, 0, 0, 0);
  progress_text_ = new QLabel(progress_box_);
  progress_text_->setObjectName(QStringLiteral("wizardProgress"));
  progress_text_->setWordWrap(true);
  progress_ = new QProgressBar(progress_box_);
  progress_->setAccessibleName(tr("Progress"));
  stop_ = new QPushButton(tr("S&top"), progress_box_);
  stop_->setObjectName(QStringLiteral("wizardStop"));
  stop_->setAutoDefault(false);
  auto* row = new QHBoxLayout;
  row->addWidget(progress_, 1);
  row->addWidget(stop_);
  box->addWidget(progress_text_);
  box->addLayout(row);
  error_ = new DetailedText(this);
  error_->label().setObjectName(QStringLiteral("wizardError"));
  tint(*error_, QPalette::WindowText, error_text);
  layout->addWidget(text_);
  layout->addWidget(facts_);
  layout->addWidget(download_, 0, Qt::AlignLeft);
  layout->addWidget(command_);
  layout->addWidget(progress_box_);
  layout->addWidget(error_);
  layout->addStretch(1);
  connect(download_, &QPushButton::clicked, this, &StartPage::downloadRequested);
  connect(stop_, &QPushButton::clicked, this, &StartPage::stopRequested);
  set_start({});
}

void StartPage::set_start(const StartView& start) {
  text_->setText(start.text);
  facts_->set_facts(start.facts);
  download_->setVisible(start.can_download && !start.busy);
  command_->set_command(start.command);
  progress_box_->setVisible(start.busy);
  progress_text_->setText(start.progress);
  progress_->setRange(0, start.total > 0 ? 1000 : 0);
  if (start.total > 0)
    progress_->setValue(
        static_cast<int>(1000.0 * static_cast<double>(start.done) / static_cast<double>(start.total)));
  error_->set_text(start.error, start.error_details);
  error_->setVisible(!start.error.isEmpty());
}

}  // namespace fovea::ui
