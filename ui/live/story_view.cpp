#include "ui/live/story_view.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStyle>

#include "ui/language/number_text.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int dot = 8;

struct StoryWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::StoryView)
};

}  // namespace

QString chapter_sentence(const Chapter& chapter, bool goes_on) {
  const QString question = StoryWords::tr("For “%1”, ").arg(QString::fromStdString(chapter.question));
  if (chapter.woke == 0 && chapter.rested == 0)
    return question + (goes_on ? StoryWords::tr("no expert has changed its precision yet.")
                               : StoryWords::tr("no expert changed its precision."));
  return question +
         StoryWords::tr("%n expert(s) rose to more bits", nullptr, static_cast<int>(chapter.woke)) +
         QStringLiteral(", ") +
         StoryWords::tr("%1 fell to fewer to make room").arg(count_text(chapter.rested)) +
         QStringLiteral("; ") +
         (chapter.waits == 0 ? StoryWords::tr("no token of the answer waited.")
                             : StoryWords::tr("%n use(s) of experts waited for the disk.", nullptr,
                                              static_cast<int>(chapter.waits)));
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
