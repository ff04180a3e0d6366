#include "ui/live/heatmap_view.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QVariantAnimation>
#include <QWheelEvent>
#include <cmath>

#include "ui/live/expert_text.h"
#include "ui/theme/motion.h"

namespace fovea::ui {
namespace {

constexpr int kFramesBetweenOrders = 20;  // cells would jump about
constexpr double kZoomStep = 1.25;
constexpr int kSlideMilliseconds = 30;  // between two pictures of a slide
constexpr double kSmallestSliding = 4;  // pixels: of smaller cells nobody sees where they go

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Expert map"));
  setAccessibleDescription(
      tr("Layers down, experts across. Arrow keys move, Enter follows an expert, L shows only its layer, E "
         "only the expert, plus and minus zoom."));
  motion_ = new QVariantAnimation(this);
  motion_->setStartValue(0.0);
  motion_->setEndValue(1.0);
  motion_->setEasingCurve(QEasingCurve::InOutCubic);
  connect(motion_, &QVariantAnimation::valueChanged, this, [this](const QVariant& progress) {
    // Every second picture of a screen is enough for cells that slide.
    if (since_slid_.isValid() && since_slid_.elapsed() < kSlideMilliseconds) return;
    since_slid_.start();
    slide_.set_progress(progress.toDouble());
    stale_ = true;
    update(map_rect());
  });
  connect(motion_, &QVariantAnimation::finished, this, [this] {
    slide_.end();
    image_layout_.reset();  // what they slid over is drawn anew
    stale_ = true;
    update(map_rect());
  });
}

QSize HeatmapView::sizeHint() const {
  return {fontMetrics().averageCharWidth() * 56, fontMetrics().height() * 22};
}

QSize HeatmapView::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 24, fontMetrics().height() * 5};
}

void HeatmapView::set_scene(const Scene& scene) {
  const bool new_tiers = scene.bits != scene_.bits;
  scene_ = scene;
  if (new_tiers) take_colours();
  const HeatLayout before = layout_;
  if (update_places()) update_layout();
  stale_ = true;
  // The labels stay as they are.
  layout_ == before ? update(map_rect()) : update();
}

void HeatmapView::take_colours() {
  painter_.set_colours(palette(), scene_.bits);
  image_layout_.reset();
  lozenges_.clear();
  words_.clear();
}

// Whether the map has another shape.
bool HeatmapView::update_places() {
  if (!has_frame()) return true;
  const MapFrame& frame = *scene_.frame;
  const bool other_shape = !places_.fits(frame);
  if (order_ == HeatOrder::by_hotness) {
    if (other_shape || ++frames_since_order_ >= kFramesBetweenOrders) {
      const HeatPlaces before = std::exchange(places_, {});
      places_.by_hotness(frame);
      if (!other_shape) slide_from(before);
      frames_since_order_ = 0;
    }
  } else if (other_shape) {
    places_.by_index(frame.layers, frame.units_per_layer);
  }
  if (other_shape) {
    motion_->stop();
    slide_.end();
    current_.reset();
    hovered_.reset();
    lit_.clear();
    pointed_out_.clear();
    lit_by_pointing_.clear();
    if (single_layer_ && *single_layer_ >= frame.layers) single_layer_.reset();
  }
  return other_shape;
}

void HeatmapView::slide_from(const HeatPlaces& before) {
  motion_->stop();
  slide_.end();
  const int time = motion::move(*this);
  if (time == 0 || !isVisible() || std::min(layout_.cell_width(), layout_.cell_height()) < kSmallestSliding)
    return;
  slide_.begin(before, places_, layout_);
  if (!slide_.is_under_way()) return;
  motion_->setDuration(time);
  motion_->start();
}

QRectF HeatmapView::rect_of(std::int64_t unit) const {
  const HeatSlide::Mover* const mover = slide_.find(unit);
  return mover ? slide_.rect_of(*mover, layout_) : layout_.cell_rect(cell_of(unit));
}

void HeatmapView::update_layout() {
  if (!has_scene()) {
    layout_.set_shape(0, 0, 0);
    return;
  }
  const int layers = static_cast<int>(scene_.frame->layers);
  const int units = static_cast<int>(scene_.frame->units_per_layer);
  const double labels =
      fontMetrics().horizontalAdvance(layer_name(layers - 1)) + fontMetrics().averageCharWidth();
  const double top = fontMetrics().height() * 0.3;
  // The frames of what has just changed reach a pixel over their cells.
  const double room = width() - labels - 2;
  layout_.set_area(QRectF(labels, top, std::max(1.0, room), std::max(1.0, height() - top)));
  layout_.set_shape(single_layer_.value_or(0), single_layer_ ? 1 : layers, units,
                    order_ == HeatOrder::by_hotness);
}

