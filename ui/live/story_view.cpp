#include "ui/live/story_view.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStyle>

#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int dot = 8;

struct StoryWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::StoryView)
};

// Within a sentence, which has an end of its own.
QString quoted(const std::string& text) {
  QString question = QString::fromStdString(text);
  while (!question.isEmpty() && QStringView(u".?!").contains(question.back())) question.chop(1);
  return question;
}

QString words_of_changes(const Chapter& chapter, bool goes_on) {
  const int woke = static_cast<int>(chapter.woke), rested = static_cast<int>(chapter.rested);
  if (woke == 0 && rested == 0)
    return goes_on ? StoryWords::tr("no expert has changed its precision yet")
                   : StoryWords::tr("no expert changed its precision");
  if (woke == 0) return StoryWords::tr("%Ln expert(s) fell to fewer bits", nullptr, rested);
  const QString risen = StoryWords::tr("%Ln expert(s) rose to more bits", nullptr, woke);
  return rested == 0 ? risen
                     : risen + QStringLiteral(", ") +
                           StoryWords::tr("%Ln fell to fewer to make room", nullptr, rested);
}

}  // namespace

QString chapter_sentence(const Chapter& chapter, bool goes_on) {
  const QString changes =
      StoryWords::tr("For “%1”, ").arg(quoted(chapter.question)) + words_of_changes(chapter, goes_on);
  if (chapter.waits > 0)
    return changes + QStringLiteral("; ") +
           StoryWords::tr("%Ln use(s) of experts waited for the disk.", nullptr,
                          static_cast<int>(chapter.waits));
  if (chapter.woke == 0 && chapter.rested == 0) return changes + QLatin1Char('.');
  return changes + QStringLiteral("; ") + StoryWords::tr("no token of the answer waited.");
}

StoryView::StoryView(QWidget* parent) : QWidget(parent), sentence_(new QLabel(this)) {
  setObjectName(QStringLiteral("story"));
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("What happened"));
  setToolTip(tr(
      "Experts that the question uses become more precise; others take less room instead. Click to read what "
      "happened before."));
  sentence_->setWordWrap(true);
  sentence_->setTextFormat(Qt::PlainText);
  sentence_->setAttribute(Qt::WA_TransparentForMouseEvents);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(space::wider, space::close, space::usual, space::close);
  layout->addWidget(sentence_);
  hide();
}

void StoryView::set_story(const std::vector<Chapter>& chapters) {
  chapters_ = chapters;
  setVisible(!chapters.empty());
  if (chapters.empty()) return;
  const QString sentence = chapter_sentence(chapters.front(), true);
  if (sentence == sentence_->text()) return;
  sentence_->setText(sentence);
  setAccessibleName(sentence);
}

QString StoryView::text() const {
  return isHidden() ? QString() : sentence_->text();
}

void StoryView::show_all() {
  QMenu menu(this);
  for (const Chapter& chapter : chapters_) {
    QString words = chapter_sentence(chapter);
    menu.addAction(words.replace(QLatin1Char('&'), QLatin1String("&&")));
  }
  menu.exec(mapToGlobal(QPoint(0, height())));
}

void StoryView::mousePressEvent(QMouseEvent*) {
  show_all();
}

void StoryView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Space && event->key() != Qt::Key_Return) return QWidget::keyPressEvent(event);
  show_all();
}

void StoryView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  style_paint::rounded(painter, rect(), radius::card, t.card, hasFocus() ? t.accent : t.line,
                       hasFocus() ? focus_width : 1);
  const QRectF mark(space::close, space::close + (fontMetrics().height() - dot) / 2.0, dot, dot);
  style_paint::rounded(painter, QStyle::visualRect(layoutDirection(), rect(), mark.toRect()), dot,
                       chapters_.empty() || chapters_.front().waits == 0 ? t.good : t.warning, {}, 0);
}

}  // namespace fovea::ui
