#include "ui/chat/welcome_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/detailed_text.h"
#include "ui/theme/style.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int words_width = 640;
constexpr int letters_of_card = 70;
constexpr int word_inset = 15;  // of a button without a frame, about

QLabel* quiet(QWidget* parent, const QString& text, bool is_centred) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setWordWrap(true);
  if (is_centred) label->setAlignment(Qt::AlignCenter);
  return label;
}

// Words that are pressed.
QToolButton* word(QWidget* parent, const char* name, const QString& text) {
  auto* button = new QToolButton(parent);
  button->setObjectName(QLatin1String(name));
  button->setText(text);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::StrongFocus);
  button->setMinimumHeight(control_height);
  tint(*button, QPalette::ButtonText, [](const QPalette& palette) { return tones(palette).second; });
  return button;
}

template <class Signal>
QToolButton* word(QWidget* parent, const char* name, const QString& text, WelcomeView* view, Signal signal) {
  QToolButton* button = word(parent, name, text);
  QObject::connect(button, &QToolButton::clicked, view, signal);
  return button;
}

}  // namespace

WelcomeView::WelcomeView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("welcome"));
  setCursor(Qt::ArrowCursor);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(space::usual, space::tight, space::usual, space::tight);
  layout->setSpacing(space::tight);
  layout->addStretch(2);  // a little above the middle
  layout->addWidget(new MarkLabel(72, {}, this), 0, Qt::AlignHCenter);
  layout->addSpacing(space::close);
  auto* title = new QLabel(tr("Large models, sharp where it matters"), this);
  set_type(*title, Type::title, true);
  title->setAlignment(Qt::AlignCenter);
  title->setWordWrap(true);
  add_centred(*layout, *title, words_width, 0);
  add_centred(*layout,
              *quiet(this,
                     tr("Fovea runs models that do not fit in your memory by keeping precise what your "
                        "conversation uses."),
                     true),
              words_width, 0);
  layout->addSpacing(space::usual);
  looking_ = quiet(this, tr("Looking for the model that suits this computer best…"), true);
  add_centred(*layout, *looking_, words_width, 0);
  card_ = make_card();
  add_centred(*layout, *card_, fontMetrics().averageCharWidth() * letters_of_card, 0);
  find_ = new QPushButton(tr("Find a model that fits…"), this);
  find_->setObjectName(QStringLiteral("welcomeFind"));
  find_->setAutoDefault(true);
  make_main(*find_);
  connect(find_, &QPushButton::clicked, this, &WelcomeView::wizardRequested);
  layout->addWidget(find_, 0, Qt::AlignHCenter);
  layout->addSpacing(space::tight);
  demo_ = new QWidget(this);
  auto* other = new QVBoxLayout(demo_);
  other->setContentsMargins(0, 0, 0, 0);
  other->setSpacing(space::tight);
  auto* demo = new QPushButton(tr("Chat with the small demo now"), demo_);
  demo->setObjectName(QStringLiteral("welcomeDemo"));
  demo->setAutoDefault(true);
  connect(demo, &QPushButton::clicked, this, &WelcomeView::demoRequested);
  other->addWidget(quiet(demo_, tr("or", "two ways to begin"), true));
  other->addWidget(demo);
  demo_->hide();
  layout->addWidget(demo_, 0, Qt::AlignHCenter);
  layout->addWidget(make_ways(), 0, Qt::AlignHCenter);
  layout->addStretch(3);
  QLabel* local = quiet(this, tr("Nothing you write leaves this computer."), true);
  set_type(*local, Type::label);
  layout->addWidget(local);
  set_proposal({});
}

