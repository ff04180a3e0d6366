// How the routers spread the work: evenness and busiest experts of each layer, and which conversation used
// which experts.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/live/live_data.h"

namespace fovea::ui {

class RouterView : public QWidget {
  Q_OBJECT

 public:
  explicit RouterView(QWidget* parent = nullptr);

  void set_model(const ShownModel& model);
  void set_health(const RouterHealth& health);
  void set_conversations(const std::vector<ConversationUse>& rows);
  void set_lit_conversation(const QString& key);

  QSize sizeHint() const override;

 Q_SIGNALS:
  void layerChosen(int layer);
  // Show its busiest experts on the map; the same again: no more.
  void conversationChosen(const QString& key);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF evenness_plot() const;
  QRectF busiest_plot() const;
  QRectF below_plots(int row) const;
  int rows_below_plots() const;
  QRectF conversation_row(std::size_t row) const;
  int layer_at(const QPointF& point) const;  // −1: none
  QString layer_name(std::size_t layer) const;
  static QString busiest_words(double max_violation);
  static QString elsewhere_words(double share);
  static QString fidelity_words(const RoutingFidelity& fidelity);
  QString layer_words(std::size_t layer) const;
  void paint_layers(QPainter& painter, const QRectF& plot, bool evenness) const;
  void paint_conversations(QPainter& painter) const;

  RouterHealth health_;
  ShownModel model_;
  std::vector<ConversationUse> conversations_;
  QString lit_;
  std::size_t current_row_ = 0;
};

}  // namespace fovea::ui
