#include "ui/models/beside_dialog.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextEdit>
#include <QVBoxLayout>

#include "ui/theme/detailed_text.h"
#include "ui/theme/style.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
BesideDialog::BesideDialog(const QString& question, const QString& takes, const QString& details,
                           bool possible, QWidget* parent)
    : QDialog(parent), possible_(possible), takes_(takes), details_(details) {
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
  note_ = new DetailedText(this);
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
  note_->set_text(takes_, details_);
  update_state();
}

void BesideDialog::set_obstacle(const QString& text) {
  obstacle_ = text;
  if (!running_ && text.isEmpty()) note_->set_text(takes_, details_);
  if (!running_ && !text.isEmpty()) note_->set_text(text);
  update_state();
}

void BesideDialog::start() {
  running_ = true;
  for (const int column : {adaptive, fixed}) {
    const auto at = static_cast<std::size_t>(column);
    answers_[at]->clear();
    texts_[at] = {};
    answers_[at]->setExtraSelections({});
    facts_[at]->clear();
  }
  update_state();
  Q_EMIT startRequested(question_->toPlainText().trimmed());
}

void BesideDialog::add_text(int column, const QString& text) {
  const auto at = static_cast<std::size_t>(column);
  texts_[at].utf8 += text.toUtf8();
  QTextCursor end(answers_[at]->document());
  end.movePosition(QTextCursor::End);
  // A document would make one break of a carriage return and the line's end, and places would move.
  end.insertText(QString(text).replace(QLatin1Char('\r'), QLatin1Char(' ')));
}

void BesideDialog::add_tokens(int column, const QList<qint64>& ends) {
  std::vector<qint64>& known = texts_[static_cast<std::size_t>(column)].ends;
  known.insert(known.end(), ends.begin(), ends.end());
  mark();
}

// From the first token on that the other answer has, too.
void BesideDialog::mark() {
  const std::size_t written = texts_[fixed].ends.size();
  if (written == 0) return;
  for (const std::size_t column : {std::size_t{adaptive}, std::size_t{fixed}}) {
    std::vector<std::size_t> tokens = differing_tokens(texts_[column], texts_[1 - column]);
    // What the second has not come to yet does not differ.
    if (running_) std::erase_if(tokens, [&](std::size_t token) { return token >= written; });
    QList<QTextEdit::ExtraSelection> marks;
    for (const TokenRange& place : places_of(texts_[column], tokens)) {
      QTextEdit::ExtraSelection mark;
      mark.cursor = QTextCursor(answers_[column]->document());
      mark.cursor.setPosition(place.begin);
      mark.cursor.setPosition(place.begin + place.length, QTextCursor::KeepAnchor);
      mark.format.setBackground(found_background(palette(), false));
      mark.format.setForeground(found_text(palette(), false));
      marks.push_back(mark);
    }
    answers_[column]->setExtraSelections(marks);
  }
}

void BesideDialog::show_progress(const QString& text) {
  note_->set_text(text);
}

void BesideDialog::show_result(const std::array<QString, 2>& facts, const QString& sentence,
                               const QString& details) {
  for (std::size_t column = 0; column < 2; ++column) {
    facts_[column]->setText(facts[column]);
    answers_[column]->setAccessibleDescription(facts[column]);
  }
  show_end(sentence, details);
}

void BesideDialog::show_end(const QString& note, const QString& details) {
  running_ = false;
  note_->set_text(note, details);
  mark();
  update_state();
}

QString BesideDialog::text(int column) const {
  return answers_[static_cast<std::size_t>(column)]->toPlainText();
}

QStringList BesideDialog::marked(int column) const {
  QStringList texts;
  for (const QTextEdit::ExtraSelection& mark : answers_[static_cast<std::size_t>(column)]->extraSelections())
    texts += mark.cursor.selectedText();
  return texts;
}

QString BesideDialog::note() const {
  return note_->text();
}

QString BesideDialog::details() const {
  return note_->details();
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
