#include "ui/chat/welcome_view.h"

#include <QApplication>
#include <QEvent>
#include <QIcon>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace fovea::ui {
namespace {

constexpr int kIconSize = 64;
constexpr int kLettersOfLine = 46;

}  // namespace

WelcomeView::WelcomeView(QWidget* parent) : QWidget(parent), title_(new QLabel(this)) {
  setObjectName(QStringLiteral("welcome"));
  setCursor(Qt::ArrowCursor);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(8);
  layout->addStretch(1);
  const auto centred = [this, layout](QLabel* label) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setMinimumWidth(fontMetrics().averageCharWidth() * kLettersOfLine);
    layout->addWidget(label, 0, Qt::AlignHCenter);
  };
  if (const QIcon icon = QApplication::windowIcon(); !icon.isNull()) {
    auto* picture = new QLabel(this);
    picture->setPixmap(icon.pixmap(QSize(kIconSize, kIconSize), devicePixelRatioF()));
    centred(picture);
    layout->addSpacing(4);
  }
  title_->setText(tr("No model is open"));
  scale_title();
  centred(title_);
  auto* text = new QLabel(tr("Fovea runs language models on this machine. Let it propose one that fits, or "
                             "open one that you have."),
                          this);
  text->setForegroundRole(QPalette::PlaceholderText);
  centred(text);
  layout->addSpacing(8);
  const auto add = [this, layout](const char* name, const QString& words, auto signal) {
    auto* button = new QPushButton(words, this);
    button->setObjectName(QLatin1String(name));
    button->setMinimumWidth(fontMetrics().averageCharWidth() * 34);
    button->setMinimumHeight(fontMetrics().height() * 2);
    connect(button, &QPushButton::clicked, this, signal);
    layout->addWidget(button, 0, Qt::AlignHCenter);
    return button;
  };
  add("welcomeWizard", tr("Find a model that fits…"), &WelcomeView::wizardRequested);
  add("welcomeModels", tr("Models on this machine…"), &WelcomeView::modelsRequested);
  add("welcomeFile", tr("Open a GGUF file…"), &WelcomeView::fileRequested);
  layout->addStretch(1);
}

void WelcomeView::scale_title() {
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 1.4);
  large.setBold(true);
  title_->setFont(large);
}

void WelcomeView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) scale_title();
}

}  // namespace fovea::ui
