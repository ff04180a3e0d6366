#include "ui/wizard/wizard_dialog.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"
#include "ui/wizard/calibration_page.h"
#include "ui/wizard/machine_page.h"
#include "ui/wizard/memory_page.h"
#include "ui/wizard/models_page.h"
#include "ui/wizard/start_page.h"
#include "ui/wizard/step_rail.h"
#include "ui/wizard/wish_page.h"

namespace fovea::ui {

WizardDialog::WizardDialog(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("wizard"));
  setWindowTitle(tr("Find a model that fits"));
  const int line = fontMetrics().height();
  open_with(*this, {fontMetrics().averageCharWidth() * 122, line * 40});
  rail_ = new StepRail(
      {tr("This computer"), tr("What matters"), tr("Models"), tr("Memory"), tr("Open"), tr("Measure")}, this);
  title_ = new QLabel(this);
  title_->setObjectName(QStringLiteral("wizardTitle"));
  set_type(*title_, Type::title, true);
  subtitle_ = new QLabel(this);
  subtitle_->setWordWrap(true);
  subtitle_->setForegroundRole(QPalette::PlaceholderText);
  pages_ = new QStackedWidget(this);
  machine_ = new MachinePage;
  wish_ = new WishPage;
  models_ = new ModelsPage;
  memory_ = new MemoryPage;
  start_ = new StartPage;
  calibration_ = new CalibrationPage;
  for (QWidget* page :
       std::initializer_list<QWidget*>{machine_, wish_, models_, memory_, start_, calibration_})
    pages_->addWidget(new PageArea(page, pages_));

  auto* content = new QVBoxLayout;
  content->setContentsMargins(line * 3 / 2, line, line * 3 / 2, line);
  content->setSpacing(line / 3);
  content->addWidget(title_);
  content->addWidget(subtitle_);
  content->addSpacing(line * 3 / 4);
  content->addWidget(pages_, 1);
  auto* top = new QHBoxLayout;
  top->setSpacing(0);
  top->addWidget(rail_);
  top->addLayout(content, 1);
  auto* rule = new QFrame(this);
  rule->setFrameShape(QFrame::HLine);
  rule->setFrameShadow(QFrame::Plain);
  tint(*rule, QPalette::WindowText, hairline);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top, 1);
  layout->addWidget(rule);
  layout->addWidget(make_buttons());
  connect_pages();
  show_page(WizardPage::machine);
}

QWidget* WizardDialog::make_buttons() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  const int line = fontMetrics().height();
  layout->setContentsMargins(line, line * 2 / 3, line, line * 2 / 3);
  layout->setSpacing(space::close);
  const auto button = [bar](const QString& text, const char* name) {
    auto* made = new QPushButton(text, bar);
    made->setObjectName(QLatin1String(name));
    made->setAutoDefault(false);
    return made;
  };
  close_ = button(tr("Close"), "wizardClose");
  close_->setToolTip(tr("Leave everything as it was"));
  back_ = button(tr("&Back"), "wizardBack");
  skip_ = button(tr("&Skip"), "wizardSkip");
  next_ = button(tr("&Next"), "wizardNext");
  next_->setDefault(true);
  layout->addWidget(close_);
  layout->addStretch(1);
  layout->addWidget(skip_);
  layout->addWidget(back_);
  layout->addWidget(next_);
  connect(close_, &QPushButton::clicked, this, &WizardDialog::closeRequested);
  connect(back_, &QPushButton::clicked, this, &WizardDialog::backRequested);
  connect(skip_, &QPushButton::clicked, this, &WizardDialog::skipRequested);
  connect(next_, &QPushButton::clicked, this, [this] {
    if (page() == WizardPage::memory && !memory_->take()) return;
    if (next_->isEnabled()) Q_EMIT nextRequested();  // not while what was just taken is planned
  });
  return bar;
}

void WizardDialog::connect_pages() {
  connect(&machine_->device(), &DeviceBox::deviceChosen, this, &WizardDialog::deviceChosen);
  connect(wish_, &WishPage::chosen, this, &WizardDialog::wishChosen);
  connect(models_, &ModelsPage::chosen, this, &WizardDialog::modelChosen);
  connect(models_, &ModelsPage::activated, this, [this] {
    if (next_->isEnabled()) Q_EMIT nextRequested();
  });
  connect(memory_, &MemoryPage::changed, this, &WizardDialog::memoryChanged);
  connect(memory_, &MemoryPage::remedyChosen, this, &WizardDialog::remedyChosen);
  connect(start_, &StartPage::downloadRequested, this, &WizardDialog::downloadRequested);
  connect(start_, &StartPage::stopRequested, this, &WizardDialog::stopRequested);
  connect(calibration_, &CalibrationPage::stopRequested, this, &WizardDialog::stopRequested);
  connect(calibration_, &CalibrationPage::againRequested, this, &WizardDialog::measureRequested);
}

void WizardDialog::show_page(WizardPage page) {
  page_ = page;
  const auto words = [this](const QString& title, const QString& subtitle) {
    title_->setText(title);
    subtitle_->setText(subtitle);
  };
  switch (page) {
    case WizardPage::machine:
      words(tr("What this computer has"),
            tr("Fovea looks at it to find models that fit. Nothing leaves this computer."));
      break;
    case WizardPage::wish:
      words(tr("What matters to you?"),
            tr("Your choice decides the order of the models. You can come back and change it."));
      break;
    case WizardPage::models:
      words(tr("Models for this computer"), tr("Best first for what matters to you."));
      break;
    case WizardPage::memory:
      words(tr("What the memory will hold"),
            tr("Change something, and the bar shows at once what it takes."));
      break;
    case WizardPage::start:
      words(tr("Open the model"), tr("Nothing is saved until you finish."));
      break;
    case WizardPage::calibration:
      words(tr("Prediction and reality"), tr("The model works for up to half a minute."));
      break;
  }
  const int index = static_cast<int>(page);
  pages_->setCurrentIndex(index);
  rail_->set_current(index);
  setAccessibleDescription(title_->text());
}

void WizardDialog::set_navigation(const NavigationView& navigation) {
  back_->setEnabled(navigation.back);
  skip_->setEnabled(navigation.skip);
  next_->setEnabled(navigation.next);
  next_->setText(navigation.next_text.isEmpty() ? tr("&Next") : navigation.next_text);
}

void WizardDialog::set_devices(const std::vector<DeviceView>& devices, const QString& chosen) {
  machine_->device().set_devices(devices, chosen);
}

void WizardDialog::set_machine(const std::vector<FactView>& facts, const QString& note, bool measuring,
                               const QString& note_details) {
  machine_->set_machine(facts, note, measuring, note_details);
}
void WizardDialog::set_wish(WishView wish) {
  wish_->set_wish(wish);
}
void WizardDialog::set_models(const std::vector<ModelRow>& rows, int current, const QString& note,
                              bool looking) {
  models_->set_models(rows, current, note, looking);
}
void WizardDialog::set_memory_options(const MemoryOptions& options) {
  memory_->set_options(options);
}
void WizardDialog::set_memory_choice(const MemoryChoice& choice) {
  memory_->set_choice(choice);
}
void WizardDialog::set_budget(const BudgetView& budget) {
  memory_->set_budget(budget);
}
void WizardDialog::set_start(const StartView& start) {
  start_->set_start(start);
}
void WizardDialog::set_calibration(const CalibrationView& calibration) {
  calibration_->set_calibration(calibration);
}

}  // namespace fovea::ui
