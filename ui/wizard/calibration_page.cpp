#include "ui/wizard/calibration_page.h"

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/wizard/fact_list.h"
#include "ui/wizard/start_page.h"

namespace fovea::ui {

CalibrationPage::CalibrationPage(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height() * 3 / 4);
  text_ = new QLabel(this);
  text_->setObjectName(QStringLiteral("wizardCalibrationText"));
  text_->setWordWrap(true);
  progress_box_ = new QWidget(this);
  auto* row = new QHBoxLayout(progress_box_);
  row->setContentsMargins(0, 0, 0, 0);
  progress_ = new QProgressBar(progress_box_);
  progress_->setAccessibleName(tr("Measuring"));
  auto* stop = new QPushButton(tr("S&top"), progress_box_);
  stop->setObjectName(QStringLiteral("wizardStopCalibration"));
  stop->setAutoDefault(false);
  row->addWidget(progress_, 1);
  row->addWidget(stop);
  table_ = new QWidget(this);
  grid_ = new QGridLayout(table_);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(fontMetrics().height() * 2);
  grid_->setVerticalSpacing(fontMetrics().height() / 2);
  grid_->setColumnStretch(0, 1);
  again_ = new QPushButton(tr("&Measure again"), this);
  again_->setObjectName(QStringLiteral("wizardAgain"));
  again_->setAutoDefault(false);
  error_ = new DetailedText(this);
  tint(*error_, QPalette::WindowText, error_text);
  command_title_ = new QLabel(tr("The same from a terminal:"), this);
  command_ = new CommandBox(this);
  layout->addWidget(text_);
  layout->addWidget(progress_box_);
  layout->addWidget(table_);
  layout->addWidget(error_);
  layout->addWidget(again_, 0, Qt::AlignLeft);
  layout->addSpacing(fontMetrics().height());
  layout->addWidget(command_title_);
  layout->addWidget(command_);
  layout->addStretch(1);
  connect(stop, &QPushButton::clicked, this, &CalibrationPage::stopRequested);
  connect(again_, &QPushButton::clicked, this, &CalibrationPage::againRequested);
  set_calibration({});
}

void CalibrationPage::set_calibration(const CalibrationView& calibration) {
  text_->setText(calibration.text);
  progress_box_->setVisible(calibration.running);
  progress_->setRange(0, calibration.total > 0 ? 1000 : 0);
  if (calibration.total > 0)
    progress_->setValue(static_cast<int>(1000.0 * static_cast<double>(calibration.done) /
                                         static_cast<double>(calibration.total)));
  show_rows(calibration.rows);
  again_->setVisible(calibration.can_measure && !calibration.running);
  error_->set_text(calibration.error, calibration.error_details);
  error_->setVisible(!calibration.error.isEmpty());
  command_title_->setVisible(!calibration.command_line.isEmpty());
  command_->set_command(calibration.command_line);
}

void CalibrationPage::show_rows(const std::vector<ComparisonRow>& rows) {
  if (rows == rows_) return;
  rows_ = rows;
  while (QLayoutItem* item = grid_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  table_->setVisible(!rows.empty());
  if (rows.empty()) return;
  const auto add = [this](const QString& text, int row, int column, bool quiet, const QString& why = {}) {
    auto* label = new QLabel(text, table_);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(column == 0);
    label->setToolTip(why);
    if (quiet) label->setForegroundRole(QPalette::PlaceholderText);
    grid_->addWidget(label, row, column, column == 0 ? Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
    return label;
  };
  add(tr("Predicted"), 0, 1, true);
  add(tr("Measured"), 0, 2, true);
  int line = 1;
  QStringList names;
  for (const ComparisonRow& row : rows) names += row.name;
  QToolButton* more = details_button(table_, names.join(QStringLiteral(", ")));
  for (const ComparisonRow& row : rows) {
    QLabel* name = add(row.name, line, 0, false, row.why);
    name->setAccessibleName(tr("%1: predicted %2, measured %3").arg(row.name, row.predicted, row.measured));
    add(row.predicted, line, 1, false, row.why);
    QLabel* measured = add(row.measured, line, 2, false, row.why);
    QFont bold = measured->font();
    bold.setBold(true);
    measured->setFont(bold);
    auto* why = new QLabel(row.why, table_);
    why->setWordWrap(true);
    why->setForegroundRole(QPalette::PlaceholderText);
    why->hide();
    connect(more, &QToolButton::toggled, why, &QWidget::setVisible);
    grid_->addWidget(why, line + 1, 0, 1, 3);
    line += 2;
  }
  grid_->addWidget(more, line, 0, Qt::AlignLeft);
}

}  // namespace fovea::ui
