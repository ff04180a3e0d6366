#include "ui/models/compare_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QStyle>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/model_text.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

constexpr int kCompareCharacters = 76;  // wide

QLabel* wrapped(const QString& text, const char* name, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setObjectName(QLatin1String(name));
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setMinimumWidth(1);  // a name of any length
  return label;
}

}  // namespace

CompareDialog::CompareDialog(const QString& model, const QString& now,
                             const std::vector<CompareChoice>& choices, QWidget* parent)
    : QDialog(parent), choices_(choices) {
  setWindowTitle(tr("Compare"));
  setMinimumWidth(fontMetrics().averageCharWidth() * kCompareCharacters);
  auto* layout = new QVBoxLayout(this);
  auto* page = new QWidget(this);
  auto* lines = new QVBoxLayout(page);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->addWidget(wrapped(
      tr("%1 is opened as it is now, and again with another choice. Each time it reads the same text and "
         "writes for a few seconds, which shows how the choice affects quality, memory and speed.")
          .arg(breakable(model)),
      "compareWhat", page));
  asked_ = new QWidget(page);
  auto* asked = new QVBoxLayout(asked_);
  asked->setContentsMargins(0, 0, 0, 0);
  asked->addWidget(make_choices(now));
  asked->addWidget(make_text());
  lines->addWidget(asked_);
  lines->addWidget(make_result());
  lines->addStretch(1);
  area_ = new PageArea(page, this);
  layout->addWidget(area_, 1);
  note_ = new DetailedText(this);
  note_->label().setObjectName(QStringLiteral("compareNote"));
  connect(note_, &DetailedText::detailsShown, this, &CompareDialog::fit);
  layout->addWidget(note_);
  progress_ = new QProgressBar(this);
  progress_->setObjectName(QStringLiteral("compareProgress"));
  progress_->setAccessibleName(tr("Progress of the comparison"));
  progress_->setTextVisible(false);
  progress_->hide();
  layout->addWidget(progress_);
  auto* buttons = new QDialogButtonBox(this);
  close_ = buttons->addButton(QDialogButtonBox::Close);
  close_->setObjectName(QStringLiteral("closeCompare"));
  start_ = buttons->addButton(tr("Compare"), QDialogButtonBox::ActionRole);
  start_->setObjectName(QStringLiteral("startCompare"));
  start_->setDefault(true);
  connect(start_, &QPushButton::clicked, this, &CompareDialog::start);
  connect(close_, &QPushButton::clicked, this, &CompareDialog::reject);
  layout->addWidget(buttons);
  setMinimumWidth(std::max(minimumWidth(), layout->totalMinimumSize().width()));
  resize(minimumWidth(), 0);
  update_state();
}

QWidget* CompareDialog::make_choices(const QString& now) {
  auto* box = new QGroupBox(tr("As it is now (%1), compared with").arg(now), asked_);
  auto* layout = new QVBoxLayout(box);
  for (const CompareChoice& choice : choices_) {
    auto* button = new QRadioButton(choice.text, box);
    button->setObjectName(QStringLiteral("compareChoice%1").arg(buttons_.size()));
    connect(button, &QRadioButton::toggled, this, [this](bool is_chosen) {
      if (!is_chosen) return;
      last_.clear();
      update_state();
    });
    buttons_.push_back(button);
    layout->addWidget(button);
  }
  // The first that can be.
  const auto possible = std::ranges::find(choices_, true, &CompareChoice::possible);
  const auto first = possible == choices_.end() ? 0 : possible - choices_.begin();
  if (!buttons_.empty()) {
    const QSignalBlocker no_widgets_yet(buttons_[static_cast<std::size_t>(first)]);
    buttons_[static_cast<std::size_t>(first)]->setChecked(true);
  }
  return box;
}

QWidget* CompareDialog::make_text() {
  auto* box = new QGroupBox(tr("Text to read"), asked_);
  auto* layout = new QVBoxLayout(box);
  built_in_text_ = new QRadioButton(
      tr("Fovea's own short text: conversation, prose, code, mathematics, other languages"), box);
  built_in_text_->setObjectName(QStringLiteral("compareBuiltIn"));
  built_in_text_->setChecked(true);
  own_text_ = new QRadioButton(tr("A text file, ideally like those you work with:"), box);
  own_text_->setObjectName(QStringLiteral("compareOwn"));
  text_file_ = new QLineEdit(box);
  text_file_->setObjectName(QStringLiteral("compareFile"));
  text_file_->setAccessibleName(tr("Text file"));
  text_file_->setPlaceholderText(tr("a few thousand words"));
  auto* choose = new QPushButton(tr("Choose…"), box);
  choose->setObjectName(QStringLiteral("chooseCompareFile"));
  auto* row = new QHBoxLayout;
  row->addSpacing(style()->pixelMetric(QStyle::PM_ExclusiveIndicatorWidth) +
                  style()->pixelMetric(QStyle::PM_RadioButtonLabelSpacing));
  row->addWidget(text_file_, 1);
  row->addWidget(choose);
  layout->addWidget(built_in_text_);
  layout->addWidget(own_text_);
  layout->addLayout(row);
  connect(text_file_, &QLineEdit::textEdited, own_text_, [this] { own_text_->setChecked(true); });
  connect(text_file_, &QLineEdit::textChanged, this, &CompareDialog::update_state);
  connect(own_text_, &QRadioButton::toggled, this, [this] {
    last_.clear();
    update_state();
  });
  connect(choose, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Choose a text to read"));
    if (file.isEmpty()) return;
    own_text_->setChecked(true);
    text_file_->setText(file);
  });
  return box;
}

