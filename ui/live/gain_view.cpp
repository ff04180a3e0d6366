#include "ui/live/gain_view.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <vector>

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
  return gain.chosen_by != FixedMix::none;
}

QString kept_text(double share) {
  return percent_text(share, 1);
}

QString kept_words(const PolicyGain& gain) {
  const QString bits = number_text(gain.bits_per_use, 1);
  return gain.in_nats
             ? GainWords::tr("Quality kept: %1, with %2 bits per use.").arg(kept_text(gain.kept), bits)
             : GainWords::tr(
                   "The experts in use keep %1 of what the highest precision gains over the lowest, with %2 "
                   "bits per use.")
                   .arg(kept_text(gain.kept), bits);
}

// By what has foretold this session best so far.
QString expected_from(const PolicyGain& gain) {
  if (gain.calibration_part < 0) return {};
  return QLatin1Char(' ') +
         GainWords::tr("%1 of what is expected next comes from this session, %2 from the calibration.")
             .arg(percent_text(1 - gain.calibration_part, 0), percent_text(gain.calibration_part, 0));
}

}  // namespace

QString gain_sentence(const PolicyGain& gain) {
  switch (gain.verdict) {
    case GainVerdict::no_policy:
      return GainWords::tr(
          "Every expert stays as it is in the model's file. Within a memory budget the hot ones can stay "
          "that way while the cold ones take less room.");
    case GainVerdict::tiers_stay: {
      const QString stay = GainWords::tr("The experts keep their precision, so there is nothing to compare.");
      return gain.tokens > 0 ? kept_words(gain) + QLatin1Char(' ') + stay : stay;
    }
    case GainVerdict::nothing_lost:
      return GainWords::tr(
          "Every expert is as the model's file has it, wherever it is computed, so nothing is lost. "
          "Following the "
          "conversation makes answers faster: the card has the experts that it uses most.");
    case GainVerdict::not_compared:
      return GainWords::tr(
          "This policy lowers layers while it answers. What that costs is not measured, so there is nothing "
          "to "
          "compare.");
    case GainVerdict::too_early:
      return GainWords::tr("Too early to say: %1 tokens so far.").arg(count_text(gain.tokens));
    default:
      break;
  }
  const QString fixed =
      (gain.chosen_by == FixedMix::calibration
           ? GainWords::tr("A fixed mix of the same size, chosen by the calibration, would have kept %1")
           : GainWords::tr("A fixed mix of the same size, chosen at the session's start, would have kept %1"))
          .arg(kept_text(gain.fixed_kept));
  const QString outcome = gain.verdict == GainVerdict::ahead
                              ? GainWords::tr(": following the conversation pays off.")
                              : GainWords::tr(": in this session following the conversation gains nothing.");
  return kept_words(gain) + QLatin1Char(' ') + fixed + outcome + expected_from(gain);
}

// What is kept, side by side.
class GainView::Bars : public QWidget {
 public:
  explicit Bars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  // What the bars say, for who does not see them.
  QString words() const {
    QStringList said;
    for (const Row& row : rows()) said += row.name + QLatin1Char(' ') + percent_text(row.share, 1);
    return said.join(QStringLiteral(", "));
  }
  void set_gain(const PolicyGain& gain) {
    const bool other_size = gain.hindsight_kept.has_value() != gain_.hindsight_kept.has_value();
    gain_ = gain;
    if (other_size) updateGeometry();
    update();
  }
  QSize sizeHint() const override {
    return {fontMetrics().averageCharWidth() * 40,
            (gain_.hindsight_kept ? 8 : 6) * fontMetrics().height() + 2};
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
    for (const Row& row : rows())
      bar(row.name, row.share, row.is_own ? palette().color(QPalette::Link) : subtle_text(palette()));
  }

 private:
  struct Row {
    QString name;
    double share;
    bool is_own;
  };
  std::vector<Row> rows() const {
    std::vector<Row> rows{
        {GainView::tr("Adaptive"), gain_.kept, true},
        {gain_.chosen_by == FixedMix::calibration ? GainView::tr("Fixed mix from calibration")
                                                  : GainView::tr("Fixed mix from the start"),
         gain_.fixed_kept, false},
        {GainView::tr("Everything at the lowest precision"), gain_.low_kept, false}};
    if (gain_.hindsight_kept)
      rows.push_back(
          {GainView::tr("Fixed mix that knew every word beforehand"), *gain_.hindsight_kept, false});
    return rows;
  }

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
  bars_->setObjectName(QStringLiteral("gainBars"));
  bars_->setAccessibleName(tr("What is kept, side by side"));
  switch_ = new QPushButton(tr("Switch to a fixed mix…"), this);
  switch_->setObjectName(QStringLiteral("switchPolicy"));
  switch_->setToolTip(
      tr("Keep the experts' precisions as a fixed mix of the same size; nothing is read while you chat."));
  layout->addWidget(sentence_);
  layout->addWidget(bars_);
  layout->addWidget(switch_, 0, Qt::AlignLeft);
  choose_ = new QPushButton(tr("Choose how experts are kept…"), this);
  choose_->setObjectName(QStringLiteral("choosePrecisionBeside"));
  layout->addWidget(choose_, 0, Qt::AlignLeft);
  connect(choose_, &QPushButton::clicked, this, &GainView::choosePrecisionRequested);
  connect(switch_, &QPushButton::clicked, this, &GainView::switchRequested);
  setToolTip(tr(
      "What is kept: the share of the probability that the model at its file's precision gives its words "
      "(e^-KL), estimated from the measured harm of each expert's precision and from how often it was "
      "used. The fixed mixes take as much memory. One is chosen by the uses that the "
      "calibration counted, the other by the session's first 2,048 tokens; the better one is shown, for "
      "the tokens since then. A third one is chosen by how these very tokens used the experts. Nobody can "
      "have it, since they are known only afterwards: it shows about how much a fixed mix could have kept."));
  set_gain({.verdict = GainVerdict::no_policy});
}

void GainView::set_gain(const PolicyGain& gain) {
  const QString sentence = gain_sentence(gain);
  if (sentence_->text() != sentence) sentence_->setText(sentence);
  bars_->set_gain(gain);
  bars_->setAccessibleDescription(bars_->words());
  bars_->setVisible(compares(gain));
  switch_->setVisible(gain.fixed_mix_would_do);
  choose_->setVisible(gain.verdict == GainVerdict::no_policy);
}

}  // namespace fovea::ui
