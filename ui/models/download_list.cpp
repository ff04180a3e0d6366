#include "ui/models/download_list.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/language/number_text.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

// --- one download

DownloadLine::DownloadLine(QWidget* parent) : QWidget(parent) {
  name_ = new QLabel(this);
  name_->setTextFormat(Qt::PlainText);
  name_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  QFont bold = name_->font();
  bold.setBold(true);
  name_->setFont(bold);
  text_ = new DetailedText(this);
  text_->label().setObjectName(QStringLiteral("downloadText"));
  bar_ = new QProgressBar(this);
  bar_->setTextVisible(false);
  bar_->setMaximumHeight(fontMetrics().height() / 2);
  const auto button = [this](const char* name, const QString& text, auto signal) {
    auto* made = new QPushButton(text, this);
    made->setObjectName(QLatin1String(name));
    made->setAutoDefault(false);
    connect(made, &QPushButton::clicked, this, signal);
    return made;
  };
  pause_ = button("pauseDownload", tr("Pause"), &DownloadLine::pauseRequested);
  resume_ = button("resumeDownload", tr("Continue"), &DownloadLine::resumeRequested);
  cancel_ = button("cancelDownload", tr("Cancel"), &DownloadLine::cancelRequested);
  open_ = button("openDownload", tr("Open"), &DownloadLine::openRequested);
  remove_ = button("removeDownload", tr("Clear"), &DownloadLine::removeRequested);
  remove_->setToolTip(tr("Take it out of this list; the model stays"));
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(fontMetrics().height() / 3);
  for (QPushButton* one : {pause_, resume_, cancel_, open_, remove_}) buttons->addWidget(one);
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, fontMetrics().height() / 4, 0, fontMetrics().height() / 4);
  layout->setVerticalSpacing(fontMetrics().height() / 5);
  layout->addWidget(name_, 0, 0);
  layout->addWidget(bar_, 1, 0);
  layout->addWidget(text_, 2, 0);
  layout->addLayout(buttons, 0, 1, 3, 1, Qt::AlignVCenter);
  layout->setColumnStretch(0, 1);
  layout->setHorizontalSpacing(fontMetrics().height());
}

void DownloadLine::show_download(const DownloadRow& row) {
  using State = DownloadStateView;
  row_ = row;
  elide_name();
  name_->setToolTip(row.repository);
  text_->set_text(row.text, row.details);
  const bool failed = row.state == State::failed;
  tint(text_->label(), QPalette::WindowText, failed ? error_text : quiet_text);
  bar_->setVisible(row.state != State::done);
  bar_->setRange(0, 1000);
  if (row.total > 0)
    bar_->setValue(static_cast<int>(1000 * (static_cast<double>(row.done) / static_cast<double>(row.total))));
  bar_->setAccessibleName(tr("Progress of %1").arg(row.name));
  const bool under_way = row.state == State::running || row.state == State::waiting;
  pause_->setVisible(under_way);
  resume_->setVisible(row.state == State::paused || failed);
  resume_->setText(failed ? tr("Try again") : tr("Continue"));
  cancel_->setVisible(row.state != State::done);
  open_->setVisible(row.state == State::done);
  remove_->setVisible(row.state == State::done);
  setAccessibleName(tr("%1: %2").arg(row.name, row.text));
}

void DownloadLine::elide_name() {
  name_->setText(name_->fontMetrics().elidedText(row_.name, Qt::ElideMiddle, qMax(40, name_->width())));
}

void DownloadLine::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  elide_name();
}

// --- the list

DownloadList::DownloadList(QWidget* parent) : QScrollArea(parent) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAutoFillBackground(false);
  page_ = new QWidget(this);
  page_->setAutoFillBackground(false);
  layout_ = new QVBoxLayout(page_);
  layout_->setContentsMargins(0, 0, fontMetrics().height() / 2, 0);
  layout_->setSpacing(0);
  empty_ = new QLabel(tr("Nothing is being downloaded."), page_);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  layout_->addWidget(empty_);
  layout_->addStretch(1);
  setWidget(page_);
  set_room();
}

void DownloadList::set_download(const DownloadRow& row) {
  DownloadLine*& line = lines_[row.id];
  if (!line) {
    line = new DownloadLine(page_);
    const qint64 id = row.id;
    connect(line, &DownloadLine::pauseRequested, this, [this, id] { Q_EMIT pauseRequested(id); });
    connect(line, &DownloadLine::resumeRequested, this, [this, id] { Q_EMIT resumeRequested(id); });
    connect(line, &DownloadLine::cancelRequested, this, [this, id] { ask_cancel(id); });
    connect(line, &DownloadLine::removeRequested, this, [this, id] { Q_EMIT removeRequested(id); });
    connect(line, &DownloadLine::openRequested, this,
            [this, id] { Q_EMIT openRequested(lines_[id]->download().path); });
    layout_->insertWidget(layout_->count() - 1, line);
    line->show();
    empty_->hide();
    Q_EMIT countChanged(count());
  }
  line->show_download(row);
  set_room();
}

void DownloadList::remove_download(qint64 id) {
  const auto found = lines_.find(id);
  if (found == lines_.end()) return;
  found->second->deleteLater();
  found->second->hide();
  lines_.erase(found);
  empty_->setVisible(lines_.empty());
  Q_EMIT countChanged(count());
  set_room();
}

// Two of them can always be seen.
void DownloadList::set_room() {
  const int line = fontMetrics().height();
  const int shown = qMin(count(), 2);
  setMinimumHeight(shown == 0 ? line * 2 : shown * line * 4);
}

void DownloadList::ask_cancel(qint64 id) {
  const DownloadRow row = lines_[id]->download();
  if (row.done > 0) {
    QMessageBox box(QMessageBox::Question, tr("Cancel a download"),
                    tr("Cancel the download of %1?").arg(row.name), QMessageBox::NoButton, this);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(
        tr("The %1 downloaded so far will be deleted. To continue later, pause it instead.")
            .arg(bytes_text(row.done)));
    QAbstractButton* yes = box.addButton(tr("Cancel the download"), QMessageBox::DestructiveRole);
    box.setDefaultButton(box.addButton(tr("Keep downloading"), QMessageBox::RejectRole));
    box.exec();
    if (box.clickedButton() != yes) return;
  }
  Q_EMIT cancelRequested(id);
}

}  // namespace fovea::ui