void HeatmapView::set_model(const ShownModel& model) {
  model_ = model;
  image_layout_.reset();
  update_layout();
  update();
}

QChar mark_of(const FollowedExpert& expert) {
  return QChar(u'A' + static_cast<char16_t>(expert.letter));
}

void HeatmapView::set_followed(const FollowedExperts& followed) {
  followed_.clear();
  for (const FollowedExpert& each : followed.experts) followed_.push_back({each.unit, mark_of(each)});
  update();
}

void HeatmapView::set_lit(std::vector<std::uint8_t> lit) {
  lit_ = std::move(lit);
  stale_ = true;
  update();
}

void HeatmapView::set_pointed_out(const std::vector<std::int64_t>& units) {
  if (units == pointed_out_) return;
  pointed_out_ = units;
  lit_by_pointing_.clear();
  if (has_frame() && !units.empty()) {
    lit_by_pointing_.resize(scene_.frame->size());
    for (const std::int64_t unit : units)
      if (unit < std::ssize(lit_by_pointing_)) lit_by_pointing_[static_cast<std::size_t>(unit)] = 1;
  }
  stale_ = true;
  update();
}

void HeatmapView::set_order(HeatOrder order) {
  if (order == order_) return;
  const std::optional<std::int64_t> unit = current_unit();
  order_ = order;
  if (has_scene()) {
    const HeatPlaces before = std::exchange(places_, {});
    order == HeatOrder::by_hotness ? places_.by_hotness(*scene_.frame)
                                   : places_.by_index(scene_.frame->layers, scene_.frame->units_per_layer);
    update_layout();
    slide_from(before);
  }
  if (unit) current_ = cell_of(*unit);
  stale_ = true;
  update();
}

void HeatmapView::set_textures(bool shown) {
  textures_ = shown;
  stale_ = true;
  update();
}

void HeatmapView::show_layer(std::optional<int> layer) {
  if (layer == single_layer_) return;
  motion_->stop();
  slide_.end();
  single_layer_ = layer;
  hovered_.reset();
  if (layer && current_ && current_->layer != *layer) current_ = HeatCell{*layer, 0};
  update_layout();
  layout_.show_all();
  stale_ = true;
  update();
  Q_EMIT singleLayerChanged();
}

QString HeatmapView::layer_name(int layer) const {
  return layer_text(model_, layer);
}

std::int64_t HeatmapView::unit_of(const HeatCell& cell) const {
  return cell.layer * scene_.frame->units_per_layer + places_.expert_at(cell.layer, cell.slot);
}

HeatCell HeatmapView::cell_of(std::int64_t unit) const {
  const int layer = static_cast<int>(unit / scene_.frame->units_per_layer);
  return {layer, places_.slot_of(layer, static_cast<int>(unit % scene_.frame->units_per_layer))};
}

std::optional<std::int64_t> HeatmapView::current_unit() const {
  if (!current_ || !has_scene()) return std::nullopt;
  return unit_of(*current_);
}

void HeatmapView::set_current_unit(std::int64_t unit) {
  if (!has_scene() || unit < 0 || unit >= static_cast<std::int64_t>(scene_.frame->size())) return;
  const HeatCell cell = cell_of(unit);
  if (current_ == cell) return;
  if (single_layer_ && *single_layer_ != cell.layer) show_layer(cell.layer);
  current_ = cell;
  layout_.make_visible(cell);
  stale_ = true;
  update();
  announce();
  Q_EMIT currentChanged(unit);
}

// A screen reader hears the cell that the keys reached.
void HeatmapView::announce() {
  const std::optional<std::int64_t> unit = current_unit();
  if (!unit || !describe) return;
  setAccessibleDescription(describe(*unit, false));
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
}

void HeatmapView::resizeEvent(QResizeEvent*) {
  update_layout();
  stale_ = true;
}

void HeatmapView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    take_colours();
    update_layout();
    stale_ = true;
    update();
  }
  QWidget::changeEvent(event);
}

void HeatmapView::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0) {
    const double across = event->angleDelta().x() != 0 ? event->angleDelta().x() : event->angleDelta().y();
    layout_.move_by({across / 2, 0});
  } else {
    layout_.zoom_by(std::pow(kZoomStep, steps), event->position());
  }
  stale_ = true;
  update();
  event->accept();
}

