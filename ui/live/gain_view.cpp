#include "ui/live/gain_view.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/live/number_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

struct GainWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::GainView)
};

bool changes_tiers(PolicyKind policy) {
  return policy == PolicyKind::dynaexq;
}

QString points(double share) {
  return number_text(100 * std::abs(share));
}

}  // namespace

QString gain_sentence(const PolicyGain& gain, PolicyKind policy) {
  if (policy == PolicyKind::none)
    return GainWords::tr(
        "Every expert stays as the model's file has it. Within a memory budget the hot ones can stay so "
        "while "
        "the cold ones take less room.");
  if (!changes_tiers(policy))
    return GainWords::tr("The tiers of this policy stay as they are, so there is nothing to compare.");
  if (gain.verdict == GainVerdict::too_early)
    return GainWords::tr("Too early to say: %1 uses of experts so far.").arg(count_text(gain.uses));
  const QString served = GainWords::tr("The highest tier served %1 of all uses of experts.")
                             .arg(percent_text(gain.policy_share));
  switch (gain.verdict) {
    case GainVerdict::gains:
      return served + QLatin1Char(' ') +
             GainWords::tr(
                 "That is %1 points more than the best fixed mix of the same size, even one chosen with "
                 "hindsight: following the conversation pays.")
                 .arg(points(gain.gain()));
    case GainVerdict::as_good:
      return served + QLatin1Char(' ') +
             GainWords::tr(
                 "A fixed mix of the same size, chosen with hindsight, would have served as much: in this "
                 "session the policy gains nothing.");
    default:
      break;
  }
  if (gain.profiled && gain.policy_after_profile_share > gain.profile_share + gain_margin)
    return served + QLatin1Char(' ') +
           GainWords::tr(
               "It beats a fixed mix chosen at the session's start by %1 points; one chosen with hindsight "
               "would have served %2 points more than the policy.")
               .arg(points(gain.policy_after_profile_share - gain.profile_share), points(gain.gain()));
  return served + QLatin1Char(' ') +
         GainWords::tr(
             "A fixed mix of the same size would have served %1 points more: in this session the policy "
             "gains "
             "nothing.")
             .arg(points(gain.gain()));
}

// The shares side by side.
class GainView::Bars : public QWidget {
 public:
  explicit Bars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  void set_gain(const PolicyGain& gain) {
    if (gain.profiled != gain_.profiled) updateGeometry();
    gain_ = gain;
    update();
  }
  QSize sizeHint() const override {
    const double rows = gain_.profiled ? 3 : 2;
    return {fontMetrics().averageCharWidth() * 40, static_cast<int>(rows * fontMetrics().height() * 2 + 2)};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const double line = fontMetrics().height();
    double y = 0;
    const auto bar = [&](const QString& name, double share, const QColor& colour) {
      paint_caption(painter, QRectF(0, y, width(), line), name, percent_text(share, 1), palette());
      const QRectF track(0, y + line * 1.1, width(), line * 0.5);
      painter.fillRect(track, chart_ground(palette()));
      painter.fillRect(QRectF(track.left(), track.top(), track.width() * share, track.height()), colour);
      y += line * 2;
    };
    bar(GainView::tr("This policy"), gain_.policy_share, palette().color(QPalette::Link));
    bar(GainView::tr("Best fixed mix, with hindsight"), gain_.best_fixed_share, subtle_text(palette()));
    if (gain_.profiled)
      bar(GainView::tr("Fixed mix from the start, later uses"), gain_.profile_share, subtle_text(palette()));
  }

 private:
  PolicyGain gain_;
};

GainView::GainView(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  sentence_ = new QLabel(this);
  sentence_->setObjectName(QStringLiteral("gainSentence"));
  sentence_->setWordWrap(true);
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  bars_ = new Bars(this);
  switch_ = new QPushButton(tr("Switch to a fixed mix…"), this);
  switch_->setObjectName(QStringLiteral("switchPolicy"));
  switch_->setToolTip(
      tr("Keep the experts' tiers as a fixed mix of the same size; nothing is read while you chat."));
  layout->addWidget(sentence_);
  layout->addWidget(bars_);
  layout->addWidget(switch_, 0, Qt::AlignLeft);
  choose_ = new QPushButton(tr("Choose how experts are kept…"), this);
  choose_->setObjectName(QStringLiteral("choosePrecisionBeside"));
  layout->addWidget(choose_, 0, Qt::AlignLeft);
  connect(choose_, &QPushButton::clicked, this, &GainView::choosePrecisionRequested);
  connect(switch_, &QPushButton::clicked, this, &GainView::switchRequested);
  setToolTip(tr(
      "Counted since the model was loaded. The fixed mixes hold as many experts in the highest tier as the "
      "policy did at most. The best one knows the whole session beforehand, which nobody can."));
  set_gain({}, PolicyKind::none);
}

void GainView::set_gain(const PolicyGain& gain, PolicyKind policy) {
  const QString sentence = gain_sentence(gain, policy);
  if (sentence_->text() != sentence) sentence_->setText(sentence);
  bars_->set_gain(gain);
  bars_->setVisible(changes_tiers(policy) && gain.verdict != GainVerdict::too_early);
  switch_->setVisible(changes_tiers(policy) &&
                      (gain.verdict == GainVerdict::as_good || gain.verdict == GainVerdict::loses));
  choose_->setVisible(policy == PolicyKind::none);
}

}  // namespace fovea::ui
