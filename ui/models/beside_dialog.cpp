#include "ui/models/beside_dialog.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTextEdit>
#include <QVBoxLayout>

#include "ui/theme/style.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

constexpr std::size_t kMostWords = 2000;  // that are compared; of longer answers the rest is not marked

struct Word {
  WordRange place;
  QString text;
};

std::vector<Word> words_of(const QString& text) {
  static const QRegularExpression word(QStringLiteral("\\S+"));
  std::vector<Word> words;
  for (auto each = word.globalMatch(text); each.hasNext() && words.size() < kMostWords;) {
    const QRegularExpressionMatch match = each.next();
    words.push_back({{static_cast<int>(match.capturedStart()), static_cast<int>(match.capturedLength())},
                     match.captured()});
  }
  return words;
}

}  // namespace

std::vector<WordRange> differing_words(const QString& text, const QString& other) {
  const std::vector<Word> a = words_of(text), b = words_of(other);
  // length[i][j]: of the longest common row of words from i and j on.
  const std::size_t wide = b.size() + 1;
  std::vector<std::uint16_t> length((a.size() + 1) * wide, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      length[i * wide + j] = a[i].text == b[j].text
                                 ? static_cast<std::uint16_t>(length[(i + 1) * wide + j + 1] + 1)
                                 : std::max(length[(i + 1) * wide + j], length[i * wide + j + 1]);
  }
  std::vector<WordRange> differing;
  std::size_t i = 0, j = 0;
  while (i < a.size()) {
    if (j < b.size() && a[i].text == b[j].text) {
      ++i;
      ++j;
    } else if (j < b.size() && length[i * wide + j + 1] > length[(i + 1) * wide + j]) {
      ++j;
    } else {
      differing.push_back(a[i++].place);
    }
  }
  return differing;
}

BesideDialog::BesideDialog(const QString& question, const QString& takes, bool possible, QWidget* parent)
    : QDialog(parent), possible_(possible), takes_(takes) {
  setWindowTitle(tr("Fixed and adaptive side by side"));
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(space::close);
  auto* what = new QLabel(tr("One question is answered twice, with the same seed and the same amount of "
                             "memory: by experts that follow the conversation, and by a fixed mix."),
                          this);
  what->setWordWrap(true);
  layout->addWidget(what);
  question_ = new QPlainTextEdit(question, this);
  question_->setObjectName(QStringLiteral("besideQuestion"));
  question_->setAccessibleName(tr("Question"));
  question_->setTabChangesFocus(true);
  question_->setMaximumHeight(fontMetrics().lineSpacing() * 4);
  connect(question_, &QPlainTextEdit::textChanged, this, &BesideDialog::update_state);
  layout->addWidget(question_);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(space::usual);
  for (const int column : {adaptive, fixed}) {
    auto* side = new QVBoxLayout;
    side->setSpacing(space::hair);
    const QString name = column == adaptive ? tr("Adaptive") : tr("Fixed");
    auto* heading = new QLabel(name, this);
    set_type(*heading, Type::control, true);
    auto* answer = new QTextEdit(this);
    answer->setObjectName(column == adaptive ? QStringLiteral("besideAdaptive")
                                             : QStringLiteral("besideFixed"));
    answer->setAccessibleName(name);
    answer->setReadOnly(true);
    answer->setTabChangesFocus(true);
    auto* facts = new QLabel(this);
    set_type(*facts, Type::label);
    facts->setWordWrap(true);
    facts->setTextFormat(Qt::PlainText);
    tint(*facts, QPalette::WindowText, [](const QPalette& palette) { return tones(palette).second; });
    answers_[static_cast<std::size_t>(column)] = answer;
    facts_[static_cast<std::size_t>(column)] = facts;
    side->addWidget(heading);
    side->addWidget(answer, 1);
    side->addWidget(facts);
    columns->addLayout(side, 1);
  }
  layout->addLayout(columns, 1);
  note_ = new QLabel(this);
  note_->setObjectName(QStringLiteral("besideNote"));
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  layout->addWidget(note_);
  auto* buttons = new QDialogButtonBox(this);
  close_ = buttons->addButton(QDialogButtonBox::Close);
  close_->setObjectName(QStringLiteral("closeBeside"));
  start_ = buttons->addButton(tr("Answer twice"), QDialogButtonBox::ActionRole);
  start_->setObjectName(QStringLiteral("startBeside"));
  make_main(*start_);
  connect(start_, &QPushButton::clicked, this, &BesideDialog::start);
  connect(close_, &QPushButton::clicked, this, &BesideDialog::reject);
  layout->addWidget(buttons);
  open_with(*this, {fontMetrics().averageCharWidth() * 120, fontMetrics().height() * 34});
  note_->setText(takes_);
  update_state();
}

void BesideDialog::set_obstacle(const QString& text) {
  obstacle_ = text;
  if (!running_) note_->setText(text.isEmpty() ? takes_ : text);
  update_state();
}

void BesideDialog::start() {
  running_ = true;
  for (const int column : {adaptive, fixed}) {
    const auto at = static_cast<std::size_t>(column);
    answers_[at]->clear();
    answers_[at]->setExtraSelections({});
    facts_[at]->clear();
  }
  update_state();
  Q_EMIT startRequested(question_->toPlainText().trimmed());
}

void BesideDialog::add_text(int column, const QString& text) {
  QTextEdit& answer = *answers_[static_cast<std::size_t>(column)];
  QTextCursor end(answer.document());
  end.movePosition(QTextCursor::End);
  end.insertText(text);
  mark();
}

// From the first word on that the other answer has, too.
void BesideDialog::mark() {
  const QString texts[] = {text(adaptive), text(fixed)};
  if (texts[1].isEmpty()) return;
  // What the second has not come to yet does not differ.
  const bool all = !running_;
  const auto written = static_cast<int>(texts[1].size());
  for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
    QList<QTextEdit::ExtraSelection> marks;
    for (const WordRange& word : differing_words(texts[column], texts[1 - column])) {
      if (!all && word.begin + word.length >= written) break;
      QTextEdit::ExtraSelection mark;
      mark.cursor = QTextCursor(answers_[column]->document());
      mark.cursor.setPosition(word.begin);
      mark.cursor.setPosition(word.begin + word.length, QTextCursor::KeepAnchor);
      mark.format.setBackground(found_background(palette(), false));
      mark.format.setForeground(found_text(palette(), false));
      marks.push_back(mark);
    }
    answers_[column]->setExtraSelections(marks);
  }
}

void BesideDialog::show_progress(const QString& text) {
  note_->setText(text);
}

void BesideDialog::show_result(const std::array<QString, 2>& facts, const QString& sentence) {
  for (std::size_t column = 0; column < 2; ++column) {
    facts_[column]->setText(facts[column]);
    answers_[column]->setAccessibleDescription(facts[column]);
  }
  show_end(sentence);
}

void BesideDialog::show_end(const QString& note) {
  running_ = false;
  note_->setText(note);
  mark();
  update_state();
}

QString BesideDialog::text(int column) const {
  return answers_[static_cast<std::size_t>(column)]->toPlainText();
}

QString BesideDialog::note() const {
  return note_->text();
}

void BesideDialog::update_state() {
  question_->setReadOnly(running_);
  start_->setEnabled(possible_ && !running_ && obstacle_.isEmpty() &&
                     !question_->toPlainText().trimmed().isEmpty());
  close_->setText(running_ ? tr("Stop") : tr("Close"));
}

void BesideDialog::reject() {
  if (!running_) return QDialog::reject();
  Q_EMIT stopRequested();
}

}  // namespace fovea::ui
