#include "ui/live/gain_view.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

struct GainWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::GainView)
};

bool compares(const PolicyGain& gain) {
  return gain.verdict != GainVerdict::no_policy && gain.verdict != GainVerdict::tiers_stay &&
         gain.verdict != GainVerdict::too_early;
}

// As the bars have it, so that the difference is that of the numbers that are seen.
QString points(double a, double b) {
  return number_text(std::abs(std::round(1000 * a) - std::round(1000 * b)) / 10);
}

// The best fixed mix beside the policy, where neither is far ahead.
QString best_fixed_words(const PolicyGain& gain) {
  if (!gain.best_fixed_ahead)
    return GainWords::tr(
        "The best fixed mix of the same size, which knows the session beforehand, serves as much, within "
        "half a point.");
  return GainWords::tr(
             "The best fixed mix of the same size, which knows the session beforehand, serves %1 points "
             "more.")
      .arg(points(gain.policy_share, gain.best_fixed_share));
}

}  // namespace

QString gain_sentence(const PolicyGain& gain) {
  if (gain.verdict == GainVerdict::no_policy)
    return GainWords::tr(
        "Every expert stays as the model's file has it. Within a memory budget the hot ones can stay so "
        "while "
        "the cold ones take less room.");
  if (gain.verdict == GainVerdict::tiers_stay)
    return GainWords::tr("The tiers of this policy stay as they are, so there is nothing to compare.");
  if (gain.verdict == GainVerdict::too_early)
    return GainWords::tr("Too early to say: %1 uses of experts so far.").arg(count_text(gain.uses));
  const QString served = (gain.chosen_by == FixedMix::session_start
                              ? GainWords::tr("Since the session's start could choose a fixed mix, the "
                                              "highest tier served %1 of the uses of experts.")
                              : GainWords::tr("The highest tier served %1 of the uses of experts."))
                             .arg(percent_text(gain.policy_share, 1)) +
                         QLatin1Char(' ');
  switch (gain.verdict) {
    case GainVerdict::gains:
      return served +
             GainWords::tr(
                 "That is %1 points more than the best fixed mix of the same size, even one chosen with "
                 "hindsight: following the conversation pays.")
                 .arg(points(gain.policy_share, gain.best_fixed_share));
    case GainVerdict::ahead:
      return served +
             (gain.chosen_by == FixedMix::calibration
                  ? GainWords::tr(
                        "That is %1 points more than a fixed mix chosen by the calibration: following the "
                        "conversation pays.")
                  : GainWords::tr(
                        "That is %1 points more than a fixed mix chosen at the session's start: following "
                        "the conversation pays."))
                 .arg(points(gain.policy_share, gain.chosen_share)) +
             QLatin1Char(' ') + best_fixed_words(gain);
    case GainVerdict::as_good:
      switch (gain.chosen_by) {
        case FixedMix::calibration:
          return served + GainWords::tr(
                              "A fixed mix of the same size serves as much, within half a point, also one "
                              "chosen by the calibration: in this session the policy gains nothing.");
        case FixedMix::session_start:
          return served + GainWords::tr(
                              "A fixed mix of the same size serves as much, within half a point, also one "
                              "chosen at the session's start: in this session the policy gains nothing.");
        case FixedMix::none:
          break;
      }
      return served + best_fixed_words(gain);
    default:
      return served + best_fixed_words(gain) + QLatin1Char(' ') +
             GainWords::tr("In this session the policy gains nothing.");
  }
}

// The shares side by side.
class GainView::Bars : public QWidget {
 public:
  explicit Bars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  void set_gain(const PolicyGain& gain) {
    if (gain.chosen_by != gain_.chosen_by) updateGeometry();
    gain_ = gain;
    update();
  }
  QSize sizeHint() const override {
    const double rows = gain_.chosen_by != FixedMix::none ? 3 : 2;
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
    if (gain_.chosen_by == FixedMix::none) return;
    bar(gain_.chosen_by == FixedMix::calibration ? GainView::tr("Fixed mix from calibration")
                                                 : GainView::tr("Fixed mix from the start"),
        gain_.chosen_share, subtle_text(palette()));
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
      "Counted since the model was opened. The fixed mixes hold as many experts in the highest tier as the "
      "policy did at most. One is chosen by the uses that the calibration counted; where it counted none, by "
      "the first 2,048 tokens, and compared from then on. The best one knows the whole session beforehand, "
      "which nobody can."));
  set_gain({.verdict = GainVerdict::no_policy});
}

void GainView::set_gain(const PolicyGain& gain) {
  const QString sentence = gain_sentence(gain);
  if (sentence_->text() != sentence) sentence_->setText(sentence);
  bars_->set_gain(gain);
  bars_->setVisible(compares(gain));
  switch_->setVisible(gain.fixed_mix_would_do);
  choose_->setVisible(gain.verdict == GainVerdict::no_policy);
}

}  // namespace fovea::ui