QWidget* CompareDialog::make_result() {
  auto* box = new QGroupBox(tr("Result"), this);
  box->setObjectName(QStringLiteral("compareResult"));
  auto* layout = new QVBoxLayout(box);
  sentence_ = wrapped({}, "compareSentence", box);
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  sentence_->setAccessibleName(tr("Result"));
  QFont larger = sentence_->font();
  larger.setPointSizeF(larger.pointSizeF() * 1.15);
  sentence_->setFont(larger);
  layout->addWidget(sentence_);
  numbers_ = new QGridLayout;
  numbers_->setHorizontalSpacing(fontMetrics().averageCharWidth() * 3);
  numbers_->setColumnStretch(3, 1);
  layout->addLayout(numbers_);
  meaning_ = wrapped({}, "compareMeaning", box);
  meaning_->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(meaning_);
  box->hide();
  result_ = box;
  return box;
}

int CompareDialog::choice() const {
  const auto chosen = std::ranges::find_if(buttons_, &QRadioButton::isChecked);
  return static_cast<int>(chosen - buttons_.begin());
}

QString CompareDialog::text_file() const {
  return own_text_->isChecked() ? text_file_->text() : QString();
}

void CompareDialog::set_obstacle(const QString& text) {
  obstacle_ = text;
  update_state();
}

void CompareDialog::start() {
  if (running_) return Q_EMIT stopRequested();
  running_ = true;
  last_.clear();
  result_->hide();
  progress_->setRange(0, 0);
  update_state();
  Q_EMIT startRequested(choice(), text_file());
}

void CompareDialog::show_progress(const QString& text, qint64 done, qint64 total) {
  if (!running_) return;
  constexpr int steps = 1000;
  progress_->setRange(0, total > 0 ? steps : 0);
  if (total > 0) progress_->setValue(static_cast<int>(std::min(done, total) * steps / total));
  say(text, {}, false);
}

void CompareDialog::show_result(const CompareResultView& result) {
  sentence_->setText(result.sentence);
  while (const QLayoutItem* item = numbers_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const auto put = [this](int row, int column, const QString& text, bool is_heading) {
    auto* label = new QLabel(text, result_);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (is_heading) label->setForegroundRole(QPalette::PlaceholderText);
    numbers_->addWidget(label, row, column, column == 0 ? Qt::AlignLeft : Qt::AlignRight);
  };
  put(0, 1, result.now, true);
  put(0, 2, result.other, true);
  int row = 0;
  for (const CompareRow& each : result.rows) {
    put(++row, 0, each.name, true);
    put(row, 1, each.now, false);
    put(row, 2, each.other, false);
  }
  meaning_->setText(result.note);
  result_->show();
  end({}, {}, false);
  sentence_->setFocus(Qt::OtherFocusReason);  // read aloud
  // On a small screen it is below; where, is known when all has its place.
  QTimer::singleShot(0, result_, [this] { area_->ensureWidgetVisible(result_); });
}

void CompareDialog::show_error(const QString& text, const QString& details) {
  end(text, details, true);
}

void CompareDialog::show_stopped(const QString& text) {
  end(text, {}, false);
}

void CompareDialog::end(const QString& note, const QString& details, bool is_error) {
  running_ = false;
  last_ = note;
  last_details_ = details;
  last_is_error_ = is_error;
  update_state();
}

void CompareDialog::say(const QString& text, const QString& details, bool is_error) {
  tint(*note_, QPalette::WindowText, is_error ? error_text : nullptr);
  note_->set_text(text, details);
  note_->setVisible(!text.isEmpty());
}

void CompareDialog::update_state() {
  const auto chosen = static_cast<std::size_t>(choice());
  const CompareChoice now = chosen < choices_.size() ? choices_[chosen] : CompareChoice{.possible = false};
  const bool has_text = !own_text_->isChecked() || QFileInfo(text_file_->text()).isFile();
  asked_->setEnabled(!running_);
  progress_->setVisible(running_);
  start_->setText(running_           ? tr("Stop")
                  : now.closes_model ? tr("Close the model and compare")
                                     : tr("Compare"));
  start_->setEnabled(running_ || (obstacle_.isEmpty() && now.possible && has_text));
  if (!running_) {
    if (!last_.isEmpty()) {
      say(last_, last_details_, last_is_error_);
    } else {
      const bool is_free = obstacle_.isEmpty();
      say(is_free ? now.note : obstacle_, is_free ? now.details : QString(), is_free && !now.possible);
    }
  }
  fit();
}

// Qt would give it two thirds of a small screen at most, and squeeze the words.
void CompareDialog::fit() {
  area_->updateGeometry();  // what stands in it has changed
  open_with(*this, {width(), std::max(height(), layout()->totalHeightForWidth(width()))});
}

void CompareDialog::reject() {
  if (running_) Q_EMIT stopRequested();
  QDialog::reject();
}

}  // namespace fovea::ui
