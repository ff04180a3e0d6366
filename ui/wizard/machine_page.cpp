#include "ui/wizard/machine_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QVBoxLayout>

#include "ui/theme/detailed_text.h"
#include "ui/wizard/fact_list.h"

namespace fovea::ui {

MachinePage::MachinePage(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height());
  device_ = new DeviceBox(this);
  auto* name = new QLabel(tr("&Run models on"), this);
  name->setBuddy(device_);
  name->setForegroundRole(QPalette::PlaceholderText);
  name->setContentsMargins(0, 4, 0, 0);  // its text beside the box's
  auto* row = new QHBoxLayout;
  row->setSpacing(fontMetrics().averageCharWidth() * 3);
  row->addWidget(name, 0, Qt::AlignTop);
  row->addWidget(device_, 1);
  facts_ = new FactList(this);
  note_ = new DetailedText(this);
  note_->setObjectName(QStringLiteral("machineNote"));
  note_->hide();
  measuring_text_ =
      new QLabel(tr("Measuring how fast memory and disk are read. This takes a few seconds."), this);
  measuring_text_->setWordWrap(true);
  measuring_text_->setForegroundRole(QPalette::PlaceholderText);
  measuring_ = new QProgressBar(this);
  measuring_->setRange(0, 0);
  measuring_->setTextVisible(false);
  measuring_->setMaximumHeight(fontMetrics().height() / 2);
  measuring_->setAccessibleName(tr("Measuring"));
  layout->addLayout(row);
  layout->addWidget(facts_);
  layout->addWidget(measuring_text_);
  layout->addWidget(measuring_);
  layout->addWidget(note_);
  layout->addStretch(1);
}

void MachinePage::set_machine(const std::vector<FactView>& facts, const QString& note, bool measuring,
                              const QString& note_details) {
  facts_->set_facts(facts);
  note_->set_text(note, note_details);
  note_->setVisible(!note.isEmpty());
  measuring_text_->setVisible(measuring);
  measuring_->setVisible(measuring);
}

}  // namespace fovea::ui
