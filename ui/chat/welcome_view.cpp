#include "ui/chat/welcome_view.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/style.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int kLettersOfLine = 40;

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
  layout->addWidget(new MarkLabel(72, {}, this), 0, Qt::AlignHCenter);
  layout->addSpacing(space::close);
  title_->setText(tr("Large models, sharp where it matters"));
  set_type(*title_, Type::title, true);
  centred(title_);
  auto* text = new QLabel(
      tr("Fovea runs models that do not fit your memory, keeping precise what your conversation uses."),
      this);
  text->setForegroundRole(QPalette::PlaceholderText);
  centred(text);
  layout->addSpacing(8);
  const auto add = [this, layout](const char* name, const QString& words, auto signal) {
    auto* button = new QPushButton(words, this);
    button->setObjectName(QLatin1String(name));
    button->setMinimumWidth(fontMetrics().averageCharWidth() * 34);
    button->setMinimumHeight(control_height + 4);
    connect(button, &QPushButton::clicked, this, signal);
    layout->addWidget(button, 0, Qt::AlignHCenter);
    return button;
  };
  make_main(*add("welcomeWizard", tr("Find a model that fits…"), &WelcomeView::wizardRequested));
  add("welcomeModels", tr("Models on this machine…"), &WelcomeView::modelsRequested);
  add("welcomeFile", tr("Open a GGUF file…"), &WelcomeView::fileRequested);
  layout->addStretch(1);
}

}  // namespace fovea::ui