QWidget* WelcomeView::make_card() {
  auto* card = new Card(radius::card, this);
  card->setObjectName(QStringLiteral("welcomeCard"));
  auto* layout = new QVBoxLayout(card);
  // The words of a button at its edge end where the others do.
  layout->setContentsMargins(space::wide, space::usual, space::wide - word_inset, space::usual);
  layout->setSpacing(space::hair);
  name_ = new QLabel(card);
  name_->setObjectName(QStringLiteral("welcomeName"));
  name_->setTextFormat(Qt::PlainText);
  name_->setWordWrap(true);
  set_type(*name_, Type::text, true);
  about_ = quiet(card, {}, false);
  facts_box_ = new QWidget(card);
  facts_ = new QHBoxLayout(facts_box_);
  facts_->setContentsMargins(0, space::close, 0, space::close);
  facts_->setSpacing(space::wider);
  buttons_ = new QWidget(card);
  auto* row = new QHBoxLayout(buttons_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::close);
  accept_ = new QPushButton(tr("Open"), buttons_);
  accept_->setObjectName(QStringLiteral("welcomeMain"));
  accept_->setAutoDefault(true);
  make_main(*accept_);
  connect(accept_, &QPushButton::clicked, this, &WelcomeView::acceptRequested);
  why_ = word(buttons_, "welcomeWhy", tr("Why this one?"));
  why_->setCheckable(true);
  row->addWidget(accept_);
  row->addWidget(word(buttons_, "welcomeOthers", tr("Other models"), this, &WelcomeView::modelsRequested));
  row->addStretch(1);
  row->addWidget(why_);
  why_text_ = quiet(card, {}, false);
  why_text_->setObjectName(QStringLiteral("welcomeWhyText"));
  why_text_->setContentsMargins(0, space::tight, word_inset, 0);
  why_text_->hide();
  connect(why_, &QToolButton::toggled, why_text_, &QWidget::setVisible);
  error_ = new DetailedText(card);
  error_->label().setObjectName(QStringLiteral("welcomeError"));
  error_->setContentsMargins(0, 0, word_inset, 0);
  tint(error_->label(), QPalette::WindowText, error_text);
  layout->addWidget(name_);
  layout->addWidget(about_);
  layout->addWidget(facts_box_);
  layout->addWidget(buttons_);
  layout->addWidget(make_progress());
  layout->addWidget(error_);
  layout->addWidget(why_text_);
  return card;
}

QWidget* WelcomeView::make_progress() {
  progress_box_ = new QWidget(this);
  auto* layout = new QVBoxLayout(progress_box_);
  layout->setContentsMargins(0, 0, 0, 0);
  progress_text_ = quiet(progress_box_, {}, false);
  progress_text_->setObjectName(QStringLiteral("welcomeProgress"));
  progress_ = new QProgressBar(progress_box_);
  progress_->setTextVisible(false);
  progress_->setMaximumHeight(space::tight);
  progress_->setAccessibleName(tr("Progress"));
  auto* row = new QHBoxLayout;
  row->setSpacing(space::close);
  row->addWidget(progress_, 1);
  row->addWidget(word(progress_box_, "welcomeStop", tr("Pause"), this, &WelcomeView::stopRequested));
  layout->addWidget(progress_text_);
  layout->addLayout(row);
  return progress_box_;
}

QWidget* WelcomeView::make_ways() {
  auto* ways = new QWidget(this);
  auto* layout = new QHBoxLayout(ways);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::close);
  layout->addWidget(
      word(ways, "welcomeModels", tr("Models on this computer"), this, &WelcomeView::modelsRequested));
  layout->addWidget(word(ways, "welcomeWizard", tr("Step by step"), this, &WelcomeView::wizardRequested));
  layout->addWidget(word(ways, "welcomeFile", tr("Open a file…"), this, &WelcomeView::fileRequested));
  return ways;
}

void WelcomeView::show_facts(const std::vector<ProposalView::Fact>& facts) {
  while (QLayoutItem* item = facts_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const ProposalView::Fact& fact : facts) {
    auto* box = new QWidget(facts_box_);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    auto* value = new QLabel(fact.value, box);
    set_type(*value, Type::text, true);
    QLabel* name = quiet(box, fact.name, false);
    name->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    set_type(*name, Type::label);
    layout->addWidget(value);
    layout->addWidget(name, 1);
    facts_->addWidget(box, 1);
  }
  facts_box_->setVisible(!facts.empty());
}

void WelcomeView::set_proposal(const ProposalView& proposal) {
  using State = ProposalView::State;
  const bool is_there = proposal.state == State::ready || proposal.state == State::busy;
  const bool had_focus = accept_->hasFocus() || find_->hasFocus();
  looking_->setVisible(proposal.state == State::looking);
  card_->setVisible(is_there);
  find_->setVisible(proposal.state == State::none);
  if (name_->text() != proposal.name) why_->setChecked(false);
  name_->setText(proposal.name);
  about_->setText(proposal.about);
  show_facts(proposal.facts);
  if (is_there) accept_->setText(proposal.accept);
  why_text_->setText(proposal.why);
  why_->setVisible(!proposal.why.isEmpty());
  buttons_->setVisible(proposal.state == State::ready);
  progress_box_->setVisible(proposal.state == State::busy);
  progress_text_->setText(proposal.progress);
  progress_->setRange(0, proposal.total > 0 ? 1000 : 0);
  if (proposal.total > 0)
    progress_->setValue(
        static_cast<int>(1000.0 * static_cast<double>(proposal.done) / static_cast<double>(proposal.total)));
  error_->set_text(proposal.error, proposal.error_details);
  error_->setVisible(!proposal.error.isEmpty());
  if (had_focus) focus_main();
}

void WelcomeView::focus_main() {
  if (accept_->isVisibleTo(this)) return accept_->setFocus();
  if (find_->isVisibleTo(this)) find_->setFocus();
}

}  // namespace fovea::ui