void HeatmapView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = true;
  dragged_ = false;
  pressed_at_ = event->position();
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event) {
  if (pressed_) {
    const QPointF delta = event->position() - pressed_at_;
    if (!dragged_ && delta.manhattanLength() < 5) return;
    dragged_ = true;
    pressed_at_ = event->position();
    layout_.move_by(delta);
    setCursor(Qt::ClosedHandCursor);
    stale_ = true;
    update();
    return;
  }
  show_tip(event->globalPosition().toPoint(), event->position());
}

void HeatmapView::show_tip(const QPoint& global, const QPointF& at) {
  const std::optional<HeatCell> cell = has_scene() ? layout_.cell_at(at) : std::nullopt;
  if (cell == hovered_) return;
  hovered_ = cell;
  update();
  Q_EMIT pointed(cell ? unit_of(*cell) : -1);
  if (cell && describe) {
    QToolTip::showText(global, describe(unit_of(*cell), true), this);
  } else {
    QToolTip::hideText();
  }
}

void HeatmapView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !pressed_) return;
  pressed_ = false;
  unsetCursor();
  if (dragged_ || !has_scene()) return;
  const std::optional<HeatCell> cell = layout_.cell_at(event->position());
  if (!cell) return;
  set_current_unit(unit_of(*cell));
  Q_EMIT followToggled(unit_of(*cell));
}

void HeatmapView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!has_scene()) return;
  const std::optional<HeatCell> cell = layout_.cell_at(event->position());
  if (!cell) return;
  if (single_layer_) {
    Q_EMIT expertChosen(unit_of(*cell));
  } else {
    show_layer(cell->layer);
  }
}

void HeatmapView::leaveEvent(QEvent*) {
  hovered_.reset();
  Q_EMIT pointed(-1);
  update();
}

void HeatmapView::focusInEvent(QFocusEvent* event) {
  if (!current_ && has_scene() && event->reason() != Qt::MouseFocusReason)
    current_ = HeatCell{layout_.first_layer(), 0};
  QWidget::focusInEvent(event);
  update();
}

void HeatmapView::focusOutEvent(QFocusEvent* event) {
  if (!hovered_) Q_EMIT pointed(-1);
  QWidget::focusOutEvent(event);
}

void HeatmapView::move_current(int right, int down) {
  if (!current_) current_ = HeatCell{layout_.first_layer(), 0};
  set_current_unit(unit_of(layout_.neighbour(*current_, right, down)));
  Q_EMIT pointed(unit_of(*current_));
}

void HeatmapView::zoom(double factor) {
  stale_ = true;
  update();
  if (factor == 0) return layout_.show_all();
  const QPointF around = current_ ? layout_.cell_rect(*current_).center() : layout_.area().center();
  layout_.zoom_by(factor, around);
  if (current_) layout_.make_visible(*current_);
}

void HeatmapView::keyPressEvent(QKeyEvent* event) {
  if (!has_scene()) return QWidget::keyPressEvent(event);
  const int leap = event->modifiers() & Qt::ControlModifier ? 8 : 1;
  switch (event->key()) {
    case Qt::Key_Left:
      return move_current(-leap, 0);
    case Qt::Key_Right:
      return move_current(leap, 0);
    case Qt::Key_Up:
      return move_current(0, -leap);
    case Qt::Key_Down:
      return move_current(0, leap);
    case Qt::Key_PageUp:
      return move_current(0, -8 * layout_.fold());
    case Qt::Key_PageDown:
      return move_current(0, 8 * layout_.fold());
    case Qt::Key_Home:
      return move_current(-layout_.columns(), 0);
    case Qt::Key_End:
      return move_current(layout_.columns(), 0);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(kZoomStep);
    case Qt::Key_Minus:
      return zoom(1 / kZoomStep);
    case Qt::Key_0:
      return zoom(0);
    case Qt::Key_L:
      return show_layer(single_layer_ ? std::nullopt : std::optional(current_ ? current_->layer : 0));
    case Qt::Key_E:
      if (const auto unit = current_unit()) Q_EMIT expertChosen(*unit);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (const auto unit = current_unit()) Q_EMIT followToggled(*unit);
      return;
    case Qt::Key_Escape:
      if (single_layer_) return show_layer(std::nullopt);
      if (layout_.zoom() > 1) return zoom(0);
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace fovea::ui
