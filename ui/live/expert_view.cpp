#include "ui/live/expert_view.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"
#include "ui/live/heat_painter.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tint.h"

namespace fovea::ui {
namespace {

constexpr std::size_t kMostChanges = 20;

QLabel* words(QWidget* parent, const char* name) {
  auto* label = new QLabel(parent);
  label->setObjectName(QLatin1String(name));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setMinimumWidth(1);  // the panel is narrow
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

QLabel* heading(QWidget* parent, const QString& text) {
  auto* label = new QLabel(text, parent);
  label->setWordWrap(true);
  label->setMinimumWidth(1);
  set_type(*label, Type::label);
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

}  // namespace

void paint_history(QPainter& painter, const QRectF& rect, const FollowedExpert& line, double until,
                   const std::vector<double>& bits, const QPalette& palette) {
  const double ribbon = std::min(rect.height() / 6, 4.0);
  const QRectF plot = rect.adjusted(0, 0, 0, -ribbon - 1);
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.fillRect(plot, chart_ground(palette));
  std::vector<QColor> colours;
  for (std::size_t place = 0; place < bits.size() + 2; ++place)
    colours.push_back(tier_solid(place, bits, palette));
  float highest = 1e-9F;
  for (const FollowedExpert::Point& point : line.points) highest = std::max(highest, point.hotness);
  const auto x_of = [&](double seconds) {
    return plot.right() - plot.width() * (until - seconds) / followed_seconds;
  };
  QPainterPath path;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const FollowedExpert::Point& point = line.points[i];
    const QPointF at(x_of(point.seconds),
                     plot.bottom() - plot.height() * static_cast<double>(point.hotness / highest));
    i == 0 ? path.moveTo(at) : path.lineTo(at);
    const double end = i + 1 < line.points.size() ? x_of(line.points[i + 1].seconds) : plot.right();
    painter.fillRect(QRectF(at.x(), plot.bottom() + 1, end - at.x() + 0.5, ribbon),
                     colours[place_of_tier(point.tier, bits.size())]);
  }
  painter.setPen(QPen(palette.color(QPalette::WindowText), 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
}

class ExpertView::History : public QWidget {
 public:
  explicit History(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  void set(const ExpertStory& story, const SnapshotNumbers& numbers) {
    line_ = story.line;
    until_ = story.until;
    bits_.clear();
    for (const TierState& tier : numbers.tiers) bits_.push_back(tier.bits_per_weight);
    update();
  }
  QSize sizeHint() const override {
    return {fontMetrics().averageCharWidth() * 20, fontMetrics().height() * 4};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paint_history(painter, rect(), line_, until_, bits_, palette());
  }

 private:
  FollowedExpert line_;
  double until_ = 0;
  std::vector<double> bits_;
};

ExpertView::ExpertView(QWidget* parent) : QScrollArea(parent) {
  setObjectName(QStringLiteral("expertPage"));
  setAccessibleName(tr("One expert"));
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget(this);
  auto* layout = new QVBoxLayout(inside);
  layout->setContentsMargins(0, 0, space::hair, 0);
  layout->setSpacing(space::hair);
  use_ = words(inside, "expertUse");
  history_ = new History(inside);
  history_->setAccessibleName(tr("Its use over the last two minutes"));
  place_ = words(inside, "expertPlace");
  changes_ = words(inside, "expertChanges");
  const auto section = [&](const QString& title, QWidget* view) {
    if (layout->count() > 0) layout->addSpacing(space::close);
    if (view->accessibleName().isEmpty()) view->setAccessibleName(title);
    layout->addWidget(heading(inside, title));
    layout->addWidget(view);
  };
  section(tr("How much it is used"), use_);
  section(tr("Over two minutes: its use, with its precision as the ribbon below"), history_);
  section(tr("Where it is kept"), place_);
  section(tr("Why it moved"), changes_);
  layout->addStretch(1);
  setWidget(inside);
}

void ExpertView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    Q_EMIT left();
  } else {
    QScrollArea::keyPressEvent(event);
  }
}

void ExpertView::set_story(const ExpertStory& story, const ShownModel& model,
                           const SnapshotNumbers& numbers) {
  history_->set(story, numbers);
  const double share =
      story.layer_uses > 0 ? static_cast<double>(story.uses) / static_cast<double>(story.layer_uses) : 0;
  use_->setText(
      story.uses == 0
          ? tr("No token has used it since the model was opened.")
          : tr("%n token(s) since the model was opened: %1 of its layer's work, ranked %2 of %3.", nullptr,
               static_cast<int>(story.uses))
                .arg(percent_text(share, 1), count_text(story.rank), count_text(numbers.units_per_layer)));
  const std::uint8_t tier = story.line.points.empty() ? no_tier : story.line.points.back().tier;
  if (tier < numbers.tiers.size()) {
    const TierState& state = numbers.tiers[tier];
    const std::int64_t bytes = state.units > 0 ? state.bytes / state.units : 0;
    place_->setText(numbers.tiers.size() == 1
                        ? tr("In memory, with %1: %2.").arg(tier_text(numbers, tier), bytes_text(bytes))
                        : tr("In memory, with %1: %2. Its other versions wait on the disk.")
                              .arg(tier_text(numbers, tier), bytes_text(bytes)));
  } else if (tier == host_tier) {
    place_->setText(tr("In main memory; the processor computes it."));
  } else {
    place_->setText(tr("Only on the disk: it is read when a token needs it."));
  }
  QStringList lines;
  for (const UnitChange& change : story.changes) {
    if (lines.size() == kMostChanges) break;
    lines += tr("%1: %2 → %3, %4")
                 .arg(ago_text(change.seconds_ago), tier_text(numbers, change.decision.from),
                      tier_text(numbers, change.decision.to), reason_text(model, numbers, change));
  }
  changes_->setText(lines.isEmpty() ? tr("It has not moved in the last few minutes.")
                                    : lines.join(QLatin1Char('\n')));
}

}  // namespace fovea::ui
